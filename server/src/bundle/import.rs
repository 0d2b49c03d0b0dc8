//! A study into a store. Everything is read as what it must be before anything is stored.

use std::path::Path;

use uuid::Uuid;

use super::BundleError;
use super::manifest::{Kind, Manifest, Scope};
use super::read;
use super::unpack::Unpacked;
use crate::store::{ImportStudy, Imported, PointData, StartText, Store, StoreError, now_ms};
use crate::studio::engines::search_text;

/// A study that was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The study.
    pub id: Uuid,
    /// Its name.
    pub name: String,
    /// It was here before; nothing was changed, but that a deleted one is back.
    pub already_here: bool,
}

/// Stores a bundle's study, finished and with its origin. `file` is what the bundle is called.
pub async fn import(store: &Store, unpacked: Unpacked, file: &str) -> Result<Opened, BundleError> {
    let read = tokio::task::spawn_blocking(move || {
        let study = read::study(&unpacked)?;
        Ok::<_, BundleError>((unpacked, study))
    });
    let read = read
        .await
        .map_err(|cause| BundleError::unreadable("content", cause))?;
    let (unpacked, mut rows) = read?;
    let manifest = &unpacked.manifest;
    add_logs(&unpacked, &mut rows.starts)?;
    let import = ImportStudy {
        search: &search_text(&rows.spec, &manifest.study.tags, &rows.study.engine),
        study: &rows.study,
        imported: &origin(manifest, file),
        configurations: &rows.configurations,
        points: &rows.points,
        starts: &rows.starts,
        foretold: rows.foretold.as_deref(),
    };
    let data = |index: usize| data(&unpacked, index);
    let fresh = store.import_study(&import, data).await?;
    let (id, mut name) = (rows.study.id, rows.study.name.clone());
    if !fresh {
        bring_back(store, id).await?;
        // What is kept is what was here, under its own name.
        if let Some((kept, _)) = store.study(id).await? {
            name = kept.spec.name;
        }
    }
    Ok(Opened {
        id,
        name,
        already_here: !fresh,
    })
}

/// Whoever opens a bundle wants to see its study, even where it was deleted before.
async fn bring_back(store: &Store, id: Uuid) -> Result<(), StoreError> {
    if let Some((_, Some(_))) = store.study(id).await? {
        store.set_deleted(id, None).await?;
    }
    Ok(())
}

fn origin(manifest: &Manifest, file: &str) -> Imported {
    Imported {
        file: shown_name(file),
        goodput: shown_name(&manifest.goodput),
        exported_ms: manifest.exported_ms,
        imported_ms: now_ms(),
        everything: manifest.scope == Scope::Everything,
        ended: manifest.study.state.clone(),
        unmeasured: manifest.unmeasured,
    }
}

/// A file's name without its folder, short and visible.
fn shown_name(file: &str) -> String {
    let name = file.rsplit(['/', '\\']).next().unwrap_or_default();
    let visible = name.chars().filter(|c| !c.is_control());
    visible.take(120).collect()
}

fn add_logs(unpacked: &Unpacked, starts: &mut [StartText]) -> Result<(), BundleError> {
    for (index, start) in starts.iter_mut().enumerate() {
        start.log = unpacked.part(&Kind::Log.name(index))?;
    }
    Ok(())
}

/// What the point of an index left.
fn data(unpacked: &Unpacked, index: usize) -> Result<Option<PointData>, StoreError> {
    let Some(point) = unpacked.manifest.points.get(index) else {
        return Ok(None);
    };
    if !point.is_finished() {
        return Ok(None);
    }
    let part = |kind: Kind| unpacked.spool.bytes(&kind.name(point.ordinal as usize));
    let read = || {
        let evidence = part(Kind::Evidence)?;
        Ok(PointData {
            scores: part(Kind::Scores)?.unwrap_or_default(),
            records: part(Kind::Records)?.unwrap_or_default(),
            evidence: evidence.map(|it| String::from_utf8_lossy(&it).into_owned()),
            metrics: part(Kind::Metrics)?,
        })
    };
    read().map(Some).map_err(StoreError::Source)
}

/// The name of a bundle's file, for its study's origin.
pub fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_nothing_of_folders() {
        for (file, shown) in [
            ("a.goodput", "a.goodput"),
            ("/home/ada/a.goodput", "a.goodput"),
            ("C:\\ada\\a.goodput", "a.goodput"),
            ("a\u{1b}[2J.goodput", "a[2J.goodput"),
        ] {
            assert_eq!(shown_name(file), shown);
        }
    }
}
