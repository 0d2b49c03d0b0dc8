//! What is left out of a bundle. Keys always; and, unless everything is asked for, all that a shared link does not show:
//! addresses, paths, logs, the text of metrics pages, notes, tags, and the words of engines.

use measure::certificate::Certificate;
use measure::evidence::Evidence;
use measure::knobs::Facts;
use measure::study::{Endpoint, EngineSpec, StudySpec, Turn};
use measure::summary::Summary;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::export::{ExportError, Texts};
use crate::records::{from_parquet, to_parquet};
use crate::store::{PointData, PointText, StudyText};
use crate::studio::engines::engine_words;
use crate::studio::share::{POINT_FAILED, Removed, shown_facts, strip_spec};

/// A study that could not go on, to a stranger.
const STUDY_FAILED: &str = "The study could not go on.";

/// Names of keys mean nothing elsewhere.
pub fn leave_out_keys(study: &mut StudyText) -> Result<(), ExportError> {
    let mut spec: StudySpec = read("study", &study.spec)?;
    let before = spec.clone();
    let without = |endpoint: &mut Endpoint| {
        endpoint.api_key_env = None;
        endpoint.api_key_secret = None;
    };
    if let EngineSpec::Endpoint(endpoint) = &mut spec.engine {
        without(endpoint);
    }
    for configuration in &mut spec.configurations {
        if let Turn::OtherEndpoint(endpoint) = &mut configuration.turn {
            without(endpoint);
        }
    }
    if spec != before {
        study.spec = written("study", &spec)?;
    }
    Ok(())
}

/// Leaves out of a study's rows what a stranger may not read; what that was.
pub fn leave_out(texts: &mut Texts) -> Result<Removed, ExportError> {
    let mut spec: StudySpec = read("study", &texts.study.spec)?;
    let before = spec.clone();
    let removed = strip_spec(&mut spec);
    let facts = texts.configurations.iter();
    let facts: Result<Vec<Facts>, ExportError> = facts.map(|it| read("facts", &it.facts)).collect();
    let all_facts = shown_facts(facts?, texts.study.id);
    for (index, configuration) in texts.configurations.iter_mut().enumerate() {
        configuration.facts = written("facts", &all_facts[index])?;
        if let Some(stated) = spec.configurations.get(index) {
            configuration.name.clone_from(&stated.name);
        }
    }
    let study = &mut texts.study;
    removed.strip_text(&mut study.name);
    study.engine = engine_words(&spec, all_facts.first().unwrap_or(&Facts::new()));
    if spec != before {
        study.spec = written("study", &spec)?;
    }
    study.problem = study.problem.take().map(|_| STUDY_FAILED.to_owned());
    study.tags = "[]".to_owned();
    study.note.clear();
    texts.starts.clear();
    for point in &mut texts.points {
        of_point(point, &removed)?;
    }
    Ok(removed)
}

fn of_point(point: &mut PointText, removed: &Removed) -> Result<(), ExportError> {
    point.problem = point.problem.take().map(|_| POINT_FAILED.to_owned());
    if let Some(text) = &mut point.summary {
        let mut summary: Summary = read("summary", text)?;
        let mut failures = summary.first_failures.values_mut();
        if failures.any(|it| it.detail.take().is_some()) {
            failures.for_each(|it| it.detail = None);
            *text = written("summary", &summary)?;
        }
    }
    if let Some(text) = point.certificate.as_mut().filter(|_| !removed.is_empty()) {
        let mut certificate: Certificate = read("certificate", text)?;
        for reason in &mut certificate.reasons {
            removed.strip_text(reason);
        }
        *text = written("certificate", &certificate)?;
    }
    Ok(())
}

/// Leaves out of what a point left what a stranger may not read. Requests stay byte for byte where none of them has words
/// of an engine.
pub fn leave_out_of_data(data: &mut PointData, removed: &Removed) -> Result<(), ExportError> {
    data.metrics = None;
    if let Some(text) = &mut data.evidence {
        let mut evidence: Evidence = read("evidence", text)?;
        if evidence.metrics_kept || !removed.is_empty() {
            strip_evidence(&mut evidence, removed);
            *text = written("evidence", &evidence)?;
        }
    }
    let unreadable = |cause: &dyn std::error::Error| ExportError::Unreadable(cause.to_string());
    let records = bytes::Bytes::copy_from_slice(&data.records);
    let mut records = from_parquet(records).map_err(|cause| unreadable(&cause))?;
    let mut had_words = false;
    for record in &mut records {
        let words = [
            record.error_detail.take(),
            record.text.take(),
            record.reasoning_text.take(),
        ];
        had_words |= words.iter().any(Option::is_some);
    }
    if had_words {
        data.records = to_parquet(&records).map_err(|cause| unreadable(&cause))?;
    }
    Ok(())
}

fn strip_evidence(evidence: &mut Evidence, removed: &Removed) {
    evidence.metrics_kept = false;
    removed.strip_text(&mut evidence.foreign.sentence);
    removed.strip_text(&mut evidence.cache.sentence);
    for statement in &mut evidence.statements {
        removed.strip_text(statement);
    }
    for figure in &mut evidence.figures {
        removed.strip_text(&mut figure.name);
        removed.strip_text(&mut figure.value);
    }
    for series in evidence.tracks.iter_mut().flat_map(|it| &mut it.series) {
        removed.strip_text(&mut series.label);
    }
}

fn read<T: DeserializeOwned>(what: &str, text: &str) -> Result<T, ExportError> {
    serde_json::from_str(text).map_err(|cause| ExportError::Unreadable(format!("{what}: {cause}")))
}

fn written(what: &str, value: &impl Serialize) -> Result<String, ExportError> {
    let text = serde_json::to_string(value);
    text.map_err(|cause| ExportError::Unreadable(format!("{what}: {cause}")))
}
