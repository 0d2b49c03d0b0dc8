//! A point's figures, worked out from its requests by this goodput.

use app::studio::{PointState, PointView};
use bytes::Bytes;
use measure::arrival::discipline;
use measure::score::{Score, encode};
use measure::slo::{Judgement, judge};
use measure::study::StudySpec;
use measure::summary::{Failures, Summary, summarize};
use measure::units::{Level, OutOfRange};

use crate::records::{ReadError, from_parquet};
use crate::store::PointText;
use crate::studio::views;

/// What follows from a point's requests.
pub(super) struct Anew {
    pub summary: Summary,
    /// Under the study's SLO.
    pub judgement: Judgement,
    /// As they are stored.
    pub scores: Vec<u8>,
}

/// Why nothing follows.
#[derive(Debug, thiserror::Error)]
pub(super) enum AnewError {
    #[error("its level: {0}")]
    Level(#[from] OutOfRange),
    #[error("its requests: {0}")]
    Records(#[from] ReadError),
    #[error("its figures: {0}")]
    Figures(#[from] serde_json::Error),
}

/// Works a point out: its level as it is written, its records as they are stored, what its prompts were made of.
pub(super) fn work_out(
    spec: &StudySpec,
    level: &str,
    records: Bytes,
    made: Option<&load::Made>,
) -> Result<Anew, AnewError> {
    let level: Level = level.parse()?;
    let records = from_parquet(records)?;
    let counted = match made.and_then(|made| made.steady_ns) {
        Some(window) => load::due_within(&records, window),
        None => &records[..],
    };
    let summary = summarize(
        counted,
        discipline(spec.arrival, level),
        Failures::AsInfinity,
    );
    let scores: Vec<Score> = counted.iter().map(Score::from).collect();
    Ok(Anew {
        judgement: judge(&scores, &summary, &spec.slo),
        summary,
        scores: encode(&scores),
    })
}

/// The ceilings of a configuration as a list shows them, as text; `None` where no point of it was measured.
pub(super) fn ceilings(
    spec: &StudySpec,
    points: &[PointText],
    configuration: i64,
) -> Result<Option<String>, AnewError> {
    let of = |it: &&PointText| it.configuration == configuration && it.summary.is_some();
    let views: Result<Vec<PointView>, AnewError> = points.iter().filter(of).map(view).collect();
    let views = views?;
    if views.is_empty() {
        return Ok(None);
    }
    Ok(Some(serde_json::to_string(&views::ceilings(&views, spec))?))
}

/// A measured point, as far as ceilings go by it.
fn view(point: &PointText) -> Result<PointView, AnewError> {
    let small = |column: i64| u32::try_from(column).unwrap_or(u32::MAX);
    let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "null".to_owned());
    Ok(PointView {
        id: point.id,
        configuration: small(point.configuration),
        level: point.level.parse()?,
        repeat: small(point.repeat),
        state: PointState::Finished,
        planned_requests: small(point.planned_requests),
        summary: serde_json::from_str(&text(&point.summary))?,
        certificate: serde_json::from_str(&text(&point.certificate))?,
        judgement: serde_json::from_str(&text(&point.judgement))?,
        started_ms: point.started_ms,
        problem: None,
        notes: Vec::new(),
    })
}
