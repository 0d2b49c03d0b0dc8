//! Fields that the server draws: knobs by an engine's catalogue, and those that need no component. What is typed goes into
//! the draft by the place that a field names, and what stands in the draft into the fields.

use crate::ui::erased::Erase;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlInputElement};

use super::form::Form;
use super::keep;

/// The attribute that names a field's place in the draft. The field's id follows it.
pub const PLACE: &str = "data-place";
/// The attribute that names another field of a study whose errors a field shows.
pub const ALSO: &str = "data-also";
/// Where the server leaves room for what is known here only: an index, or what a field's id begins with.
pub const ROOM: &str = "[#]";
/// The same for the beginning of a place.
pub const ROOM_OF_PLACE: &str = "[@]";

/// Where something drawn stands; for an engine by its name, which is empty for the simulator.
pub fn drawn_key(what: &str, engine: &str) -> String {
    format!("{what}:{engine}")
}

/// The ids of the fields in a drawn form.
fn ids(drawn: &str) -> Vec<String> {
    let pieces = drawn.split(PLACE).skip(1);
    let ids = pieces.filter_map(|piece| piece.split('"').nth(3));
    ids.map(str::to_owned).collect()
}

/// The fields.
#[component]
pub fn Drawn(
    /// The form.
    form: Form,
    /// As the server drew them.
    html: String,
) -> impl IntoView {
    let ids = ids(&html);
    let typed = move |event: leptos::ev::Event| {
        let control: HtmlInputElement = event_target(&event);
        if let Some(place) = control.get_attribute(PLACE) {
            form.set(place, control.value());
        }
    };
    Effect::new(move |awake: Option<()>| {
        let texts = form.draft.with(keep::texts);
        for id in &ids {
            let Some(element) = document().get_element_by_id(id) else {
                continue;
            };
            // Selects and text areas have their values as inputs have.
            let control: &HtmlInputElement = element.unchecked_ref();
            let place = control.get_attribute(PLACE).unwrap_or_default();
            let value = texts.get(&place).map_or("", String::as_str);
            let shown = control.value();
            if awake.is_none() && !shown.is_empty() {
                // What was typed before the page woke up wins.
                form.set(place, shown);
            } else if shown != value {
                control.set_value(value);
            }
            let also = control.get_attribute(ALSO).unwrap_or_default();
            let wrong = form
                .error_at(&[id.clone(), also])
                .or_else(|| form.refused_below(id));
            if !value.is_empty() || wrong.is_some() {
                unfold(&element);
            }
            complain(&element, id, wrong);
        }
    });
    view! { <div class="stack" inner_html=html on:input=typed></div> }.erased()
}

/// Opens what an element is folded away in.
pub fn unfold(element: &Element) {
    if let Ok(Some(details)) = element.closest("details.more") {
        // It fails only for a malformed name.
        let _ = details.set_attribute("open", "");
    }
}

/// Shows what is wrong with a control, or that nothing is.
fn complain(control: &Element, id: &str, wrong: Option<String>) {
    // Nothing here fails for names that are well formed.
    let _ = control.set_attribute(
        "aria-invalid",
        if wrong.is_some() { "true" } else { "false" },
    );
    if let Some(line) = document().get_element_by_id(&format!("{id}-error")) {
        line.set_text_content(wrong.as_deref());
        let _ = line.toggle_attribute_with_force("hidden", wrong.is_none());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_a_form_are_found_by_their_ids() {
        let drawn = format!(
            r#"<input type="text" {PLACE}="seed" id="seed" name="seed"><select {PLACE}="a &quot;b" id="c"></select>"#
        );
        assert_eq!(ids(&drawn), ["seed", "c"]);
        assert!(ids("<p>nothing</p>").is_empty());
    }
}
