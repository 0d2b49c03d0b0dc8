//! A running engine: its guard, its log, its end.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, PipeReader, Read};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use measure::study::Endpoint;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};
use tokio::sync::watch;

use super::LaunchError;
use super::command::Program;
use super::exit::Exit;
use super::guard;
use super::log::Log;
use super::orphans::{self, Flock};
use super::ready::AnsweredBy;
use crate::engine::Wire;

/// Variables that every engine gets, where they are set: where programs and homes are, and how texts are written.
const ALWAYS: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TMPDIR",
    "TZ",
    "SSH_AUTH_SOCK",
    "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR",
];
/// Beyond its grace a guard may take so long.
const SPARE: Duration = Duration::from_secs(8);
/// Who is below a guard is noted first after so long,
const SOON: Duration = Duration::from_millis(50);
/// and in the end once in so long.
const SELDOM: Duration = Duration::from_secs(1);
/// Lines of the log that an error carries.
const TAIL: usize = 12;

/// An engine to be started, with everything decided.
#[derive(Clone, Debug)]
pub struct Launch {
    /// What is run.
    pub program: Program,
    /// Variables of the studio's own environment that it gets besides the usual ones.
    pub pass_env: Vec<String>,
    /// Its working directory.
    pub cwd: Option<PathBuf>,
    /// Where it answers once it does.
    pub endpoint: Endpoint,
    /// How it is reached there.
    pub wire: Wire,
    /// The path that says whether it is well.
    pub health: String,
    /// How long a start may take.
    pub limit: Duration,
    /// How long it may take to end before it is killed.
    pub grace: Duration,
    /// Values that must not stand in its log.
    pub secrets: Vec<String>,
    /// The program that guards it; `None`: this one.
    pub guard: Option<PathBuf>,
}

impl Launch {
    /// A text for people without the values that must not stand in the log.
    pub fn without_secrets(&self, mut text: String) -> String {
        for secret in self.secrets.iter().filter(|it| 4 <= it.len()) {
            text = text.replace(secret.as_str(), "[secret]");
        }
        text
    }
}

/// An engine that runs. Letting it go ends it; [`Managed::stop`] waits for that.
#[derive(Debug)]
pub struct Managed {
    /// Closing it ends the engine.
    studio_lives: Option<ChildStdin>,
    guard: Pid,
    ended: watch::Receiver<Option<Exit>>,
    log: Arc<Mutex<Log>>,
    began: Instant,
    grace: Duration,
    /// From its start to its first token.
    pub startup: Duration,
    /// Whether it is the engine itself that gave it.
    pub answered_by: AnsweredBy,
    /// What was run.
    pub program: Program,
}

/// What an engine says, for whoever looks while it runs. Does not keep it alive.
#[derive(Clone, Debug)]
pub struct Said(Arc<Mutex<Log>>);

impl Said {
    /// The last of it so far.
    pub fn text(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).text()
    }
}

/// How an engine ended when it was asked to.
#[derive(Clone, Debug, PartialEq)]
pub struct Stopped {
    /// How.
    pub exit: Exit,
    /// How long that took.
    pub took: Duration,
    /// The last of what it said.
    pub log: String,
}

impl Managed {
    /// Starts the process; it is not ready yet.
    pub(super) fn spawn(launch: &Launch) -> Result<Self, LaunchError> {
        let failed = |cause| LaunchError::Spawn {
            program: launch.program.argv.first().cloned().unwrap_or_default(),
            cause,
        };
        let (reader, writer) = io::pipe().map_err(failed)?;
        orphans::adopt();
        let mark = orphans::new_mark();
        let mut child = guarded(launch, &mark, writer).map_err(failed)?;
        let log = Arc::new(Mutex::new(Log::without(launch.secrets.clone())));
        let reading = read(reader, log.clone());
        let (studio_lives, guard) = (child.stdin.take(), Pid::from_child(&child));
        let flock = Flock::new(guard, &mark);
        Ok(Self {
            studio_lives,
            guard,
            ended: wait(child, flock, reading),
            log,
            began: Instant::now(),
            grace: launch.grace * if launch.program.stop.is_empty() { 1 } else { 2 },
            startup: Duration::ZERO,
            answered_by: AnsweredBy::Untold("it has not answered yet"),
            program: launch.program.clone(),
        })
    }

    /// The process that everything of the engine is below.
    pub(super) fn guard(&self) -> Pid {
        self.guard
    }

    /// How it ended, once it has.
    pub fn exit(&self) -> Option<Exit> {
        *self.ended.borrow()
    }

    /// Resolves when it has ended.
    pub fn ended(&self) -> impl Future<Output = Exit> + Send + use<> {
        let mut ended = self.ended.clone();
        async move {
            let exit = ended.wait_for(Option::is_some).await;
            exit.ok().and_then(|exit| *exit).unwrap_or(Exit::Unknown)
        }
    }

    /// The last of what it said.
    pub fn log(&self) -> String {
        self.said().text()
    }

    /// The same, for whoever looks again and again.
    pub fn said(&self) -> Said {
        Said(self.log.clone())
    }

    /// The end of its log, for an error.
    pub fn tail(&self) -> String {
        self.locked_log().tail(TAIL)
    }

    /// More of it, for a reason to be found in.
    pub(super) fn last_lines(&self, lines: usize) -> String {
        self.locked_log().tail(lines)
    }

    /// How long it has run.
    pub fn age(&self) -> Duration {
        self.began.elapsed()
    }

