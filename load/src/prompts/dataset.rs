//! Files of prompts: where they lie, and their lines in bounded memory.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::PromptError;

/// The largest row, in bytes: one is held in memory at a time, and those of real data sets stay far below.
pub(super) const LARGEST_ROW: u64 = 8 << 20;

/// A data set: where it lies, and what people call it. Errors never say more of the server's folders than was asked.
pub(super) struct DataSet {
    pub at: PathBuf,
    pub named: PathBuf,
}

impl DataSet {
    /// The file that a workload names.
    pub(super) fn named(data_dir: Option<&Path>, file: &str) -> Result<Self, PromptError> {
        let named = PathBuf::from(file);
        let Some(folder) = data_dir else {
            let at = named.clone();
            return Ok(Self { at, named });
        };
        let plain =
            !file.is_empty() && !file.contains(['/', '\\', '\0']) && file != "." && file != "..";
        if plain {
            let at = folder.join(file);
            Ok(Self { at, named })
        } else {
            Err(PromptError::NotAFileName {
                file: file.to_owned(),
            })
        }
    }

    pub(super) fn unreadable(&self, cause: std::io::Error) -> PromptError {
        PromptError::Unreadable {
            path: self.named.clone(),
            cause,
        }
    }

    /// Something is wrong with a line; `why` says what and how to mend it.
    pub(super) fn wrong(&self, line: u64, why: impl Into<String>) -> PromptError {
        PromptError::Line {
            path: self.named.clone(),
            line,
            why: why.into(),
        }
    }

    /// Calls `on` for each line that is not blank, with its number from 1, until it says that it has enough. One line is
    /// in memory at a time, and none that is too large.
    pub(super) fn lines(
        &self,
        mut on: impl FnMut(u64, &str) -> Result<Enough, PromptError>,
    ) -> Result<(), PromptError> {
        let file = File::open(&self.at).map_err(|cause| self.unreadable(cause))?;
        let mut file = BufReader::with_capacity(1 << 18, file);
        let mut bytes = Vec::new();
        for number in 1u64.. {
            bytes.clear();
            let mut bounded = Read::by_ref(&mut file).take(LARGEST_ROW + 1);
            let read = bounded.read_until(b'\n', &mut bytes);
            if read.map_err(|cause| self.unreadable(cause))? == 0 {
                break;
            }
            if LARGEST_ROW < bytes.len() as u64 {
                let mebibytes = LARGEST_ROW >> 20;
                let why = format!("is larger than {mebibytes} MiB; take it out or cut it");
                return Err(self.wrong(number, why));
            }
            let line = std::str::from_utf8(&bytes)
                .map_err(|_| self.wrong(number, "is no UTF-8 text; convert the file"))?;
            // A mark that some editors put before everything.
            let line = line.trim_start_matches('\u{feff}').trim();
            if !line.is_empty() && on(number, line)? == Enough::Yes {
                break;
            }
        }
        Ok(())
    }
}

/// Whether a reader has read enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Enough {
    Yes,
    No,
}

/// `dropped: 3 bad_row, 1 no_turns`
pub(super) fn reasons(dropped: &BTreeMap<String, usize>) -> String {
    if dropped.is_empty() {
        return "none was dropped".into();
    }
    let counts = dropped.iter().map(|(why, count)| format!("{count} {why}"));
    format!("dropped: {}", counts.collect::<Vec<_>>().join(", "))
}
