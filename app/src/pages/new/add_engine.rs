//! The dialog that adds an engine by its URL: probe it, see what it is, then add it on purpose.

use crate::ui::erased::{Erase, shared};
use crate::ui::reactive::{derived, effect};
use leptos::prelude::*;
use measure::study::{Api, Endpoint};

use super::connection::ConnectionFields;
use super::draft::{EndpointDraft, named};
use super::engine::{ModelField, dialects, part};
use super::shared::{Secrets, secrets};
use crate::api;
use crate::studio::{EngineRow, ProbeReport, ProbeRequest, StudioError};
use crate::ui::bind::Bind;
use crate::ui::dialog::Dialog;
use crate::ui::field::{SelectField, TextField};

/// What is typed in the dialog.
#[derive(Clone, Copy)]
struct Typed {
    draft: RwSignal<EndpointDraft>,
    name: RwSignal<String>,
}

impl Typed {
    fn new() -> Self {
        Self {
            draft: RwSignal::new(Self::fresh()),
            name: RwSignal::default(),
        }
    }

    fn fresh() -> EndpointDraft {
        EndpointDraft {
            api: Api::default().name().into(),
            ..EndpointDraft::default()
        }
    }

    fn text(
        self,
        get: fn(&EndpointDraft) -> &String,
        set: fn(&mut EndpointDraft) -> &mut String,
    ) -> Bind<String> {
        part(Bind::signal(self.draft), get, set)
    }

    fn endpoint(self) -> Endpoint {
        let draft = self.draft.get();
        let api = Api::named(&draft.api).unwrap_or_default();
        Endpoint {
            api_key_env: named(&draft.api_key_env),
            api_key_secret: named(&draft.api_key_secret),
            connection: draft.connection(),
            ..Endpoint::new(draft.url.trim(), api, draft.model.trim())
        }
    }

    fn request(self) -> ProbeRequest {
        let Endpoint {
            url,
            api,
            model: _,
            api_key_env,
            api_key_secret,
            headers: _,
            connection,
        } = self.endpoint();
        ProbeRequest {
            url,
            api,
            api_key_env,
            api_key_secret,
            connection,
        }
    }

    fn clear(self) {
        self.draft.set(Self::fresh());
        self.name.set(String::new());
    }
}

/// The part of an error that belongs to a field; errors that belong to none are shown at `rest`.
fn at_field(error: Option<&StudioError>, own: &[&str], rest: bool) -> Option<String> {
    match error? {
        StudioError::Invalid { fields } => {
            let mine = |name: &str| own.contains(&name) || (rest && !FIELDS.contains(&name));
            fields
                .iter()
                .find(|error| mine(&error.field))
                .map(|error| error.message.clone())
        }
        other => rest.then(|| other.to_string()),
    }
}

/// Fields of the dialog that show their own errors.
const FIELDS: [&str; 8] = [
    "url",
    "model",
    "name",
    "api_key_env",
    "api_key_secret",
    "connection.ca_file",
    "connection.insecure",
    "connection.proxy",
];

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

    /// The error shown for some fields; `rest` takes those that belong to none.
    fn error(self, own: &'static [&'static str], rest: bool) -> Signal<Option<String>> {
        derived(move || {
            let of = |error: Option<StudioError>| at_field(error.as_ref(), own, rest);
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
    let (typed, asked, secrets) = (Typed::new(), Asked::new(), secrets());
    effect(move || {
        if open.get() {
            secrets.refresh();
        }
    });
    // What was refused is no longer what stands there, whether a person changed it or the probe filled it in.
    effect(move || {
        typed.draft.track();
        typed.name.track();
        asked.save.value().set(None);
    });
    effect(move || {
        if let Some(report) = asked.report() {
            suggest(typed, &report);
        }
    });
    effect(move || {
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
    // A probe that is under way is about to fill in what is missing.
    let busy = move || saving() || asked.probe.pending().get();
    view! {
        <Dialog open id="add-engine" title="Add an engine">
            <form class="stack" on:submit=submit>
                <p class="muted">"Load goes only to engines that were added here. Add none that is not yours to load."</p>
                <Address typed asked secrets />
                <ConnectionFields
                    place="add"
                    bind=Bind::signal(typed.draft)
                    errors=[
                        asked.error(&["connection.ca_file", "connection.insecure"], false),
                        asked.error(&["connection.proxy"], false),
                    ]
                />
                <div aria-live="polite">{shared(move || asked.report().map(report))}</div>
                <Naming typed asked />
                <div class="actions">
                    <button type="button" class="button quiet" on:click=move |_| open.set(false)>"Cancel"</button>
                    <button class="button primary" aria-busy=move || saving().to_string() disabled=busy>"Add engine"</button>
                </div>
            </form>
        </Dialog>
    }
    .erased()
}

/// Where the engine is and how it is spoken to.
#[component]
fn Address(typed: Typed, asked: Asked, secrets: Secrets) -> impl IntoView {
    let probing = move || asked.probe.pending().get();
    let kept = move || {
        let none = (String::new(), "none".to_owned());
        let names = secrets.get().into_iter();
        std::iter::once(none)
            .chain(names.map(|name| (name.clone(), name)))
            .collect()
    };
    view! {
        <div class="row end">
            <div class="grow">
                <TextField id="add.url" label="URL" kind="url" keyboard="url" bind=typed.text(|it| &it.url, |it| &mut it.url) placeholder="http://127.0.0.1:8000" error=asked.error(&["url"], true) />
            </div>
            <button type="button" class="button" aria-busy=move || probing().to_string() disabled=probing on:click=move |_| drop(asked.probe.dispatch(typed.request()))>
                "Probe"
            </button>
        </div>
        <SelectField id="add.api" label="Dialect" bind=typed.text(|it| &it.api, |it| &mut it.api) options=Signal::stored(dialects()) />
        <div class="columns">
            <TextField id="add.key" label="API key variable" bind=typed.text(|it| &it.api_key_env, |it| &mut it.api_key_env) placeholder="none" hint="An environment variable of the studio's server whose name ends in _API_KEY. The key itself is never stored." error=asked.error(&["api_key_env"], false) />
            <SelectField id="add.secret" label="Stored API key" bind=typed.text(|it| &it.api_key_secret, |it| &mut it.api_key_secret) options=derived(kept) hint="In place of a variable: kept on the server with “goodput secret set NAME --for URL”." error=asked.error(&["api_key_secret"], false) />
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
            <ModelField id="add.model" bind=typed.text(|it| &it.model, |it| &mut it.model) models=derived(models) error=asked.error(&["model"], false) />
            <TextField id="add.name" label="Name" bind=Bind::signal(typed.name) placeholder="h100-a" hint="What you call it." error=asked.error(&["name"], false) />
        </div>
    }
    .erased()
}

/// Fills in what the probe found, where nothing was typed.
fn suggest(typed: Typed, report: &ProbeReport) {
    let known = typed
        .draft
        .with_untracked(|it| report.models.contains(&it.model));
    if let Some(model) = report.models.first().filter(|_| !known) {
        typed.draft.update(|it| it.model.clone_from(model));
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
        assert_eq!(
            at_field(Some(&invalid("model")), &["model"], false),
            wrong()
        );
        assert_eq!(at_field(Some(&invalid("model")), &["url"], true), None);
        assert_eq!(
            at_field(Some(&invalid("endpoint.headers")), &["url"], true),
            wrong()
        );
        let engine = StudioError::Engine {
            message: "wrong".into(),
        };
        assert_eq!(at_field(Some(&engine), &["url"], true), wrong());
        assert_eq!(at_field(Some(&engine), &["model"], false), None);
    }
}
