//! Runs studies: takes them from the queue, one per engine at a time, and sees each to its end.
//!
//! A study that ends badly keeps its finished points; what was under load is measured anew, whole, when it resumes.
//! Nothing is retried by itself: half a measurement is none.

mod around; // what surrounds a point
mod control; // how others reach a running study
mod ending; // how a study ends, and that it is kept
mod facts; // what is known of an engine
mod hindrance; // why an engine cannot be measured, and the mend
mod lengths; // who counts a study's tokens
mod managed; // engines that the studio starts itself
mod order; // which point is next
mod pause; // held by a person
mod point; // one point, from its prompts to its row
mod prompts; // what a point sends
mod run; // one study, from its claim to its end
mod search; // the next point of an adaptive sweep
mod site; // the engine of one configuration, ready to be measured
mod skip; // a point that a person ended
mod stuck; // a queue that cannot be worked on
mod worth; // is it worth going on

use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use app::studio::{Hold, LiveEvent, StudyState};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{info, warn};
use url::Url;
use uuid::Uuid;

use crate::live::LiveHub;
use crate::registry::Registry;
use crate::store::{Store, StoreError, now_ms};
use crate::studio::views::Model;
use control::{Control, Why};
use ending::Ending;
use stuck::Stuck;

pub(crate) use facts::{DIALECT, NO_MACHINE};
pub(crate) use managed::DIED;
pub(crate) use prompts::first_point;

/// The queue is looked at so often even when nobody wakes the supervisor: another server may have given an engine back.
const LOOK: Duration = Duration::from_secs(3);

/// A lease without a heartbeat for so long belongs to a server that is gone.
const STALE_MS: i64 = 30_000;

/// Running studies get so long to end when the server does.
const FAREWELL: Duration = Duration::from_secs(20);

/// What the supervisor is made of.
pub(crate) struct Parts {
    /// Where studies are kept.
    pub store: Store,
    /// Where browsers listen.
    pub live: Arc<LiveHub>,
    /// This server's name among those that share a database.
    pub worker: Uuid,
    /// Where data sets are kept.
    pub data_dir: PathBuf,
    /// Engines that the studio starts itself.
    pub registry: Arc<Registry>,
    /// Whoever may use this studio may have it start them.
    pub may_start_engines: bool,
    /// Puts interrupted studies back in the queue at the start.
    pub resume_interrupted: bool,
    /// DCGM exporters on engines' hosts.
    pub exporters: Vec<Url>,
    /// The data directory stays taken as long as something is measured.
    pub _lock: Arc<File>,
}

/// Sees studies to their end.
pub struct Supervisor {
    parts: Parts,
    wake: Notify,
    running: Mutex<HashMap<Uuid, Arc<Control>>>,
    tasks: TaskTracker,
    stuck: Stuck,
    /// Cancelled when the server ends: no study is begun any more.
    closing: CancellationToken,
}

impl Supervisor {
    pub(crate) fn new(parts: Parts) -> Arc<Self> {
        Arc::new(Self {
            parts,
            wake: Notify::new(),
            running: Mutex::default(),
            tasks: TaskTracker::new(),
            stuck: Stuck::default(),
            closing: CancellationToken::new(),
        })
    }

    /// Marks what a previous server left behind, then works on the queue.
    pub(crate) async fn start(self: &Arc<Self>) -> Result<(), StoreError> {
        self.interrupt_abandoned(self.parts.worker).await?;
        if self.parts.resume_interrupted {
            for study in self.parts.store.interrupted().await? {
                self.queue_again(study).await?;
            }
        }
        let supervisor = self.clone();
        self.tasks.spawn(async move { supervisor.work().await });
        Ok(())
    }

    /// Looks at the queue now.
    pub(crate) fn wake(&self) {
        self.wake.notify_one();
    }

    /// A person stops a study that runs here.
    pub(crate) fn stop_study(&self, study: Uuid) {
        if let Some(control) = self.controls().get(&study) {
            control.halt(Why::Person);
        }
    }

    /// How a study here ended, and why, as long as that cannot be stored.
    pub(crate) fn unstored_end(&self, study: Uuid) -> Option<(StudyState, String)> {
        self.controls().get(&study)?.unstored()
    }

