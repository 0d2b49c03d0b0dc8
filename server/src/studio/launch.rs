//! May this study run? Everything that can be known before the first request is checked here, each error at its field.

use std::path::{Path, PathBuf};

use app::studio::{StudioError, StudyEdit};
use measure::knobs::Facts;
use measure::study::{EngineSpec, FieldError, PlannedPoint, StudySpec, is_visible, steers};
use measure::units::Level;
use uuid::Uuid;

use super::{LocalStudio, added, dataset, engines, internal, invalid, managed};
use crate::store::NewStudy;
use crate::supervisor::first_point;

const NAME_LENGTH: usize = 200;
const NOTE_LENGTH: usize = 20_000;
const TAGS: usize = 20;
const TAG_LENGTH: usize = 60;

impl LocalStudio {
    /// The one folder that holds data sets.
    pub fn datasets_dir(&self) -> PathBuf {
        self.data_dir.join(DATASETS)
    }

    /// Checks and stores a study and puts it in the queue.
    pub(super) async fn store_study(&self, spec: StudySpec) -> Result<Uuid, StudioError> {
        let engines = self.known_engines().await?;
        let mut fields = spec.check();
        if fields.is_empty() {
            fields.extend(added::check_added(&spec, &engines, &self.data_dir));
            fields.extend(check_simulator(&spec));
            fields.extend(check_streams(&spec));
            fields.extend(self.check_managed(&spec));
            fields.extend(check_files(&spec, &self.data_dir));
        }
        if fields.is_empty() {
            fields.extend(self.check_prompts(&spec).await);
            fields.extend(self.check_tokenizer(&spec).await);
        }
        if !fields.is_empty() {
            return Err(StudioError::Invalid { fields });
        }
        let digest = async |file| dataset::digest_of(file, &self.data_dir).await;
        let dataset = digest(spec.workload.file()).await.map_err(internal)?;
        let tokenizer = digest(spec.tokenizer.as_deref()).await.map_err(internal)?;
        let engine = engines::engine_words(&spec, &Facts::new());
        let (looked_up, registry) = (spec.clone(), self.registry.clone());
        let identities =
            tokio::task::spawn_blocking(move || engines::identities(&looked_up, &registry));
        let study = NewStudy {
            id: Uuid::now_v7(),
            spec: &spec,
            plan: &spec.plan(),
            engine: &engine,
            search: &engines::search_text(&spec, &[], &engine),
            simulated: managed::is_simulated(&spec, &self.registry),
            engines: &identities.await.map_err(internal)?,
            dataset_sha256: dataset.as_deref(),
            tokenizer_sha256: tokenizer.as_deref(),
        };
        self.store.insert_study(&study).await.map_err(internal)?;
        Ok(study.id)
    }

    /// Reads the tokenizer, for the same reason.
    async fn check_tokenizer(&self, spec: &StudySpec) -> Option<FieldError> {
        let (file, data_dir) = (spec.tokenizer.clone()?, self.data_dir.clone());
        let read = move || dataset::tokenizer(&file, None, &data_dir).map(drop);
        let read = tokio::task::spawn_blocking(read).await;
        let message = match read {
            Ok(Ok(())) => return None,
            Ok(Err(message)) => message,
            Err(_) => "the tokenizer cannot be read".into(),
        };
        Some(FieldError {
            field: "tokenizer".into(),
            message,
        })
    }

    /// Makes the first point's prompts: a data set that cannot be used says so now, not in an hour.
    async fn check_prompts(&self, spec: &StudySpec) -> Option<FieldError> {
        let (spec, data_dir) = (spec.clone(), self.data_dir.clone());
        let turn = dataset::turn_for(&spec).await;
        let planned = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            first_point(&spec, &data_dir).map(drop)
        });
        let planned = planned.await;
        match planned {
            Ok(Ok(())) => None,
            Ok(Err(message)) => Some(FieldError {
                field: "workload".into(),
                message,
            }),
            Err(_) => Some(FieldError {
                field: "workload".into(),
                message: "the workload's prompts cannot be made".into(),
            }),
        }
    }
}

