//! The form that finds studies: a plain one, whose answer is the same page with another address.

use super::{Asked, Start, Values};
use crate::ui::html::{Html, html};

/// Where a study may stand, as the address names it.
const STATES: [&str; 7] = [
    "queued",
    "running",
    "waiting",
    "finished",
    "stopped",
    "interrupted",
    "failed",
];

/// The form, and what it is set to.
pub fn form(start: &Start) -> Html {
    let Start { asked, values, .. } = start;
    let set = asked.named().iter().skip(1).any(|it| !it.1.is_empty());
    let open = set.then(|| Html::literal(" open"));
    let kinds: Html = values.iter().filter_map(|it| kind(it, asked)).collect();
    html!(
        r#"<search><form method="get" action="/" id="filters" autocomplete="off"><input type="search" name="q" aria-label="Search studies" placeholder="Search name, tag, engine or model" value="{}" autocomplete="off"><details{}><summary>Filter</summary><div class="kinds" data-keep>{}{}{}{}<button class="button">Apply</button></div></details>{}</form></search>"#,
        asked.q,
        open,
        kinds,
        state(asked),
        day("from", "Made from", &asked.from),
        day("to", "Made until", &asked.to),
        chips(asked)
    )
}

fn label(kind: &str) -> &str {
    match kind {
        "engine" => "Engine",
        "model" => "Model",
        "hardware" => "Hardware",
        "tag" => "Tag",
        "author" => "Author",
        other => other,
    }
}

fn kind((kind, values): &Values, asked: &Asked) -> Option<Html> {
    let chosen = asked.value(kind);
    if values.is_empty() && chosen.is_empty() {
        return None;
    }
    let known = values.iter().any(|(value, _)| value == chosen);
    let other = (!known && !chosen.is_empty()).then(|| option(chosen, chosen, chosen));
    let options: Html = values
        .iter()
        .map(|(value, studies)| option(value, &format!("{value} ({studies})"), chosen))
        .collect();
    Some(select(kind, label(kind), html!("{}{}", other, options)))
}

fn state(asked: &Asked) -> Html {
    let options = STATES.iter().map(|it| option(it, it, &asked.state));
    select("state", "State", options.collect())
}

fn select(name: &str, label: &str, options: Html) -> Html {
    html!(
        r#"<div class="field"><label for="by-{}">{}</label><select id="by-{}" name="{}"><option value="">any</option>{}</select></div>"#,
        name,
        label,
        name,
        name,
        options
    )
}

fn option(value: &str, text: &str, chosen: &str) -> Html {
    let selected = (value == chosen).then(|| Html::literal(" selected"));
    html!(r#"<option value="{}"{}>{}</option>"#, value, selected, text)
}

fn day(name: &str, label: &str, value: &str) -> Html {
    html!(
        r#"<div class="field"><label for="by-{}">{}</label><input type="date" id="by-{}" name="{}" value="{}"></div>"#,
        name,
        label,
        name,
        name,
        value
    )
}

/// What is set, each with the way to take it back.
fn chips(asked: &Asked) -> Html {
    let set = asked.named().into_iter().skip(1);
    let set = set.filter(|(_, value)| !value.is_empty());
    set.map(|(name, value)| {
        html!(
            r#"<a class="chip" href="{}" aria-label="Take {} {} back">{} {} <span aria-hidden="true">×</span></a>"#,
            asked.without(name),
            name,
            value,
            name,
            value
        )
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_with_their_counts_and_what_is_chosen_stays() {
        let start = Start {
            asked: Asked {
                engine: "vLLM".into(),
                tag: "gone".into(),
                ..Asked::default()
            },
            values: vec![
                ("engine", vec![("vLLM".into(), 12), ("SGLang".into(), 3)]),
                ("model", Vec::new()),
                ("tag", Vec::new()),
            ],
            ..Start::default()
        };
        let text = form(&start).into_string();
        for part in [
            r#"<option value="vLLM" selected>vLLM (12)</option>"#,
            r#"<option value="SGLang">SGLang (3)</option>"#,
            r#"<option value="gone" selected>gone</option>"#,
            r#"<details open>"#,
            r#"href="/?tag=gone""#,
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(!text.contains("by-model"), "{text}");
    }
}
