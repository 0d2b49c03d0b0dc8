//! A label, a control, a hint, an error: bound together for eyes and for screen readers.

use crate::ui::erased::{Erase, shared};
use crate::ui::reactive::memo;
use leptos::html;
use leptos::prelude::*;

use super::bind::{Bind, follow_area, follow_input};

/// An error shown at a field; `None` where all is well.
pub type FieldErrorText = Signal<Option<String>>;

/// The frame around one control. The control carries `id`, `aria-describedby=described_by(id)` and `aria-invalid`.
#[component]
pub fn Field(
    /// The control's id.
    #[prop(into)]
    id: String,
    /// What the control asks.
    #[prop(into)]
    label: String,
    /// One sentence of help.
    #[prop(into, optional)]
    hint: String,
    /// What is wrong with it now.
    #[prop(into, optional)]
    error: FieldErrorText,
    /// The control.
    children: Children,
) -> impl IntoView {
    let (hint_id, error_id) = (format!("{id}-hint"), format!("{id}-error"));
    let no_hint = hint.is_empty();
    view! {
        <div class="field">
            <label for=id>{label}</label>
            {children()}
            <p class="error" id=error_id hidden=move || error.get().is_none()>
                {shared(move || error.get().unwrap_or_default())}
            </p>
            <p class="hint" id=hint_id hidden=no_hint>
                {hint}
            </p>
        </div>
    }
    .erased()
}

/// What describes the control `id`: its error, then its hint.
pub fn described_by(id: &str) -> String {
    format!("{id}-error {id}-hint")
}

/// A line of text. Its value survives what a person typed before the page woke up.
#[component]
pub fn TextField(
    /// The control's id and name.
    #[prop(into)]
    id: String,
    /// What it asks.
    #[prop(into)]
    label: String,
    /// Its value.
    bind: Bind<String>,
    /// One sentence of help.
    #[prop(into, optional)]
    hint: String,
    /// What is wrong with it now.
    #[prop(into, optional)]
    error: FieldErrorText,
    /// Unit shown inside the field, at its end.
    #[prop(into, optional)]
    unit: String,
    /// `text`, `url`, ...
    #[prop(default = "text")]
    kind: &'static str,
    /// The keyboard that a phone shows.
    #[prop(default = "text")]
    keyboard: &'static str,
    /// An example.
    #[prop(into, optional)]
    placeholder: String,
    /// Id of a `<datalist>` with suggestions.
    #[prop(into, optional)]
    list: Option<String>,
) -> impl IntoView {
    let node = NodeRef::<html::Input>::new();
    follow_input(node, bind);
    let (name, describes) = (id.clone(), described_by(&id));
    let has_unit = !unit.is_empty();
    view! {
        <Field id=id.clone() label hint error>
            <span class:with-unit=has_unit>
                <input
                    node_ref=node
                    id=id
                    name=name
                    type=kind
                    inputmode=keyboard
                    placeholder=placeholder
                    list=list
                    autocomplete="off"
                    spellcheck="false"
                    value=bind.get.get_untracked()
                    aria-describedby=describes
                    aria-invalid=move || error.get().is_some().to_string()
                    on:input=move |event| bind.set.run(event_target_value(&event))
                />
                {has_unit.then(|| view! { <span class="unit">{unit}</span> })}
            </span>
        </Field>
    }
    .erased()
}

/// Several lines of text.
#[component]
pub fn AreaField(
    /// The control's id and name.
    #[prop(into)]
    id: String,
    /// What it asks.
    #[prop(into)]
    label: String,
    /// Its value.
    bind: Bind<String>,
    /// One sentence of help.
    #[prop(into, optional)]
    hint: String,
    /// What is wrong with it now.
    #[prop(into, optional)]
    error: FieldErrorText,
    /// Rows shown.
    #[prop(default = 3)]
    rows: u32,
    /// An example.
    #[prop(into, optional)]
    placeholder: String,
) -> impl IntoView {
    let node = NodeRef::<html::Textarea>::new();
    follow_area(node, bind);
    let (name, describes) = (id.clone(), described_by(&id));
    view! {
        <Field id=id.clone() label hint error>
            <textarea
                node_ref=node
                id=id
                name=name
                rows=rows
                placeholder=placeholder
                spellcheck="false"
                aria-describedby=describes
                aria-invalid=move || error.get().is_some().to_string()
                on:input=move |event| bind.set.run(event_target_value(&event))
            >
                {bind.get.get_untracked()}
            </textarea>
        </Field>
    }
    .erased()
}

/// One of several named values.
#[component]
pub fn SelectField(
    /// The control's id and name.
    #[prop(into)]
    id: String,
    /// What it asks.
    #[prop(into)]
    label: String,
    /// Its value.
    bind: Bind<String>,
    /// Value and text of each choice.
    #[prop(into)]
    options: Signal<Vec<(String, String)>>,
    /// One sentence of help.
    #[prop(into, optional)]
    hint: String,
    /// What is wrong with it now.
    #[prop(into, optional)]
    error: FieldErrorText,
) -> impl IntoView {
    let (name, describes) = (id.clone(), described_by(&id));
    let choice = move |(value, text): (String, String)| {
        let (marked, shown) = (bind.get.get_untracked() == value, value.clone());
        let chosen = memo(move || bind.get.get() == value);
        view! {
            <option value=shown selected=marked prop:selected=move || chosen.get()>
                {text}
            </option>
        }
    };
    view! {
        <Field id=id.clone() label hint error>
            <select
                id=id
                name=name
                aria-describedby=describes
                aria-invalid=move || error.get().is_some().to_string()
                on:change=move |event| bind.set.run(event_target_value(&event))
            >
                {shared(move || options.get().into_iter().map(choice).collect_view().erased())}
            </select>
        </Field>
    }
    .erased()
}

/// A switch with its label beside it.
#[component]
pub fn CheckField(
    /// The control's id and name.
    #[prop(into)]
    id: String,
    /// What it says when it is on.
    #[prop(into)]
    label: String,
    /// Its value.
    bind: Bind<bool>,
) -> impl IntoView {
    let (name, labelled) = (id.clone(), id.clone());
    view! {
        <label class="check" for=labelled>
            <input
                id=id
                name=name
                type="checkbox"
                checked=bind.get.get_untracked()
                prop:checked=move || bind.get.get()
                on:change=move |event| bind.set.run(event_target_checked(&event))
            />
            <span>{label}</span>
        </label>
    }
    .erased()
}
