//! The parts of a bundle as what they must be. Nothing of what stands in one is believed before it was read as that.

use std::collections::BTreeSet;

use app::diagnosis::Foretold;
use app::studio::{SIMULATOR, StudyEdit};
use bytes::Bytes;
use load::Made;
use load::tokens::Counted;
use measure::certificate::Certificate;
use measure::evidence::Evidence;
use measure::knobs::Facts;
use measure::score::decode;
use measure::slo::Judgement;
use measure::study::{EngineSpec, MAX_POINTS, MAX_REPEATS, StudySpec, level_problem};
use measure::summary::Summary;
use measure::units::Level;
use serde::de::DeserializeOwned;

use super::BundleError;
use super::anew::ceilings;
use super::manifest::{
    Configuration, Figures, Kind, MOST_STARTS, Manifest, NAME, Point, Raw, Start, Study,
};
use super::unpack::Unpacked;
use crate::records::{looked_through, rows};
use crate::store::{ConfigurationText, PointText, StartText, StudyText};
use crate::studio::launch::checked_edit;
use crate::studio::views::Ceilings;

/// No time of a study is later: the end of the year 9999.
const LATEST_MS: i64 = 253_402_300_799_999;
/// No moment of a point is further from its start: a year.
const LONGEST_MS: i64 = 366 * 24 * 3_600_000;
/// Longest words that say why something failed, or what was run.
const LONGEST: usize = 20_000;

/// A study's rows.
pub struct Rows {
    /// As it was stated.
    pub spec: StudySpec,
    /// The study.
    pub study: StudyText,
    /// Its configurations.
    pub configurations: Vec<ConfigurationText>,
    /// Its points.
    pub points: Vec<PointText>,
    /// Starts of its engines, without their logs.
    pub starts: Vec<StartText>,
    /// What it was begun to try.
    pub foretold: Option<String>,
}

/// Reads everything but requests, which stay the bytes that they are.
pub fn study(unpacked: &Unpacked) -> Result<Rows, BundleError> {
    let manifest = &unpacked.manifest;
    check_counts(manifest)?;
    let spec: StudySpec = raw("spec", &manifest.study.spec)?;
    spec.levels.iter().try_for_each(|it| check_level(*it))?;
    if MAX_REPEATS < spec.repeats {
        let why = format!(
            "its study has {} repeats, and none has more than {MAX_REPEATS}",
            spec.repeats
        );
        return Err(wrong(why));
    }
    if spec.configurations.len() != manifest.configurations.len() {
        return Err(wrong("it has other configurations than its study"));
    }
    let configurations = manifest.configurations.iter().enumerate();
    let configurations: Result<Vec<_>, _> = configurations
        .map(|(index, it)| configuration(index, it))
        .collect();
    let (mut configurations, facts): (Vec<_>, Vec<_>) = configurations?.into_iter().unzip();
    let simulates = |facts: &Facts| {
        let engine = facts.get("engine");
        engine.is_some_and(|fact| fact.value == SIMULATOR)
    };
    // Whatever a bundle says of itself, the simulator is told by its study.
    let simulated = manifest.study.simulated
        || matches!(spec.engine, EngineSpec::Simulator { .. })
        || facts.iter().any(simulates);
    let points = manifest.points.iter().map(|it| point(unpacked, it));
    let points: Vec<PointText> = points.collect::<Result<_, _>>()?;
    // Lists show what the pages work out, not what a bundle says of itself.
    for configuration in &mut configurations {
        let found = ceilings(&spec, &points, configuration.ordinal);
        configuration.ceilings = found.map_err(wrong)?;
    }
    let starts = manifest.starts.iter().map(|it| start(manifest, it));
    Ok(Rows {
        study: row(&manifest.study, simulated)?,
        spec,
        configurations,
        points,
        starts: starts.collect::<Result<_, _>>()?,
        foretold: manifest.foretold.as_ref().map(foretold).transpose()?,
    })
}

fn foretold(text: &Raw) -> Result<String, BundleError> {
    if LONGEST < text.get().len() {
        return Err(wrong("its prediction is longer than any"));
    }
    raw::<Foretold>("prediction", text).map(|_| text.get().to_owned())
}

fn check_counts(manifest: &Manifest) -> Result<(), BundleError> {
    let points = &manifest.points;
    if MAX_POINTS < points.len() || MOST_STARTS < manifest.starts.len() {
        return Err(wrong("it has more points or starts than a study has"));
    }
    let places: BTreeSet<u32> = points.iter().map(|point| point.ordinal).collect();
    let configurations = manifest.configurations.len();
    let out_of_place = |point: &Point| {
        configurations <= point.configuration as usize || MAX_POINTS <= point.ordinal as usize
    };
    if places.len() != points.len() || points.iter().any(out_of_place) {
        return Err(wrong("a point has no place of its own in the plan"));
    }
    let states = points.iter().map(|point| point.state.as_str());
    for state in states {
        if !matches!(state, "finished" | "failed") {
            return Err(wrong(format!("a point is {state:?}")));
        }
    }
    times([Some(manifest.exported_ms)])
}

