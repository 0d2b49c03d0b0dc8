//! Runs one point: warm-up, then the schedule, then the drain.
//!
//! An arrival is never skipped and never moved: every planned request becomes exactly one record, whatever becomes of
//! it, with the moment it was due and the moment it was sent; only a closed loop that ends early has none of sessions
//! whose slot never came free. Nothing is retried.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use measure::certificate::ClientEvidence;
use measure::request::RequestRecord;
use measure::summary::Discipline;
use measure::units::Nanos;
use tokio::sync::{Semaphore, oneshot};
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::engine::Engine;
use crate::evidence::Watch;
use crate::exchange::{GiveUp, Habits};
use crate::limits::{self, Ports};
use crate::plan::PointPlan;
use crate::pool::STREAMS;
use crate::progress::{Camera, Gauges, Observer};
use crate::session::{Point, Runner, Waiting, reins};
use crate::shard::Shard;
use crate::warmup;

/// Between making the clock and its zero: everything is in place by then.
const LEAD: Duration = Duration::from_millis(10);
/// How often the drain is checked; every fifth time the observer gets a picture.
const TICK: Duration = Duration::from_millis(50);

/// What came of a point.
#[derive(Clone, Debug, PartialEq)]
pub struct PointRun {
    /// One record per planned request, in schedule order; in a closed loop, per request of a session whose slot came free.
    pub records: Vec<RequestRecord>,
    /// What the client saw of itself.
    pub client: ClientEvidence,
    /// Wall-clock time of the clock's start.
    pub started_unix_ms: i64,
    /// Whether it was stopped before its end.
    pub stopped: bool,
    /// When it ended.
    pub ended: Nanos,
}

impl PointRun {
    /// Leaves out what had not come due when it ended; how many requests that was.
    pub fn leave_out_undue(&mut self) -> usize {
        let (planned, ended) = (self.records.len(), self.ended);
        self.records
            .retain(|record| record.sent.is_some() || record.scheduled <= ended);
        planned - self.records.len()
    }

    /// The part whose load is steady: from the end of the ramp-in up to the last request due. `None` without a ramp-in.
    pub fn steady(&self, ramp_in: Duration) -> Option<(Nanos, Nanos)> {
        let from = Nanos::from_secs_f64(ramp_in.as_secs_f64());
        let last = self.records.iter().map(|record| record.scheduled).max();
        Some((from, last?.max(from))).filter(|_| from != Nanos::ZERO)
    }

    /// The records that the figures are of, where they are of a part of the run. They lie in order of their slots.
    pub fn within(&self, window: (Nanos, Nanos)) -> &[RequestRecord] {
        due_within(&self.records, window)
    }
}

/// The records that are due within a window. They lie in order of their slots.
pub fn due_within(records: &[RequestRecord], (from, to): (Nanos, Nanos)) -> &[RequestRecord] {
    let start = records.partition_point(|it| it.scheduled < from);
    let end = records.partition_point(|it| it.scheduled <= to);
    &records[start..end.max(start)]
}

/// Why a point could not begin.
#[derive(Debug, thiserror::Error)]
pub enum PointError {
    /// No connection.
    #[error("the engine cannot be reached ({why}); start it, or check its URL")]
    Unreachable {
        /// What the connection said.
        why: String,
    },
    /// The warm-up was refused, as every request would be.
    #[error("the engine refuses requests with status {status}: {why}")]
    Refused {
        /// The status.
        status: u16,
        /// What the engine said.
        why: String,
    },
    /// The warm-up was answered by something that is no stream.
    #[error("the engine does not stream: {why}")]
    NoStream {
        /// What came.
        why: String,
    },
    /// The process may not open enough files.
    #[error(
        "{needed} streams need more open files{} than the {allowed} allowed here; raise the hard limit (ulimit -Hn) or lower the concurrency",
        if *each == 1 { "" } else { " (two each, since the engine runs in the studio itself)" }
    )]
    TooFewFiles {
        /// Streams.
        needed: u64,
        /// Files that each takes.
        each: u64,
        /// The limit.
        allowed: u64,
    },
    /// This machine has too few local ports.
    #[error(
        "{needed} more connections need more local ports than the {free} that are free of {range} here ({waiting} are held for a minute by closed connections); lower the concurrency, or widen net.ipv4.ip_local_port_range"
    )]
    TooFewPorts {
        /// Connections.
        needed: u64,
        /// Ports that can be used now.
        free: u64,
        /// All there are.
        range: u64,
        /// Held by closed connections to the engine.
        waiting: u64,
    },
    /// Another limit of this machine.
    #[error("this machine gives the client no more connections: {why}")]
    ClientLimit {
        /// The limit and what raises it.
        why: String,
    },
    /// A fault of ours.
    #[error("the load threads went away in the middle of the point")]
    Lost,
}

