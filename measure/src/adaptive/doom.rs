//! A point that is above capacity while it still runs: its backlog climbs, so that every further request only waits longer.
//!
//! Told from the counts that a running point shows a few times a second, so that it can be cut short. What it then is: an
//! upper end of the ceiling, never a value.

use crate::steady::trend::{self, Direction};

/// So many requests must have ended before anything is said: until answers come, everything climbs.
const ENDED: u32 = 32;
/// And so many times as long as they took must have passed.
const PATIENCE: f64 = 4.0;
/// The backlog must grow by this share of what is sent: the engine takes a tenth less than it is offered.
const BEHIND: f64 = 0.1;
/// And must have grown by this factor.
const GROWN: f64 = 2.0;
/// Pictures kept; beyond them every second one is forgotten, so that a long point is not in memory whole.
const KEPT: usize = 4096;

/// Watches a running point.
#[derive(Clone, Debug, Default)]
pub struct Doom {
    /// `(second, in flight)` since the first answers.
    seen: Vec<(f64, f64)>,
    /// When the first answers had come.
    answered: Option<f64>,
    /// Every so many-th picture is kept.
    stride: usize,
    pictures: usize,
}

impl Doom {
    /// One more picture: seconds since the start, requests sent, requests in flight. Whether the point is doomed.
    pub fn see(&mut self, at: f64, sent: u32, in_flight: u32) -> bool {
        if self.answered.is_none() && ENDED <= sent.saturating_sub(in_flight) {
            self.answered = Some(at);
        }
        let Some(answered) = self.answered else {
            return false;
        };
        // The climb from an empty engine is over by then.
        if at < 2.0 * answered {
            return false;
        }
        self.keep((at, f64::from(in_flight)));
        PATIENCE * answered <= at && self.climbs(f64::from(sent) / at)
    }

    fn keep(&mut self, picture: (f64, f64)) {
        self.pictures += 1;
        if self.pictures.is_multiple_of(self.stride.max(1)) {
            self.seen.push(picture);
        }
        if KEPT <= self.seen.len() {
            let mut odd = false;
            self.seen.retain(|_| {
                odd = !odd;
                odd
            });
            self.stride = self.stride.max(1) * 2;
        }
    }

    fn climbs(&self, sent_per_s: f64) -> bool {
        let trend = trend::of(&self.seen);
        trend.direction == Direction::Rising
            && GROWN * trend.from.max(1.0) <= trend.to
            && BEHIND * sent_per_s <= trend.per_second
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adaptive::queue::{Queue, Service};

    const QUEUE: Queue = Queue {
        name: "M/M/8",
        servers: 8,
        service: Service::Exponential,
        bound: 1.0,
        target: 0.95,
    };

    /// When a queue at a rate is called doomed, in seconds of 600.
    fn doomed(rate: f64, seed: u64) -> Option<f64> {
        let stays: Vec<(f64, f64)> = QUEUE
            .stays(rate, seed)
            .take((rate * 600.0) as usize)
            .collect();
        let mut doom = Doom::default();
        (1..2400)
            .map(|quarter| f64::from(quarter) / 4.0)
            .find(|at| {
                let sent = stays.iter().filter(|stay| stay.0 <= *at).count() as u32;
                let ended = stays.iter().filter(|stay| stay.1 <= *at).count() as u32;
                doom.see(*at, sent, sent - ended)
            })
    }

    #[test]
    fn an_overloaded_queue_is_doomed_soon_and_a_loaded_one_is_not() {
        for seed in 0..4 {
            let at = doomed(12.0, seed).expect("half again what it can take");
            assert!(at < 120.0, "{at}");
            assert_eq!(doomed(6.0, seed), None);
        }
    }
}
