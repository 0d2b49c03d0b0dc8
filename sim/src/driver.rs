//! Steps in real time, on a thread of their own.
//!
//! A step that takes 12.3 ms ends 12.3 ms after it began, and the next one begins there: lateness of the thread's sleep (some 60 µs on
//! Linux) never adds up. After each step the tokens of all its sequences go out. A client that has left is noticed at the next step.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use measure::units::Nanos;
use tokio::sync::{mpsc, oneshot};

use crate::config::Config;
use crate::engine::{Ask, Engine, SequenceId};
use crate::stats::Stats;

/// Commands waiting for the driver; senders wait beyond that.
const COMMANDS: usize = 1024;
/// Later than this (the machine slept, or is far too slow) the clock starts anew instead of catching up.
const LATE_LIMIT: Nanos = Nanos::from_millis(1000);
/// Longest nap: a stop is noticed within.
const NAP: Duration = Duration::from_millis(20);

/// Tokens that came out together, for the stream of their request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Delivered {
    /// Which of the request's choices.
    pub choice: u32,
    /// Which token of its answer the first of them is, from 0.
    pub index: u32,
    /// How many they are.
    pub count: u32,
    pub finished: bool,
    pub cached: u32,
}

/// One choice of a request.
pub(crate) struct Submission {
    pub ask: Ask,
    pub choice: u32,
    pub arrived: Instant,
    /// Has room for every token of the request, so that a slow client never holds up a step.
    pub to: mpsc::Sender<Delivered>,
}

pub(crate) enum Command {
    Submit(Vec<Submission>),
    ResetCache(oneshot::Sender<()>),
}

/// The way to the driver. When the last clone is gone and nothing runs, the driver ends.
#[derive(Clone)]
pub(crate) struct Handle {
    pub commands: mpsc::Sender<Command>,
    stats: Arc<Mutex<Stats>>,
    stop: Arc<AtomicBool>,
}

impl Handle {
    /// What the engine counted, as of its latest step.
    pub fn stats(&self) -> Stats {
        lock(&self.stats).clone()
    }

    /// Sequences in the engine as of its latest step.
    pub fn queued(&self) -> u64 {
        let stats = lock(&self.stats);
        stats.running + stats.waiting
    }

    /// Ends the driver soon; every stream ends with it.
    pub async fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wakes an idle driver; one that is gone already needs no waking.
        let _ = self.commands.send(Command::Submit(Vec::new())).await;
    }
}

/// Starts the driver's thread.
pub(crate) fn spawn(config: &Config) -> std::io::Result<Handle> {
    let (commands, receiver) = mpsc::channel(COMMANDS);
    let stats = Arc::new(Mutex::new(Stats::new(config)));
    let stop = Arc::new(AtomicBool::new(false));
    let mut driver = Driver {
        engine: Engine::new(config),
        commands: receiver,
        clients: HashMap::new(),
        epoch: Instant::now(),
        stats: Arc::clone(&stats),
        stop: Arc::clone(&stop),
    };
    std::thread::Builder::new()
        .name("sim-engine".into())
        .spawn(move || driver.run())?;
    Ok(Handle {
        commands,
        stats,
        stop,
    })
}

struct Driver {
    engine: Engine,
    commands: mpsc::Receiver<Command>,
    clients: HashMap<SequenceId, Client>,
    /// Simulated time counts from here.
    epoch: Instant,
    stats: Arc<Mutex<Stats>>,
    stop: Arc<AtomicBool>,
}

struct Client {
    choice: u32,
    to: mpsc::Sender<Delivered>,
}

impl Driver {
    fn run(&mut self) {
        let mut begins = Nanos::ZERO;
        while !self.stop.load(Ordering::Relaxed) {
            if self.engine.is_idle() {
                self.publish();
                let Some(command) = self.commands.blocking_recv() else {
                    return;
                };
                self.obey(command);
                begins = self.now();
            }
            while let Ok(command) = self.commands.try_recv() {
                self.obey(command);
            }
            self.drop_the_gone();
            if !self.engine.is_idle() {
                begins = self.step(begins);
            }
        }
    }

    /// Runs a step that begins at `begins`; returns when the next one does.
    fn step(&mut self, begins: Nanos) -> Nanos {
        let step = self.engine.step(begins);
        self.publish();
        self.sleep_until(step.ends);
        for token in &step.emitted {
            if let Some(Client { choice, to }) = self.clients.get(&token.id) {
                // A closed channel is a client that left: `drop_the_gone` sees it before the next step.
                let _ = to.try_send(Delivered {
                    choice: *choice,
                    index: token.index,
                    count: token.count,
                    finished: token.finished,
                    cached: token.cached,
                });
            }
            if token.finished {
                self.clients.remove(&token.id);
            }
        }
        self.engine.gauge();
        self.note_lateness(step.ends)
    }

    /// Counts how late the tokens went out; returns when the next step begins.
    fn note_lateness(&mut self, ends: Nanos) -> Nanos {
        let now = self.now();
        let late = now.since(ends);
        let stats = self.engine.stats_mut();
        stats.late = stats.late + late;
        stats.late_max = stats.late_max.max(late);
        if LATE_LIMIT < late { now } else { ends }
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Submit(submissions) => {
                submissions.into_iter().for_each(|one| self.submit(one))
            }
            Command::ResetCache(done) => {
                self.engine.reset_prefix_cache();
                // Whoever asked may have left.
                let _ = done.send(());
            }
        }
    }

    fn submit(&mut self, submission: Submission) {
        let Submission {
            ask,
            choice,
            arrived,
            to,
        } = submission;
        let id = self
            .engine
            .add(ask, nanos(arrived.saturating_duration_since(self.epoch)));
        self.clients.insert(id, Client { choice, to });
    }

    fn drop_the_gone(&mut self) {
        let gone: HashSet<SequenceId> = self
            .clients
            .iter()
            .filter(|(_, client)| client.to.is_closed())
            .map(|(id, _)| *id)
            .collect();
        if !gone.is_empty() {
            self.engine.abort(&gone);
            self.clients.retain(|id, _| !gone.contains(id));
        }
    }

    fn publish(&self) {
        self.engine.stats().clone_into(&mut lock(&self.stats));
    }

    fn now(&self) -> Nanos {
        nanos(self.epoch.elapsed())
    }

    fn sleep_until(&self, ends: Nanos) {
        let ends = self.epoch + Duration::from_nanos(ends.0);
        while !self.stop.load(Ordering::Relaxed) {
            let left = ends.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(NAP));
        }
    }
}

fn nanos(span: Duration) -> Nanos {
    Nanos(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
}

/// The numbers are whole even where their last writer panicked.
fn lock(stats: &Mutex<Stats>) -> MutexGuard<'_, Stats> {
    stats.lock().unwrap_or_else(PoisonError::into_inner)
}
