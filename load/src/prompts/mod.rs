//! Everything that a point sends, made before the clock starts.
//!
//! The same spec gives the same bytes and the same starts for ever. Prompts begin with words of their own, so that no
//! point warms the prefix cache for another; the warm-up has prompts that occur nowhere else.

mod sharegpt;
mod words;

pub use sharegpt::check_sharegpt;

use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use measure::arrival::{self, Arrival};
use measure::sampling::{Draws, derive};
use measure::study::{Api, PointLength};
use measure::units::{Level, Nanos, Seed};
use measure::workload::{TurnLengths, Workload};

use crate::dialect::{self, Message, Quirks};
use crate::plan::{PlannedRequest, PlannedSession, PointPlan};
use words::Words;

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
}

/// A point, as the study's plan has it.
#[derive(Clone, Copy, Debug)]
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
    /// See [`PointPlan::drain`].
    pub drain: Duration,
    /// Request ids are this, the session and the turn, joined by dashes.
    pub request_id_prefix: &'a str,
}

/// Why a point's prompts cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// A data set that lies elsewhere.
    #[error(
        "the data set {file:?} must be a plain file name in the data folder, without any folder"
    )]
    NotAFileName {
        /// As named.
        file: String,
    },
    /// It cannot be read.
    #[error("the data set {} cannot be read; check that it is there and readable", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: std::io::Error,
    },
    /// It is something else.
    #[error("the data set {} is not in ShareGPT's form ({why}); it must be one JSON array of {{\"id\", \"conversations\": [{{\"from\", \"value\"}}]}}", path.display())]
    NotShareGpt {
        /// The file.
        path: PathBuf,
        /// What came instead, and where.
        why: String,
    },
    /// A row that would fill the memory.
    #[error("the data set {}: conversation {row} is larger than {mebibytes} MiB; take it out or cut it", path.display())]
    RowTooLarge {
        /// The file.
        path: PathBuf,
        /// Which one, counted from 1.
        row: u64,
        /// The bound.
        mebibytes: u64,
    },
    /// There is too little of it.
    #[error(
        "the data set {} has {usable} usable conversations with {held} requests but the point needs {sessions} with {requests} ({dropped}); loosen the filter, shorten the point, or take a larger file, since repeated prompts would hit the prefix cache",
        path.display()
    )]
    TooFewRows {
        /// The file.
        path: PathBuf,
        /// Conversations that pass the filter.
        usable: usize,
        /// Their requests.
        held: usize,
        /// Conversations needed.
        sessions: usize,
        /// Requests needed.
        requests: usize,
        /// How many were dropped for which reason.
        dropped: String,
    },
    /// A body that is no JSON; not in practice.
    #[error("a request body could not be written")]
    Body(#[source] serde_json::Error),
}

/// A session's text: what the user says in each turn and what the data set answers.
struct Script {
    turns: Vec<Line>,
}

struct Line {
    lengths: TurnLengths,
    user: String,
    /// Goes into the history of later turns. The engine's own answer never does, so that all configurations of a study
    /// are asked the very same.
    answer: String,
}

/// Makes a point's plan.
pub fn plan_point(spec: &PointSpec<'_>) -> Result<PointPlan, PromptError> {
    let wanted = Wanted::of(spec);
    let scripts = match spec.workload {
        Workload::ShareGptFile {
            file,
            max_turns,
            think_ms,
            filter,
        } => {
            let data = sharegpt::data_set(spec.data_dir, file)?;
            let rows = sharegpt::rows(
                &data,
                filter,
                derive(spec.seed.0, &[purpose::ROWS]),
                wanted,
                *max_turns,
            )?;
            sharegpt::scripts(
                rows,
                Nanos::from_millis(*think_ms),
                derive(spec.seed.0, &[purpose::TEXT]),
            )
        }
        made_up => {
            let lengths = made_up.sessions(
                derive(spec.seed.0, &[purpose::LENGTHS]),
                wanted.sessions,
                wanted.requests,
            );
            let lengths = wanted.cut(lengths.unwrap_or_default());
            write_scripts(&lengths, derive(spec.seed.0, &[purpose::TEXT]))
        }
    };
    let starts = arrival::starts(
        spec.arrival,
        spec.level,
        scripts.len(),
        derive(spec.seed.0, &[purpose::STARTS]),
    );
    let sessions = scripts.iter().zip(starts).enumerate();
    let sessions = sessions
        .map(|(index, (script, start))| session(spec, index, script, start))
        .collect::<Result<_, _>>()?;
    let concurrency = match spec.level {
        Level::Concurrency(streams) => Some(streams),
        Level::Rate(_) | Level::Inf => None,
    };
    let discipline = arrival::discipline(spec.level);
    Ok(PointPlan {
        sessions,
        discipline,
        concurrency,
        warmup: warmup(spec)?,
        drain: spec.drain,
    })
}

/// How many sessions and requests a point aims at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wanted {
    /// At least so many sessions,
    sessions: usize,
    /// and at least so many requests,
    requests: usize,
    /// but at most so many requests.
    most: usize,
}

