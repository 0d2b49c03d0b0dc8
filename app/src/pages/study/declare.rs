//! What an engine did not tell, typed in by a person once the study has ended.

use std::collections::BTreeMap;

use crate::ui::erased::Erase;
use crate::ui::reactive::memo;
use leptos::prelude::*;
use measure::knobs::{AUTHOR, Source};
use wasm_bindgen::JsCast;

use super::Page;
use super::controls::{act, id};
use crate::api::edit_study;
use crate::live::is_live;
use crate::studio::{ConfigurationView, StudyEdit, StudyView};
use crate::ui::html::{Html, html};
use crate::ui::toast::toasts;

/// The form, as long as something is unknown that its owner may know.
#[component]
pub fn Declare(page: Page) -> impl IntoView {
    let names = memo(move || page.known.with(unknown));
    let fields = memo(move || names.with(|names| fields(names).into_string()));
    let hidden = move || {
        let closed = |study: &StudyView| is_live(study.state) || !study.imported.is_empty();
        names.with(Vec::is_empty) || !page.is_owner() || page.known.with(closed)
    };
    let messages = toasts();
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let declared = names.with_untracked(|names| typed(names));
        if declared.is_empty() {
            return messages.say("Nothing was typed in.");
        }
        let edit = StudyEdit {
            declared,
            ..StudyEdit::default()
        };
        act(
            page,
            "Kept, marked as declared.",
            edit_study(id(page), edit),
        );
    };
    view! { <form class="declare" data-keep="" aria-label="What the engine does not tell" hidden=hidden on:submit=submit inner_html=move || fields.get()></form> }
    .erased()
}

/// Facts that should be known and that nobody told, sorted.
fn unknown(study: &StudyView) -> Vec<String> {
    let sources = |name: &str| {
        let facts = study.configurations.iter();
        let facts = facts.filter_map(|it| it.facts.get(name));
        facts.map(|fact| fact.source).collect::<Vec<_>>()
    };
    let facts = study.configurations.iter().flat_map(|it| it.facts.keys());
    let mut names: Vec<String> = facts
        .filter(|name| {
            let sources = sources(name);
            sources.contains(&Source::Unknown) && !sources.contains(&Source::Engine)
        })
        .cloned()
        .collect();
    names.sort();
    names.dedup();
    // Who measured it is no fact of an engine, so nobody is asked for it.
    let told = |it: &ConfigurationView| it.facts.contains_key(AUTHOR);
    if !study.configurations.iter().any(told) {
        names.insert(0, AUTHOR.to_owned());
    }
    names
}

fn fields(names: &[String]) -> Html {
    let field = |name: &String| {
        html!(
            r#"<div class="field"><label for="declare-{}">{}</label><input id="declare-{}" type="text" maxlength="200" autocomplete="off" placeholder="unknown"></div>"#,
            name,
            crate::words::capital(name),
            name
        )
    };
    let all: Html = names.iter().map(field).collect();
    html!(
        r#"<p>Nobody has told this yet. What you know is kept for every configuration, marked as declared.</p><div class="columns">{}</div><div><button class="button">Declare</button></div>"#,
        all
    )
}

/// What was typed into the fields.
fn typed(names: &[String]) -> BTreeMap<String, String> {
    let value = |name: &String| {
        let field = document().get_element_by_id(&format!("declare-{name}"))?;
        let field: web_sys::HtmlInputElement = field.dyn_into().ok()?;
        let value = field.value().trim().to_owned();
        (!value.is_empty()).then(|| (name.clone(), value))
    };
    names.iter().filter_map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use measure::knobs::Fact;

    #[test]
    fn what_nobody_told_is_asked_for_and_nothing_else() {
        let mut study = fixture::study();
        let fact = |source| Fact {
            value: "x".into(),
            source,
        };
        for (name, sources) in [
            ("hardware", [Source::Unknown, Source::Unknown]),
            ("driver", [Source::Declared, Source::Unknown]),
            ("version", [Source::Engine, Source::Unknown]),
            ("quantization", [Source::Declared, Source::Declared]),
        ] {
            for (one, source) in study.configurations.iter_mut().zip(sources) {
                one.facts.insert(name.into(), fact(source));
            }
        }
        let names = unknown(&study);
        assert_eq!(names, ["author", "driver", "hardware"]);
        for one in &mut study.configurations {
            one.facts.insert(AUTHOR.into(), fact(Source::Declared));
        }
        assert_eq!(unknown(&study), ["driver", "hardware"]);
        let html = fields(&names).into_string();
        assert!(
            html.contains(r#"<label for="declare-driver">Driver</label>"#),
            "{html}"
        );
    }
}
