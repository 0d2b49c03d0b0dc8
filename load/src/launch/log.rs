//! The last of what an engine said: whole lines, bounded, without secrets and without what steers a terminal.

use std::collections::VecDeque;

use super::secret::{hidden, unfinished};

/// Most bytes kept.
pub const KEPT: usize = 256 << 10;
/// Longest line; what is longer becomes several.
const LINE: usize = 8 << 10;
/// No line that has no end yet is held longer.
const MOST: usize = 64 << 10;
/// Begins an order to a terminal.
const ESCAPE: u8 = 0x1b;
/// Orders to a terminal are no longer.
const ORDER: usize = 64;
/// So much of a secret's beginning at the end of what was said is taken for one.
const BEGUN: usize = 4;

/// A bounded log. Bytes go in as they come, also in the middle of a line or a character.
#[derive(Debug, Default)]
pub struct Log {
    lines: VecDeque<String>,
    held: usize,
    /// The line that has no end yet.
    open: Vec<u8>,
    lost: u64,
    secrets: Vec<String>,
}

impl Log {
    /// An empty log that never shows these values.
    pub fn without(secrets: Vec<String>) -> Self {
        let secrets = secrets.into_iter().filter(|it| 4 <= it.len()).collect();
        Self {
            secrets,
            ..Self::default()
        }
    }

    /// Takes what was read.
    pub fn push(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.open.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                self.close_line();
            } else if LINE <= self.open.len() {
                self.shorten();
            }
        }
    }

    /// What was said, oldest first; the last line may have no end yet.
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(self.held + self.lines.len());
        if 0 < self.lost {
            text.push_str(&format!("[{} earlier lines are not kept]\n", self.lost));
        }
        for line in &self.lines {
            text.push_str(line);
            text.push('\n');
        }
        text.push_str(&self.unended());
        text
    }

    /// The last lines that say something.
    pub fn tail(&self, lines: usize) -> String {
        let open = self.unended();
        let all = self.lines.iter().map(String::as_str).chain([open.as_str()]);
        let said: Vec<&str> = all.filter(|line| !line.trim().is_empty()).collect();
        said[said.len().saturating_sub(lines)..].join("\n")
    }

    /// A bar that draws over itself keeps its last state only; any other line is cut.
    fn shorten(&mut self) {
        let ended = self.open.iter().rposition(|byte| *byte != b'\r');
        let drawn = ended.map_or(0, |last| last + 1);
        match self.open[..drawn].iter().rposition(|byte| *byte == b'\r') {
            Some(last) => drop(self.open.drain(..=last)),
            None => self.cut(),
        }
    }

    /// Ends a line where no secret, character or order to a terminal is cut in two; what may become one stays open.
    fn cut(&mut self) {
        let ended = ended(&self.open);
        let later = self.open.split_off(ended);
        let text = drawn(&self.open);
        let end = match unfinished(&text, &self.secrets) {
            // One secret over and over.
            0 if MOST < text.len() => text.len(),
            end => end,
        };
        let line = hidden(&text[..end], &self.secrets);
        self.open = [&text.as_bytes()[end..], &later].concat();
        if !line.is_empty() {
            self.keep(line);
        }
    }

    fn close_line(&mut self) {
        let line = self.plain(&self.open);
        self.open.clear();
        self.keep(line);
    }

    fn keep(&mut self, line: String) {
        self.held += line.len();
        self.lines.push_back(line);
        while KEPT < self.held {
            let Some(oldest) = self.lines.pop_front() else {
                break;
            };
            self.held -= oldest.len();
            self.lost += 1;
        }
    }

    fn plain(&self, line: &[u8]) -> String {
        hidden(&drawn(line), &self.secrets)
    }

    /// The line that has no end yet, without a secret that has none yet.
    fn unended(&self) -> String {
        let text = drawn(&self.open);
        let end = unfinished(&text, &self.secrets);
        if text.len() - end < BEGUN {
            return hidden(&text, &self.secrets);
        }
        hidden(&text[..end], &self.secrets) + "[secret]"
    }
}

/// A line as a terminal shows it in the end.
fn drawn(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_end_matches(['\n', '\r']);
    let drawn = text.rsplit('\r').find(|it| !it.is_empty());
    without_escapes(drawn.unwrap_or_default())
}

/// How much of it ends in the middle of no character and of no order to a terminal.
fn ended(bytes: &[u8]) -> usize {
    let whole = without_half_character(bytes);
    let from = whole.saturating_sub(ORDER);
    let order = bytes[from..whole].iter().rposition(|it| *it == ESCAPE);
    let Some(start) = order.map(|at| from + at) else {
        return whole;
    };
    let is_open = match &bytes[start + 1..whole] {
        [] => true,
        [b'[', rest @ ..] => !rest.iter().any(|it| (b'@'..=b'~').contains(it)),
        _ => false,
    };
    if is_open { start } else { whole }
}

