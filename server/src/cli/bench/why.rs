//! Why the run is slow, in the lines that stand below the block.

use app::diagnosis::{DiagnosisView, FlagView, besides, one_of};
use load::Probe;
use measure::diagnose::{Answer, Case, Finding, diagnose};
use measure::evidence::Evidence;
use measure::knobs::{Fact, Facts, Source};
use measure::request::RequestRecord;
use serde_json::{Value, json};

use super::report::Report;
use crate::studio::diagnosis::Engine;

/// A diagnosis, where one was asked for.
pub(super) struct Why(Option<DiagnosisView>);

impl Why {
    /// Of the requests that are counted, what was made of them, what was seen beside them, and what the engine says of itself.
    pub(super) fn of(
        asked: bool,
        records: &[RequestRecord],
        report: &Report,
        (evidence, probe): (Option<&Evidence>, Option<&Probe>),
    ) -> Self {
        if !asked {
            return Self(None);
        }
        let engine = Engine::told(probe.map(facts).unwrap_or_default());
        let diagnosis = diagnose(Case {
            records,
            summary: report.summary(),
            client: report.certificate(),
            evidence,
            theory: engine.theory(),
            made: &engine.made(),
            slots: engine.slots(),
        });
        let advice = diagnosis.named().and_then(|it| it.advice.as_ref());
        Self(Some(DiagnosisView {
            flag: advice.and_then(|it| engine.flag(it.turn)),
            hardware: engine.hardware(),
            diagnosis,
        }))
    }

    /// As scripts read it: what the API gives for a point; `None` where nobody asked.
    pub(super) fn json(&self) -> Option<Value> {
        self.0.as_ref().map(|it| json!(it))
    }

    /// For people, line by line.
    pub(super) fn lines(&self) -> Vec<String> {
        let Some(view) = &self.0 else {
            return Vec::new();
        };
        let mut lines = vec!["Diagnosis:".to_owned()];
        let mut say = |text: &str| lines.push(format!("  {text}"));
        match &view.diagnosis.answer {
            Answer::Named { cause } => {
                say(&format!("{}. {}", cause.title(), cause.about()));
                besides(&view.diagnosis).iter().for_each(|it| say(it));
            }
            Answer::OneOf { causes } => {
                say(&one_of(causes));
            }
            Answer::NothingToMend => say("Nothing to mend: every cause is ruled out."),
            Answer::CannotTell { why } => {
                say("Cannot tell.");
                why.iter().for_each(|it| say(it));
            }
        }
        let named = view.diagnosis.named();
        lines.extend(named.iter().flat_map(|it| of_cause(it, view)));
        lines
    }
}

/// What speaks for a cause and against it, what was not told, and what to turn.
fn of_cause(finding: &Finding, view: &DiagnosisView) -> Vec<String> {
    let each = |lead: &str, all: &[String]| -> Vec<String> {
        all.iter().map(|it| format!("  {lead:<14} {it}")).collect()
    };
    let mut lines = each("for:", &finding.speaks_for);
    lines.extend(each("against:", &finding.speaks_against));
    lines.extend(each("not told:", &finding.missing));
    if let Some(advice) = &finding.advice {
        let called = view.flag.as_ref().map(called).unwrap_or_default();
        lines.push(format!(
            "  {:<14} {}{called}",
            "first:",
            advice.turn.words()
        ));
        let prediction = advice.prediction.iter();
        lines.extend(prediction.map(|it| format!("  {:<14} {}", "then:", it.sentence())));
    }
    lines.extend(view.hardware.iter().map(|it| format!("  {it}")));
    lines
}

/// ` (max-num-seqs, now 4, try 16)`
fn called(flag: &FlagView) -> String {
    let FlagView {
        name, now, value, ..
    } = flag;
    let now = now.as_ref().map(|it| format!(", now {it}"));
    let to = value.as_ref().map(|it| format!(", try {it}"));
    format!(
        " ({name}{}{})",
        now.unwrap_or_default(),
        to.unwrap_or_default()
    )
}

/// What an engine says of itself, its name among it.
fn facts(probe: &Probe) -> Facts {
    let mut facts = probe.facts.clone();
    let engine = Fact {
        value: probe.engine.clone(),
        source: Source::Engine,
    };
    facts.insert("engine".to_owned(), engine);
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::bench::report::tests::record;
    use measure::request::Outcome;
    use measure::summary::Discipline;
    use measure::units::Nanos;

    fn why(asked: bool, late: Nanos) -> Why {
        let records: Vec<_> = (0..60)
            .map(|index| {
                let mut record = record(index, Outcome::Ok);
                record.sent = record.sent.map(|it| it + late);
                record
            })
            .collect();
        let report = Report::of(&records, Default::default(), Discipline::OpenLoop, None);
        Why::of(asked, &records, &report, (None, None))
    }

    #[test]
    fn a_client_that_is_late_is_named_with_its_figures() {
        let why = why(true, Nanos::from_millis(300));
        let text = why.lines().join("\n");
        for part in ["Diagnosis:\n  client-bound. ", "for:", "first:", "then:"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let json = why.json().expect("it was asked for");
        assert_eq!(json["answer"]["cause"], "client_bound");
    }

    #[test]
    fn nothing_is_said_where_nobody_asked() {
        let why = why(false, Nanos::ZERO);
        assert_eq!((why.lines().len(), why.json()), (0, None));
    }
}
