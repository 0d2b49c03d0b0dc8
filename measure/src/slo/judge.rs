//! Was it kept: request by request (attainment), and percentile by percentile.

use crate::order::by_number;
use crate::quantile::{Distribution, Estimate, Indicator, Proportion, Sample, worst_time};
use crate::score::Score;
use crate::summary::Summary;
use crate::units::Nanos;

use super::text::error_rate;
use super::{Bound, BoundVerdict, Good, Judgement, Keeps, Metric, Slo};

/// A request's value of a metric. For ITL its own p95 gap counts.
pub fn value(score: &Score, metric: Metric) -> Option<Nanos> {
    match metric {
        Metric::Ttft => score.ttft,
        Metric::Ttfa => score.ttfa,
        Metric::ScheduledTtft => score.scheduled_ttft(),
        Metric::Tpot => score.tpot,
        Metric::Itl => score.itl_p95,
        Metric::Stall => score.stall,
        Metric::E2e => score.e2e,
    }
}

/// A request with one token has no pace that could be bound.
fn exempt(score: &Score, metric: Metric) -> bool {
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

    /// How far a request is from what it was promised, at its worst bound: the latency over itself and the threshold. A
    /// half at the threshold, 1 for a failure, 0 without a bound that applies. `inverse` has one over each threshold.
    fn margin(&self, score: &Score, inverse: &[f64]) -> f64 {
        if !score.is_ok() {
            return 1.0;
        }
        let (mut most, mut margin) = (0.0, (0.0, 1.0));
        for (bound, inverse) in self.bounds.iter().zip(inverse) {
            let latency = value(score, bound.metric).map_or(0.0, |value| value.0 as f64);
            // Divided once a request, not once a bound: a dragged line looks at hundreds of thousands.
            if most < latency * inverse {
                (most, margin) = (latency * inverse, (latency, bound.at_most.0 as f64));
            }
        }
        margin.0 / (margin.0 + margin.1)
    }

    fn margins(&self, scores: &[Score]) -> Vec<f64> {
        let inverse: Vec<f64> = self
            .bounds
            .iter()
            .map(|bound| 1.0 / (bound.at_most.0 as f64).max(f64::MIN_POSITIVE))
            .collect();
        let margin = |score| self.margin(score, &inverse);
        scores.iter().map(margin).collect()
    }
}

