//! Everything that a point sends, made before the clock starts.
//!
//! The same spec gives the same bytes and the same starts for ever. Prompts begin with words of their own, so that no
//! point warms the prefix cache for another; the warm-up has prompts that occur nowhere else.

mod dataset; // files of prompts
mod error; // why there are none
mod fit; // lengths made right
mod inspect; // what is in a file
mod made_up; // text from a seed
mod prompt_file; // JSONL of prompts
mod script; // what a session says
mod sharegpt; // conversations
mod trace; // recorded traffic
mod wanted; // how much of it all
mod words; // a dictionary

pub use error::PromptError;
pub use inspect::{Inspected, inspect, kind_of};
pub use script::{Script, Writer};
use sharegpt::check_sharegpt;
pub(crate) use words::Words;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use measure::arrival::{self, Arrival};
use measure::sampling::derive;
use measure::study::{Api, PointLength};
use measure::units::{Level, Nanos, Seed};
use measure::workload::Workload;

use crate::dialect::Quirks;
use crate::plan::{Body, Made, PlannedRequest, PlannedSession, PointPlan, RequestId, Rows};
use crate::tokens::Counter;
use wanted::Wanted;

/// Bodies of a point that together have more bytes than this are written when they are due.
const READY_BYTES: usize = 64 << 20;
/// Longest answer asked of a warm-up request: it should warm the engine, not the reader's patience.
const WARMUP_ANSWER: u32 = 64;

/// What each stream of draws is for: purposes never share one.
mod purpose {
    pub const LENGTHS: u64 = 0;
    pub const STARTS: u64 = 1;
    pub const TEXT: u64 = 2;
    pub const WARMUP_LENGTHS: u64 = 3;
    pub const WARMUP_TEXT: u64 = 4;
    pub const ROWS: u64 = 5;
    pub const FAMILIES: u64 = 6;
    pub const SHARED_TEXT: u64 = 7;
}

/// A point, as the study's plan has it.
#[derive(Clone, Copy)]
pub struct PointSpec<'a> {
    /// What is asked.
    pub workload: &'a Workload,
    /// Where named data sets lie; `None` takes their names as paths.
    pub data_dir: Option<&'a Path>,
    /// How starts are spread.
    pub arrival: Arrival,
    /// How hard the engine is driven.
    pub level: Level,
    /// How long it lasts.
    pub length: PointLength,
    /// Bounds the point by time rather than by counts: at a rate all that arrives in it, in a closed loop and at `inf`
    /// all that begins in it, of a trace all that comes in it after the speed-up. The most requests still hold.
    pub duration: Option<Duration>,
    /// Everything random follows from it.
    pub seed: Seed,
    /// Requests before the clock starts.
    pub warmup: u32,
    /// The dialect that the bodies are for.
    pub api: Api,
    /// The model asked for.
    pub model: &'a str,
    /// What the endpoint's requests may say.
    pub quirks: Quirks,
    /// Counts tokens; `None` takes a word for a token.
    pub counter: Option<&'a Counter>,
    /// See [`PointPlan::drain`].
    pub drain: Duration,
    /// Request ids are this, the session and the turn, joined by dashes.
    pub request_id_prefix: &'a str,
}

/// A session before it is written down.
#[derive(Debug)]
struct Session {
    script: Script,
    /// A trace's own moments, one a turn; empty elsewhere.
    due: Vec<Nanos>,
}

impl From<Script> for Session {
    fn from(script: Script) -> Self {
        Self {
            script,
            due: Vec::new(),
        }
    }
}

/// Sessions, and the rows they came from.
struct Found {
    sessions: Vec<Session>,
    rows: Option<Rows>,
}

/// Makes a point's plan.
pub fn plan_point(spec: &PointSpec<'_>) -> Result<PointPlan, PromptError> {
    plan_with(spec, READY_BYTES)
}

/// Makes a plan whose bodies are written at once where they have at most so many bytes together.
fn plan_with(spec: &PointSpec<'_>, at_once: usize) -> Result<PointPlan, PromptError> {
    if let (Level::Replay(_), false) = (spec.level, matches!(spec.workload, Workload::Trace(_))) {
        let level = spec.level.to_string();
        return Err(PromptError::NoTrace { level });
    }
    let writer = Arc::new(Writer {
        api: spec.api,
        model: spec.model.to_owned(),
        quirks: spec.quirks,
        words: Words::new(),
        real_answers: spec.workload.has_real_answers(),
    });
    let timed = starts_in_time(spec)?;
    let wanted = Wanted::of(spec, timed.as_deref().map(<[Nanos]>::len));
    let Found { mut sessions, rows } = found(spec, wanted)?;
    let starts = timed.unwrap_or_else(|| {
        let seed = derive(spec.seed.0, &[purpose::STARTS]);
        arrival::starts(spec.arrival, spec.level, sessions.len(), seed)
    });
    if let Some(counter) = spec.counter {
        fit::fit(&mut sessions, counter, &writer)?;
    }
    let ready = sessions.iter().map(|it| it.script.bytes()).sum::<usize>() <= at_once;
    let pen = Pen {
        writer: &writer,
        ready,
        prefix: spec.request_id_prefix.into(),
    };
    let sessions = sessions.into_iter().zip(starts).enumerate();
    let sessions: Vec<PlannedSession> = sessions
        .map(|(index, (session, start))| pen.session(index, session, start))
        .collect::<Result<_, _>>()?;
    Ok(PointPlan {
        sessions,
        discipline: arrival::discipline(spec.arrival, spec.level),
        concurrency: match spec.level {
            Level::Concurrency(streams) => Some(streams),
            Level::Rate(_) | Level::Inf | Level::Replay(_) => None,
        },
        until: until(spec),
        warmup: warmup(spec, &writer)?,
        drain: spec.drain,
        made: Made {
            rows,
            real_answers: writer.real_answers,
            length_source: spec.counter.map(Counter::source).unwrap_or_default(),
            ..Made::default()
        },
    })
}

