//! Engines that the studio starts itself: started with a configuration's knobs, watched while they are measured, stopped;
//! each start is kept with its log.

use std::pin::pin;
use std::time::Duration;

use load::launch::{AnsweredBy, Exit, Launch, LaunchError, Managed, NotStarted, start_heard, why};
use load::{PointError, PointRun};
use measure::knobs::{Fact, Facts, Knobs, LAUNCH, SEEN, Source};
use measure::request::Outcome;
use measure::study::{ConfigurationSpec, Endpoint, EngineSpec, Turn};
use tokio_util::sync::CancellationToken;
use tracing::warn;
use uuid::Uuid;

use super::run::{Failure, Halt, Run};
use crate::registry::sheet::shown;
use crate::registry::{CacheReset, LaunchTemplate, Registered};
use crate::store::{EndStart, Store, StoredStart, now_ms};
use crate::studio::engines::sentence;

/// An engine that starts within this is restarted without a thought.
pub(super) const QUICK: Duration = Duration::from_secs(10);
/// A dead engine is known to be dead so soon after its last connection broke.
const NEWS: Duration = Duration::from_millis(1500);
/// How the ending of an engine begins that nobody asked to end.
pub(crate) const DIED: &str = "ended by itself: ";
/// Most characters of a log in a sentence.
const QUOTE: usize = 600;

/// A managed engine under measurement.
pub(super) struct Started {
    pub engine: Managed,
    /// How the store knows this start.
    id: Uuid,
    cache_reset: CacheReset,
    /// A point was measured on it.
    pub used: bool,
    /// It was asked to empty its cache, and would not.
    pub keeps_cache: bool,
}

/// What a start leads to: where the engine is, the engine, and what is known of it.
pub(super) struct Ready {
    pub endpoint: Endpoint,
    pub started: Started,
    pub facts: Facts,
    pub set: Knobs,
}

impl Started {
    /// Whether the next point needs a fresh one.
    pub fn is_spent(&self) -> bool {
        let by_restart = match self.cache_reset {
            CacheReset::Restart => true,
            CacheReset::Auto => self.keeps_cache && self.engine.startup < QUICK,
            CacheReset::Never => false,
        };
        self.engine.exit().is_some() || self.used && by_restart
    }

    /// Ends the engine and keeps how it ended.
    pub async fn stop(self, store: &Store) {
        let died = self.engine.exit();
        let stopped = self.engine.stop().await;
        let ending = match died {
            Some(exit) => format!("{DIED}{exit}"),
            None => format!(
                "stopped within {:.1} s: {}",
                stopped.took.as_secs_f64(),
                stopped.exit
            ),
        };
        let end = EndStart {
            id: self.id,
            ended_ms: now_ms(),
            ending: &ending,
            log: &stopped.log,
        };
        if let Err(cause) = store.end_start(&end).await {
            warn!(
                cause = &cause as &dyn std::error::Error,
                "cannot keep an engine's log"
            );
        }
    }

    /// What became of a point's run, unless the engine died under it.
    pub async fn watch(
        &self,
        halted: &CancellationToken,
        run: impl Future<Output = Result<PointRun, PointError>>,
    ) -> Result<Result<PointRun, PointError>, Halt> {
        let mut run = pin!(run);
        let exit = tokio::select! {
            ran = &mut run => match self.last_news(&ran).await {
                None => return Ok(ran),
                Some(exit) => exit,
            },
            exit = self.engine.ended() => {
                // What is in flight has nobody to answer it.
                halted.cancel();
                let _ = run.await;
                exit
            }
        };
        Err(Halt::Engine(Failure::of_point(died(&self.engine, exit))))
    }

    /// How it ended, if it did while its last requests failed.
    async fn last_news(&self, ran: &Result<PointRun, PointError>) -> Option<Exit> {
        let failed = |run: &PointRun| run.records.iter().any(|it| it.outcome != Outcome::Ok);
        let failed = ran.as_ref().is_ok_and(failed);
        match self.engine.exit() {
            None if failed => tokio::time::timeout(NEWS, self.engine.ended()).await.ok(),
            known => known,
        }
    }

    /// Keeps what it has said so far.
    pub async fn keep_log(&self, store: &Store) {
        if let Err(cause) = store.keep_log(self.id, &self.engine.log()).await {
            warn!(
                cause = &cause as &dyn std::error::Error,
                "cannot keep an engine's log"
            );
        }
    }
}

