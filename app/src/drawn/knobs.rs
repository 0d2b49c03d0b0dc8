//! Fields for the knobs of an engine: what each takes, what it does to the curve, what stands where nothing is set.

use crate::pages::{INDEX, KNOB};
use crate::studio::{KnobKind, KnobRow};
use crate::ui::html::{Html, html};
use crate::words;

/// So many stand in sight; a few more are not worth folding away.
const SHOWN: usize = 6;
const FEW: usize = 12;

/// The fields of a configuration whose index is still to be put in.
pub fn form(knobs: &[KnobRow]) -> String {
    let shown = if knobs.len() <= FEW {
        knobs.len()
    } else {
        SHOWN
    };
    let (first, rest) = knobs.split_at(shown);
    let folded = (!rest.is_empty()).then(|| {
        html!(
            r#"<details class="more"><summary>{} more knobs</summary><div class="columns wide">{}</div></details>"#,
            rest.len() as u32,
            fields(rest)
        )
    });
    html!(
        r#"<div class="columns wide">{}</div>{}"#,
        fields(first),
        folded
    )
    .into_string()
}

fn fields(knobs: &[KnobRow]) -> Html {
    knobs.iter().map(field).collect()
}

/// The twin of [`crate::ui::field::Field`].
fn field(knob: &KnobRow) -> Html {
    let id = format!("configurations{INDEX}.knobs.{}", knob.name);
    html!(
        r#"<div class="field"><label for="{}">{}</label>{}<p class="error" id="{}-error" hidden></p><p class="hint" id="{}-hint">{} <span class="limits">{}</span></p></div>"#,
        id,
        knob.name,
        control(knob, &id),
        id,
        id,
        sentence(&knob.about),
        limits(knob)
    )
}

fn sentence(about: &str) -> String {
    format!("{}.", words::capital(about.trim_end_matches('.')))
}

/// Default, range and age, as far as they are known.
fn limits(knob: &KnobRow) -> String {
    let default = knob.default.as_ref().map(|it| format!("Default: {it}."));
    let range = knob.range.map(|(min, max)| format!("From {min} to {max}."));
    let since = knob.since.as_ref().map(|it| format!("Since {it}."));
    let all = [default, range, since].into_iter().flatten();
    all.collect::<Vec<_>>().join(" ")
}

fn control(knob: &KnobRow, id: &str) -> Html {
    let on_off = ["on".to_owned(), "off".to_owned()];
    match knob.kind {
        KnobKind::Switch => select(knob, id, &on_off),
        KnobKind::Choice => select(knob, id, &knob.choices),
        KnobKind::Whole => input(knob, id, "numeric"),
        KnobKind::Fraction => input(knob, id, "decimal"),
        KnobKind::Text => input(knob, id, "text"),
    }
}

/// What a knob is where nobody sets it.
fn unset(knob: &KnobRow) -> String {
    match &knob.default {
        Some(default) => format!("default ({default})"),
        None => "default".into(),
    }
}

fn input(knob: &KnobRow, id: &str, keyboard: &str) -> Html {
    let Attributes(attributes) = Attributes::of(knob, id);
    html!(
        r#"<input type="text" inputmode="{}" placeholder="{}" autocomplete="off" spellcheck="false" {}>"#,
        keyboard,
        unset(knob),
        attributes
    )
}

fn select(knob: &KnobRow, id: &str, choices: &[String]) -> Html {
    let Attributes(attributes) = Attributes::of(knob, id);
    let choices: Html = choices
        .iter()
        .map(|it| html!(r#"<option value="{}">{}</option>"#, it, it))
        .collect();
    html!(
        r#"<select {}><option value="">{}</option>{}</select>"#,
        attributes,
        unset(knob),
        choices
    )
}

/// What every control carries.
struct Attributes(Html);

impl Attributes {
    fn of(knob: &KnobRow, id: &str) -> Self {
        Self(html!(
            r#"id="{}" name="{}" aria-describedby="{}-error {}-hint" {}="{}""#,
            id,
            id,
            id,
            id,
            Html::literal(KNOB),
            knob.name
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knob(name: &str, kind: KnobKind) -> KnobRow {
        KnobRow {
            name: name.into(),
            kind,
            range: None,
            choices: vec!["a".into(), "<b>".into()],
            default: Some("4".into()),
            about: "most of something".into(),
            since: None,
        }
    }

    #[track_caller]
    fn check(kind: KnobKind, parts: &[&str]) {
        let mut knob = knob("parallel", kind);
        knob.range = Some((0.05, 65536.0));
        let html = form(&[knob]);
        for part in parts {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    #[test]
    fn each_kind_has_its_control() {
        let id = r#"id="configurations[#].knobs.parallel""#;
        let limits =
            "Most of something. <span class=\"limits\">Default: 4. From 0.05 to 65536.</span>";
        check(KnobKind::Whole, &[id, r#"inputmode="numeric""#, limits]);
        check(KnobKind::Fraction, &[id, r#"inputmode="decimal""#]);
        check(
            KnobKind::Switch,
            &[
                id,
                "<select",
                r#"<option value="">default (4)</option><option value="on">on</option>"#,
            ],
        );
        check(KnobKind::Choice, &[id, r#"<option value="&lt;b&gt;">"#]);
        check(KnobKind::Text, &[id, r#"placeholder="default (4)""#]);
    }

    #[test]
    fn many_knobs_are_folded_after_the_first_ones() {
        let knobs: Vec<KnobRow> = (0..40)
            .map(|index| knob(&format!("k{index}"), KnobKind::Whole))
            .collect();
        assert!(form(&knobs).contains("34 more knobs"));
        assert!(!form(&knobs[..12]).contains("<details"));
    }
}
