//! Why a point is slow, worked out when somebody asks: from its records, its evidence and what is known of its engine.

mod flags; // what an engine calls a knob

use app::diagnosis::{DiagnosisView, FlagView};
use app::studio::StudioError;
use bytes::Bytes;
use load::catalogue::catalogues;
use measure::certificate::Certificate;
use measure::diagnose::{Case, Diagnosis, Theory, Turn, diagnose};
use measure::evidence::Evidence;
use measure::knobs::{Facts, Source};
use measure::request::RequestRecord;
use measure::study::{ConfigurationSpec, EngineSpec};
use measure::summary::Summary;
use measure::units::Nanos;
use uuid::Uuid;

use super::views::Model;
use super::{LocalStudio, internal};
use crate::records::{ReadError, from_parquet};
use crate::store::StoredPoint;
use flags::Flag;

/// Points with more output tokens than this are not worked out while a page waits.
const MOST_TOKENS: u64 = 5_000_000;

/// All that a diagnosis takes.
struct Question {
    records: Vec<u8>,
    steady: Option<(Nanos, Nanos)>,
    summary: Summary,
    certificate: Certificate,
    evidence: Option<Evidence>,
    theory: Option<Theory>,
    made: Vec<Turn>,
}

impl Question {
    fn answer(self) -> Result<Diagnosis, ReadError> {
        let mut records = from_parquet(Bytes::from(self.records))?;
        if let Some((from, to)) = self.steady {
            let counts = |it: &RequestRecord| from <= it.scheduled && it.scheduled <= to;
            records.retain(counts);
        }
        Ok(diagnose(Case {
            records: &records,
            summary: &self.summary,
            client: &self.certificate,
            evidence: self.evidence.as_ref(),
            theory: self.theory,
            made: &self.made,
        }))
    }
}

impl LocalStudio {
    /// A point's diagnosis; none of a point that is not measured, was deleted, or is too large to be worked out at once.
    pub(super) async fn diagnosis_of(
        &self,
        point: Uuid,
    ) -> Result<Option<DiagnosisView>, StudioError> {
        let Some(study) = self.store.study_of(point).await.map_err(internal)? else {
            return Ok(None);
        };
        let model = self.model(study).await?;
        let Some(stored) = model.points.iter().find(|it| it.id == point) else {
            return Ok(None);
        };
        let engine = Engine::of(&model, stored);
        let Some(question) = self.question(stored, &engine).await? else {
            return Ok(None);
        };
        let worked_out = tokio::task::spawn_blocking(move || question.answer());
        let diagnosis = worked_out.await.map_err(internal)?.map_err(internal)?;
        let advice = diagnosis.named().and_then(|it| it.advice.as_ref());
        let flag = advice.and_then(|it| engine.flag(it.turn, study, stored.configuration));
        Ok(Some(DiagnosisView { diagnosis, flag }))
    }

    async fn question(
        &self,
        stored: &StoredPoint,
        engine: &Engine,
    ) -> Result<Option<Question>, StudioError> {
        let (Some(summary), Some(certificate)) = (&stored.summary, &stored.certificate) else {
            return Ok(None);
        };
        if MOST_TOKENS < summary.output_tokens {
            return Ok(None);
        }
        let records = self.store.records(stored.id).await.map_err(internal)?;
        let evidence = self.store.evidence(stored.id).await.map_err(internal)?;
        Ok(records.map(|records| Question {
            records,
            steady: stored.made.as_ref().and_then(|it| it.steady_ns),
            summary: summary.clone(),
            certificate: certificate.clone(),
            evidence,
            theory: engine.theory(),
            made: engine.made(),
        }))
    }
}

/// What is known of the engine of a point.
struct Engine {
    spec: EngineSpec,
    configuration: ConfigurationSpec,
    facts: Facts,
    /// The name of its catalogue.
    catalogue: Option<&'static str>,
}

impl Engine {
    fn of(model: &Model, point: &StoredPoint) -> Self {
        let mut configurations = model.configurations.iter();
        let stored = configurations.find(|it| it.ordinal == point.configuration);
        let facts = stored.map(|it| it.facts.clone()).unwrap_or_default();
        let spec = model.study.spec.engine.clone();
        Self {
            configuration: model.spec_of(point.configuration),
            catalogue: catalogue_of(&spec, &facts),
            facts,
            spec,
        }
    }

    /// What the hardware allows: known of the simulator only, whose prices are its own.
    fn theory(&self) -> Option<Theory> {
        let EngineSpec::Simulator { preset } = &self.spec else {
            return None;
        };
        let config = sim::Config::preset(preset, &self.configuration.knobs).ok()?;
        Some(config.cost.theory())
    }

    /// A flag's value, where it is known.
    fn value(&self, flag: &Flag) -> Option<&str> {
        let fact = self.facts.get(&format!("knob:{}", flag.name))?;
        (fact.source != Source::Unknown).then_some(fact.value.as_str())
    }

    /// Switches that stand as a turn would set them.
    fn made(&self) -> Vec<Turn> {
        let all = flags::TURNS.into_iter();
        let is_made = |turn: &Turn| {
            let flag = self.catalogue.and_then(|it| flags::of(it, *turn));
            flag.is_some_and(|flag| self.value(flag).is_some_and(|value| flag.is_made(value)))
        };
        all.filter(is_made).collect()
    }

    fn flag(&self, turn: Turn, study: Uuid, configuration: u32) -> Option<FlagView> {
        let flag = flags::of(self.catalogue?, turn)?;
        let now = self.value(flag);
        let value = flag.to(now);
        let link = value.as_ref().map(|value| {
            format!(
                "/new?from={study}&flip={configuration}:{}={value}",
                flag.name
            )
        });
        Some(FlagView {
            name: flag.name.to_owned(),
            now: now.map(str::to_owned),
            value,
            link,
        })
    }
}

/// The catalogue of an engine: of one that the studio runs itself, or by what the engine calls itself.
fn catalogue_of(spec: &EngineSpec, facts: &Facts) -> Option<&'static str> {
    if let EngineSpec::Simulator { .. } = spec {
        return Some("simulator");
    }
    let engine = &facts.get("engine")?.value;
    let mut all = catalogues().iter();
    let named = all.find(|it| it.title.eq_ignore_ascii_case(engine) || it.engine == *engine);
    named.map(|it| it.engine.as_str())
}
