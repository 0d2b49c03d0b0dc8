//! What is compared: a baseline, and variants that each flip a knob.

use crate::ui::erased::{Erase, shared};
use crate::ui::reactive::{derived, memo};
use leptos::prelude::*;

use super::draft::{ConfigurationDraft, EndpointDraft};
use super::engine::EndpointFields;
use super::form::Form;
use super::knob_form::{KnobForm, drawn_key};
use super::section::Section;
use super::sentence::knobs_words;
use super::shared::Engines;
use crate::ui::bind::{Bind, bind};
use crate::ui::field::{AreaField, CheckField, SelectField, TextField};
use crate::ui::segmented::Segmented;

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
    let draft = form.draft;
    let factorial = Bind::new(
        move || draft.with(|draft| draft.factorial == "on"),
        move |on: bool| draft.update(|draft| draft.factorial = if on { "on" } else { "" }.into()),
    );
    let one = move || draft.with(|draft| draft.configurations.len() < 2);
    let none_started = move || {
        draft.with(|draft| {
            let started = |it| draft.engine_of(it).is_some_and(|engine| !engine.is_empty());
            !draft.configurations.iter().any(started)
        })
    };
    view! {
        <div hidden=one>
            <CheckField
                id="factorial"
                label="Factorial: variants may turn several knobs at once. No difference between two such curves has one cause, so their comparison says “confounded” and gives no verdict."
                bind=factorial
            />
        </div>
        <div class="row" hidden=none_started>
            <span>"An engine does not start, or ends under load:"</span>
            <Segmented
                name="on_failure"
                label="When an engine fails"
                bind=bind!(draft, |d| d.on_failure)
                options=vec![("stop", "Stop the study"), ("continue", "Go on with the next point")]
            />
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

/// The knobs: fields where the engine's are known, and lines where they are not.
#[component]
fn Knobs(form: Form, index: usize) -> impl IntoView {
    let draft = form.draft;
    let engine = memo(move || {
        draft.with(|draft| {
            let configuration = draft.configurations.get(index)?;
            draft.engine_of(configuration).map(str::to_owned)
        })
    });
    let fields = move || {
        let engine = engine.get()?;
        Some(view! { <KnobForm form index engine /> })
    };
    let also = move || {
        let facts = draft.with(|draft| draft.configurations.get(index).map(|it| it.facts.clone()));
        let facts = facts.filter(|it| !it.is_empty())?;
        Some(format!("Also declared: {}.", facts.replace('\n', ", ")))
    };
    view! {
        {shared(fields)}
        {shared(move || lines(form, index, engine.get()))}
        <p class="hint-line">{shared(also)}</p>
    }
    .erased()
}

/// Knobs as lines: of an engine whose knobs are not known, and flags that the catalogue of another does not know.
/// What is wrong with all knobs together stands there, or alone.
fn lines(form: Form, index: usize, engine: Option<String>) -> AnyView {
    let bind = form.configuration(
        index,
        |it| it.declared.clone(),
        |it, text| it.declared = text,
    );
    let path = format!("configurations[{index}].knobs");
    let place = path.clone();
    let error = memo(move || {
        let flags = bind.get.get();
        let names = flags.lines().filter_map(|line| line.split_once('='));
        let names = names.map(|(name, _)| name.trim().trim_start_matches("--"));
        let mut paths = vec![place.clone()];
        paths.extend(names.map(|name| format!("{place}.{name}")));
        form.error_at(&paths)
    });
    let (label, hint) = match engine {
        None => (
            "Knobs",
            "One name=value a line, as the engine's flags are called. What you type here is marked as declared.",
        ),
        Some(engine) => {
            let let_through = form
                .drawn
                .with_value(|drawn| drawn.contains_key(&drawn_key("free", &engine)));
            // What was typed stays in sight, though it will be refused.
            let typed = !engine.is_empty() && !bind.get.get_untracked().trim().is_empty();
            if !let_through && !typed {
                return view! {
                    <p class="error-line" id=path hidden=move || error.get().is_none()>
                        {shared(move || error.get())}
                    </p>
                }
                .erased();
            }
            (
                "Flags that are not in the catalogue",
                "One name=value a line. They are let through unchecked where the launch template says free_flags, and marked as unknown to the catalogue.",
            )
        }
    };
    view! { <AreaField id=path label rows=2 bind placeholder="max-num-seqs=64" hint error /> }
        .erased()
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
