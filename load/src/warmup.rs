//! Before the clock: is the engine there, has it warmed up, are connections open.

use std::rc::Rc;

use futures_util::StreamExt;
use futures_util::stream::{FuturesUnordered, iter};
use measure::request::{ErrorKind, Outcome, RequestRecord};
use measure::units::Nanos;

use crate::clock::Clock;
use crate::connect::ConnectError;
use crate::engine::{Calls, Engine};
use crate::exchange::{GiveUp, Habits, Lane, asked};
use crate::plan::PlannedRequest;
use crate::progress::Gauges;
use crate::runner::PointError;
use crate::shard::{Local, Shard};

/// Warm-up requests in flight at a time.
const AT_A_TIME: usize = 8;
/// Connections opened at a time by one thread: more would overrun the queue of a listening socket.
const OPENING: usize = 64;

/// Opens `count` connections, spread over the threads, and leaves them idle.
/// Where all of them are `certain` to be needed, a limit of this machine ends the point before it begins.
pub(crate) async fn open_connections(
    shards: &[Shard],
    count: usize,
    certain: bool,
) -> Result<(), PointError> {
    let count = count.max(1);
    let opening: FuturesUnordered<_> = (0..shards.len())
        .map(|place| (place, (place..count).step_by(shards.len()).count()))
        .map(|(place, mine)| shards[place].run(move |local| open(local, mine)))
        .collect();
    let opened: Vec<_> = opening.collect().await;
    let mut any = false;
    let mut refused: Option<ConnectError> = None;
    for of_thread in opened {
        let (open, why) = of_thread.map_err(|_| PointError::Lost)?;
        any |= 0 < open;
        refused = graver(refused, why);
    }
    match refused {
        // One that could not be opened ahead is opened inside the clock, and counted there.
        Some(why) if !any || (certain && why.is_limit()) => Err(why.into()),
        _ => Ok(()),
    }
}

/// Opens what is missing of `count`; how many there are, and why there are not more.
async fn open(local: Rc<Local>, count: usize) -> (usize, Option<ConnectError>) {
    let pool = &local.pool;
    let missing = pool.missing(count);
    let opened: Vec<_> = iter(0..missing)
        .map(|_| pool.open())
        .buffer_unordered(OPENING)
        .collect()
        .await;
    let mut why = None;
    for link in opened {
        match link {
            Ok(link) => pool.keep(link),
            Err(error) => why = graver(why, Some(error)),
        }
    }
    (pool.count(), why)
}

/// A limit of this machine explains more than what came of it.
fn graver(one: Option<ConnectError>, other: Option<ConnectError>) -> Option<ConnectError> {
    match (one, other) {
        (Some(one), Some(other)) if other.is_limit() && !one.is_limit() => Some(other),
        (one, other) => one.or(other),
    }
}

/// How many connections are open and idle.
pub(crate) async fn idle(shards: &[Shard]) -> usize {
    let counting = shards
        .iter()
        .map(|shard| shard.run(|local| async move { local.pool.count() }));
    let counts = futures_util::future::join_all(counting).await;
    counts.into_iter().flatten().sum()
}

impl From<ConnectError> for PointError {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::Limit(why) => Self::ClientLimit { why },
            other => Self::Unreachable {
                why: other.to_string(),
            },
        }
    }
}

/// Sends the warm-up. A refusal that all requests would share ends the point before it begins.
pub(crate) async fn warm_up(
    engine: &Engine,
    warmup: Vec<PlannedRequest>,
    give_up: GiveUp,
) -> Result<(), PointError> {
    let (Some(shard), false) = (engine.shards.first(), warmup.is_empty()) else {
        return Ok(());
    };
    let (habits, calls) = (engine.habits, engine.calls.clone());
    let warmed = shard.run(move |local| send_all(local, habits, calls, warmup, give_up));
    warmed.await.map_err(|_| PointError::Lost)?
}

async fn send_all(
    local: Rc<Local>,
    habits: Habits,
    calls: Calls,
    warmup: Vec<PlannedRequest>,
    mut give_up: GiveUp,
) -> Result<(), PointError> {
    let one = |planned| one(&local, habits, &calls, planned);
    let mut answers = iter(warmup).map(one).buffer_unordered(AT_A_TIME);
    loop {
        let answer = tokio::select! {
            answer = answers.next() => answer,
            _ = give_up.told() => return Ok(()),
        };
        match answer {
            Some(record) => check(&record)?,
            None => return Ok(()),
        }
    }
}

async fn one(
    local: &Local,
    habits: Habits,
    calls: &Calls,
    planned: PlannedRequest,
) -> RequestRecord {
    let call = calls.call(&planned.request_id.to_string(), planned.body.bytes());
    let lane = Lane {
        habits,
        pool: &local.pool,
        timer: &local.timer,
        clock: Clock::starting_now(),
        gauges: &Gauges::new(1),
        due: None,
    };
    let (_keep, mut give_up) = GiveUp::new();
    lane.run(call, asked(&planned, 0, 0, Nanos::ZERO), &mut give_up)
        .await
}

fn check(record: &RequestRecord) -> Result<(), PointError> {
    let why = record.error_detail.clone().unwrap_or_default();
    match (record.outcome, record.http_status) {
        (Outcome::Error(ErrorKind::HttpStatus), Some(status @ (400..=499))) => {
            Err(PointError::Refused { status, why })
        }
        (Outcome::Error(ErrorKind::ConnectFailed), _) => Err(PointError::Unreachable { why }),
        (Outcome::Error(ErrorKind::ClientLimit), _) => Err(PointError::ClientLimit { why }),
        (Outcome::Error(ErrorKind::NotAStream), _) => Err(PointError::NoStream { why }),
        _ => Ok(()),
    }
}
