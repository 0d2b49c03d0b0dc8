//! Fields for the knobs of an engine: what each takes, what it does to the curve, what stands where nothing is set.

use measure::knobs::Knobs;

use super::parts::{Control, Field, folded};
use crate::pages::ROOM;
use crate::studio::{KnobKind, KnobRow, LaunchSheet};
use crate::ui::html::{Html, html};
use crate::words;

/// So many stand in sight; a few more are not worth folding away.
const SHOWN: usize = 6;
const FEW: usize = 12;

/// The simulator's.
pub fn of_simulator(knobs: &[KnobRow]) -> String {
    html!("{}{}", controls("", knobs), whole(None)).into_string()
}

/// Those of an engine that the studio starts, and flags that its catalogue does not know: those that are `stated` already,
/// and room for more.
pub fn of_engine(engine: &str, launch: &LaunchSheet, stated: &Knobs) -> String {
    let unknown = stated
        .keys()
        .filter(|name| launch.knobs.iter().all(|it| it.name != **name));
    let unknown: Html = unknown.map(|name| flag(engine, name)).collect();
    let hint = if launch.free_flags {
        "One name=value a line. Each is handed on unchecked and marked as unknown to the catalogue."
    } else {
        "One name=value a line. This engine takes none: its launch template in studio.toml would have to say free_flags = true."
    };
    html!(
        "{}{}{}{}",
        controls(engine, &launch.knobs),
        unknown,
        folded("Flags that are not in the catalogue", lines("Flags", hint)),
        facts()
    )
    .into_string()
}

/// Those of an engine that the studio does not start can only be declared.
pub fn of_others() -> String {
    let hint = "One name=value a line, as the engine's flags are called. What you type here is marked as declared.";
    html!("{}{}", lines("Knobs", hint), facts()).into_string()
}

