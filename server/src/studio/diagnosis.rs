//! Why a point is slow, worked out when somebody asks: from its records, its evidence and what is known of its engine.

mod engine; // what is known of an engine
mod flags; // what an engine calls a knob
mod tried; // predictions that studies were begun to try

pub(crate) use engine::Engine;
pub(crate) use tried::Offers;

use app::diagnosis::{ConfigurationWhy, DiagnosisView, StudyWhy, Why, that_matters, why_panel};
use app::live::is_live;
use app::studio::{StudioError, StudyView};
use bytes::Bytes;
use measure::certificate::Certificate;
use measure::diagnose::{Case, Diagnosis, Theory, Turn, diagnose};
use measure::evidence::Evidence;
use measure::request::RequestRecord;
use measure::summary::Summary;
use measure::units::Nanos;
use uuid::Uuid;

use super::views::Model;
use super::{LocalStudio, internal, missing};
use crate::records::{ReadError, from_parquet};
use crate::store::StoredPoint;

/// Points with more output tokens than this are not worked out while a page waits.
const MOST_TOKENS: u64 = 5_000_000;
/// Studies whose points that matter have fewer output tokens and requests, all together, are worked out for the first answer: some
/// milliseconds.
const AT_ONCE: u64 = 300_000;
/// So many tokens take as long as a request does, over studies of 1,900 and of 50,000 requests.
const TOKENS_OF_A_REQUEST: u64 = 8;

/// All that a diagnosis takes.
struct Question {
    data: PointFigures,
    evidence: Option<Evidence>,
    theory: Option<Theory>,
    made: Vec<Turn>,
    slots: Option<u32>,
}

/// A measured point: its records as they are stored, and what was made of them.
struct PointFigures {
    records: Vec<u8>,
    steady: Option<(Nanos, Nanos)>,
    summary: Summary,
    certificate: Certificate,
}

impl PointFigures {
    /// The requests that count.
    fn counted(&mut self) -> Result<Vec<RequestRecord>, ReadError> {
        let mut records = from_parquet(Bytes::from(std::mem::take(&mut self.records)))?;
        if let Some((from, to)) = self.steady {
            records.retain(|it| from <= it.scheduled && it.scheduled <= to);
        }
        Ok(records)
    }
}

impl Question {
    fn answer(mut self) -> Result<Diagnosis, ReadError> {
        let records = self.data.counted()?;
        Ok(diagnose(Case {
            records: &records,
            summary: &self.data.summary,
            client: &self.data.certificate,
            evidence: self.evidence.as_ref(),
            theory: self.theory,
            made: &self.made,
            slots: self.slots,
        }))
    }
}

fn is_too_large(point: &StoredPoint) -> bool {
    let tokens = point.summary.as_ref().map(|it| it.output_tokens);
    tokens.is_some_and(|it| MOST_TOKENS < it)
}

impl LocalStudio {
    /// A point's diagnosis for a page; none of a point that is not measured, was deleted, or is too large to be worked out at once.
    pub(super) async fn diagnosis_on_a_page(
        &self,
        point: Uuid,
    ) -> Result<Option<DiagnosisView>, StudioError> {
        let Some((model, stored)) = self.model_of(point).await? else {
            return Ok(None);
        };
        if is_too_large(&stored) {
            return Ok(None);
        }
        self.diagnosed(&model, &stored).await
    }

    /// A point's diagnosis for a program, however large the point is.
    pub async fn diagnosis_of(&self, point: Uuid) -> Result<DiagnosisView, StudioError> {
        let found = self.model_of(point).await?;
        let (model, stored) = found.ok_or_else(|| missing("point"))?;
        let diagnosis = self.diagnosed(&model, &stored).await?;
        diagnosis.ok_or_else(|| missing("finished point"))
    }

    /// The diagnosis of the point that matters of each configuration, and what the study was begun to try.
    pub(super) async fn why_of(&self, study: Uuid) -> Result<(StudyView, StudyWhy), StudioError> {
        let model = self.model(study).await?;
        let view = model.view();
        let why = StudyWhy {
            configurations: self.causes(&model, &view, |it| !is_too_large(it)).await?,
            tried: self.tried(&model).await?,
        };
        Ok((view, why))
    }

    /// The diagnosis of the point that matters of each configuration, of those that are worked out.
    async fn causes(
        &self,
        model: &Model,
        view: &StudyView,
        is_worked_out: impl Fn(&StoredPoint) -> bool,
    ) -> Result<Vec<ConfigurationWhy>, StudioError> {
        let mut configurations = Vec::new();
        for (one, index) in view.configurations.iter().zip(0..) {
            let chosen = that_matters(view, index);
            let point = chosen.map(|(point, _)| point);
            let stored = model.points.iter();
            let mut stored = stored.filter(|it| Some(it.id) == point.map(|it| it.id));
            let diagnosis = match stored.next().filter(|it| is_worked_out(it)) {
                Some(stored) => self.diagnosed(model, stored).await?,
                None => None,
            };
            configurations.push(ConfigurationWhy {
                id: one.id,
                name: one.spec.name.clone(),
                point: point.map(|it| it.id),
                level: point.map(|it| it.level),
                chosen: chosen.map(|(_, why)| why),
                diagnosis,
            });
        }
        Ok(configurations)
    }

