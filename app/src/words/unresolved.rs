//! Why there is no ceiling, as the second half of a sentence.

use measure::curve::Ceiling;

use super::count;
use crate::ui::format::number;

/// What a verdict is called that holds for the whole of an interval.
const SURELY: &str = "with 95\u{202f}% certainty";

/// Why there is no ceiling; so many of so many points are void.
pub(super) fn unresolved_reason(
    found: &Ceiling,
    unit: &str,
    (void, all): (usize, usize),
) -> String {
    match found {
        Ceiling::Unresolved { lo: None, hi: None } if void == all && 0 < void => {
            format!("all of its {} cannot be used (void)", count(all, "point"))
        }
        Ceiling::Unresolved { lo: None, hi: None } if 0 < void => format!(
            "{void} of its {} cannot be used (void), and at no rate of the others is it kept or broken {SURELY}, for which they have too few requests",
            count(all, "point")
        ),
        Ceiling::Unresolved {
            lo: Some(lo),
            hi: Some(hi),
        } if hi < lo => format!(
            "it is broken at {} {unit} and yet kept at {}, both {SURELY}, so something else disturbed one of the two",
            number(*hi),
            number(*lo)
        ),
        Ceiling::Unresolved { lo: Some(lo), hi } => {
            let beyond = hi.map_or(", and not decided above".into(), |hi| {
                format!(" and broken at {}, and not decided in between", number(hi))
            });
            format!("it is kept at {} {unit} {SURELY}{beyond}", number(*lo))
        }
        Ceiling::Unresolved {
            lo: None,
            hi: Some(hi),
        } => format!(
            "it is broken at {} {unit} {SURELY}, and at no lower rate kept",
            number(*hi)
        ),
        _ => format!(
            "at no rate tried is it kept or broken {SURELY}, more requests a point would settle it"
        ),
    }
}
