//! From levels, each sure or not, to the bracket of the ceiling and the value inside.

use crate::order::by_number;
use crate::slo::Keeps;

use super::Ceiling;
use super::fit::never_rising;

/// What the ceiling needs of a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Seen {
    /// The rate offered.
    pub rate: f64,
    pub keeps: Keeps,
    /// Above zero where the level keeps the SLO by value, below where it does not; `None` where it has no value.
    pub margin: Option<f64>,
    /// How much the margin weighs among others.
    pub weight: f64,
}

/// The bracket rests on sure levels and on a higher rate being no easier. Levels in any order.
pub(crate) fn bracket(mut seen: Vec<Seen>) -> Ceiling {
    by_number(&mut seen, |level| level.rate);
    let sure = |level: &&Seen, keeps| level.keeps == keeps;
    let lo = seen
        .iter()
        .rev()
        .find(|it| sure(it, Keeps::Surely))
        .map(|it| it.rate);
    let hi = seen
        .iter()
        .find(|it| sure(it, Keeps::SurelyNot))
        .map(|it| it.rate);
    let all = |kinds: [Keeps; 2]| seen.iter().all(|level| kinds.contains(&level.keeps));
    let lowest = seen.first().map(|level| level.rate);
    match (lo, hi) {
        (Some(lo), Some(hi)) if lo < hi => Ceiling::Bracket {
            value: crossing(&seen, lo, hi),
            lo,
            hi,
        },
        (Some(lo), None) if all([Keeps::Surely, Keeps::Probably]) => Ceiling::AtLeast { lo },
        (None, Some(hi)) if all([Keeps::SurelyNot, Keeps::ProbablyNot]) && lowest == Some(hi) => {
            Ceiling::NoneKept { hi }
        }
        (lo, hi) => Ceiling::Unresolved { lo, hi },
    }
}

/// Where between the ends the margins' fit falls to zero, level by level in a straight line. Where no level with a value
/// lies beyond the crossing (the upper end is above capacity), the highest rate that was seen to keep the SLO.
fn crossing(seen: &[Seen], lo: f64, hi: f64) -> f64 {
    let valued = seen
        .iter()
        .filter(|level| lo <= level.rate && level.rate <= hi)
        .filter_map(|level| Some((level.rate, (level.margin?, level.weight))));
    let (rates, mut margins): (Vec<f64>, Vec<(f64, f64)>) = valued.unzip();
    never_rising(&mut margins);
    let kept = margins.iter().take_while(|margin| 0.0 <= margin.0).count();
    let Some(last) = kept.checked_sub(1) else {
        return lo;
    };
    let value = match margins.get(kept) {
        Some(broken) => {
            let (from, left) = (rates[last], margins[last].0);
            from + (rates[kept] - from) * left / (left - broken.0)
        }
        None => rates[last],
    };
    value.clamp(lo, hi)
}
