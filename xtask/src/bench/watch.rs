//! What a process tree costs: CPU time over the load's window, and peak memory.

use rustix::time::{ClockId, clock_gettime};
use std::collections::BTreeMap;
use std::fs;
use std::process::Child;
use std::time::{Duration, Instant};

/// Between two looks.
const EVERY: Duration = Duration::from_millis(40);
/// The kernel counts CPU time in these (USER_HZ).
const TICK_S: f64 = 0.01;

/// What was seen.
pub struct Seen {
    /// CPU seconds of the tree at moments (CLOCK_MONOTONIC, ns).
    samples: Vec<(u64, f64)>,
    /// Sum over the tree's processes of their own peaks, in bytes.
    pub peak_bytes: u64,
    pub succeeded: bool,
}

/// Looks at a process and its descendants until it ends.
pub fn follow(child: &mut Child, limit: Duration) -> std::io::Result<Seen> {
    let (began, root) = (Instant::now(), child.id());
    let mut seen = Seen {
        samples: Vec::new(),
        peak_bytes: 0,
        succeeded: false,
    };
    let mut peaks: BTreeMap<u32, u64> = BTreeMap::new();
    loop {
        let tree = descendants(root);
        let cpu: f64 = tree.iter().filter_map(|pid| cpu_seconds(*pid)).sum();
        seen.samples.push((now(), cpu));
        for pid in tree {
            if let Some(peak) = peak_bytes(pid) {
                peaks.insert(pid, peak);
            }
        }
        if let Some(status) = child.try_wait()? {
            seen.succeeded = status.success();
            break;
        }
        if limit < began.elapsed() {
            child.kill()?;
            child.wait()?;
            break;
        }
        std::thread::sleep(EVERY);
    }
    seen.peak_bytes = peaks.values().sum();
    Ok(seen)
}

impl Seen {
    /// CPU seconds spent between two moments.
    pub fn cpu_between(&self, from_ns: u64, to_ns: u64) -> f64 {
        self.at(to_ns) - self.at(from_ns)
    }

    /// CPU seconds spent until a moment, between samples in proportion.
    fn at(&self, moment: u64) -> f64 {
        let mut before = (0, 0.0);
        for &(at, cpu) in &self.samples {
            // The last sample may come after the process has ended, and be empty.
            if moment <= at && before.1 <= cpu {
                let span = (at - before.0) as f64;
                let share = (moment - before.0) as f64 / span.max(1.0);
                return before.1 + share * (cpu - before.1);
            }
            if before.1 <= cpu {
                before = (at, cpu);
            }
        }
        before.1
    }
}

fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn descendants(root: u32) -> Vec<u32> {
    let mut tree = vec![root];
    let mut next = 0;
    while let Some(&pid) = tree.get(next) {
        next += 1;
        let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else {
            continue;
        };
        for thread in threads.flatten() {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            tree.extend(
                children
                    .split_whitespace()
                    .filter_map(|pid| pid.parse::<u32>().ok()),
            );
        }
    }
    tree
}

/// User and system time of a process and of the children it has waited for.
fn cpu_seconds(pid: u32) -> Option<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields = stat.rsplit_once(") ")?.1;
    let ticks = fields
        .split(' ')
        .skip(11)
        .take(4)
        .filter_map(|ticks| ticks.parse::<u64>().ok());
    Some(ticks.sum::<u64>() as f64 * TICK_S)
}

fn peak_bytes(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_is_counted_inside_the_window() {
        let seen = Seen {
            samples: vec![(0, 0.0), (100, 1.0), (200, 3.0), (300, 3.5), (400, 0.0)],
            peak_bytes: 0,
            succeeded: true,
        };
        let between = |from, to| (seen.cpu_between(from, to) * 100.0).round() / 100.0;
        assert_eq!(between(100, 200), 2.0);
        assert_eq!(between(50, 150), 1.5);
        assert_eq!(between(250, 390), 0.25);
    }

    #[test]
    fn a_tree_is_seen_with_its_children() -> std::io::Result<()> {
        let mut child = std::process::Command::new("sh")
            .args([
                "-c",
                "sh -c 'i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done'; true",
            ])
            .spawn()?;
        let seen = follow(&mut child, Duration::from_secs(60))?;
        assert!(seen.succeeded && 0 < seen.peak_bytes);
        assert!(0.0 < seen.cpu_between(0, u64::MAX), "{:?}", seen.samples);
        Ok(())
    }
}
