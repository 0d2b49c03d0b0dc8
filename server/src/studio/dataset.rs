//! Which file a study's prompts came from. A name is not enough: another file may take it between two studies, or in the
//! middle of one.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use load::tokens::{Counter, LARGEST_TOKENIZER};
use measure::study::StudySpec;
use sha2::{Digest, Sha256};
use tokio::sync::{Mutex, MutexGuard};

use super::engines::sentence;
use super::launch::DATASETS;

/// Data sets are read one at a time: each may fill much memory, and many at once would fill it all.
static READING: Mutex<()> = Mutex::const_new(());

/// A turn at reading data sets; held as long as one is read.
pub(crate) type Turn = MutexGuard<'static, ()>;

/// Waits for a turn at reading a data set.
pub(crate) async fn turn() -> Turn {
    READING.lock().await
}

/// A turn, where the study reads a data set at all.
pub(super) async fn turn_for(spec: &StudySpec) -> Option<Turn> {
    match file_of(spec) {
        Some(_) => Some(turn().await),
        None => None,
    }
}

fn file_of(spec: &StudySpec) -> Option<&str> {
    spec.workload.file()
}

/// A tokenizer of the data folder, where it still is the one of that digest.
pub(crate) fn tokenizer(
    file: &str,
    launched_with: Option<&str>,
    data_dir: &Path,
) -> Result<Counter, String> {
    let unreadable =
        |cause: io::Error| format!("the tokenizer {file:?} cannot be read ({cause}); put it back");
    let path = data_dir.join(DATASETS).join(file);
    let mut bytes = Vec::new();
    let opened = File::open(path).map_err(unreadable)?;
    let mut bounded = opened.take(LARGEST_TOKENIZER + 1);
    bounded.read_to_end(&mut bytes).map_err(unreadable)?;
    if LARGEST_TOKENIZER < bytes.len() as u64 {
        return Err(format!("the file {file:?} is too large for a tokenizer"));
    }
    let now = hexadecimal(&Sha256::digest(&bytes));
    if launched_with.is_some_and(|then| then != now) {
        return Err(format!(
            "the tokenizer {file:?} is another than at the launch; put the earlier file back and resume, or launch the study anew"
        ));
    }
    Counter::read(&bytes, Path::new(file)).map_err(|cause| sentence(&cause))
}

/// The SHA-256 of a file of the data folder; `None` where there is none to look at.
pub(super) async fn digest_of(file: Option<&str>, data_dir: &Path) -> io::Result<Option<String>> {
    let Some(file) = file else {
        return Ok(None);
    };
    let path = data_dir.join(DATASETS).join(file);
    let digest = tokio::task::spawn_blocking(move || digest(&path)).await;
    digest.map_err(io::Error::other)?.map(Some)
}

/// A file's SHA-256, in hexadecimal.
fn digest(path: &Path) -> io::Result<String> {
    let (mut file, mut sum) = (File::open(path)?, Sha256::new());
    let mut block = vec![0; 1 << 20];
    loop {
        match file.read(&mut block)? {
            0 => break,
            read => sum.update(&block[..read]),
        }
    }
    Ok(hexadecimal(&sum.finalize()))
}

/// Bytes in hexadecimal.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Refuses a data set that is not the one that the study was launched with.
pub(crate) fn check_unchanged(
    spec: &StudySpec,
    launched_with: Option<&str>,
    data_dir: &Path,
) -> Result<(), String> {
    let (Some(file), Some(launched_with)) = (file_of(spec), launched_with) else {
        return Ok(());
    };
    match digest(&data_dir.join(DATASETS).join(file)) {
        Ok(now) if now == launched_with => Ok(()),
        Ok(_) => Err(format!(
            "the data set {file:?} is another than at the launch, and points with other prompts belong on no common curve; put the earlier file back and resume, or launch the study anew"
        )),
        Err(cause) => Err(format!(
            "the data set {file:?} cannot be read ({cause}); put it back and resume"
        )),
    }
}
