//! One study, from its claim to its end.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use app::studio::{Hold, LiveEvent, PointState, StudyState};
use measure::study::{OnFailure, PlannedPoint};
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};
use uuid::Uuid;

use super::control::{Control, Why};
use super::ending::{Ending, keep, unstorable};
use super::order;
use super::search::plan_so_far;
use super::site::Site;
use super::worth::not_worth;
use super::{Parts, Supervisor};
use crate::store::{FailPoint, StoreError, Wishes, now_ms};
use crate::studio::added::check_added;
use crate::studio::engines::sentence;
use crate::studio::history::catch_up_or_log;
use crate::studio::left::left;
use crate::studio::views::Model;

/// So often a running study says that it does.
const BEAT: Duration = Duration::from_secs(2);

/// A study under way.
pub(super) struct Run<'a> {
    pub parts: &'a Parts,
    pub model: Model,
    pub plan: Vec<PlannedPoint>,
    pub control: Arc<Control>,
    /// How long managed engines took to start, by configuration.
    pub startups: HashMap<u32, Duration>,
    /// Points that failed in this run: a study that is resumed tries them again.
    failed: BTreeSet<usize>,
    /// How often in a row a configuration's engine died.
    deaths: HashMap<u32, usize>,
    /// Requests of the point before that an engine may still count: output tokens asked of each.
    pub left_over: Vec<u32>,
}

/// What went wrong with a managed engine.
#[derive(Debug)]
pub(super) struct Failure {
    /// For people.
    problem: String,
    /// It does not start: no other point of its configuration can be measured.
    of_start: bool,
}

impl Failure {
    pub fn of_start(problem: String) -> Self {
        let of_start = true;
        Self { problem, of_start }
    }

    pub fn of_point(problem: String) -> Self {
        let of_start = false;
        Self { problem, of_start }
    }
}

/// An engine that dies so often in a row will not live.
const DEATHS: usize = 3;

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
    /// A managed engine did not start, or died: a failed point, and the study's choice what follows.
    #[error("{}", .0.problem)]
    Engine(Failure),
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
        plan: plan_so_far(&model.study.spec, &model.points),
        model,
        control,
        startups: HashMap::new(),
        failed: BTreeSet::new(),
        deaths: HashMap::new(),
        left_over: Vec::new(),
    };
    let outcome = run.measure().await;
    let (state, problem) = run.ending(outcome);
    let ending = Ending::of(&mut run.model, state, problem);
    keep(supervisor, ending, &run.control).await;
    catch_up_or_log(&parts.store).await;
}

