//! A JSONL file of prompts: a line is `{"prompt": "..."}` or `{"messages": [{"role", "content"}]}`, perhaps with
//! `output_tokens` (or `max_tokens`).
//!
//! Read twice, as ShareGPT is: the first pass counts and checks the lines, the seed chooses, the second keeps the text of
//! the chosen ones.

use std::collections::{BTreeMap, HashMap};

use measure::sampling::{Draws, derive};
use measure::units::Nanos;
use measure::workload::{Lengths, TurnLengths};
use serde::Deserialize;

use super::dataset::{DataSet, Enough};
use super::script::{Line, Piece, Said, Script};
use super::sharegpt::{OWN_WORDS, tokens, tokens_of_words};
use super::{Found, PromptError, Rows, Session, Wanted, purpose};

/// A line as it is written.
#[derive(Deserialize)]
pub(super) struct PromptLine {
    prompt: Option<String>,
    messages: Option<Vec<MessageLine>>,
    #[serde(alias = "max_tokens", alias = "max_completion_tokens")]
    output_tokens: Option<u32>,
}

#[derive(Deserialize)]
pub(super) struct MessageLine {
    role: String,
    content: String,
}

/// What a prompt says: messages by role.
pub(super) type Messages = Vec<(&'static str, Box<str>)>;

/// The messages of a line, from either of its forms.
pub(super) fn messages(
    prompt: Option<String>,
    messages: Option<Vec<MessageLine>>,
) -> Result<Messages, String> {
    let said = match (prompt, messages) {
        (Some(prompt), None) => vec![("user", prompt.into_boxed_str())],
        (None, Some(messages)) => {
            let said = messages.into_iter().map(|message| {
                Ok::<_, String>((role(&message.role)?, message.content.into_boxed_str()))
            });
            said.collect::<Result<_, _>>()?
        }
        (Some(_), Some(_)) => return Err("has both a prompt and messages; keep one".into()),
        (None, None) => return Err("has neither a prompt nor messages; give it one".into()),
    };
    if said.iter().all(|(_, text)| text.trim().is_empty()) {
        return Err("says nothing; take the line out".into());
    }
    Ok(said)
}

fn role(name: &str) -> Result<&'static str, String> {
    ["system", "developer", "user", "assistant", "tool"]
        .into_iter()
        .find(|role| *role == name)
        .ok_or_else(|| {
            format!("has a message of role {name:?}; roles are system, developer, user, assistant and tool")
        })
}

/// A point's sessions, from lines that the seed chooses.
pub(super) fn sessions(
    data: &DataSet,
    output: Option<&Lengths>,
    repeats: bool,
    seed: u64,
    wanted: Wanted,
) -> Result<Found, PromptError> {
    let mut lines = Vec::new();
    read(data, |number, line| {
        if line.output_tokens.is_none() && output.is_none() {
            return Err(data.wrong(number, NO_LENGTH));
        }
        lines.push(number);
        Ok(())
    })?;
    let usable = lines.len();
    let chosen = choose(&mut lines, derive(seed, &[purpose::ROWS]), wanted, repeats);
    let Some(chosen) = chosen else {
        return Err(PromptError::TooFewPrompts {
            path: data.named.clone(),
            usable,
            needed: wanted.sessions.max(wanted.requests),
        });
    };
    let used = chosen.len().min(usable);
    let rows = Rows {
        usable,
        used,
        repeats: chosen.len() - used,
        turns_left_out: 0,
        dropped: BTreeMap::new(),
    };
    Ok(Found {
        sessions: chosen_sessions(data, output, seed, &chosen)?,
        rows: Some(rows),
    })
}

const NO_LENGTH: &str =
    "says nothing of output_tokens; add the field, or give output lengths for all lines";

/// Line numbers, drawn without replacement; anew in another order where they run out and may be repeated.
fn choose(lines: &mut [u64], seed: u64, wanted: Wanted, repeats: bool) -> Option<Vec<u64>> {
    let needed = wanted.sessions.max(wanted.requests).min(wanted.most);
    let enough = repeats && !lines.is_empty() || wanted.whatever && !lines.is_empty();
    if lines.len() < needed && !enough {
        return None;
    }
    let needed = if repeats {
        needed
    } else {
        needed.min(lines.len())
    };
    let mut draws = Draws::new(seed);
    let drawn = (0..needed).map(|place| {
        let next = place % lines.len();
        lines.swap(next, next + draws.below(lines.len() - next));
        lines[next]
    });
    Some(drawn.collect())
}

fn chosen_sessions(
    data: &DataSet,
    output: Option<&Lengths>,
    seed: u64,
    chosen: &[u64],
) -> Result<Vec<Session>, PromptError> {
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    for (place, line) in chosen.iter().enumerate() {
        places.entry(*line).or_default().push(place);
    }
    let mut draws = Draws::new(derive(seed, &[purpose::LENGTHS]));
    let drawn: Vec<u32> = chosen
        .iter()
        .map(|_| output.map_or(0, |output| output.draw(&mut draws)))
        .collect();
    let text = derive(seed, &[purpose::TEXT]);
    let mut sessions: Vec<Option<Session>> = chosen.iter().map(|_| None).collect();
    read(data, |number, line| {
        let said = messages(line.prompt, line.messages);
        let said = said.map_err(|why| data.wrong(number, why))?;
        for place in places.get(&number).into_iter().flatten() {
            let answer = line.output_tokens.unwrap_or(drawn[*place]);
            let stream = derive(text, &[*place as u64]);
            sessions[*place] = Some(single(&said, answer, stream).into());
        }
        Ok(())
    })?;
    Ok(sessions.into_iter().flatten().collect())
}

/// One request that says what a line says, after words of its own.
pub(super) fn single(said: &Messages, answer: u32, stream: u64) -> Script {
    let lengths = TurnLengths {
        user: said.iter().map(|(_, text)| tokens(text)).sum::<u32>()
            + tokens_of_words(OWN_WORDS as usize),
        answer: answer.max(1),
        think: Nanos::ZERO,
    };
    let said = said.iter().enumerate().map(|(place, (role, text))| {
        let given = Piece::Given(text.clone());
        let pieces: Box<[Piece]> = match place {
            0 => [Piece::Own(OWN_WORDS), given].into(),
            _ => [given].into(),
        };
        Said { role, pieces }
    });
    Script {
        stream,
        lines: vec![Line {
            lengths,
            history: 0,
            asks_history: false,
            said: said.collect(),
            answer: [].into(),
        }],
    }
}

/// Reads a whole file without choosing from it, and says where it is no file of prompts; how many lines it has.
pub(super) fn check(data: &DataSet) -> Result<u64, PromptError> {
    let mut lines = 0;
    read(data, |number, line| {
        let said = messages(line.prompt, line.messages);
        said.map_err(|why| data.wrong(number, why))?;
        lines += 1;
        Ok(())
    })?;
    Ok(lines)
}

/// Reads all lines, each checked as far as its form goes.
fn read(
    data: &DataSet,
    mut on: impl FnMut(u64, PromptLine) -> Result<(), PromptError>,
) -> Result<(), PromptError> {
    data.lines(|number, text| {
        let line: PromptLine = serde_json::from_str(text).map_err(|error| {
            let why = format!("is no prompt ({error}); write {{\"prompt\": \"...\"}} or {{\"messages\": [{{\"role\", \"content\"}}]}}");
            data.wrong(number, why)
        })?;
        if line.output_tokens == Some(0) {
            return Err(data.wrong(number, "asks for no output token; ask for at least 1"));
        }
        on(number, line)?;
        Ok(Enough::No)
    })
}
