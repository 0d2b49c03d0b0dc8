//! Studies as files: out, in, and those that come with the studio.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::sync::LazyLock;

use app::studio::{StudioError, StudyRow, StudyState};
use measure::study::StudySpec;
use tokio::sync::Mutex;
use uuid::Uuid;

use super::views::Model;
use super::{LocalStudio, cards};
use crate::bundle::{
    self, BundleError, Example, ExportError, Manifest, Opened, Packed, Scope, Unpacked, Worked,
};
use crate::store::{Imported, StoredConfiguration, StoredStudy};

/// Bundles are packed and unpacked one at a time: each may take gigabytes of the disk meanwhile.
static TURN: Mutex<()> = Mutex::const_new(());

impl LocalStudio {
    /// A study that has ended, as a file.
    pub(crate) async fn export_bundle(
        &self,
        study: Uuid,
        scope: Scope,
    ) -> Result<Packed, ExportError> {
        let _turn = TURN.lock().await;
        bundle::export(&self.store, study, (scope, Worked::Then), &self.data_dir).await
    }

    /// Opens a bundle; `name` is what its file is called.
    pub(crate) async fn open_bundle(&self, file: File, name: &str) -> Result<Opened, BundleError> {
        let _turn = TURN.lock().await;
        let unpacked = unpacked(file, self.data_dir.clone()).await?;
        bundle::import(&self.store, unpacked, name).await
    }

    /// Opens one of the studies that come with the studio.
    pub(crate) async fn open_example(&self, example: &Example) -> Result<Opened, BundleError> {
        let _turn = TURN.lock().await;
        let bytes = std::io::Cursor::new(example.bytes()?);
        let unpacked = unpacked(bytes, self.data_dir.clone()).await?;
        bundle::import(&self.store, unpacked, &example.file()).await
    }

    /// Folder in which files may lie for a moment.
    pub(crate) fn scratch(&self) -> PathBuf {
        self.data_dir.clone()
    }
}

async fn unpacked(
    file: impl Read + Send + 'static,
    folder: PathBuf,
) -> Result<Unpacked, BundleError> {
    let unpacked = tokio::task::spawn_blocking(move || bundle::unpack(file, &folder)).await;
    unpacked.map_err(|cause| BundleError::Broken(std::io::Error::other(cause)))?
}

/// Studies that come with the studio, as rows of a list: unpacked and read once.
static EXAMPLE_ROWS: LazyLock<Vec<StudyRow>> = LazyLock::new(|| {
    let all = bundle::examples().iter();
    all.filter_map(|it| example_row(&it.manifest)).collect()
});

/// Studies that come with the studio, as rows of a list.
pub(super) fn example_rows() -> &'static [StudyRow] {
    &EXAMPLE_ROWS
}

/// None where this build cannot read the study, which a test of every example forbids.
fn example_row(manifest: &Manifest) -> Option<StudyRow> {
    let study = &manifest.study;
    let mut spec: StudySpec = serde_json::from_str(study.spec.get()).ok()?;
    spec.name = study.name.clone();
    let stored = StoredStudy {
        id: study.id,
        spec,
        state: StudyState::Finished,
        problem: None,
        tags: study.tags.clone(),
        note: String::new(),
        simulated: study.simulated,
        engine: study.engine.clone(),
        created_ms: study.created_ms,
        last_event: 0,
        stop_requested: false,
        pause_requested: false,
        dataset_sha256: None,
        tokenizer_sha256: None,
        counted: None,
        imported: None,
    };
    let configurations = (0..).zip(&manifest.configurations).map(|(ordinal, it)| {
        Some(StoredConfiguration {
            id: it.id,
            study: study.id,
            ordinal,
            facts: serde_json::from_str(it.facts.get()).ok()?,
            cache_cold: it.cache_cold,
            ceilings: it.ceilings.as_ref().map(|raw| raw.get().to_owned()),
        })
    });
    let model = Model {
        study: stored,
        deleted_ms: None,
        configurations: configurations.collect::<Option<_>>()?,
        points: Vec::new(),
    };
    let finished = manifest.points.iter().filter(|point| point.is_finished());
    let counts = (count(finished.count()), count(manifest.points.len()));
    Some(cards::row_without_points(&model, counts))
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Refuses to go on with a study whose engines are elsewhere.
pub(super) fn check_ours(imported: Option<&Imported>) -> Result<(), StudioError> {
    match imported {
        None => Ok(()),
        Some(origin) => Err(super::conflict(format!(
            "this study was imported from {} and stays as it is; clone it to measure an engine of yours the same way",
            origin.file
        ))),
    }
}

/// Where a study came from, for its owner.
pub(super) fn origin_words(origin: &Imported) -> String {
    format!("Imported from {}, {}", origin.file, made_words(origin))
}

/// The same without the name of a file, for strangers.
pub(super) fn shared_origin_words(origin: &Imported) -> String {
    format!("Imported, {}", made_words(origin))
}

fn made_words(origin: &Imported) -> String {
    let Imported {
        goodput,
        exported_ms,
        everything,
        ended,
        unmeasured,
        ..
    } = origin;
    let mut words = format!("made by goodput {goodput} on {}.", date(*exported_ms));
    if !everything {
        words.push_str(" Addresses, paths, logs and notes were left out of it.");
    }
    if *unmeasured != 0 {
        let ended = match ended.as_str() {
            // All that is left out of a finished study is what a person skipped.
            "finished" => "was finished",
            "stopped" => "was stopped",
            "interrupted" => "was interrupted",
            _ => "failed",
        };
        let points = match unmeasured {
            1 => "one point was".to_owned(),
            many => format!("{many} points were"),
        };
        let why = match ended {
            "was finished" => "skipped by a person",
            _ => "never measured",
        };
        words.push_str(&format!(" It {ended}; {points} {why}."));
    }
    words
}

fn date(unix_ms: i64) -> String {
    let at = jiff::Timestamp::from_millisecond(unix_ms).unwrap_or_default();
    at.strftime("%Y-%m-%d").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_a_sentence() {
        let mut origin = Imported {
            file: "a.goodput".into(),
            goodput: "0.1.0".into(),
            exported_ms: 1_796_000_000_000,
            imported_ms: 0,
            everything: true,
            ended: "finished".into(),
            unmeasured: 0,
        };
        assert_eq!(
            origin_words(&origin),
            "Imported from a.goodput, made by goodput 0.1.0 on 2026-11-30."
        );
        (origin.everything, origin.unmeasured) = (false, 1);
        origin.ended = "stopped".into();
        assert_eq!(
            shared_origin_words(&origin),
            "Imported, made by goodput 0.1.0 on 2026-11-30. Addresses, paths, logs and notes were left out of it. It was stopped; one point was never measured."
        );
    }
}
