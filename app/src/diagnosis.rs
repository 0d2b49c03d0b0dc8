//! Why a point is slow, as the pages show it: drawn by the server, as the evidence is.

mod tried; // predictions, and what became of them
mod why; // on a study's page

pub use tried::{Foretold, RuleRecord, Tried};
pub use why::{Chosen, ConfigurationWhy, StudyWhy, Why, that_matters, why_panel};

use measure::diagnose::{Advice, Answer, Cause, Diagnosis, Finding, Standing};

use serde::Serialize;

use crate::ui::html::{Html, heads, html, table};
use crate::words;

/// A flag of the engine, and what a study that turns it starts from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FlagView {
    /// Its name, without dashes.
    pub name: String,
    /// What it is now, where anybody knows.
    pub now: Option<String>,
    /// What to set it to; none where that depends.
    pub value: Option<String>,
    /// A new study that turns this knob alone; none where there is no value to start from.
    pub link: Option<String>,
}

/// A diagnosis with what the point's engine calls the first knob.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DiagnosisView {
    /// What was found.
    #[serde(flatten)]
    pub diagnosis: Diagnosis,
    /// The first knob of the cause that is named, where this engine has it.
    pub flag: Option<FlagView>,
    /// Where it is from what the hardware allows, in a sentence; none where nobody states which it is.
    pub hardware: Option<String>,
}

