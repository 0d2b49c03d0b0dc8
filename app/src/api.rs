//! Server functions: [`Studio`](crate::studio::Studio) as a page sees it. Each is one call; nothing is decided here.
//!
//! They are glue for our own pages, not an interface for others; that one is under `/api/v1`. The server has them from
//! leptos; the browser asks them by one function of its own (`api/ask.rs`), because leptos' way is compiled anew for each.
#![cfg_attr(
    feature = "ssr",
    expect(
        missing_docs,
        reason = "the macro makes a struct of each function's arguments"
    )
)]

#[cfg(not(feature = "ssr"))]
mod ask; // how the browser asks
#[cfg(feature = "ssr")]
mod door; // how the server answers
#[cfg(feature = "ssr")]
pub mod objects; // JSON as it is meant

#[cfg(not(feature = "ssr"))]
use ask::{answer, asked};
#[cfg(feature = "ssr")]
use door::{OWNER, Wire, studio, told};
#[cfg(feature = "ssr")]
use std::sync::Arc;

#[cfg(feature = "ssr")]
use leptos::prelude::server;
use measure::study::{Endpoint, StudySpec};
use uuid::Uuid;

#[cfg(not(feature = "ssr"))]
use crate::browser::write_json;
use crate::pages::Beginning;
#[cfg(feature = "ssr")]
use crate::pages::beginning;
#[cfg(feature = "ssr")]
use crate::studio::Studio;
use crate::studio::{
    Beside, DatasetRow, EngineRow, NamedSlo, ProbeReport, ProbeRequest, StudioError, StudyEdit,
    StudyView,
};
#[cfg(feature = "ssr")]
use crate::url_state::ViewState;

/// What a page gets of the world: a value, or an error with its field and its mend.
pub type Answer<T> = Result<T, StudioError>;

impl StudioError {
    /// What a page says when it cannot read what the studio sends, or the other way round.
    pub(crate) fn estranged() -> Self {
        Self::Conflict {
            message: "page and studio do not understand each other: reload the page".into(),
        }
    }

    /// What a page says when the studio is not there.
    pub(crate) fn silent() -> Self {
        Self::Conflict {
            message: "the studio did not answer: is it still running?".into(),
        }
    }
}

/// What stands beside a study's curves and below its points; nothing where the study cannot be read. The query comes as names and values in turn.
#[cfg(feature = "ssr")]
async fn beside(studio: Arc<dyn Studio>, study: Uuid, query: Vec<String>) -> Answer<Beside> {
    // The panel stands without it.
    let history = studio
        .history_so_far(OWNER, study, Default::default())
        .await;
    let history = history.map_or_else(|_| String::new(), |it| crate::history::panel(&it));
    let study = studio.study(OWNER, study).await?;
    let pairs = query.chunks_exact(2);
    let pairs: Vec<_> = pairs.map(|it| (it[0].clone(), it[1].clone())).collect();
    let named = |key: &str| pairs.iter().find(|it| it.0 == key);
    let view = ViewState::read(|key| named(key).map(|it| it.1.clone()));
    // The study stands without all of it.
    let beside = studio.beside(OWNER, &study, &view).await;
    Ok(Beside {
        plan: history + &crate::capacity::panel(&study, &pairs),
        ..beside.unwrap_or_default()
    })
}

/// A study with each start of its engines.
#[cfg(feature = "ssr")]
async fn with_starts(studio: Arc<dyn Studio>, id: Uuid) -> Answer<StudyView> {
    let mut study = studio.study(OWNER, id).await?;
    if study.is_managed() {
        let starts = studio.starts(OWNER, id).await?;
        study.starts = crate::drawn::starts::panel(&study, &starts);
    }
    Ok(study)
}

/// What a link shows, with what limits its configurations and what differs between them.
#[cfg(feature = "ssr")]
async fn with_comparison(
    studio: Arc<dyn Studio>,
    token: String,
    slo: Option<String>,
) -> Answer<StudyView> {
    let mut study = studio.shared(&token).await?;
    let slo = slo.filter(|_| !study.aggregates_only);
    let slo = slo.and_then(|it| it.parse().ok());
    // The study stands without either. What matters under an SLO that is tried may be another point.
    if slo.as_ref().is_none_or(|it| *it == study.spec.slo) {
        let why = studio.shared_why(&token).await;
        study.compared = why.ok().flatten().unwrap_or_default();
    }
    if 1 < study.configurations.len() {
        let compared = studio.shared_compare(&token, Vec::new(), slo.clone()).await;
        study.compared += &compared.map_or_else(
            |_| String::new(),
            |it| crate::pages::compare::gist(&token, it, slo),
        );
    }
    Ok(study)
}

/// What an engine said, or why that cannot be told.
#[cfg(feature = "ssr")]
async fn said(studio: Arc<dyn Studio>, study: Uuid) -> Answer<(bool, String)> {
    let log = studio.engine_log(OWNER, study).await?;
    use crate::studio::EngineLog as Log;
    Ok(match log {
        Log::Said(said) => (true, said),
        Log::None(why) => (false, why.to_owned()),
    })
}

/// What an adaptive sweep would take and how close it would come, worked out by the server, so that no browser needs to.
#[cfg(feature = "ssr")]
async fn foretold(spec: StudySpec) -> Answer<String> {
    Ok(crate::words::foretold(&spec))
}

