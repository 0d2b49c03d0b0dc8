//! What is left where a guard was killed: found again and ended by the studio, and nothing else with it.
//!
//! While the guard lives the studio notes who is below it, each process by its number and the moment of its start, so that
//! a later process with the same number is never meant. When the guard is gone, what it looked after becomes the studio's
//! own child, since the studio asks the system for that; what was born too late to be noted is known by a variable in its
//! environment. What cleared its environment, left its parent and was born since the last look is not found.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpgrp, getpid, kill_process, pidfd_open,
    pidfd_send_signal,
};

use super::guard::{Stat, below, everybody};

/// The variable that every process behind a guard is born with.
pub(super) const MARK: &str = "GOODPUT_GUARDED";
/// While the end is awaited, processes are looked for so often.
const LOOK: Duration = Duration::from_millis(20);
/// What was sent KILL is gone after so long, or cannot be killed.
const LAST: Duration = Duration::from_secs(5);

/// A value for [`MARK`] that no other guard has.
pub(super) fn new_mark() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let own = getpid().as_raw_nonzero().get();
    let born = Stat::of(own).map_or(0, |it| it.start);
    format!("{own}.{born}.{}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Makes the studio the parent of whoever loses theirs below it.
pub(super) fn adopt() {
    // Where the system cannot do that, what a killed guard leaves is found by its number and start alone.
    let _ = rustix::process::set_child_subreaper(Some(getpid()));
}

/// A process; its number alone may be another's later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Known {
    pid: i32,
    start: u64,
}

impl Known {
    fn of(stat: &Stat) -> Self {
        let (pid, start) = (stat.pid, stat.start);
        Self { pid, start }
    }

    /// Itself as it is now, unless it is gone.
    fn now(&self) -> Option<Stat> {
        Stat::of(self.pid).filter(|it| it.start == self.start)
    }

    /// Kills it and no other that has its number since.
    fn kill(&self) {
        let Some(pid) = Pid::from_raw(self.pid) else {
            return;
        };
        let held = pidfd_open(pid, PidfdFlags::empty());
        if self.now().is_none() {
            return;
        }
        let _ = match held {
            Ok(held) => pidfd_send_signal(held, Signal::KILL),
            Err(_) => kill_process(pid, Signal::KILL),
        };
    }

    /// Lets go of it, where it ended as this process's child.
    fn reap(&self) {
        if let (Some(pid), Some(_)) = (Pid::from_raw(self.pid), self.now()) {
            let _ = rustix::process::waitpid(Some(pid), WaitOptions::NOHANG);
        }
    }
}

/// Everybody whom a guard looks after.
#[derive(Debug)]
pub(super) struct Flock {
    guard: i32,
    mark: Vec<u8>,
    known: HashSet<Known>,
    own_group: i32,
    /// Process groups of theirs.
    groups: HashSet<i32>,
}

impl Flock {
    /// Those below a guard that gave them this mark.
    pub fn new(guard: Pid, mark: &str) -> Self {
        Self {
            guard: guard.as_raw_nonzero().get(),
            mark: format!("{MARK}={mark}").into_bytes(),
            known: HashSet::new(),
            own_group: getpgrp().as_raw_nonzero().get(),
            groups: HashSet::new(),
        }
    }

    /// Notes who is below the guard, which must not have been waited for yet.
    pub fn look(&mut self) {
        // Who was below a guard and lives is below it still, also when it ends under this very look.
        self.known.retain(|it| it.now().is_some());
        self.note_below(self.guard);
    }

    fn note_below(&mut self, root: i32) {
        for pid in below(root) {
            if let Some(stat) = Stat::of(pid.as_raw_nonzero().get()) {
                self.note(&stat);
            }
        }
    }

    fn note(&mut self, stat: &Stat) {
        self.known.insert(Known::of(stat));
        // The studio's own group has children that are none of this guard's.
        if stat.group != self.own_group {
            self.groups.insert(stat.group);
        }
    }

    /// Ends all of them once the guard is gone, and waits for that, in bounded time.
    pub fn end(&mut self) {
        let own = getpid().as_raw_nonzero().get();
        let until = Instant::now() + LAST;
        loop {
            self.find(own);
            self.known.iter().for_each(Known::kill);
            self.known.iter().for_each(Known::reap);
            self.known.retain(|it| it.now().is_some());
            if self.known.is_empty() || until < Instant::now() {
                return;
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Who fell to this process from the guard, and who is below those and the known ones.
    fn find(&mut self, own: i32) {
        for stat in everybody().filter(|it| it.parent == own) {
            if self.is_orphan(&stat) {
                self.note(&stat);
            }
        }
        let living: Vec<i32> = self.known.iter().map(|it| it.pid).collect();
        living.into_iter().for_each(|pid| self.note_below(pid));
    }

    /// Whether a child of this process came from the guard. One that has ended has no environment any more.
    fn is_orphan(&self, stat: &Stat) -> bool {
        if stat.has_ended() {
            return stat.pid != stat.group && self.groups.contains(&stat.group);
        }
        let environment = std::fs::read(format!("/proc/{}/environ", stat.pid)).unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|it| it == self.mark)
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    fn sleeper(mark: Option<&str>) -> Child {
        let mut command = Command::new("sleep");
        command.arg("600");
        if let Some(mark) = mark {
            command.env(MARK, mark);
        }
        command.spawn().expect("a process")
    }

    fn stat(child: &Child) -> Stat {
        Stat::of(child.id() as i32).expect("a process")
    }

    #[test]
    fn a_number_that_is_another_process_now_is_left_alone() {
        let mut child = sleeper(None);
        let stat = stat(&child);
        let earlier = Known {
            start: stat.start - 1,
            ..Known::of(&stat)
        };
        earlier.kill();
        assert!(earlier.now().is_none());
        assert_eq!(child.try_wait().expect("asked"), None);
        Known::of(&stat).kill();
        assert!(!child.wait().expect("gone").success());
    }

    #[test]
    fn only_who_bears_the_mark_is_ended() {
        let mark = new_mark();
        let (mut other, mut unmarked) = (sleeper(Some(&new_mark())), sleeper(None));
        let mut marked = sleeper(Some(&mark));
        // Its environment is the parent's until it has become the program.
        let is_sleep = || std::fs::read(format!("/proc/{}/comm", marked.id()));
        while is_sleep().expect("a process") != b"sleep\n" {
            std::thread::sleep(LOOK);
        }
        let gone = stat(&marked);
        // The guard is never looked at: the mark alone has to do.
        let mut flock = Flock::new(getpid(), &mark);
        flock.end();
        assert!(Known::of(&gone).now().is_none(), "ended and let go of");
        assert!(marked.wait().is_err(), "nobody is left to wait for");
        for child in [&mut other, &mut unmarked] {
            assert_eq!(child.try_wait().expect("asked"), None);
            child.kill().expect("killed");
            child.wait().expect("gone");
        }
    }
}
