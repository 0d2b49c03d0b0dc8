//! How a study ends. What its end changes is worked out once; storing it is tried until it is stored, because a study
//! that cannot be ended holds its engine and keeps its page waiting.

use app::studio::{Hold, LiveEvent, PointState, StudyState};
use tracing::{error, info, warn};
use uuid::Uuid;

use super::control::Control;
use super::{LOOK, Parts, Supervisor};
use crate::store::{EndStudy, StoreError};
use crate::studio::views::{Model, point_view};

/// A study's end, with all that it announces.
pub(super) struct Ending {
    study: Uuid,
    state: StudyState,
    problem: Option<String>,
    events: Vec<LiveEvent>,
}

impl Ending {
    /// Ends a study in memory: points under load become interrupted.
    pub fn of(model: &mut Model, state: StudyState, problem: Option<String>) -> Self {
        model.study.state = state;
        let mut events = interrupt_points(model);
        events.push(LiveEvent::State {
            state,
            problem: problem.clone(),
            remaining_ms: None,
            hold: Hold::None,
        });
        Self {
            study: model.study.id,
            state,
            problem,
            events,
        }
    }

    /// Stores the end, frees the study's engines and announces it.
    pub async fn store(&self, parts: &Parts) -> Result<(), StoreError> {
        let end = EndStudy {
            study: self.study,
            state: self.state,
            problem: self.problem.as_deref(),
            events: &self.events,
        };
        let numbers = parts.store.end_study(&end).await?.unwrap_or_default();
        for (number, event) in numbers.into_iter().zip(&self.events) {
            parts.live.announce(self.study, Some(number), event.clone());
        }
        Ok(())
    }
}

fn interrupt_points(model: &mut Model) -> Vec<LiveEvent> {
    let mut events = Vec::new();
    for index in 0..model.points.len() {
        let point = &mut model.points[index];
        if point.state == PointState::Running {
            (point.state, point.started_ms) = (PointState::Interrupted, None);
            let (point, ceilings) = (
                Box::new(point_view(point)),
                Box::new(model.ceilings(model.points[index].configuration)),
            );
            events.push(LiveEvent::Point {
                point,
                ceilings,
                remaining_ms: None,
            });
        }
    }
    events
}

/// Stores an end, however long that takes. As long as it cannot be stored, the study's page says why.
pub(super) async fn keep(supervisor: &Supervisor, ending: Ending, control: &Control) {
    let (parts, study) = (&supervisor.parts, ending.study);
    loop {
        // Whoever has the engine now may be measuring this very study: it is not ours to end.
        if matches!(parts.store.heartbeat(study, parts.worker).await, Ok(None)) {
            return warn!(%study, "study {study} lost its engine to another server");
        }
        match ending.store(parts).await {
            Ok(()) => return info!(%study, state = ?ending.state, "study {study} ended"),
            Err(cause) => tell_unstored(parts, &ending, control, &cause),
        }
        tokio::select! {
            () = supervisor.closing.cancelled() => {
                return warn!(%study, "study {study} will be marked interrupted at the next start");
            }
            () = tokio::time::sleep(LOOK) => {}
        }
    }
}

/// Says once, in the log and on the page, that a study's end cannot be stored.
fn tell_unstored(parts: &Parts, ending: &Ending, control: &Control, cause: &StoreError) {
    if control.unstored().is_some() {
        return;
    }
    let study = ending.study;
    error!(%study, cause = cause as &dyn std::error::Error, "cannot store the end of study {study}; trying on");
    let problem = unstorable(cause);
    control.set_unstored(ending.state, &problem);
    // Not numbered: it is not in the store, and the stored end will follow.
    let event = LiveEvent::State {
        state: ending.state,
        problem: Some(problem),
        remaining_ms: None,
        hold: Hold::None,
    };
    parts.live.announce(study, None, event);
}

/// Why a study that cannot be stored does not go on, and the mend.
pub(super) fn unstorable(cause: &StoreError) -> String {
    if cause.is_full() {
        "There is no room left to store what is measured. Free space on the disk of the studio's data directory, then resume; finished points are kept.".into()
    } else {
        "The studio could not store what it measured; its log says why. Mend that, then resume; finished points are kept.".into()
    }
}