/// What a workload would send.
#[cfg(feature = "ssr")]
async fn sent(studio: Arc<dyn Studio>, spec: StudySpec) -> Answer<String> {
    let sample = studio.sample(OWNER, spec).await?;
    Ok(crate::drawn::sample::drawn(&sample))
}

/// A study in the forms that can be copied.
#[cfg(feature = "ssr")]
async fn written(spec: StudySpec) -> Answer<String> {
    Ok(crate::drawn::written::drawn(&spec))
}

/// A function for each line: where it is under `/fn`, what it is given, what it gives, and what it calls.
macro_rules! functions {
    ($(
        $(#[$doc:meta])*
        $path:literal fn $name:ident($($argument:ident: $of:ty),*) -> $given:ty { |$studio:ident| $call:expr }
    )*) => {$(
        $(#[$doc])*
        #[cfg(feature = "ssr")]
        #[server(prefix = "/fn", endpoint = $path, input = Wire, output = Wire)]
        pub async fn $name($($argument: $of),*) -> Result<$given, StudioError> {
            let $studio = studio()?;
            told($call.await)
        }

        $(#[$doc])*
        #[cfg(not(feature = "ssr"))]
        pub async fn $name($($argument: $of),*) -> Answer<$given> {
            #[derive(serde::Serialize)]
            struct Arguments {
                $($argument: $of),*
            }
            let arguments = write_json(&Arguments { $($argument),* });
            answer(asked($path, arguments).await)
        }
    )*};
}

functions! {
    /// One study.
    "study" fn get_study(id: Uuid) -> StudyView { |studio| with_starts(studio, id) }

    /// What stands beside a study's curves and below its points, drawn by the server.
    "beside" fn get_beside(study: Uuid, query: Vec<String>) -> Beside { |studio| beside(studio, study, query) }

    /// Checks a study and puts it in the queue.
    "launch" fn launch_study(spec: StudySpec) -> Uuid { |studio| studio.launch(OWNER, spec) }

    /// What an adaptive sweep would take, in words; nothing where levels are fixed.
    "foretell" fn foretell_study(spec: StudySpec) -> String { |_studio| foretold(spec) }

    /// What a workload would send, drawn by the server.
    "sent" fn preview_workload(spec: StudySpec) -> String { |studio| sent(studio, spec) }

    /// A study as others would be told of it: as JSON, as a command line, as a file; drawn by the server.
    "written" fn write_study(spec: StudySpec) -> String { |_studio| written(spec) }

    /// Stops a study.
    "stop" fn stop_study(id: Uuid) -> () { |studio| studio.stop(OWNER, id) }

    /// Puts a study back in the queue.
    "resume" fn resume_study(id: Uuid) -> () { |studio| studio.resume(OWNER, id) }

    /// Ends the point under load.
    "skip" fn skip_point(point: Uuid) -> () { |studio| studio.skip(OWNER, point) }

    /// Holds a study after its present point.
    "pause" fn pause_study(id: Uuid) -> () { |studio| studio.pause(OWNER, id) }

    /// Whether the engine under measurement has a log, and what it says; else why it has none.
    "engine_log" fn engine_log(id: Uuid) -> (bool, String) { |studio| said(studio, id) }

    /// Goes on after the engine was restarted, or after a pause.
    "proceed" fn proceed_study(id: Uuid) -> () { |studio| studio.proceed(OWNER, id) }

    /// Renames, tags, notes.
    "edit" fn edit_study(id: Uuid, edit: StudyEdit) -> () { |studio| studio.edit(OWNER, id, edit) }

    /// Hides a study.
    "delete" fn delete_study(id: Uuid) -> () { |studio| studio.delete(OWNER, id) }

    /// What is behind a URL.
    "probe" fn probe_engine(request: ProbeRequest) -> ProbeReport { |studio| studio.probe(OWNER, request) }

    /// Engines that were added.
    "engines" fn list_engines() -> Vec<EngineRow> { |studio| studio.engines(OWNER) }

    /// Adds an engine, or replaces the one of that name.
    "save_engine" fn save_engine(name: String, endpoint: Endpoint) -> EngineRow { |studio| studio.save_engine(OWNER, name, endpoint) }

    /// Forgets an engine.
    "delete_engine" fn delete_engine(id: Uuid) -> () { |studio| studio.delete_engine(OWNER, id) }

    /// What the form of a new study begins with: another study, or a preset, and the lists it offers.
    "new_study" fn new_study(from: Option<String>, preset: Option<String>, flip: Option<String>) -> Beginning { |studio| beginning(studio, from, preset, flip) }

    /// Names of stored secrets.
    "secrets" fn list_secrets() -> Vec<String> { |studio| studio.secrets(OWNER) }

    /// Named SLOs.
    "slos" fn list_slos() -> Vec<NamedSlo> { |studio| studio.slos(OWNER) }

    /// Adds or replaces a named SLO.
    "save_slo" fn save_slo(slo: NamedSlo) -> () { |studio| studio.save_slo(OWNER, slo) }

    /// Forgets a named SLO.
    "delete_slo" fn delete_slo(name: String) -> () { |studio| studio.delete_slo(OWNER, name) }

    /// ShareGPT files that can be named.
    "datasets" fn list_datasets() -> Vec<DatasetRow> { |studio| studio.datasets(OWNER) }

    /// What a link shows. The token is the right; nobody needs to be the owner.
    "shared" fn get_shared(token: String, slo: Option<String>) -> StudyView { |studio| with_comparison(studio, token, slo) }
}
