//! Configurations side by side: gathers what is stored, and lets `measure` say what differs and by how much.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use app::studio::{CompareView, ComparedConfiguration, PairComparison, PointView, StudioError};
use measure::certificate::Innocence;
use measure::compare::{Comparison, Verdict, compare_attainment, compare_ceilings, compare_points};
use measure::knobs::{Comparability, Fact, Facts, Source, comparability};
use measure::score::{self, Score};
use measure::slo::{Metric, Slo, judge};
use measure::study::StudySpec;
use measure::summary::Capacity;
use measure::units::{Level, Nanos};
use uuid::Uuid;

use super::views::{Model, ceilings, point_view};
use super::{internal, invalid, missing};
use crate::store::Store;

/// Configurations on one page at most.
const MOST: usize = 8;

/// One configuration with everything the comparison needs.
struct Side {
    view: ComparedConfiguration,
    spec: StudySpec,
    scores: HashMap<Uuid, Vec<Score>>,
}

/// The compare page; the first configuration is the baseline.
pub(crate) async fn compare(
    store: &Store,
    ids: &[Uuid],
    slo: Option<Slo>,
) -> Result<CompareView, StudioError> {
    if ids.len() < 2 || MOST < ids.len() {
        return Err(invalid(
            "c",
            format!("choose two to {MOST} configurations; the first is the baseline"),
        ));
    }
    let mut seen = HashSet::new();
    if !ids.iter().all(|id| seen.insert(id)) {
        return Err(invalid(
            "c",
            "a configuration stands here twice; a comparison needs different ones",
        ));
    }
    let mut models: HashMap<Uuid, Arc<Model>> = HashMap::new();
    let mut sides = Vec::new();
    for id in ids {
        sides.push(side(store, *id, &mut models).await?);
    }
    let slo = slo.unwrap_or_else(|| sides[0].spec.slo.clone());
    let made = tokio::task::spawn_blocking(move || page(sides, slo)).await;
    made.map_err(internal)
}

async fn side(
    store: &Store,
    id: Uuid,
    models: &mut HashMap<Uuid, Arc<Model>>,
) -> Result<Side, StudioError> {
    let configuration = store
        .configuration(id)
        .await
        .map_err(internal)?
        .ok_or_else(|| missing("configuration"))?;
    let model = match models.get(&configuration.study) {
        Some(model) => model.clone(),
        None => {
            let model = Model::load(store, configuration.study)
                .await
                .map_err(internal)?;
            let model = Arc::new(
                model
                    .filter(|it| it.deleted_ms.is_none())
                    .ok_or_else(|| missing("configuration"))?,
            );
            models.insert(configuration.study, model.clone());
            model
        }
    };
    let points: Vec<PointView> = model
        .points
        .iter()
        .filter(|it| it.configuration == configuration.ordinal)
        .map(point_view)
        .collect();
    let scores = read_scores(store, &points).await?;
    let view = ComparedConfiguration {
        study: model.study.id,
        study_name: model.study.spec.name.clone(),
        simulated: model.study.simulated,
        configuration: model.configuration_view(&configuration),
        points,
    };
    Ok(Side {
        view,
        spec: model.study.spec.clone(),
        scores,
    })
}

async fn read_scores(
    store: &Store,
    points: &[PointView],
) -> Result<HashMap<Uuid, Vec<Score>>, StudioError> {
    let mut scores = HashMap::new();
    for point in points.iter().filter(|point| point.summary.is_some()) {
        let Some((_, bytes)) = store.scores(point.id).await.map_err(internal)? else {
            continue;
        };
        scores.insert(point.id, score::decode(&bytes).map_err(internal)?);
    }
    Ok(scores)
}

fn page(mut sides: Vec<Side>, slo: Slo) -> CompareView {
    for side in &mut sides {
        side.judge_again(&slo);
    }
    let pairs = (1..sides.len())
        .map(|index| pair(&sides[0], &sides[index], index, &slo))
        .collect();
    CompareView {
        slo,
        configurations: sides.into_iter().map(|side| side.view).collect(),
        pairs,
    }
}

impl Side {
    /// Judges each point by the page's SLO, which may not be its study's.
    fn judge_again(&mut self, slo: &Slo) {
        let ComparedConfiguration {
            points,
            configuration,
            ..
        } = &mut self.view;
        if self.spec.slo != *slo {
            for point in points.iter_mut() {
                let scored = self.scores.get(&point.id).zip(point.summary.as_ref());
                point.judgement = scored.map(|(scores, summary)| judge(scores, summary, slo));
            }
        }
        (configuration.ceiling, configuration.ceiling_by_percentile) =
            ceilings(points, self.spec.arrival);
    }

    /// Everything that could make its curve differ: what is known of the engine, and what the study asked of it.
    fn facts(&self) -> Facts {
        let StudySpec {
            workload,
            arrival,
            length,
            warmup,
            seed,
            idle_timeout_ms,
            drain_ms,
            ramp_in_ms,
            ..
        } = &self.spec;
        let mut facts = self.view.configuration.facts.clone();
        let asked = [
            (
                "workload",
                format!(
                    "{workload} ({})",
                    serde_json::to_string(workload).unwrap_or_default()
                ),
            ),
            (
                "arrival",
                serde_json::to_string(arrival).unwrap_or_default(),
            ),
            ("seed", seed.0.to_string()),
            ("warm-up requests", warmup.to_string()),
            ("ramp-in", format!("{ramp_in_ms} ms")),
            (
                "requests a point",
                format!(
                    "{} to {} in {} s",
                    length.min_requests, length.max_requests, length.seconds
                ),
            ),
            (
                "time limits",
                format!("idle {idle_timeout_ms} ms, drain {drain_ms} ms"),
            ),
        ];
        facts.extend(asked.map(|(name, value)| {
            (
                name.to_owned(),
                Fact {
                    value,
                    source: Source::Engine,
                },
            )
        }));
        facts
    }

