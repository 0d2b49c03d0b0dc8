//! The door between the screens and the world: [`Studio`], and the views that pass through it.
//!
//! The server implements it; pages rendered on the server call it, the REST interface calls it, and pages in the
//! browser reach it through server functions. Views carry numbers, never prose that a page could make itself.

mod compared; // configurations side by side
mod engines; // who is behind a URL, what may be turned
mod errors; // what went wrong
mod live; // what is heard of a study while it runs
mod shares; // links
mod states; // where studies and points stand
mod study; // a study in a list, and whole

use std::collections::BTreeMap;

use async_trait::async_trait;
use measure::arrival::Arrival;
use measure::certificate::Certificate;
use measure::compare::{Along, CeilingComparison, Comparison, Difference, Drift, Verdict};
use measure::curve::{Ceiling, CurvePoint};
use measure::evidence::Evidence;
use measure::knobs::{Comparability, Facts};
use measure::rules::Table;
use measure::slo::{Judgement, Slo};
use measure::study::{
    Api, ConfigurationSpec, Connection, Endpoint, EngineSpec, FieldError, StudySpec, Turn,
};
use measure::summary::{Capacity, Summary};
use measure::units::Level;
use measure::workload::DataKind;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

#[cfg(feature = "ssr")]
use crate::diagnosis::DiagnosisView;
#[cfg(feature = "ssr")]
use crate::drawn::start::Sketch;
#[cfg(feature = "ssr")]
use crate::history::HistoryView;
#[cfg(feature = "ssr")]
use crate::url_state::ViewState;

pub use compared::*;
pub use engines::*;
pub use errors::*;
pub use live::*;
pub use shares::*;
pub use states::*;
pub use study::*;

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    /// The single user of a loopback studio, or the holder of the access token.
    Owner,
}

/// Change to a study's name, tags or note; what is `None` stays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyEdit {
    /// New name.
    pub name: Option<String>,
    /// New tags.
    pub tags: Option<Vec<String>>,
    /// New note.
    pub note: Option<String>,
    /// What a person knows of the engine that it does not tell: fact to value, as `hardware`. What the engine told stays.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub declared: BTreeMap<String, String>,
}

/// A named SLO.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedSlo {
    /// Its name, unique.
    pub name: String,
    /// The SLO.
    pub slo: Slo,
}

/// A file that can be named in a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DatasetRow {
    /// File name within the server's data set folder.
    pub file: String,
    /// Bytes.
    pub bytes: u64,
    /// What it is, by its content; `None` where it is nothing that is known.
    pub kind: Option<DataKind>,
    /// Its rows, once it was read to its end.
    pub rows: Option<u64>,
}

/// What the server draws beside a study's curves, so that nothing comes later and moves what stands below. All but the first part
/// stand in the page that the server sent and travel no second time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beside {
    /// Earlier runs of the same, and what the ceilings mean for a demand.
    pub plan: String,
    /// Whether the page has its diagnosis; else it is worked out later.
    pub told_why: bool,
    /// Why the configurations are slow.
    #[serde(skip)]
    pub why: String,
    /// The iso-goodput map of the point that is chosen; nothing of one that is too large to be drawn at once.
    #[serde(skip)]
    pub map: String,
    /// What the engine showed at that point.
    #[serde(skip)]
    pub engine: String,
}