fn without_half_character(bytes: &[u8]) -> usize {
    let longest = bytes.len().min(4);
    for back in 1..=longest {
        let place = bytes.len() - back;
        let length = match bytes[place] {
            0x80..=0xbf => continue,
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xff => 4,
            _ => 1,
        };
        return if back < length { place } else { bytes.len() };
    }
    bytes.len()
}

/// Without colours and other orders to a terminal.
fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '\u{1b}' {
            if letters.next_if_eq(&'[').is_some() {
                // Parameters, then one final letter.
                while letters.next_if(|it| !('@'..='~').contains(it)).is_some() {}
                letters.next();
            }
        } else if letter == '\t' || !letter.is_control() {
            plain.push(letter);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pieces: &[&str], expected: &str) {
        let mut log = Log::without(vec!["sk-VALUE".into(), "x".into()]);
        pieces.iter().for_each(|piece| log.push(piece.as_bytes()));
        assert_eq!(log.text(), expected);
    }

    #[test]
    fn a_line_may_come_in_pieces() {
        check(&["load", "ing\nrea", "dy"], "loading\nready");
        check(&["\n\n", "a\r\n"], "\n\na\n");
    }

    #[test]
    fn a_bar_keeps_its_last_state_and_colours_go() {
        check(&["1%\r", "50%\r100%\n"], "100%\n");
        check(&["\u{1b}[1;32mINFO\u{1b}[0m up\u{7}\n"], "INFO up\n");
    }

    #[test]
    fn a_key_in_the_log_is_hidden() {
        check(&["api_key=sk-VA", "LUE x\n"], "api_key=[secret] x\n");
    }

    /// A secret stands across the place where a long line is cut, at each place in turn and in pieces of each size.
    #[test]
    fn a_long_line_is_cut_in_no_secret() {
        for (word, shown) in [
            ("sk-VALUE", "[secret]"),
            ("sk-\u{1b}[1;31mVALUE", "[secret]"),
            ("é\u{1b}[0mé", "éé"),
        ] {
            for before in LINE - word.len() - 1..=LINE {
                for piece in 1..=word.len() {
                    let mut log = Log::without(vec!["sk-VALUE".into()]);
                    log.push(&vec![b'.'; before]);
                    word.as_bytes().chunks(piece).for_each(|it| log.push(it));
                    let open = log.text().replace('\n', "");
                    assert_eq!(open, ".".repeat(before) + shown, "{before}, {piece}");
                    log.push(b" end\n");
                    let text = log.text().replace('\n', "");
                    assert_eq!(text, ".".repeat(before) + shown + " end");
                }
            }
        }
    }

    #[test]
    fn a_secret_that_is_being_said_does_not_show() {
        check(&["key sk-V"], "key [secret]");
        check(&["key sk-"], "key sk-");
        check(&["key sk-VALVE\n"], "key sk-VALVE\n");
    }

    #[test]
    fn a_secret_over_and_over_is_not_held_for_ever() {
        let mut log = Log::without(vec!["aaaa".into()]);
        (0..400).for_each(|_| log.push(&[b'a'; 1 << 10]));
        assert!(log.open.len() < 2 * MOST && log.text().len() < KEPT);
    }

    #[test]
    fn a_character_may_be_cut() {
        let mut log = Log::default();
        let bytes = "café\n".as_bytes();
        log.push(&bytes[..4]);
        log.push(&bytes[4..]);
        assert_eq!(log.text(), "café\n");
    }

    #[test]
    fn it_is_bounded_and_says_what_is_lost() {
        let mut log = Log::default();
        for number in 0..40_000 {
            log.push(format!("line {number}\n").as_bytes());
        }
        log.push(&[b'x'; 3 * LINE]);
        let text = log.text();
        assert!(text.len() < KEPT + 64 * 1024, "{}", text.len());
        assert!(text.starts_with('[') && text.contains("line 39999"));
        let mut bar = Log::default();
        (0..40_000).for_each(|at| bar.push(format!("{at} of 40000\r").as_bytes()));
        assert_eq!(bar.tail(9), "39999 of 40000");
    }

    #[test]
    fn the_tail_has_lines_that_say_something() {
        let mut log = Log::default();
        log.push(b"one\ntwo\n\nthree\n\n");
        assert_eq!(log.tail(2), "two\nthree");
    }
}