/// The preset exists and takes these knobs.
fn check_simulator(spec: &StudySpec) -> Vec<FieldError> {
    let EngineSpec::Simulator { preset } = &spec.engine else {
        return Vec::new();
    };
    if !sim::PRESETS.contains(&preset.as_str()) {
        let message = format!(
            "no such preset {preset:?}; there are {}",
            sim::PRESETS.join(", ")
        );
        return vec![FieldError {
            field: "engine.preset".into(),
            message,
        }];
    }
    let mut fields = Vec::new();
    for (index, configuration) in spec.configurations.iter().enumerate() {
        if let Err(cause) = sim::Config::preset(preset, &configuration.knobs) {
            fields.push(FieldError {
                field: format!("configurations[{index}].knobs"),
                message: engines::sentence(&cause),
            });
        }
    }
    fields
}

/// Levels whose connections at once are certain, and more than this process may open: they would be refused in the middle of the study.
fn check_streams(spec: &StudySpec) -> Vec<FieldError> {
    load::limits::raise_file_limit();
    beyond(spec, load::limits::files())
}

fn beyond(spec: &StudySpec, (allowed, free): (u64, u64)) -> Vec<FieldError> {
    let in_process = matches!(spec.engine, EngineSpec::Simulator { .. });
    let shared = matches!(&spec.engine, EngineSpec::Endpoint(it) if it.connection.http2);
    let room = free / load::limits::files_each(in_process);
    let half = if in_process {
        ", half of them for the simulated engine"
    } else {
        ""
    };
    let refuse = |point: PlannedPoint| {
        let streams = streams_of(spec, &point)?;
        (!shared && room < streams).then(|| FieldError {
            field: format!("levels[{}]", point.level_index),
            message: format!(
                "{} has {streams} requests in flight at once, and there are files for {room} connections (of {allowed} that may be open{half}): start the studio with a higher limit (ulimit -n), or lower the requests or the concurrency",
                point.level
            ),
        })
    };
    let points = spec.plan().into_iter();
    let once = points.filter(|it| it.configuration == 0 && it.repeat == 0);
    once.filter_map(refuse).collect()
}

/// Requests in flight at once, where that is certain.
fn streams_of(spec: &StudySpec, point: &PlannedPoint) -> Option<u64> {
    match point.level {
        Level::Concurrency(streams) => Some(streams.min(point.requests).into()),
        Level::Inf => {
            let each = spec.workload.requests_per_session().max(1.0);
            Some((f64::from(point.requests) / each).floor() as u64)
        }
        Level::Rate(_) | Level::Replay(_) => None,
    }
}

/// A data set and a tokenizer are files of the studio's folder, never paths.
pub(super) fn check_files(spec: &StudySpec, data_dir: &Path) -> Vec<FieldError> {
    let files = [
        ("workload.file", spec.workload.file()),
        ("tokenizer", spec.tokenizer.as_deref()),
    ];
    let wrong = |(field, file): (&str, Option<&str>)| check_file(field, file?, data_dir);
    files.into_iter().filter_map(wrong).collect()
}

fn check_file(field: &str, file: &str, data_dir: &Path) -> Option<FieldError> {
    let refuse = |message: String| {
        Some(FieldError {
            field: field.into(),
            message,
        })
    };
    if Path::new(file).file_name().is_none_or(|name| name != file) {
        return refuse("name a file of the data set folder, without a path".into());
    }
    let folder = data_dir.join(DATASETS);
    if !folder.join(file).is_file() {
        return refuse(format!(
            "no such file {file:?}; put it into {DATASETS} in the studio's data directory"
        ));
    }
    None
}

/// The folder of data sets within the data directory.
pub(crate) const DATASETS: &str = "datasets";

