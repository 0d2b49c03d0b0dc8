//! An event stream, decoded as it comes: bytes in any cut, events out.
//!
//! Follows the WHATWG rules (CR, LF and CRLF end a line, comments are skipped, `data` lines join with a line feed,
//! a byte order mark is dropped, the text is UTF-8 whatever the headers say), and reads three things beyond them that
//! real servers send: a last event without its blank line, a bare line that as a whole is a JSON object or `[DONE]`,
//! and a field `error`, as older llama.cpp has it. What the data means is the business of [`crate::dialect`].

use memchr::memchr2;

/// Most bytes of one event; a longer one is refused.
pub const EVENT_LIMIT: usize = 4 << 20;

/// One thing found in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// The joined `data` lines of one event, never empty.
    Data(&'a [u8]),
    /// The data of an event named `error`, or of a field of that name.
    Failure(&'a [u8]),
    /// A bare line that looks like a JSON object or `[DONE]`.
    Unframed(&'a [u8]),
    /// A line that has no place in an event stream.
    Junk(&'a [u8]),
}

/// An event grew beyond [`EVENT_LIMIT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "an event of more than {EVENT_LIMIT} bytes; ask the engine for shorter events (no logprobs)"
)]
pub struct TooLong;

/// The decoder's memory between two reads.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    /// The line that has not ended yet.
    partial: Vec<u8>,
    /// The `data` lines of the event that has not ended yet.
    data: Vec<u8>,
    /// Whether `data` holds a line, be it an empty one.
    has_data: bool,
    /// The event that has not ended yet is named `error`.
    failure: bool,
    /// The last byte was a CR: a LF right after it belongs to the same line end.
    after_cr: bool,
    /// A first line was seen, so that no byte order mark can follow.
    started: bool,
}

