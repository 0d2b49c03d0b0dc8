//! Fields of the new study's form: the knobs of each engine, what holds for all configurations, what rarely needs a thought.

mod knobs; // by an engine's catalogue
mod parts; // a field, a fold
mod workload; // a workload's numbers

use std::collections::BTreeMap;

use measure::knobs::Knobs;
use measure::study::{EngineSpec, StudySpec, Turn};

use super::engines::in_short;
use crate::pages::{ROOM, ROOM_OF_PLACE, drawn_key};
use crate::studio::{Engines, KnobRow};
use crate::ui::html::{Html, html};
use parts::{Control, Field};

/// Everything that is drawn for the form, by its key.
pub fn for_form(
    spec: &StudySpec,
    simulator: &[KnobRow],
    engines: &Engines,
) -> BTreeMap<String, String> {
    let mut drawn = BTreeMap::from([
        (drawn_key("knobs", ""), knobs::of_simulator(simulator)),
        (drawn_key("elsewhere", ""), knobs::of_others()),
        (
            drawn_key("presets", ""),
            super::presets::drawn(engines.sheets.len()),
        ),
        (drawn_key("rules", ""), rules()),
        (drawn_key("hardware", ""), hardware()),
        (drawn_key("more", ""), more()),
    ]);
    drawn.extend(workload::all());
    for sheet in &engines.sheets {
        let name = &sheet.row.name;
        if let Some(launch) = &sheet.launch {
            let knobs = knobs::of_engine(name, launch, &stated(spec, name));
            drawn.insert(drawn_key("knobs", name), knobs);
            let about = in_short(sheet, engines.no_starts.as_deref());
            drawn.insert(drawn_key("about", name), about);
        }
    }
    drawn
}

/// All knobs that a study states for an engine.
fn stated(spec: &StudySpec, engine: &str) -> Knobs {
    let own = matches!(&spec.engine, EngineSpec::Managed { name } if name == engine);
    let on_it = |turn: &Turn| match turn {
        Turn::Managed { name } => name == engine,
        Turn::AsIs => own,
        _ => false,
    };
    let configurations = spec.configurations.iter().filter(|it| on_it(&it.turn));
    configurations.flat_map(|it| it.knobs.clone()).collect()
}

/// What holds for all configurations together.
fn rules() -> String {
    let factorial = Field {
        label: "How variants differ from the baseline",
        hint: html!(
            "Factorial lets one turn several knobs at once. No difference between two such curves has one cause, so their comparison says “confounded” and gives no verdict."
        ),
        control: Control::choices(&[("", "In one knob"), ("on", "Factorial: in several knobs")]),
        ..Field::named("factorial")
    };
    let on_failure = Field {
        label: "When an engine does not start, or ends under load",
        hint: html!("What was finished stays either way, and Resume tries the rest again."),
        control: Control::choices(&[
            ("", "Stop the study"),
            ("continue", "Go on with the next point"),
        ]),
        ..Field::named("on_failure")
    };
    html!(
        r#"<div class="columns wide"><div class="of-several">{}</div><div class="of-started">{}</div></div>"#,
        factorial.draw(),
        on_failure.draw()
    )
    .into_string()
}

/// What an engine runs on. Where it stands is put in by the form.
fn hardware() -> String {
    let field = Field {
        id: format!("{ROOM}.hardware"),
        place: format!("{ROOM_OF_PLACE}.hardware"),
        label: "Hardware",
        hint: html!(
            "What it runs on, where the engine does not tell it. It is kept with every configuration, marked as declared."
        ),
        control: Control::line("text", "such as 1x H100 SXM"),
        ..Field::named("")
    };
    field.draw().into_string()
}

/// What rarely needs a thought.
fn more() -> String {
    let field = |id: &str, label, (keyboard, unit), hint: &str| {
        let place = id.strip_suffix("_ms").unwrap_or(id);
        let field = Field {
            id: id.to_owned(),
            place: place.to_owned(),
            label,
            hint: html!("{}", hint),
            control: Control::line(keyboard, ""),
            unit,
            also: "",
        };
        field.draw()
    };
    let fields: Html = [
        field(
            "warmup",
            "Warm-up",
            ("numeric", "requests"),
            "Before each point, with prompts of their own.",
        ),
        field(
            "seed",
            "Seed",
            ("numeric", ""),
            "Same seed, same prompts and starts, for ever.",
        ),
        field(
            "repeats",
            "Repeats",
            ("numeric", ""),
            "How often each rate is measured.",
        ),
        field(
            "idle_timeout_ms",
            "Idle timeout",
            ("decimal", "s"),
            "A stream silent for so long has failed.",
        ),
        field(
            "drain_ms",
            "Drain",
            ("decimal", "s"),
            "Wait so long for what is in flight after the last arrival.",
        ),
        field(
            "ramp_in_ms",
            "Ramp-in",
            ("decimal", "s"),
            "Requests due so early in a point are in no figure, while the engine fills up.",
        ),
    ]
    .into_iter()
    .collect();
    html!(
        r#"<div class="columns">{}{}</div>"#,
        fields,
        author().draw()
    )
    .into_string()
}

/// Who measures.
fn author() -> Field<'static> {
    Field {
        label: "Author",
        hint: html!("Who measures it: studies can be found by it. Kept as declared."),
        control: Control::line("text", "such as Ada"),
        ..Field::named("author")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_names_its_place_in_the_draft() {
        let drawn = more();
        for part in [
            r#"data-place="idle_timeout" id="idle_timeout_ms""#,
            r#"data-place="seed" id="seed""#,
            r#"<span class="unit">requests</span>"#,
            r#"inputmode="decimal""#,
        ] {
            assert!(drawn.contains(part), "{part}: {drawn}");
        }
        assert!(rules().contains(r#"data-place="factorial" id="factorial""#));
        assert!(hardware().contains(r#"data-place="[@].hardware" id="[#].hardware""#));
    }

    #[test]
    fn a_study_states_knobs_for_the_engines_it_starts() {
        let mut spec = StudySpec::goodput_exercise();
        assert!(stated(&spec, "llama").is_empty());
        spec.engine = EngineSpec::Managed {
            name: "llama".into(),
        };
        spec.configurations[1].turn = Turn::Managed {
            name: "vllm".into(),
        };
        spec.configurations[1].knobs = [("max-num-seqs".to_owned(), "4".into())].into();
        assert_eq!(stated(&spec, "vllm").len(), 1);
        assert!(!stated(&spec, "llama").contains_key("max-num-seqs"));
    }
}
