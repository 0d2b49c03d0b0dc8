//! A study that waits for a person: to restart its engine, or because a person paused it.
//!
//! A paused study keeps its engines' leases, and a managed engine keeps running: what comes after the pause is measured on the same
//! engine, and nobody else warms its cache meanwhile. Its page says so, because a GPU may be held.

use std::time::Duration;

use app::studio::{Hold, LiveEvent, StudyState};

use super::run::{Halt, Run};
use super::site::Site;
use crate::store::{StoredPoint, now_ms};
use crate::studio::left::Pace;

/// A person may press Continue at another server: so often the study looks.
const LOOK: Duration = Duration::from_secs(1);

/// What the time left follows from while a point is under load.
pub(super) enum UnderLoad {
    /// What is left of a budget.
    Search(f64),
    /// The pace so far, the point, and what the others take.
    Plan(Pace, Box<StoredPoint>, f64),
}

impl UnderLoad {
    /// Milliseconds left so long after the point's start, when this share of its requests has ended.
    pub fn at(&self, elapsed_ms: u64, ended: f64) -> f64 {
        match self {
            Self::Search(most) => (most - elapsed_ms as f64).max(0.0),
            Self::Plan(pace, point, rest) => pace.under_load(point, elapsed_ms, ended) + rest,
        }
    }
}

impl Run<'_> {
    /// Holds where a person asked for that, until a person continues. The next point is known: a study that has none ends.
    pub(super) async fn hold(&mut self, site: Option<&Site>) -> Result<(), Halt> {
        let stored = self.parts.store.study(self.model.study.id).await?;
        if stored.is_none_or(|(study, _)| !study.pause_requested) {
            return Ok(());
        }
        let over = self.model.points.iter().filter(|it| it.state.is_over());
        let done = format!("{} of {} points", over.count(), self.model.points.len());
        let engine = match site.and_then(|it| it.managed.as_ref()) {
            Some(_) => {
                "Its engine keeps running and holds its GPU; Stop ends both engine and study."
            }
            None => "Its engine stays reserved: studies of the same engine wait behind it.",
        };
        let problem = format!("Paused by a person after {done}. {engine}");
        self.wait_for_person(problem, Hold::Paused).await?;
        self.tell_left();
        Ok(())
    }

    /// Waits until a person presses Continue.
    pub(super) async fn wait_for_person(
        &mut self,
        problem: String,
        hold: Hold,
    ) -> Result<(), Halt> {
        let study = self.model.study.id;
        let event = LiveEvent::State {
            state: StudyState::Waiting,
            problem: Some(problem),
            remaining_ms: None,
            hold,
        };
        let number = self
            .parts
            .store
            .move_study(study, StudyState::Running, &event)
            .await?;
        self.model.study.state = StudyState::Waiting;
        self.parts.live.announce(study, number, event);
        loop {
            tokio::select! {
                () = self.control.halted.cancelled() => return Err(Halt::Wanted),
                () = self.control.proceed.notified() => {}
                () = tokio::time::sleep(LOOK) => {}
            }
            let stored = self.parts.store.study(study).await?;
            if stored.is_some_and(|(study, _)| study.state == StudyState::Running) {
                self.model.study.state = StudyState::Running;
                return Ok(());
            }
        }
    }

    /// How the time left falls while a point is under load.
    pub(super) fn left_under_load(&self, index: usize) -> UnderLoad {
        let points = &self.model.points;
        if self.model.study.spec.adaptive.is_some() {
            let most = self.model.remaining_ms().unwrap_or_default() as f64;
            return UnderLoad::Search(most);
        }
        let pace = Pace::of(points);
        let open = points.iter().enumerate();
        let open = open.filter(|(index, _)| !self.has_failed(*index));
        let rest = pace.rest(open.map(|(_, it)| it));
        UnderLoad::Plan(pace, Box::new(points[index].clone()), rest)
    }

    /// The time left after something happened.
    pub(super) fn tell_left(&self) -> Option<u64> {
        let (estimate, mut told) = (self.estimate()?, self.control.told());
        Some(match self.model.study.spec.adaptive {
            Some(_) => told.most(estimate, now_ms()),
            None => told.news(estimate, now_ms()),
        })
    }
}
