//! What speaks against the answer, or that there can be none.

use measure::certificate::Innocence;

use super::count;
use crate::studio::{PointView, StudyView};
use crate::ui::format::number;

/// What a study says that has no rates.
pub(super) const NO_RATE: &str = "A closed loop offers no rate of its own, so there is no ceiling: see its latencies and throughput, or compare its configurations.";

/// Points that are void cannot be used, and the answer says so; so it does where half of the points or more are not clean.
pub(super) fn doubt(view: &StudyView) -> Option<String> {
    let all = innocence(view, None);
    let of = |innocence: Innocence| all.iter().filter(|it| **it == innocence).count();
    let (void, suspect) = (of(Innocence::Void), of(Innocence::Suspect));
    let points = count(all.len(), "point");
    let may = |suspect: usize| format!("{suspect} may tell of the client or its machine instead");
    match (void, suspect) {
        (0, suspect) if suspect == 0 || 2 * suspect < all.len() => None,
        (0, suspect) => Some(format!(
            "But {suspect} of {points} may tell of the client or its machine instead."
        )),
        (void, 0) => Some(format!(
            "But {void} of {points} cannot be used (void). {QUIETER}"
        )),
        (void, suspect) => Some(format!(
            "But {void} of {points} cannot be used (void), and {}. {QUIETER}",
            may(suspect)
        )),
    }
}

/// What void points ask for.
const QUIETER: &str =
    "Measure those again with the client on a quieter host: more requests make no void point good.";

/// How many of a configuration's measured points are void, and of how many.
pub(super) fn void_of(view: &StudyView, configuration: usize) -> (usize, usize) {
    let all = innocence(view, Some(configuration));
    let void = all.iter().filter(|it| **it == Innocence::Void).count();
    (void, all.len())
}

/// The verdicts of the certificates, of one configuration or of all.
fn innocence(view: &StudyView, configuration: Option<usize>) -> Vec<Innocence> {
    let own = |it: &&PointView| configuration.is_none_or(|own| it.configuration as usize == own);
    let certificates = view.points.iter().filter(own);
    certificates
        .filter_map(|it| Some(it.certificate.as_ref()?.innocence))
        .collect()
}

/// By how much a rate may differ from what was asked for before it is said.
const ROUGHLY: f64 = 0.03;

/// Rates are told as they were offered: where that is not what was asked for, by the point where they are farthest apart.
pub(super) fn offered(view: &StudyView, unit: &str) -> Option<String> {
    let rates = view.points.iter().filter_map(|point| {
        let asked = point.level.rate().filter(|it| 0.0 < *it)?;
        let offered = point.summary.as_ref()?.offered_rate?;
        Some((asked, offered, (offered / asked - 1.0).abs()))
    });
    let (asked, offered, apart) = rates.max_by(|one, other| one.2.total_cmp(&other.2))?;
    (ROUGHLY <= apart).then(|| {
        format!(
            "These are offered rates, by the arrivals as they were drawn: {} {unit} asked came to {} offered.",
            number(asked),
            number(offered)
        )
    })
}
