//! How long a study still takes: its plan, corrected by what its points took so far, and said so that it does not jump.

use app::studio::PointState;

use crate::store::StoredPoint;

/// Points took at most so many times their plan, and at least one over it; beyond that something else is wrong.
const MOST: f64 = 10.0;
/// So much of the plan is over before the requests of a point are asked how far it is.
const LATE: f64 = 0.8;

/// What is learnt of finished points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Times the plan.
    factor: f64,
    /// Milliseconds between the end of a point and the start of the next one's clock.
    between_ms: f64,
}

impl Pace {
    /// Of a study's points. The plan counts as much as one point, so that the first one does not decide alone.
    pub fn of(points: &[StoredPoint]) -> Self {
        let (mut planned, mut taken) = (mean_plan(points), mean_plan(points));
        for (point, span) in points.iter().filter_map(|it| Some((it, span(it)?))) {
            // What a person cut short says nothing of the rest.
            if point.state == PointState::Finished {
                planned += point.estimated_ms as f64;
                taken += (span.1 - span.0) as f64;
            }
        }
        let factor = if planned == 0.0 { 1.0 } else { taken / planned };
        Self {
            factor: factor.clamp(1.0 / MOST, MOST),
            between_ms: between(points),
        }
    }

    /// What a point takes that has not begun.
    fn ahead(self, point: &StoredPoint) -> f64 {
        self.whole(point) + self.between_ms
    }

    fn whole(self, point: &StoredPoint) -> f64 {
        point.estimated_ms as f64 * self.factor
    }

    /// What is left of a point under load. Late in its plan its requests say more, up to the plan once more.
    pub fn under_load(self, point: &StoredPoint, elapsed_ms: u64, ended: f64) -> f64 {
        let (whole, elapsed) = (self.whole(point), elapsed_ms as f64);
        let by_plan = (whole - elapsed).max(0.0);
        if elapsed < LATE * whole || ended <= 0.0 {
            return by_plan;
        }
        let by_requests = elapsed * (1.0 - ended.min(1.0)) / ended.min(1.0);
        by_plan.max(by_requests.min(whole))
    }

    /// What the points take that are neither over nor under load, in milliseconds.
    pub fn rest<'a>(self, points: impl IntoIterator<Item = &'a StoredPoint>) -> f64 {
        let open = |it: &&StoredPoint| !it.state.is_over() && it.state != PointState::Running;
        let open = points.into_iter().filter(open);
        open.map(|it| self.ahead(it)).sum()
    }
}

/// Milliseconds that all points still take, seen from a moment.
pub fn left(points: &[StoredPoint], now_ms: i64) -> f64 {
    let pace = Pace::of(points);
    let running = points.iter().filter(|it| it.state == PointState::Running);
    let running = running.map(|it| {
        let elapsed = now_ms.saturating_sub(it.started_ms.unwrap_or(now_ms));
        pace.under_load(it, elapsed.max(0).unsigned_abs(), 0.0)
    });
    running.sum::<f64>() + pace.rest(points)
}

fn mean_plan(points: &[StoredPoint]) -> f64 {
    let all: f64 = points.iter().map(|it| it.estimated_ms as f64).sum();
    all / points.len().max(1) as f64
}

/// When a point's clock started, and when it was stored.
fn span(point: &StoredPoint) -> Option<(i64, i64)> {
    let span = point.started_ms.zip(point.finished_ms)?;
    (point.state.is_over() && span.0 <= span.1).then_some(span)
}

/// The middle one of the times between points: a pause, or a night without a studio, is no time of a point.
fn between(points: &[StoredPoint]) -> f64 {
    let mut spans: Vec<(i64, i64)> = points.iter().filter_map(span).collect();
    spans.sort_unstable();
    let mut gaps: Vec<i64> = spans
        .windows(2)
        .map(|pair| (pair[1].0 - pair[0].1).max(0))
        .collect();
    gaps.sort_unstable();
    let middle = gaps.len().saturating_sub(1) / 2;
    gaps.get(middle).copied().unwrap_or_default() as f64
}

/// The time left as it is said: between two pieces of news it only falls, and stands still where it would have risen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Told {
    ms: f64,
    at_ms: i64,
    begun: bool,
}

/// What was said too high is taken back over so many milliseconds.
const CALM_MS: f64 = 10_000.0;

impl Told {
    /// An estimate while nothing happened but time.
    pub fn passing(&mut self, estimate: f64, now_ms: i64) -> u64 {
        if !self.begun {
            return self.news(estimate, now_ms);
        }
        let passed = now_ms.saturating_sub(self.at_ms).max(0) as f64;
        self.at_ms = now_ms;
        let above = self.ms - estimate;
        if 0.0 < above {
            let calm = above * (1.0 - (-passed / CALM_MS).exp());
            self.ms = (self.ms - calm.max(passed)).max(estimate);
        }
        self.said()
    }

    /// A point ended, failed, was skipped or added, or the study went on: a reason to say something else. What rises does so by half of
    /// it a time, because the next point may say otherwise.
    pub fn news(&mut self, estimate: f64, now_ms: i64) -> u64 {
        let step = if self.begun && self.ms < estimate {
            0.5
        } else {
            1.0
        };
        self.ms += step * (estimate - self.ms);
        (self.at_ms, self.begun) = (now_ms, true);
        self.said()
    }