impl Run<'_> {
    /// The managed engine that a configuration runs on, by its name.
    pub(super) fn managed_name(&self, spec: &ConfigurationSpec) -> Option<String> {
        match (&spec.turn, &self.model.study.spec.engine) {
            (Turn::Managed { name }, _) | (Turn::AsIs, EngineSpec::Managed { name }) => {
                Some(name.clone())
            }
            _ => None,
        }
    }

    /// Starts the engine with the configuration's knobs and waits for its first token.
    pub(super) async fn start_managed(
        &mut self,
        configuration: u32,
        spec: &ConfigurationSpec,
        name: &str,
    ) -> Result<Ready, Halt> {
        if !self.parts.may_start_engines {
            // It was launched when that was allowed.
            return Err(Halt::Failed("This studio starts no engines as it runs now: it can be used with an access token from elsewhere. See token_may_start_engines in the guide.".into()));
        }
        let registry = self.parts.registry.clone();
        let Some((registered, template)) = registry.managed(name) else {
            return Err(Halt::Failed(format!(
                "There is no engine {name:?} in studio.toml any more. Put it back, start the studio again, then resume the study."
            )));
        };
        let plan = template.plan(
            &registered.endpoint,
            &spec.knobs,
            &self.parts.data_dir,
            registry.guard.clone(),
        );
        let launch = plan.map_err(|cause| {
            let why = format!(
                "The engine of {:?} cannot be started: {}.",
                spec.name,
                cause.words()
            );
            Halt::Engine(Failure::of_start(why))
        })?;
        let id = Uuid::now_v7();
        let started_ms = now_ms();
        let control = &self.control;
        let hear = |said| control.hear(Some((id, said)));
        let began = start_heard(&launch, &control.halted, hear).await;
        self.keep_start((id, configuration, started_ms), &launch, &began)
            .await?;
        let engine = began.map_err(|failed| match failed.cause {
            LaunchError::GivenUp => Halt::Wanted,
            _ => Halt::Engine(Failure::of_start(not_started(&spec.name, &failed))),
        })?;
        self.startups.insert(configuration, engine.startup);
        Ok(Ready {
            facts: facts(registered, template, spec, &engine),
            set: template.knobs(&spec.knobs),
            endpoint: launch.endpoint,
            started: Started {
                engine,
                id,
                cache_reset: template.cache_reset,
                used: false,
                keeps_cache: false,
            },
        })
    }

    /// Keeps a start, whatever became of it.
    async fn keep_start(
        &self,
        (id, configuration, started_ms): (Uuid, u32, i64),
        launch: &Launch,
        began: &Result<Managed, NotStarted>,
    ) -> Result<(), Halt> {
        let startup_ms = began.as_ref().ok().map(|engine| millis(engine.startup));
        let start = StoredStart {
            id,
            configuration: i64::from(configuration),
            command: launch.without_secrets(shown(&launch.program.argv).join("\n")),
            started_ms,
            startup_ms,
            ended_ms: None,
            ending: None,
        };
        let (store, study) = (&self.parts.store, self.model.study.id);
        store.insert_start(study, &start).await?;
        if let Err(NotStarted { cause, log }) = began {
            let end = EndStart {
                id,
                ended_ms: now_ms(),
                ending: &sentence(cause),
                log,
            };
            store.end_start(&end).await?;
        }
        Ok(())
    }

    /// Whether every managed engine that was started so far was there at once.
    pub(super) fn starts_quickly(&self) -> bool {
        self.startups.values().all(|startup| *startup < QUICK)
    }
}

fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

/// What the studio knows of an engine because it started it.
fn facts(
    registered: &Registered,
    template: &LaunchTemplate,
    spec: &ConfigurationSpec,
    engine: &Managed,
) -> Facts {
    let mut facts = registered.facts();
    let mut told = |name: &str, value: String| {
        let source = Source::Engine;
        facts.insert(name.to_owned(), Fact { value, source });
    };
    told(LAUNCH, template.digest());
    told(
        &format!("{SEEN}start-up"),
        format!("{:.1} s", engine.startup.as_secs_f64()),
    );
    told(
        &format!("{SEEN}answered by"),
        match engine.answered_by {
            AnsweredBy::Engine => "the engine".into(),
            AnsweredBy::Untold(why) => format!("cannot be told, {why}"),
        },
    );
    let unknown = template
        .flags(&spec.knobs)
        .map(|it| it.unknown)
        .unwrap_or_default();
    for (name, value) in template.knobs(&spec.knobs) {
        if unknown.contains(&name) {
            told(
                &format!("knob:{name}"),
                format!("{value} (unknown to the catalogue)"),
            );
        }
    }
    facts
}

/// Why an engine did not start, for people.
fn not_started(configuration: &str, failed: &NotStarted) -> String {
    let NotStarted { cause, log } = failed;
    // What was never run has said nothing.
    let ran = !matches!(
        cause,
        LaunchError::PortInUse { .. } | LaunchError::Spawn { .. } | LaunchError::NoPort(_)
    );
    let said = if ran { quoted(log) } else { String::new() };
    format!(
        "The engine of {configuration:?} did not start: {}.{said}",
        sentence(cause)
    )
}

/// Why an engine is gone, for people.
fn died(engine: &Managed, exit: Exit) -> String {
    let tail = engine.tail();
    let meant = why(exit, &tail)
        .map(|it| format!(": {it}"))
        .unwrap_or_default();
    format!(
        "The engine ended while it was measured ({exit}){meant}.{}",
        quoted(&tail)
    )
}

/// The end of a log in a sentence.
fn quoted(tail: &str) -> String {
    let lines: Vec<&str> = tail
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let last = lines[lines.len().saturating_sub(3)..].join(" | ");
    let skipped = last.chars().count().saturating_sub(QUOTE);
    let last: String = last.chars().skip(skipped).collect();
    if last.is_empty() {
        " Its log is empty.".into()
    } else {
        format!(" Its log ends: “{last}”.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_ends_in_its_last_lines() {
        assert_eq!(quoted("a\n\nb \nc\nd\n"), " Its log ends: “b | c | d”.");
        assert_eq!(quoted("\n"), " Its log is empty.");
        let long = quoted(&"x".repeat(5000));
        assert!(long.chars().count() < QUOTE + 40);
    }
}
