//! Whether a bundle's figures follow from the requests in it: they are worked out anew by this goodput and compared.
//!
//! Opening a bundle does not do this: it reads the requests themselves, which a studio never needs to.

use measure::slo::Judgement;
use measure::study::StudySpec;
use measure::summary::Summary;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::BundleError;
use super::anew::work_out;
use super::manifest::{Kind, Point};
use super::read::{figures, part, raw, study};
use super::unpack::Unpacked;

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Points whose figures were worked out anew.
    pub points: usize,
    /// What came out differently, a sentence each.
    pub differences: Vec<String>,
}

/// Works every measured point out anew. The bundle is read whole, as if it were opened.
pub fn check(unpacked: &Unpacked) -> Result<Checked, BundleError> {
    let spec = study(unpacked)?.spec;
    let mut checked = Checked::default();
    let points = &unpacked.manifest.points;
    for point in points.iter().filter(|point| point.is_finished()) {
        checked.points += 1;
        for what in differing(unpacked, &spec, point)? {
            let (level, place) = (&point.level, point.ordinal);
            let sentence = format!(
                "the {what} of point {place} (level {level}) does not follow from its requests"
            );
            checked.differences.push(sentence);
        }
    }
    Ok(checked)
}

fn differing(
    unpacked: &Unpacked,
    spec: &StudySpec,
    point: &Point,
) -> Result<Vec<&'static str>, BundleError> {
    let place = point.ordinal as usize;
    let stored = figures(unpacked, point)?;
    let made = stored.made.as_ref().map(|it| raw::<load::Made>("made", it));
    let name = Kind::Records.name(place);
    let records = part(unpacked, &name)?.into();
    let now = work_out(spec, &point.level, records, made.transpose()?.as_ref());
    let now = now.map_err(|why| BundleError::unreadable(&name, why))?;
    let found = [
        ("summary", same_summary(&stored.summary, now.summary)?),
        (
            "judgement",
            same::<Judgement>(&stored.judgement, &now.judgement)?,
        ),
        (
            "scores",
            now.scores == part(unpacked, &Kind::Scores.name(place))?,
        ),
    ];
    let differing = found.into_iter().filter(|(_, same)| !same);
    Ok(differing.map(|(what, _)| what).collect())
}

/// What a bundle of before does not say is no difference.
fn same_summary(stored: &super::manifest::Raw, mut now: Summary) -> Result<bool, BundleError> {
    if raw::<Summary>("figures", stored)?.is_from_before() {
        now = now.as_before();
    }
    same(stored, &now)
}

/// Whether both mean the same, once both were text: what is read of a number may be another in its last digit.
fn same<T: Serialize + DeserializeOwned + PartialEq>(
    stored: &super::manifest::Raw,
    now: &T,
) -> Result<bool, BundleError> {
    let text = serde_json::to_string(now).map_err(|why| BundleError::unreadable("figures", why))?;
    let now: T =
        serde_json::from_str(&text).map_err(|why| BundleError::unreadable("figures", why))?;
    Ok(raw::<T>("figures", stored)? == now)
}
