//! Between the studio and an engine: ends the engine, and all that it started, when the studio asks for it or is gone.
//!
//! The studio holds the other end of the guard's standard input. That end closes however the studio ends, also by
//! SIGKILL; the guard then runs the template's stop command, sends TERM to the engine's process group, waits, and kills
//! what is left. Processes that left the group are found as well: whatever the engine started and nobody waits for
//! becomes the guard's child. Should the guard itself be killed, the system kills the engine with it, and the studio ends
//! what else was below it (see `orphans`).

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions};

use super::exit::Exit;

/// While the end is awaited, processes are looked for so often.
const LOOK: Duration = Duration::from_millis(20);
/// What was sent KILL is gone after so long, or cannot be killed.
const LAST: Duration = Duration::from_secs(5);

/// What a guard is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The engine's command.
    pub argv: Vec<OsString>,
    /// Ends an engine that outlives its command, such as a container.
    pub stop: Vec<OsString>,
    /// How long it may take to end before it is killed.
    pub grace: Duration,
}

/// What a guard hears of.
enum News {
    /// The studio wants the end, or is gone.
    StudioGone,
    /// A process ended.
    Ended(i32, Exit),
}

/// Runs the engine until it ends or the studio does; the exit status that says how the engine ended. Blocks, and is alone
/// in its process: it waits for every child.
pub fn guard(order: &Order) -> io::Result<u8> {
    // Where the system cannot do that, processes that left the engine's group are not found.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    let engine = spawn(&order.argv)?;
    let (tell, news) = sync_channel(64);
    watch_studio(tell.clone());
    watch_children(tell);
    let own_end = loop {
        match news.recv() {
            Ok(News::Ended(pid, exit)) if pid == engine.as_raw_nonzero().get() => break Some(exit),
            Ok(News::Ended(..)) => {}
            Ok(News::StudioGone) | Err(_) => break None,
        }
    };
    let end = End {
        news,
        engine,
        exit: own_end,
    };
    Ok(end.all(order).to_status())
}

/// The engine in a process group of its own, by way of this program: see [`become_engine`].
fn spawn(argv: &[OsString]) -> io::Result<Pid> {
    let own = rustix::process::getpid().as_raw_nonzero().to_string();
    let child = Command::new(own_program()?)
        .arg0("goodput")
        .args(["guard", "--become", &own, "--"])
        .args(argv)
        .process_group(0)
        .stdin(Stdio::null())
        .spawn()?;
    Ok(Pid::from_child(&child))
}

/// This very program, also when its file was replaced since it started.
pub(super) fn own_program() -> io::Result<std::path::PathBuf> {
    let link = std::path::PathBuf::from("/proc/self/exe");
    if link.exists() {
        Ok(link)
    } else {
        std::env::current_exe()
    }
}

/// Becomes the engine, in such a way that it dies with its guard. Returns only when that fails.
pub fn become_engine(guard: u32, argv: &[OsString]) -> io::Error {
    // Linux has it; elsewhere a guard that is killed leaves its engine behind.
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    let parent = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get().unsigned_abs());
    if parent != Some(guard) {
        return io::Error::other("the guard is gone");
    }
    let Some((program, args)) = argv.split_first() else {
        return io::Error::other("no command");
    };
    let cause = Command::new(program).args(args).exec();
    io::Error::new(cause.kind(), format!("cannot start {program:?}: {cause}"))
}

fn watch_studio(tell: SyncSender<News>) {
    std::thread::spawn(move || {
        let mut bytes = [0; 64];
        while !matches!(io::stdin().read(&mut bytes), Ok(0) | Err(_)) {}
        let _ = tell.send(News::StudioGone);
    });
}

/// Waits for every child, also for those that came to this process because their parent is gone.
fn watch_children(tell: SyncSender<News>) {
    std::thread::spawn(move || {
        while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::empty()) {
            let exit = match (status.exit_status(), status.terminating_signal()) {
                (Some(code), _) => Exit::Status(code),
                (_, Some(signal)) => Exit::Signal(signal),
                _ => continue,
            };
            if tell
                .send(News::Ended(pid.as_raw_nonzero().get(), exit))
                .is_err()
            {
                return;
            }
        }
    });
}

/// The end of an engine.
struct End {
    news: Receiver<News>,
    engine: Pid,
    exit: Option<Exit>,
}

impl End {
    /// Ends everything, the kind way first; how the engine itself ended.
    fn all(mut self, order: &Order) -> Exit {
        self.run_stop(order);
        let _ = rustix::process::kill_process_group(self.engine, Signal::TERM);
        self.await_none(order.grace, |_| {});
        self.await_none(LAST, |pid| {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        });
        self.hear();
        self.exit.unwrap_or(Exit::Unknown)
    }

