//! A ShareGPT file: one JSON array of conversations, read in bounded memory.
//!
//! The file is read twice. The first pass notes which rows pass the filter and how many turns they have; the seed then
//! chooses rows without replacement; the second pass keeps the text of the chosen ones alone. Lengths are estimates
//! from words; the engine's own counts stand in the records.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use measure::sampling::{Draws, derive};
use measure::units::Nanos;
use measure::workload::{Drop, ShareGptFilter, TurnLengths, Workload, filter_sharegpt};
use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};
use serde_json::Value;

use super::dataset::{DataSet, LARGEST_ROW, reasons};
use super::script::{Line, Piece, Said, Script};
use super::{Found, PointSpec, PromptError, Rows, Session, Wanted, purpose};

/// Words of English need about so many tokens each.
const TOKENS_PER_WORD: f64 = 1.3;
/// Words put before each conversation, so that a row that two points share is not in the cache for the second.
pub(super) const OWN_WORDS: u32 = 6;

/// What is wanted of the rows.
struct Rules {
    filter: ShareGptFilter,
    /// Most turns of a session.
    most: usize,
    /// Asked of every request, whatever the data set's answer.
    output: Option<u32>,
    think: Nanos,
    repeats: bool,
}

impl Rules {
    fn of(workload: &Workload) -> Option<Self> {
        let Workload::ShareGptFile {
            file: _,
            max_turns,
            think_ms,
            filter,
            output_tokens,
            answers: _,
            repeats,
        } = workload
        else {
            return None;
        };
        let mut filter = *filter;
        if output_tokens.is_some() {
            // As the field's tools do: an answer of a length that is not asked for may be as short as it is.
            filter.min_output = 0;
        }
        Some(Self {
            filter,
            most: (*max_turns).max(1) as usize,
            output: *output_tokens,
            think: Nanos::from_millis(*think_ms),
            repeats: *repeats,
        })
    }
}

/// A conversation: what was said and answered in each turn, and how many further turns it has.
struct Row {
    turns: Vec<(String, String)>,
    left_out: usize,
}

/// A point's sessions, from rows that the seed chooses, in the order in which they start.
pub(super) fn sessions(
    data: &DataSet,
    spec: &PointSpec<'_>,
    wanted: Wanted,
) -> Result<Found, PromptError> {
    let Some(rules) = Rules::of(spec.workload) else {
        return Ok(Found {
            sessions: Vec::new(),
            rows: None,
        });
    };
    let (mut usable, dropped) = usable(data, &rules)?;
    let held = usable.iter().map(|(_, turns)| *turns as usize).sum();
    let seed = derive(spec.seed.0, &[purpose::ROWS]);
    let Some(chosen) = choose(&mut usable, seed, wanted, rules.repeats) else {
        return Err(PromptError::TooFewRows {
            path: data.named.clone(),
            usable: usable.len(),
            held,
            sessions: wanted.sessions,
            requests: wanted.requests,
            dropped: reasons(&dropped),
        });
    };
    let rows = chosen_rows(data, &rules, &chosen)?;
    let used: HashSet<u32> = chosen.iter().copied().collect();
    let told = Rows {
        usable: usable.len(),
        used: used.len(),
        repeats: chosen.len() - used.len(),
        turns_left_out: rows.iter().map(|row| row.left_out).sum(),
        dropped,
    };
    let text = derive(spec.seed.0, &[purpose::TEXT]);
    let scripts = rows.into_iter().enumerate();
    let scripts = scripts.map(|(index, row)| script(row, &rules, derive(text, &[index as u64])));
    Ok(Found {
        sessions: scripts.map(Session::from).collect(),
        rows: Some(told),
    })
}

/// Rows that pass the filter, with how many turns they have.
type Usable = Vec<(u32, u32)>;
/// How many were dropped for which reason.
type Dropped = BTreeMap<String, usize>;

/// The first pass.
fn usable(data: &DataSet, rules: &Rules) -> Result<(Usable, Dropped), PromptError> {
    let (mut usable, mut dropped) = (Usable::new(), Dropped::new());
    let mut index = 0u32;
    read(data, |row| {
        match turns(row, rules) {
            Ok(row) => usable.push((index, row.turns.len() as u32)),
            Err(why) => *dropped.entry(name(why)).or_default() += 1,
        }
        index += 1;
    })?;
    Ok((usable, dropped))
}

