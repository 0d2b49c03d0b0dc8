//! Server functions: [`Studio`](crate::studio::Studio) as a page sees it. Each is one call; nothing is decided here.
//!
//! They are glue for our own pages, not an interface for others; that one is under `/api/v1`.
#![expect(
    missing_docs,
    reason = "the macro makes a struct of each function's arguments"
)]

use std::future::Future;

use leptos::prelude::*;
use leptos::server::codee::{Decoder, Encoder};
use leptos::server_fn::codec::{JsonEncoding, Post};
use leptos::server_fn::error::{FromServerFnError, ServerFnErrorErr};
use leptos::server_fn::{Bytes, ContentType, Decodes, Encodes, Format, FormatType};
use measure::slo::Slo;
use measure::study::{Endpoint, StudySpec};
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::browser::{Unread, read_json};
use crate::studio::{
    CompareView, DatasetRow, EngineRow, NamedSlo, ProbeReport, ProbeRequest, ShareRow, StudioError,
    StudyEdit, StudyFilter, StudyRow, StudyView,
};

/// What a page gets of the world: a value, or an error with its field and its mend.
pub type Answer<T> = Result<T, StudioError>;

impl FromServerFnError for StudioError {
    type Encoder = InPage;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        match error {
            ServerFnErrorErr::Request(_) => Self::Conflict {
                message: "the studio did not answer: is it still running?".into(),
            },
            ServerFnErrorErr::Args(_)
            | ServerFnErrorErr::MissingArg(_)
            | ServerFnErrorErr::Deserialization(_) => Self::Conflict {
                message: "page and studio do not understand each other: reload the page".into(),
            },
            _ => Self::Internal,
        }
    }
}

/// JSON in pages and in answers of server functions, read in one way.
pub struct InPage;

/// How server functions send and answer.
type Wire = Post<InPage>;

impl<T: Serialize> Encoder<T> for InPage {
    type Error = serde_json::Error;
    type Encoded = String;

    fn encode(value: &T) -> Result<String, serde_json::Error> {
        serde_json::to_string(value)
    }
}

impl<T: DeserializeOwned> Decoder<T> for InPage {
    type Error = Unread;
    type Encoded = str;

    fn decode(text: &str) -> Result<T, Unread> {
        read_json(text)
    }
}

impl ContentType for InPage {
    const CONTENT_TYPE: &'static str = JsonEncoding::CONTENT_TYPE;
}

impl FormatType for InPage {
    const FORMAT_TYPE: Format = Format::Text;
}

impl<T: Serialize> Encodes<T> for InPage {
    type Error = serde_json::Error;

    fn encode(output: &T) -> Result<Bytes, serde_json::Error> {
        <JsonEncoding as Encodes<T>>::encode(output)
    }
}

impl<T: DeserializeOwned> Decodes<T> for InPage {
    type Error = Unread;

    fn decode(bytes: Bytes) -> Result<T, Unread> {
        read_json(&String::from_utf8_lossy(&bytes))
    }
}

/// What [`reading`] makes.
pub type Reading<T> = Resource<T, InPage>;

/// What a page reads of the world: fetched while the server renders, kept in the page, fetched anew when `source` changes.
pub fn reading<S, T, F>(
    source: impl Fn() -> S + Send + Sync + 'static,
    fetch: impl Fn(S) -> F + Send + Sync + 'static,
) -> Reading<T>
where
    S: Send + Sync + Clone + PartialEq + 'static,
    T: Serialize + DeserializeOwned + Send + Sync + 'static,
    F: Future<Output = T> + Send + 'static,
{
    Resource::new_with_options(source, fetch, false)
}

#[cfg(feature = "ssr")]
mod door {
    use std::sync::Arc;

    use leptos::prelude::use_context;

    use super::Answer;
    use crate::status::{set_status, status_of};
    use crate::studio::{Actor, Studio, StudioError};

    /// Whoever holds the page is the owner: the edge lets nobody else through to a server function.
    pub const OWNER: &Actor = &Actor::Owner;

    /// The world, as the server provides it.
    pub fn studio() -> Answer<Arc<dyn Studio>> {
        use_context().ok_or(StudioError::Internal)
    }

    /// Hands an answer on, its error with a fitting status.
    pub fn told<T>(answer: Answer<T>) -> Answer<T> {
        if let Err(error) = &answer {
            set_status(status_of(error));
        }
        answer
    }
}
#[cfg(feature = "ssr")]
use door::{OWNER, studio, told};

/// Studies, newest first.
#[server(prefix = "/fn", endpoint = "studies", input = Wire, output = Wire)]
pub async fn list_studies(filter: StudyFilter) -> Result<Vec<StudyRow>, StudioError> {
    told(studio()?.studies(OWNER, filter).await)
}

/// One study.
#[server(prefix = "/fn", endpoint = "study", input = Wire, output = Wire)]
pub async fn get_study(id: Uuid) -> Result<StudyView, StudioError> {
    told(studio()?.study(OWNER, id).await)
}

/// Checks a study and puts it in the queue.
#[server(prefix = "/fn", endpoint = "launch", input = Wire, output = Wire)]
pub async fn launch_study(spec: StudySpec) -> Result<Uuid, StudioError> {
    told(studio()?.launch(OWNER, spec).await)
}

