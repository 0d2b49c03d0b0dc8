//! What a person does with a study that runs: skip its present point, hold it after that, go on, look at what its engine says.

use app::studio::{EngineLog, Hold, LiveEvent, PointState, StudioError, StudyState};
use measure::study::EngineSpec;
use uuid::Uuid;

use super::{LocalStudio, conflict, internal, missing};

/// Most bytes of a log on a page.
const TAIL: usize = 16 << 10;

impl LocalStudio {
    /// Moves a study and tells browsers; whether it was in the state to move from.
    pub(super) async fn move_study(
        &self,
        id: Uuid,
        from: StudyState,
        (to, hold): (StudyState, Hold),
    ) -> Result<bool, StudioError> {
        let mut moved = self.model(id).await?;
        moved.study.state = to;
        let event = LiveEvent::State {
            state: to,
            problem: None,
            remaining_ms: moved.remaining_ms(),
            hold,
        };
        let number = self.store.move_study(id, from, &event).await;
        let Some(number) = number.map_err(internal)? else {
            return Ok(false);
        };
        self.live.announce(id, Some(number), event);
        Ok(true)
    }

    /// Ends a point under load. The point is named, so that two who press at once skip one point.
    pub(super) async fn skip_point(&self, point: Uuid) -> Result<(), StudioError> {
        let study = self.store.study_of(point).await.map_err(internal)?;
        let study = study.ok_or_else(|| missing("point"))?;
        self.stored(study).await?;
        if self.store.request_skip(point).await.map_err(internal)? {
            self.supervisor.skip_point(study, point);
            return Ok(());
        }
        let model = self.model(study).await?;
        let state = model.points.iter().find(|it| it.id == point);
        match state.map(|it| it.state) {
            Some(PointState::Skipped) => Ok(()),
            Some(PointState::Finished) => Err(conflict(
                "the point is finished; there is nothing left of it to skip",
            )),
            _ => Err(conflict(
                "the point is not under load; only the one that is can be skipped",
            )),
        }
    }

    /// Asks a running study to hold after its present point.
    pub(super) async fn pause_study(&self, id: Uuid) -> Result<(), StudioError> {
        let study = self.stored(id).await?;
        if Hold::of(study.state, study.pause_requested) != Hold::None {
            return Ok(());
        }
        let asked = (StudyState::Running, Hold::Asked);
        if self.move_study(id, StudyState::Running, asked).await? {
            return Ok(());
        }
        Err(conflict(
            "the study is not being measured; only one that is can be paused",
        ))
    }

    /// Goes on with a study that waits, or takes back that it would pause.
    pub(super) async fn proceed_with(&self, id: Uuid) -> Result<(), StudioError> {
        let study = self.stored(id).await?;
        let on = (StudyState::Running, Hold::None);
        let asked = Hold::of(study.state, study.pause_requested) == Hold::Asked;
        if asked && self.move_study(id, StudyState::Running, on).await? {
            return Ok(());
        }
        if self.move_study(id, StudyState::Waiting, on).await? {
            self.supervisor.wake_study(id);
            return Ok(());
        }
        Err(conflict(
            "the study neither waits nor would pause; there is nothing to continue",
        ))
    }

    /// The end of what the engine under measurement said, or why there is nothing to see.
    pub(crate) async fn log_of(&self, study: Uuid) -> Result<EngineLog, StudioError> {
        let study = self.stored(study).await?;
        if let Some((_, said)) = self.supervisor.said(study.id) {
            return Ok(EngineLog::Said(tail(&said)));
        }
        if let Some(last) = self.stored_starts(study.id).await?.last() {
            let log = self.start_log(last.id).await?;
            return Ok(EngineLog::Said(tail(&log)));
        }
        Ok(EngineLog::None(match study.spec.engine {
            EngineSpec::Simulator { .. } => {
                "The simulated engine is part of the studio and keeps no log."
            }
            EngineSpec::Endpoint(_) => {
                "The studio did not start this engine, so it does not see what it says: look where the engine was started."
            }
            EngineSpec::Managed { .. } => "The engine has not been started yet.",
        }))
    }
}

/// The last whole lines of a text that fit.
fn tail(text: &str) -> String {
    let Some(over) = text.len().checked_sub(TAIL).filter(|it| 0 < *it) else {
        return text.to_owned();
    };
    let cut = text.as_bytes()[over..].iter().position(|it| *it == b'\n');
    let from = cut.map_or(text.len(), |at| over + at + 1);
    text.get(from..).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_log_is_whole_lines_and_bounded() {
        assert_eq!(tail("a\nb"), "a\nb");
        let long: String = (0..9000).map(|it| format!("zeile é {it}\n")).collect();
        let end = tail(&long);
        assert!(end.len() <= TAIL && end.starts_with("zeile é ") && end.ends_with(" 8999\n"));
        assert_eq!(tail(&"é".repeat(TAIL)), "");
    }
}