/// Everything the screens and the REST interface can ask for.
#[async_trait]
pub trait Studio: Send + Sync {
    /// Studies, newest first.
    async fn studies(
        &self,
        actor: &Actor,
        filter: StudyFilter,
    ) -> Result<Vec<StudyRow>, StudioError>;
    /// One study.
    async fn study(&self, actor: &Actor, id: Uuid) -> Result<StudyView, StudioError>;
    /// What was seen beside a point's requests; none of points before there was any.
    async fn evidence(&self, actor: &Actor, point: Uuid) -> Result<Option<Evidence>, StudioError>;
    /// A measured point by the rules of other tools; none where it is too large to be read for a page.
    async fn rules(&self, actor: &Actor, point: Uuid) -> Result<Vec<Table>, StudioError>;
    /// Why a point is slow; none of one that is not measured.
    #[cfg(feature = "ssr")]
    async fn diagnosis(
        &self,
        actor: &Actor,
        point: Uuid,
    ) -> Result<Option<DiagnosisView>, StudioError>;
    /// What stands beside a study's curves in this view, as far as it is drawn fast; `plan` is left empty.
    #[cfg(feature = "ssr")]
    async fn beside(
        &self,
        actor: &Actor,
        study: &StudyView,
        view: &ViewState,
    ) -> Result<Beside, StudioError>;
    /// A study against earlier runs of the same.
    #[cfg(feature = "ssr")]
    async fn history(
        &self,
        actor: &Actor,
        study: Uuid,
        bar: measure::history::Bar,
    ) -> Result<HistoryView, StudioError>;
    /// The same by what is worked out by now: no page waits for the whole store. Where something is lacking, it says so.
    #[cfg(feature = "ssr")]
    async fn history_so_far(
        &self,
        actor: &Actor,
        study: Uuid,
        bar: measure::history::Bar,
    ) -> Result<HistoryView, StudioError>;
    /// Somebody was shown the form of a study that tries what a point's diagnosis foretells: a launch that is that study remembers it.
    fn will_try(&self, actor: &Actor, point: Uuid);
    /// The first requests that a study would send.
    #[cfg(feature = "ssr")]
    async fn sample(&self, actor: &Actor, spec: StudySpec) -> Result<Sample, StudioError>;
    /// Checks and stores a study and puts it in the queue.
    async fn launch(&self, actor: &Actor, spec: StudySpec) -> Result<Uuid, StudioError>;
    /// Stops a study; finished points are kept.
    async fn stop(&self, actor: &Actor, id: Uuid) -> Result<(), StudioError>;
    /// Puts an interrupted, stopped or failed study back in the queue; touched points are measured whole.
    async fn resume(&self, actor: &Actor, id: Uuid) -> Result<(), StudioError>;
    /// Ends the point under load: what it recorded is kept, and the study goes on with the next. Once more for the same point changes nothing.
    async fn skip(&self, actor: &Actor, point: Uuid) -> Result<(), StudioError>;
    /// Holds a running study once its present point has ended, until [`Studio::proceed`].
    async fn pause(&self, actor: &Actor, id: Uuid) -> Result<(), StudioError>;
    /// What the engine under measurement has said so far.
    #[cfg(feature = "ssr")]
    async fn engine_log(&self, actor: &Actor, study: Uuid) -> Result<EngineLog, StudioError>;
    /// Goes on with a study that waits for its engine to be restarted, or that was paused; one that would pause does not.
    async fn proceed(&self, actor: &Actor, id: Uuid) -> Result<(), StudioError>;
    /// Renames, tags, notes.
    async fn edit(&self, actor: &Actor, id: Uuid, edit: StudyEdit) -> Result<(), StudioError>;
    /// Hides a study; [`Studio::undelete`] brings it back for 30 days.
    async fn delete(&self, actor: &Actor, id: Uuid) -> Result<(), StudioError>;
    /// Undoes [`Studio::delete`].
    async fn undelete(&self, actor: &Actor, id: Uuid) -> Result<(), StudioError>;
    /// What is behind a URL.
    async fn probe(&self, actor: &Actor, request: ProbeRequest)
    -> Result<ProbeReport, StudioError>;
    /// Engines that were added, by name.
    async fn engines(&self, actor: &Actor) -> Result<Vec<EngineRow>, StudioError>;
    /// Adds an engine, or replaces the one of that name.
    async fn save_engine(
        &self,
        actor: &Actor,
        name: String,
        endpoint: Endpoint,
    ) -> Result<EngineRow, StudioError>;
    /// Forgets an engine; studies keep what they recorded.
    async fn delete_engine(&self, actor: &Actor, id: Uuid) -> Result<(), StudioError>;
    /// Every engine, with how it is started and what may be turned.
    async fn engine_sheets(&self, actor: &Actor) -> Result<Engines, StudioError>;
    /// The knobs of the simulator.
    async fn simulator_knobs(&self, actor: &Actor) -> Result<Vec<KnobRow>, StudioError>;
    /// Each start of an engine for a study, oldest first.
    async fn starts(&self, actor: &Actor, study: Uuid) -> Result<Vec<StartRow>, StudioError>;
    /// Names of the secrets that the studio keeps. Their values are never told.
    async fn secrets(&self, actor: &Actor) -> Result<Vec<String>, StudioError>;
    /// Named SLOs, by name.
    async fn slos(&self, actor: &Actor) -> Result<Vec<NamedSlo>, StudioError>;
    /// Adds or replaces a named SLO.
    async fn save_slo(&self, actor: &Actor, slo: NamedSlo) -> Result<(), StudioError>;
    /// Forgets a named SLO.
    async fn delete_slo(&self, actor: &Actor, name: String) -> Result<(), StudioError>;
    /// Files that can be named.
    async fn datasets(&self, actor: &Actor) -> Result<Vec<DatasetRow>, StudioError>;
    /// Configurations side by side; the first is the baseline. `slo` replaces the baseline study's.
    async fn compare(
        &self,
        actor: &Actor,
        configurations: Vec<Uuid>,
        slo: Option<Slo>,
    ) -> Result<CompareView, StudioError>;
    /// Mints a link to a study.
    async fn share(
        &self,
        actor: &Actor,
        study: Uuid,
        expires_ms: Option<i64>,
        scope: ShareScope,
    ) -> Result<ShareRow, StudioError>;
    /// Mints a link to configurations of any studies, side by side. It opens nothing else of these studies.
    async fn share_comparison(
        &self,
        actor: &Actor,
        comparison: NewComparison,
    ) -> Result<ShareRow, StudioError>;
    /// A study's links, and those to comparisons with a configuration of it.
    async fn shares(&self, actor: &Actor, study: Uuid) -> Result<Vec<ShareRow>, StudioError>;
    /// Revokes a link at once.
    async fn revoke(&self, actor: &Actor, share: Uuid) -> Result<(), StudioError>;
    /// What a link to a study shows: the study without engine URL, host, prompt, answer or note. No actor: the token is the right.
    async fn shared(&self, token: &str) -> Result<StudyView, StudioError>;
    /// What limits the configurations of a study behind a link, drawn; none where the link does not show all, while it is measured, and
    /// where it would keep the page waiting.
    #[cfg(feature = "ssr")]
    async fn shared_why(&self, token: &str) -> Result<Option<String>, StudioError>;
    /// A link's configurations side by side, as far as the link shows them; all of them where none are named. Where it shows figures
    /// alone, its own SLO judges.
    async fn shared_compare(
        &self,
        token: &str,
        configurations: Vec<Uuid>,
        slo: Option<Slo>,
    ) -> Result<CompareView, StudioError>;
}
