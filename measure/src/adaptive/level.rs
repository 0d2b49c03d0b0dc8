//! All probes of one rate.

use super::looks::{self, Verdict};
use super::{Evidence, Probed, Search};

/// All probes of one rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// The rate asked for.
    pub rate: f64,
    /// Arrivals over the time that they took.
    pub offered: f64,
    /// Its requests together.
    pub evidence: Evidence,
    /// One of its probes lay above capacity.
    pub above: bool,
    /// What they decide.
    pub verdict: Verdict,
    /// How many of its probes count.
    pub repeats: u32,
    /// How many do not, since the client was not innocent.
    pub void: u32,
}

/// The probes by rate, in the order in which the rates were opened.
pub(super) fn levels(search: &Search, probed: &[Probed]) -> Vec<Level> {
    let mut rates: Vec<f64> = Vec::new();
    for probe in probed {
        if !rates.contains(&probe.rate) {
            rates.push(probe.rate);
        }
    }
    let places = rates.into_iter().enumerate();
    places
        .map(|(place, rate)| level(search, (place, rate), probed))
        .collect()
}

fn level(search: &Search, (place, rate): (usize, f64), probed: &[Probed]) -> Level {
    let of = || probed.iter().filter(|probe| probe.rate == rate);
    let used: Vec<&Probed> = of().filter(|probe| !probe.void).collect();
    let runs: Vec<Evidence> = used.iter().map(|probe| probe.evidence).collect();
    let evidence = Evidence::pooled(&runs);
    let above = used.iter().any(|probe| probe.above);
    let verdict = if above {
        Verdict::Broken
    } else {
        looks::verdict(&evidence, search.target, (place, search.most))
    };
    Level {
        rate,
        offered: offered(&used).unwrap_or(rate),
        evidence,
        above,
        verdict,
        repeats: used.len() as u32,
        void: (of().count() - used.len()) as u32,
    }
}

fn offered(probes: &[&Probed]) -> Option<f64> {
    let requests = |probe: &&Probed| f64::from(probe.evidence.scheduled.max(1));
    let all: f64 = probes.iter().map(requests).sum();
    let seconds: f64 = probes
        .iter()
        .map(|probe| requests(probe) / probe.offered)
        .sum();
    (0.0 < seconds).then(|| all / seconds)
}

/// The highest rate that is kept and the lowest that is broken.
pub(super) fn ends(levels: &[Level]) -> (Option<Level>, Option<Level>) {
    let of = |verdict| {
        levels
            .iter()
            .copied()
            .filter(move |level| level.verdict == verdict)
    };
    let lo = of(Verdict::Kept).reduce(|a, b| if a.offered < b.offered { b } else { a });
    let hi = of(Verdict::Broken).reduce(|a, b| if b.offered < a.offered { b } else { a });
    (lo, hi)
}

/// The level of a rate.
pub(super) fn found(levels: &[Level], rate: f64) -> Option<&Level> {
    levels.iter().find(|level| level.rate == rate)
}
