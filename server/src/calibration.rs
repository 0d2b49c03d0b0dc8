//! What this host can drive, as `goodput calibrate` left it in the data folder.

use std::io;
use std::path::{Path, PathBuf};

use measure::certificate::Calibration;
use serde::{Deserialize, Serialize};

/// Raised when a file of an earlier version would mean something else.
const VERSION: u32 = 1;

/// The file's content.
#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    version: u32,
    /// Figures of another machine mean nothing here: a data folder may have been copied.
    host: String,
    cores: usize,
    measured_unix_ms: i64,
    #[serde(flatten)]
    calibration: Calibration,
}

/// Where it is kept.
pub(crate) fn path(data_dir: &Path) -> PathBuf {
    data_dir.join("calibration.json")
}

/// The calibration of this host; `None` where there is none, or it was made elsewhere.
pub(crate) fn read(data_dir: &Path) -> Option<Calibration> {
    let path = path(data_dir);
    let bytes = std::fs::read(&path).ok()?;
    let stored: Stored = match serde_json::from_slice(&bytes) {
        Ok(stored) => stored,
        Err(cause) => {
            tracing::warn!(path = %path.display(), %cause, "the calibration cannot be read: calibrate again");
            return None;
        }
    };
    let here = stored.version == VERSION && (stored.host, stored.cores) == (host(), cores());
    here.then_some(stored.calibration)
}

/// Keeps a calibration of this host.
pub(crate) fn write(
    data_dir: &Path,
    calibration: Calibration,
    measured_unix_ms: i64,
) -> io::Result<()> {
    std::fs::create_dir_all(data_dir)?;
    let stored = Stored {
        version: VERSION,
        host: host(),
        cores: cores(),
        measured_unix_ms,
        calibration,
    };
    let bytes = serde_json::to_vec_pretty(&stored)?;
    // Whole or not at all.
    let part = path(data_dir).with_extension("json.part");
    std::fs::write(&part, bytes)?;
    std::fs::rename(part, path(data_dir))
}

fn host() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .map(|name| name.trim().to_owned())
        .unwrap_or_default()
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use measure::units::Nanos;

    use super::*;

    fn some() -> Calibration {
        Calibration {
            rate: 1500.0,
            streams: 4096,
            chunks_per_s: 64_000.0,
            ttft_error_p99: Nanos(70_000),
            itl_error_p99: Nanos(90_000),
        }
    }

    #[test]
    fn a_calibration_is_read_as_it_was_written_and_only_where_it_was_made() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(read(folder.path()), None);
        write(folder.path(), some(), 7).expect("written");
        assert_eq!(read(folder.path()), Some(some()));
        let file = path(folder.path());
        let text = std::fs::read_to_string(&file).expect("read");
        let elsewhere = text.replace(&format!("\"{}\"", host()), "\"elsewhere\"");
        std::fs::write(&file, elsewhere).expect("written");
        assert_eq!(read(folder.path()), None);
        std::fs::write(&file, "{").expect("written");
        assert_eq!(read(folder.path()), None);
    }
}
