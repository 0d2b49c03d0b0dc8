//! What a point sends and when: everything is made before its clock starts.

use std::time::Duration;

use bytes::Bytes;
use measure::summary::Discipline;
use measure::units::Nanos;

/// A request, ready to go out.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedRequest {
    /// Sent as header `x-request-id`; unique within the study.
    pub request_id: String,
    /// The body, byte for byte.
    pub body: Bytes,
    /// Input tokens meant (the whole context of the turn).
    pub input_tokens: u32,
    /// Output tokens asked for.
    pub output_tokens: u32,
    /// Pause after the turn before; zero for the first.
    pub think: Nanos,
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
    /// Sent before the clock starts, and not recorded.
    pub warmup: Vec<PlannedRequest>,
    /// Requests still in flight so long after the last one was due are given up.
    pub drain: Duration,
}

impl PointPlan {
    /// Requests of all sessions.
    pub fn requests(&self) -> usize {
        self.sessions
            .iter()
            .map(|session| session.turns.len())
            .sum()
    }

    /// How many requests may well be in flight at once: so many connections are opened before the clock starts.
    pub(crate) fn expected_streams(&self) -> usize {
        let most = self
            .concurrency
            .map_or(usize::MAX, |streams| streams as usize)
            .min(self.sessions.len());
        match self.discipline {
            Discipline::ClosedLoop => most,
            // Beyond that the rest is opened inside the clock, and counted there.
            Discipline::AllAtOnce => most.min(4096),
            Discipline::OpenLoop => self.busiest_arrivals().clamp(8, 512).min(most),
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
