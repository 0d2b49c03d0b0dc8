//! The token-bearing events of one request, packed: a hundred thousand streams of 256 events fit in memory at once.
//!
//! Two columns of differences hold the moments: the wait since the event before in 32 bits, and how long the event lay in
//! the kernel before it was read in 24. What does not fit, which is rare, stands in lists beside them.

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::{Chunk, ChunkKind};
use crate::units::Nanos;

/// Stands for "see the list of long waits".
const NOT_HERE: u32 = u32::MAX;
/// Stands for "the kernel did not say".
const UNKNOWN: Lag = Lag([u8::MAX; 3]);
/// Stands for "see the list of long lags".
const LONG: Lag = Lag([u8::MAX - 1, u8::MAX, u8::MAX]);

/// Events in order of their reading. Pushing never allocates as long as the capacity lasts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chunks {
    /// When the first was read.
    first: Nanos,
    last: Nanos,
    /// Nanoseconds since the event before; zero for the first.
    waits: Vec<u32>,
    /// Time between the kernel's receipt and the reading; empty as long as the kernel said nothing.
    lags: Vec<Lag>,
    usual: Note,
    /// Most streams have none of it.
    rare: Option<Box<Rare>>,
}

/// What the columns do not hold.
#[derive(Clone, Debug, Default, PartialEq)]
struct Rare {
    /// What each event carried; empty as long as all carried [`Chunks::usual`].
    notes: Vec<Note>,
    /// Waits that 32 bits do not hold (over four seconds), by place.
    long_waits: Vec<(u32, Nanos)>,
    /// Lags that 24 bits do not hold (over 16 ms: the client was not reading), by place.
    long_lags: Vec<(u32, Nanos)>,
}

static NOTHING_RARE: Rare = Rare {
    notes: Vec::new(),
    long_waits: Vec::new(),
    long_lags: Vec::new(),
};

/// Nanoseconds in three bytes, the lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lag([u8; 3]);

impl Lag {
    fn of(lag: Nanos) -> Option<Self> {
        let [a, b, c, rest @ ..] = lag.0.to_le_bytes();
        let short = Self([a, b, c]);
        (rest == [0; 5] && short != UNKNOWN && short != LONG).then_some(short)
    }

    fn nanos(self) -> Nanos {
        let Self([a, b, c]) = self;
        Nanos(u64::from(u32::from_le_bytes([a, b, c, 0])))
    }
}

/// What an event carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Note {
    kind: ChunkKind,
    /// Tokens and one; zero where the engine did not say.
    tokens: u16,
}

impl Note {
    fn of(chunk: &Chunk) -> Self {
        let tokens = chunk.tokens.map_or(0, |tokens| {
            u16::try_from(tokens.saturating_add(1)).unwrap_or(u16::MAX)
        });
        Self {
            kind: chunk.kind,
            tokens,
        }
    }
}

impl Chunks {
    /// Room for so many.
    pub fn with_capacity(count: usize) -> Self {
        Self {
            waits: Vec::with_capacity(count),
            lags: Vec::with_capacity(count),
            ..Self::default()
        }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.waits.len()
    }

    /// None at all.
    pub fn is_empty(&self) -> bool {
        self.waits.is_empty()
    }

    /// The first, if any.
    pub fn first(&self) -> Option<Chunk> {
        self.iter().next()
    }

    /// The last, if any.
    pub fn last(&self) -> Option<Chunk> {
        let place = self.len().checked_sub(1)?;
        Some(self.chunk(place, self.last))
    }

    /// Adds one, read no earlier than the one before (an earlier moment counts as the same).
    pub fn push(&mut self, chunk: Chunk) {
        let place = self.len();
        if place == 0 {
            (self.first, self.last) = (chunk.at, chunk.at);
            self.usual = Note::of(&chunk);
        }
        let wait = chunk.at.since(self.last);
        let short = u32::try_from(wait.0).ok().filter(|wait| *wait != NOT_HERE);
        if short.is_none() {
            self.rare_mut().long_waits.push((place as u32, wait));
        }
        self.waits.push(short.unwrap_or(NOT_HERE));
        self.last = self.last + wait;
        self.push_lag(place, &chunk);
        self.push_note(place, Note::of(&chunk));
    }

    fn push_lag(&mut self, place: usize, chunk: &Chunk) {
        let lag = chunk.at_kernel.map(|kernel| chunk.at.since(kernel));
        if lag.is_none() && self.lags.is_empty() {
            return;
        }
        // Where it begins to speak late, what came before it is unknown.
        self.lags.resize(place, UNKNOWN);
        let short = lag.map_or(Some(UNKNOWN), Lag::of);
        if let (Some(long), None) = (lag, short) {
            self.rare_mut().long_lags.push((place as u32, long));
        }
        self.lags.push(short.unwrap_or(LONG));
    }

    fn push_note(&mut self, place: usize, note: Note) {
        let usual = self.usual;
        if self.rare().notes.is_empty() && note == usual {
            return;
        }
        let notes = &mut self.rare_mut().notes;
        notes.resize(place, usual);
        notes.push(note);
    }

    fn rare(&self) -> &Rare {
        self.rare.as_deref().unwrap_or(&NOTHING_RARE)
    }

    fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Gives back the room that was not needed.
    pub fn shrink_to_fit(&mut self) {
        self.waits.shrink_to_fit();
        self.lags.shrink_to_fit();
        if let Some(rare) = &mut self.rare {
            rare.notes.shrink_to_fit();
        }
    }