/// A point under an SLO. `summary` gives D and the pooled ITL, which scores do not hold.
pub fn judge(scores: &[Score], summary: &Summary, slo: &Slo) -> Judgement {
    in_order_of_arrival(scores, |scores| {
        let tally = Tally::of(scores, slo);
        let attainment = tally.attainment();
        let bounds = bounds(scores, &tally, summary, slo);
        let seconds = Some(summary.duration.as_secs_f64()).filter(|seconds| 0.0 < *seconds);
        let good = tally.good.ones() as u32;
        Judgement {
            scheduled: scores.len() as u32,
            good,
            undetermined: tally.undetermined,
            attainment,
            target: slo.attainment,
            by_attainment: tally.keeps(slo.attainment),
            by_percentile: bounds
                .iter()
                .map(|bound| bound.keeps)
                .fold(Keeps::Surely, Keeps::and),
            bounds,
            good_requests_per_s: seconds.map(|seconds| f64::from(good) / seconds),
            good_tokens_per_s: seconds
                .filter(|_| tally.tokens_known)
                .map(|seconds| tally.tokens as f64 / seconds),
        }
    })
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

/// Requests counted one by one.
pub(super) struct Tally {
    pub good: Indicator,
    /// How close each came to its worst threshold. What was good says too little about memory: where all are, nothing.
    margins: Vec<f64>,
    failed: Indicator,
    undetermined: u32,
    tokens: u64,
    /// Whether some good request's tokens are known, or none was good.
    tokens_known: bool,
}

impl Tally {
    pub fn of(scores: &[Score], slo: &Slo) -> Self {
        let (mut good, mut failed) = (Indicator::default(), Indicator::default());
        let (mut undetermined, mut tokens, mut counted) = (0, 0, 0);
        for score in scores {
            let verdict = slo.judge_request(score);
            good.push(verdict == Good::Yes);
            failed.push(!score.is_ok());
            undetermined += u32::from(verdict == Good::Undetermined);
            if let (Good::Yes, Some(n)) = (verdict, score.n) {
                tokens += u64::from(n);
                counted += 1;
            }
        }
        let tokens_known = 0 < counted || good.ones() == 0;
        Self {
            good,
            margins: slo.margins(scores),
            failed,
            undetermined,
            tokens,
            tokens_known,
        }
    }

    /// good / scheduled, with Wilson's interval on what the requests are worth.
    pub fn attainment(&self) -> Option<Proportion> {
        self.share(self.good.ones())
    }

    fn share(&self, good: usize) -> Option<Proportion> {
        let count = self.good.len();
        Proportion::dependent(good, count, worst_time(&self.margins, count - good))
    }

    /// Whether the target is kept. Requests of which nobody can tell whether they were good count as not good in the share, and
    /// yet prove nothing: the promise is broken only where it is with all of them good as well.
    fn keeps(&self, target: f64) -> Keeps {
        let of = |good| {
            self.share(good)
                .map_or(Keeps::CannotTell, |it| at_least(it, target))
        };
        let least = of(self.good.ones());
        if self.undetermined == 0 || matches!(least, Keeps::Surely | Keeps::Probably) {
            return least;
        }
        match of(self.good.ones() + self.undetermined as usize) {
            most @ (Keeps::SurelyNot | Keeps::ProbablyNot) => most,
            _ => Keeps::CannotTell,
        }
    }
}

fn bounds(scores: &[Score], tally: &Tally, summary: &Summary, slo: &Slo) -> Vec<BoundVerdict> {
    let mut verdicts: Vec<BoundVerdict> = slo
        .bounds
        .iter()
        .map(|bound| {
            let (observed, keeps) = judge_bound(scores, summary, bound, slo.attainment);
            BoundVerdict {
                bound: bound.to_string(),
                observed,
                keeps,
            }
        })
        .collect();
    verdicts.extend(slo.error_rate.map(|most| BoundVerdict {
        bound: error_rate(most),
        observed: None,
        keeps:
            Proportion::of(&tally.failed).map_or(Keeps::CannotTell, |share| at_most(share, most)),
    }));
    verdicts
}

/// One bound's percentile: from the summary where it holds that percentile, else from the scores. The pooled gaps are
/// not in the scores, so other percentiles of ITL cannot be told.
fn judge_bound(
    scores: &[Score],
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
    let sample = sample(scores, bound.metric);
    match sample.estimate(p) {
        Some((estimate, effective)) => {
            let distribution = Distribution {
                count: sample.len() as u32,
                effective,
                ..Distribution::default()
            };
            (
                Some(estimate),
                within(estimate, &distribution, p, bound.at_most),
            )
        }
        None => (None, Keeps::CannotTell),
    }
}

/// Values of a metric, and of those that a queue may hide in what the same requests waited, as the summary has them.
fn sample(scores: &[Score], metric: Metric) -> Sample {
    let has = || {
        scores
            .iter()
            .filter_map(|it| Some((it, counted(it, metric)?)))
    };
    let values = Sample::new(has().map(|(_, value)| value).collect());
    if !matches!(metric, Metric::Tpot | Metric::Stall | Metric::E2e) {
        return values;
    }
    let waits = has().map(|(score, _)| counted(score, Metric::Ttft).unwrap_or(0.0));
    values.beside(Sample::new(waits.collect()))
}

/// What a request counts for in a percentile: its value, or infinity when it failed.
fn counted(score: &Score, metric: Metric) -> Option<f64> {
    if score.is_ok() {
        value(score, metric).map(|value| value.0 as f64)
    } else {
        Some(f64::INFINITY)
    }
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
        () if share.hi < least => Keeps::SurelyNot,
        () if least <= share.value => Keeps::Probably,
        () => Keeps::ProbablyNot,
    }
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