fn row(study: &Study, simulated: bool) -> Result<StudyText, BundleError> {
    let state = study.state.as_str();
    if !matches!(state, "finished" | "stopped" | "interrupted" | "failed") {
        return Err(wrong(format!("its study is {state:?}")));
    }
    times([Some(study.created_ms)])?;
    let edit = StudyEdit {
        name: Some(study.name.clone()),
        tags: Some(study.tags.clone()),
        note: Some(study.note.clone()),
        ..StudyEdit::default()
    };
    let edit = checked_edit(edit).map_err(wrong)?;
    let counted = study.counted.as_ref();
    let counted = counted.map(|it| raw::<Counted>("counted", it).map(|_| it.get().to_owned()));
    Ok(StudyText {
        id: study.id,
        name: edit.name.unwrap_or_default(),
        spec: study.spec.get().to_owned(),
        state: state.to_owned(),
        problem: words(&study.problem)?,
        tags: serde_json::to_string(&edit.tags.unwrap_or_default()).map_err(wrong)?,
        note: edit.note.unwrap_or_default(),
        simulated,
        engine: words(&Some(study.engine.clone()))?.unwrap_or_default(),
        created_ms: study.created_ms,
        dataset_sha256: digest(&study.dataset_sha256)?,
        tokenizer_sha256: digest(&study.tokenizer_sha256)?,
        counted: counted.transpose()?,
    })
}

fn configuration(
    index: usize,
    configuration: &Configuration,
) -> Result<(ConfigurationText, Facts), BundleError> {
    let facts: Facts = raw("facts", &configuration.facts)?;
    let ceilings = configuration.ceilings.as_ref();
    let ceilings = ceilings.map(|it| raw::<Ceilings>("ceilings", it).map(|_| it.get().to_owned()));
    let text = ConfigurationText {
        id: configuration.id,
        ordinal: index as i64,
        name: words(&Some(configuration.name.clone()))?.unwrap_or_default(),
        facts: configuration.facts.get().to_owned(),
        cache_cold: configuration.cache_cold,
        ceilings: ceilings.transpose()?,
    };
    Ok((text, facts))
}

fn point(unpacked: &Unpacked, point: &Point) -> Result<PointText, BundleError> {
    let level: Level = point
        .level
        .parse()
        .map_err(|_| wrong(format!("a point's level is {:?}", point.level)))?;
    check_level(level)?;
    if MAX_REPEATS <= point.repeat {
        let repeat = point.repeat;
        return Err(wrong(format!(
            "a point is repeat {repeat}, and none has more than {MAX_REPEATS}"
        )));
    }
    times([point.started_ms, point.finished_ms])?;
    let figures = if point.is_finished() {
        let figures = figures(unpacked, point)?;
        check_data(unpacked, point, &figures)?;
        Some(figures)
    } else {
        None
    };
    let text = |of: fn(&Figures) -> &Raw| figures.as_ref().map(|it| of(it).get().to_owned());
    let made = figures.as_ref().and_then(|it| it.made.as_ref());
    Ok(PointText {
        id: point.id,
        configuration: i64::from(point.configuration),
        ordinal: i64::from(point.ordinal),
        level: level.to_string(),
        repeat: i64::from(point.repeat),
        planned_requests: i64::from(point.planned_requests),
        estimated_ms: i64::try_from(point.estimated_ms).map_err(wrong)?,
        state: point.state.clone(),
        started_ms: point.started_ms,
        finished_ms: point.finished_ms,
        problem: words(&point.problem)?,
        summary: text(|it| &it.summary),
        certificate: text(|it| &it.certificate),
        judgement: text(|it| &it.judgement),
        made: made.map(|made| made.get().to_owned()),
    })
}

/// A level that no study may have draws no axis.
fn check_level(level: Level) -> Result<(), BundleError> {
    match level_problem(level) {
        Some(why) => Err(wrong(format!("a level is {level:?}: it {why}"))),
        None => Ok(()),
    }
}

/// A finished point's rows, each read as what it is.
pub fn figures(unpacked: &Unpacked, point: &Point) -> Result<Figures, BundleError> {
    let name = Kind::Figures.name(point.ordinal as usize);
    let figures: Figures = json(&name, &part(unpacked, &name)?)?;
    raw::<Summary>(&name, &figures.summary)?;
    raw::<Certificate>(&name, &figures.certificate)?;
    raw::<Judgement>(&name, &figures.judgement)?;
    if let Some(made) = &figures.made {
        raw::<Made>(&name, made)?;
    }
    Ok(figures)
}

fn check_data(unpacked: &Unpacked, point: &Point, figures: &Figures) -> Result<(), BundleError> {
    let name = Kind::Scores.name(point.ordinal as usize);
    let scores = decode(&part(unpacked, &name)?);
    let scores = scores.map_err(|why| BundleError::unreadable(&name, why))?;
    check_requests(unpacked, point, figures, scores.len() as u64)?;
    let name = Kind::Evidence.name(point.ordinal as usize);
    match unpacked.part(&name)? {
        Some(evidence) => check_moments(&name, &json(&name, &evidence)?),
        None => Ok(()),
    }
}

