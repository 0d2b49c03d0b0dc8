//! A study out of a store.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use measure::study::StudySpec;
use uuid::Uuid;

use super::anew::{ceilings, work_out};
use super::manifest::{FORMAT, Figures, Kind, Manifest, Scope, VERSION};
use super::rows::{self, raw};
use super::spool::{Spool, SpoolError};
use super::{ENDING, pack, plain};
use crate::registry::sheet::shown_lines;
use crate::store::{
    ConfigurationText, PointData, PointText, StartText, Store, StoreError, StudyText, now_ms,
};
use crate::studio::share::Removed;

/// Why a study is not exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// It is not there.
    #[error("there is no such study")]
    Missing,
    /// It has not ended.
    #[error("the study has not ended; wait for its end or stop it, then export it")]
    Unfinished,
    /// A part is larger than any that is read again.
    #[error("{part} has {bytes} bytes, more than a bundle may hold")]
    Large {
        /// Which.
        part: String,
        /// Its size.
        bytes: u64,
    },
    /// What is stored cannot be read.
    #[error("what is stored of the study cannot be read: {0}")]
    Unreadable(String),
    /// The file cannot be written.
    #[error("the bundle cannot be written")]
    Disk(#[source] io::Error),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A bundle, in a file without a name.
pub struct Packed {
    /// To be read from its beginning.
    pub file: File,
    /// Its size.
    pub bytes: u64,
    /// What it may be called.
    pub name: String,
    /// What it says of itself.
    pub manifest: Manifest,
}

/// A study's rows.
pub struct Texts {
    /// The study.
    pub study: StudyText,
    /// Its configurations.
    pub configurations: Vec<ConfigurationText>,
    /// Its points that were measured or failed.
    pub points: Vec<PointText>,
    /// Points that were not.
    pub unmeasured: u32,
    /// Its starts.
    pub starts: Vec<StartText>,
    /// What it was begun to try.
    pub foretold: Option<String>,
}

/// Whose figures a bundle has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worked {
    /// Those of the goodput that measured the study, as they are stored.
    Then,
    /// What this goodput makes of the same requests.
    Anew,
}

/// Makes a bundle of a study that has ended, on the disk of a folder.
pub async fn export(
    store: &Store,
    study: Uuid,
    (scope, worked): (Scope, Worked),
    folder: &Path,
) -> Result<Packed, ExportError> {
    let mut texts = Texts::load(store, study).await?;
    plain::leave_out_keys(&mut texts.study)?;
    for start in &mut texts.starts {
        start.command = shown_lines(&start.command).join("\n");
    }
    let removed = match scope {
        Scope::Shown => Some(plain::leave_out(&mut texts)?),
        Scope::Everything => None,
    };
    let mut spool = Spool::new(folder).map_err(ExportError::Disk)?;
    let mut removed = removed;
    let spec = match worked {
        Worked::Then => None,
        Worked::Anew => Some(Arc::new(spec_of(&texts.study)?)),
    };
    for point in texts.points.iter_mut().filter(|it| is_finished(it)) {
        let data = store.point_data(point.id).await?;
        let data = data.ok_or_else(|| unreadable("a finished point has no data"))?;
        let (spec, mut own) = (spec.clone(), point.clone());
        let kept = off_thread(move || {
            let how = (removed.as_ref(), spec.as_deref());
            keep_point(&mut spool, &mut own, data, how)?;
            Ok((spool, removed, own))
        });
        (spool, removed, *point) = kept.await?;
    }
    if let Some(spec) = &spec {
        anew_ceilings(spec, &mut texts)?;
    }
    let folder = folder.to_owned();
    off_thread(move || {
        keep_logs(&mut spool, &mut texts.starts)?;
        let manifest = manifest(texts, scope, &spool)?;
        let file = tempfile::tempfile_in(folder).map_err(ExportError::Disk)?;
        packed(file, manifest, &spool).map_err(ExportError::Disk)
    })
    .await
}

/// Reading, compressing and writing are nothing for the server's threads.
async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ExportError> + Send + 'static,
) -> Result<T, ExportError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|cause| unreadable(cause.to_string()))?
}

pub(super) fn unreadable(why: impl Into<String>) -> ExportError {
    ExportError::Unreadable(why.into())
}

fn is_finished(point: &PointText) -> bool {
    point.state == "finished"
}

impl Texts {
    async fn load(store: &Store, id: Uuid) -> Result<Self, ExportError> {
        let study = store.study_text(id).await?.ok_or(ExportError::Missing)?;
        if matches!(study.state.as_str(), "queued" | "running" | "waiting") {
            return Err(ExportError::Unfinished);
        }
        let configurations = store.configuration_texts(id).await?;
        let all = store.point_texts(id).await?;
        let planned = all.len();
        let is_over = |it: &PointText| matches!(it.state.as_str(), "finished" | "failed");
        let points: Vec<PointText> = all.into_iter().filter(is_over).collect();
        Ok(Self {
            unmeasured: u32::try_from(planned - points.len()).unwrap_or(u32::MAX),
            study,
            configurations,
            points,
            starts: store.start_texts(id).await?,
            foretold: store.prediction_text(id).await?,
        })
    }
}

