//! The same sessions on both sides, resampled together.

use std::collections::BTreeMap;

use crate::quantile::{Blocks, Indicator, percentile_linear};
use crate::score::Score;

/// Fewer sessions than this say little about the rest.
const FEWEST_PAIRS: usize = 20;
/// At most this share of sessions may be without a partner.
const MOST_UNPAIRED: f64 = 0.1;
/// Resamples: enough for the ends of a 95 % interval, and a bounded amount of work.
pub(super) const RESAMPLES: usize = 500;

/// Sessions that both points hold, in order of arrival in the baseline.
pub(super) struct Pairs<'a> {
    pub baseline: Vec<Vec<&'a Score>>,
    pub candidate: Vec<Vec<&'a Score>>,
}

impl<'a> Pairs<'a> {
    /// Pairs two points; why not, where they do not go together.
    pub fn new(baseline: &'a [Score], candidate: &'a [Score]) -> Result<Self, String> {
        let (left, mut right) = (by_session(baseline), by_session(candidate));
        let sessions = left.len().max(right.len());
        let mut pairs: Vec<_> = left
            .into_iter()
            .filter_map(|(id, one)| Some((one, right.remove(&id)?)))
            .collect();
        if pairs.len() < FEWEST_PAIRS {
            return Err(format!(
                "{} sessions were measured on both sides; at least {FEWEST_PAIRS} are needed.",
                pairs.len()
            ));
        }
        if MOST_UNPAIRED * sessions as f64 <= (sessions - pairs.len()) as f64 {
            return Err("The two points do not hold the same sessions.".to_owned());
        }
        pairs.sort_by_key(|(one, _)| one.iter().map(|score| score.scheduled).min());
        let (baseline, candidate) = pairs.into_iter().unzip();
        Ok(Self {
            baseline,
            candidate,
        })
    }

    pub fn len(&self) -> usize {
        self.baseline.len()
    }

    /// The 2.5th and 97.5th percentile of a statistic over resamples of whole sessions. `statistic` is given how often each
    /// session was drawn; `dependence` tells how long the blocks must be. `None` when a fortieth of the resamples or more
    /// has no value.
    pub fn interval(
        &self,
        seed: u64,
        dependence: &Indicator,
        mut statistic: impl FnMut(&[u32]) -> Option<f64>,
    ) -> Option<(f64, f64)> {
        let mut blocks = Blocks::new(seed, dependence);
        let mut drawn = vec![0u32; self.len()];
        let mut values: Vec<f64> = Vec::with_capacity(RESAMPLES);
        for _ in 0..RESAMPLES {
            drawn.fill(0);
            blocks
                .resample()
                .for_each(|range| drawn[range].iter_mut().for_each(|times| *times += 1));
            values.extend(statistic(&drawn));
        }
        if values.len() + RESAMPLES / 40 < RESAMPLES {
            return None;
        }
        values.sort_unstable_by(f64::total_cmp);
        Some((
            percentile_linear(&values, 2.5)?,
            percentile_linear(&values, 97.5)?,
        ))
    }
}

fn by_session(scores: &[Score]) -> BTreeMap<u32, Vec<&Score>> {
    let mut sessions = BTreeMap::<u32, Vec<&Score>>::new();
    for score in scores {
        sessions.entry(score.session).or_default().push(score);
    }
    sessions
}
