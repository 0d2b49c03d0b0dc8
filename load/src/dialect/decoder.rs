//! The decoder of a dialect: of an event stream, or of lines.

use super::Framing;
use crate::sse::{Event, TooLong};
use crate::{ndjson, sse};

#[derive(Clone, Debug)]
pub(super) enum Decoder {
    EventStream(sse::Decoder),
    Lines(ndjson::Decoder),
}

impl Decoder {
    pub(super) fn new(framing: Framing) -> Self {
        match framing {
            Framing::EventStream => Self::EventStream(sse::Decoder::default()),
            Framing::Lines => Self::Lines(ndjson::Decoder::default()),
        }
    }

    pub(super) fn push(
        &mut self,
        bytes: &[u8],
        on: &mut impl FnMut(Event<'_>),
    ) -> Result<(), TooLong> {
        match self {
            Self::EventStream(decoder) => decoder.push(bytes, on),
            Self::Lines(decoder) => decoder.push(bytes, on),
        }
    }

    pub(super) fn finish(&mut self, on: &mut impl FnMut(Event<'_>)) -> Result<(), TooLong> {
        match self {
            Self::EventStream(decoder) => decoder.finish(on),
            Self::Lines(decoder) => {
                decoder.finish(on);
                Ok(())
            }
        }
    }
}
