//! Sessions: turns that follow each other, and how each discipline starts them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use measure::request::{ErrorKind, Outcome, RequestRecord};
use measure::summary::Discipline;
use measure::units::Nanos;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::clock::Clock;
use crate::dialect::{Asked, End, Stream};
use crate::engine::Requests;
use crate::exchange::{GiveUp, Lane, Shared, asked};
use crate::pacer::Alarms;
use crate::plan::PlannedSession;
use crate::progress::Gauges;

/// What the sessions of a point share.
pub(crate) struct Point {
    pub engine: Shared,
    pub requests: Requests,
    pub clock: Clock,
    pub gauges: Gauges,
    pub alarms: Alarms,
    pub sessions: Vec<PlannedSession>,
    /// The most requests in flight, where that is limited.
    pub permits: Option<Semaphore>,
    pub discipline: Discipline,
}

/// A session's index and its records.
pub(crate) type Ran = (usize, Vec<RequestRecord>);

impl Point {
    /// Runs a session to its end. Its first turn is due at `start`.
    pub(crate) async fn session(&self, index: usize, start: Nanos, give_up: &mut GiveUp) -> Ran {
        let turns = &self.sessions[index].turns;
        let mut records: Vec<RequestRecord> = Vec::with_capacity(turns.len());
        let mut due = start;
        for turn in 0..turns.len() {
            match self.turn(index, turn, due, give_up).await {
                Ok(record) => records.push(record),
                Err(why) => {
                    records.extend(self.never_sent(index, turn, due, why));
                    break;
                }
            }
            let ended = self.clock.now();
            if self.discipline == Discipline::AllAtOnce {
                // However long the queue: as long as it moves there is nothing to give up.
                self.gauges.due(ended);
            }
            let failed = !records[turn].is_ok();
            if failed {
                let why = give_up.why().unwrap_or("the turn before it failed");
                records.extend(self.never_sent(index, turn + 1, ended, why));
                break;
            }
            if let Some(next) = turns.get(turn + 1) {
                let free = records[turn].end.unwrap_or(ended) + next.think;
                due = free.max(next.not_before);
            }
        }
        (index, records)
    }

    /// Waits for the turn's moment and a place, then runs it. `Err` says why it never was sent.
    async fn turn(
        &self,
        session: usize,
        turn: usize,
        due: Nanos,
        give_up: &mut GiveUp,
    ) -> Result<RequestRecord, &'static str> {
        let planned = &self.sessions[session].turns[turn];
        let request = self
            .requests
            .request(&planned.request_id.to_string(), planned.body.bytes());
        self.gauges.due(due);
        let ready = async {
            if self.clock.until(due).is_some() {
                self.alarms.wait(due).await;
            }
            // A closed semaphore cannot happen: nobody closes it.
            match &self.permits {
                Some(permits) => permits.acquire().await.ok(),
                None => None,
            }
        };
        let permit = tokio::select! {
            biased;
            why = give_up.told() => return Err(why),
            permit = ready => permit,
        };
        let lane = Lane {
            engine: &self.engine,
            clock: self.clock,
            gauges: &self.gauges,
        };
        let record = lane
            .run(request, asked(planned, session, turn, due), give_up)
            .await;
        drop(permit);
        Ok(record)
    }

    /// The records of turns that were never sent, from `first` on.
    pub(crate) fn never_sent(
        &self,
        session: usize,
        first: usize,
        due: Nanos,
        why: &'static str,
    ) -> Vec<RequestRecord> {
        let turns = self.sessions[session].turns.iter().enumerate().skip(first);
        turns
            .map(|(turn, planned)| {
                never_sent(self.engine.api, asked(planned, session, turn, due), why)
            })
            .collect()
    }

    /// Open loop: starts each session when the pacer says so, until told to give up; then waits for those that run.
    pub(crate) async fn open_loop(
        self: Arc<Self>,
        mut slots: mpsc::Receiver<usize>,
        sessions: Vec<GiveUp>,
        mut give_up: GiveUp,
    ) -> Vec<Ran> {
        let mut running: Vec<JoinHandle<Ran>> = Vec::with_capacity(sessions.len());
        let mut waiting = sessions.into_iter();
        while running.len() < self.sessions.len() {
            let slot = tokio::select! {
                biased;
                slot = slots.recv() => slot,
                _ = give_up.told() => None,
            };
            let (Some(index), Some(mut give_up)) = (slot, waiting.next()) else {
                break;
            };
            let point = Arc::clone(&self);
            let start = self.sessions[index].start;
            if index + 1 == self.sessions.len() {
                self.gauges.due(start);
                self.gauges.all_begun();
            }
            running.push(tokio::spawn(async move {
                point.session(index, start, &mut give_up).await
            }));
        }
        drop(slots);
        all(running).await
    }

    /// Closed loop: each stream takes the next session as soon as its own has ended.
    pub(crate) async fn closed_loop(self: Arc<Self>, streams: Vec<GiveUp>) -> Vec<Ran> {
        let next = Arc::new(AtomicUsize::new(0));
        let running = streams.into_iter().map(|give_up| {
            let (point, next) = (Arc::clone(&self), Arc::clone(&next));
            tokio::spawn(point.stream(next, give_up))
        });
        let running: Vec<JoinHandle<Vec<Ran>>> = running.collect();
        all(running).await.into_iter().flatten().collect()
    }

    async fn stream(self: Arc<Self>, next: Arc<AtomicUsize>, mut give_up: GiveUp) -> Vec<Ran> {
        let mut ran = Vec::new();
        self.alarms.wait(Nanos::ZERO).await;
        // A stream is free from the moment it runs: a thousand of them start over some tens of milliseconds, as they
        // would at a thousand users. Later the slot comes free when its session has ended.
        let mut free = self.clock.now();
        while give_up.why().is_none() {
            let index = next.fetch_add(1, Relaxed);
            if self.sessions.len() <= index {
                break;
            }
            if index + 1 == self.sessions.len() {
                self.gauges.due(free);
                self.gauges.all_begun();
            }
            ran.push(self.session(index, free, &mut give_up).await);
            free = self.clock.now();
        }
        ran
    }
}

/// The results of tasks; one that panicked has none, and its sessions count as never sent.
async fn all<T>(running: Vec<JoinHandle<T>>) -> Vec<T> {
    let mut results = Vec::with_capacity(running.len());
    for task in running {
        results.extend(task.await.ok());
    }
    results
}

fn never_sent(api: measure::study::Api, asked: Asked, why: &'static str) -> RequestRecord {
    let mut stream = Stream::new(api, false, 0);
    stream.end(Nanos::ZERO, End::Cancelled(why.into()));
    let record = stream.into_record(asked, None, false);
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
