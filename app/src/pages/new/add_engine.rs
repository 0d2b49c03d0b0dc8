//! The dialog that adds an engine by its URL: probe it, see what it is, then add it on purpose.

use crate::ui::erased::{Erase, shared};
use leptos::prelude::*;
use measure::study::{Api, Endpoint};

use super::engine::{ModelField, dialects};
use crate::api;
use crate::studio::{EngineRow, ProbeReport, ProbeRequest, StudioError};
use crate::ui::bind::Bind;
use crate::ui::dialog::Dialog;
use crate::ui::field::{SelectField, TextField};

/// What is typed in the dialog.
#[derive(Clone, Copy)]
struct Typed {
    url: RwSignal<String>,
    api: RwSignal<String>,
    key: RwSignal<String>,
    model: RwSignal<String>,
    name: RwSignal<String>,
}

impl Typed {
    fn new() -> Self {
        let text = RwSignal::<String>::default;
        Self {
            url: text(),
            api: RwSignal::new(Api::default().name().into()),
            key: text(),
            model: text(),
            name: text(),
        }
    }

    fn api(self) -> Api {
        self.api.with(|api| Api::named(api)).unwrap_or_default()
    }

    fn key(self) -> Option<String> {
        Some(self.key.get().trim().to_owned()).filter(|key| !key.is_empty())
    }

    fn request(self) -> ProbeRequest {
        ProbeRequest {
            url: self.url.get().trim().to_owned(),
            api: self.api(),
            api_key_env: self.key(),
        }
    }

    fn endpoint(self) -> Endpoint {
        let ProbeRequest {
            url,
            api,
            api_key_env,
        } = self.request();
        Endpoint {
            url,
            api,
            model: self.model.get().trim().to_owned(),
            api_key_env,
            headers: Default::default(),
        }
    }

    fn clear(self) {
        for text in [self.url, self.key, self.model, self.name] {
            text.set(String::new());
        }
    }
}

/// The part of an error that belongs to a field; errors that belong to none are shown at `rest`.
fn at_field(error: Option<&StudioError>, field: &str, rest: bool) -> Option<String> {
    match error? {
        StudioError::Invalid { fields } => {
            let mine = |name: &str| name == field || (rest && !FIELDS.contains(&name));
            fields
                .iter()
                .find(|error| mine(&error.field))
                .map(|error| error.message.clone())
        }
        other => rest.then(|| other.to_string()),
    }
}

/// Fields of the dialog that show their own errors.
const FIELDS: [&str; 4] = ["url", "model", "name", "api_key_env"];

/// What the dialog asks of the server.
#[derive(Clone, Copy)]
struct Asked {
    probe: Action<ProbeRequest, Result<ProbeReport, StudioError>>,
    save: Action<(String, Endpoint), Result<EngineRow, StudioError>>,
}

impl Asked {
    fn new() -> Self {
        Self {
            probe: Action::new(|request: &ProbeRequest| api::probe_engine(request.clone())),
            save: Action::new(|(name, endpoint): &(String, Endpoint)| {
                api::save_engine(name.clone(), endpoint.clone())
            }),
        }
    }

    /// What the last probe found.
    fn report(self) -> Option<ProbeReport> {
        self.probe.value().get().and_then(Result::ok)
    }

    /// The error shown at a field; `rest` takes those that belong to none.
    fn error(self, field: &'static str, rest: bool) -> Signal<Option<String>> {
        Signal::derive(move || {
            let of = |error: Option<StudioError>| at_field(error.as_ref(), field, rest);
            of(self.save.value().get().and_then(Result::err))
                .or_else(|| of(self.probe.value().get().and_then(Result::err)))
        })
    }

    fn forget(self) {
        self.save.value().set(None);
        self.probe.value().set(None);
    }
}

/// The dialog.
#[component]
pub fn AddEngine(
    /// Whether it is open.
    open: RwSignal<bool>,
    /// Called with what was added.
    added: Callback<EngineRow>,
) -> impl IntoView {
    let (typed, asked) = (Typed::new(), Asked::new());
    Effect::new(move |_| {
        if let Some(report) = asked.report() {
            suggest(typed, &report);
        }
    });
    Effect::new(move |_| {
        if let Some(Ok(row)) = asked.save.value().get() {
            added.run(row);
            typed.clear();
            asked.forget();
            open.set(false);
        }
    });
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        asked.save.dispatch((typed.name.get(), typed.endpoint()));
    };
    let saving = move || asked.save.pending().get();
    view! {
        <Dialog open id="add-engine" title="Add an engine">
            <form class="stack" on:submit=submit>
                <p class="muted">"Load goes only to engines that were added here. Add none that is not yours to load."</p>
                <Address typed asked />
                <div aria-live="polite">{shared(move || asked.report().map(report))}</div>
                <Naming typed asked />
                <div class="actions">
                    <button type="button" class="button quiet" on:click=move |_| open.set(false)>"Cancel"</button>
                    <button class="button primary" aria-busy=move || saving().to_string() disabled=saving>"Add engine"</button>
                </div>
            </form>
        </Dialog>
    }
    .erased()
}