impl Decoder {
    /// Reads on; calls `on` for everything that the bytes complete, in order.
    pub fn push(
        &mut self,
        mut bytes: &[u8],
        on: &mut impl FnMut(Event<'_>),
    ) -> Result<(), TooLong> {
        while let Some(end) = memchr2(b'\n', b'\r', bytes) {
            let (line, terminator) = (&bytes[..end], bytes[end]);
            bytes = &bytes[end + 1..];
            let second_half =
                self.after_cr && terminator == b'\n' && end == 0 && self.partial.is_empty();
            self.after_cr = terminator == b'\r';
            if second_half {
                continue;
            }
            if self.partial.is_empty() {
                if let Some(data) = self.whole_event(line, terminator, bytes) {
                    on(Event::Data(data));
                    bytes = &bytes[1..];
                    continue;
                }
                self.line(line, on)?;
            } else {
                let mut whole = std::mem::take(&mut self.partial);
                whole.extend_from_slice(line);
                self.line(&whole, on)?;
                whole.clear();
                self.partial = whole;
            }
        }
        if self.partial.len() + bytes.len() > EVENT_LIMIT {
            return Err(TooLong);
        }
        self.partial.extend_from_slice(bytes);
        Ok(())
    }

    /// The data of an event that lies in these bytes as one line and a blank one, as nearly all do: it need not be kept.
    fn whole_event<'a>(&self, line: &'a [u8], terminator: u8, rest: &[u8]) -> Option<&'a [u8]> {
        let plain = self.started && !self.has_data && !self.failure;
        if !plain || terminator != b'\n' || rest.first() != Some(&b'\n') {
            return None;
        }
        let value = line.strip_prefix(b"data:")?;
        let value = value.strip_prefix(b" ").unwrap_or(value);
        (!value.is_empty() && value.len() <= EVENT_LIMIT).then_some(value)
    }

    /// The stream has ended: calls `on` for what is left, which may be cut off in the middle.
    pub fn finish(&mut self, on: &mut impl FnMut(Event<'_>)) -> Result<(), TooLong> {
        let rest = std::mem::take(&mut self.partial);
        if !rest.is_empty() {
            self.line(&rest, on)?;
        }
        self.dispatch(on);
        Ok(())
    }

    fn line(&mut self, mut line: &[u8], on: &mut impl FnMut(Event<'_>)) -> Result<(), TooLong> {
        if !self.started {
            self.started = true;
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            self.dispatch(on);
            return Ok(());
        }
        match field_of(line) {
            Field::Data(value) => return self.data_line(value),
            Field::Named(name) => self.failure = name == b"error",
            Field::Failure(value) => {
                self.dispatch(on);
                if !value.is_empty() {
                    on(Event::Failure(value));
                }
            }
            Field::Skipped => {}
            Field::Unframed => {
                self.dispatch(on);
                on(Event::Unframed(line.trim_ascii()));
            }
            Field::Unknown => on(Event::Junk(line)),
        }
        Ok(())
    }

    fn data_line(&mut self, value: &[u8]) -> Result<(), TooLong> {
        if self.data.len() + value.len() > EVENT_LIMIT {
            return Err(TooLong);
        }
        if self.has_data {
            self.data.push(b'\n');
        }
        self.has_data = true;
        self.data.extend_from_slice(value);
        Ok(())
    }

    fn dispatch(&mut self, on: &mut impl FnMut(Event<'_>)) {
        if !self.data.is_empty() {
            on(if self.failure {
                Event::Failure(&self.data)
            } else {
                Event::Data(&self.data)
            });
        }
        self.data.clear();
        self.has_data = false;
        self.failure = false;
    }
}

enum Field<'a> {
    Data(&'a [u8]),
    /// The event's name.
    Named(&'a [u8]),
    Failure(&'a [u8]),
    /// A comment, or a field without meaning for us.
    Skipped,
    Unframed,
    Unknown,
}

fn field_of(line: &[u8]) -> Field<'_> {
    let colon = memchr::memchr(b':', line).unwrap_or(line.len());
    let value = line.get(colon + 1..).unwrap_or_default();
    let value = value.strip_prefix(b" ").unwrap_or(value);
    match &line[..colon] {
        b"data" => Field::Data(value),
        b"event" => Field::Named(value),
        b"error" => Field::Failure(value),
        b"" | b"id" | b"retry" => Field::Skipped,
        _ => match line.trim_ascii() {
            b"[DONE]" => Field::Unframed,
            [b'{', .., b'}'] => Field::Unframed,
            b"" => Field::Skipped,
            _ => Field::Unknown,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn events(chunks: &[&[u8]]) -> Vec<String> {
        let mut seen = Vec::new();
        let mut keep = |event: Event<'_>| {
            let (kind, bytes) = match event {
                Event::Data(data) => ("", data),
                Event::Failure(data) => ("failure ", data),
                Event::Unframed(line) => ("unframed ", line),
                Event::Junk(line) => ("junk ", line),
            };
            seen.push(format!("{kind}{}", String::from_utf8_lossy(bytes)));
        };
        let mut decoder = Decoder::default();
        for chunk in chunks {
            decoder.push(chunk, &mut keep).expect("short events");
        }
        decoder.finish(&mut keep).expect("short events");
        seen
    }

    #[track_caller]
    fn check(chunks: &[&[u8]], expected: &[&str]) {
        assert_eq!(events(chunks), expected);
    }

    #[test]
    fn an_event_may_be_cut_inside_a_character() {
        check(&[b"data: caf\xc3", b"\xa9\n\n"], &["café"]);
    }

    #[test]
    fn the_blank_after_the_colon_is_optional_and_only_one_is_dropped() {
        check(&[b"data:a\n\ndata: b\n\ndata:  c\n\n"], &["a", "b", " c"]);
    }

    #[test]
    fn each_of_the_three_line_ends_works_even_when_cut() {
        check(
            &[b"data: a\r\n\r\ndata: b\r\rdata: c\n\n"],
            &["a", "b", "c"],
        );
        check(
            &[b"data: a\r", b"\n\r", b"\ndata: b\r\n", b"\r\n"],
            &["a", "b"],
        );
    }

    #[test]
    fn a_line_feed_after_a_carriage_return_ends_only_one_line() {
        check(&[b"data: a\r", b"\ndata: b\n\n"], &["a\nb"]);
        check(&[b"data: a\r", b"data: b", b"\n\n"], &["a\nb"]);
    }

    #[test]
    fn comments_other_fields_and_empty_data_are_not_events() {
        check(
            &[b": ping\n\n:\n\nevent: x\nid: 1\nretry: 5\n\ndata:\n\ndata\n\ndata: a\n\n"],
            &["a"],
        );
    }

    #[test]
    fn data_lines_join_with_a_line_feed() {
        check(&[b"data: a\ndata:\ndata: b\n\n"], &["a\n\nb"]);
    }

    #[test]
    fn a_byte_order_mark_is_dropped_at_the_start_only() {
        check(
            &[b"\xEF", b"\xBB\xBFdata: a\n\ndata: \xEF\xBB\xBFb\n\n"],
            &["a", "\u{FEFF}b"],
        );
    }

    #[test]
    fn separators_of_unicode_are_text() {
        check(
            &["data: a\u{2028}b\u{85}c\n\n".as_bytes()],
            &["a\u{2028}b\u{85}c"],
        );
    }

    #[test]
    fn the_last_event_needs_no_blank_line() {
        check(&[b"data: a\n\ndata: [DONE]"], &["a", "[DONE]"]);
    }

    #[test]
    fn a_bare_json_line_is_told_apart_from_a_page() {
        check(
            &[b"{\"error\":\"x\"}\n[DONE]\n"],
            &["unframed {\"error\":\"x\"}", "unframed [DONE]"],
        );
        check(
            &[b"<!doctype html>\n<p>"],
            &["junk <!doctype html>", "junk <p>"],
        );
    }

    #[test]
    fn a_failure_is_told_by_the_name_of_the_event_or_of_the_field() {
        check(
            &[b"event: error\ndata: a\n\ndata: b\n\nevent: token\ndata: c\n\n"],
            &["failure a", "b", "c"],
        );
        check(
            &[b"data: a\n\nerror: {\"code\":500}\n\nerror:\n\n"],
            &["a", "failure {\"code\":500}"],
        );
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut decoder = Decoder::default();
        let mebibyte = vec![b'x'; 1 << 20];
        let refused = (0..8).find_map(|_| decoder.push(&mebibyte, &mut |_| ()).err());
        assert_eq!(refused, Some(TooLong));
    }

    fn stream() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just("data: ".to_owned()),
            Just("data:".to_owned()),
            Just("\n".to_owned()),
            Just("\r".to_owned()),
            Just("\r\n".to_owned()),
            Just("\n\n".to_owned()),
            Just(": c".to_owned()),
            Just("{\"a\":1}".to_owned()),
            Just("[DONE]".to_owned()),
            Just("event: error".to_owned()),
            Just("error: e".to_owned()),
            Just("\u{FEFF}é".to_owned()),
            "[a-z ]{0,6}",
        ];
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat().into_bytes())
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same_events(bytes in stream(), cuts in prop::collection::vec(1usize..9, 1..40)) {
            let mut chunks: Vec<&[u8]> = Vec::new();
            let mut rest = bytes.as_slice();
            for cut in cuts.iter().cycle() {
                if rest.is_empty() { break; }
                let (head, tail) = rest.split_at((*cut).min(rest.len()));
                chunks.push(head);
                rest = tail;
            }
            prop_assert_eq!(events(&chunks), events(&[&bytes]));
        }
    }
}
