//! Fields for the knobs of an engine. The server draws them from the engine's catalogue; here what is typed goes into the
//! draft, and what stands in the draft into them.

use std::collections::BTreeMap;

use crate::ui::erased::Erase;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlInputElement};

use super::draft::Draft;
use super::form::Form;

/// Where the server leaves room for a configuration's index.
pub const INDEX: &str = "[#]";
/// The attribute that names a control's knob.
pub const KNOB: &str = "data-knob";

/// Where something drawn for an engine stands; the simulator's name is empty.
pub fn drawn_key(what: &str, engine: &str) -> String {
    format!("{what}:{engine}")
}

/// The knobs that a drawn form has fields for.
fn knob_names(drawn: &str) -> Vec<String> {
    let pieces = drawn.split(KNOB).skip(1);
    let names = pieces.filter_map(|piece| piece.split('"').nth(1));
    names.map(str::to_owned).collect()
}

/// Puts knobs that have no field among the flags that the catalogue does not know, where they can be seen.
pub fn sort_flags(draft: &mut Draft, drawn: &BTreeMap<String, String>) {
    for index in 0..draft.configurations.len() {
        let engine = draft.engine_of(&draft.configurations[index]);
        let Some(engine) = engine.filter(|it| !it.is_empty()).map(str::to_owned) else {
            continue;
        };
        let form = drawn.get(&drawn_key("knobs", &engine));
        let known = form.map(|it| knob_names(it)).unwrap_or_default();
        draft.configurations[index].set_apart(&engine, &known);
    }
}

/// The fields of one configuration.
#[component]
pub fn KnobForm(
    /// The form.
    form: Form,
    /// The configuration.
    index: usize,
    /// The engine; empty for the simulator.
    engine: String,
) -> impl IntoView {
    let drawn = form.drawn.with_value(|all| {
        let found = all.get(&drawn_key("knobs", &engine));
        found.cloned().unwrap_or_default()
    });
    let names = knob_names(&drawn);
    let html = drawn.replace(INDEX, &format!("[{index}]"));
    let engine = StoredValue::new(engine);
    let set = move |knob: &str, value: String| {
        form.draft.update(|draft| {
            if let Some(configuration) = draft.configurations.get_mut(index) {
                engine.with_value(|engine| configuration.set_knob(engine, knob, value));
            }
        });
    };
    let typed = move |event: leptos::ev::Event| {
        let control: HtmlInputElement = event_target(&event);
        if let Some(knob) = control.get_attribute(KNOB) {
            set(&knob, control.value());
        }
    };
    Effect::new(move |awake: Option<()>| {
        for knob in &names {
            let id = format!("configurations[{index}].knobs.{knob}");
            let Some(element) = document().get_element_by_id(&id) else {
                continue;
            };
            // A select has its value as an input has.
            let control: &HtmlInputElement = element.unchecked_ref();
            let value = form.draft.with(|draft| {
                let configuration = draft.configurations.get(index);
                engine.with_value(|engine| configuration.map(|it| it.knob(engine, knob)))
            });
            let (shown, value) = (control.value(), value.unwrap_or_default());
            if awake.is_none() && !shown.is_empty() {
                // What was typed before the page woke up wins.
                set(knob, shown);
            } else if shown != value {
                control.set_value(&value);
            }
            if !value.is_empty() {
                unfold(&element);
            }
            complain(&element, &id, form.error_at(std::slice::from_ref(&id)));
        }
    });
    view! { <div class="stack" inner_html=html on:input=typed></div> }.erased()
}

/// Opens what an element is folded away in.
pub fn unfold(element: &Element) {
    if let Ok(Some(details)) = element.closest("details") {
        // It fails only for a malformed name.
        let _ = details.set_attribute("open", "");
    }
}

/// Shows what is wrong with a control, or that nothing is.
fn complain(control: &Element, id: &str, wrong: Option<String>) {
    // Neither fails for names that are none of ours.
    let _ = control.set_attribute(
        "aria-invalid",
        if wrong.is_some() { "true" } else { "false" },
    );
    if let Some(line) = document().get_element_by_id(&format!("{id}-error")) {
        line.set_text_content(wrong.as_deref());
        let _ = match wrong {
            Some(_) => line.remove_attribute("hidden"),
            None => line.set_attribute("hidden", ""),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::super::draft::{ConfigurationDraft, EndpointDraft};
    use super::*;

    #[test]
    fn a_flag_without_a_field_goes_where_it_can_be_seen() {
        let drawn = format!(r#"<input {KNOB}="parallel"><select {KNOB}="flash-attn">"#);
        assert_eq!(knob_names(&drawn), ["parallel", "flash-attn"]);
        let mut configuration = ConfigurationDraft::default();
        for knob in ["parallel", "own-flag"] {
            configuration.set_knob("llama", knob, "4".into());
        }
        let mut draft = Draft {
            engine: "endpoint".into(),
            endpoint: EndpointDraft::managed("llama"),
            configurations: vec![configuration],
            ..Draft::default()
        };
        sort_flags(
            &mut draft,
            &BTreeMap::from([(drawn_key("knobs", "llama"), drawn)]),
        );
        let sorted = &draft.configurations[0];
        assert_eq!(sorted.knob("llama", "parallel"), "4");
        assert_eq!(sorted.knob("llama", "own-flag"), "");
        assert_eq!(sorted.declared, "own-flag=4");
    }
}
