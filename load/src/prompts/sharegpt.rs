//! A ShareGPT file: one JSON array of conversations, read in bounded memory.
//!
//! The file is read twice. The first pass notes which rows pass the filter and how many turns they have; the seed then
//! chooses rows without replacement; the second pass keeps the text of the chosen ones alone. Lengths are estimates
//! from words; the engine's own counts stand in the records.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use measure::sampling::{Draws, derive};
use measure::units::Nanos;
use measure::workload::{Drop, ShareGptFilter, TurnLengths, filter_sharegpt};
use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};
use serde_json::Value;

use super::words::Words;
use super::{Line, PromptError, Script, Wanted};

/// Words of English need about so many tokens each.
const TOKENS_PER_WORD: f64 = 1.3;
/// Words put before each conversation, so that a row that two points share is not in the cache for the second.
const OWN_WORDS: u32 = 6;

/// The largest conversation, in bytes of JSON: one is held in memory at a time, and ShareGPT's own stay far below.
const LARGEST_ROW: u64 = 8 << 20;

/// A data set: where it lies, and what people call it. Errors never say more of the server's folders than was asked.
pub(super) struct DataSet {
    at: PathBuf,
    named: PathBuf,
}

/// The file that a workload names.
pub(super) fn data_set(data_dir: Option<&Path>, file: &str) -> Result<DataSet, PromptError> {
    let named = PathBuf::from(file);
    let Some(folder) = data_dir else {
        let at = named.clone();
        return Ok(DataSet { at, named });
    };
    let plain =
        !file.is_empty() && !file.contains(['/', '\\', '\0']) && file != "." && file != "..";
    if plain {
        let at = folder.join(file);
        Ok(DataSet { at, named })
    } else {
        Err(PromptError::NotAFileName {
            file: file.to_owned(),
        })
    }
}

/// A conversation: what was said and answered in each turn.
pub(super) struct Row(Vec<(String, String)>);

/// Rows that the seed chooses, in the order in which they start.
pub(super) fn rows(
    data: &DataSet,
    filter: &ShareGptFilter,
    seed: u64,
    wanted: Wanted,
    max_turns: u32,
) -> Result<Vec<Row>, PromptError> {
    let most = max_turns.max(1) as usize;
    let mut usable: Vec<(u32, u32)> = Vec::new();
    let mut dropped: BTreeMap<Drop, usize> = BTreeMap::new();
    let mut index = 0u32;
    read(data, |row| {
        match turns(row, filter, most) {
            Ok(turns) => usable.push((index, turns.len() as u32)),
            Err(why) => *dropped.entry(why).or_default() += 1,
        }
        index += 1;
    })?;
    let Some(chosen) = choose(&mut usable, seed, wanted) else {
        return Err(PromptError::TooFewRows {
            path: data.named.clone(),
            usable: usable.len(),
            held: usable.iter().map(|(_, turns)| *turns as usize).sum(),
            sessions: wanted.sessions,
            requests: wanted.requests,
            dropped: reasons(&dropped),
        });
    };
    let places: HashMap<u32, usize> = chosen
        .iter()
        .enumerate()
        .map(|(place, row)| (*row, place))
        .collect();
    let mut rows: Vec<Row> = chosen.iter().map(|_| Row(Vec::new())).collect();
    let mut index = 0u32;
    read(data, |row| {
        if let (Some(place), Ok(turns)) = (places.get(&index), turns(row, filter, most)) {
            rows[*place] = Row(turns);
        }
        index += 1;
    })?;
    Ok(rows)
}

fn reasons(dropped: &BTreeMap<Drop, usize>) -> String {
    if dropped.is_empty() {
        return "none was dropped".into();
    }
    let counts = dropped
        .iter()
        .map(|(why, count)| format!("{count} {}", name(*why)));
    format!("dropped: {}", counts.collect::<Vec<_>>().join(", "))
}

/// Draws rows without replacement until there are sessions and requests enough; `None` when they run out.
fn choose(usable: &mut [(u32, u32)], seed: u64, wanted: Wanted) -> Option<Vec<u32>> {
    let mut draws = Draws::new(seed);
    let mut chosen = Vec::new();
    let mut requests = 0;
    while chosen.len() < wanted.sessions || requests < wanted.requests {
        let next = chosen.len();
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
fn turns(row: &Value, filter: &ShareGptFilter, most: usize) -> Result<Vec<(String, String)>, Drop> {
    let said = row
        .as_object()
        .map(|row| row.get("conversations").and_then(Value::as_array));
    let said = said.map(|said| said.map(Vec::as_slice).unwrap_or_default());
    let first_two = said.map(|said| {
        said.iter()
            .take(2)
            .map(|turn| (role(turn), tokens(text(turn))))
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
        context += user + answer;
        human(&pair[0]) && !human(&pair[1]) && context <= filter.max_total && user > 0 && answer > 0
    };
    let pairs = said.chunks_exact(2).take(most).take_while(fits);
    let pairs: Vec<_> = pairs
        .map(|pair| (text(&pair[0]).to_owned(), text(&pair[1]).to_owned()))
        .collect();
    if pairs.is_empty() {
        Err(Drop::NoTurns)
    } else {
        Ok(pairs)
    }
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
fn tokens(text: &str) -> u32 {
    (text.split_whitespace().count() as f64 * TOKENS_PER_WORD).ceil() as u32
}

/// Conversations as scripts, each begun with words of its own.
pub(super) fn scripts(rows: Vec<Row>, think: Nanos, seed: u64) -> Vec<Script> {
    let words = Words::new();
    let script = |(index, Row(turns)): (usize, Row)| {
        let own = words.text(&mut Draws::new(derive(seed, &[index as u64])), OWN_WORDS);
        let line = |(turn, (user, answer)): (usize, (String, String))| {
            let user = if turn == 0 {
                format!("{own} {user}")
            } else {
                user
            };
            Line {
                lengths: TurnLengths {
                    user: tokens(&user),
                    answer: tokens(&answer),
                    think,
                },
                user,
                answer,
            }
        };
        Script {
            turns: turns.into_iter().enumerate().map(line).collect(),
        }
    };
    rows.into_iter().enumerate().map(script).collect()
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
    let unreadable = |cause| PromptError::Unreadable {
        path: data.named.clone(),
        cause,
    };
    let file = File::open(&data.at).map_err(unreadable)?;
    let progress = Progress::default();
    let file = Bounded {
        file: BufReader::with_capacity(1 << 20, file),
        progress: &progress,
    };
    let mut json = serde_json::Deserializer::from_reader(file);
    let rows = Rows {
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
        true => unreadable(error.into()),
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

struct Rows<'a, F> {
    on: F,
    progress: &'a Progress,
}

impl<'de, F: FnMut(&Value)> DeserializeSeed<'de> for Rows<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, F: FnMut(&Value)> Visitor<'de> for Rows<'_, F> {
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
