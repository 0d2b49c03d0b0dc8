//! What a counter said, kept: whoever plans the same prompts again hears the same counts and so writes the same bytes,
//! whichever engine is there by then.
//!
//! Planning asks the same questions in the same order as long as it hears the same answers, so that answers alone are kept.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Counter, TokenError};
use crate::plan::LengthSource;

/// Listens to a counter.
pub struct Recorder {
    to: Arc<Counter>,
    heard: Mutex<Vec<u32>>,
}

/// Says again what a counter said.
pub struct Replay {
    source: LengthSource,
    left: Mutex<std::vec::IntoIter<u32>>,
}

impl Recorder {
    pub(super) fn count(&self, texts: &[String]) -> Result<Vec<u32>, TokenError> {
        let counts = self.to.count(texts)?;
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.extend(&counts);
        Ok(counts)
    }

    pub(super) fn source(&self) -> LengthSource {
        self.to.source()
    }
}

impl Replay {
    pub(super) fn count(&self, texts: &[String]) -> Result<Vec<u32>, TokenError> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let counts: Vec<u32> = left.by_ref().take(texts.len()).collect();
        if counts.len() == texts.len() {
            Ok(counts)
        } else {
            Err(TokenError::OtherPrompts)
        }
    }

    pub(super) fn source(&self) -> LengthSource {
        self.source
    }
}

impl Counter {
    /// Counts as `to` does, and keeps what it says.
    pub fn recording(to: Arc<Self>) -> Self {
        Self::Recording(Box::new(Recorder {
            to,
            heard: Mutex::default(),
        }))
    }

    /// Counts as the counter did whose tape this is; `None` where it is no tape.
    pub fn replaying(source: LengthSource, tape: &[u8]) -> Option<Self> {
        let left = Mutex::new(unpacked(tape)?.into_iter());
        Some(Self::Replaying(Box::new(Replay { source, left })))
    }

    /// What was said so far, where it is kept.
    pub fn tape(&self) -> Option<Vec<u8>> {
        let Self::Recording(recorder) = self else {
            return None;
        };
        let heard = recorder.heard.lock();
        Some(packed(&heard.unwrap_or_else(PoisonError::into_inner)))
    }

    /// Whether everything on the tape was asked for: other prompts leave some of it.
    pub fn is_spent(&self) -> bool {
        let Self::Replaying(replay) = self else {
            return true;
        };
        let left = replay.left.lock();
        left.unwrap_or_else(PoisonError::into_inner).len() == 0
    }
}

/// Seven bits a byte, the lowest first; the eighth says that more follow. Most counts need two bytes.
fn packed(counts: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(counts.len() * 2);
    for count in counts {
        let mut left = *count;
        while 0x80 <= left {
            bytes.push(left as u8 | 0x80);
            left >>= 7;
        }
        bytes.push(left as u8);
    }
    bytes
}

fn unpacked(bytes: &[u8]) -> Option<Vec<u32>> {
    let mut counts = Vec::with_capacity(bytes.len() / 2);
    let (mut count, mut shift) = (0u64, 0);
    for byte in bytes {
        count |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            counts.push(u32::try_from(count).ok()?);
            (count, shift) = (0, 0);
        } else if 35 <= shift {
            return None;
        }
    }
    (shift == 0).then_some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(count: usize) -> Vec<String> {
        (0..count).map(|index| "a ".repeat(index)).collect()
    }

    #[test]
    fn what_was_said_is_said_again_in_order() {
        let recording = Counter::recording(Arc::new(Counter::Words { per_word: 1.5 }));
        let said: Vec<Vec<u32>> = [3, 0, 300]
            .map(|count| recording.count(&texts(count)).expect("counts"))
            .to_vec();
        let tape = recording.tape().expect("a tape");
        let again = Counter::replaying(LengthSource::Engine, &tape).expect("a tape");
        assert_eq!(again.source(), LengthSource::Engine);
        for (count, said) in [3, 0, 300].into_iter().zip(&said) {
            assert!(!again.is_spent());
            // Whatever the texts are: the answers are those of the first time.
            let other = vec![String::new(); count];
            assert_eq!(&again.count(&other).expect("counts"), said);
        }
        assert!(again.is_spent());
        assert!(matches!(
            again.count(&texts(1)),
            Err(TokenError::OtherPrompts)
        ));
    }

    #[test]
    fn counts_of_every_size_are_kept() {
        let counts = [0, 1, 127, 128, 16_383, 16_384, 1_000_000, u32::MAX];
        assert_eq!(unpacked(&packed(&counts)).as_deref(), Some(&counts[..]));
        for bad in [
            &[0x80][..],
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
            &[0xff, 0xff, 0xff, 0xff, 0x7f],
        ] {
            assert_eq!(unpacked(bad), None, "{bad:?}");
        }
    }
}
