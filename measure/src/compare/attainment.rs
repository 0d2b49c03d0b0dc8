//! How many more requests are good.

use crate::quantile::Indicator;
use crate::score::Score;
use crate::slo::{Good, Slo};

use super::Difference;
use super::pairs::Pairs;

/// Candidate - baseline in shares of requests, with its interval; why not, where the data do not suffice.
pub(super) fn difference(
    baseline: &[Score],
    candidate: &[Score],
    slo: &Slo,
    seed: u64,
) -> Result<Difference, String> {
    let pairs = Pairs::new(baseline, candidate)?;
    let count = |sessions: &[Vec<&Score>]| {
        sessions
            .iter()
            .map(|scores| tally(scores, slo))
            .collect::<Vec<Tally>>()
    };
    let (from, to) = (count(&pairs.baseline), count(&pairs.candidate));
    let relative = share(&to, None) - share(&from, None);
    let unlike = from
        .iter()
        .zip(&to)
        .map(|(a, b)| a.good != b.good)
        .collect::<Indicator>();
    let (lo, hi) = pairs
        .interval(seed, &unlike, |drawn| {
            Some(share(&to, Some(drawn)) - share(&from, Some(drawn)))
        })
        .ok_or("The resamples have no value.")?;
    // Where hardly any session changed, resampling cannot see what it has not drawn: never narrower than the rule of three.
    let least = 3.7 / pairs.len() as f64;
    Ok(Difference {
        relative,
        lo: lo
            .min(if unlike.ones() == 0 {
                relative - least
            } else {
                relative
            })
            .max(-1.0),
        hi: hi
            .max(if unlike.ones() == 0 {
                relative + least
            } else {
                relative
            })
            .min(1.0),
        pairs: pairs.len() as u32,
    })
}

struct Tally {
    good: u32,
    all: u32,
}

fn tally(scores: &[&Score], slo: &Slo) -> Tally {
    let good = scores
        .iter()
        .filter(|score| slo.judge_request(score) == Good::Yes)
        .count();
    Tally {
        good: good as u32,
        all: scores.len() as u32,
    }
}

/// The share of good requests when each session counts as often as it was drawn.
fn share(tallies: &[Tally], drawn: Option<&[u32]>) -> f64 {
    let times = |i: usize| drawn.map_or(1, |drawn| drawn[i]);
    let sum = |of: fn(&Tally) -> u32| {
        tallies
            .iter()
            .enumerate()
            .map(|(i, t)| f64::from(times(i) * of(t)))
            .sum::<f64>()
    };
    sum(|tally| tally.good) / sum(|tally| tally.all)
}