    /// An end that is sure: it is said as it is.
    pub fn most(&mut self, most: f64, now_ms: i64) -> u64 {
        (self.ms, self.at_ms, self.begun) = (most, now_ms, true);
        self.said()
    }

    /// What is said at a moment at which nobody estimates.
    pub fn at(&self, now_ms: i64) -> Option<u64> {
        let passed = now_ms.saturating_sub(self.at_ms).max(0) as f64;
        self.begun.then(|| (self.ms - passed).max(0.0) as u64)
    }

    fn said(&self) -> u64 {
        self.ms.max(0.0) as u64
    }
}

#[cfg(test)]
mod tests {
    use measure::units::Level;
    use uuid::Uuid;

    use super::*;

    fn point(state: PointState, started_ms: Option<i64>, finished_ms: Option<i64>) -> StoredPoint {
        StoredPoint {
            id: Uuid::nil(),
            configuration: 0,
            ordinal: 0,
            level: Level::Inf,
            repeat: 0,
            planned_requests: 1,
            estimated_ms: 10_000,
            state,
            started_ms,
            finished_ms,
            summary: None,
            certificate: None,
            judgement: None,
            made: None,
            problem: None,
        }
    }

    fn done(from_s: i64, to_s: i64) -> StoredPoint {
        let state = PointState::Finished;
        point(state, Some(from_s * 1000), Some(to_s * 1000))
    }

    #[track_caller]
    fn check(points: &[StoredPoint], expected: f64) {
        assert_eq!(left(points, 100_000).round(), expected);
    }

    #[test]
    fn time_left_is_planned_time_less_what_passed() {
        let planned = point(PointState::Planned, None, None);
        let running = |from| point(PointState::Running, Some(from), None);
        check(&[planned, running(96_000)], 16_000.0);
        check(&[running(0)], 0.0);
    }

    #[test]
    fn time_left_learns_from_finished_points_and_not_from_one_alone() {
        let open = || point(PointState::Planned, None, None);
        check(&[done(0, 20), open()], 15_000.0);
        check(&[done(0, 20), done(20, 40), done(40, 60), open()], 17_500.0);
    }

    #[test]
    fn what_lies_between_points_counts_and_a_pause_does_not() {
        let open = point(PointState::Planned, None, None);
        let points = [
            done(0, 10),
            done(12, 22),
            done(24, 34),
            done(900, 910),
            open,
        ];
        check(&points, 12_000.0);
    }

    #[test]
    fn a_skipped_point_takes_no_more_and_teaches_nothing() {
        let skipped = point(PointState::Skipped, Some(0), Some(100));
        check(&[skipped, point(PointState::Planned, None, None)], 10_000.0);
    }

    #[test]
    fn late_in_its_plan_a_point_is_asked_how_far_it_is() {
        let running = point(PointState::Running, Some(0), None);
        let pace = Pace::of(std::slice::from_ref(&running));
        let left = |elapsed, ended| pace.under_load(&running, elapsed, ended).round();
        assert_eq!(left(5_000, 0.1), 5_000.0);
        assert_eq!(left(12_000, 0.75), 4_000.0);
        assert_eq!(left(12_000, 0.01), 10_000.0, "never more than the plan");
        assert_eq!(left(12_000, 1.0), 0.0);
    }

    /// Points that take half as long again as planned, each with a second before it, told four times a second as the studio does.
    #[test]
    fn it_falls_between_news_and_rises_at_news_by_half() {
        let mut points: Vec<StoredPoint> = (0..8)
            .map(|_| point(PointState::Planned, None, None))
            .collect();
        let (mut told, mut now) = (Told::default(), 0_i64);
        let mut said = vec![told.news(left(&points, now), now)];
        for index in 0..points.len() {
            now += 1000;
            let started = now;
            (points[index].state, points[index].started_ms) = (PointState::Running, Some(now));
            let (pace, rest) = (Pace::of(&points), Pace::of(&points).rest(&points));
            for tick in 1..=60 {
                now = started + tick * 250;
                let ended = tick as f64 / 60.0;
                let open = pace.under_load(&points[index], now.abs_diff(started), ended);
                let next = told.passing(rest + open, now);
                assert!(next <= said[said.len() - 1], "it rose without a reason");
                said.push(next);
            }
            points[index] = StoredPoint {
                finished_ms: Some(now),
                ..point(PointState::Finished, Some(started), None)
            };
            let before = said[said.len() - 1] as f64;
            let estimate = left(&points, now);
            said.push(told.news(estimate, now));
            assert!(said[said.len() - 1] as f64 <= before.max((before + estimate) / 2.0 + 1.0));
            let truth = (points.len() - index - 1) as f64 * 16_000.0;
            if 2 <= index {
                let off = (said[said.len() - 1] as f64 - truth).abs();
                assert!(off <= 0.3 * truth + 2000.0, "{index}: {said:?} {truth}");
            }
        }
        assert_eq!(said[said.len() - 1], 0);
    }

    #[test]
    fn what_was_said_too_high_is_taken_back_calmly() {
        let mut told = Told::default();
        told.news(60_000.0, 0);
        let next = told.passing(20_000.0, 250);
        assert!((58_000..60_000).contains(&next), "{next}");
        assert_eq!(told.passing(70_000.0, 500), next, "it stands still");
        assert_eq!(told.at(1500), Some(next - 1000));
        assert_eq!(told.most(80_000.0, 2000), 80_000, "at most is at most");
    }
}