    /// The engine's processes; none where the system does not say.
    pub fn pids(&self) -> Vec<u32> {
        let below = guard::below(self.guard.as_raw_nonzero().get());
        below
            .into_iter()
            .map(|pid| pid.as_raw_nonzero().get().unsigned_abs())
            .collect()
    }

    /// Ends it and everything that it started; waits for that.
    pub async fn stop(mut self) -> Stopped {
        let asked = Instant::now();
        drop(self.studio_lives.take());
        let ended = tokio::time::timeout(self.grace + SPARE, self.ended()).await;
        let exit = match ended {
            Ok(exit) => exit,
            Err(_) => self.kill().await,
        };
        Stopped {
            exit,
            took: asked.elapsed(),
            log: self.log(),
        }
    }

    /// The guard itself does not end: what it guards, then the guard.
    async fn kill(&self) -> Exit {
        for pid in guard::below(self.guard.as_raw_nonzero().get())
            .into_iter()
            .chain([self.guard])
        {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        let ended = tokio::time::timeout(SPARE, self.ended()).await;
        ended.unwrap_or(Exit::Unknown)
    }

    fn locked_log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The guard with the engine's command, environment and directory.
fn guarded(launch: &Launch, mark: &str, log: io::PipeWriter) -> io::Result<Child> {
    let Program { argv, env, stop } = &launch.program;
    let program = match &launch.guard {
        Some(path) => path.clone(),
        None => guard::own_program()?,
    };
    let mut command = Command::new(program);
    command
        .arg0("goodput")
        .args(["guard", "--grace-ms"])
        .arg(launch.grace.as_millis().to_string())
        .args(
            stop.iter()
                .map(|word| OsString::from(format!("--stop={word}"))),
        )
        .arg("--")
        .args(argv)
        .env_clear()
        .envs(environment(&launch.pass_env, env))
        .env(orphans::MARK, mark)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(log.try_clone()?)
        .stderr(log);
    if let Some(cwd) = &launch.cwd {
        command.current_dir(cwd);
    }
    command.spawn()
}

/// What an engine gets of the studio's environment: little, so that it starts the same whoever started the studio, and
/// none of the studio's own secrets.
fn environment(pass: &[String], given: &BTreeMap<String, String>) -> Vec<(OsString, OsString)> {
    let wanted = ALWAYS
        .iter()
        .copied()
        .chain(pass.iter().map(String::as_str));
    let own = wanted.filter(|name| !name.starts_with("GOODPUT_"));
    let own = own.filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?)));
    let given = given
        .iter()
        .map(|(name, value)| (name.into(), value.into()));
    own.chain(given).collect()
}

/// Reads the log to its end, on a thread: the engine must never wait for a reader.
fn read(mut reader: PipeReader, log: Arc<Mutex<Log>>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut bytes = vec![0; 16 << 10];
        loop {
            match reader.read(&mut bytes) {
                Ok(0) => return,
                Ok(n) => log
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(&bytes[..n]),
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    })
}

/// Tells when the guard has ended, nothing is left of what it looked after, and the log is read.
fn wait(
    mut child: Child,
    mut flock: Flock,
    reading: JoinHandle<()>,
) -> watch::Receiver<Option<Exit>> {
    let (tell, ended) = watch::channel(None);
    std::thread::spawn(move || {
        let status = outlived(&mut child, &mut flock).ok();
        flock.end();
        let exit = status.map_or(Exit::Unknown, |status| {
            use std::os::unix::process::ExitStatusExt;
            status
                .signal()
                .map_or(Exit::from_status(status.code()), Exit::Guard)
        });
        // Whoever still holds the pipe must not keep the news back.
        let patience = Instant::now() + Duration::from_millis(500);
        while !reading.is_finished() && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(5));
        }
        tell.send_replace(Some(exit));
    });
    ended
}

/// Waits for a guard; notes now and then whom it looks after, in case it is killed.
fn outlived(child: &mut Child, flock: &mut Flock) -> io::Result<ExitStatus> {
    // An older system has no such thing: the mark has to do.
    let Ok(held) = pidfd_open(Pid::from_child(child), PidfdFlags::empty()) else {
        return child.wait();
    };
    let mut pause = SOON;
    loop {
        let mut ended = [PollFd::new(&held, PollFlags::IN)];
        let patience = Timespec::try_from(pause).ok();
        match poll(&mut ended, patience.as_ref()) {
            Ok(0) => {
                flock.look();
                pause = (2 * pause).min(SELDOM);
            }
            Err(rustix::io::Errno::INTR) => {}
            _ => return child.wait(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_gets_little_of_the_environment() {
        let given = [("HF_HOME".to_owned(), "/models".to_owned())].into();
        // Cargo sets CARGO_PKG_NAME for tests.
        let pass = ["CARGO_PKG_NAME", "GOODPUT_TOKEN", "NOT_SET_ANYWHERE"].map(String::from);
        let got: BTreeMap<OsString, OsString> = environment(&pass, &given).into_iter().collect();
        assert_eq!(got.get(&OsString::from("HF_HOME")), Some(&"/models".into()));
        assert_eq!(
            got.get(&OsString::from("CARGO_PKG_NAME")),
            Some(&"load".into())
        );
        assert!(got.contains_key(&OsString::from("PATH")));
        assert!(
            !got.keys()
                .any(|name| name == "CARGO_MANIFEST_DIR" || name == "GOODPUT_TOKEN")
        );
    }
}
