//! Why is it slow, what speaks against that, and which knob first.
//!
//! A cause is a rule: conditions over the client's own records, the engine's page and what the hardware allows, each with a
//! threshold that a reader can check by hand (docs/diagnosis.md lists them). A rule is *shown* when all that it needs is seen,
//! *ruled out* when one of it is seen not to be, and else *possible* or *cannot tell*, with the metric that is missing. What a rule advises is
//! one knob, and what must happen when it is turned: [`check_prediction`] says afterwards whether it did.

mod client; // what the records tell
mod condition; // one threshold
mod engine; // what the engine's page tells
mod gaps; // what a stream more costs
mod paired; // the same, pair by pair
mod plateau; // how many streamed at once
mod prediction; // what must happen when the knob is turned
mod rules; // cause by cause
mod said; // causes, findings, the answer
mod sorted; // values in order of size
mod streams; // requests beside one another
mod turn; // knobs, by what they mean

pub use paired::check_paired;
pub use prediction::{
    Came, Change, Figure, Measured, Outcome, Prediction, Tally, check_prediction,
};
pub use said::{Answer, Cause, Diagnosis, Finding, Standing};
pub use turn::{Advice, Turn};

use crate::certificate::{Certificate, certify};
use crate::evidence::Evidence;
use crate::request::RequestRecord;
use crate::summary::{Capacity, Summary};
use crate::units::{Nanos, three_digits};

/// Fewer answered requests have no tail to speak of.
const FEWEST: usize = 40;
/// Beyond this share of failures their cause comes first.
const FAILED: f64 = 0.1;

/// What the hardware allows, as somebody states it: by data sheets and what well-tuned kernels reach of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Theory {
    /// The shortest step: all weights read once, the devices agreed, the next step begun.
    pub step: Nanos,
    /// What each sequence more adds to a step, beside reading its cache.
    pub sequence: Nanos,
    /// Reading the cache of one token.
    pub cached_token: Nanos,
    /// Computing one token of a prompt.
    pub prompt_token: Nanos,
}

/// What is known of a point.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    /// Its requests, warm-up left out, in any order.
    pub records: &'a [RequestRecord],
    /// Their summary.
    pub summary: &'a Summary,
    /// Whether the client was innocent.
    pub client: &'a Certificate,
    /// What was seen beside the requests.
    pub evidence: Option<&'a Evidence>,
    /// What the hardware allows.
    pub theory: Option<Theory>,
    /// Turns that are made already, by the engine's own account of its settings.
    pub made: &'a [Turn],
    /// The most requests that the engine runs at once, by the same account.
    pub slots: Option<u32>,
}

/// All figures that rules look at.
struct Figures<'a> {
    client: client::Client,
    engine: Option<engine::Engine>,
    /// The client's verdict on itself alone.
    own: Certificate,
    case: Case<'a>,
}

/// What is wrong at this point, if anything.
pub fn diagnose(case: Case<'_>) -> Diagnosis {
    let figures = Figures {
        client: client::Client::of(&case),
        engine: engine::Engine::of(&case),
        own: certify(case.records, case.client.client),
        case,
    };
    let findings = rules::all(&figures);
    Diagnosis {
        version: 1,
        answer: answer(&figures, &findings),
        findings,
    }
}

fn answer(figures: &Figures, findings: &[Finding]) -> Answer {
    if let Some(why) = nothing_to_go_by(figures) {
        return Answer::CannotTell { why };
    }
    let standing = |standing| findings.iter().filter(move |it| it.standing == standing);
    if let Some(first) = standing(Standing::Shown).next() {
        return Answer::Named { cause: first.cause };
    }
    let mut open: Vec<&str> = standing(Standing::CannotTell)
        .map(|it| it.cause.title())
        .collect();
    let possible: Vec<Cause> = standing(Standing::Possible).map(|it| it.cause).collect();
    // More arrives than can be served, whatever makes that little: alone it accuses nobody while that is open.
    if !possible.is_empty() && (possible != [Cause::AboveCapacity] || open.is_empty()) {
        return Answer::OneOf { causes: possible };
    }
    open.extend(possible.iter().map(|it| it.title()));
    let mut why = symptoms(figures);
    if let Some(first) = why.first_mut().filter(|_| possible.is_empty()) {
        *first = format!("No rule explains it: {first}");
    }
    if !open.is_empty() {
        why.push(format!("Neither shown nor ruled out: {}.", open.join(", ")));
    }
    if why.is_empty() {
        Answer::NothingToMend
    } else {
        Answer::CannotTell { why }
    }
}

/// Why no rule may speak.
fn nothing_to_go_by(figures: &Figures) -> Option<Vec<String>> {
    let summary = figures.case.summary;
    let failed = f64::from(summary.failed) / f64::from(summary.scheduled.max(1));
    if FAILED < failed && !matches!(summary.capacity, Capacity::Above { .. }) {
        let share = three_digits(100.0 * failed);
        return Some(vec![format!(
            "{share} % of the requests failed: what fails comes before what is slow."
        )]);
    }
    let answered = figures.client.answered;
    (answered < FEWEST).then(|| {
        vec![format!(
            "{answered} answered requests are too few; {FEWEST} are needed."
        )]
    })
}

/// What anybody would call slow, whatever causes it.
fn symptoms(figures: &Figures) -> Vec<String> {
    let client = &figures.client;
    let mut symptoms = Vec::new();
    let mut tail = |name: &str, spread: &client::Spread, from: f64| {
        if let Some(times) = spread.tail().filter(|times| from <= *times) {
            let times = three_digits(times);
            symptoms.push(format!("{name} p99 is {times} times its p50."));
        }
    };
    tail("TTFT", &client.ttft, 8.0);
    tail("TPOT", &client.tpot, 1.5);
    if let Capacity::Above { why } = &figures.case.summary.capacity {
        symptoms.push(format!("The point lies above capacity: {why}."));
    }
    symptoms
}

#[cfg(test)]
mod tests;
