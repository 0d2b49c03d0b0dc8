//! Was it kept: request by request (attainment), and percentile by percentile.

use crate::order::by_number;
use crate::quantile::{Distribution, Estimate, Proportion};
use crate::score::Score;
use crate::summary::Summary;
use crate::units::Nanos;

use super::ready::{Ready, Tally};
use super::text::error_rate;
use super::{Bound, BoundVerdict, Good, Judgement, Keeps, Metric, Slo};

/// A request's value of a metric. For ITL its own p95 gap counts.
pub fn value(score: &Score, metric: Metric) -> Option<Nanos> {
    match metric {
        Metric::Ttft => score.ttft,
        Metric::Ttfa => score.ttfa,
        Metric::ScheduledTtft => score.scheduled_ttft(),
        Metric::ScheduledTtfa => score.scheduled_ttfa(),
        Metric::ScheduledE2e => score.scheduled_e2e(),
        Metric::Tpot => score.tpot,
        Metric::Itl => score.itl_p95,
        Metric::Stall => score.stall,
        Metric::E2e => score.e2e,
    }
}

/// A request with one token has no pace that could be bound.
pub(super) fn exempt(score: &Score, metric: Metric) -> bool {
    score.n == Some(1) && matches!(metric, Metric::Tpot | Metric::Itl | Metric::Stall)
}

impl Slo {
    /// Whether one request is good. A broken threshold weighs more than a missing value.
    pub fn judge_request(&self, score: &Score) -> Good {
        if !score.is_ok() {
            return Good::No;
        }
        let mut good = Good::Yes;
        for bound in &self.bounds {
            match value(score, bound.metric) {
                Some(value) if bound.at_most < value => return Good::No,
                None if !exempt(score, bound.metric) => good = Good::Undetermined,
                _ => {}
            }
        }
        good
    }
}

/// A point under an SLO. `summary` gives D and the pooled ITL, which scores do not hold.
pub fn judge(scores: &[Score], summary: &Summary, slo: &Slo) -> Judgement {
    Judge::new(slo).judge(&Ready::of(scores), summary)
}

/// An SLO that many points are judged under.
#[derive(Clone, Debug)]
pub struct Judge<'a> {
    slo: &'a Slo,
    /// Each bound as text, then the error rate.
    texts: Vec<String>,
}

impl<'a> Judge<'a> {
    /// Judges under this SLO.
    pub fn new(slo: &'a Slo) -> Self {
        let bounds = slo.bounds.iter().map(Bound::to_string);
        Self {
            slo,
            texts: bounds.chain(slo.error_rate.map(error_rate)).collect(),
        }
    }

    /// A point. `summary` gives D and the pooled ITL, which its requests do not hold.
    pub fn judge(&self, ready: &Ready, summary: &Summary) -> Judgement {
        let tally = ready.tally(self.slo);
        let good = tally.good();
        let attainment = tally.share(good);
        let bounds = self.bounds(ready, summary);
        let seconds = Some(summary.duration.as_secs_f64()).filter(|seconds| 0.0 < *seconds);
        Judgement {
            scheduled: ready.count() as u32,
            good: good as u32,
            undetermined: tally.undetermined,
            attainment,
            target: self.slo.attainment,
            by_attainment: keeps(&tally, attainment, self.slo.attainment),
            by_percentile: bounds
                .iter()
                .map(|bound| bound.keeps)
                .fold(Keeps::Surely, Keeps::and),
            bounds,
            good_requests_per_s: seconds.map(|seconds| good as f64 / seconds),
            good_tokens_per_s: seconds.and_then(|seconds| Some(tally.tokens? as f64 / seconds)),
        }
    }

    fn bounds(&self, ready: &Ready, summary: &Summary) -> Vec<BoundVerdict> {
        let bounds = self.slo.bounds.iter();
        let latencies = bounds.map(|bound| judge_bound(ready, summary, bound, self.slo.attainment));
        let failures = self.slo.error_rate.map(|most| {
            let keeps = |share| at_most(share, most);
            (None, ready.failed_share().map_or(Keeps::CannotTell, keeps))
        });
        latencies
            .chain(failures)
            .zip(&self.texts)
            .map(|((observed, keeps), bound)| BoundVerdict {
                bound: bound.clone(),
                observed,
                keeps,
            })
            .collect()
    }
}

/// Whether the target is kept. Requests of which nobody can tell whether they were good count as not good in the share, and
/// yet prove nothing: the promise is broken only where it is with all of them good as well.
fn keeps(tally: &Tally, attainment: Option<Proportion>, target: f64) -> Keeps {
    let of = |share: Option<Proportion>| share.map_or(Keeps::CannotTell, |it| at_least(it, target));
    let least = of(attainment);
    if tally.undetermined == 0 || matches!(least, Keeps::Surely | Keeps::Probably) {
        return least;
    }
    match of(tally.share(tally.good() + tally.undetermined as usize)) {
        most @ (Keeps::SurelyNot | Keeps::ProbablyNot) => most,
        _ => Keeps::CannotTell,
    }
}

/// Hands scores over in order of arrival, copied only where they are not in that order already.
pub(super) fn in_order_of_arrival<T>(scores: &[Score], with: impl FnOnce(&[Score]) -> T) -> T {
    if scores.is_sorted_by_key(|score| score.scheduled) {
        return with(scores);
    }
    let mut sorted = scores.to_vec();
    // Exact up to a hundred days.
    by_number(&mut sorted, |score| score.scheduled.0 as f64);
    with(&sorted)
}

