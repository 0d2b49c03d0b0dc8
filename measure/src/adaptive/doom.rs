//! A point that is above capacity while it still runs: its backlog climbs, so that every further request only waits longer.
//!
//! Told from the counts that a running point shows a few times a second, so that it can be cut short. What it then is: an
//! upper end of the ceiling, never a value.

use crate::steady::trend::{self, Direction};

/// And so many times as long as that took must have passed.
const PATIENCE: f64 = 3.0;
/// The backlog must grow by this share of what is sent: the engine takes a tenth less than it is offered.
const BEHIND: f64 = 0.1;
/// And must have grown by this factor.
const GROWN: f64 = 2.0;
/// Pictures kept; beyond them every second one is forgotten, so that a long point is not in memory whole.
const KEPT: usize = 4096;

/// Watches a running point.
///
/// Until the engine is full everything climbs, and it fills for as long as answers take: where one answer in three takes a
/// minute and the others a second, for a minute. How long that is only whole answers tell, the long ones among them. So
/// nothing is said before all of the first [`Doom::FIRST`] requests sent have ended. Where a tenth of the requests (the
/// growth that is called a climb) take longer than those, that happens in 1 of 29 points, where a fifth do in 1 of 1,262.
#[derive(Clone, Debug, Default)]
pub struct Doom {
    /// `(second, in flight)` since the first requests had ended.
    seen: Vec<(f64, f64)>,
    /// When they had.
    answered: Option<f64>,
    /// Every so many-th picture is kept.
    stride: usize,
    pictures: usize,
}

impl Doom {
    /// So many requests, the first sent, must have ended before anything is said.
    pub const FIRST: u32 = 32;

    /// One more picture: seconds since the start, requests sent, requests in flight, and how many of the first
    /// [`Doom::FIRST`] sent have ended. Whether the point is doomed.
    pub fn see(&mut self, at: f64, sent: u32, in_flight: u32, first_ended: u32) -> bool {
        if self.answered.is_none() && Self::FIRST <= first_ended {
            self.answered = Some(at);
        }
        let Some(answered) = self.answered else {
            return false;
        };
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
    use crate::sampling::Draws;

    const QUEUE: Queue = Queue {
        name: "M/M/8",
        servers: 8,
        service: Service::Exponential,
        bound: 1.0,
        target: 0.95,
    };

    /// When a point of 600 s is called doomed, from when each of its requests came and left.
    fn doomed(stays: &[(f64, f64)]) -> Option<f64> {
        let mut doom = Doom::default();
        let sorted = |moments: &mut dyn Iterator<Item = f64>| {
            let mut moments: Vec<f64> = moments.collect();
            moments.sort_unstable_by(f64::total_cmp);
            moments
        };
        let sent = sorted(&mut stays.iter().map(|stay| stay.0));
        let ended = sorted(&mut stays.iter().map(|stay| stay.1));
        let first = stays.iter().take(Doom::FIRST as usize);
        let first = sorted(&mut first.map(|stay| stay.1));
        let until = |moments: &[f64], at| moments.partition_point(|moment| *moment <= at) as u32;
        (1..1200).map(|half| f64::from(half) / 2.0).find(|at| {
            let sent = until(&sent, *at);
            doom.see(*at, sent, sent - until(&ended, *at), until(&first, *at))
        })
    }

    fn queue(rate: f64, seed: u64) -> Vec<(f64, f64)> {
        let requests = (rate * 600.0) as usize;
        QUEUE.stays(rate, seed).take(requests).collect()
    }

    #[test]
    fn an_overloaded_queue_is_doomed_soon_and_a_loaded_one_is_not() {
        for seed in 0..4 {
            let at = doomed(&queue(12.0, seed)).expect("half again what it can take");
            assert!(at < 120.0, "{at}");
            assert_eq!(doomed(&queue(6.0, seed)), None);
        }
    }

    /// An engine that takes any number at once: some answers are short, the others long.
    fn uneven(rate: f64, long_share: f64, long_s: f64, seed: u64) -> Vec<(f64, f64)> {
        let mut draws = Draws::new(seed);
        let mut now = 0.0;
        let mut request = || {
            now += draws.exponential(rate);
            let long = draws.uniform() < long_share;
            (now, now + if long { long_s } else { 1.0 })
        };
        (0..(rate * 600.0) as usize).map(|_| request()).collect()
    }

    #[test]
    fn an_engine_that_still_fills_with_long_answers_is_not_doomed() {
        for (long_share, long_s) in [(0.3, 60.0), (0.3, 200.0), (0.5, 100.0), (0.2, 120.0)] {
            for seed in 0..10 {
                let stays = uneven(8.0, long_share, long_s, seed);
                assert_eq!(
                    doomed(&stays),
                    None,
                    "{long_share} of {long_s} s, seed {seed}"
                );
            }
        }
    }

    #[test]
    fn a_heavy_tail_is_seldom_taken_for_a_climb() {
        let doomed = (0..60)
            .filter(|seed| doomed(&uneven(8.0, 0.1, 150.0, *seed)).is_some())
            .count();
        assert!(doomed <= 6, "{doomed} of 60");
    }
}