/// The second pass: the text of the chosen rows alone.
fn chosen_rows(data: &DataSet, rules: &Rules, chosen: &[u32]) -> Result<Vec<Row>, PromptError> {
    let mut places: HashMap<u32, Vec<usize>> = HashMap::new();
    for (place, row) in chosen.iter().enumerate() {
        places.entry(*row).or_default().push(place);
    }
    let mut rows: Vec<Option<Row>> = chosen.iter().map(|_| None).collect();
    let mut index = 0u32;
    read(data, |row| {
        for place in places.get(&index).into_iter().flatten() {
            rows[*place] = turns(row, rules).ok();
        }
        index += 1;
    })?;
    Ok(rows.into_iter().flatten().collect())
}

/// Draws rows without replacement until there are sessions and requests enough; `None` when they run out. Where repeats
/// are allowed it then begins anew, in another order.
fn choose(usable: &mut [(u32, u32)], seed: u64, wanted: Wanted, repeats: bool) -> Option<Vec<u32>> {
    let mut draws = Draws::new(seed);
    let mut chosen = Vec::new();
    let mut requests = 0;
    while chosen.len() < wanted.sessions || requests < wanted.requests {
        let next = match chosen.len() {
            ran_out if usable.len() <= ran_out && wanted.whatever && 0 < ran_out => break,
            again if repeats && !usable.is_empty() => again % usable.len(),
            next => next,
        };
        let left = usable.len().checked_sub(next).filter(|left| *left > 0)?;
        usable.swap(next, next + draws.below(left));
        let (row, turns) = usable[next];
        requests += turns as usize;
        if requests > wanted.most && !chosen.is_empty() {
            break;
        }
        chosen.push(row);
    }
    Some(chosen)
}

/// The turns of a row that are used, or why the row is not.
fn turns(row: &Value, rules: &Rules) -> Result<Row, Drop> {
    let filter = &rules.filter;
    let said = row
        .as_object()
        .map(|row| row.get("conversations").and_then(Value::as_array));
    let said = said.map(|said| said.map(Vec::as_slice).unwrap_or_default());
    let first_two = said.map(|said| {
        said.iter()
            .take(2)
            .enumerate()
            .map(|(place, turn)| match (place, rules.output) {
                (1, Some(asked)) => (role(turn), asked),
                _ => (role(turn), tokens(text(turn))),
            })
            .collect::<Vec<_>>()
    });
    filter_sharegpt(first_two.as_deref(), filter)?;
    let said = said.unwrap_or_default();
    if said.iter().take(2).any(|turn| !turn["value"].is_string()) {
        return Err(Drop::BadRow);
    }
    let human = |turn: &Value| matches!(role(turn), "human" | "user");
    // A later turn is used as long as the whole context stays within the limit.
    let mut context = 0;
    let fits = |pair: &&[Value]| {
        let (user, answer) = (tokens(text(&pair[0])), tokens(text(&pair[1])));
        context += user + rules.output.unwrap_or(answer);
        human(&pair[0]) && !human(&pair[1]) && context <= filter.max_total && user > 0 && answer > 0
    };
    let pairs = said.chunks_exact(2).take(rules.most).take_while(fits);
    let turns: Vec<_> = pairs
        .map(|pair| (text(&pair[0]).to_owned(), text(&pair[1]).to_owned()))
        .collect();
    if turns.is_empty() {
        return Err(Drop::NoTurns);
    }
    let left_out = said.len() / 2 - turns.len();
    Ok(Row { turns, left_out })
}

fn role(turn: &Value) -> &str {
    turn["from"].as_str().unwrap_or_default()
}

fn text(turn: &Value) -> &str {
    turn["value"].as_str().unwrap_or_default()
}

/// The name of a reason, as it stands in JSON.
fn name(why: Drop) -> String {
    serde_json::to_value(why)
        .ok()
        .and_then(|name| name.as_str().map(str::to_owned))
        .unwrap_or_default()
}

/// An estimate: words times [`TOKENS_PER_WORD`], rounded up.
pub(super) fn tokens(text: &str) -> u32 {
    tokens_of_words(words(text))
}

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

pub(super) fn tokens_of_words(words: usize) -> u32 {
    (words as f64 * TOKENS_PER_WORD).ceil() as u32
}

