//! What a copy of a study changes of it: one thing, or the difference has more than one possible cause.

use crate::ui::erased::{Erase, shared};
use leptos::prelude::*;
use measure::study::StudySpec;

use super::form::Form;
use super::sentence::listed;
use super::spoken::spoken;

/// Says what is changed, while it is typed; nothing where the study is no copy.
#[component]
pub fn Changed(
    /// The form.
    form: Form,
    /// What it is a copy of.
    of: Option<StudySpec>,
) -> impl IntoView {
    let Some(of) = of else {
        return ().erased();
    };
    let said = move || {
        let changed = form
            .spec
            .with(|spec| Some(spec.as_ref().ok()?.changed_from(&of)));
        changed.map(|fields| {
            let (tone, text) = told(&fields, &of.name);
            view! { <p class="notice small" data-tone=tone>{text}</p> }
        })
    };
    view! { <div aria-live="polite">{shared(said)}</div> }.erased()
}

/// The tone and the words.
fn told(fields: &[&str], name: &str) -> (&'static str, String) {
    let names: Vec<String> = fields.iter().map(|field| spoken(field)).collect();
    let names = listed(&names);
    match fields.len() {
        0 => (
            "plain",
            format!(
                "A copy of “{name}”. Nothing is changed yet: measured again, it shows how much a repeat varies."
            ),
        ),
        1 => (
            "plain",
            format!(
                "Changed from “{name}”: {names}, and nothing else. What differs has one cause."
            ),
        ),
        many => (
            "warn",
            format!(
                "Changed from “{name}”: {names}. Of {many} things none can be named the cause of a difference."
            ),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_has_one_cause() {
        let (tone, text) = told(&["levels"], "a");
        assert_eq!(
            (tone, text),
            (
                "plain",
                "Changed from “a”: Rates, and nothing else. What differs has one cause.".to_owned()
            )
        );
        let (tone, text) = told(&["slo", "seed"], "a");
        assert_eq!(tone, "warn");
        assert!(text.contains("SLO and Seed. Of 2 things"), "{text}");
    }
}
