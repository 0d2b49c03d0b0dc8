//! What speaks against the answer, or that there can be none.

use measure::certificate::Innocence;

use super::count;
use crate::studio::StudyView;

/// What a study says that has no rates.
pub(super) const NO_RATE: &str = "A closed loop offers no rate of its own, so there is no ceiling: see its latencies and throughput, or compare its configurations.";

/// Where half of the points or more are not clean, the answer says so itself.
pub(super) fn doubt(view: &StudyView) -> Option<String> {
    let certificates = view.points.iter().filter_map(|it| it.certificate.as_ref());
    let clean: Vec<bool> = certificates
        .map(|it| it.innocence == Innocence::Clean)
        .collect();
    let doubtful = clean.iter().filter(|clean| !**clean).count();
    (0 < doubtful && clean.len() <= 2 * doubtful).then(|| {
        format!(
            "But {doubtful} of {} may tell of the client or its machine instead.",
            count(clean.len(), "point")
        )
    })
}
