//! Repeats of a level as one.

use crate::adaptive::Evidence;
use crate::quantile::Proportion;
use crate::slo::{Judgement, Keeps, Slo, at_least};

use super::{By, CurvePoint, Seen};

/// The repeats of one level.
pub(super) struct Repeats<'a> {
    /// Arrivals over the time that they took.
    pub rate: f64,
    /// At least half of them lie above capacity: a direction, no value.
    pub above: bool,
    /// Those that have a value.
    pub valued: Vec<&'a Judgement>,
    /// Some, but fewer than half, lie above capacity.
    doubted: bool,
}

/// A level's points that are part of the curve, with the rate that each was offered.
type Points<'p, 'a> = Vec<(&'p CurvePoint<'a>, f64)>;

/// The levels of a curve, in the order in which they come first.
pub(super) fn levels<'a>(points: &[CurvePoint<'a>]) -> Vec<Repeats<'a>> {
    let mut levels: Vec<Points<'_, 'a>> = Vec::new();
    for point in points.iter().filter(|point| point.is_on_curve()) {
        let Some(offered) = point.offered else {
            continue;
        };
        match levels.iter_mut().find(|it| it[0].0.level == point.level) {
            Some(level) => level.push((point, offered)),
            None => levels.push(vec![(point, offered)]),
        }
    }
    levels.iter().map(Repeats::of).collect()
}

impl<'a> Repeats<'a> {
    fn of(points: &Points<'_, 'a>) -> Self {
        let arrivals = |point: &CurvePoint<'_>| f64::from(point.judgement.scheduled.max(1));
        let all: f64 = points.iter().map(|(point, _)| arrivals(point)).sum();
        let seconds: f64 = points
            .iter()
            .map(|(point, offered)| arrivals(point) / offered)
            .sum();
        let above = points.iter().filter(|it| it.0.above_capacity).count();
        let valued = points.iter().filter(|it| !it.0.above_capacity);
        Self {
            rate: match points[..] {
                [(_, offered)] => offered,
                _ => all / seconds,
            },
            above: points.len() <= 2 * above,
            valued: valued.map(|(point, _)| point.judgement).collect(),
            doubted: 0 < above,
        }
    }

    /// What the ceiling needs of them.
    pub fn seen(&self, by: By) -> Seen {
        let rate = self.rate;
        if self.above {
            return Seen {
                rate,
                keeps: Keeps::SurelyNot,
                margin: None,
                weight: 0.0,
            };
        }
        let (keeps, margin, weight) = match by {
            By::Attainment => self.by_attainment(),
            By::Percentile => self.by_percentile(),
        };
        let keeps = match keeps {
            Keeps::Surely if self.doubted => Keeps::Probably,
            keeps => keeps,
        };
        Seen {
            rate,
            keeps,
            margin,
            weight,
        }
    }

    /// One share of all their requests.
    fn by_attainment(&self) -> (Keeps, Option<f64>, f64) {
        let runs: Vec<Evidence> = self.valued.iter().filter_map(|it| evidence(it)).collect();
        let (share, target) = match self.valued[..] {
            [one] => (one.attainment, one.target),
            _ => {
                let all = Evidence::pooled(&runs);
                let target = self.valued.first().map_or(1.0, |it| it.target);
                (Proportion::wilson(all.share(), all.effective), target)
            }
        };
        let Some(share) = share else {
            return (Keeps::CannotTell, None, 0.0);
        };
        let keeps = match self.valued[..] {
            [one] => one.by_attainment,
            _ if self.is_untold() => Keeps::CannotTell,
            _ => at_least(share, target),
        };
        (keeps, Some(share.value - target), share.effective)
    }

    /// A run has requests of which nobody can tell whether they were good, and therefore no verdict.
    fn is_untold(&self) -> bool {
        let untold = |it: &&Judgement| 0 < it.undetermined && it.by_attainment == Keeps::CannotTell;
        self.valued.iter().any(untold)
    }

    /// The verdict in the middle, the less sure one of two, and the margin in the middle.
    fn by_percentile(&self) -> (Keeps, Option<f64>, f64) {
        let mut keeps: Vec<Keeps> = self.valued.iter().map(|it| it.by_percentile).collect();
        keeps.sort_unstable_by_key(|keeps| keeps.rank());
        let middle = (keeps.len() - 1) / 2;
        let (low, high) = (keeps[middle], keeps[keeps.len() / 2]);
        let keeps = if low.is_less_sure(high) { low } else { high };
        let mut margins: Vec<f64> = self.valued.iter().filter_map(|it| margin(it)).collect();
        margins.sort_unstable_by(f64::total_cmp);
        let margin = crate::quantile::percentile_linear(&margins, 50.0);
        (keeps, margin, self.valued.len() as f64)
    }
}

fn evidence(judgement: &Judgement) -> Option<Evidence> {
    let share = judgement.attainment?;
    Some(Evidence {
        scheduled: judgement.scheduled,
        good: (share.value * f64::from(judgement.scheduled)).round() as u32,
        effective: share.effective,
    })
}

/// The tightest bound, as the logarithm of threshold over observed percentile: a bound at half its threshold has ln 2 left.
fn margin(judgement: &Judgement) -> Option<f64> {
    let margins: Option<Vec<f64>> = judgement
        .bounds
        .iter()
        .filter(|verdict| verdict.observed.is_some())
        .map(|verdict| {
            let at_most = verdict.bound.parse::<Slo>().ok()?.bounds.first()?.at_most;
            let observed = verdict.observed?.value?;
            Some((at_most.0.max(1) as f64 / observed.0.max(1) as f64).ln())
        })
        .collect();
    margins?.into_iter().min_by(f64::total_cmp)
}
