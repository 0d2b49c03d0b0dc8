//! Predictions that studies were begun to try: what was said, what became of it, and how each rule has fared.

use measure::diagnose::{Came, Cause, Outcome, Prediction, Tally, Turn};
use measure::units::{Level, Nanos};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::ui::badge::{Tone, Word};
use crate::ui::html::{Html, badge, heads, html, table};
use crate::words;

/// What a diagnosis said would happen, kept with the study that was begun to try it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Foretold {
    /// The study of the point that was diagnosed.
    pub study: Uuid,
    /// That point.
    pub point: Uuid,
    /// Its level, at which the prediction is judged.
    pub level: Level,
    /// The rule that spoke.
    pub cause: Cause,
    /// What was to be turned.
    pub turn: Turn,
    /// What this engine calls it.
    pub knob: String,
    /// What it was, where anybody knew.
    pub was: Option<String>,
    /// What it was to become.
    pub value: String,
    /// What had to happen.
    pub prediction: Prediction,
}

/// A prediction and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tried {
    /// What was said.
    #[serde(flatten)]
    pub foretold: Foretold,
    /// What came; none before both configurations are finished.
    pub outcome: Option<Outcome>,
    /// Whether it came true by the figure's intervals; none likewise.
    pub verdict: Option<Came>,
}

impl Tried {
    /// Of a prediction, and of what came if anything did.
    pub fn of(foretold: Foretold, outcome: Option<Outcome>) -> Self {
        Self {
            foretold,
            verdict: outcome.map(|it| it.verdict()),
            outcome,
        }
    }
}

/// How a rule has fared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RuleRecord {
    /// The rule.
    pub cause: Cause,
    /// Its name for people.
    pub title: String,
    /// Its predictions that were tried.
    #[serde(flatten)]
    pub tally: Tally,
}

const TRUE: Word = Word {
    word: "true",
    tone: Tone::Good,
    mark: "full",
    about: "The figure's intervals lie on the right side of what was foretold.",
};
const NOT_TRUE: Word = Word {
    word: "not true",
    tone: Tone::Bad,
    mark: "hollow",
    about: "The figure's intervals lie on the wrong side of what was foretold.",
};
const CANNOT_TELL: Word = Word {
    word: "cannot tell",
    tone: Tone::Plain,
    mark: "hollow",
    about: "The figure's intervals reach over what was foretold, or one has no value.",
};
const OPEN: Word = Word {
    word: "open",
    tone: Tone::Plain,
    mark: "half",
    about: "Both configurations have to be finished first.",
};

/// What a study tries, and whether it came true.
pub(super) fn prediction(tried: &Tried, level: &str) -> Html {
    let Foretold {
        study,
        point,
        cause,
        knob,
        was,
        value,
        prediction,
        ..
    } = &tried.foretold;
    let word = match tried.verdict {
        None => OPEN,
        Some(Came::True) => TRUE,
        Some(Came::False) => NOT_TRUE,
        Some(Came::CannotTell) => CANNOT_TELL,
    };
    let from = was.as_ref().map(|was| format!(" from {was}"));
    let what = tried
        .outcome
        .as_ref()
        .map(|it| html!("<p>{}</p>", became(it, prediction)));
    html!(
        r#"<div class="stack tight"><h3>Did the prediction come true?</h3><p class="row">{}</p>{}<p class="small muted">Foretold by <a rel="external" href="/studies/{}/points/{}">a diagnosis</a> ({}) for {}: with <code>{}</code>{} to {}, {}</p></div>"#,
        badge(word),
        what,
        study.to_string(),
        point.to_string(),
        cause.title(),
        level,
        knob,
        from.unwrap_or_default(),
        value,
        prediction.sentence()
    )
}

/// What it was, is, and had to be.
fn became(outcome: &Outcome, prediction: &Prediction) -> String {
    let Outcome {
        before: Some(before),
        after: Some(after),
        bound: Some(bound),
        ..
    } = outcome
    else {
        return "The figure has no value on one side: that level was not measured in both, or too much failed."
            .to_owned();
    };
    let figure = prediction.figure.words();
    let asked = match prediction.change {
        measure::diagnose::Change::RisesBy(_) => "at least",
        _ => "at most",
    };
    let nearly = if outcome.sure {
        ""
    } else {
        " The intervals reach over that."
    };
    let paired = outcome.paired.map_or_else(String::new, |it| {
        format!(
            " Pair by pair it changed by {}, which is what judges.",
            words::difference(&it)
        )
    });
    let text = |time: &Nanos| time.to_string();
    format!(
        "{figure} was {} and is {}; it had to be {asked} {}.{nearly}{paired}",
        text(before),
        text(after),
        text(bound)
    )
}

/// How each rule's predictions have fared here; nothing where none was tried.
pub(super) fn record(rules: &[RuleRecord]) -> Option<Html> {
    let row = |rule: &RuleRecord| {
        let Tally {
            said,
            came_true,
            did_not,
            cannot_tell,
            open,
        } = rule.tally;
        html!(
            r#"<tr><th scope="row">{}</th><td class="num">{}</td><td class="num">{}</td><td class="num">{}</td><td class="num">{}</td><td class="num">{}</td></tr>"#,
            words::capital(&rule.title),
            said,
            came_true,
            did_not,
            cannot_tell,
            open
        )
    };
    (!rules.is_empty()).then(|| {
        let heads = heads(["rule", "#tried", "#true", "#not true", "#cannot tell", "#open"]);
        html!(
            r#"<details><summary>How the rules have fared here</summary><div class="scroll-x" tabindex="0">{}</div><p class="small muted">Predictions that a study of this studio was begun to try, each judged by the figure's intervals.</p></details>"#,
            table(
                "",
                "Predictions of each rule",
                heads,
                rules.iter().map(row).collect()
            )
        )
    })
}
