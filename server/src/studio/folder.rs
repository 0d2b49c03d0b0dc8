//! The folder of files that workloads name: what lies in it, by its content.
//!
//! A file is read to its end once, when it comes. What it is stands beside it in a hidden file, and holds as long as size
//! and time of change are the same. Files that were put there by hand are read when the folder is looked at, unless they
//! are large: of those only the beginning is.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use app::studio::DatasetRow;
use load::{Inspected, inspect, kind_of};
use measure::workload::DataKind;
use serde::{Deserialize, Serialize};

use super::launch::DATASETS;

/// A larger file is not read to its end because somebody looks at the list.
const READ_WHEN_LISTED: u64 = 16 << 20;

/// What is known of a file, as it stands beside it.
#[derive(Deserialize, Serialize)]
struct About {
    bytes: u64,
    changed_ns: u64,
    kind: DataKind,
    rows: u64,
}

/// The files that can be named, by name.
pub(super) fn files(data_dir: &Path) -> io::Result<Vec<DatasetRow>> {
    let mut rows = Vec::new();
    for entry in std::fs::read_dir(data_dir.join(DATASETS))? {
        let entry = entry?;
        let file = entry.file_name().to_string_lossy().into_owned();
        let metadata = entry.metadata()?;
        if metadata.is_file() && !file.starts_with('.') {
            rows.push(row(&entry.path(), file, &metadata));
        }
    }
    rows.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(rows)
}

fn row(path: &Path, file: String, metadata: &Metadata) -> DatasetRow {
    let bytes = metadata.len();
    let known = about(path, metadata).map(|about| (about.kind, Some(about.rows)));
    let known = known.or_else(|| {
        let read = (bytes <= READ_WHEN_LISTED).then(|| inspect(path, &file).ok());
        let read = read.flatten();
        read.inspect(|found| remember(path, *found));
        read.map(|found| (found.kind, Some(found.rows)))
    });
    let known = known.or_else(|| kind_of(path, &file).ok().map(|kind| (kind, None)));
    DatasetRow {
        file,
        bytes,
        kind: known.map(|(kind, _)| kind),
        rows: known.and_then(|(_, rows)| rows),
    }
}

/// What stands beside a file, as long as it is of this very file.
fn about(path: &Path, metadata: &Metadata) -> Option<About> {
    let text = std::fs::read(beside(path)?).ok()?;
    let about: About = serde_json::from_slice(&text).ok()?;
    let same = (about.bytes, about.changed_ns) == (metadata.len(), changed_ns(metadata)?);
    same.then_some(about)
}

/// Writes down what a file is. Where that fails it is read again the next time.
pub(crate) fn remember(path: &Path, found: Inspected) {
    let write = || {
        let metadata = path.metadata().ok()?;
        let about = About {
            bytes: metadata.len(),
            changed_ns: changed_ns(&metadata)?,
            kind: found.kind,
            rows: found.rows,
        };
        std::fs::write(beside(path)?, serde_json::to_vec(&about).ok()?).ok()
    };
    if write().is_none() {
        tracing::debug!(file = %path.display(), "cannot write down what a data set is");
    }
}

fn beside(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_string_lossy();
    Some(path.with_file_name(format!(".{name}.about")))
}

fn changed_ns(metadata: &Metadata) -> Option<u64> {
    let since = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_nanos()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_told_by_what_it_is_now() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = dir.path().join(DATASETS);
        std::fs::create_dir(&folder).expect("made");
        let put = |text: &str| std::fs::write(folder.join("mine"), text).expect("written");
        let found = || {
            let files = files(dir.path()).expect("a list");
            let told = files.into_iter().map(|row| (row.file, row.kind, row.rows));
            told.collect::<Vec<_>>()
        };
        put("{\"prompt\": \"a\"}\n");
        let prompts = [("mine".to_owned(), Some(DataKind::Prompts), Some(1))];
        assert_eq!((found(), found()), (prompts.to_vec(), prompts.to_vec()));
        put("{\"prompt\": \"a\"}\n{\"prompt\": ");
        assert_eq!(
            found(),
            [("mine".to_owned(), Some(DataKind::Prompts), None)]
        );
        put("what");
        assert_eq!(found(), [("mine".to_owned(), None, None)]);
    }
}