/// Stops a study.
#[server(prefix = "/fn", endpoint = "stop", input = Wire, output = Wire)]
pub async fn stop_study(id: Uuid) -> Result<(), StudioError> {
    told(studio()?.stop(OWNER, id).await)
}

/// Puts a study back in the queue.
#[server(prefix = "/fn", endpoint = "resume", input = Wire, output = Wire)]
pub async fn resume_study(id: Uuid) -> Result<(), StudioError> {
    told(studio()?.resume(OWNER, id).await)
}

/// Goes on after the engine was restarted.
#[server(prefix = "/fn", endpoint = "proceed", input = Wire, output = Wire)]
pub async fn proceed_study(id: Uuid) -> Result<(), StudioError> {
    told(studio()?.proceed(OWNER, id).await)
}

/// Renames, tags, notes.
#[server(prefix = "/fn", endpoint = "edit", input = Wire, output = Wire)]
pub async fn edit_study(id: Uuid, edit: StudyEdit) -> Result<(), StudioError> {
    told(studio()?.edit(OWNER, id, edit).await)
}

/// Hides a study.
#[server(prefix = "/fn", endpoint = "delete", input = Wire, output = Wire)]
pub async fn delete_study(id: Uuid) -> Result<(), StudioError> {
    told(studio()?.delete(OWNER, id).await)
}

/// Brings a hidden study back.
#[server(prefix = "/fn", endpoint = "undelete", input = Wire, output = Wire)]
pub async fn undelete_study(id: Uuid) -> Result<(), StudioError> {
    told(studio()?.undelete(OWNER, id).await)
}

/// What is behind a URL.
#[server(prefix = "/fn", endpoint = "probe", input = Wire, output = Wire)]
pub async fn probe_engine(request: ProbeRequest) -> Result<ProbeReport, StudioError> {
    told(studio()?.probe(OWNER, request).await)
}

/// Engines that were added.
#[server(prefix = "/fn", endpoint = "engines", input = Wire, output = Wire)]
pub async fn list_engines() -> Result<Vec<EngineRow>, StudioError> {
    told(studio()?.engines(OWNER).await)
}

/// Adds an engine, or replaces the one of that name.
#[server(prefix = "/fn", endpoint = "save_engine", input = Wire, output = Wire)]
pub async fn save_engine(name: String, endpoint: Endpoint) -> Result<EngineRow, StudioError> {
    told(studio()?.save_engine(OWNER, name, endpoint).await)
}

/// Forgets an engine.
#[server(prefix = "/fn", endpoint = "delete_engine", input = Wire, output = Wire)]
pub async fn delete_engine(id: Uuid) -> Result<(), StudioError> {
    told(studio()?.delete_engine(OWNER, id).await)
}

/// Names of stored secrets.
#[server(prefix = "/fn", endpoint = "secrets", input = Wire, output = Wire)]
pub async fn list_secrets() -> Result<Vec<String>, StudioError> {
    told(studio()?.secrets(OWNER).await)
}

/// Named SLOs.
#[server(prefix = "/fn", endpoint = "slos", input = Wire, output = Wire)]
pub async fn list_slos() -> Result<Vec<NamedSlo>, StudioError> {
    told(studio()?.slos(OWNER).await)
}

/// Adds or replaces a named SLO.
#[server(prefix = "/fn", endpoint = "save_slo", input = Wire, output = Wire)]
pub async fn save_slo(slo: NamedSlo) -> Result<(), StudioError> {
    told(studio()?.save_slo(OWNER, slo).await)
}

/// Forgets a named SLO.
#[server(prefix = "/fn", endpoint = "delete_slo", input = Wire, output = Wire)]
pub async fn delete_slo(name: String) -> Result<(), StudioError> {
    told(studio()?.delete_slo(OWNER, name).await)
}

/// ShareGPT files that can be named.
#[server(prefix = "/fn", endpoint = "datasets", input = Wire, output = Wire)]
pub async fn list_datasets() -> Result<Vec<DatasetRow>, StudioError> {
    told(studio()?.datasets(OWNER).await)
}

/// Configurations side by side.
#[server(prefix = "/fn", endpoint = "compare", input = Wire, output = Wire)]
pub async fn compare(
    configurations: Vec<Uuid>,
    slo: Option<Slo>,
) -> Result<CompareView, StudioError> {
    told(studio()?.compare(OWNER, configurations, slo).await)
}

/// Mints a link.
#[server(prefix = "/fn", endpoint = "share", input = Wire, output = Wire)]
pub async fn share_study(study: Uuid, expires_ms: Option<i64>) -> Result<ShareRow, StudioError> {
    told(studio()?.share(OWNER, study, expires_ms).await)
}

/// A study's links.
#[server(prefix = "/fn", endpoint = "shares", input = Wire, output = Wire)]
pub async fn list_shares(study: Uuid) -> Result<Vec<ShareRow>, StudioError> {
    told(studio()?.shares(OWNER, study).await)
}

/// Revokes a link.
#[server(prefix = "/fn", endpoint = "revoke", input = Wire, output = Wire)]
pub async fn revoke_share(share: Uuid) -> Result<(), StudioError> {
    told(studio()?.revoke(OWNER, share).await)
}

/// What a link shows. The token is the right; nobody needs to be the owner.
#[server(prefix = "/fn", endpoint = "shared", input = Wire, output = Wire)]
pub async fn get_shared(token: String) -> Result<StudyView, StudioError> {
    told(studio()?.shared(&token).await)
}
