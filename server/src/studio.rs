//! The studio as pages and the REST interface see it: [`LocalStudio`] implements [`Studio`] over the store and the
//! supervisor. Each method checks, calls, and says what went wrong in the words of the person who asked.

pub(crate) mod added; // was it added on purpose
mod asked; // what a study asked, as facts
mod before; // latencies that points of before lack
pub(crate) mod beside; // what stands beside a study's curves
mod bundles; // studies as files
pub(crate) mod cards; // studies in lists
pub(crate) mod compare; // configurations side by side
mod data; // what a measured point left, for programs
pub(crate) mod dataset; // which file it was
mod declare; // what a person knows of an engine
pub(crate) mod diagnosis; // why a point is slow
mod differences; // what is surest where ceilings have no verdict
pub(crate) mod engines; // who is behind a URL
mod errors; // what went wrong, for the one who asked
pub(crate) mod folder; // files that workloads name
pub(crate) mod history; // earlier runs of the same
pub(crate) mod launch; // may this study run?
pub(crate) mod left; // how long it still takes
pub(crate) mod managed; // engines that the studio starts itself
mod open; // making a studio, and ending it
mod requests; // a point's requests, read once
mod rules; // points as other tools would tell them
mod sample; // what a study would send
pub(crate) mod search; // an adaptive sweep as its points tell it
mod settings; // the studio's own
pub(crate) mod share; // what strangers with a link see
mod steer; // skip, pause, continue
pub(crate) mod views; // studies in memory

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use app::diagnosis::DiagnosisView;
use app::history::HistoryView;
use app::studio::{
    Actor, Beside, CompareView, DatasetRow, EngineLog, EngineRow, Engines, Hold, KnobRow, NamedSlo,
    NewComparison, ProbeReport, ProbeRequest, Sample, ShareRow, ShareScope, StartRow, Studio,
    StudioError, StudyEdit, StudyFilter, StudyRow, StudyState, StudyView,
};
use app::url_state::ViewState;
use async_trait::async_trait;
use measure::evidence::Evidence;
use measure::history::Bar;
use measure::rules::Table;
use measure::slo::Slo;
use measure::study::{Endpoint, StudySpec};
use uuid::Uuid;

pub(crate) use errors::{conflict, internal, invalid, missing, unreadable};
pub use open::Settings;
pub(crate) use open::is_in_use;

use crate::live::LiveHub;
use crate::registry::{self, Registry};
use crate::store::{Store, StudyChange, now_ms};
use crate::supervisor::Supervisor;

/// The studio on this machine.
pub struct LocalStudio {
    store: Store,
    live: Arc<LiveHub>,
    supervisor: Arc<Supervisor>,
    data_dir: PathBuf,
    registry: Arc<Registry>,
    kept: requests::Kept,
    found_again: before::FoundAgain,
    differences: differences::Differences,
    /// Points whose predictions somebody was about to try.
    offers: diagnosis::Offers,
    /// Whoever may use this studio may have it start engines, too.
    may_start_engines: bool,
    /// Held while the studio is open, so that no second server takes the data directory.
    _lock: Arc<File>,
}

impl LocalStudio {
    /// Live events of running studies.
    pub fn live(&self) -> &LiveHub {
        &self.live
    }
}

#[async_trait]
impl Studio for LocalStudio {
    async fn studies(&self, _: &Actor, filter: StudyFilter) -> Result<Vec<StudyRow>, StudioError> {
        if filter.examples {
            return Ok(bundles::example_rows(&self.data_dir).await);
        }
        cards::rows(&self.store, &filter).await.map_err(internal)
    }

    async fn study(&self, _: &Actor, id: Uuid) -> Result<StudyView, StudioError> {
        let mut view = self.completed(self.model(id).await?.view()).await?;
        // Whoever comes later sees what all others see.
        if view.state == StudyState::Running {
            view.underway = self.live.underway(id);
            if view.spec.adaptive.is_none() {
                view.remaining_ms = self.supervisor.remaining_ms(id).or(view.remaining_ms);
            }
        }
        if let Some((state, problem)) = self.supervisor.unstored_end(id) {
            (view.state, view.problem, view.remaining_ms) = (state, Some(problem), None);
        } else if view.state == StudyState::Queued {
            view.problem = self.supervisor.stuck().or(view.problem);
        }
        self.add_differences(&mut view).await;
        Ok(view)
    }

