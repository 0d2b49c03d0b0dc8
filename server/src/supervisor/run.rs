//! One study, from its claim to its end.

use std::sync::Arc;
use std::time::Duration;

use app::studio::{LiveEvent, PointState, StudyState};
use measure::study::PlannedPoint;
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};
use uuid::Uuid;

use super::control::{Control, Why};
use super::ending::{Ending, keep, unstorable};
use super::site::Site;
use super::worth::not_worth;
use super::{Parts, Supervisor};
use crate::store::StoreError;
use crate::studio::added::check_added;
use crate::studio::engines::sentence;
use crate::studio::views::Model;

/// So often a running study says that it does.
const BEAT: Duration = Duration::from_secs(2);

/// A study under way.
pub(super) struct Run<'a> {
    pub parts: &'a Parts,
    pub model: Model,
    pub plan: Vec<PlannedPoint>,
    pub control: Arc<Control>,
}

/// Why a study does not go on.
#[derive(Debug, thiserror::Error)]
pub(super) enum Halt {
    /// Someone wants it so.
    #[error("halted")]
    Wanted,
    /// It cannot; the sentence is for people.
    #[error("{0}")]
    Failed(String),
    /// The studio's own store failed.
    #[error("the store failed")]
    Store(#[source] StoreError),
}

impl From<StoreError> for Halt {
    fn from(cause: StoreError) -> Self {
        Self::Store(cause)
    }
}

/// Measures what is left of a study and ends it.
pub(super) async fn run(supervisor: &Supervisor, study: Uuid, control: Arc<Control>) {
    let parts = &supervisor.parts;
    let beating = CancellationToken::new();
    let _stops_beating = beating.clone().drop_guard();
    supervisor.tasks.spawn(beat(
        parts.store.clone(),
        study,
        parts.worker,
        control.clone(),
        beating,
    ));
    let model = match Model::load(&parts.store, study).await {
        Ok(Some(model)) => model,
        Ok(None) => return,
        Err(cause) => {
            return error!(%study, cause = &cause as &dyn std::error::Error, "cannot read study {study}");
        }
    };
    info!(%study, points = model.points.len(), "study {study} starts");
    let mut run = Run {
        parts,
        plan: model.study.spec.plan(),
        model,
        control,
    };
    let outcome = run.measure().await;
    let (state, problem) = run.ending(outcome);
    let ending = Ending::of(&mut run.model, state, problem);
    keep(supervisor, ending, &run.control).await;
}

impl Run<'_> {
    /// Measures every point that is not finished.
    async fn measure(&mut self) -> Result<(), Halt> {
        self.model.study.state = StudyState::Running;
        self.tell_state(None).await?;
        self.check_engines().await?;
        let mut site = None;
        let outcome = self.measure_points(&mut site).await;
        close(site).await;
        outcome
    }

    async fn measure_points(&mut self, site: &mut Option<Site>) -> Result<(), Halt> {
        for index in 0..self.model.points.len() {
            if self.model.points[index].state == PointState::Finished {
                continue;
            }
            self.check_halted()?;
            let configuration = self.model.points[index].configuration;
            if site
                .as_ref()
                .is_none_or(|site| site.configuration != configuration)
            {
                // The engine of the configuration before is let go first: two simulators would share the cores.
                close(site.take()).await;
                *site = Some(self.open_site(configuration).await?);
            }
            if let Some(site) = site {
                self.measure_point(site, index).await?;
                if let Some(problem) = not_worth(&self.model.points, index) {
                    return Err(Halt::Failed(problem));
                }
            }
        }
        Ok(())
    }

    /// An engine may have been taken off the list since the launch.
    async fn check_engines(&self) -> Result<(), Halt> {
        let added = self.parts.store.engines().await?;
        match check_added(&self.model.study.spec, &added, &self.parts.data_dir)
            .into_iter()
            .next()
        {
            None => Ok(()),
            Some(error) => Err(Halt::Failed(format!(
                "The study cannot run: {}.",
                error.message
            ))),
        }
    }

    pub fn check_halted(&self) -> Result<(), Halt> {
        if self.control.halted.is_cancelled() {
            Err(Halt::Wanted)
        } else {
            Ok(())
        }
    }

    /// Announces the state that the model has.
    async fn tell_state(&self, problem: Option<String>) -> Result<(), Halt> {
        let event = LiveEvent::State {
            state: self.model.study.state,
            problem,
            remaining_ms: self.model.remaining_ms(),
        };
        let number = self
            .parts
            .store
            .append_event(self.model.study.id, &event)
            .await?;
        self.announce(number, event);
        Ok(())
    }

    pub fn announce(&self, number: u64, event: LiveEvent) {
        self.parts
            .live
            .announce(self.model.study.id, Some(number), event);
    }

    fn ending(&self, outcome: Result<(), Halt>) -> (StudyState, Option<String>) {
        match outcome {
            Ok(()) => (StudyState::Finished, None),
            // Whoever halts a study may take its engine away as well: what fails then is no news.
            Err(_) if self.control.halted.is_cancelled() => match self.control.why() {
                Why::Person => (StudyState::Stopped, None),
                Why::Closing | Why::LeaseLost => (StudyState::Interrupted, None),
            },
            Err(Halt::Wanted) => (StudyState::Interrupted, None),
            Err(Halt::Failed(problem)) => (StudyState::Failed, Some(problem)),
            Err(Halt::Store(cause)) => {
                error!(study = %self.model.study.id, cause = sentence(&cause), "the study cannot be stored");
                (StudyState::Failed, Some(unstorable(&cause)))
            }
        }
    }
}

/// Lets an engine go where waiting is allowed: a simulator takes its time to stop.
async fn close(site: Option<Site>) {
    if let Some(site) = site {
        let _ = tokio::task::spawn_blocking(move || drop(site)).await;
    }
}

/// Keeps the leases alive, and hears of a stop that was asked for at another server.
async fn beat(
    store: crate::store::Store,
    study: Uuid,
    worker: Uuid,
    control: Arc<Control>,
    done: CancellationToken,
) {
    loop {
        tokio::select! {
            () = done.cancelled() => return,
            () = tokio::time::sleep(BEAT) => {}
        }
        match store.heartbeat(study, worker).await {
            Ok(Some(true)) => control.halt(Why::Person),
            Ok(Some(false)) => {}
            Ok(None) if done.is_cancelled() => return,
            Ok(None) => control.halt(Why::LeaseLost),
            Err(cause) => {
                warn!(%study, cause = &cause as &dyn std::error::Error, "cannot say that study {study} runs")
            }
        }
    }
}