/// At a rate, where time is the bound: the starts within it.
fn starts_in_time(spec: &PointSpec<'_>) -> Result<Option<Vec<Nanos>>, PromptError> {
    let (Level::Rate(rate), Some(span)) = (spec.level, spec.duration) else {
        return Ok(None);
    };
    let seconds = span.as_secs_f64();
    let (span, most) = (nanos(span), spec.length.max_requests as usize);
    let seed = derive(spec.seed.0, &[purpose::STARTS]);
    let starts = arrival::starts_within(spec.arrival, rate, span, most, seed);
    if starts.is_empty() {
        let rate = rate.per_second();
        return Err(PromptError::NothingDue { seconds, rate });
    }
    Ok(Some(starts))
}

/// When the last session may begin, where nothing else says so.
fn until(spec: &PointSpec<'_>) -> Option<Nanos> {
    match spec.level {
        Level::Inf | Level::Concurrency(_) => spec.duration.map(nanos),
        Level::Rate(_) | Level::Replay(_) => None,
    }
}

fn nanos(span: Duration) -> Nanos {
    Nanos(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
}

/// The sessions of a point.
fn found(spec: &PointSpec<'_>, wanted: Wanted) -> Result<Found, PromptError> {
    match spec.workload {
        Workload::ShareGptFile { file, .. } => {
            let data = dataset::DataSet::named(spec.data_dir, file)?;
            sharegpt::sessions(&data, spec, wanted)
        }
        Workload::PromptFile {
            file,
            output,
            repeats,
        } => {
            let data = dataset::DataSet::named(spec.data_dir, file)?;
            prompt_file::sessions(&data, output.as_ref(), *repeats, spec.seed.0, wanted)
        }
        Workload::Trace(trace) => {
            let data = dataset::DataSet::named(spec.data_dir, &trace.file)?;
            trace::sessions(&data, trace, spec, wanted)
        }
        made_up => {
            let lengths = made_up.sessions(
                derive(spec.seed.0, &[purpose::LENGTHS]),
                wanted.sessions,
                wanted.requests,
            );
            let lengths = wanted.cut(lengths.unwrap_or_default());
            let scripts = made_up::scripts(made_up, &lengths, spec.seed.0);
            Ok(Found {
                sessions: scripts.into_iter().map(Session::from).collect(),
                rows: None,
            })
        }
    }
}

/// Writes sessions down.
struct Pen<'a> {
    writer: &'a Arc<Writer>,
    /// Whether bodies are written at once.
    ready: bool,
    prefix: Arc<str>,
}

impl Pen<'_> {
    fn session(
        &self,
        index: usize,
        session: Session,
        start: Nanos,
    ) -> Result<PlannedSession, PromptError> {
        let Session { script, due } = session;
        let script = Arc::new(script);
        let mut context = 0u32;
        let mut turns = Vec::with_capacity(script.lines.len());
        for (turn, line) in script.lines.iter().enumerate() {
            context = context.saturating_add(line.lengths.user);
            turns.push(PlannedRequest {
                request_id: RequestId {
                    prefix: Arc::clone(&self.prefix),
                    session: index as u32,
                    turn: turn as u32,
                },
                body: self.body(&script, turn)?,
                input_tokens: context,
                output_tokens: line.lengths.answer,
                think: match turn {
                    0 => Nanos::ZERO,
                    _ => line.lengths.think,
                },
                not_before: due.get(turn).copied().unwrap_or_default(),
            });
            context = context.saturating_add(line.history);
        }
        let start = due.first().copied().unwrap_or(start);
        Ok(PlannedSession { start, turns })
    }

    fn body(&self, script: &Arc<Script>, turn: usize) -> Result<Body, PromptError> {
        if self.ready && (turn == 0 || !self.writer.real_answers) {
            let bytes = self.writer.body(script, turn, &[]);
            return bytes.map(Body::Ready).map_err(PromptError::Body);
        }
        Ok(Body::Later {
            script: Arc::clone(script),
            turn: turn as u32,
            writer: Arc::clone(self.writer),
        })
    }
}

/// Requests before the clock, with prompts that occur nowhere else.
fn warmup(spec: &PointSpec<'_>, writer: &Arc<Writer>) -> Result<Vec<PlannedRequest>, PromptError> {
    let scripts = made_up::warmup(spec.workload, spec.seed.0, spec.warmup as usize);
    let pen = Pen {
        writer,
        ready: true,
        prefix: format!("{}-warmup", spec.request_id_prefix).into(),
    };
    let sessions = scripts.into_iter().map(Session::from).enumerate();
    let sessions = sessions.map(|(index, session)| pen.session(index, session, Nanos::ZERO));
    let turns = sessions.map(|session| session.map(|session| session.turns));
    Ok(turns
        .collect::<Result<Vec<_>, _>>()?
        .into_iter()
        .flatten()
        .collect())
}

#[cfg(test)]
mod tests;