fn keep_point(
    spool: &mut Spool,
    point: &mut PointText,
    mut data: PointData,
    (removed, anew): (Option<&Removed>, Option<&StudySpec>),
) -> Result<(), ExportError> {
    if let Some(removed) = removed {
        plain::leave_out_of_data(&mut data, removed)?;
    }
    let must = |text: &Option<String>| {
        let text = text.clone();
        raw(text.ok_or_else(|| unreadable("a finished point has no figures"))?)
    };
    let mut figures = Figures {
        summary: must(&point.summary)?,
        certificate: must(&point.certificate)?,
        judgement: must(&point.judgement)?,
        made: point.made.clone().map(raw).transpose()?,
    };
    if let Some(spec) = anew {
        work_anew(spec, point, &mut data, &mut figures)?;
        point.summary = Some(figures.summary.get().to_owned());
        point.judgement = Some(figures.judgement.get().to_owned());
    }
    let figures = serde_json::to_vec(&figures).map_err(|cause| unreadable(cause.to_string()))?;
    let PointData {
        scores,
        records,
        evidence,
        metrics,
    } = data;
    let ordinal = usize::try_from(point.ordinal).unwrap_or_default();
    for (kind, bytes) in [
        (Kind::Figures, Some(figures)),
        (Kind::Scores, Some(scores)),
        (Kind::Records, Some(records)),
        (Kind::Evidence, evidence.map(String::into_bytes)),
        (Kind::Metrics, metrics),
    ] {
        keep(spool, kind, ordinal, bytes)?;
    }
    Ok(())
}

/// Puts the ceilings of the points as they now are in place of those that are stored for lists.
fn anew_ceilings(spec: &StudySpec, texts: &mut Texts) -> Result<(), ExportError> {
    for configuration in &mut texts.configurations {
        let found = ceilings(spec, &texts.points, configuration.ordinal);
        let found = found.map_err(|cause| unreadable(cause.to_string()))?;
        configuration.ceilings = found.or(configuration.ceilings.take());
    }
    Ok(())
}

fn spec_of(study: &StudyText) -> Result<StudySpec, ExportError> {
    serde_json::from_str(&study.spec).map_err(|cause| unreadable(cause.to_string()))
}

/// Puts what this goodput makes of a point's requests in place of what is stored.
fn work_anew(
    spec: &StudySpec,
    point: &PointText,
    data: &mut PointData,
    figures: &mut Figures,
) -> Result<(), ExportError> {
    let made = figures.made.as_ref();
    let made = made.map(|it| serde_json::from_str(it.get()));
    let made = made
        .transpose()
        .map_err(|cause| unreadable(cause.to_string()))?;
    let now = work_out(
        spec,
        &point.level,
        data.records.clone().into(),
        made.as_ref(),
    );
    let now = now.map_err(|cause| unreadable(cause.to_string()))?;
    let text = |found: serde_json::Result<String>| {
        raw(found.map_err(|cause| unreadable(cause.to_string()))?)
    };
    figures.summary = text(serde_json::to_string(&now.summary))?;
    figures.judgement = text(serde_json::to_string(&now.judgement))?;
    data.scores = now.scores;
    Ok(())
}

fn keep_logs(spool: &mut Spool, starts: &mut [StartText]) -> Result<(), ExportError> {
    let mut logs = starts.iter_mut().map(|start| start.log.take()).enumerate();
    logs.try_for_each(|(index, log)| keep(spool, Kind::Log, index, log))
}

fn keep(
    spool: &mut Spool,
    kind: Kind,
    index: usize,
    bytes: Option<Vec<u8>>,
) -> Result<(), ExportError> {
    let Some(content) = bytes else {
        return Ok(());
    };
    let (part, bytes) = (kind.name(index), content.len() as u64);
    if kind.most() < bytes {
        return Err(ExportError::Large { part, bytes });
    }
    match spool.take(part, &content[..]) {
        Ok(_) => Ok(()),
        Err(SpoolError::Read(cause) | SpoolError::Write(cause)) => Err(ExportError::Disk(cause)),
    }
}

fn packed(mut file: File, manifest: Manifest, spool: &Spool) -> io::Result<Packed> {
    pack::pack(&file, &manifest, spool)?;
    let bytes = file.seek(SeekFrom::End(0))?;
    file.rewind()?;
    Ok(Packed {
        file,
        bytes,
        name: file_name(&manifest.study.name),
        manifest,
    })
}

fn manifest(texts: Texts, scope: Scope, spool: &Spool) -> Result<Manifest, ExportError> {
    let Texts {
        study,
        configurations,
        points,
        unmeasured,
        starts,
        foretold,
    } = texts;
    Ok(Manifest {
        format: FORMAT.to_owned(),
        // Whoever reads but the first version can read what has nothing of the second.
        version: if foretold.is_some() { VERSION } else { 1 },
        goodput: env!("CARGO_PKG_VERSION").to_owned(),
        exported_ms: now_ms(),
        scope,
        study: rows::study(study)?,
        configurations: rows::each(configurations, rows::configuration)?,
        points: rows::each(points, rows::point)?,
        unmeasured,
        starts: rows::each(starts, rows::start)?,
        foretold: foretold.map(raw).transpose()?,
        parts: spool.parts(),
    })
}

/// A study's name as a file's: `Prefix caching, H100` becomes `prefix-caching-h100.goodput`.
fn file_name(study: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            ' '
        }
    };
    let plain: String = study.chars().take(80).map(plain).collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    let stem = match words.as_slice() {
        [] => "study".to_owned(),
        words => words.join("-"),
    };
    format!("{stem}.{ENDING}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_called_like_its_study() {
        for (study, file) in [
            ("Prefix caching, H100", "prefix-caching-h100.goodput"),
            ("../../etc/passwd", "etc-passwd.goodput"),
            ("\"\r\nx", "x.goodput"),
            ("日本", "study.goodput"),
        ] {
            assert_eq!(file_name(study), file);
        }
    }
}
