//! A JSON object a line, decoded as it comes: bytes in any cut, lines out.
//!
//! Blank lines are skipped, LF and CRLF end a line, and the last line needs no end. A line that is no object is passed on
//! as what it is. What the objects mean is the business of [`crate::dialect`].

use memchr::memchr;

use crate::sse::{EVENT_LIMIT, Event, TooLong};

/// The decoder's memory between two reads.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    /// The line that has not ended yet.
    partial: Vec<u8>,
}

impl Decoder {
    /// Reads on; calls `on` for every line that the bytes complete, in order.
    pub fn push(
        &mut self,
        mut bytes: &[u8],
        on: &mut impl FnMut(Event<'_>),
    ) -> Result<(), TooLong> {
        while let Some(end) = memchr(b'\n', bytes) {
            if self.partial.len() + end > EVENT_LIMIT {
                return Err(TooLong);
            }
            if self.partial.is_empty() {
                line(&bytes[..end], on);
            } else {
                self.partial.extend_from_slice(&bytes[..end]);
                line(&self.partial, on);
                self.partial.clear();
            }
            bytes = &bytes[end + 1..];
        }
        if self.partial.len() + bytes.len() > EVENT_LIMIT {
            return Err(TooLong);
        }
        self.partial.extend_from_slice(bytes);
        Ok(())
    }

    /// The stream has ended: calls `on` for what is left, which may be cut off in the middle.
    pub fn finish(&mut self, on: &mut impl FnMut(Event<'_>)) {
        line(&std::mem::take(&mut self.partial), on);
    }
}

fn line(line: &[u8], on: &mut impl FnMut(Event<'_>)) {
    match line.trim_ascii() {
        b"" => {}
        object @ [b'{', ..] => on(Event::Data(object)),
        other => on(Event::Junk(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(chunks: &[&[u8]]) -> Vec<String> {
        let mut seen = Vec::new();
        let mut keep = |event: Event<'_>| match event {
            Event::Data(data) => seen.push(String::from_utf8_lossy(data).into_owned()),
            Event::Junk(line) => seen.push(format!("junk {}", String::from_utf8_lossy(line))),
            other => panic!("{other:?} in lines"),
        };
        let mut decoder = Decoder::default();
        for chunk in chunks {
            decoder.push(chunk, &mut keep).expect("short lines");
        }
        decoder.finish(&mut keep);
        seen
    }

    #[track_caller]
    fn check(chunks: &[&[u8]], expected: &[&str]) {
        assert_eq!(lines(chunks), expected);
    }

    #[test]
    fn a_line_may_come_in_pieces_and_two_in_one() {
        check(
            &[b"{\"a\"", b":1}\n{\"b\":2}\n"],
            &["{\"a\":1}", "{\"b\":2}"],
        );
        check(
            &[b"{\"a\":\"caf\xc3", b"\xa9\"}\n"],
            &["{\"a\":\"caf\u{e9}\"}"],
        );
    }

    #[test]
    fn the_last_line_needs_no_end_and_blank_lines_are_none() {
        check(
            &[b"\n{\"a\":1}\r\n \r\n\n{\"b\":2}"],
            &["{\"a\":1}", "{\"b\":2}"],
        );
    }

    #[test]
    fn what_is_no_object_is_passed_on_as_that() {
        check(&[b"<html>\n[1]\n"], &["junk <html>", "junk [1]"]);
    }

    #[test]
    fn separators_of_unicode_and_blanks_within_are_text() {
        let line = "{\"a\":\"x\u{2028}  y\u{85}\"}";
        check(&[line.as_bytes(), b"\n"], &[line]);
    }

    #[test]
    fn an_endless_line_is_refused() {
        let mebibyte = vec![b'x'; 1 << 20];
        let mut decoder = Decoder::default();
        let refused = (0..8).find_map(|_| decoder.push(&mebibyte, &mut |_| ()).err());
        assert_eq!(refused, Some(TooLong));
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same_lines(text in "[{}a\"\\r\\n é]{0,80}", cut in 1usize..9) {
            let bytes = text.as_bytes();
            let pieces: Vec<&[u8]> = bytes.chunks(cut).collect();
            prop_assert_eq!(lines(&pieces), lines(&[bytes]));
        }
    }
}