    /// Runs the template's stop command, in bounded time.
    fn run_stop(&mut self, order: &Order) {
        let Some((program, args)) = order.stop.split_first() else {
            return;
        };
        let command = Command::new(program)
            .args(args)
            .process_group(0)
            .stdin(Stdio::null())
            .spawn();
        let Ok(mut child) =
            command.inspect_err(|cause| eprintln!("goodput: cannot run {program:?}: {cause}"))
        else {
            return;
        };
        let pid = Pid::from_child(&child);
        let until = Instant::now() + order.grace;
        while Instant::now() < until {
            self.hear();
            // An error: the thread that waits for every child was first.
            if !matches!(child.try_wait(), Ok(None)) {
                return;
            }
        }
        let _ = rustix::process::kill_process_group(pid, Signal::KILL);
    }

    /// Waits until nothing is left that the engine started; does something to each process that is.
    fn await_none(&mut self, limit: Duration, each: impl Fn(Pid)) {
        let until = Instant::now() + limit;
        loop {
            self.hear();
            let left = descendants();
            if left.is_empty() || until < Instant::now() {
                return;
            }
            left.into_iter().for_each(&each);
        }
    }

    /// Takes in who ended meanwhile.
    fn hear(&mut self) {
        let pause = Instant::now() + LOOK;
        while let Some(left) = pause.checked_duration_since(Instant::now()) {
            match self.news.recv_timeout(left) {
                Ok(News::Ended(pid, exit)) if pid == self.engine.as_raw_nonzero().get() => {
                    self.exit = Some(exit)
                }
                Ok(_) => {}
                // Without children there is nobody to hear of.
                Err(_) => std::thread::sleep(left.min(LOOK)),
            }
        }
    }
}

/// All processes below this one that still run.
pub(super) fn descendants() -> Vec<Pid> {
    below(rustix::process::getpid().as_raw_nonzero().get())
}

/// All processes below one that still run; none where the system has no `/proc`.
pub(super) fn below(root: i32) -> Vec<Pid> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for stat in everybody().filter(|it| !it.has_ended()) {
        children.entry(stat.parent).or_default().push(stat.pid);
    }
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(pid) = open.pop() {
        for child in children.remove(&pid).unwrap_or_default() {
            found.extend(Pid::from_raw(child));
            open.push(child);
        }
    }
    found
}

/// All processes.
pub(super) fn everybody() -> impl Iterator<Item = Stat> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| Stat::of(entry.file_name().to_str()?.parse().ok()?))
}

/// What `/proc` has of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    pub pid: i32,
    pub parent: i32,
    pub group: i32,
    state: u8,
    /// When it began, in ticks since the machine's start: with `pid` it means this process and no later one.
    pub start: u64,
}

impl Stat {
    /// A process by its number.
    pub fn of(pid: i32) -> Option<Self> {
        Self::read(
            pid,
            &std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?,
        )
    }

    fn read(pid: i32, stat: &str) -> Option<Self> {
        // The name may hold blanks and brackets.
        let (_, fields) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        Some(Self {
            pid,
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            state: *fields.first()?.as_bytes().first()?,
            start: fields.get(19)?.parse().ok()?,
        })
    }

    /// It has ended and only waits to be heard of.
    pub fn has_ended(&self) -> bool {
        self.state == b'Z' || self.state == b'X'
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_read_whatever_its_name() {
        let text = "42 (a) b (c) Z 7 40 39 0 -1 4194304 100 0 0 0 11 22 33 44 20 0 1 0 4711 6 7";
        let stat = Stat::read(42, text).expect("a process");
        assert_eq!((stat.parent, stat.group, stat.start), (7, 40, 4711));
        assert!(stat.has_ended());
        assert_eq!(Stat::read(42, "42 (a"), None);
    }

    #[test]
    fn children_of_children_are_found() {
        let mut child = Command::new("sh")
            .args(["-c", "sleep 60 & sleep 60; true"])
            .spawn()
            .expect("a shell");
        let shell = Pid::from_child(&child);
        let started = Instant::now();
        // The shell and two that it started.
        while descendants().iter().filter(|pid| **pid == shell).count()
            + below(shell.as_raw_nonzero().get()).len()
            < 3
        {
            assert!(started.elapsed() < Duration::from_secs(10));
            std::thread::sleep(LOOK);
        }
        for pid in below(shell.as_raw_nonzero().get()) {
            rustix::process::kill_process(pid, Signal::KILL).expect("killed");
        }
        child.kill().expect("killed");
        child.wait().expect("gone");
        assert!(below(shell.as_raw_nonzero().get()).is_empty());
    }
}
