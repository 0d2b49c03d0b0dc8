//! Which core and which priority the server and a client get; where that is not allowed, the report says so.

use crate::command::{answer, find, succeeds_within};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// What this machine lets us do.
pub struct Place {
    /// Server on core 0, client on core 1.
    pub pinned: bool,
    /// The server runs before everything else on its core.
    pub first: bool,
    pub cores: usize,
    pub processor: String,
    pub kernel: String,
    pub load_average: String,
}

/// Finds out.
pub fn take() -> Place {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let works = |program: &str, args: &[&str]| {
        find(program).is_some()
            && succeeds_within(Command::new(program).args(args), Duration::from_secs(5))
    };
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let cpu = read("/proc/cpuinfo");
    let processor = cpu.lines().find_map(|line| line.strip_prefix("model name"));
    Place {
        pinned: 2 <= cores && works("taskset", &["-c", "1", "true"]),
        first: works("chrt", &["-f", "1", "true"]),
        cores,
        processor: processor
            .map(|line| line.trim_start_matches(['\t', ' ', ':']).to_owned())
            .unwrap_or_default(),
        kernel: answer(Command::new("uname").arg("-r")).unwrap_or_default(),
        load_average: read("/proc/loadavg")
            .split(' ')
            .take(2)
            .collect::<Vec<_>>()
            .join(" "),
    }
}

impl Place {
    /// A server's command.
    pub fn server(&self, program: &Path, blast: bool) -> Command {
        // In a blast the server would never let anything else run.
        let first: &[&str] = if self.first && !blast {
            &["chrt", "-f", "1"]
        } else {
            &[]
        };
        self.command("0", first, program)
    }

    /// A client's command.
    pub fn client(&self, program: &Path) -> Command {
        self.command("1", &[], program)
    }

    fn command(&self, core: &str, first: &[&str], program: &Path) -> Command {
        let pinned: &[&str] = if self.pinned {
            &["taskset", "-c", core]
        } else {
            &[]
        };
        let mut words = pinned.iter().chain(first).map(|word| (*word).into());
        let Some(head) = words.next() else {
            return Command::new(program);
        };
        let mut command = Command::new::<std::ffi::OsString>(head);
        command.args(words).arg(program);
        command
    }

    /// Whether other programs ran beside, so that errors are upper bounds.
    pub fn busy(&self) -> bool {
        let load = self.load_average.split(' ').next();
        load.and_then(|load| load.parse::<f64>().ok())
            .is_some_and(|load| 0.5 < load)
    }

    /// One sentence for the report.
    pub fn in_words(&self) -> String {
        let pinned = if self.pinned {
            "server on core 0, the client's process tree on core 1"
        } else {
            "server and client not pinned to cores, which this machine does not allow"
        };
        let first = if self.first {
            "the server at real-time priority (except in the blast)"
        } else {
            "the server without real-time priority, which this machine does not allow"
        };
        format!(
            "{} cores ({}), Linux {}; {pinned}; {first}; load average before: {}",
            self.cores, self.processor, self.kernel, self.load_average
        )
    }
}
