//! What is compared: a baseline, and variants that each flip a knob.

use crate::ui::erased::{Erase, shared};
use crate::ui::reactive::{derived, memo};
use leptos::prelude::*;

use super::draft::{ConfigurationDraft, EndpointDraft};
use super::drawn::{Drawn, ROOM};
use super::engine::EndpointFields;
use super::form::Form;
use super::section::Section;
use super::sentence::knobs_words;
use super::shared::Engines;
use crate::ui::bind::Bind;
use crate::ui::field::{SelectField, TextField};

/// The section.
#[component]
pub fn ConfigurationsSection(
    /// The form.
    form: Form,
    /// Engines that were added.
    engines: Engines,
    /// Opens the dialog to add one.
    adding: RwSignal<bool>,
) -> impl IntoView {
    let draft = form.draft;
    let count = memo(move || draft.with(|draft| draft.configurations.len()));
    let value = move || {
        let flipped = draft.with(knobs_words);
        format!(
            "{} configuration{}, flipping {flipped}",
            count.get(),
            if count.get() == 1 { "" } else { "s" }
        )
    };
    let add = move |_| {
        let index = count.get_untracked();
        draft.update(|draft| draft.configurations.push(draft.next_variant()));
        form.go_to("configurations", format!("configurations[{index}].name"));
    };
    view! {
        <Section form id="configurations" title="Knobs" value=derived(value)>
            <p class="muted">"Each configuration is swept over the same rates with the same prompts and starts. Flip one knob at a time: then the curve's move has one cause."</p>
            <div class="stack">
                <For each=move || 0..count.get() key=|index| *index let:index>
                    <Configuration form engines adding index />
                </For>
            </div>
            <div>
                <button type="button" class="button" on:click=add>
                    "Add a variant"
                </button>
            </div>
            <Rules form />
        </Section>
    }
    .erased()
}

/// What holds for all configurations together.
#[component]
fn Rules(form: Form) -> impl IntoView {
    let kinds = move || {
        form.draft.with(|draft| {
            let started = |it| draft.engine_of(it).is_some_and(|engine| !engine.is_empty());
            let several = 1 < draft.configurations.len();
            let started = draft.configurations.iter().any(started);
            match (several, started) {
                (true, true) => "several started",
                (true, false) => "several",
                (false, true) => "started",
                (false, false) => "",
            }
        })
    };
    view! {
        <div class="rules" data-kinds=kinds>
            <Drawn form html=form.drawn("rules", "") />
        </div>
    }
    .erased()
}

/// One configuration. It is bound by its index: when one before it goes, its fields show the next one.
#[component]
fn Configuration(
    form: Form,
    engines: Engines,
    adding: RwSignal<bool>,
    index: usize,
) -> impl IntoView {
    let draft = form.draft;
    let path = format!("configurations[{index}]");
    let name = format!("{path}.name");
    let remove = move |_| {
        draft.update(|draft| {
            if index < draft.configurations.len() {
                draft.configurations.remove(index);
            }
        });
    };
    view! {
        <fieldset class="configuration">
            <div class="row end">
                <span class="key" style=format!("--series: var(--series-{})", index % 8 + 1)></span>
                <div class="grow">
                    <TextField
                        id=name.clone()
                        label=if index == 0 { "Baseline".to_owned() } else { format!("Variant {index}") }
                        bind=form.configuration(index, |it| it.name.clone(), |it, name| it.name = name)
                        error=form.error(&[&name, &path])
                    />
                </div>
                {(index > 0).then(|| view! { <button type="button" class="button quiet" on:click=remove>"Remove"</button> })}
            </div>
            <Show when=move || draft.with(|draft| !draft.is_simulated())>
                <Turning form engines adding index />
            </Show>
            <Knobs form index />
        </fieldset>
    }
    .erased()
}

/// The knobs: fields where the engine's are known, and lines where they can only be declared.
#[component]
fn Knobs(form: Form, index: usize) -> impl IntoView {
    let drawn = memo(move || {
        form.draft.with(|draft| {
            let configuration = draft.configurations.get(index)?;
            let engine = draft.engine_of(configuration);
            Some(engine.map_or_else(
                || form.drawn("elsewhere", ""),
                |engine| form.drawn("knobs", engine),
            ))
        })
    });
    let fields = move || {
        let html = drawn.get()?.replace(ROOM, &format!("[{index}]"));
        Some(view! { <Drawn form html /> })
    };
    view! { {shared(fields)} }.erased()
}

/// How the configuration comes about.
#[component]
fn Turning(form: Form, engines: Engines, adding: RwSignal<bool>, index: usize) -> impl IntoView {
    let turn = format!("configurations[{index}].turn");
    let way = form.configuration(index, |it| it.way.clone(), |it, way| it.way = way);
    let options = move || {
        let ways: &[(&str, &str)] = if form.draft.with(|draft| draft.is_managed()) {
            &[
                ("as_is", "The studio starts the engine so"),
                ("other_endpoint", "Another engine"),
            ]
        } else {
            &[
                ("as_is", "The engine as it runs now"),
                ("other_endpoint", "A second engine that already runs so"),
                ("pause", "Pause: I restart the engine"),
            ]
        };
        let ways = ways.iter();
        ways.map(|(value, text)| ((*value).to_owned(), (*text).to_owned()))
            .collect()
    };
    let rest_turn = turn.clone();
    let rest = move || match way.get.get().as_str() {
        "other_endpoint" => {
            let bind = other_endpoint(form, index);
            view! { <EndpointFields form engines adding path=rest_turn.clone() bind /> }.erased()
        }
        "pause" if form.draft.with_untracked(|draft| !draft.is_managed()) => {
            let id = format!("{rest_turn}.instruction");
            let error = form.error(&[&id]);
            let bind = form.configuration(
                index,
                |it| it.instruction.clone(),
                |it, text| it.instruction = text,
            );
            view! { <TextField id label="What to do" bind placeholder="restart with --max-num-seqs 64" hint="The study waits with this sentence until you press Continue; then the engine is probed again." error /> }.erased()
        }
        _ => ().erased(),
    };
    view! {
        <SelectField id=format!("{turn}.way") label="How it comes about" bind=way options=derived(options) error=form.error(&[&turn]) />
        {rest}
    }
    .erased()
}

fn other_endpoint(form: Form, index: usize) -> Bind<EndpointDraft> {
    let at = |it: &ConfigurationDraft| it.other.clone();
    Bind::new(
        move || {
            form.draft
                .with(|draft| draft.configurations.get(index).map(at).unwrap_or_default())
        },
        move |endpoint| {
            form.draft.update(|draft| {
                if let Some(configuration) = draft.configurations.get_mut(index) {
                    configuration.other = endpoint;
                }
            });
        },
    )
}