    async fn beside(
        &self,
        _: &Actor,
        study: &StudyView,
        view: &ViewState,
    ) -> Result<Beside, StudioError> {
        self.drawn_beside(study, view).await
    }

    async fn evidence(&self, _: &Actor, point: Uuid) -> Result<Option<Evidence>, StudioError> {
        self.store.evidence(point).await.map_err(internal)
    }

    async fn rules(&self, _: &Actor, point: Uuid) -> Result<Vec<Table>, StudioError> {
        self.rules_on_a_page(point).await
    }

    async fn diagnosis(
        &self,
        _: &Actor,
        point: Uuid,
    ) -> Result<Option<DiagnosisView>, StudioError> {
        self.diagnosis_on_a_page(point).await
    }

    fn will_try(&self, _: &Actor, point: Uuid) {
        self.offers.add(point);
    }

    async fn history(&self, _: &Actor, study: Uuid, bar: Bar) -> Result<HistoryView, StudioError> {
        history::history(&self.store, study, bar).await
    }

    async fn history_so_far(
        &self,
        _: &Actor,
        study: Uuid,
        bar: Bar,
    ) -> Result<HistoryView, StudioError> {
        history::history_so_far(&self.store, study, bar).await
    }

    async fn launch(&self, _: &Actor, spec: StudySpec) -> Result<Uuid, StudioError> {
        let foretold = self.foretold_of(&spec).await?;
        let id = self.store_study(spec).await?;
        self.begin(id, foretold).await
    }

    async fn stop(&self, _: &Actor, id: Uuid) -> Result<(), StudioError> {
        if self
            .move_study(id, StudyState::Queued, (StudyState::Stopped, Hold::None))
            .await?
        {
            return Ok(());
        }
        if self.store.request_stop(id).await.map_err(internal)? {
            self.supervisor.stop_study(id);
            return Ok(());
        }
        Err(conflict("the study does not run; there is nothing to stop"))
    }

    async fn resume(&self, _: &Actor, id: Uuid) -> Result<(), StudioError> {
        bundles::check_ours(self.stored(id).await?.imported.as_ref())?;
        if self.supervisor.unstored_end(id).is_some() {
            return Err(conflict(
                "the study's end is not stored yet; free space on the disk of the studio's data directory, then resume a few seconds later",
            ));
        }
        for from in [
            StudyState::Interrupted,
            StudyState::Stopped,
            StudyState::Failed,
        ] {
            if self
                .move_study(id, from, (StudyState::Queued, Hold::None))
                .await?
            {
                self.supervisor.wake();
                return Ok(());
            }
        }
        Err(conflict(
            "only an interrupted, stopped or failed study can be resumed",
        ))
    }

    async fn skip(&self, _: &Actor, point: Uuid) -> Result<(), StudioError> {
        self.skip_point(point).await
    }

    async fn pause(&self, _: &Actor, id: Uuid) -> Result<(), StudioError> {
        self.pause_study(id).await
    }

    async fn engine_log(&self, _: &Actor, study: Uuid) -> Result<EngineLog, StudioError> {
        self.log_of(study).await
    }

    async fn proceed(&self, _: &Actor, id: Uuid) -> Result<(), StudioError> {
        self.proceed_with(id).await
    }

    async fn edit(&self, _: &Actor, id: Uuid, edit: StudyEdit) -> Result<(), StudioError> {
        let mut study = self.stored(id).await?;
        let StudyEdit {
            name,
            tags,
            note,
            declared,
        } = launch::checked_edit(edit)?;
        if !declared.is_empty() {
            bundles::check_ours(study.imported.as_ref())?;
            self.declare(id, &declared).await?;
        }
        study.spec.name = name.clone().unwrap_or(study.spec.name);
        study.tags = tags.clone().unwrap_or(study.tags);
        let search = engines::search_text(&study.spec, &study.tags, &study.engine);
        self.store
            .change_study(
                id,
                &StudyChange {
                    name,
                    tags,
                    note,
                    search,
                },
            )
            .await
            .map_err(internal)
    }

    async fn delete(&self, _: &Actor, id: Uuid) -> Result<(), StudioError> {
        let study = self.stored(id).await?;
        if matches!(study.state, StudyState::Running | StudyState::Waiting) {
            return Err(conflict("the study runs; stop it before you delete it"));
        }
        self.move_study(id, StudyState::Queued, (StudyState::Stopped, Hold::None))
            .await?;
        self.store
            .set_deleted(id, Some(now_ms()))
            .await
            .map_err(internal)
    }

