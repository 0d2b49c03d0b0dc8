//! Which engine is put under load: the simulator, or one that was added on purpose.

use crate::ui::erased::{Erase, shared};
use crate::ui::reactive::{derived, memo};
use leptos::prelude::*;
use measure::study::Api;

use super::connection::ConnectionFields;
use super::draft::EndpointDraft;
use super::drawn::{Drawn, ROOM, ROOM_OF_PLACE};
use super::form::Form;
use super::section::Section;
use super::sentence::engine_words;
use super::shared::Engines;
use crate::api;
use crate::studio::EngineRow;
use crate::ui::bind::{Bind, bind};
use crate::ui::field::{AreaField, SelectField, TextField};
use crate::ui::segmented::Segmented;
use crate::ui::toast::toasts;

/// The simulator's presets and what each is like.
const PRESETS: [(&str, &str); 8] = [
    ("small-fast", "small-fast: a small model, quick to saturate"),
    ("llama-8b-h100", "llama-8b-h100: an 8B model on one H100"),
    ("llama-8b-h200", "llama-8b-h200: on one H200"),
    ("llama-8b-a100", "llama-8b-a100: on one A100"),
    ("llama-8b-l4", "llama-8b-l4: on one L4"),
    ("llama-70b-4xh100", "llama-70b-4xh100: 70B on four H100"),
    (
        "llama-1b-laptop",
        "llama-1b-laptop: 1B in 4 bits on a laptop",
    ),
    ("tiny", "tiny: for trying things out"),
];

/// Whether two base URLs mean the same endpoint, spelling aside.
pub fn same_url(one: &str, other: &str) -> bool {
    let plain = |url: &str| {
        url.trim()
            .trim_end_matches('/')
            .trim_end_matches("/v1")
            .trim_end_matches('/')
            .to_ascii_lowercase()
    };
    plain(one) == plain(other)
}

/// The section.
#[component]
pub fn EngineSection(
    /// The form.
    form: Form,
    /// Engines that were added.
    engines: Engines,
    /// Where the dialog to add one is opened.
    adding: RwSignal<bool>,
) -> impl IntoView {
    let draft = form.draft;
    view! {
        <Section form id="engine" title="Engine" value=derived(move || draft.with(engine_words))>
            <Segmented
                name="engine.kind"
                label="Kind of engine"
                bind=Bind::new(move || draft.with(|it| it.engine.clone()), move |kind| draft.update(|it| it.take_engine(kind)))
                options=vec![("simulator", "Simulator"), ("endpoint", "An engine")]
            />
            <Show when=move || draft.with(|draft| !draft.is_simulated()) fallback=move || view! { <Simulator form /> }>
                <EndpointFields
                    form
                    engines
                    adding
                    path="engine"
                    bind=Bind::new(move || draft.with(|it| it.endpoint.clone()), move |it| draft.update(|d| d.endpoint = it))
                />
            </Show>
        </Section>
    }
    .erased()
}

#[component]
fn Simulator(form: Form) -> impl IntoView {
    let preset = bind!(form.draft, |d| d.preset);
    let options = move || {
        let mut options: Vec<(String, String)> = PRESETS
            .map(|(value, text)| (value.to_owned(), text.to_owned()))
            .to_vec();
        let chosen = preset.get.get();
        if options.iter().all(|(value, _)| *value != chosen) {
            options.push((chosen.clone(), chosen));
        }
        options
    };
    view! {
        <SelectField
            id="engine.preset"
            label="Preset"
            bind=preset
            options=derived(options)
            hint="Built in and started anew for each configuration. Everything measured on it is marked simulated."
            error=form.error(&["engine.preset"])
        />
    }
    .erased()
}