/// A conversation as a script, begun with words of its own.
fn script(row: Row, rules: &Rules, stream: u64) -> Script {
    let line = |(turn, (user, answer)): (usize, (String, String))| {
        let own = if turn == 0 { OWN_WORDS } else { 0 };
        let lengths = TurnLengths {
            // Words of both are counted together, as they are sent.
            user: tokens_of_words(own as usize + words(&user)),
            answer: rules.output.unwrap_or(tokens(&answer)),
            think: rules.think,
        };
        let mut pieces = Vec::with_capacity(2);
        if 0 < own {
            pieces.push(Piece::Own(own));
        }
        pieces.push(Piece::Given(user.into()));
        Line {
            lengths,
            history: tokens(&answer),
            asks_history: rules.output.is_none(),
            said: [Said::by_user(pieces)].into(),
            answer: [Piece::Given(answer.into())].into(),
        }
    };
    Script {
        stream,
        lines: row.turns.into_iter().enumerate().map(line).collect(),
    }
}

/// Reads a whole file as ShareGPT without choosing from it, and says where it is not; how many conversations it has.
/// `named` is the file's name for people.
pub fn check_sharegpt(at: &Path, named: &str) -> Result<u32, PromptError> {
    let data = DataSet {
        at: at.to_owned(),
        named: named.into(),
    };
    let (mut rows, mut conversations) = (0, 0);
    read(&data, |row| {
        rows += 1;
        conversations += u32::from(is_conversation(row));
    })?;
    if 0 < conversations {
        return Ok(conversations);
    }
    Err(PromptError::NotShareGpt {
        path: data.named,
        why: format!("none of its {rows} elements is a conversation of two turns"),
    })
}

fn is_conversation(row: &Value) -> bool {
    let said = row["conversations"].as_array().map(Vec::as_slice);
    let is_turn = |turn: &Value| turn["from"].is_string() && turn["value"].is_string();
    said.is_some_and(|said| 2 <= said.len() && said.iter().take(2).all(is_turn))
}

/// Calls `on` for each element of the file's array; holds one of them at a time, and none that is too large.
fn read(data: &DataSet, on: impl FnMut(&Value)) -> Result<(), PromptError> {
    let file = File::open(&data.at).map_err(|cause| data.unreadable(cause))?;
    let progress = Progress::default();
    let file = Bounded {
        file: BufReader::with_capacity(1 << 20, file),
        progress: &progress,
    };
    let mut json = serde_json::Deserializer::from_reader(file);
    let rows = EachRow {
        on,
        progress: &progress,
    };
    let read = rows.deserialize(&mut json).and_then(|()| json.end());
    read.map_err(|error| match error.is_io() {
        true if LARGEST_ROW < progress.bytes.get() => PromptError::RowTooLarge {
            path: data.named.clone(),
            row: progress.rows.get() + 1,
            mebibytes: LARGEST_ROW >> 20,
        },
        true => data.unreadable(error.into()),
        false => PromptError::NotShareGpt {
            path: data.named.clone(),
            why: error.to_string(),
        },
    })
}

/// How far a file has been read.
#[derive(Default)]
struct Progress {
    /// Whole rows.
    rows: Cell<u64>,
    /// Bytes since the last whole row.
    bytes: Cell<u64>,
}

/// Gives up when a row is too large. Lies above the buffer: the parser takes byte by byte.
struct Bounded<'a> {
    file: BufReader<File>,
    progress: &'a Progress,
}

impl Read for Bounded<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(into)?;
        let bytes = self.progress.bytes.get() + count as u64;
        self.progress.bytes.set(bytes);
        if LARGEST_ROW < bytes {
            return Err(io::Error::other("a row is too large"));
        }
        Ok(count)
    }
}

struct EachRow<'a, F> {
    on: F,
    progress: &'a Progress,
}

impl<'de, F: FnMut(&Value)> DeserializeSeed<'de> for EachRow<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, F: FnMut(&Value)> Visitor<'de> for EachRow<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of conversations")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut rows: A) -> Result<(), A::Error> {
        while let Some(row) = rows.next_element::<Value>()? {
            (self.on)(&row);
            self.progress.rows.update(|rows| rows + 1);
            self.progress.bytes.set(0);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