    /// All of them, in order.
    pub fn iter(&self) -> Iter<'_> {
        Iter {
            chunks: self,
            place: 0,
            at: self.first,
            long: 0,
        }
    }

    /// When each arrived, in order: as [`Chunk::arrived`] has it, without what they carried.
    pub fn arrivals(&self) -> impl Iterator<Item = Nanos> + '_ {
        let (mut at, mut long) = (self.first, self.rare().long_waits.iter());
        self.waits.iter().enumerate().map(move |(place, wait)| {
            let wait = match *wait {
                NOT_HERE => long.next().map_or(Nanos::ZERO, |it| it.1),
                wait => Nanos(u64::from(wait)),
            };
            at = at + wait;
            let lag = self.lag(place).unwrap_or_default();
            Nanos(at.0.saturating_sub(lag.0))
        })
    }

    fn lag(&self, place: usize) -> Option<Nanos> {
        match *self.lags.get(place)? {
            UNKNOWN => None,
            LONG => {
                let of_place = |(long, _): &(u32, Nanos)| (*long as usize).cmp(&place);
                let long_lags = &self.rare().long_lags;
                let found = long_lags.binary_search_by(of_place).ok()?;
                Some(long_lags[found].1)
            }
            short => Some(short.nanos()),
        }
    }

    fn chunk(&self, place: usize, at: Nanos) -> Chunk {
        let lag = self.lag(place);
        let note = self.rare().notes.get(place).copied().unwrap_or(self.usual);
        Chunk {
            at,
            at_kernel: lag.map(|lag| Nanos(at.0.saturating_sub(lag.0))),
            kind: note.kind,
            tokens: note.tokens.checked_sub(1).map(u32::from),
        }
    }
}

/// Walks over [`Chunks`].
#[derive(Clone, Debug)]
pub struct Iter<'a> {
    chunks: &'a Chunks,
    place: usize,
    at: Nanos,
    /// The next of the long waits.
    long: usize,
}

impl Iterator for Iter<'_> {
    type Item = Chunk;

    fn next(&mut self) -> Option<Chunk> {
        let wait = *self.chunks.waits.get(self.place)?;
        let wait = if wait == NOT_HERE {
            self.long += 1;
            self.chunks.rare().long_waits[self.long - 1].1
        } else {
            Nanos(u64::from(wait))
        };
        self.at = self.at + wait;
        self.place += 1;
        Some(self.chunks.chunk(self.place - 1, self.at))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.chunks.len() - self.place;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl<'a> IntoIterator for &'a Chunks {
    type Item = Chunk;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl FromIterator<Chunk> for Chunks {
    fn from_iter<I: IntoIterator<Item = Chunk>>(chunks: I) -> Self {
        let chunks = chunks.into_iter();
        let mut packed = Self::with_capacity(chunks.size_hint().0);
        chunks.for_each(|chunk| packed.push(chunk));
        packed
    }
}

impl Serialize for Chunks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self)
    }
}

impl<'de> Deserialize<'de> for Chunks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<Chunk>::deserialize(deserializer)?
            .into_iter()
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn chunk() -> impl Strategy<Value = (u64, Option<u64>, u8, Option<u32>)> {
        let wait = prop_oneof![
            0u64..50_000_000,
            Just(0),
            4_294_967_290u64..4_294_967_300,
            0u64..1 << 40
        ];
        let lag = proptest::option::of(prop_oneof![
            0u64..1_000_000,
            Just(0),
            16_777_210u64..16_777_220,
            Just(4_999_999_999)
        ]);
        (wait, lag, 0u8..3, proptest::option::of(0u32..65_000))
    }

    proptest! {
        #[test]
        fn what_goes_in_comes_out(rows in prop::collection::vec(chunk(), 0..60), start in 0u64..1 << 45) {
            let mut at = start + 5_000_000_000;
            let chunks: Vec<Chunk> = rows.iter().map(|(wait, lag, kind, tokens)| {
                at += wait;
                let kind = [ChunkKind::Answer, ChunkKind::Reasoning, ChunkKind::ToolCall][usize::from(*kind)];
                Chunk { at: Nanos(at), at_kernel: lag.map(|lag| Nanos(at - lag)), kind, tokens: *tokens }
            }).collect();
            let packed: Chunks = chunks.iter().copied().collect();
            prop_assert_eq!((packed.len(), packed.first(), packed.last()), (chunks.len(), chunks.first().copied(), chunks.last().copied()));
            prop_assert_eq!(packed.arrivals().collect::<Vec<_>>(), chunks.iter().map(Chunk::arrived).collect::<Vec<_>>());
            prop_assert_eq!(packed.iter().collect::<Vec<_>>(), chunks);
        }
    }

    #[test]
    fn an_event_read_before_the_last_one_counts_as_read_with_it() {
        let at = |at| Chunk {
            at: Nanos(at),
            at_kernel: None,
            kind: ChunkKind::Answer,
            tokens: None,
        };
        let packed: Chunks = [at(9), at(5), at(10)].into_iter().collect();
        assert_eq!(
            packed.iter().map(|chunk| chunk.at.0).collect::<Vec<_>>(),
            [9, 9, 10]
        );
    }

    #[test]
    fn an_event_of_a_plain_stream_takes_seven_bytes() {
        let mut packed = Chunks::with_capacity(256);
        for at in 0..256 {
            packed.push(Chunk {
                at: Nanos(at),
                at_kernel: Some(Nanos(at)),
                kind: ChunkKind::Answer,
                tokens: Some(1),
            });
        }
        assert_eq!(
            (
                packed.waits.capacity(),
                packed.lags.capacity(),
                packed.rare.is_none()
            ),
            (256, 256, true)
        );
    }
}