/// The fields of an endpoint: which engine, which model, which dialect.
#[component]
pub fn EndpointFields(
    /// The form.
    form: Form,
    /// Engines that were added.
    engines: Engines,
    /// Opens the dialog to add one.
    adding: RwSignal<bool>,
    /// Where the endpoint stands in the study.
    #[prop(into)]
    path: String,
    /// The endpoint.
    bind: Bind<EndpointDraft>,
) -> impl IntoView {
    let chosen = memo(move || {
        let known = engines.get();
        bind.get.with(|it| {
            // One engine may have been added for several ways to it.
            let same = |row: &&EngineRow| same_url(&row.endpoint.url, &it.url);
            let way = it.connection();
            let mut rows = known.iter().filter(same);
            let exact = rows.clone().find(|row| row.endpoint.connection == way);
            exact.or_else(|| rows.next()).cloned()
        })
    });
    let choose = Bind::new(
        move || chosen.get().map(|row| row.name).unwrap_or_default(),
        move |name| {
            let found = engines.get().into_iter().find(|row| row.name == name);
            let mut endpoint: EndpointDraft =
                found.map(|row| (&row.endpoint).into()).unwrap_or_default();
            // What was typed before any engine was chosen is meant for this one; another engine runs elsewhere.
            let before = bind.get.get_untracked();
            if before.url.is_empty() {
                endpoint.hardware = before.hardware;
            }
            bind.set.run(endpoint);
        },
    );
    let url = format!("{path}.url");
    let place = match path.strip_suffix(".turn") {
        Some(configuration) => format!("{configuration}.other"),
        None => "endpoint".to_owned(),
    };
    let hardware = form.drawn("hardware", "");
    let hardware = hardware.replace(ROOM, &path).replace(ROOM_OF_PLACE, &place);
    view! {
        <div class="row end">
            <div class="grow">
                <SelectField
                    id=path.clone()
                    label="Engine"
                    bind=choose
                    options=derived(move || engine_options(&engines.get()))
                    error=form.error(&[&path, &url])
                />
            </div>
            <button type="button" class="button" on:click=move |_| adding.set(true)>
                "Add an engine…"
            </button>
        </div>
        {shared(move || chosen.get().map(|row| view! { <Known form row engines bind /> }))}
        <Drawn form html=hardware />
        <Show when=move || bind.get.with(|it| it.managed_name().is_none())>
            <Dialect form path=path.clone() bind chosen />
        </Show>
    }
    .erased()
}

/// One text of an endpoint.
pub fn part(
    bind: Bind<EndpointDraft>,
    get: fn(&EndpointDraft) -> &String,
    set: fn(&mut EndpointDraft) -> &mut String,
) -> Bind<String> {
    Bind::new(
        move || bind.get.with(|it| get(it).clone()),
        move |value| {
            let mut endpoint = bind.get.get_untracked();
            *set(&mut endpoint) = value;
            bind.set.run(endpoint);
        },
    )
}

/// How an endpoint is asked: model, dialect, headers.
#[component]
fn Dialect(
    form: Form,
    path: String,
    bind: Bind<EndpointDraft>,
    chosen: Memo<Option<EngineRow>>,
) -> impl IntoView {
    let [model, api, headers] = ["model", "api", "headers"].map(|field| format!("{path}.{field}"));
    let (wrong_model, wrong_api, wrong_headers) = (
        form.error(&[&model]),
        form.error(&[&api]),
        form.error(&[&headers]),
    );
    let [ca_file, insecure, proxy] =
        ["ca_file", "insecure", "proxy"].map(|field| format!("{path}.connection.{field}"));
    let wrong_connection = [form.error(&[&ca_file, &insecure]), form.error(&[&proxy])];
    let models = move || {
        chosen
            .get()
            .and_then(|row| row.probe)
            .map(|probe| probe.models)
            .unwrap_or_default()
    };
    view! {
        <div class="columns">
            <ModelField id=model bind=part(bind, |it| &it.model, |it| &mut it.model) models=derived(models) error=wrong_model />
            <SelectField id=api label="Dialect" bind=part(bind, |it| &it.api, |it| &mut it.api) options=Signal::stored(dialects()) error=wrong_api />
        </div>
        <details class="more">
            <summary>"Extra headers"</summary>
            <AreaField
                id=headers
                label="Headers"
                bind=part(bind, |it| &it.headers, |it| &mut it.headers)
                hint="One “Name: value” a line. Not for secrets: keys are named by environment variable when the engine is added."
                placeholder="x-team: serving"
                error=wrong_headers
            />
        </details>
        <ConnectionFields place=path bind errors=wrong_connection />
    }
    .erased()
}

