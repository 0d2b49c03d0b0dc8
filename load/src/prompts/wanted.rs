//! How many sessions and requests a point aims at.

use measure::study::PointLength;
use measure::units::Level;
use measure::workload::TurnLengths;

use super::PointSpec;

/// How many sessions and requests a point aims at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    /// At least so many sessions,
    pub sessions: usize,
    /// and at least so many requests,
    pub requests: usize,
    /// but at most so many requests.
    pub most: usize,
    /// Whether a file may have fewer: where time is the bound, nobody knows how many are needed.
    pub whatever: bool,
}

impl Wanted {
    /// As many sessions as start in the time, within the bounds on requests. Where no rate says how many that is, a
    /// closed loop gets four requests a stream. `timed` is how many start in the time, where that alone counts.
    pub(super) fn of(spec: &PointSpec<'_>, timed: Option<usize>) -> Self {
        let PointLength {
            max_requests,
            seconds,
            ..
        } = spec.length;
        let (sessions, requests) = match spec.level {
            Level::Rate(rate) => (
                (spec.arrival.mean_rate(rate.per_second()) * f64::from(seconds)).ceil() as usize,
                spec.length.min_requests,
            ),
            // How many a trace has in the time, it says itself.
            Level::Replay(_) => (1, spec.length.min_requests),
            // Enough for the whole time, whatever the engine makes of it.
            _ if spec.duration.is_some() => (1, max_requests),
            Level::Inf => (1, spec.length.requests(spec.level, 1.0)),
            Level::Concurrency(streams) => {
                (streams as usize, spec.length.requests(spec.level, 1.0))
            }
        };
        let (sessions, requests) = match timed {
            Some(sessions) => (sessions, 1),
            None => (sessions, requests),
        };
        let most = (max_requests as usize).max(1);
        Self {
            sessions: sessions.clamp(1, most),
            requests: (requests as usize).clamp(1, most),
            most,
            whatever: timed.is_none() && spec.duration.is_some(),
        }
    }

    /// Whole sessions as long as they stay within the bound, and at least one.
    pub(super) fn cut(self, mut sessions: Vec<Vec<TurnLengths>>) -> Vec<Vec<TurnLengths>> {
        let mut requests = 0;
        let fitting = sessions.iter().take_while(|turns| {
            requests += turns.len();
            requests <= self.most
        });
        let fitting = fitting.count().max(1);
        sessions.truncate(fitting);
        sessions
    }
}
