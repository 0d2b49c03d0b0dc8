//! Rows of the store as entries of the manifest.

use serde_json::value::RawValue;

use super::export::{ExportError, unreadable};
use super::manifest::{Configuration, Point, Raw, Start, Study};
use crate::store::{ConfigurationText, PointText, StartText, StudyText};

/// Each of them.
pub fn each<A, B>(
    all: Vec<A>,
    of: impl Fn(A) -> Result<B, ExportError>,
) -> Result<Vec<B>, ExportError> {
    all.into_iter().map(of).collect()
}

/// JSON as it stands.
pub fn raw(text: String) -> Result<Raw, ExportError> {
    RawValue::from_string(text).map_err(|cause| unreadable(cause.to_string()))
}

/// A study for the manifest.
pub fn study(study: StudyText) -> Result<Study, ExportError> {
    let StudyText {
        id,
        name,
        spec,
        state,
        problem,
        tags,
        note,
        simulated,
        engine,
        created_ms,
        dataset_sha256,
        tokenizer_sha256,
        counted,
    } = study;
    Ok(Study {
        id,
        name,
        spec: raw(spec)?,
        state,
        problem,
        tags: serde_json::from_str(&tags).map_err(|cause| unreadable(cause.to_string()))?,
        note,
        simulated,
        engine,
        created_ms,
        dataset_sha256,
        tokenizer_sha256,
        counted: counted.map(raw).transpose()?,
    })
}

/// A configuration for the manifest.
pub fn configuration(configuration: ConfigurationText) -> Result<Configuration, ExportError> {
    let ConfigurationText {
        id,
        ordinal: _,
        name,
        facts,
        cache_cold,
        ceilings,
    } = configuration;
    Ok(Configuration {
        id,
        name,
        facts: raw(facts)?,
        cache_cold,
        ceilings: ceilings.map(raw).transpose()?,
    })
}

/// A point for the manifest.
pub fn point(point: PointText) -> Result<Point, ExportError> {
    let PointText {
        id,
        configuration,
        ordinal,
        level,
        repeat,
        planned_requests,
        estimated_ms,
        state,
        started_ms,
        finished_ms,
        problem,
        ..
    } = point;
    Ok(Point {
        id,
        configuration: small(configuration)?,
        ordinal: small(ordinal)?,
        level,
        repeat: small(repeat)?,
        planned_requests: small(planned_requests)?,
        estimated_ms: estimated_ms.unsigned_abs(),
        state,
        started_ms,
        finished_ms,
        problem,
    })
}

/// A start for the manifest.
pub fn start(start: StartText) -> Result<Start, ExportError> {
    let StartText {
        id,
        configuration,
        command,
        started_ms,
        startup_ms,
        ended_ms,
        ending,
        log: _,
    } = start;
    Ok(Start {
        id,
        configuration: small(configuration)?,
        command,
        started_ms,
        startup_ms,
        ended_ms,
        ending,
    })
}

fn small(column: i64) -> Result<u32, ExportError> {
    u32::try_from(column).map_err(|cause| unreadable(cause.to_string()))
}