/// The whole panel of a point.
pub fn panel(view: &DiagnosisView) -> String {
    let DiagnosisView {
        diagnosis,
        flag,
        hardware,
    } = view;
    let named = diagnosis.named();
    let advice = named.and_then(|it| it.advice.as_ref());
    html!(
        r#"<section class="stack diagnosis"><h2>Diagnosis</h2>{}{}{}{}{}{}</section>"#,
        answer(&diagnosis.answer),
        besides(diagnosis).map(|it| html!("<p>{}</p>", it)),
        advice.map(|it| first_knob(it, flag.as_ref())),
        named.map(evidence),
        hardware
            .as_ref()
            .map(|it| html!(r#"<p class="small muted">{}</p>"#, it)),
        all(&diagnosis.findings),
    )
    .into_string()
}

fn answer(answer: &Answer) -> Html {
    let notice =
        |tone: &str, text: String| html!(r#"<p class="notice" data-tone="{}">{}</p>"#, tone, text);
    match answer {
        Answer::Named { cause } => {
            let title = words::capital(cause.title());
            notice("warn", format!("{title}. {}", cause.about()))
        }
        Answer::OneOf { causes } => notice("info", one_of(causes)),
        Answer::NothingToMend => html!("<p>Nothing to mend: every cause is ruled out.</p>"),
        Answer::CannotTell { why } => {
            let why: Html = why.iter().map(|it| html!("<li>{}</li>", it)).collect();
            html!("<p>Cannot tell.</p><ul>{}</ul>", why)
        }
    }
}

/// Causes that are possible, and why no more is said.
pub fn one_of(causes: &[Cause]) -> String {
    match causes {
        [only] => format!(
            "Possible: {}. What would show it or rule it out was not told.",
            only.title()
        ),
        _ => {
            let titles: Vec<&str> = causes.iter().copied().map(Cause::title).collect();
            format!(
                "One of these, and what would tell them apart was not told: {}.",
                titles.join(", ")
            )
        }
    }
}

/// Other causes that are shown as well, in a sentence.
pub fn besides(diagnosis: &Diagnosis) -> Option<String> {
    let others = diagnosis.shown_besides();
    let titles: Vec<&str> = others.iter().copied().map(Cause::title).collect();
    (!titles.is_empty()).then(|| format!("Shown as well: {}.", titles.join(", ")))
}

/// What to turn first, and what must happen then.
fn first_knob(advice: &Advice, flag: Option<&FlagView>) -> Html {
    let called = flag.map(|it| {
        let now = it.now.as_ref().map(|now| format!(", now {now}"));
        let to = it.value.as_ref().map(|value| format!(", try {value}"));
        html!(
            " (<code>{}</code>{}{})",
            it.name,
            now.unwrap_or_default(),
            to.unwrap_or_default()
        )
    });
    let prediction = advice
        .prediction
        .map(|it| html!("<p>If that is the cause: {}</p>", it.sentence()));
    let link = flag.and_then(|it| it.link.as_ref()).map(|link| {
        html!(
            r#"<p class="row"><a class="button" rel="external" href="{}">New study that flips this knob alone</a></p>"#,
            link
        )
    });
    html!(
        "<p><strong>First:</strong> {}{}.</p>{}{}",
        advice.turn.words(),
        called,
        prediction,
        link
    )
}

fn evidence(finding: &Finding) -> Html {
    let list = |heading: &str, lines: &[String]| {
        (!lines.is_empty()).then(|| {
            let lines: Html = lines.iter().map(|it| html!("<li>{}</li>", it)).collect();
            html!("<h3>{}</h3><ul>{}</ul>", heading, lines)
        })
    };
    html!(
        "{}{}{}",
        list("Speaks for it", &finding.speaks_for),
        list("Speaks against it", &finding.speaks_against),
        list("Not told", &finding.missing)
    )
}

/// Every cause, with what rules it out.
fn all(findings: &[Finding]) -> Html {
    let lines = |lines: &[String]| lines.join("; ");
    let row = |it: &Finding| {
        html!(
            r#"<tr><th scope="row">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>"#,
            words::capital(it.cause.title()),
            standing(it.standing),
            lines(&it.speaks_for),
            lines(&it.speaks_against),
            lines(&it.missing)
        )
    };
    html!(
        r#"<details><summary>Every cause, and what rules it out</summary><div class="scroll-x" tabindex="0">{}</div></details>"#,
        table(
            "",
            "Causes of this point's latencies",
            heads(["cause", "stands", "for", "against", "not told"]),
            findings.iter().map(row).collect()
        )
    )
}

fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::Shown => "shown",
        Standing::Possible => "possible",
        Standing::CannotTell => "cannot tell",
        Standing::RuledOut => "ruled out",
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use measure::diagnose::{Change, Figure, Prediction, Turn};

    /// The answer of [`view`]'s finding.
    pub fn named() -> Answer {
        Answer::Named {
            cause: Cause::TooLittleConcurrency,
        }
    }

    /// A diagnosis with one finding.
    pub fn view(answer: Answer) -> DiagnosisView {
        let finding = Finding {
            cause: Cause::TooLittleConcurrency,
            standing: Standing::Shown,
            speaks_for: vec!["waits: <97> %".into()],
            speaks_against: Vec::new(),
            missing: vec!["load: not told".into()],
            advice: Some(Advice {
                turn: Turn::RaiseConcurrentSequences,
                prediction: Some(Prediction {
                    figure: Figure::TtftP50,
                    change: Change::FallsBy(0.5),
                }),
            }),
        };
        DiagnosisView {
            diagnosis: Diagnosis {
                version: 1,
                answer,
                findings: vec![finding],
            },
            flag: Some(FlagView {
                name: "max-num-seqs".into(),
                now: Some("4".into()),
                value: Some("16".into()),
                link: Some("/studies/new?from=x&flip=0:max-num-seqs=16".into()),
            }),
            hardware: Some("By the data sheet.".into()),
        }
    }

    #[test]
    fn the_cause_its_evidence_and_the_flag_stand_there() {
        let html = panel(&view(named()));
        for part in [
            "Too little concurrency. All places are taken",
            "waits: &lt;97&gt; %",
            "load: not told",
            "By the data sheet.",
            "(<code>max-num-seqs</code>, now 4, try 16)",
            "If that is the cause: TTFT p50 falls by at least 50.0 %.",
            r#"href="/studies/new?from=x&amp;flip=0:max-num-seqs=16""#,
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    #[test]
    fn where_nothing_is_named_no_knob_is_advised() {
        let html = panel(&view(Answer::CannotTell {
            why: vec!["Too few.".into()],
        }));
        assert!(html.contains("<p>Cannot tell.</p><ul><li>Too few.</li></ul>"));
        assert!(!html.contains("First:"), "{html}");
        let html = panel(&view(Answer::NothingToMend));
        assert!(html.contains("Nothing to mend") && !html.contains("First:"));
    }
}
