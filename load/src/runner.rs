//! Runs one point: warm-up, then the schedule, then the drain.
//!
//! An arrival is never skipped and never moved: every planned request becomes exactly one record, whatever becomes of
//! it, with the moment it was due and the moment it was sent. Nothing is retried.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use measure::certificate::ClientEvidence;
use measure::request::RequestRecord;
use measure::summary::Discipline;
use measure::units::Nanos;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::engine::{Engine, file_limit};
use crate::evidence::Watch;
use crate::exchange::{GiveUp, Shared};
use crate::pacer::{self, Pacer};
use crate::plan::PointPlan;
use crate::progress::{Camera, Gauges, Observer};
use crate::session::{Point, Ran, reins};
use crate::warmup;

/// Between making the clock and its zero: everything is in place by then.
const LEAD: Duration = Duration::from_millis(10);
/// How often the drain is checked; every fifth time the observer gets a picture.
const TICK: Duration = Duration::from_millis(50);
/// Files a process needs beside its streams.
const OTHER_FILES: u64 = 128;

/// What came of a point.
#[derive(Clone, Debug, PartialEq)]
pub struct PointRun {
    /// One record per planned request, in schedule order.
    pub records: Vec<RequestRecord>,
    /// What the client saw of itself.
    pub client: ClientEvidence,
    /// Wall-clock time of the clock's start.
    pub started_unix_ms: i64,
    /// Whether it was stopped before its end.
    pub stopped: bool,
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
        "{needed} streams need more open files than the {allowed} allowed here; raise the hard limit (ulimit -Hn) or lower the concurrency"
    )]
    TooFewFiles {
        /// Streams.
        needed: u64,
        /// The limit.
        allowed: u64,
    },
    /// The pacer's thread.
    #[error("the pacer could not be started")]
    Pacer(#[source] std::io::Error),
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
    let load = engine.handle().ok_or(PointError::Lost)?;
    let streams = plan.expected_streams();
    check_files(&plan, streams)?;
    prepare(engine, load, &plan, streams, &stop).await?;
    let (drain, started_unix_ms) = (plan.drain, unix_ms(SystemTime::now() + LEAD));
    let (point, slots) = begin(engine, plan)?;
    let evidence = Watch::start(load);
    let running = Running::start(load, &point, slots, streams);
    let (ran, stopped) = follow(running, &point, watch.as_ref(), &stop, drain).await?;
    let why = if stopped {
        "stopped before it was sent"
    } else {
        "the load ended before it was sent"
    };
    Ok(PointRun {
        records: in_order(&point, ran, why),
        client: evidence.end(),
        started_unix_ms,
        stopped,
    })
}

/// Starts the clock and the pacer.
fn begin(
    engine: &Engine,
    plan: PointPlan,
) -> Result<(Arc<Point>, mpsc::Receiver<usize>), PointError> {
    let requests = plan.requests();
    let PointPlan {
        mut sessions,
        discipline,
        concurrency,
        until: _,
        warmup: _,
        drain: _,
        made: _,
    } = plan;
    sessions.sort_by_key(|session| session.start);
    let open = discipline != Discipline::ClosedLoop;
    let starts = sessions.iter().map(|session| session.start);
    let starts = if open { starts.collect() } else { Vec::new() };
    let permits = concurrency.filter(|_| open);
    let clock = Clock::starting_in(LEAD);
    let Pacer {
        slots,
        alarms,
        thread: _,
    } = pacer::start(clock, starts, sessions.len()).map_err(PointError::Pacer)?;
    let point = Point {
        engine: Shared::from(engine),
        requests: engine.requests(),
        clock,
        gauges: Gauges::new(requests),
        alarms,
        sessions,
        permits: permits.map(|most| Semaphore::new(most as usize)),
        discipline,
    };
    Ok((Arc::new(point), slots))
}

/// The tasks of a point, and what gives each of them up.
struct Running {
    sessions: JoinHandle<Vec<Ran>>,
    /// Dropping them gives everything up too, so that no load outlives the one who asked for it.
    tell: Vec<oneshot::Sender<&'static str>>,
}

impl Running {
    fn start(
        load: &Handle,
        point: &Arc<Point>,
        slots: mpsc::Receiver<usize>,
        streams: usize,
    ) -> Self {
        if point.discipline == Discipline::ClosedLoop {
            let (tell, told) = reins(streams);
            let sessions = load.spawn(Arc::clone(point).closed_loop(told));
            return Self { sessions, tell };
        }
        let (mut tell, told) = reins(point.sessions.len());
        let (tell_starter, starter) = GiveUp::new();
        tell.push(tell_starter);
        let sessions = load.spawn(Arc::clone(point).open_loop(slots, told, starter));
        Self { sessions, tell }
    }

    fn give_up(&mut self, why: &'static str) {
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
) -> Result<(Vec<Ran>, bool), PointError> {
    let mut camera = Camera::new();
    let mut ticks = tokio::time::interval(TICK);
    let mut stopped = false;
    let drain = Nanos(u64::try_from(drain.as_nanos()).unwrap_or(u64::MAX));
    for tick in 0u64.. {
        tokio::select! {
            ran = &mut running.sessions => {
                watch.progress(camera.picture(&point.gauges, point.clock.now()));
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

/// Opens connections and warms the engine up.
async fn prepare(
    engine: &Engine,
    load: &Handle,
    plan: &PointPlan,
    streams: usize,
    stop: &CancellationToken,
) -> Result<(), PointError> {
    let (tell, give_up) = GiveUp::new();
    let (shared, requests, warmup) = (Shared::from(engine), engine.requests(), plan.warmup.clone());
    let mut preparing = load.spawn(async move {
        warmup::warm_up(shared.clone(), requests.clone(), warmup, give_up).await?;
        warmup::open_connections(shared, requests, streams).await
    });
    tokio::select! {
        prepared = &mut preparing => prepared.map_err(|_| PointError::Lost)?,
        () = stop.cancelled() => {
            let _ = tell.send("stopped");
            preparing.abort();
            Ok(())
        }
    }
}

fn check_files(plan: &PointPlan, streams: usize) -> Result<(), PointError> {
    let (needed, allowed) = (streams as u64, file_limit());
    let certain = plan.discipline != Discipline::OpenLoop;
    if certain && allowed < needed + OTHER_FILES {
        Err(PointError::TooFewFiles { needed, allowed })
    } else {
        Ok(())
    }
}

/// One record per planned request, in schedule order; sessions that never ran are filled in.
fn in_order(point: &Point, ran: Vec<Ran>, why: &'static str) -> Vec<RequestRecord> {
    let mut by_session: Vec<Vec<RequestRecord>> = vec![Vec::new(); point.sessions.len()];
    for (index, records) in ran {
        by_session[index] = records;
    }
    for (index, records) in by_session.iter_mut().enumerate() {
        let due = records
            .last()
            .map_or(point.sessions[index].start, |last| last.scheduled);
        records.extend(point.never_sent(index, records.len(), due, why));
    }
    let mut records: Vec<RequestRecord> = by_session.into_iter().flatten().collect();
    records.sort_by_key(|record| (record.scheduled, record.session, record.turn));
    records
}

fn unix_ms(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|since| i64::try_from(since.as_millis()).ok())
        .unwrap_or(0)
}