    async fn undelete(&self, _: &Actor, id: Uuid) -> Result<(), StudioError> {
        self.store
            .study(id)
            .await
            .map_err(internal)?
            .ok_or_else(|| missing("study"))?;
        self.store.set_deleted(id, None).await.map_err(internal)
    }

    async fn sample(&self, _: &Actor, spec: StudySpec) -> Result<Sample, StudioError> {
        self.first_requests(spec).await
    }

    async fn probe(&self, _: &Actor, request: ProbeRequest) -> Result<ProbeReport, StudioError> {
        self.probe_url(request).await
    }

    async fn engines(&self, _: &Actor) -> Result<Vec<EngineRow>, StudioError> {
        self.known_engines().await
    }

    async fn save_engine(
        &self,
        _: &Actor,
        name: String,
        endpoint: Endpoint,
    ) -> Result<EngineRow, StudioError> {
        self.add_engine(name, endpoint).await
    }

    async fn delete_engine(&self, _: &Actor, id: Uuid) -> Result<(), StudioError> {
        if self.registry.has(id) {
            return Err(conflict(
                "this engine stands in studio.toml; take it out there and start the studio again",
            ));
        }
        let gone = self.store.delete_engine(id).await.map_err(internal)?;
        gone.then_some(()).ok_or_else(|| missing("engine"))
    }

    async fn engine_sheets(&self, _: &Actor) -> Result<Engines, StudioError> {
        self.sheets().await
    }

    async fn simulator_knobs(&self, _: &Actor) -> Result<Vec<KnobRow>, StudioError> {
        Ok(registry::sheet::simulator_knobs())
    }

    async fn starts(&self, _: &Actor, study: Uuid) -> Result<Vec<StartRow>, StudioError> {
        self.start_rows(study).await
    }

    async fn secrets(&self, _: &Actor) -> Result<Vec<String>, StudioError> {
        self.secret_names()
    }

    async fn slos(&self, _: &Actor) -> Result<Vec<NamedSlo>, StudioError> {
        self.store.slos().await.map_err(internal)
    }

    async fn save_slo(&self, _: &Actor, slo: NamedSlo) -> Result<(), StudioError> {
        let slo = NamedSlo {
            name: launch::checked_name("name", &slo.name)?,
            slo: slo.slo,
        };
        self.store.save_slo(&slo).await.map_err(internal)
    }

    async fn delete_slo(&self, _: &Actor, name: String) -> Result<(), StudioError> {
        let gone = self.store.delete_slo(&name).await.map_err(internal)?;
        gone.then_some(()).ok_or_else(|| missing("SLO"))
    }

    async fn datasets(&self, _: &Actor) -> Result<Vec<DatasetRow>, StudioError> {
        let folder = self.data_dir.clone();
        let files = tokio::task::spawn_blocking(move || folder::files(&folder)).await;
        files.map_err(internal)?.map_err(internal)
    }

    async fn compare(
        &self,
        _: &Actor,
        configurations: Vec<Uuid>,
        slo: Option<Slo>,
    ) -> Result<CompareView, StudioError> {
        compare::compare(&self.store, &configurations, slo).await
    }

    async fn share(
        &self,
        _: &Actor,
        study: Uuid,
        expires_ms: Option<i64>,
        scope: ShareScope,
    ) -> Result<ShareRow, StudioError> {
        self.mint_share(study, expires_ms, scope).await
    }

    async fn share_comparison(
        &self,
        _: &Actor,
        comparison: NewComparison,
    ) -> Result<ShareRow, StudioError> {
        self.mint_comparison(comparison).await
    }

    async fn shares(&self, _: &Actor, study: Uuid) -> Result<Vec<ShareRow>, StudioError> {
        self.stored(study).await?;
        self.store.shares(study).await.map_err(internal)
    }

    async fn revoke(&self, _: &Actor, share: Uuid) -> Result<(), StudioError> {
        self.revoke_share(share).await
    }

    async fn shared(&self, token: &str) -> Result<StudyView, StudioError> {
        self.shared_view(token).await
    }

    async fn shared_why(&self, token: &str) -> Result<Option<String>, StudioError> {
        self.shared_diagnosis(token).await
    }

    async fn shared_compare(
        &self,
        token: &str,
        configurations: Vec<Uuid>,
        slo: Option<Slo>,
    ) -> Result<CompareView, StudioError> {
        let link = self.comparable(token).await?;
        self.compared(&link, configurations, slo).await
    }
}
