//! One folder for everything temporary. When it goes, so does every process that still uses it.

use anyhow::Context;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A folder with a short path (sockets need that), open to other users as far as its name.
pub struct Scratch(TempDir);

impl Scratch {
    /// A new folder in the system's place for such.
    pub fn new() -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("goodput-")
            .tempdir()
            .context("cannot make a temporary folder")?;
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
        fs::create_dir(folder.path().join("tmp"))?;
        Ok(Self(folder))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Where the tests and their browsers put their own temporary files.
    pub fn temporary(&self) -> PathBuf {
        self.path().join("tmp")
    }
}

impl Drop for Scratch {
    /// Ends what was left running with a path of ours among its arguments: a browser whose test panicked.
    fn drop(&mut self) {
        let Ok(processes) = fs::read_dir("/proc") else {
            return;
        };
        for process in processes.flatten() {
            if mentions(&process.path(), self.path()) {
                end(&process.file_name().to_string_lossy());
            }
        }
    }
}

/// Whether one of our processes (same user) names `folder` in its command line.
fn mentions(process: &Path, folder: &Path) -> bool {
    let ours = fs::metadata(process)
        .is_ok_and(|data| Some(data.uid()) == fs::metadata("/proc/self").ok().map(|me| me.uid()));
    let words = fs::read(process.join("cmdline")).unwrap_or_default();
    ours && String::from_utf8_lossy(&words).contains(&*folder.to_string_lossy())
}

fn end(pid: &str) {
    let pid = pid.parse().ok().and_then(rustix::process::Pid::from_raw);
    if let Some(pid) = pid {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    #[test]
    fn what_still_uses_the_folder_is_ended_with_it() -> anyhow::Result<()> {
        let scratch = Scratch::new()?;
        let name = format!("echo {}; cat", scratch.temporary().display());
        let mut child = Command::new("/bin/sh")
            .args(["-c", &name])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        // Its arguments are not to be seen before it runs.
        let stdout = child.stdout.take().context("no stdout")?;
        BufReader::new(stdout).read_line(&mut String::new())?;
        let folder = scratch.path().to_path_buf();
        drop(scratch);
        assert!(!child.wait()?.success());
        assert!(!folder.exists());
        Ok(())
    }
}
