//! Who uses the processor of this host while a point runs: this process, the engine, others.

mod processes; // who is there, and what each has used

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use measure::evidence::{HostTime, Series, Track};
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::evidence::process_cpu;
use crate::scrape::since;
use processes::Engine;
pub(crate) use processes::is_front;

/// Between two looks.
const EVERY: Duration = Duration::from_secs(1);
/// What the kernel counts in, on every machine it runs on today.
pub(crate) const TICKS_PER_SECOND: f64 = 100.0;
/// Most looks: those of three hours.
const MOST_LOOKS: usize = 10_800;

/// Whose processes are the engine's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineHost<'a> {
    /// The engine's addresses.
    pub addresses: &'a [SocketAddr],
    /// The process group that it was started in, where it was started here.
    pub group: Option<u32>,
}

/// Whether an address is one of this host.
pub(crate) fn is_local(address: IpAddr) -> bool {
    address.is_loopback() || UdpSocket::bind((address, 0)).is_ok()
}

/// Seconds of processor time so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Times {
    busy: f64,
    steal: f64,
    own: f64,
    engine: f64,
}

/// Watches this host.
pub(crate) struct HostWatch {
    task: JoinHandle<Looks>,
    going_on: DropGuard,
    /// Processes of the engine, where they are known.
    pub engine: Vec<u32>,
}

/// All looks.
struct Looks {
    engine: Engine,
    seen: Vec<(Instant, Times)>,
}

impl HostWatch {
    /// Starts to watch; looks for the engine's processes first.
    pub async fn start(host: EngineHost<'_>) -> Self {
        let local = host.addresses.iter().find(|it| is_local(it.ip())).copied();
        let group = host.group;
        let found = tokio::task::spawn_blocking(move || Engine::found(local, group)).await;
        let mut looks = Looks {
            engine: found.unwrap_or(Engine::Unknown),
            seen: Vec::new(),
        };
        looks.look();
        let engine = looks.engine.pids().to_vec();
        let going_on = CancellationToken::new();
        let task = tokio::spawn(watch(looks, going_on.clone()));
        Self {
            task,
            going_on: going_on.drop_guard(),
            engine,
        }
    }

    /// What was seen; none where this host does not say.
    pub async fn end(self, zero: Instant) -> (Option<HostTime>, Track) {
        let Self { task, going_on, .. } = self;
        drop(going_on);
        let Ok(looks) = task.await else {
            return (None, Track::default());
        };
        (looks.time(), looks.track(zero))
    }
}

async fn watch(mut looks: Looks, going_on: CancellationToken) -> Looks {
    let mut ticks = tokio::time::interval_at(tokio::time::Instant::now() + EVERY, EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            () = going_on.cancelled() => break,
            _ = ticks.tick() => {}
        }
        if looks.seen.len() < MOST_LOOKS {
            looks.look();
        }
    }
    // Processes may have come meanwhile.
    looks.engine.look_again();
    looks.look();
    looks
}

impl Looks {
    fn look(&mut self) {
        let Some((busy, steal)) = host_times() else {
            return;
        };
        let times = Times {
            busy,
            steal,
            own: process_cpu().as_secs_f64(),
            engine: self.engine.ticks() / TICKS_PER_SECOND,
        };
        self.seen.push((Instant::now(), times));
    }

    /// What others used between two looks, what this process did, and what was taken from the host.
    fn between(&self, (from, to): (&Times, &Times)) -> (f64, f64, f64) {
        let own = to.own - from.own;
        let engine = (to.engine - from.engine).max(0.0);
        let others = (to.busy - from.busy - own - engine).max(0.0);
        (others, own, to.steal - from.steal)
    }

    fn time(&self) -> Option<HostTime> {
        let ((started, first), (ended, last)) = (self.seen.first()?, self.seen.last()?);
        let seconds = ended.saturating_duration_since(*started).as_secs_f64();
        let (others, own, steal) = self.between((first, last));
        // A host whose counters stand still says nothing.
        let tells = first.busy < last.busy && 0.0 < seconds;
        tells.then(|| HostTime {
            cores: cores(),
            seconds,
            own,
            engine: self
                .engine
                .is_known()
                .then(|| (last.engine - first.engine).max(0.0)),
            others,
            steal,
            engine_among_others: self.engine == Engine::Unknown,
        })
    }

    fn track(&self, zero: Instant) -> Track {
        let pairs = || self.seen.windows(2);
        let rates = |of: fn((f64, f64, f64)) -> f64| {
            pairs()
                .map(|pair| {
                    let span = pair[1].0.saturating_duration_since(pair[0].0).as_secs_f64();
                    let used = of(self.between((&pair[0].1, &pair[1].1)));
                    (0.5 < span).then(|| used / span)
                })
                .collect()
        };
        let series = [
            Series::of("others", "others", "cores", rates(|it| it.0)),
            Series::of("own", "this process", "cores", rates(|it| it.1)),
            Series::of("steal", "taken from this host", "cores", rates(|it| it.2)),
        ];
        Track {
            of: "host".to_owned(),
            at_ms: pairs().map(|pair| since(zero, pair[1].0)).collect(),
            series: series.into_iter().flatten().collect(),
        }
    }
}

/// Cores of the host, not only those that this process may use.
fn cores() -> u32 {
    let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let of_core = |line: &&str| {
        let rest = line.strip_prefix("cpu").unwrap_or_default();
        rest.starts_with(|letter: char| letter.is_ascii_digit())
    };
    (stat.lines().filter(of_core).count() as u32).max(1)
}

/// Seconds in which any of the host's cores worked, and seconds that its own host took.
fn host_times() -> Option<(f64, f64)> {
    parse_stat(&std::fs::read_to_string("/proc/stat").ok()?)
}

/// Of the line `cpu user nice system idle iowait irq softirq steal guest guest_nice`; guests are in user and nice.
fn parse_stat(stat: &str) -> Option<(f64, f64)> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let fields: Vec<f64> = line
        .split_ascii_whitespace()
        .filter_map(|it| it.parse().ok())
        .collect();
    let field = |place: usize| fields.get(place).copied().unwrap_or(0.0);
    if fields.len() < 4 {
        return None;
    }
    let busy: f64 = [0, 1, 2, 5, 6].map(field).iter().sum();
    Some((busy / TICKS_PER_SECOND, field(7) / TICKS_PER_SECOND))
}

/// Seconds that a process has used so far, its waited-for children included.
#[cfg(test)]
fn used_by(pid: u32) -> f64 {
    processes::ticks_of(pid).unwrap_or(0.0) / TICKS_PER_SECOND
}

#[cfg(test)]
mod tests;
