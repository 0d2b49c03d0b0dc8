//! When a rate may be looked at, and when a look decides.
//!
//! Looking again and again at a fixed interval finds something sooner or later. So the 5 % of error that the whole search
//! may make are shared out before it begins: among its rates, and within a rate among its looks (a union bound; the looks
//! are at fixed numbers of requests, whatever was seen). A rate below the ceiling can be wrongly broken and one above it
//! wrongly kept, never both, so each test is one-sided.

use crate::quantile::normal_quantile;

use super::Evidence;

/// The error of the whole search.
pub const ERROR: f64 = 0.05;
/// Rates that a search may open, in that order, and each one's part of the error: more for those opened later, which lie
/// nearer to the ceiling.
pub const LEVELS: [f64; 10] = [
    0.025, 0.025, 0.025, 0.025, 0.15, 0.15, 0.15, 0.15, 0.15, 0.15,
];
/// Looks at one rate, and each one's part of the rate's error: more for the last ones, which are there for rates that are
/// hard to tell.
pub const LOOKS: [f64; 5] = [0.1, 0.1, 0.15, 0.25, 0.4];
/// A look counts as reached by so much of its requests: sessions are whole, and a ramp-in is left out.
const REACHED: f64 = 0.9;

/// What a rate has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It surely keeps the promise.
    Kept,
    /// It surely breaks it.
    Broken,
    /// Neither yet.
    Open,
}

/// Requests at which a rate is looked at, if the most it gets is `most`: a sixteenth, an eighth, a quarter, half, all.
pub fn at(look: usize, most: u32) -> u32 {
    let halvings = (LOOKS.len() - 1).saturating_sub(look);
    (most >> halvings).max(1)
}

/// How many looks so many requests have passed.
pub fn passed(requests: u32, most: u32) -> usize {
    let reached = |look: &usize| REACHED * f64::from(at(*look, most)) <= f64::from(requests);
    (0..LOOKS.len()).filter(reached).count()
}

/// How far beyond chance a look must lie, in standard errors: the normal quantile of its part of the error.
pub fn limit(level: usize, look: usize) -> f64 {
    let of = |shares: &[f64], place: usize| shares[place.min(shares.len() - 1)];
    normal_quantile(1.0 - ERROR * of(&LEVELS, level) * of(&LOOKS, look))
}

/// How far a share of m independent requests lies from the target beyond chance, in standard errors: the signed root of
/// the likelihood ratio, 2 m (s ln(s / t) + (1 - s) ln((1 - s) / (1 - t))). Nearer to the normal distribution than a
/// difference over its standard error, where few are bad.
pub fn distance(share: f64, effective: f64, target: f64) -> f64 {
    let part = |s: f64, t: f64| if s <= 0.0 { 0.0 } else { s * (s / t).ln() };
    let nats = part(share, target) + part(1.0 - share, 1.0 - target);
    (2.0 * effective * nats.max(0.0))
        .sqrt()
        .copysign(share - target)
}

/// What a rate's requests decide at the look that they have reached: the rate was opened as number `level`, and gets
/// `most` requests.
pub fn verdict(evidence: &Evidence, target: f64, (level, most): (usize, u32)) -> Verdict {
    let Some(look) = passed(evidence.scheduled, most).checked_sub(1) else {
        return Verdict::Open;
    };
    // A rate beyond those that have a part of the error decides nothing.
    if LEVELS.len() <= level {
        return Verdict::Open;
    }
    let distance = distance(evidence.share(), evidence.worth(), target);
    match limit(level, look) {
        limit if limit <= distance => Verdict::Kept,
        limit if distance <= -limit => Verdict::Broken,
        _ => Verdict::Open,
    }
}
