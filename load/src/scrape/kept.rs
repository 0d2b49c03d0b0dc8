//! The text of all pages, compressed: they are nearly alike, so that most of each is in the one before.

use std::io::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use zstd::stream::write::Encoder;

/// Most bytes kept of a point, compressed.
const MOST_BYTES: usize = 8 << 20;
/// The least work: pages of a second are nearly alike, so that more of it finds little.
const LEVEL: i32 = 1;
/// Two to the power of so many bytes are looked back: several pages.
const WINDOW: u32 = 22;

/// Pages kept so far.
pub(super) struct Kept {
    encoder: Option<Encoder<'static, Vec<u8>>>,
    pages: usize,
    left_out: usize,
}

impl Kept {
    pub fn new() -> Self {
        let encoder = Encoder::new(Vec::new(), LEVEL).ok().and_then(|mut it| {
            it.window_log(WINDOW).ok()?;
            Some(it)
        });
        Self {
            encoder,
            pages: 0,
            left_out: 0,
        }
    }

    /// Keeps a page, behind a comment that says when it was read.
    pub fn push(&mut self, page: &str, took: Duration) {
        let encoder = self.encoder.as_mut();
        let Some(encoder) = encoder.filter(|it| it.get_ref().len() < MOST_BYTES) else {
            self.left_out += 1;
            return;
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let head = format!(
            "# read at {:.3}, took {:.1} ms\n",
            now.unwrap_or_default().as_secs_f64(),
            took.as_secs_f64() * 1e3
        );
        let end = if page.ends_with('\n') { "" } else { "\n" };
        // Writing to memory does not fail.
        let written = [head.as_str(), page, end]
            .into_iter()
            .try_for_each(|piece| encoder.write_all(piece.as_bytes()));
        match written {
            Ok(()) => self.pages += 1,
            Err(_) => self.left_out += 1,
        }
    }

    /// The bytes, and how many pages are not among them.
    pub fn end(self) -> (Option<Vec<u8>>, usize) {
        let bytes = self.encoder.and_then(|encoder| encoder.finish().ok());
        (bytes.filter(|_| 0 < self.pages), self.left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_come_back_as_they_were_and_take_little_room() {
        let mut kept = Kept::new();
        let page: String = (0..2000)
            .map(|line| format!("metric_{line}{{a=\"b\"}} {line}\n"))
            .collect();
        for look in 0..100 {
            kept.push(&format!("{page}looks {look}"), Duration::from_millis(3));
        }
        let (bytes, left_out) = kept.end();
        let bytes = bytes.expect("pages");
        assert!(
            bytes.len() < page.len(),
            "{} of {}",
            bytes.len(),
            page.len()
        );
        let text = zstd::decode_all(&bytes[..]).expect("text");
        let text = String::from_utf8(text).expect("text");
        assert_eq!((text.matches("# read at ").count(), left_out), (100, 0));
        assert!(text.ends_with("looks 99\n") && text.contains("took 3.0 ms"));
    }

    #[test]
    fn no_page_leaves_nothing() {
        assert_eq!(Kept::new().end(), (None, 0));
    }
}