/// The dialects, for a select.
pub fn dialects() -> Vec<(String, String)> {
    let text = |api| match api {
        Api::OpenAiChat => "OpenAI chat completions",
        Api::OpenAiCompletions => "OpenAI completions",
        Api::OpenAiResponses => "OpenAI responses",
        Api::OllamaChat => "Ollama chat",
        Api::TgiGenerateStream => "TGI generate_stream",
        Api::TritonGenerateStream => "Triton generate_stream",
        Api::SglangGenerate => "SGLang generate",
        Api::LlamacppCompletion => "llama.cpp completion",
    };
    let options = Api::ALL.map(|api| (api.name().to_owned(), text(api).to_owned()));
    options.to_vec()
}

fn engine_options(rows: &[EngineRow]) -> Vec<(String, String)> {
    let first = if rows.is_empty() {
        "None added yet"
    } else {
        "Choose an engine"
    };
    let mut options = vec![(String::new(), first.to_owned())];
    options.extend(rows.iter().map(|row| {
        (
            row.name.clone(),
            match row.managed {
                Some(_) => format!("{} (started by the studio)", row.name),
                None => format!("{} ({})", row.name, row.endpoint.url),
            },
        )
    }));
    options
}

/// A model: one of those the engine serves, or typed where it does not say.
#[component]
pub fn ModelField(
    /// The control's id.
    #[prop(into)]
    id: String,
    /// The model.
    bind: Bind<String>,
    /// Models the engine serves.
    models: Signal<Vec<String>>,
    /// What is wrong with it.
    error: Signal<Option<String>>,
) -> impl IntoView {
    let options = move || {
        let chosen = bind.get.get();
        let mut all = models.get();
        if !all.contains(&chosen) {
            all.insert(0, chosen);
        }
        all.into_iter()
            .map(|model| {
                (
                    model.clone(),
                    if model.is_empty() {
                        "Choose a model".into()
                    } else {
                        model
                    },
                )
            })
            .collect()
    };
    let named = memo(move || !models.with(Vec::is_empty));
    let typed_id = id.clone();
    let typed = move || {
        view! { <TextField id=typed_id.clone() label="Model" bind placeholder="as the engine names it" error /> }
    };
    view! {
        <Show when=move || named.get() fallback=typed>
            <SelectField id=id.clone() label="Model" bind options=derived(options) error />
        </Show>
    }
    .erased()
}

/// What is known of an added engine, and the way to forget it.
#[component]
fn Known(form: Form, row: EngineRow, engines: Engines, bind: Bind<EndpointDraft>) -> impl IntoView {
    if row.managed.is_some() {
        let about = form.drawn("about", &row.name);
        return view! { <div class="stack tight" inner_html=about></div> }.erased();
    }
    let said = match &row.probe {
        Some(probe) => {
            let version = probe
                .version
                .as_deref()
                .map(|version| format!(" {version}"))
                .unwrap_or_default();
            let cache = if probe.can_reset_cache {
                "its prefix cache can be reset"
            } else {
                "its prefix cache cannot be reset from outside"
            };
            format!("{}{version}; {cache}.", probe.engine)
        }
        None => "It did not answer when it was added, so nothing is known of it yet.".to_owned(),
    };
    let endpoint = &row.endpoint;
    let key = endpoint
        .api_key_env
        .as_ref()
        .or(endpoint.api_key_secret.as_ref());
    let key = key.map(|name| format!(" Key from {name}."));
    let toasts = toasts();
    let forget = move |_| {
        let row = row.clone();
        bind.set.run(EndpointDraft::default());
        leptos::task::spawn_local(async move {
            match api::delete_engine(row.id).await {
                Ok(()) => {
                    engines.refresh();
                    toasts.say_with_undo(format!("Forgot {}", row.name), move || {
                        bring_back(row.clone(), engines)
                    });
                }
                Err(error) => toasts.say(error.to_string()),
            }
        });
    };
    view! {
        <p class="hint-line">
            {said} {key} " " <button type="button" class="linkish" on:click=forget>"Forget this engine"</button>
        </p>
    }
    .erased()
}

fn bring_back(row: EngineRow, engines: Engines) {
    leptos::task::spawn_local(async move {
        if let Err(error) = api::save_engine(row.name, row.endpoint).await {
            toasts().say(error.to_string());
        }
        engines.refresh();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_the_same_with_and_without_v1() {
        assert!(same_url(
            "http://127.0.0.1:8000",
            "http://127.0.0.1:8000/v1/"
        ));
        assert!(same_url("HTTP://Engine:8000/", "http://engine:8000"));
        assert!(!same_url("http://127.0.0.1:8000", "http://127.0.0.1:8001"));
    }
}