/// One bound's percentile: from the summary where it holds that percentile, else from the scores. The pooled gaps are
/// not in the scores, so other percentiles of ITL cannot be told.
fn judge_bound(
    ready: &Ready,
    summary: &Summary,
    bound: &Bound,
    attainment: f64,
) -> (Option<Estimate>, Keeps) {
    // The attainment target in percent, free of the noise of the multiplication (0.95 * 100 is 95 exactly so).
    let p = bound
        .percentile
        .unwrap_or_else(|| (attainment * 1e14).round() / 1e12);
    let distribution = summary.of(bound.metric);
    if let Some(estimate) = distribution.at(p) {
        return (
            Some(estimate),
            within(estimate, distribution, p, bound.at_most),
        );
    }
    if bound.metric == Metric::Itl {
        return (None, Keeps::CannotTell);
    }
    let Some((estimate, effective, count)) = ready.estimate(bound.metric, p) else {
        return (None, Keeps::CannotTell);
    };
    let distribution = Distribution {
        count: count as u32,
        effective,
        ..Distribution::default()
    };
    let keeps = within(estimate, &distribution, p, bound.at_most);
    (Some(estimate), keeps)
}

/// An estimate against a threshold.
fn within(estimate: Estimate, distribution: &Distribution, p: f64, at_most: Nanos) -> Keeps {
    let keeps = |value: Nanos| value <= at_most;
    if estimate.value.is_some_and(keeps) {
        return if estimate.hi.is_some_and(keeps) {
            Keeps::Surely
        } else {
            Keeps::Probably
        };
    }
    let sure = match estimate.lo {
        Some(lo) => !keeps(lo),
        // An infinite lower end, told from a sample too small for one by what the sample is worth.
        None => estimate.value.is_none() && distribution.carries(p),
    };
    if sure {
        Keeps::SurelyNot
    } else {
        Keeps::ProbablyNot
    }
}

/// A share against the least it must be.
pub(crate) fn at_least(share: Proportion, least: f64) -> Keeps {
    match () {
        () if least <= share.lo => Keeps::Surely,
        () if share.hi < least && is_seldom(share, least) => Keeps::SurelyNot,
        () if least <= share.value => Keeps::Probably,
        () => Keeps::ProbablyNot,
    }
}

/// Whether so many misses come at most once in forty times where the share is just kept. Wilson's upper end is too low for few
/// misses: one of three requests puts it below 95 %, which 96 % of good requests do in every ninth try.
fn is_seldom(share: Proportion, least: f64) -> bool {
    /// From so many expected misses on Wilson's interval does as well.
    const MANY: f64 = 20.0;
    let (requests, miss) = (share.effective.floor().max(1.0), 1.0 - least);
    let misses = ((1.0 - share.value) * requests).round();
    if MANY <= requests * miss {
        return true;
    }
    // Of the binomial distribution: no miss, one, ... up to one less than there were.
    let (mut chance, mut fewer) = (least.powf(requests), 0.0);
    for count in 0..misses as u32 {
        let count = f64::from(count);
        fewer += chance;
        chance *= (requests - count) / (count + 1.0) * miss / least;
    }
    1.0 - fewer <= 0.025
}

fn at_most(share: Proportion, most: f64) -> Keeps {
    match () {
        () if share.hi <= most => Keeps::Surely,
        () if most < share.lo => Keeps::SurelyNot,
        () if share.value <= most => Keeps::Probably,
        () => Keeps::ProbablyNot,
    }
}

impl Keeps {
    /// Both of two promises: the worse of the two.
    pub fn and(self, other: Self) -> Self {
        if self.rank() <= other.rank() {
            self
        } else {
            other
        }
    }

    /// From broken (0) to kept (4).
    pub(crate) fn rank(self) -> u8 {
        match self {
            Self::SurelyNot => 0,
            Self::ProbablyNot => 1,
            Self::CannotTell => 2,
            Self::Probably => 3,
            Self::Surely => 4,
        }
    }

    /// Whether it says less than another.
    pub(crate) fn is_less_sure(self, other: Self) -> bool {
        self.rank().abs_diff(2) < other.rank().abs_diff(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many misses of so many independent requests against a target.
    #[track_caller]
    fn check(misses: u32, requests: u32, target: f64, expected: Keeps) {
        let share = 1.0 - f64::from(misses) / f64::from(requests);
        let share = Proportion::wilson(share, f64::from(requests)).expect("requests");
        assert_eq!(at_least(share, target), expected, "{misses} of {requests}");
    }

    #[test]
    fn few_misses_break_nothing_surely() {
        // One miss or more comes in 14 %, 26 % and 15 % of tries where the target is just kept; two of three in 0.7 %.
        check(1, 3, 0.95, Keeps::ProbablyNot);
        check(1, 2, 0.95, Keeps::ProbablyNot);
        check(1, 16, 0.99, Keeps::ProbablyNot);
        check(2, 3, 0.95, Keeps::SurelyNot);
        // Four of 27 in 4.4 %, five in 1.0 %.
        check(4, 27, 0.95, Keeps::ProbablyNot);
        check(5, 27, 0.95, Keeps::SurelyNot);
        check(40, 500, 0.95, Keeps::SurelyNot);
        check(1, 500, 1.0, Keeps::SurelyNot);
        check(0, 73, 0.95, Keeps::Surely);
    }
}
