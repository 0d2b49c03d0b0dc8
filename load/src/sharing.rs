//! What requests share with those before them: the longest beginning of each prompt that was sent before, by the text.
//!
//! It is worked out after a point, from the bodies that were sent, so that every workload is judged alike: conversations
//! that grow, families behind one system prompt, rows of a file that begin alike or are used twice.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use measure::evidence::{Readings, Shared, USUAL_BLOCK};
use measure::request::RequestRecord;
use serde_json::Value;

use crate::plan::{Body, InputTokens, LengthSource, Made, PlannedRequest, PointPlan};

/// Texts are compared in pieces of so many bytes.
const PIECE: usize = 16;
/// Tokens of a chat template that nobody counted: of those in use some have a date and a greeting.
const USUAL_TEMPLATE: u32 = 40;
/// Most text that is compared: beyond it the time after a point would be long.
const MOST_BYTES: usize = 64 << 20;

/// The prompts of a point, kept until after it.
#[derive(Debug)]
pub struct Sharing {
    prompts: Vec<Prompt>,
    /// Tokens asked of each request of the warm-up.
    pub warmup: Vec<u32>,
}

#[derive(Debug)]
struct Prompt {
    session: u32,
    turn: u32,
    body: Body,
    input_tokens: u32,
    /// Tokens of the turn before, with its answer.
    before: u32,
}

impl Sharing {
    /// Of a plan. Bodies are shared with it, not copied.
    pub fn of(plan: &PointPlan) -> Self {
        let turns = plan.sessions.iter().flat_map(|session| {
            let before = session
                .turns
                .iter()
                .map(|it| it.input_tokens + it.output_tokens);
            let before = std::iter::once(0).chain(before);
            session.turns.iter().zip(before)
        });
        let mut prompts: Vec<Prompt> = turns
            .map(|(turn, before)| Prompt::of(turn, before))
            .collect();
        // Turn by turn: a conversation's own earlier turns come before its later ones.
        prompts.sort_by_key(|prompt| prompt.turn);
        Self {
            prompts,
            warmup: plan.warmup.iter().map(|it| it.output_tokens).collect(),
        }
    }

    /// What the requests that were sent can share at most, in the blocks that the engine tells of itself. Whether it counts hits does not
    /// matter: the prompts were made here, and prompts that share nothing cannot be reused. None where there is too much text to compare.
    pub fn shared_by(
        &self,
        readings: &Readings,
        records: &[RequestRecord],
        made: &Made,
    ) -> Option<Shared> {
        let told = readings.block();
        let block = told.unwrap_or(USUAL_BLOCK);
        self.shared(records, (block, told.is_some()), template(made, records))
    }

    /// What the requests that were sent can share at most, in blocks of so many tokens; `template` are the tokens that
    /// the chat template puts before each prompt at most. None where there is too much text to compare.
    pub fn shared(
        &self,
        records: &[RequestRecord],
        (block, block_known): (u32, bool),
        template: u32,
    ) -> Option<Shared> {
        let sent: HashSet<(u32, u32)> = records
            .iter()
            .filter(|record| record.sent.is_some())
            .map(|record| (record.session, record.turn))
            .collect();
        let block = block.max(1);
        let mut seen = HashSet::new();
        let (mut input_tokens, mut tokens, mut own_tokens, mut bytes) = (0u64, 0u64, 0u64, 0);
        for prompt in &self.prompts {
            if !sent.contains(&(prompt.session, prompt.turn)) {
                continue;
            }
            let own = prompt.shared(&mut seen, &mut bytes);
            if MOST_BYTES < bytes {
                return None;
            }
            // The last token of a prompt is computed in any case.
            let whole = (prompt.input_tokens + template).saturating_sub(1);
            let most = (own + template).min(whole);
            input_tokens += u64::from(prompt.input_tokens + template);
            tokens += u64::from(most / block * block);
            own_tokens += u64::from(own.min(most) / block * block);
        }
        Some(Shared {
            input_tokens,
            tokens,
            own_tokens,
            block,
            block_known,
        })
    }
}

/// Tokens that the chat template puts around a prompt, at most.
fn template(made: &Made, records: &[RequestRecord]) -> u32 {
    let exact = matches!(
        made.length_source,
        LengthSource::Tokenizer | LengthSource::Engine
    );
    let counted = InputTokens::of(records).filter(|_| exact);
    let counted = counted.map(|it| (it.counted.saturating_sub(it.meant) / it.requests) as u32);
    made.template_tokens.or(counted).unwrap_or(USUAL_TEMPLATE)
}

impl Prompt {
    fn of(turn: &PlannedRequest, before: u32) -> Self {
        Self {
            session: turn.request_id.session,
            turn: turn.request_id.turn,
            body: turn.body.clone(),
            input_tokens: turn.input_tokens,
            before,
        }
    }

    /// Tokens at its beginning that were sent before. Takes its own beginnings in.
    fn shared(&self, seen: &mut HashSet<u64>, bytes: &mut usize) -> u32 {
        if self.body.needs_answers() {
            // What the engine answered is in its cache as well.
            return self.before.min(self.input_tokens);
        }
        let text = text_of(&self.body.bytes());
        *bytes += text.len();
        let mut hash = DefaultHasher::new();
        let (mut common, mut is_common) = (0, true);
        for piece in text.as_bytes().chunks(PIECE) {
            piece.hash(&mut hash);
            let is_new = seen.insert(hash.finish());
            is_common &= !is_new;
            common += if is_common { piece.len() } else { 0 };
        }
        let per_byte = f64::from(self.input_tokens) / text.len().max(1) as f64;
        // A piece that is half alike counts as alike: this is the most that can be shared.
        let most = if common == 0 {
            0
        } else {
            (common + PIECE).min(text.len())
        };
        (most as f64 * per_byte).ceil() as u32
    }
}

/// All that a body says, in order; what is asked besides (lengths, seeds) is no prompt.
fn text_of(body: &[u8]) -> String {
    let mut text = String::new();
    if let Ok(body) = serde_json::from_slice(body) {
        for name in [
            "messages",
            "prompt",
            "inputs",
            "input",
            "text",
            "text_input",
        ] {
            collect(&body, name, &mut text);
        }
    }
    text
}

fn collect(body: &Value, name: &str, text: &mut String) {
    match &body[name] {
        Value::String(said) => text.push_str(said),
        Value::Array(parts) => parts.iter().for_each(|part| words(part, text)),
        Value::Object(_) => words(&body[name], text),
        _ => {}
    }
}

fn words(part: &Value, text: &mut String) {
    match part {
        Value::String(said) => {
            text.push_str(said);
            text.push('\u{1}');
        }
        Value::Array(parts) => parts.iter().for_each(|part| words(part, text)),
        Value::Object(fields) => {
            let said = fields
                .iter()
                .filter(|(name, _)| !matches!(name.as_str(), "role" | "type"));
            said.for_each(|(_, part)| words(part, text));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
