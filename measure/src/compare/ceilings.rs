//! Two ceilings: brackets that meet or do not.

use crate::curve::Ceiling;
use crate::units::three_digits;

use super::{BLIND, CeilingComparison, Difference, Verdict, remark};

/// Two ceilings against each other. A bracket's lower end surely keeps the SLO and may be the ceiling; its upper end surely
/// breaks it and cannot be. Where one begins at or above the other's end, the interval of their ratio excludes no difference.
pub fn compare_ceilings(baseline: Ceiling, candidate: Ceiling) -> CeilingComparison {
    compare_ceilings_apart(baseline, candidate, 0.0)
}

/// The same on a machine that drifted meanwhile: the brackets must lie so much further apart, as a share.
pub fn compare_ceilings_apart(
    baseline: Ceiling,
    candidate: Ceiling,
    apart: f64,
) -> CeilingComparison {
    let (from, to) = (ends(baseline), ends(candidate));
    let above = |lo: Option<f64>, hi: Option<f64>| {
        lo.zip(hi).is_some_and(|(lo, hi)| hi * (1.0 + apart) <= lo)
    };
    let verdict = if above(to.0, from.1) {
        Verdict::Better
    } else if above(from.0, to.1) {
        Verdict::Worse
    } else {
        unseparated(baseline, candidate, apart)
    };
    let difference = bracketed(baseline, candidate);
    let rates = match verdict {
        Verdict::NoDifference { .. } | Verdict::CannotTell { .. } => between(from, to),
        _ => None,
    };
    CeilingComparison {
        difference,
        verdict,
        remark: rates.or_else(|| remark(difference?.relative)),
    }
}

/// Two brackets with both ends say what difference they would have shown; open ones say what would close them.
fn unseparated(baseline: Ceiling, candidate: Ceiling, apart: f64) -> Verdict {
    if let (Ceiling::Bracket { lo, hi, .. }, Ceiling::Bracket { lo: to, hi: up, .. }) =
        (baseline, candidate)
    {
        // Beyond the farther end of the interval of their ratio, one way or the other.
        let smallest_seen = (up / lo).max(hi / to) * (1.0 + apart) - 1.0;
        return Verdict::none(smallest_seen, BLIND);
    }
    let meet = |one: Ends, other: Ends| one.1.zip(other.0).is_some_and(|(hi, lo)| hi <= lo);
    let (from, to) = (ends(baseline), ends(candidate));
    let why = if baseline == Ceiling::Ramped || candidate == Ceiling::Ramped {
        "points of a ramp have no ceiling; measure at steady rates".into()
    } else if meet(from, to) || meet(to, from) {
        format!(
            "The ceilings lie apart, but the machine itself changed meanwhile: here they must lie {:.0} % apart; repeats on a steady machine would tell.",
            apart * 100.0
        )
    } else {
        open(from, to)
    };
    Verdict::NotYetJudged { why }
}

type Ends = (Option<f64>, Option<f64>);

/// Rates that a ceiling surely lies at or above, and below.
fn ends(ceiling: Ceiling) -> Ends {
    match ceiling {
        Ceiling::Bracket { lo, hi, .. } => (Some(lo), Some(hi)),
        Ceiling::AtLeast { lo } => (Some(lo), None),
        Ceiling::NoneKept { hi } => (None, Some(hi)),
        // Ends that contradict each other are no ends.
        Ceiling::Unresolved {
            lo: Some(lo),
            hi: Some(hi),
        } if hi <= lo => (None, None),
        Ceiling::Unresolved { lo, hi } => (lo, hi),
        Ceiling::Ramped => (None, None),
    }
}

fn bracketed(baseline: Ceiling, candidate: Ceiling) -> Option<Difference> {
    let (
        Ceiling::Bracket {
            value: from,
            lo: from_lo,
            hi: from_hi,
        },
        Ceiling::Bracket {
            value: to,
            lo: to_lo,
            hi: to_hi,
        },
    ) = (baseline, candidate)
    else {
        return None;
    };
    Some(Difference {
        relative: to / from - 1.0,
        lo: to_lo / from_hi - 1.0,
        hi: to_hi / from_lo - 1.0,
        pairs: 0,
    })
}

fn span((from_lo, from_hi): Ends, (to_lo, to_hi): Ends) -> Ends {
    let least = [from_lo, to_lo].into_iter().flatten().reduce(f64::min);
    let most = [from_hi, to_hi].into_iter().flatten().reduce(f64::max);
    (least, most)
}

/// `The brackets overlap; rates between 4.00 and 8.00 would narrow them.`
fn between(from: Ends, to: Ends) -> Option<String> {
    let (least, most) = span(from, to);
    let (least, most) = least.zip(most).filter(|(least, most)| least < most)?;
    Some(format!(
        "The brackets overlap; rates between {} and {} would narrow them.",
        three_digits(least),
        three_digits(most)
    ))
}

fn open(from: Ends, to: Ends) -> String {
    if let Some(rates) = between(from, to) {
        return rates;
    }
    match span(from, to) {
        (Some(least), None) => {
            format!(
                "No ceiling was found above {}; higher rates, or more requests at those measured, would find it.",
                three_digits(least)
            )
        }
        (None, Some(most)) => format!(
            "No rate surely kept the SLO; rates below {}, or more requests at each, would.",
            three_digits(most)
        ),
        _ => "No rate surely kept or broke the SLO; more requests at each rate would tell."
            .to_owned(),
    }
}