/// Requests are as many as were scored, and can be read to the last of them. Their number is that of the file's footer first, since a
/// small file can say that it holds any.
fn check_requests(
    unpacked: &Unpacked,
    point: &Point,
    figures: &Figures,
    scored: u64,
) -> Result<(), BundleError> {
    let name = Kind::Records.name(point.ordinal as usize);
    let made = figures.made.as_ref().map(|it| raw::<Made>(&name, it));
    let window = made.transpose()?.and_then(|made| made.steady_ns);
    let records = Bytes::from(part(unpacked, &name)?);
    let unlike = |count: u64| {
        let why = format!("it has {count} requests where {scored} were scored");
        BundleError::unreadable(&name, why)
    };
    let unreadable = |why| BundleError::unreadable(&name, why);
    let told = rows(records.clone()).map_err(unreadable)?;
    if told < scored || (window.is_none() && told != scored) {
        return Err(unlike(told));
    }
    match looked_through(records, window).map_err(unreadable)? {
        count if count == scored => Ok(()),
        count => Err(unlike(count)),
    }
}

/// Moments are those of a point's clock.
fn check_moments(part: &str, evidence: &Evidence) -> Result<(), BundleError> {
    for at_ms in evidence.tracks.iter().map(|track| &track.at_ms) {
        let odd = |at: &&i64| !(-LONGEST_MS..=LONGEST_MS).contains(*at);
        if let Some(at) = at_ms.iter().find(odd) {
            let why = format!("{at} ms is no moment of a point");
            return Err(BundleError::unreadable(part, why));
        }
    }
    Ok(())
}

/// A part that must be there.
pub fn part(unpacked: &Unpacked, name: &str) -> Result<Vec<u8>, BundleError> {
    let found = unpacked.part(name)?;
    found.ok_or_else(|| BundleError::Missing(name.to_owned()))
}

fn start(manifest: &Manifest, start: &Start) -> Result<StartText, BundleError> {
    times([Some(start.started_ms), start.ended_ms])?;
    if manifest.configurations.len() <= start.configuration as usize {
        return Err(wrong("a start has no configuration"));
    }
    Ok(StartText {
        id: start.id,
        configuration: i64::from(start.configuration),
        command: words(&Some(start.command.clone()))?.unwrap_or_default(),
        started_ms: start.started_ms,
        startup_ms: start.startup_ms,
        ended_ms: start.ended_ms,
        ending: words(&start.ending)?,
        log: None,
    })
}

fn json<T: DeserializeOwned>(part: &str, bytes: &[u8]) -> Result<T, BundleError> {
    serde_json::from_slice(bytes).map_err(|why| BundleError::unreadable(part, why))
}

/// Reads JSON that stands within a part.
pub fn raw<T: DeserializeOwned>(what: &str, text: &Raw) -> Result<T, BundleError> {
    json(what, text.get().as_bytes())
}

fn wrong(why: impl std::fmt::Display) -> BundleError {
    BundleError::unreadable(NAME, why)
}

fn times<const N: usize>(all: [Option<i64>; N]) -> Result<(), BundleError> {
    let odd = |at: &i64| !(0..=LATEST_MS).contains(at);
    match all.into_iter().flatten().find(odd) {
        Some(at) => Err(wrong(format!("{at} is no time of a study"))),
        None => Ok(()),
    }
}

fn words(text: &Option<String>) -> Result<Option<String>, BundleError> {
    match text {
        Some(long) if LONGEST < long.len() => Err(wrong("a text in it is too long")),
        text => Ok(text.clone()),
    }
}

fn digest(text: &Option<String>) -> Result<Option<String>, BundleError> {
    let is_hex = |it: &String| it.len() <= 64 && it.bytes().all(|byte| byte.is_ascii_hexdigit());
    match text {
        Some(odd) if !is_hex(odd) => Err(wrong(format!("{odd:?} is no SHA-256"))),
        text => Ok(text.clone()),
    }
}

#[cfg(test)]
mod tests {
    use measure::evidence::{Seen, Track};

    use super::*;

    #[track_caller]
    fn check(at_ms: &[i64], says: Option<&str>) {
        let mut evidence = Evidence::of(&Seen::default(), &[], &[], None);
        evidence.tracks = vec![Track {
            at_ms: at_ms.to_vec(),
            ..Track::default()
        }];
        let found = check_moments("evidence.json", &evidence);
        let why = found.err().map(|why| why.to_string());
        match (why, says) {
            (None, None) => {}
            (Some(why), Some(says)) => assert!(why.contains(says), "{at_ms:?}: {why}"),
            (why, says) => panic!("{at_ms:?}: {why:?} {says:?}"),
        }
    }

    #[test]
    fn moments_of_evidence_are_those_of_a_point() {
        check(&[], None);
        check(&[-9000, 0, 0, 10_800_000], None);
        check(&[i64::MIN, i64::MAX], Some("no moment of a point"));
        check(&[0, LONGEST_MS + 1], Some("no moment of a point"));
    }
}