/// Runs one point to its end, or until it is stopped. Dropping the future stops it as well.
pub async fn run_point(
    engine: &Engine,
    plan: PointPlan,
    watch: Arc<dyn Observer>,
    stop: CancellationToken,
) -> Result<PointRun, PointError> {
    let streams = plan.expected_streams();
    if let Some(certain) = plan.certain_streams() {
        check_limits(engine, certain).await?;
    }
    prepare(engine, &plan, streams, &stop).await?;
    let (drain, started_unix_ms) = (plan.drain, unix_ms(SystemTime::now() + LEAD));
    let point = Arc::new(begin(engine, plan));
    watch.began(point.clock.instant(Nanos::ZERO));
    let evidence = Watch::start(&engine.shards);
    let running = Running::start(&engine.shards, &point, streams);
    let (ran, stopped) = follow(running, &point, watch.as_ref(), &stop, drain).await?;
    let ended = point.clock.now();
    let why = if stopped {
        "stopped before it was sent"
    } else {
        "the load ended before it was sent"
    };
    Ok(PointRun {
        records: in_order(&point, ran, why),
        client: evidence.end(point.clock),
        started_unix_ms,
        stopped,
        ended,
    })
}

/// Starts the clock.
fn begin(engine: &Engine, plan: PointPlan) -> Point {
    let (requests, needs_answers) = (plan.requests(), plan.needs_answers());
    let PointPlan {
        mut sessions,
        discipline,
        concurrency,
        until,
        warmup: _,
        drain: _,
        made: _,
    } = plan;
    sessions.sort_by_key(|session| session.start);
    let permits = concurrency.filter(|_| discipline != Discipline::ClosedLoop);
    Point {
        habits: Habits {
            keep_text: engine.habits.keep_text || needs_answers,
            ..engine.habits
        },
        drop_answers: needs_answers && !engine.habits.keep_text,
        until,
        calls: engine.calls.clone(),
        clock: Clock::starting_in(LEAD),
        gauges: Gauges::new(requests),
        sessions: sessions.into_iter().map(Waiting::new).collect(),
        next: 0.into(),
        permits: permits.map(|most| Semaphore::new(most as usize)),
        discipline,
    }
}

/// The threads' work on a point, and what gives each session of it up.
struct Running {
    sessions: futures_util::future::JoinAll<oneshot::Receiver<Vec<RequestRecord>>>,
    tell: Vec<oneshot::Sender<&'static str>>,
    point: Arc<Point>,
}

impl Drop for Running {
    /// No load outlives the one who asked for it.
    fn drop(&mut self) {
        self.give_up("the run was dropped");
    }
}

impl Running {
    fn start(shards: &[Shard], point: &Arc<Point>, streams: usize) -> Self {
        let mut tell = Vec::new();
        let start = |(place, shard): (usize, &Shard)| {
            let mine = |count: usize| (place..count).step_by(shards.len());
            let point = Arc::clone(point);
            if point.discipline == Discipline::ClosedLoop {
                let (senders, streams) = reins(mine(streams).count());
                tell.extend(senders);
                return shard.run(move |local| Runner::new(point, local).closed_loop(streams));
            }
            let (senders, told) = reins(mine(point.sessions.len()).count());
            tell.extend(senders);
            let (tell_starter, starter) = GiveUp::new();
            tell.push(tell_starter);
            let sessions = mine(point.sessions.len()).zip(told).collect();
            shard.run(move |local| Runner::new(point, local).open_loop(sessions, starter))
        };
        let sessions = futures_util::future::join_all(shards.iter().enumerate().map(start));
        let point = Arc::clone(point);
        Self {
            sessions,
            tell,
            point,
        }
    }

