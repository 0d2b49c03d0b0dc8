//! What a configuration delivers at its ceiling.

use crate::order::by_number;
use crate::slo::Judgement;

use super::{Ceiling, CurvePoint, pool};

/// Goodput at a ceiling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AtCeiling {
    /// The rate that it is given for: the ceiling's value, or its lower end where no rate broke the SLO.
    pub rate: f64,
    /// Good requests per second.
    pub requests_per_s: Option<f64>,
    /// Tokens of good requests per second.
    pub tokens_per_s: Option<f64>,
}

/// Good requests and good tokens per second at a ceiling: in a straight line between the levels on either side of it, or
/// those of the nearest level below where none with a value lies above. `None` where the ceiling has no rate.
pub fn at_ceiling(points: &[CurvePoint<'_>], ceiling: &Ceiling) -> Option<AtCeiling> {
    let rate = match *ceiling {
        Ceiling::Bracket { value, .. } => value,
        Ceiling::AtLeast { lo } => lo,
        _ => return None,
    };
    let mut levels = pool::levels(points);
    levels.retain(|level| !level.above);
    by_number(&mut levels, |level| level.rate);
    let at = |of: fn(&Judgement) -> Option<f64>| {
        let known = levels
            .iter()
            .filter_map(|level| Some((level.rate, mean(&level.valued, of)?)));
        between(known, rate)
    };
    Some(AtCeiling {
        rate,
        requests_per_s: at(|it| it.good_requests_per_s),
        tokens_per_s: at(|it| it.good_tokens_per_s),
    })
}

/// Repeats weigh by their requests.
fn mean(repeats: &[&Judgement], of: fn(&Judgement) -> Option<f64>) -> Option<f64> {
    let (mut sum, mut weight) = (0.0, 0.0);
    for repeat in repeats {
        let requests = f64::from(repeat.scheduled);
        sum += of(repeat)? * requests;
        weight += requests;
    }
    (0.0 < weight).then(|| sum / weight)
}

/// At a place between values in order of theirs.
fn between(values: impl Iterator<Item = (f64, f64)>, at: f64) -> Option<f64> {
    let mut below: Option<(f64, f64)> = None;
    for (place, value) in values {
        match below {
            _ if place <= at => below = Some((place, value)),
            Some((from, start)) => {
                return Some(start + (value - start) * (at - from) / (place - from));
            }
            None => return Some(value),
        }
    }
    below.map(|(_, value)| value)
}
