//! What the engine's usage tells of lengths: two short requests before everything else, of a few and of many words.
//!
//! The slope is the tokens of a word; what is left at no words is the chat template's share, the mark at a prompt's
//! beginning included. With a tokenizer at hand the words are counted, and one figure remains to be found.

use std::sync::Arc;
use std::time::Duration;

use measure::sampling::Draws;
use measure::study::Endpoint;
use measure::summary::Discipline;
use measure::units::Nanos;
use tokio_util::sync::CancellationToken;

use super::Counter;
use crate::dialect::{self, Message, Quirks};
use crate::plan::{Made, PlannedRequest, PlannedSession, PointPlan, RequestId};
use crate::prompts::Words;
use crate::{Engine, run_point};

/// Words of the two requests: enough for a factor that is good to some percent, short enough for any context.
const WORDS: [u32; 2] = [16, 400];
/// The stream of their words; they occur in no prompt that is measured.
const STREAM: u64 = 0x746f_6b65_6e73;
/// An engine that does not answer two short requests in this time will tell nothing.
const PATIENCE: Duration = Duration::from_secs(15);

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// Tokens of a made-up word.
    pub per_word: f64,
    /// Tokens that the chat template adds to a prompt of one message.
    pub template_tokens: u32,
}

/// Asks the engine; `None` where it does not say how long prompts were. `counter` counts the words, where there is one.
pub async fn calibrate(
    engine: &Engine,
    endpoint: &Endpoint,
    quirks: Quirks,
    counter: Option<&Counter>,
) -> Option<Calibration> {
    let texts = texts();
    let mut seen = ask(engine, plan(endpoint, quirks, &texts)?).await?;
    if seen.len() < WORDS.len() {
        // The second is lost at an engine that closes the first's connection unsaid; the next time that is known.
        seen = ask(engine, plan(endpoint, quirks, &texts)?).await?;
    }
    let [few, many] = seen.as_slice() else {
        return None;
    };
    let between = f64::from(WORDS[1] - WORDS[0]);
    let per_word = (many - few) / between;
    let counted = counter.filter(|counter| counter.is_exact());
    let counted = counted.map(|counter| counter.count(&texts));
    let content = match counted {
        Some(counts) => f64::from(*counts.ok()?.first()?),
        None => per_word * f64::from(WORDS[0]),
    };
    // An engine that clips or makes up its counts says nothing.
    let sane = (0.5..=8.0).contains(&per_word);
    sane.then_some(Calibration {
        per_word,
        template_tokens: (few - content).round().max(0.0) as u32,
    })
}

/// The lengths of prompts by the engine's count, as far as it answers.
async fn ask(engine: &Engine, plan: PointPlan) -> Option<Vec<f64>> {
    let run = run_point(engine, plan, Arc::new(()), CancellationToken::new());
    let run = tokio::time::timeout(PATIENCE, run).await.ok()?.ok()?;
    let counts = run.records.iter().filter_map(|record| record.prompt_tokens);
    Some(counts.map(f64::from).collect())
}

fn texts() -> [String; 2] {
    let words = Words::new();
    let mut draws = Draws::new(STREAM);
    WORDS.map(|count| {
        let mut text = String::new();
        words.write(&mut draws, count, &mut text);
        text
    })
}

fn plan(endpoint: &Endpoint, quirks: Quirks, texts: &[String; 2]) -> Option<PointPlan> {
    let session = |(index, text): (usize, &String)| {
        let messages = [Message {
            role: "user",
            content: text,
        }];
        let body = dialect::body(endpoint.api, &endpoint.model, &messages, 1, quirks).ok()?;
        let request = PlannedRequest {
            request_id: RequestId {
                prefix: "calibration".into(),
                session: index as u32,
                turn: 0,
            },
            body: body.into(),
            input_tokens: WORDS[index],
            output_tokens: 1,
            think: Nanos::ZERO,
            not_before: Nanos::ZERO,
        };
        Some(PlannedSession {
            start: Nanos::ZERO,
            turns: vec![request],
        })
    };
    Some(PointPlan {
        sessions: texts
            .iter()
            .enumerate()
            .map(session)
            .collect::<Option<_>>()?,
        discipline: Discipline::ClosedLoop,
        concurrency: Some(1),
        until: None,
        warmup: Vec::new(),
        drain: PATIENCE,
        made: Made::default(),
    })
}