impl Wanted {
    /// As many sessions as start in the time, within the bounds on requests. Where no rate says how many that is, a
    /// closed loop gets four requests a stream.
    fn of(spec: &PointSpec<'_>) -> Self {
        let PointLength {
            max_requests,
            seconds,
            ..
        } = spec.length;
        let (sessions, requests) = match spec.level {
            Level::Rate(rate) => (
                (rate.per_second() * f64::from(seconds)).ceil() as usize,
                spec.length.min_requests,
            ),
            Level::Inf => (1, spec.length.requests(spec.level, 1.0)),
            Level::Concurrency(streams) => {
                (streams as usize, spec.length.requests(spec.level, 1.0))
            }
        };
        let most = (max_requests as usize).max(1);
        Self {
            sessions: sessions.clamp(1, most),
            requests: (requests as usize).clamp(1, most),
            most,
        }
    }

    /// Whole sessions as long as they stay within the bound, and at least one.
    fn cut(self, mut sessions: Vec<Vec<TurnLengths>>) -> Vec<Vec<TurnLengths>> {
        let mut requests = 0;
        let fitting = sessions.iter().take_while(|turns| {
            requests += turns.len();
            requests <= self.most
        });
        let fitting = fitting.count().max(1);
        sessions.truncate(fitting);
        sessions
    }
}

fn write_scripts(sessions: &[Vec<TurnLengths>], seed: u64) -> Vec<Script> {
    let words = Words::new();
    let line = |draws: &mut Draws, lengths: TurnLengths| {
        let user = words.text(draws, lengths.user);
        Line {
            lengths,
            user,
            answer: words.text(draws, lengths.answer),
        }
    };
    let script = |(index, turns): (usize, &Vec<TurnLengths>)| {
        let mut draws = Draws::new(derive(seed, &[index as u64]));
        Script {
            turns: turns
                .iter()
                .map(|lengths| line(&mut draws, *lengths))
                .collect(),
        }
    };
    sessions.iter().enumerate().map(script).collect()
}

fn session(
    spec: &PointSpec<'_>,
    index: usize,
    script: &Script,
    start: Nanos,
) -> Result<PlannedSession, PromptError> {
    let mut messages: Vec<Message<'_>> = Vec::with_capacity(script.turns.len() * 2);
    let mut context = 0u32;
    let mut turns = Vec::with_capacity(script.turns.len());
    for (turn, line) in script.turns.iter().enumerate() {
        messages.push(Message {
            role: "user",
            content: &line.user,
        });
        context = context.saturating_add(line.lengths.user);
        turns.push(PlannedRequest {
            request_id: format!("{}-{index}-{turn}", spec.request_id_prefix),
            body: body(spec, &messages, line.lengths.answer)?,
            input_tokens: context,
            output_tokens: line.lengths.answer,
            think: if turn == 0 {
                Nanos::ZERO
            } else {
                line.lengths.think
            },
        });
        messages.push(Message {
            role: "assistant",
            content: &line.answer,
        });
        context = context.saturating_add(line.lengths.answer);
    }
    Ok(PlannedSession { start, turns })
}

fn body(
    spec: &PointSpec<'_>,
    messages: &[Message<'_>],
    max_tokens: u32,
) -> Result<Bytes, PromptError> {
    dialect::body(spec.api, spec.model, messages, max_tokens, spec.quirks)
        .map_err(PromptError::Body)
}

fn warmup(spec: &PointSpec<'_>) -> Result<Vec<PlannedRequest>, PromptError> {
    let count = spec.warmup as usize;
    if count == 0 {
        return Ok(Vec::new());
    }
    let seed = derive(spec.seed.0, &[purpose::WARMUP_LENGTHS]);
    // A file's rows are for measuring; its warm-up is made up, of a middling length.
    let lengths = spec.workload.sessions(seed, count, count);
    let lengths = lengths.unwrap_or_else(|| {
        vec![
            vec![TurnLengths {
                user: 200,
                answer: WARMUP_ANSWER,
                think: Nanos::ZERO
            }];
            count
        ]
    });
    let first = |turns: Vec<TurnLengths>| {
        turns
            .into_iter()
            .take(1)
            .map(|turn| TurnLengths {
                answer: turn.answer.min(WARMUP_ANSWER),
                ..turn
            })
            .collect()
    };
    let lengths: Vec<Vec<TurnLengths>> = lengths.into_iter().take(count).map(first).collect();
    let scripts = write_scripts(&lengths, derive(spec.seed.0, &[purpose::WARMUP_TEXT]));
    let prefix = format!("{}-warmup", spec.request_id_prefix);
    let spec = PointSpec {
        request_id_prefix: &prefix,
        ..*spec
    };
    let sessions = scripts
        .iter()
        .enumerate()
        .map(|(index, script)| session(&spec, index, script, Nanos::ZERO));
    Ok(sessions
        .collect::<Result<Vec<_>, _>>()?
        .into_iter()
        .flat_map(|session| session.turns)
        .collect())
}

#[cfg(test)]
mod tests;