fn controls(engine: &str, knobs: &[KnobRow]) -> Html {
    let shown = if knobs.len() <= FEW {
        knobs.len()
    } else {
        SHOWN
    };
    let (first, rest) = knobs.split_at(shown);
    let columns = |knobs: &[KnobRow]| {
        let fields: Html = knobs.iter().map(|it| field(engine, it)).collect();
        html!(r#"<div class="columns wide">{}</div>"#, fields)
    };
    let rest =
        (!rest.is_empty()).then(|| folded(&format!("{} more knobs", rest.len()), columns(rest)));
    html!("{}{}", columns(first), rest)
}

/// Where a knob of an engine stands in the draft: each engine has its own.
fn place(engine: &str, knob: &str) -> String {
    format!("configurations{ROOM}.knobs.{engine}\t{knob}")
}

fn id(knob: &str) -> String {
    format!("configurations{ROOM}.knobs.{knob}")
}

fn field(engine: &str, knob: &KnobRow) -> Html {
    let about = format!("{}.", words::capital(knob.about.trim_end_matches('.')));
    let field = Field {
        id: id(&knob.name),
        place: place(engine, &knob.name),
        label: &knob.name,
        hint: html!(r#"{} <span class="limits">{}</span>"#, about, limits(knob)),
        control: control(knob),
        ..Field::named("")
    };
    field.draw()
}

/// A flag that came with the study.
fn flag(engine: &str, name: &str) -> Html {
    let field = Field {
        id: id(name),
        place: place(engine, name),
        label: name,
        hint: html!("Not in the catalogue."),
        control: Control::line("text", ""),
        ..Field::named("")
    };
    field.draw()
}

/// Default, range and age, as far as they are known.
fn limits(knob: &KnobRow) -> String {
    let default = knob.default.as_ref().map(|it| format!("Default: {it}."));
    let range = knob.range.map(|(min, max)| format!("From {min} to {max}."));
    let since = knob.since.as_ref().map(|it| format!("Since {it}."));
    let all = [default, range, since].into_iter().flatten();
    all.collect::<Vec<_>>().join(" ")
}

fn control(knob: &KnobRow) -> Control {
    let unset = match &knob.default {
        Some(default) => format!("default ({default})"),
        None => "default".into(),
    };
    let one_of = |choices: &[String]| {
        let choices = choices.iter().map(|it| (it.clone(), it.clone()));
        let unset = (String::new(), unset.clone());
        Control::Choice(std::iter::once(unset).chain(choices).collect())
    };
    match knob.kind {
        KnobKind::Switch => one_of(&["on".into(), "off".into()]),
        KnobKind::Choice => one_of(&knob.choices),
        KnobKind::Whole => Control::line("numeric", &unset),
        KnobKind::Fraction => Control::line("decimal", &unset),
        KnobKind::Text => Control::line("text", &unset),
    }
}

/// Knobs as lines; what is wrong with all of them together stands there.
fn lines(label: &str, hint: &str) -> Html {
    let field = Field {
        id: format!("configurations{ROOM}.knobs"),
        place: format!("configurations{ROOM}.declared"),
        label,
        hint: html!("{}", hint),
        control: Control::Area("max-num-seqs=64".into()),
        ..Field::named("")
    };
    field.draw()
}

/// What is wrong with all knobs together, where there are no lines.
fn whole(text: Option<&str>) -> Html {
    let id = format!("configurations{ROOM}.knobs");
    html!(
        r#"<div class="field"><input type="hidden" {}="" id="{}"><p class="error" id="{}-error" hidden>{}</p></div>"#,
        Html::literal(crate::pages::PLACE),
        id,
        id,
        text
    )
}

/// What else is declared of the engine.
fn facts() -> Html {
    let field = Field {
        id: format!("configurations{ROOM}.declared"),
        place: format!("configurations{ROOM}.facts"),
        label: "Facts",
        hint: html!(
            "One name=value a line, beside its hardware: what the engine does not tell. Each is marked as declared."
        ),
        control: Control::Area("driver=580.65".into()),
        ..Field::named("")
    };
    folded("What else you know of the engine", field.draw())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knob(name: &str, kind: KnobKind) -> KnobRow {
        KnobRow {
            name: name.into(),
            kind,
            range: Some((0.05, 65536.0)),
            choices: vec!["a".into(), "<b>".into()],
            default: Some("4".into()),
            about: "most of something".into(),
            since: None,
        }
    }

    #[track_caller]
    fn check(kind: KnobKind, parts: &[&str]) {
        let html = field("llama", &knob("parallel", kind)).into_string();
        let id = "data-place=\"configurations[#].knobs.llama\tparallel\" id=\"configurations[#].knobs.parallel\"";
        let hint =
            "Most of something. <span class=\"limits\">Default: 4. From 0.05 to 65536.</span>";
        for part in parts.iter().chain(&[id, hint]) {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    #[test]
    fn each_kind_has_its_control() {
        check(KnobKind::Whole, &[r#"inputmode="numeric""#]);
        check(KnobKind::Fraction, &[r#"inputmode="decimal""#]);
        let switch = r#"<option value="">default (4)</option><option value="on">on</option>"#;
        check(KnobKind::Switch, &["<select", switch]);
        check(KnobKind::Choice, &[r#"<option value="&lt;b&gt;">"#]);
        check(KnobKind::Text, &[r#"placeholder="default (4)""#]);
    }

    #[test]
    fn many_knobs_are_folded_after_the_first_ones() {
        let knobs: Vec<KnobRow> = (0..40)
            .map(|index| knob(&format!("k{index}"), KnobKind::Whole))
            .collect();
        assert!(of_simulator(&knobs).contains("34 more knobs"));
        assert!(!of_simulator(&knobs[..12]).contains("<details"));
    }

    #[test]
    fn a_flag_that_the_catalogue_does_not_know_is_marked() {
        let launch = LaunchSheet {
            knobs: vec![knob("parallel", KnobKind::Whole)],
            ..LaunchSheet::default()
        };
        let stated = ["parallel", "own-flag"].map(|name| (name.to_owned(), "4".into()));
        let html = of_engine("llama", &launch, &stated.into());
        assert_eq!(html.matches("Not in the catalogue.").count(), 1, "{html}");
        assert!(
            html.contains("id=\"configurations[#].knobs.own-flag\""),
            "{html}"
        );
        assert!(html.contains("would have to say free_flags"), "{html}");
    }
}
