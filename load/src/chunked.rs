//! The framing of a response's body (RFC 9112, section 6 and 7.1), taken apart as it comes: no byte is copied.

/// How the end of a body is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Chunks; the last one is empty.
    Chunked(Place),
    /// So many bytes more.
    Length(u64),
    /// The end of the connection.
    Close,
}

/// Where within the chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Place {
    /// Before the first digit of a chunk's size.
    #[default]
    Start,
    /// Within the size.
    Size(u64),
    /// After the size: an extension that nobody needs.
    Extension(u64),
    /// Within the data.
    Data(u64),
    /// After the data.
    DataEnd,
    /// At the start of a line after the last chunk.
    Trailer,
    /// Within such a line.
    TrailerLine,
    /// Behind the body.
    Over,
}

/// What is no chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the chunks of the body cannot be read: a size in hexadecimal digits was due")]
pub(crate) struct NoChunk;

impl Framing {
    /// Whether the body has ended.
    pub(crate) fn is_over(self) -> bool {
        matches!(self, Self::Chunked(Place::Over) | Self::Length(0))
    }

    /// Whether the end of the connection ends the body properly.
    pub(crate) fn ends_with_connection(self) -> bool {
        self == Self::Close || self.is_over()
    }

    /// Hands the content of these bytes over, piece by piece; how many of them belong to the body.
    pub(crate) fn content(
        &mut self,
        bytes: &[u8],
        on: &mut dyn FnMut(&[u8]),
    ) -> Result<usize, NoChunk> {
        match self {
            Self::Close => {
                on(bytes);
                Ok(bytes.len())
            }
            Self::Length(left) => {
                let mine = bytes
                    .len()
                    .min(usize::try_from(*left).unwrap_or(usize::MAX));
                on(&bytes[..mine]);
                *left -= mine as u64;
                Ok(mine)
            }
            Self::Chunked(place) => chunks(place, bytes, on),
        }
    }
}

fn chunks(place: &mut Place, bytes: &[u8], on: &mut dyn FnMut(&[u8])) -> Result<usize, NoChunk> {
    let mut at = 0;
    while at < bytes.len() && *place != Place::Over {
        if let Place::Data(left) = *place {
            let rest = &bytes[at..];
            let mine = rest.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            on(&rest[..mine]);
            at += mine;
            *place = match left - mine as u64 {
                0 => Place::DataEnd,
                left => Place::Data(left),
            };
        } else {
            *place = place.after(bytes[at])?;
            at += 1;
        }
    }
    Ok(at)
}

impl Place {
    /// The place after one byte of framing. A bare line feed ends a line as well.
    fn after(self, byte: u8) -> Result<Self, NoChunk> {
        Ok(match (self, byte) {
            (Self::Start | Self::Size(_), digit) if digit.is_ascii_hexdigit() => {
                let size = if let Self::Size(size) = self { size } else { 0 };
                let digit = u64::from((digit as char).to_digit(16).unwrap_or(0));
                Self::Size(size.checked_mul(16).ok_or(NoChunk)? + digit)
            }
            (Self::Size(0) | Self::Extension(0), b'\n') => Self::Trailer,
            (Self::Size(size) | Self::Extension(size), b'\n') => Self::Data(size),
            (Self::Size(size), b'\r' | b';' | b' ' | b'\t') => Self::Extension(size),
            (Self::Extension(size), _) => Self::Extension(size),
            (Self::DataEnd, b'\r') => Self::DataEnd,
            (Self::DataEnd, b'\n') => Self::Start,
            (Self::Trailer, b'\r') => Self::Trailer,
            (Self::Trailer, b'\n') => Self::Over,
            (Self::TrailerLine, b'\n') => Self::Trailer,
            (Self::Trailer | Self::TrailerLine, _) => Self::TrailerLine,
            _ => return Err(NoChunk),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads a body cut into pieces of a size: its content, how many bytes of it are the body's, whether it is over.
    fn read(
        mut framing: Framing,
        bytes: &[u8],
        cut: usize,
    ) -> Result<(String, usize, bool), NoChunk> {
        let (mut content, mut used) = (Vec::new(), 0);
        for piece in bytes.chunks(cut) {
            used += framing.content(piece, &mut |data| content.extend_from_slice(data))?;
            if framing.is_over() {
                break;
            }
        }
        Ok((
            String::from_utf8_lossy(&content).into_owned(),
            used,
            framing.is_over(),
        ))
    }

    #[track_caller]
    fn check(bytes: &str, expected: (&str, usize, bool)) {
        for cut in 1..=bytes.len() {
            let (content, used, over) =
                read(Framing::Chunked(Place::Start), bytes.as_bytes(), cut).expect("chunks");
            assert_eq!((content.as_str(), used, over), expected, "cut {cut}");
        }
    }

    #[test]
    fn chunks_are_joined_whatever_the_cut() {
        check(
            "5\r\nhello\r\n1\r\n \r\n0005\r\nworld\r\n0\r\n\r\n",
            ("hello world", 34, true),
        );
        check(
            "A;name=\"x\"\r\n0123456789\r\n0\r\n\r\n",
            ("0123456789", 29, true),
        );
        check("3\nabc\n0\n\n", ("abc", 9, true));
    }

    #[test]
    fn trailers_end_with_an_empty_line_and_belong_to_the_body() {
        check("1\r\na\r\n0\r\nx-took: 5\r\ny: z\r\n\r\n", ("a", 28, true));
    }

    #[test]
    fn what_follows_the_body_is_left_alone() {
        let bytes = b"1\r\na\r\n0\r\n\r\nHTTP/1.1 200";
        assert_eq!(
            read(Framing::Chunked(Place::Start), bytes, 99),
            Ok(("a".into(), 11, true))
        );
        assert_eq!(
            read(Framing::Length(3), b"abcdef", 99),
            Ok(("abc".into(), 3, true))
        );
    }

    #[test]
    fn a_body_that_is_cut_off_is_not_over() {
        check("5\r\nhel", ("hel", 6, false));
        check("1\r\na\r\n0\r\n", ("a", 9, false));
        assert!(
            !Framing::Length(1).ends_with_connection() && Framing::Close.ends_with_connection()
        );
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for bytes in [
            "x\r\n",
            "\r\n5\r\n",
            "5\r\nhelloX",
            "-1\r\n",
            "fffffffffffffffff\r\n",
        ] {
            assert_eq!(
                read(Framing::Chunked(Place::Start), bytes.as_bytes(), 99),
                Err(NoChunk),
                "{bytes:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_content_comes_back_in_any_cut(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..40), 0..8), cut in 1usize..64) {
            let mut bytes: Vec<u8> = Vec::new();
            for piece in &pieces {
                bytes.extend(format!("{:x}\r\n", piece.len()).bytes());
                bytes.extend(piece);
                bytes.extend(b"\r\n");
            }
            bytes.extend(b"0\r\n\r\n");
            let mut framing = Framing::Chunked(Place::Start);
            let mut content = Vec::new();
            for piece in bytes.chunks(cut) {
                framing.content(piece, &mut |data| content.extend_from_slice(data)).expect("chunks");
            }
            prop_assert!(framing.is_over());
            prop_assert_eq!(content, pieces.concat());
        }

        #[test]
        fn anything_at_all_is_read_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 1usize..64) {
            let mut framing = Framing::Chunked(Place::Start);
            let mut content = 0;
            for piece in bytes.chunks(cut) {
                if framing.content(piece, &mut |data| content += data.len()).is_err() { break; }
            }
            prop_assert!(content <= bytes.len());
        }
    }
}