    /// The panel for the first answer; none where it would keep the page waiting.
    pub(super) async fn why_at_once(&self, study: Uuid) -> Result<Option<String>, StudioError> {
        match is_quick(&self.model(study).await?.view()) {
            true => self.why_panel(study).await,
            false => Ok(None),
        }
    }

    /// The panel beside a study's curve; none while it measures, when nothing may take the client's processor.
    pub async fn why_panel(&self, study: Uuid) -> Result<Option<String>, StudioError> {
        if is_live(self.stored(study).await?.state) {
            return Ok(None);
        }
        let (study, why) = self.why_of(study).await?;
        let rules = self.rule_records().await?;
        let why = Why {
            study,
            why,
            rules,
            for_guest: false,
        };
        Ok(Some(why_panel(&why)))
    }

    /// The same for a guest, for whom nothing is written and little is worked out.
    pub(super) async fn why_for_guest(&self, study: Uuid) -> Result<Option<String>, StudioError> {
        let model = self.model(study).await?;
        if is_live(model.study.state) {
            return Ok(None);
        }
        let study = model.view();
        let quick = is_quick(&study);
        let why = StudyWhy {
            configurations: self.causes(&model, &study, |_| quick).await?,
            tried: None,
        };
        Ok(Some(why_panel(&Why {
            study,
            why: why.for_guest(),
            rules: Vec::new(),
            for_guest: true,
        })))
    }

    /// The same for a program.
    pub async fn diagnoses_of(&self, study: Uuid) -> Result<StudyWhy, StudioError> {
        Ok(self.why_of(study).await?.1)
    }

    /// The study of a point with the point; none where either is not there.
    async fn model_of(&self, point: Uuid) -> Result<Option<(Model, StoredPoint)>, StudioError> {
        let Some(study) = self.store.study_of(point).await.map_err(internal)? else {
            return Ok(None);
        };
        let model = Model::load(&self.store, study).await.map_err(internal)?;
        let Some(model) = model.filter(|it| it.deleted_ms.is_none()) else {
            return Ok(None);
        };
        let stored = model.points.iter().find(|it| it.id == point).cloned();
        Ok(stored.map(|stored| (model, stored)))
    }

    /// None of a point that is not measured.
    async fn diagnosed(
        &self,
        model: &Model,
        stored: &StoredPoint,
    ) -> Result<Option<DiagnosisView>, StudioError> {
        let engine = Engine::of(model, stored);
        let Some(data) = self.figures_of(stored).await? else {
            return Ok(None);
        };
        let question = Question {
            data,
            evidence: self.store.evidence(stored.id).await.map_err(internal)?,
            theory: engine.theory(),
            made: engine.made(),
            slots: engine.slots(),
        };
        let worked_out = tokio::task::spawn_blocking(move || question.answer());
        let diagnosis = worked_out.await.map_err(internal)?.map_err(internal)?;
        let advice = diagnosis.named().and_then(|it| it.advice.as_ref());
        let flag = advice.and_then(|it| engine.flag_at(it.turn, model.study.id, stored));
        Ok(Some(DiagnosisView {
            flag,
            hardware: engine.hardware(),
            diagnosis,
        }))
    }

    /// What a measured point left; none where it is not measured.
    async fn figures_of(&self, stored: &StoredPoint) -> Result<Option<PointFigures>, StudioError> {
        let (Some(summary), Some(certificate)) = (&stored.summary, &stored.certificate) else {
            return Ok(None);
        };
        let records = self.store.records(stored.id).await.map_err(internal)?;
        Ok(records.map(|records| PointFigures {
            records,
            steady: stored.made.as_ref().and_then(|it| it.steady_ns),
            summary: summary.clone(),
            certificate: certificate.clone(),
        }))
    }
}

/// Whether all that a panel tells of a study is worked out in some milliseconds.
fn is_quick(view: &StudyView) -> bool {
    let points = (0..).zip(&view.configurations);
    let points = points.filter_map(|(index, _)| Some(that_matters(view, index)?.0));
    let summaries = points.filter_map(|it| it.summary.as_ref());
    let work = summaries.map(|it| it.output_tokens + TOKENS_OF_A_REQUEST * u64::from(it.scheduled));
    work.sum::<u64>() <= AT_ONCE
}
