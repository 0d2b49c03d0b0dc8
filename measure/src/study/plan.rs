//! The points of a study in the order they run, and how long each will take.

use crate::units::{Level, Nanos, Rate};

use super::{PlannedPoint, PointLength, StudySpec};

/// Seconds a token is guessed to take before anything is known of the engine.
const GUESSED_TPOT: f64 = 0.02;
/// Output tokens per second that a small engine is guessed to make at its best.
const GUESSED_THROUGHPUT: f64 = 2000.0;

impl PointLength {
    /// Requests aimed at: as many as arrive in `seconds`, within the bounds. At `inf` that is the most, since peak throughput
    /// shows only when the engine is full for a while; a closed loop takes the least that makes four rounds.
    pub fn requests(&self, level: Level, requests_per_session: f64) -> u32 {
        let arriving = match level {
            Level::Rate(rate) => {
                (rate.per_second() * requests_per_session * f64::from(self.seconds)).ceil() as u32
            }
            // A trace brings as many as it has in the time, which nobody has counted yet.
            Level::Inf | Level::Replay(_) => self.max_requests,
            // At least four rounds, so that the start is not most of it.
            Level::Concurrency(streams) => streams.saturating_mul(4),
        };
        arriving.max(self.min_requests).min(self.max_requests)
    }
}

pub(super) fn plan(spec: &StudySpec) -> Vec<PlannedPoint> {
    if spec.adaptive.is_some() {
        let search = spec.search();
        return search.map_or_else(Vec::new, |search| spec.first_probes(&search));
    }
    let guess = Guess::of(spec);
    let mut points = Vec::new();
    for configuration in 0..spec.configurations.len() as u32 {
        for (level_index, level) in spec.levels.iter().enumerate() {
            let paced = mean_level(*level, spec);
            let requests = spec.length.requests(paced, guess.requests_per_session);
            let estimated = guess.point(paced, requests, spec);
            points.extend((0..spec.repeats).map(|repeat| PlannedPoint {
                configuration,
                level_index: level_index as u32,
                level: *level,
                repeat,
                seed: spec.point_seed(level_index as u32, repeat),
                requests,
                estimated,
            }));
        }
    }
    points
}

/// A ramp's mean rate; every other level as it is.
fn mean_level(level: Level, spec: &StudySpec) -> Level {
    let mean = level.rate().map(|rate| spec.arrival.mean_rate(rate));
    let mean = mean.and_then(|rate| Rate::try_from(rate).ok());
    mean.map_or(level, Level::Rate)
}

/// What is guessed of a workload before it has run.
pub(super) struct Guess {
    requests_per_session: f64,
    answer_tokens: f64,
    session_seconds: f64,
}

impl Guess {
    pub fn of(spec: &StudySpec) -> Self {
        let requests_per_session = spec.workload.requests_per_session().max(1.0);
        let answer_tokens = spec.workload.answer_tokens_per_session();
        let think = spec.workload.think().as_secs_f64() * (requests_per_session - 1.0);
        Self {
            requests_per_session,
            answer_tokens,
            session_seconds: answer_tokens * GUESSED_TPOT + think,
        }
    }

    /// Arrivals, then the tail of the last sessions; warm-up before.
    pub fn point(&self, level: Level, requests: u32, spec: &StudySpec) -> Nanos {
        let sessions = (f64::from(requests) / self.requests_per_session).ceil();
        let work = sessions * self.answer_tokens / GUESSED_THROUGHPUT;
        let load = match level {
            Level::Rate(rate) => sessions / rate.per_second() + self.session_seconds,
            Level::Inf => work + self.session_seconds,
            Level::Replay(_) => f64::from(spec.length.seconds) + self.session_seconds,
            Level::Concurrency(streams) => {
                (sessions / f64::from(streams) * self.session_seconds).max(work)
            }
        };
        Nanos::from_secs_f64(load + self.warmup(spec))
    }

    fn warmup(&self, spec: &StudySpec) -> f64 {
        f64::from(spec.warmup.div_ceil(4)) * self.session_seconds / self.requests_per_session
    }

    /// Seconds of a point at a rate beside its arrivals: warm-up before, the tail of the last sessions after.
    pub fn beside(&self, spec: &StudySpec) -> f64 {
        self.warmup(spec) + self.session_seconds
    }
}
