//! A point that a person ended under load. What it recorded is kept as of any point; it has no figures, so that nothing can
//! count it as measured whole.

use app::studio::PointState;
use load::{InputTokens, Made, PointRun};
use measure::evidence::{Cache, Evidence};
use measure::request::{ErrorKind, Outcome};
use measure::score::{Score, encode};

use super::around::Around;
use super::run::{Halt, Run};
use crate::records::to_parquet;
use crate::store::{SkipPoint, now_ms};
use crate::studio::cards;
use crate::studio::engines::sentence;

/// What a skipped point leaves.
struct Left {
    problem: String,
    made: Made,
    scores: Vec<u8>,
    records: Vec<u8>,
    evidence: Evidence,
    metrics: Option<Vec<u8>>,
}

impl Left {
    fn of(
        run: &PointRun,
        planned: usize,
        around: Around,
    ) -> Result<Self, parquet::errors::ParquetError> {
        let scores: Vec<Score> = run.records.iter().map(Score::from).collect();
        let evidence = around.evidence(&run.records);
        let input_tokens = InputTokens::of(&run.records);
        Ok(Self {
            problem: problem(run, planned),
            made: Made {
                input_tokens,
                ..around.made
            },
            scores: encode(&scores),
            records: to_parquet(&run.records)?,
            evidence,
            metrics: around.metrics,
        })
    }
}

/// How far it was, for people.
fn problem(run: &PointRun, planned: usize) -> String {
    let sent = run.records.iter().filter(|it| it.sent.is_some());
    let ended = sent
        .clone()
        .filter(|it| it.outcome != Outcome::Error(ErrorKind::Cancelled));
    format!(
        "Skipped by a person when {} of {planned} requests had been sent and {} had ended. They are kept, and no figure counts them.",
        sent.count(),
        ended.count()
    )
}

impl Run<'_> {
    /// Stores what a skipped point recorded in one transaction, then announces it.
    pub(super) async fn finish_skipped(
        &mut self,
        index: usize,
        (run, planned): (PointRun, usize),
        around: Around,
    ) -> Result<Cache, Halt> {
        let started_ms = run.started_unix_ms;
        let worked = tokio::task::spawn_blocking(move || Left::of(&run, planned, around)).await;
        let left = worked
            .map_err(|_| {
                Halt::Failed(
                    "What the skipped point recorded could not be worked out; the log says why."
                        .into(),
                )
            })?
            .map_err(|cause| {
                let why = sentence(&cause);
                Halt::Failed(format!(
                    "The skipped point's records cannot be written: {why}."
                ))
            })?;
        let before = self.model.points[index].clone();
        let point = &mut self.model.points[index];
        point.state = PointState::Skipped;
        (point.started_ms, point.finished_ms) = (Some(started_ms), Some(now_ms()));
        (point.problem, point.made) = (Some(left.problem.clone()), Some(left.made.clone()));
        let point = point.id;
        let event = self.point_event(index);
        let skip = SkipPoint {
            study: self.model.study.id,
            point,
            started_ms,
            problem: &left.problem,
            made: &left.made,
            scores: &left.scores,
            records: &left.records,
            evidence: &left.evidence,
            metrics: left.metrics.as_deref(),
            event: &event,
        };
        match self.parts.store.skip_point(&skip).await {
            Ok(number) => {
                self.announce(number, event);
                cards::keep_or_log(&self.parts.store, &self.model).await;
                Ok(left.evidence.cache)
            }
            Err(cause) => {
                self.model.points[index] = before;
                Err(cause.into())
            }
        }
    }
}