/// A name that is neither empty nor a novel.
pub(crate) fn checked_name(field: &str, name: &str) -> Result<String, StudioError> {
    let name = name.trim();
    if !is_visible(name) {
        return Err(invalid(field, "give it a name"));
    }
    if steers(name) {
        let message = "must not contain line breaks, marks that turn the direction of text, or other control characters";
        return Err(invalid(field, message));
    }
    if NAME_LENGTH < name.chars().count() {
        return Err(invalid(field, format!("at most {NAME_LENGTH} characters")));
    }
    Ok(name.to_owned())
}

/// An edit within its bounds; tags trimmed, sorted, each once.
pub(crate) fn checked_edit(edit: StudyEdit) -> Result<StudyEdit, StudioError> {
    let StudyEdit {
        name,
        tags,
        note,
        declared,
    } = edit;
    let name = name.map(|name| checked_name("name", &name)).transpose()?;
    let tags = tags.map(checked_tags).transpose()?;
    if note
        .as_ref()
        .is_some_and(|note| NOTE_LENGTH < note.chars().count())
    {
        return Err(invalid("note", format!("at most {NOTE_LENGTH} characters")));
    }
    Ok(StudyEdit {
        name,
        tags,
        note,
        declared,
    })
}

fn checked_tags(tags: Vec<String>) -> Result<Vec<String>, StudioError> {
    let mut tags: Vec<String> = tags
        .iter()
        .map(|tag| tag.trim().to_owned())
        .filter(|tag| !tag.is_empty())
        .collect();
    tags.sort();
    tags.dedup();
    if TAGS < tags.len() {
        return Err(invalid("tags", format!("at most {TAGS} tags")));
    }
    if tags.iter().any(|tag| TAG_LENGTH < tag.chars().count()) {
        return Err(invalid(
            "tags",
            format!("a tag has at most {TAG_LENGTH} characters"),
        ));
    }
    if tags.iter().any(|tag| steers(tag)) {
        let message = "a tag must not contain line breaks or marks that turn the direction of text";
        return Err(invalid("tags", message));
    }
    Ok(tags)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_trimmed_sorted_and_each_once() {
        let tags = ["b ", "", "a", "b"].map(String::from).to_vec();
        assert_eq!(checked_tags(tags), Ok(vec!["a".to_owned(), "b".to_owned()]));
    }

    #[test]
    fn what_takes_more_files_than_there_are_is_refused_before_it_is_stored() {
        let mut spec = StudySpec::goodput_exercise();
        spec.adaptive = None;
        spec.levels = ["2", "inf", "c=60"]
            .map(|it| it.parse().expect("a level"))
            .to_vec();
        spec.length.min_requests = 100;
        spec.length.max_requests = 1000;
        let each = spec.workload.requests_per_session().max(1.0);
        let streams = (1000.0 / each).floor() as u64;
        let fields = |free| {
            let found = beyond(&spec, (5000, free)).into_iter();
            found.map(|it| it.field).collect::<Vec<_>>()
        };
        assert_eq!(fields(2 * streams), [""; 0]);
        assert_eq!(fields(2 * streams - 1), ["levels[1]"]);
        assert_eq!(fields(119), ["levels[1]", "levels[2]"]);
        let said = beyond(&spec, (5000, 119)).remove(1).message;
        assert!(
            said.contains("c=60 has 60 requests") && said.contains("ulimit -n"),
            "{said}"
        );
    }

    #[test]
    fn a_name_has_bounds() {
        assert_eq!(checked_name("name", "  x "), Ok("x".to_owned()));
        assert!(checked_name("name", " ").is_err());
        assert!(checked_name("name", "\u{200b}").is_err());
        for bad in ["a\u{1b}[2Jb", "a\u{202e}b", "a\u{2066}b", "a\u{2028}b"] {
            assert!(checked_name("name", bad).is_err(), "{bad:?}");
        }
        assert!(checked_name("name", &"x".repeat(NAME_LENGTH + 1)).is_err());
    }
}