    /// A person ends the point under load of a study that runs here.
    pub(crate) fn skip_point(&self, study: Uuid, point: Uuid) {
        if let Some(control) = self.controls().get(&study) {
            control.skip(point);
        }
    }

    /// The time left of a study that runs here, as it is told to all.
    pub(crate) fn remaining_ms(&self, study: Uuid) -> Option<u64> {
        self.controls().get(&study)?.told().at(now_ms())
    }

    /// The engine that a study runs here on, by its start, and what it has said so far.
    pub(crate) fn said(&self, study: Uuid) -> Option<(Uuid, String)> {
        self.controls().get(&study)?.said()
    }

    /// What an engine has said so far that runs here.
    pub(crate) fn said_by(&self, start: Uuid) -> Option<String> {
        self.controls().values().find_map(|it| {
            let said = it.said()?;
            (said.0 == start).then_some(said.1)
        })
    }

    /// Why no study is begun, as long as none can be.
    pub(crate) fn stuck(&self) -> Option<String> {
        self.stuck.problem()
    }

    /// A person restarted the engine that a study here waits for.
    pub(crate) fn wake_study(&self, study: Uuid) {
        if let Some(control) = self.controls().get(&study) {
            control.proceed.notify_one();
        }
    }

    /// Begins no study any more and ends those that run; they can be resumed.
    pub(crate) fn close(&self) {
        self.closing.cancel();
        for control in self.controls().values() {
            control.halt(Why::Closing);
        }
        self.tasks.close();
    }

    /// [`Supervisor::close`], and waits for it.
    pub(crate) async fn shutdown(&self) {
        self.close();
        if tokio::time::timeout(FAREWELL, self.tasks.wait())
            .await
            .is_err()
        {
            warn!("a study did not end in time; it will be marked interrupted at the next start");
        }
    }

    fn controls(&self) -> std::sync::MutexGuard<'_, HashMap<Uuid, Arc<Control>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn work(self: Arc<Self>) {
        while !self.closing.is_cancelled() {
            self.look_and_tell().await;
            tokio::select! {
                () = self.closing.cancelled() => {}
                () = self.wake.notified() => {}
                () = tokio::time::sleep(LOOK) => {}
            }
        }
    }

    async fn look(self: &Arc<Self>) -> Result<(), StoreError> {
        self.interrupt_abandoned(Uuid::nil()).await?;
        while let Some(claimed) = self.parts.store.claim_next(self.parts.worker).await? {
            let study = claimed.study;
            let control = Arc::new(Control::default());
            self.controls().insert(study, control.clone());
            if self.closing.is_cancelled() {
                control.halt(Why::Closing);
            }
            let supervisor = self.clone();
            self.tasks.spawn(async move {
                run::run(&supervisor, study, control).await;
                supervisor.controls().remove(&study);
                supervisor.wake();
            });
        }
        Ok(())
    }

    /// Marks studies interrupted that run under a worker's name or under stale leases.
    async fn interrupt_abandoned(&self, worker: Uuid) -> Result<(), StoreError> {
        for study in self
            .parts
            .store
            .abandoned(worker, now_ms() - STALE_MS)
            .await?
        {
            if self.controls().contains_key(&study) {
                continue;
            }
            info!(%study, "study {study} was left behind by a server that is gone");
            if let Some(mut model) = Model::load(&self.parts.store, study).await? {
                let ending = Ending::of(&mut model, StudyState::Interrupted, None);
                ending.store(&self.parts).await?;
            }
        }
        Ok(())
    }

    async fn queue_again(&self, study: Uuid) -> Result<(), StoreError> {
        let Some(mut model) = Model::load(&self.parts.store, study).await? else {
            return Ok(());
        };
        model.study.state = StudyState::Queued;
        let event = LiveEvent::State {
            state: StudyState::Queued,
            problem: None,
            remaining_ms: model.remaining_ms(),
            // What was paused pauses again.
            hold: Hold::of(StudyState::Queued, model.study.pause_requested),
        };
        let number = self
            .parts
            .store
            .move_study(study, StudyState::Interrupted, &event)
            .await?;
        self.parts.live.announce(study, number, event);
        Ok(())
    }
}
