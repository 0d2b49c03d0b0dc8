//! What a point sends and when: everything is made before its clock starts.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use measure::summary::Discipline;
use measure::units::Nanos;

pub use body::Body;
pub use made::{InputTokens, LengthSource, Made, Rows};

mod body; // the bytes of a request, now or later
mod made; // what the prompts were made of

/// A request's id, unique within the study: prefix, session and turn, joined by dashes. No text of its own, since a point
/// may have a hundred thousand of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId {
    /// What all ids of a point begin with.
    pub prefix: Arc<str>,
    /// Index of the session within the point.
    pub session: u32,
    /// Index of the turn within the session.
    pub turn: u32,
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.prefix, self.session, self.turn)
    }
}

/// A request, ready to go out.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedRequest {
    /// Sent as header `x-request-id`.
    pub request_id: RequestId,
    /// The body.
    pub body: Body,
    /// Input tokens meant (the whole context of the turn), without the chat template.
    pub input_tokens: u32,
    /// Output tokens asked for.
    pub output_tokens: u32,
    /// Pause after the turn before; zero for the first.
    pub think: Nanos,
    /// Never due before this, however early the turn before has ended: a trace's own moment. Zero elsewhere.
    pub not_before: Nanos,
}

/// A session: turns that follow each other.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedSession {
    /// When its first turn is due. Of no meaning in a closed loop.
    pub start: Nanos,
    /// At least one.
    pub turns: Vec<PlannedRequest>,
}

/// A point, whole.
#[derive(Clone, Debug, PartialEq)]
pub struct PointPlan {
    /// In order of their starts.
    pub sessions: Vec<PlannedSession>,
    /// How they come.
    pub discipline: Discipline,
    /// Closed loop: the streams. Otherwise the most requests in flight at once; waiting for it shows as dispatch lag.
    pub concurrency: Option<u32>,
    /// No session begins after this in a closed loop or at `inf`: those that never began are no part of the point.
    pub until: Option<Nanos>,
    /// Sent before the clock starts, and not recorded.
    pub warmup: Vec<PlannedRequest>,
    /// Requests still in flight so long after the last one was due are given up.
    pub drain: Duration,
    /// What the prompts were made of.
    pub made: Made,
}

impl PointPlan {
    /// Requests of all sessions.
    pub fn requests(&self) -> usize {
        self.sessions
            .iter()
            .map(|session| session.turns.len())
            .sum()
    }

    /// Whether later turns carry what the engine answered: whoever runs it must keep the answers' text.
    pub fn needs_answers(&self) -> bool {
        let mut turns = self.sessions.iter().flat_map(|session| &session.turns);
        turns.any(|turn| turn.body.needs_answers())
    }

    /// Most requests that can be in flight at once.
    fn most_streams(&self) -> usize {
        self.concurrency
            .map_or(usize::MAX, |streams| streams as usize)
            .min(self.sessions.len())
    }

    /// How many requests will be in flight at once, where that is certain beforehand.
    pub(crate) fn certain_streams(&self) -> Option<usize> {
        matches!(
            self.discipline,
            Discipline::AllAtOnce | Discipline::ClosedLoop
        )
        .then(|| self.most_streams())
    }

    /// How many requests may well be in flight at once: so many connections are opened before the clock starts.
    pub(crate) fn expected_streams(&self) -> usize {
        let most = self.most_streams();
        match self.discipline {
            Discipline::ClosedLoop => most,
            // Beyond that the rest is opened inside the clock, and counted there.
            Discipline::AllAtOnce => most.min(4096),
            Discipline::OpenLoop | Discipline::Changing => {
                self.busiest_arrivals().clamp(8, 512).min(most)
            }
        }
    }

    /// Most sessions that start within two seconds: a guess at the streams in flight before anything is measured.
    fn busiest_arrivals(&self) -> usize {
        let window = Nanos::from_millis(2000);
        let mut first = 0;
        let mut most = 0;
        for (last, session) in self.sessions.iter().enumerate() {
            while self.sessions[first].start + window < session.start {
                first += 1;
            }
            most = most.max(last + 1 - first);
        }
        most
    }
}
