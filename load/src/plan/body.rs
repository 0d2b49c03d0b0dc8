//! The bytes of a request: there already, or written when its turn comes.
//!
//! A point of a hundred thousand long prompts would fill the memory, so that beyond a bound its bodies are written when
//! they are due from what little they are made of. They are the same bytes either way.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use crate::prompts::{Script, Writer};

/// The body of a request.
#[derive(Clone)]
pub enum Body {
    /// Byte for byte.
    Ready(Bytes),
    /// Written when it is asked for.
    Later {
        /// The conversation.
        script: Arc<Script>,
        /// Which of its turns this is.
        turn: u32,
        /// Writes it.
        writer: Arc<Writer>,
    },
}

impl Body {
    /// The bytes, with the data set's own answers in the history.
    pub fn bytes(&self) -> Bytes {
        self.bytes_after(&[])
    }

    /// The bytes, where the engine answered so far as given, turn by turn. Answers that are not given are the data set's.
    pub fn bytes_after(&self, answers: &[&str]) -> Bytes {
        match self {
            Self::Ready(bytes) => bytes.clone(),
            Self::Later {
                script,
                turn,
                writer,
            } => writer
                .body(script, *turn as usize, answers)
                .unwrap_or_default(),
        }
    }

    /// Whether the body carries what the engine answered in the turns before.
    pub fn needs_answers(&self) -> bool {
        match self {
            Self::Ready(_) => false,
            Self::Later { turn, writer, .. } => 0 < *turn && writer.real_answers,
        }
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self::Ready(bytes)
    }
}

impl PartialEq for Body {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.bytes()))
    }
}