/// Where the engine is and how it is spoken to.
#[component]
fn Address(typed: Typed, asked: Asked) -> impl IntoView {
    let probing = move || asked.probe.pending().get();
    view! {
        <div class="row end">
            <div class="grow">
                <TextField id="add.url" label="URL" kind="url" keyboard="url" bind=Bind::signal(typed.url) placeholder="http://127.0.0.1:8000" error=asked.error("url", true) />
            </div>
            <button type="button" class="button" aria-busy=move || probing().to_string() disabled=probing on:click=move |_| drop(asked.probe.dispatch(typed.request()))>
                "Probe"
            </button>
        </div>
        <div class="columns">
            <SelectField id="add.api" label="Dialect" bind=Bind::signal(typed.api) options=Signal::stored(dialects()) />
            <TextField id="add.key" label="API key variable" bind=Bind::signal(typed.key) placeholder="none" hint="An environment variable of the studio's server whose name ends in _API_KEY. The key itself is never stored." error=asked.error("api_key_env", false) />
        </div>
    }
    .erased()
}

/// Which model, and what a person calls the engine.
#[component]
fn Naming(typed: Typed, asked: Asked) -> impl IntoView {
    let models = move || {
        asked
            .report()
            .map(|report| report.models)
            .unwrap_or_default()
    };
    view! {
        <div class="columns">
            <ModelField id="add.model" bind=Bind::signal(typed.model) models=Signal::derive(models) error=asked.error("model", false) />
            <TextField id="add.name" label="Name" bind=Bind::signal(typed.name) placeholder="h100-a" hint="What you call it." error=asked.error("name", false) />
        </div>
    }
    .erased()
}

/// Fills in what the probe found, where nothing was typed.
fn suggest(typed: Typed, report: &ProbeReport) {
    let (first, known) = (report.models.first(), typed.model.get_untracked());
    if let Some(model) = first.filter(|_| !report.models.contains(&known)) {
        typed.model.set(model.clone());
    }
    if typed.name.with_untracked(|name| name.trim().is_empty()) {
        typed.name.set(suggested_name(report));
    }
}

/// A name that tells engines apart: `vLLM llama-8b`.
fn suggested_name(report: &ProbeReport) -> String {
    let engine = if report.engine == "unknown" {
        "engine"
    } else {
        report.engine.as_str()
    };
    let model = report
        .models
        .first()
        .map(|model| model.rsplit('/').next().unwrap_or(model));
    model.map_or_else(|| engine.to_owned(), |model| format!("{engine} {model}"))
}

/// What the probe found.
fn report(report: ProbeReport) -> impl IntoView {
    let ProbeReport {
        engine,
        version,
        models,
        facts: _,
        has_metrics,
        can_reset_cache,
    } = report;
    let yes = |fact: bool| if fact { "yes" } else { "no" };
    view! {
        <dl class="facts">
            <dt>"Engine"</dt>
            <dd>{engine} " " {version}</dd>
            <dt>"Models"</dt>
            <dd>{if models.is_empty() { "it names none".to_owned() } else { models.join(", ") }}</dd>
            <dt>"Metrics"</dt>
            <dd>{yes(has_metrics)}</dd>
            <dt>"Cache can be reset"</dt>
            <dd>{yes(can_reset_cache)}</dd>
        </dl>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::study::FieldError;

    fn report(engine: &str, models: &[&str]) -> ProbeReport {
        ProbeReport {
            engine: engine.into(),
            version: None,
            models: models.iter().map(|model| (*model).to_owned()).collect(),
            facts: Default::default(),
            has_metrics: false,
            can_reset_cache: false,
        }
    }

    #[test]
    fn a_name_is_suggested_from_what_was_found() {
        assert_eq!(
            suggested_name(&report("vLLM", &["meta-llama/llama-8b"])),
            "vLLM llama-8b"
        );
        assert_eq!(suggested_name(&report("unknown", &[])), "engine");
    }

    #[test]
    fn an_error_stands_at_its_field_or_at_the_url() {
        let invalid = |field: &str| StudioError::Invalid {
            fields: vec![FieldError {
                field: field.into(),
                message: "wrong".into(),
            }],
        };
        let wrong = || Some("wrong".to_owned());
        assert_eq!(at_field(Some(&invalid("model")), "model", false), wrong());
        assert_eq!(at_field(Some(&invalid("model")), "url", true), None);
        assert_eq!(
            at_field(Some(&invalid("endpoint.headers")), "url", true),
            wrong()
        );
        let engine = StudioError::Engine {
            message: "wrong".into(),
        };
        assert_eq!(at_field(Some(&engine), "url", true), wrong());
        assert_eq!(at_field(Some(&engine), "model", false), None);
    }
}
