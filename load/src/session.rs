//! Sessions: turns that follow each other, and how each discipline starts them.

use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use measure::request::{ErrorKind, Outcome, RequestRecord};
use measure::study::Api;
use measure::summary::Discipline;
use measure::units::Nanos;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinHandle;

use crate::clock::Clock;
use crate::dialect::{Asked, End, Stream};
use crate::engine::Calls;
use crate::exchange::{GiveUp, Habits, Lane, asked};
use crate::plan::{PlannedRequest, PlannedSession, RequestId};
use crate::progress::Gauges;
use crate::shard::Local;
use crate::starts::Starts;

/// What the sessions of a point share.
pub(crate) struct Point {
    pub habits: Habits,
    pub calls: Calls,
    pub clock: Clock,
    pub gauges: Gauges,
    pub sessions: Vec<Waiting>,
    /// Closed loop: the session that the next free stream takes.
    pub next: AtomicUsize,
    /// No session begins after this.
    pub until: Option<Nanos>,
    /// Answers are kept for the turns after them, and then only in the records that are to keep them.
    pub drop_answers: bool,
    /// The most requests in flight, where that is limited.
    pub permits: Option<Semaphore>,
    pub discipline: Discipline,
}

/// A session that has not begun. Whoever runs it takes its turns, so that what was sent takes no room any more.
pub(crate) struct Waiting {
    pub start: Nanos,
    /// How many requests it has.
    pub count: usize,
    turns: Mutex<Vec<PlannedRequest>>,
}

impl Waiting {
    pub(crate) fn new(session: PlannedSession) -> Self {
        Self {
            start: session.start,
            count: session.turns.len(),
            turns: Mutex::new(session.turns),
        }
    }

    pub(crate) fn take(&self) -> Vec<PlannedRequest> {
        // Each is taken once by one thread: nobody ever waits here.
        self.turns
            .lock()
            .map(|mut turns| std::mem::take(&mut *turns))
            .unwrap_or_default()
    }
}

/// Why a turn never was sent.
enum Unsent {
    /// It was given up: its record, and why.
    GivenUp(Box<RequestRecord>, &'static str),
    /// Its session would have begun after the point's time.
    PointIsOver,
}

/// A point on one thread.
#[derive(Clone)]
pub(crate) struct Runner {
    pub point: Arc<Point>,
    pub local: Rc<Local>,
    pub starts: Rc<Starts>,
}

impl Runner {
    pub(crate) fn new(point: Arc<Point>, local: Rc<Local>) -> Self {
        let starts = Rc::default();
        Self {
            point,
            local,
            starts,
        }
    }

    /// Runs a session to its end. Its first turn is due at `start`.
    pub(crate) async fn session(
        &self,
        index: usize,
        start: Nanos,
        give_up: &mut GiveUp,
    ) -> Vec<RequestRecord> {
        let point = &self.point;
        let mut turns = point.sessions[index].take().into_iter().enumerate();
        let mut records: Vec<RequestRecord> = Vec::with_capacity(turns.len());
        let (mut answers, mut free) = (Vec::new(), start);
        while let Some((turn, planned)) = turns.next() {
            let due = match turn {
                0 => start,
                _ => (free + planned.think).max(planned.not_before),
            };
            let why = match self
                .turn(planned, (index, turn, due), &answers, give_up)
                .await
            {
                Ok(mut record) => {
                    free = record.end.unwrap_or_else(|| point.clock.now());
                    answers.extend(point.answer_of(&mut record));
                    let failed = !record.is_ok();
                    records.push(record);
                    failed.then(|| give_up.why().unwrap_or("the turn before it failed"))
                }
                Err(Unsent::PointIsOver) => break,
                Err(Unsent::GivenUp(record, why)) => {
                    records.push(*record);
                    Some(why)
                }
            };
            if point.discipline == Discipline::AllAtOnce {
                // However long the queue: as long as it moves there is nothing to give up.
                point.gauges.due(point.clock.now());
            }
            if let Some(why) = why {
                let skip = |(turn, planned)| point.skipped(&planned, (index, turn, free), why);
                records.extend(turns.by_ref().map(skip));
            }
        }
        records
    }

    /// Waits for the turn's moment and a place, then runs it.
    async fn turn(
        &self,
        planned: PlannedRequest,
        (session, turn, due): (usize, usize, Nanos),
        answers: &[String],
        give_up: &mut GiveUp,
    ) -> Result<RequestRecord, Unsent> {
        let point = &self.point;
        let asked = asked(&planned, session, turn, due);
        let answers: Vec<&str> = answers.iter().map(String::as_str).collect();
        let body = planned.body.bytes_after(&answers);
        let call = point.calls.call(&asked.request_id, body);
        drop(planned);
        point.gauges.due(due);
        let ready = async {
            self.local.timer.until(point.clock, due).await;
            // A closed semaphore cannot happen: nobody closes it.
            match &point.permits {
                Some(permits) => permits.acquire().await.ok(),
                None => None,
            }
        };
        let permit = tokio::select! {
            biased;
            why = give_up.told() => {
                let record = never_sent(point.habits.api, asked, why);
                return Err(Unsent::GivenUp(Box::new(record), why));
            }
            permit = ready => permit,
        };
        if turn == 0 && point.is_over() {
            return Err(Unsent::PointIsOver);
        }
        let lane = Lane {
            habits: point.habits,
            pool: &self.local.pool,
            timer: &self.local.timer,
            clock: point.clock,
            gauges: &point.gauges,
            due: self.due(),
        };
        let record = lane.run(call, asked, give_up).await;
        drop(permit);
        Ok(record)
    }

