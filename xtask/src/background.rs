//! Programs that run beside us: a database, a browser's driver, an engine.
//!
//! Each is the head of a process group and is ended with all it started when the value is dropped.
//! Should we be killed ourselves, the kernel ends it in our place (`setpriv --pdeathsig`).

use crate::command::find;
use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A running program and where it writes.
pub struct Background {
    name: &'static str,
    child: Child,
    log: PathBuf,
}

/// How a program is started: what it is called in messages, as whom it runs, where it writes.
pub struct Start<'a> {
    pub name: &'static str,
    /// Another user to run as; we must be root then.
    pub user: Option<&'a str>,
    pub log: &'a Path,
}

impl Background {
    /// Starts a program with its output in the log file.
    pub fn start(start: &Start<'_>, program: &Path, args: &[String]) -> anyhow::Result<Self> {
        let Start { name, user, log } = *start;
        if let Some(folder) = log.parent() {
            fs::create_dir_all(folder)?;
        }
        let out = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        let mut command = guarded(program, user);
        command
            .args(args)
            .stdin(Stdio::null())
            .stdout(out.try_clone()?)
            .stderr(out)
            .process_group(0);
        let child = command
            .spawn()
            .with_context(|| format!("cannot start {name} ({})", program.display()))?;
        Ok(Self {
            name,
            child,
            log: log.to_path_buf(),
        })
    }

    /// Waits until `ready` answers with something; an error when the program ends first or time is up.
    pub fn wait_until<T>(
        &mut self,
        limit: Duration,
        ready: impl Fn(&str) -> Option<T>,
    ) -> anyhow::Result<T> {
        let began = Instant::now();
        while began.elapsed() < limit {
            let said = fs::read_to_string(&self.log).unwrap_or_default();
            if let Some(answer) = ready(&said) {
                return Ok(answer);
            }
            if let Some(status) = self.child.try_wait()? {
                bail!(
                    "{} ended at once ({status}); it said:\n{}",
                    self.name,
                    tail(&said)
                );
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        bail!(
            "{} was not ready within {} s; see {}",
            self.name,
            limit.as_secs(),
            self.log.display()
        )
    }

    /// Waits until the program ends by itself.
    pub fn wait(&mut self) -> anyhow::Result<ExitStatus> {
        Ok(self.child.wait()?)
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let Some(group) = group else { return };
        for (signal, patience) in [(Signal::INT, 5), (Signal::TERM, 3), (Signal::KILL, 3)] {
            let _ = kill_process_group(group, signal);
            let began = Instant::now();
            while began.elapsed() < Duration::from_secs(patience) {
                if !matches!(self.child.try_wait(), Ok(None)) {
                    let _ = kill_process_group(group, Signal::KILL);
                    return;
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        }
    }
}

/// The command that starts a program so that it ends with us, perhaps as another user.
fn guarded(program: &Path, user: Option<&str>) -> Command {
    let Some(setpriv) = find("setpriv") else {
        return Command::new(program);
    };
    let mut command = Command::new(setpriv);
    command.args(["--pdeathsig", "TERM"]);
    if let Some(user) = user {
        command.args(["--reuid", user, "--regid", user, "--init-groups"]);
    }
    command.arg("--").arg(program);
    command
}

/// The last lines of a log.
fn tail(said: &str) -> String {
    let lines: Vec<&str> = said.lines().collect();
    lines[lines.len().saturating_sub(15)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, log: &Path) -> anyhow::Result<Background> {
        let start = Start {
            name: "a script",
            user: None,
            log,
        };
        Background::start(
            &start,
            Path::new("/bin/sh"),
            &["-c".to_owned(), script.to_owned()],
        )
    }

    #[test]
    fn what_a_program_says_can_be_waited_for() -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        let mut program = sh("echo port 42; exec sleep 60", &folder.path().join("log"))?;
        let port = program.wait_until(Duration::from_secs(20), |said| {
            said.strip_prefix("port ")?.trim().parse::<u16>().ok()
        })?;
        assert_eq!(port, 42);
        Ok(())
    }

    #[test]
    fn a_program_that_ends_early_is_reported_with_its_last_words() -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        let mut program = sh("echo no disk; exit 3", &folder.path().join("log"))?;
        let error = program
            .wait_until(Duration::from_secs(20), |_| None::<()>)
            .map_err(|error| error.to_string());
        assert!(
            error.is_err_and(|said| said.contains("no disk") && said.contains("exit status: 3"))
        );
        Ok(())
    }

    #[test]
    fn dropping_ends_the_whole_group() -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        let mut program = sh("sleep 300 & echo $!; wait", &folder.path().join("log"))?;
        let inner = program.wait_until(Duration::from_secs(20), |said| {
            said.trim().parse::<u32>().ok()
        })?;
        drop(program);
        std::thread::sleep(Duration::from_millis(300));
        let state = fs::read_to_string(format!("/proc/{inner}/stat")).unwrap_or_default();
        assert!(
            state.is_empty() || state.contains(") Z "),
            "still there: {state}"
        );
        Ok(())
    }
}
