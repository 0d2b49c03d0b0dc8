//! A point's figures, worked out from its requests by this goodput.

use bytes::Bytes;
use measure::arrival::discipline;
use measure::score::{Score, encode};
use measure::slo::{Judgement, judge};
use measure::study::StudySpec;
use measure::summary::{Failures, Summary, summarize};
use measure::units::{Level, OutOfRange};

use crate::records::{ReadError, from_parquet};

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