impl Run<'_> {
    /// Measures every point that is not finished.
    async fn measure(&mut self) -> Result<(), Halt> {
        self.model.study.state = StudyState::Running;
        self.tell_state(None).await?;
        self.check_engines().await?;
        let mut site = None;
        let outcome = self.measure_points(&mut site).await;
        self.close(site).await;
        outcome
    }

    async fn measure_points(&mut self, site: &mut Option<Site>) -> Result<(), Halt> {
        loop {
            self.check_halted()?;
            let Some(index) = self.next_point() else {
                if self.search_on().await? {
                    continue;
                }
                break;
            };
            self.hold(site.as_ref()).await?;
            match self.measure_next(site, index).await {
                Err(Halt::Engine(failure)) => {
                    self.close(site.take()).await;
                    // Whoever halts a study may take its engine away as well.
                    self.check_halted()?;
                    self.take_failure(index, failure).await?;
                }
                other => other?,
            }
        }
        self.tell_failed()
    }

    fn next_point(&self) -> Option<usize> {
        let points = &self.model.points;
        let is_open =
            |index: usize| !points[index].state.is_over() && !self.failed.contains(&index);
        let study = &self.model.study;
        let pace = order::pace(&study.spec, self.starts_quickly());
        let forward = order::first_counts(&study.spec, study.counted.map(|it| it.source));
        order::next(points, (pace, forward), is_open)
    }

    async fn measure_next(&mut self, site: &mut Option<Site>, index: usize) -> Result<(), Halt> {
        let configuration = self.model.points[index].configuration;
        if site
            .as_ref()
            .is_none_or(|site| site.configuration != configuration || site.is_spent())
        {
            // The engine before is let go first: two would share what they run on.
            self.close(site.take()).await;
            *site = Some(self.open_site(configuration).await?);
        }
        if let Some(site) = site {
            let measured = self.measure_point(site, index).await;
            measured.map_err(|halt| site.blame(halt))?;
            self.deaths.remove(&configuration);
            site.keep_log(&self.parts.store).await;
            let goes_on = self.model.study.spec.adaptive.is_some();
            if let Some(problem) = not_worth(&self.model.points, index, goes_on) {
                return Err(Halt::Failed(problem));
            }
        }
        Ok(())
    }

    /// A point has failed, and with it those that nothing else can come of. Ends the study where that was chosen.
    async fn take_failure(&mut self, index: usize, failure: Failure) -> Result<(), Halt> {
        let Failure { problem, of_start } = failure;
        let goes_on = self.model.study.spec.on_failure == OnFailure::Continue;
        self.fail_point(index, &problem).await?;
        if !goes_on {
            return Err(Halt::Failed(format!(
                "{problem} Mend that, then resume the study; finished points are kept."
            )));
        }
        let configuration = self.model.points[index].configuration;
        let deaths = self.deaths.entry(configuration).or_default();
        *deaths += 1;
        if of_start || DEATHS <= *deaths {
            let rest = (0..self.model.points.len()).filter(|it| {
                let point = &self.model.points[*it];
                point.configuration == configuration
                    && !point.state.is_over()
                    && !self.failed.contains(it)
            });
            for index in rest.collect::<Vec<_>>() {
                self.fail_point(index, &problem).await?;
            }
        }
        Ok(())
    }

    /// What is missing at the end of a study that went on.
    fn tell_failed(&self) -> Result<(), Halt> {
        let Some(first) = self.failed.first() else {
            return Ok(());
        };
        let problem = self.model.points[*first]
            .problem
            .as_deref()
            .unwrap_or_default();
        Err(Halt::Failed(format!(
            "{} of {} points failed. The first: {problem} Resume the study to try them again; finished points are kept.",
            self.failed.len(),
            self.model.points.len()
        )))
    }

    /// Lets an engine go: a managed one is stopped and its end is kept; a simulator takes its time to stop.
    async fn close(&self, site: Option<Site>) {
        let Some(mut site) = site else { return };
        if let Some(started) = site.managed.take() {
            started.stop(&self.parts.store).await;
            self.control.hear(None);
        }
        let _ = tokio::task::spawn_blocking(move || drop(site)).await;
    }

    /// An engine may have been taken off the list since the launch.
    async fn check_engines(&self) -> Result<(), Halt> {
        let mut added = self.parts.store.engines().await?;
        added.extend(self.parts.registry.rows());
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

    /// Stores and announces that a point has failed.
    async fn fail_point(&mut self, index: usize, problem: &str) -> Result<(), Halt> {
        let point = &mut self.model.points[index];
        (point.state, point.started_ms) = (PointState::Failed, None);
        point.problem = Some(problem.to_owned());
        let event = self.point_event(index);
        let fail = FailPoint {
            study: self.model.study.id,
            point: self.model.points[index].id,
            problem,
            event: &event,
        };
        let number = self.parts.store.fail_point(&fail).await?;
        self.announce(number, event);
        self.failed.insert(index);
        Ok(())
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
            remaining_ms: self.tell_left(),
            hold: Hold::of(StudyState::Running, self.model.study.pause_requested),
        };
        let number = self
            .parts
            .store
            .append_event(self.model.study.id, &event)
            .await?;
        self.announce(number, event);
        Ok(())
    }

    /// Whether a point is not tried again before the study is resumed.
    pub(super) fn has_failed(&self, index: usize) -> bool {
        self.failed.contains(&index)
    }

    /// Milliseconds that the study still takes, of a sweep that finds the ceiling at most; `None` where it does not run.
    pub(super) fn estimate(&self) -> Option<f64> {
        if self.model.study.spec.adaptive.is_some() || self.model.study.state != StudyState::Running
        {
            return self.model.remaining_ms().map(|it| it as f64);
        }
        let points = self.model.points.iter().enumerate();
        let tried = points.filter(|(index, _)| !self.has_failed(*index));
        let tried: Vec<_> = tried.map(|(_, it)| it.clone()).collect();
        Some(left(&tried, now_ms()))
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
            Err(Halt::Failed(problem) | Halt::Engine(Failure { problem, .. })) => {
                (StudyState::Failed, Some(problem))
            }
            Err(Halt::Store(cause)) => {
                error!(study = %self.model.study.id, cause = sentence(&cause), "the study cannot be stored");
                (StudyState::Failed, Some(unstorable(&cause)))
            }
        }
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
            Ok(Some(Wishes { stop: true, .. })) => control.halt(Why::Person),
            Ok(Some(Wishes { skip, .. })) => {
                if let Some(point) = skip {
                    control.skip(point);
                }
            }
            Ok(None) if done.is_cancelled() => return,
            Ok(None) => control.halt(Why::LeaseLost),
            Err(cause) => {
                warn!(%study, cause = &cause as &dyn std::error::Error, "cannot say that study {study} runs")
            }
        }
    }
}