    fn give_up(&mut self, why: &'static str) {
        self.point.gauges.give_up();
        for tell in self.tell.drain(..) {
            let _ = tell.send(why);
        }
    }
}

/// Watches a running point until all its sessions have ended; stops it when asked, or when the drain is over.
async fn follow(
    mut running: Running,
    point: &Point,
    watch: &dyn Observer,
    stop: &CancellationToken,
    drain: Duration,
) -> Result<(Vec<Vec<RequestRecord>>, bool), PointError> {
    let mut camera = Camera::new();
    let mut ticks = tokio::time::interval(TICK);
    let mut stopped = false;
    let drain = Nanos(u64::try_from(drain.as_nanos()).unwrap_or(u64::MAX));
    for tick in 0u64.. {
        tokio::select! {
            ran = &mut running.sessions => {
                watch.progress(camera.picture(&point.gauges, point.clock.now()));
                let ran: Result<Vec<_>, _> = ran.into_iter().collect();
                return Ok((ran.map_err(|_| PointError::Lost)?, stopped));
            }
            () = stop.cancelled(), if !stopped => {
                stopped = true;
                running.give_up("stopped");
            }
            _ = ticks.tick() => {
                let now = point.clock.now();
                if point.gauges.drain_from().is_some_and(|from| from + drain < now) {
                    running.give_up("still unfinished at the end of the drain");
                }
                if tick % 5 == 0 {
                    watch.progress(camera.picture(&point.gauges, now));
                }
            }
        }
    }
    Err(PointError::Lost)
}

/// Warms the engine up and opens connections.
async fn prepare(
    engine: &Engine,
    plan: &PointPlan,
    streams: usize,
    stop: &CancellationToken,
) -> Result<(), PointError> {
    let (tell, give_up) = GiveUp::new();
    let preparing = async {
        warmup::warm_up(engine, plan.warmup.clone(), give_up).await?;
        let certain = plan.certain_streams().is_some();
        warmup::open_connections(&engine.shards, streams, certain).await
    };
    tokio::select! {
        prepared = preparing => prepared,
        () = stop.cancelled() => {
            drop(tell);
            Ok(())
        }
    }
}

/// Refuses a point that needs more connections at once than this machine allows.
async fn check_limits(engine: &Engine, streams: usize) -> Result<(), PointError> {
    let connections = if engine.calls.http2 {
        streams.div_ceil(STREAMS)
    } else {
        streams
    };
    let idle = warmup::idle(&engine.shards).await;
    let needed = connections.saturating_sub(idle) as u64;
    let (allowed, free) = limits::files();
    let each = engine.files_each;
    if free < needed * each {
        return Err(PointError::TooFewFiles {
            needed,
            each,
            allowed,
        });
    }
    let addresses = Arc::clone(&engine.addresses);
    // The kernel's tables are long where there are many connections.
    let ports = tokio::task::spawn_blocking(move || limits::ports(&addresses)).await;
    match ports.ok().flatten() {
        Some(Ports {
            range,
            waiting,
            free,
        }) if free < needed => Err(PointError::TooFewPorts {
            needed,
            free,
            range,
            waiting,
        }),
        _ => Ok(()),
    }
}

/// One record per planned request, in schedule order; sessions that never ran are filled in. Records of one thread stay
/// where they are, so that a long run is not in memory twice.
fn in_order(point: &Point, ran: Vec<Vec<RequestRecord>>, why: &'static str) -> Vec<RequestRecord> {
    let joined = ran.into_iter().reduce(|mut all, of_thread| {
        all.extend(of_thread);
        all
    });
    let mut all = joined.unwrap_or_default();
    let mut have = vec![0; point.sessions.len()];
    for record in &all {
        have[record.session as usize] += 1;
    }
    for (index, have) in have.into_iter().enumerate() {
        if have < point.sessions[index].count {
            all.extend(point.missing(index, have, why));
        }
    }
    // No two are alike, and a stable sort would need room of its own.
    all.sort_unstable_by_key(|record| (record.scheduled, record.session, record.turn));
    all
}

fn unix_ms(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|since| i64::try_from(since.as_millis()).ok())
        .unwrap_or(0)
}
