//! What one event says, in terms that all dialects share.

/// A non-empty piece of output within an event.
pub(super) enum Piece<'a> {
    Answer(&'a str),
    /// The whole answer so far, of which something is new.
    AnswerSoFar(&'a str),
    Reasoning(&'a str),
    /// Name and arguments of the tool call with this index, either of them possibly empty.
    ToolCall(u32, &'a str, &'a str),
}

/// What an event says beside its pieces.
#[derive(Default)]
pub(super) struct Told {
    pub finish_reason: Option<String>,
    /// The usage object.
    pub usage: Option<Counts>,
    /// The engine's own figures: a hint, not usage.
    pub engine: Option<Counts>,
    pub error: Option<String>,
    /// Why the engine gave the request up, where it says more than that it did.
    pub abort: Option<String>,
    /// The dialect's own end mark.
    pub end: bool,
    /// The choices that the event speaks of, and those of them that it finishes.
    pub choices: Choices,
    pub finished: Choices,
}

/// Token counts; running or final, per event or once.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    pub output: Option<u32>,
    pub prompt: Option<u32>,
    pub cached: Option<u32>,
}

/// A set of choices by index; those beyond the 64th count as the 64th.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Choices(u64);

impl Choices {
    pub(super) fn add(&mut self, index: u32) {
        self.0 |= 1 << index.min(63);
    }

    pub(super) fn join(&mut self, other: Self) {
        self.0 |= other.0;
    }

    pub(super) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }
}
