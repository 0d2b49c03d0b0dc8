//! What a probe's requests say of the promise, and what they are worth.

use crate::quantile::{Indicator, percentile_linear};
use crate::score::Score;
use crate::slo::{Good, Slo, value};

/// Where lines are drawn through a sample to learn how long it remembers.
const LINES: [f64; 4] = [50.0, 75.0, 90.0, 95.0];
/// Below this share of good requests the promise itself is line enough.
const FEW_GOOD: f64 = 0.9;
/// How many standard errors of its own a sample's worth is lowered by.
const NOISE: f64 = 2.0;

/// Requests of one rate under an SLO.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Requests that were scheduled.
    pub scheduled: u32,
    /// How many of them were good.
    pub good: u32,
    /// How many independent requests they are worth.
    pub effective: f64,
}

/// How near a request came to its bounds: its worst value over that value's threshold. Good is at most 1; one that was not
/// good for another reason is infinite.
pub fn strain(score: &Score, slo: &Slo) -> f64 {
    let shares = slo.bounds.iter().filter_map(|bound| {
        let value = value(score, bound.metric)?;
        Some(value.0 as f64 / bound.at_most.0.max(1) as f64)
    });
    let worst = shares.fold(0.0, f64::max);
    match slo.judge_request(score) {
        Good::Yes => worst.min(1.0),
        _ if score.is_ok() && 1.0 < worst => worst,
        _ => f64::INFINITY,
    }
}

impl Evidence {
    /// A point's requests under an SLO. In order of arrival, whatever order the scores stand in.
    pub fn of_scores(scores: &[Score], slo: &Slo) -> Self {
        let mut arrived: Vec<(u64, f64)> = scores
            .iter()
            .map(|score| (score.scheduled.0, strain(score, slo)))
            .collect();
        arrived.sort_by_key(|(scheduled, _)| *scheduled);
        Self::of(&arrived.into_iter().map(|it| it.1).collect::<Vec<_>>())
    }

    /// Requests in order of arrival, each by its [`strain`].
    ///
    /// Where few requests break the promise, the long run of good ones hides how long a queue remembers. So the sample is
    /// worth the least of what several lines through it say: the promise itself, and its own percentiles.
    pub fn of(strains: &[f64]) -> Self {
        let good: Indicator = strains.iter().map(|strain| *strain <= 1.0).collect();
        let scheduled = strains.len() as u32;
        let mut all = Self {
            scheduled,
            good: good.ones() as u32,
            effective: worth(&good),
        };
        if FEW_GOOD <= all.share() {
            for line in lines(strains) {
                let below: Indicator = strains.iter().map(|strain| *strain <= line).collect();
                all.effective = all.effective.min(worth(&below));
            }
        }
        all
    }

    /// The share of good requests.
    pub fn share(&self) -> f64 {
        f64::from(self.good) / f64::from(self.scheduled.max(1))
    }

    /// Several runs at one rate as one. Runs that lie further apart than their requests explain are worth less: by the
    /// ratio of the spread seen to the spread expected (Birge, 1932), never more.
    pub fn pooled(runs: &[Self]) -> Self {
        let mut all = Self {
            scheduled: runs.iter().map(|run| run.scheduled).sum(),
            good: runs.iter().map(|run| run.good).sum(),
            effective: runs.iter().map(|run| run.effective).sum(),
        };
        let (share, free) = (all.share(), runs.len() as f64 - 1.0);
        let variance = share * (1.0 - share);
        if 0.0 < free && 0.0 < variance {
            let apart = |run: &Self| run.effective * (run.share() - share).powi(2) / variance;
            all.effective /= (runs.iter().map(apart).sum::<f64>() / free).max(1.0);
        }
        all
    }
}

/// What an indicator is worth, with the noise of that estimate against it: the autocorrelation time of a sample worth m is
/// known to about one part in the root of m.
fn worth(indicator: &Indicator) -> f64 {
    let effective = indicator.effective();
    if indicator.len() as f64 <= effective {
        return effective;
    }
    effective / (1.0 + NOISE / effective.max(1.0).sqrt())
}

fn lines(strains: &[f64]) -> impl Iterator<Item = f64> {
    let mut sorted = strains.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    LINES
        .into_iter()
        .filter_map(move |p| percentile_linear(&sorted, p))
        .filter(|line| line.is_finite())
}
