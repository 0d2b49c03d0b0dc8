//! What is compared: a baseline, and variants that each flip a knob.

use crate::ui::erased::{Erase, shared};
use crate::ui::reactive::{derived, memo};
use leptos::prelude::*;
use measure::knobs::{KnobSpec, KnobValue, simulator_knobs};

use super::draft::{ConfigurationDraft, EndpointDraft};
use super::engine::EndpointFields;
use super::form::Form;
use super::section::Section;
use super::sentence::knobs_words;
use super::shared::Engines;
use crate::ui::bind::Bind;
use crate::ui::field::{AreaField, SelectField, TextField};

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
        </Section>
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
    let simulated = memo(move || draft.with(|draft| draft.is_simulated()));
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
            <Show
                when=move || simulated.get()
                fallback=move || view! { <Declared form engines adding index /> }
            >
                <SimulatorKnobs form index />
            </Show>
        </fieldset>
    }
    .erased()
}

/// Controls for the knobs that the simulator understands.
#[component]
fn SimulatorKnobs(form: Form, index: usize) -> impl IntoView {
    let path = format!("configurations[{index}].knobs");
    let whole = form.error(&[&path]);
    view! {
        <div class="columns">{simulator_knobs().into_iter().map(|knob| view! { <Knob form index knob /> }).collect_view()}</div>
        <p class="error-line" id=path hidden=move || whole.get().is_none()>
            {shared(move || whole.get())}
        </p>
    }
    .erased()
}

#[component]
fn Knob(form: Form, index: usize, knob: KnobSpec) -> impl IntoView {
    let KnobSpec {
        name,
        about,
        default,
        min,
        max,
    } = knob;
    let bind = form.configuration(
        index,
        move |it| it.knobs.get(name).cloned().unwrap_or_default(),
        move |it, value| drop(it.knobs.insert(name.to_owned(), value)),
    );
    let id = format!("configurations[{index}].knobs.{name}");
    let error = form.error(&[&id]);
    if matches!(default, KnobValue::Switch(_)) {
        let options = [
            (String::new(), format!("default ({default})")),
            ("on".into(), "on".into()),
            ("off".into(), "off".into()),
        ];
        return view! { <SelectField id label=name bind options=Signal::stored(options.to_vec()) hint=about error /> }.erased();
    }
    let hint = format!("{about}; {min} to {max}");
    view! { <TextField id label=name bind keyboard="numeric" placeholder=format!("default ({default})") hint error /> }.erased()
}

/// Knobs of an engine that the studio does not start: declared, with the way they come about.
#[component]
fn Declared(form: Form, engines: Engines, adding: RwSignal<bool>, index: usize) -> impl IntoView {
    let path = format!("configurations[{index}]");
    let (knobs, turn) = (format!("{path}.knobs"), format!("{path}.turn"));
    let way = form.configuration(index, |it| it.way.clone(), |it, way| it.way = way);
    let ways = [
        ("as_is", "The engine as it runs now"),
        ("other_endpoint", "A second engine that already runs so"),
        ("pause", "Pause: I restart the engine"),
    ];
    let options = ways
        .map(|(value, text)| (value.to_owned(), text.to_owned()))
        .to_vec();
    let rest_turn = turn.clone();
    let rest = move || match way.get.get().as_str() {
        "other_endpoint" => {
            let bind = other_endpoint(form, index);
            view! { <EndpointFields form engines adding path=rest_turn.clone() bind /> }.erased()
        }
        "pause" => {
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
        <SelectField id=format!("{turn}.way") label="How it comes about" bind=way options=Signal::stored(options) error=form.error(&[&turn]) />
        {rest}
        <AreaField
            id=knobs.clone()
            label="Knobs"
            rows=2
            bind=form.configuration(index, |it| it.declared.clone(), |it, text| it.declared = text)
            placeholder="max-num-seqs=64"
            hint="One name=value a line, as the engine's flags are called. What you type here is marked as declared."
            error=form.error(&[&knobs])
        />
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
