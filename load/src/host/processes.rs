//! Processes as `/proc` has them: whose child each is, in which group it is, what it has used.

use std::collections::HashSet;
use std::fs;
use std::net::SocketAddr;

/// These stand in front of an engine and are none.
const IN_FRONT: [&str; 14] = [
    "docker-proxy",
    "slirp4netns",
    "pasta",
    "pasta.avx2",
    "gvproxy",
    "socat",
    "rootlessport",
    "ssh",
    "kubectl",
    "nginx",
    "haproxy",
    "envoy",
    "caddy",
    "traefik",
];

/// The engine's processes on this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    /// It runs elsewhere.
    Elsewhere,
    /// It is this process.
    Own,
    /// These, and what they start.
    Known {
        /// The first of them.
        root: u32,
        /// Their group, where they have one of their own.
        group: Option<u32>,
        /// All of them at the latest look.
        all: Vec<u32>,
    },
    /// It runs here, and nobody can say which it is.
    Unknown,
}

impl Engine {
    /// The processes of the group it was started in, else those of whoever listens at its address.
    pub fn found(local: Option<SocketAddr>, group: Option<u32>) -> Self {
        let own = std::process::id();
        let Some(root) = group.or_else(|| listener(local?.port())) else {
            return match local {
                Some(_) => Self::Unknown,
                None => Self::Elsewhere,
            };
        };
        if root == own {
            return Self::Own;
        }
        if is_front(root) {
            return Self::Unknown;
        }
        let of = |pid| process(pid).map(|it| it.group);
        let shared = of(own) == of(root);
        let mut engine = Self::Known {
            root,
            group: of(root).filter(|_| !shared),
            all: Vec::new(),
        };
        engine.look_again();
        engine
    }

    /// Looks who is there now.
    pub fn look_again(&mut self) {
        if let Self::Known { root, group, all } = self {
            let everybody = processes();
            let mut mine: HashSet<u32> = everybody
                .iter()
                .filter(|it| it.pid == *root || group.is_some_and(|group| it.group == group))
                .map(|it| it.pid)
                .collect();
            let mut before = 0;
            while before < mine.len() {
                before = mine.len();
                let born = everybody.iter().filter(|it| mine.contains(&it.parent));
                let born: Vec<u32> = born.map(|it| it.pid).collect();
                mine.extend(born);
            }
            *all = mine.into_iter().collect();
        }
    }

    /// What they have used so far.
    pub fn ticks(&self) -> f64 {
        match self {
            Self::Known { all, .. } => all.iter().filter_map(|pid| ticks_of(*pid)).sum(),
            _ => 0.0,
        }
    }

    pub fn is_known(&self) -> bool {
        matches!(self, Self::Known { .. })
    }

    /// Its processes at the latest look.
    pub fn pids(&self) -> &[u32] {
        match self {
            Self::Known { all, .. } => all,
            _ => &[],
        }
    }
}

/// Whether a process only stands in front of engines.
pub(crate) fn is_front(pid: impl std::fmt::Display) -> bool {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    IN_FRONT.contains(&name.trim_end())
}

/// A process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Process {
    pub pid: u32,
    pub parent: u32,
    pub group: u32,
    /// Used by it and by those of its children that it waited for.
    pub ticks: f64,
}

/// What a process has used so far.
pub(super) fn ticks_of(pid: u32) -> Option<f64> {
    Some(process(pid)?.ticks)
}

fn process(pid: u32) -> Option<Process> {
    parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// `pid (name) state ppid pgrp session tty tpgid flags minflt cminflt majflt cmajflt utime stime cutime cstime ...`; the
/// name may have blanks and brackets of its own.
fn parse(stat: &str) -> Option<Process> {
    let (pid, rest) = stat.split_once(' ')?;
    let (_, rest) = rest.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |place: usize| fields.get(place)?.parse::<f64>().ok();
    Some(Process {
        pid: pid.parse().ok()?,
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        ticks: number(11)? + number(12)? + number(13)? + number(14)?,
    })
}

fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn processes() -> Vec<Process> {
    pids().filter_map(process).collect()
}

/// The process that listens at a port of this host, where it may be seen.
fn listener(port: u16) -> Option<u32> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"];
    let tables = tables
        .into_iter()
        .filter_map(|it| fs::read_to_string(it).ok());
    let sockets: HashSet<String> = tables
        .flat_map(|table| listening(&table, port))
        .map(|inode| format!("socket:[{inode}]"))
        .collect();
    if sockets.is_empty() {
        return None;
    }
    pids().find(|pid| {
        let open = fs::read_dir(format!("/proc/{pid}/fd"));
        let mut open = open.into_iter().flatten().flatten();
        open.any(|file| {
            let target = fs::read_link(file.path()).unwrap_or_default();
            target
                .to_str()
                .is_some_and(|target| sockets.contains(target))
        })
    })
}

/// Inodes of the sockets that listen at a port, of the kernel's table.
fn listening(table: &str, port: u16) -> Vec<String> {
    const LISTEN: &str = "0A";
    let here = format!(":{port:04X}");
    let rows = table.lines().skip(1).filter_map(|row| {
        let fields: Vec<&str> = row.split_ascii_whitespace().collect();
        let (local, state, inode) = (fields.get(1)?, fields.get(3)?, fields.get(9)?);
        (local.ends_with(&here) && *state == LISTEN).then(|| (*inode).to_owned())
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_process_is_read_whatever_its_name() {
        let stat = "42 (a) b (c) R 7 40 40 0 -1 4194304 100 0 0 0 11 22 33 44 20 0 1 0 5 6 7";
        let process = parse(stat).expect("a process");
        assert_eq!((process.pid, process.parent, process.group), (42, 7, 40));
        assert_eq!(process.ticks, 110.0);
        assert_eq!(parse("42 (a"), None);
    }

    #[test]
    fn who_listens_is_found() {
        let listener_here = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener_here.local_addr().expect("an address");
        assert_eq!(listener(address.port()), Some(std::process::id()));
        assert_eq!(Engine::found(Some(address), None), Engine::Own);
        drop(listener_here);
        assert_eq!(Engine::found(Some(address), None), Engine::Unknown);
        assert_eq!(Engine::found(None, None), Engine::Elsewhere);
    }

    #[test]
    fn an_engine_is_its_process_and_what_it_starts() {
        let mut shell = std::process::Command::new("sh")
            .args(["-c", "sleep 30 & sleep 30; true"])
            .spawn()
            .expect("a shell");
        let mut engine = Engine::found(None, Some(shell.id()));
        for _ in 0..100 {
            engine.look_again();
            if matches!(&engine, Engine::Known { all, .. } if 3 <= all.len()) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let Engine::Known { all, .. } = &engine else {
            panic!("known: {engine:?}");
        };
        assert!(all.contains(&shell.id()) && !all.contains(&std::process::id()));
        assert_eq!(all.len(), 3, "the shell and its two children");
        for pid in all.iter().filter(|pid| **pid != shell.id()) {
            let _ = std::process::Command::new("kill")
                .arg(pid.to_string())
                .status();
        }
        shell.kill().expect("ended");
        shell.wait().expect("ended");
    }
}