    /// Closed loop: each stream takes the next session as soon as its own has ended.
    pub(crate) async fn closed_loop(self, streams: Vec<GiveUp>) -> Vec<RequestRecord> {
        // Who takes how many is not known: room that is never used is none.
        let counts = self.point.sessions.iter().map(|session| session.count);
        self.starts.expect(counts.sum());
        let running = streams
            .into_iter()
            .map(|give_up| tokio::task::spawn_local(self.clone().stream(give_up)));
        let running: Vec<JoinHandle<()>> = running.collect();
        for stream in running {
            // One that panicked has left what it had.
            let _ = stream.await;
        }
        self.starts.kept()
    }

    async fn stream(self, mut give_up: GiveUp) {
        let point = &self.point;
        self.local.timer.until(point.clock, Nanos::ZERO).await;
        // A stream is free from the moment it runs: a thousand of them start over some milliseconds, as they would at a
        // thousand users. Later the slot comes free when its session has ended.
        let mut free = point.clock.now();
        while give_up.why().is_none() {
            let index = point.next.fetch_add(1, Relaxed);
            if point.sessions.len() <= index {
                break;
            }
            if point.is_over() {
                point.begun(point.sessions.len() - 1, free);
                break;
            }
            point.begun(index, free);
            let records = self.session(index, free, &mut give_up).await;
            free = point.clock.now();
            self.starts.keep(records);
        }
    }
}

impl Point {
    /// A session begins; with the last one the drain may follow.
    pub(crate) fn begun(&self, index: usize, start: Nanos) {
        if index + 1 == self.sessions.len() {
            self.gauges.due(start);
            self.gauges.all_begun();
        }
    }

    /// Whether no session begins any more.
    fn is_over(&self) -> bool {
        let now = self.clock.now();
        self.until.is_some_and(|until| until < now)
    }

    /// The answer, for the turns after it.
    fn answer_of(&self, record: &mut RequestRecord) -> Option<String> {
        if self.drop_answers {
            record.reasoning_text = None;
            record.text.take()
        } else {
            record.text.clone()
        }
    }

    fn skipped(
        &self,
        planned: &PlannedRequest,
        (session, turn, due): (usize, usize, Nanos),
        why: &'static str,
    ) -> RequestRecord {
        never_sent(self.habits.api, asked(planned, session, turn, due), why)
    }

    /// The records of those requests of a session that have none: it never began, or its task came to grief. Where the
    /// point's time bounds it, or slots come free only as sessions end, sessions that never began are no part of it.
    pub(crate) fn missing(
        &self,
        session: usize,
        have: usize,
        why: &'static str,
    ) -> Vec<RequestRecord> {
        let waiting = &self.sessions[session];
        let mut turns = waiting.take();
        let never_began = have == 0 && turns.len() == waiting.count;
        let never_due = self.discipline == Discipline::ClosedLoop && never_began;
        if never_due || (self.until.is_some() && have == 0 && self.is_over()) {
            return Vec::new();
        }
        for turn in have + turns.len()..waiting.count {
            turns.push(lost(session, turn));
        }
        let skip =
            |(turn, planned)| self.skipped(planned, (session, have + turn, waiting.start), why);
        turns.iter().enumerate().map(skip).collect()
    }
}

/// Stands for a request of which nothing is left.
fn lost(session: usize, turn: usize) -> PlannedRequest {
    PlannedRequest {
        request_id: RequestId {
            prefix: "lost".into(),
            session: session as u32,
            turn: turn as u32,
        },
        body: bytes::Bytes::new().into(),
        input_tokens: 0,
        output_tokens: 0,
        think: Nanos::ZERO,
        not_before: Nanos::ZERO,
    }
}

fn never_sent(api: Api, asked: Asked, why: &'static str) -> RequestRecord {
    let mut stream = Stream::new(api, false, 0);
    stream.end(Nanos::ZERO, End::Cancelled(why.into()));
    let record = stream.into_record(asked, None, None);
    debug_assert_eq!(record.outcome, Outcome::Error(ErrorKind::Cancelled));
    RequestRecord {
        end: None,
        ..record
    }
}

/// The senders that give sessions up, and their receivers.
pub(crate) fn reins(count: usize) -> (Vec<oneshot::Sender<&'static str>>, Vec<GiveUp>) {
    (0..count).map(|_| GiveUp::new()).unzip()
}
