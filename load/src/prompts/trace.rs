//! Recorded traffic: when requests came, how long they were, and what they shared.
//!
//! A trace is read row by row as far as it is needed, and no further. Its text is made up (unless it has some): the same
//! lengths at the same moments, in words of the point's own.

use std::collections::{BTreeMap, HashMap};

use measure::sampling::derive;
use measure::units::{Level, Nanos};
use measure::workload::{Trace, TraceFormat, TurnLengths};

use super::dataset::{DataSet, Enough, reasons};
use super::prompt_file::{Messages, single};
use super::script::{Line, Piece, Said, Script};
use super::{Found, PointSpec, PromptError, Rows, Session, Wanted, nanos, purpose};

mod csv; // Azure, BurstGPT
mod json; // Mooncake, the studio's own
mod window; // the part that is replayed

pub(super) use csv::fields;
use window::Window;

/// Tokens of one of Mooncake's blocks.
const BLOCK: u32 = 512;

/// A row of a trace.
#[derive(Debug, Default, PartialEq)]
struct Row {
    /// In the trace's own time, from whatever zero it has.
    at: Nanos,
    input: u32,
    output: u32,
    /// Blocks that rows with the same ids share, in order from the prompt's beginning.
    blocks: Vec<u64>,
    said: Option<Messages>,
    /// Rows of one session follow each other.
    session: Option<Box<str>>,
}

/// A point's sessions: the rows of the trace's window.
pub(super) fn sessions(
    data: &DataSet,
    trace: &Trace,
    spec: &PointSpec<'_>,
    wanted: Wanted,
) -> Result<Found, PromptError> {
    let mut window = Window::new(trace, spec, wanted);
    read(data, trace.format, |number, row| {
        window.take(row).map_err(|why| data.wrong(number, why))
    })?;
    let Window { rows, dropped, .. } = window;
    let needed = match spec.level {
        _ if wanted.whatever => 1,
        Level::Replay(_) => spec.length.min_requests as usize,
        _ => wanted.sessions.max(wanted.requests),
    };
    if rows.len() < needed.max(1) {
        return Err(PromptError::ShortTrace {
            path: data.named.clone(),
            usable: rows.len(),
            needed: needed.max(1),
            dropped: reasons(&dropped),
        });
    }
    let told = Rows {
        usable: rows.len(),
        used: rows.len(),
        dropped,
        ..Rows::default()
    };
    let replayed = matches!(spec.level, Level::Replay(_));
    Ok(Found {
        sessions: Writing::new(spec.seed.0, replayed).sessions(rows),
        rows: Some(told),
    })
}

/// Reads a whole trace, and says where it is none; how many rows it has.
pub(super) fn check(data: &DataSet, format: TraceFormat) -> Result<u64, PromptError> {
    let (mut rows, mut last) = (0, Nanos::ZERO);
    read(data, format, |number, row| {
        last = window::in_order(last, &row).map_err(|why| data.wrong(number, why))?;
        rows += 1;
        Ok(Enough::No)
    })?;
    if rows == 0 {
        return Err(data.wrong(1, "is followed by no row; a trace has one a request"));
    }
    Ok(rows)
}

/// Reads a trace in its format until there is enough of it.
fn read(
    data: &DataSet,
    format: TraceFormat,
    mut on: impl FnMut(u64, Row) -> Result<Enough, PromptError>,
) -> Result<(), PromptError> {
    let mut columns = None;
    data.lines(|number, line| {
        let row = match format {
            TraceFormat::Mooncake => json::mooncake(line),
            TraceFormat::Jsonl => json::own(line),
            TraceFormat::Azure | TraceFormat::BurstGpt => match &columns {
                Some(columns) => csv::row(columns, line),
                None => {
                    let head = csv::Columns::of(format, line);
                    columns = Some(head.map_err(|why| data.wrong(number, why))?);
                    return Ok(Enough::No);
                }
            },
        };
        on(number, row.map_err(|why| data.wrong(number, why))?)
    })
}

/// Makes sessions of rows.
struct Writing {
    text: u64,
    blocks: u64,
    /// Whether the rows' own moments count.
    replayed: bool,
}

impl Writing {
    fn new(seed: u64, replayed: bool) -> Self {
        Self {
            text: derive(seed, &[purpose::TEXT]),
            blocks: derive(seed, &[purpose::SHARED_TEXT]),
            replayed,
        }
    }

    /// A session a row, but one for all rows that name the same session.
    fn sessions(&self, rows: Vec<Row>) -> Vec<Session> {
        let mut sessions: Vec<Vec<Row>> = Vec::with_capacity(rows.len());
        let mut places: HashMap<Box<str>, usize> = HashMap::new();
        for mut row in rows {
            let Some(name) = row.session.take() else {
                sessions.push(vec![row]);
                continue;
            };
            let place = *places.entry(name).or_insert(sessions.len());
            match sessions.get_mut(place) {
                Some(session) => session.push(row),
                None => sessions.push(vec![row]),
            }
        }
        let sessions = sessions.into_iter().enumerate();
        sessions
            .map(|(index, rows)| self.session(index, rows))
            .collect()
    }

    fn session(&self, index: usize, rows: Vec<Row>) -> Session {
        let due = rows.iter().map(|row| row.at).filter(|_| self.replayed);
        let due: Vec<Nanos> = due.collect();
        let stream = derive(self.text, &[index as u64]);
        let script = match rows.as_slice() {
            [
                Row {
                    said: Some(said),
                    output,
                    ..
                },
            ] => single(said, *output, stream),
            rows => Script {
                stream,
                lines: self.lines(rows),
            },
        };
        Session { script, due }
    }

    /// The turns of a session. Its prompts are whole contexts, so that a later one repeats the one before, its answer
    /// included, as far as it is long enough.
    fn lines(&self, rows: &[Row]) -> Vec<Line> {
        let mut context = 0u32;
        let lines = rows.iter().map(|row| {
            let user = row.input.saturating_sub(context).max(1);
            context = context.saturating_add(user).saturating_add(row.output);
            Line {
                lengths: TurnLengths {
                    user,
                    answer: row.output,
                    think: Nanos::ZERO,
                },
                history: row.output,
                asks_history: false,
                said: [Said::by_user(self.pieces(row, user))].into(),
                answer: [Piece::Own(row.output)].into(),
            }
        });
        lines.collect()
    }

    fn pieces(&self, row: &Row, user: u32) -> Vec<Piece> {
        let mut left = user;
        let mut pieces = Vec::with_capacity(row.blocks.len() + 1);
        for block in &row.blocks {
            let words = left.min(BLOCK);
            if words == 0 {
                break;
            }
            let stream = derive(self.blocks, &[*block]);
            pieces.push(Piece::Shared { stream, words });
            left -= words;
        }
        if 0 < left {
            pieces.push(Piece::Own(left));
        }
        pieces
    }
}

#[cfg(test)]
mod tests;