    /// Scores of a level, its repeats one after another, with a reason where its latencies mean nothing.
    fn level(&self, level: Level) -> Option<(Vec<Score>, Option<&'static str>)> {
        let mut pooled = Vec::new();
        let real = self.spec.workload.has_real_answers();
        let mut why_not = real.then_some(
            "of sessions that carry the engine's own answers, so that no other was asked the same",
        );
        let mut end = Nanos::ZERO;
        for point in self.view.points.iter().filter(|point| point.level == level) {
            let (Some(scores), Some(summary), Some(certificate)) = (
                self.scores.get(&point.id),
                &point.summary,
                &point.certificate,
            ) else {
                continue;
            };
            if matches!(summary.capacity, Capacity::Above { .. }) {
                why_not = Some("above capacity: its latencies are a direction and no value");
            }
            if certificate.innocence == Innocence::Void {
                why_not = Some("void: the client itself disturbed the measurement");
            }
            pooled.extend(scores.iter().map(|score| shifted(score, point.repeat, end)));
            end = end + summary.duration + Nanos::from_millis(1000);
        }
        (!pooled.is_empty()).then_some((pooled, why_not))
    }
}

/// A repeat's scores moved behind those of the repeat before it, with sessions of their own.
fn shifted(score: &Score, repeat: u32, by: Nanos) -> Score {
    // A point has fewer sessions than this (`measure::study::MAX_REQUESTS`).
    const SESSIONS: u32 = 1_000_000;
    let session = score.session + repeat * SESSIONS;
    Score {
        session,
        scheduled: score.scheduled + by,
        sent: score.sent.map(|sent| sent + by),
        ..*score
    }
}

/// What differs. A cache that was cold on one side only is a difference; where nobody can tell, pages say so themselves.
fn comparability_of(baseline: &Side, candidate: &Side) -> Comparability {
    let (mut one, mut other) = (baseline.facts(), candidate.facts());
    let cold = |side: &Side| side.view.configuration.cache_cold;
    if let (Some(cold_one), Some(cold_other)) = (cold(baseline), cold(candidate)) {
        for (facts, cold) in [(&mut one, cold_one), (&mut other, cold_other)] {
            let value = if cold { "yes" } else { "no" }.to_owned();
            let fact = Fact {
                value,
                source: Source::Engine,
            };
            facts.insert("cache reset before each point".into(), fact);
        }
    }
    comparability(&one, &other)
}

fn pair(baseline: &Side, candidate: &Side, index: usize, slo: &Slo) -> PairComparison {
    let comparability = comparability_of(baseline, candidate);
    let mut pair = PairComparison {
        candidate: index as u32,
        ceilings: None,
        ceilings_by_percentile: None,
        latencies: Vec::new(),
        attainment: Vec::new(),
        comparability,
    };
    if matches!(pair.comparability, Comparability::Confounded { .. }) {
        return pair;
    }
    let (one, other) = (&baseline.view.configuration, &candidate.view.configuration);
    pair.ceilings = one
        .ceiling
        .zip(other.ceiling)
        .map(|(one, other)| compare_ceilings(one, other));
    let by_percentile = one.ceiling_by_percentile.zip(other.ceiling_by_percentile);
    pair.ceilings_by_percentile = by_percentile.map(|(one, other)| compare_ceilings(one, other));
    for level in levels(baseline) {
        if let (Some(one), Some(other)) = (baseline.level(level), candidate.level(level)) {
            compare_level(&mut pair, level, one, other, (slo, baseline.spec.seed.0));
        }
    }
    pair
}

/// The baseline's levels, in the order they ran, each once.
fn levels(side: &Side) -> Vec<Level> {
    let mut levels = Vec::new();
    for point in &side.view.points {
        if !levels.contains(&point.level) {
            levels.push(point.level);
        }
    }
    levels
}

type Pooled = (Vec<Score>, Option<&'static str>);

fn compare_level(
    pair: &mut PairComparison,
    level: Level,
    (one, why): Pooled,
    (other, why_other): Pooled,
    (slo, seed): (&Slo, u64),
) {
    let why_not = why.map(|why| format!("the baseline's point is {why}"));
    let why_not =
        why_not.or_else(|| why_other.map(|why| format!("the candidate's point is {why}")));
    for metric in [Metric::Ttft, Metric::Tpot] {
        for percentile in [50.0, 95.0, 99.0] {
            pair.latencies.push(match &why_not {
                None => compare_points(&one, &other, level, metric, percentile, seed),
                Some(why) => not_judged(level, metric, percentile, why),
            });
        }
    }
    let void = why_not.filter(|why| why.contains("void"));
    let (difference, verdict) = match void {
        None => compare_attainment(&one, &other, slo, seed),
        Some(why) => (None, Verdict::NotYetJudged { why }),
    };
    pair.attainment.push((level, difference, verdict));
}

fn not_judged(level: Level, metric: Metric, percentile: f64, why: &str) -> Comparison {
    let verdict = Verdict::NotYetJudged {
        why: why.to_owned(),
    };
    Comparison {
        level,
        metric,
        percentile,
        difference: None,
        verdict,
        remark: None,
    }
}
