//! Runs of engines that are not there: Poisson arrivals, log-normal work, a queue where asked for.

use crate::request::Outcome;
use crate::sampling::{Draws, derive};
use crate::score::Score;
use crate::units::Nanos;

/// How latencies come about.
#[derive(Clone, Copy)]
pub(super) struct Engine {
    /// Servers of the queue that requests wait in; 0 for none, where every request is by itself.
    pub servers: usize,
    /// Spread of the logarithms of a request's work.
    pub sigma: f64,
    /// Share of that (as a variance) which both sides have in common.
    pub common: f64,
    /// How alike neighbours' own parts are.
    pub memory: f64,
    /// Turns of a session.
    pub turns: u32,
    /// By how much work becomes slower from the beginning of a run to its end.
    pub heat: f64,
    /// So many requests take [`HEAP`] times as long, on each side by themselves: nothing lies between the two heaps.
    pub heap: f64,
    /// Latencies come in steps of half of what is usual.
    pub coarse: bool,
}

/// How far apart two heaps of latencies lie.
const HEAP: f64 = 40.0;

impl Engine {
    pub const ALONE: Self = Self {
        servers: 0,
        sigma: 0.3,
        common: 0.5,
        memory: 0.0,
        turns: 1,
        heat: 0.0,
        heap: 0.0,
        coarse: false,
    };
    pub const QUEUE: Self = Self {
        servers: 4,
        sigma: 0.5,
        common: 0.7,
        memory: 0.5,
        turns: 1,
        heat: 0.0,
        ..Self::ALONE
    };
}

/// One run: `seed` for what both sides have in common, `own` for the rest.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    pub sessions: u32,
    pub rate: f64,
    pub seed: u64,
    pub own: u64,
    /// All work takes so many times as long.
    pub slow: f64,
    /// Tokens after the first take so many times as long.
    pub pace: f64,
}

/// A request's work in milliseconds.
const WORK: f64 = 400.0;

impl Engine {
    pub fn run(&self, asked: &Asked) -> Vec<Score> {
        let mut arrivals = Draws::new(derive(asked.seed, &[0]));
        let mut work = Work::new(*self, derive(asked.seed, &[1]), derive(asked.own, &[1]));
        let mut paces = Work::new(*self, derive(asked.seed, &[2]), derive(asked.own, &[2]));
        let mut free = vec![0.0f64; self.servers];
        let mut now = 0.0;
        let mut scores = Vec::new();
        for session in 0..asked.sessions {
            now += arrivals.exponential(asked.rate) * 1e3;
            let heat = 1.0 + self.heat * f64::from(session) / f64::from(asked.sessions);
            let slow = asked.slow * heat;
            for turn in 0..self.turns {
                let at = now + f64::from(turn) * 2000.0;
                let service = WORK * slow * work.next();
                let begins = free
                    .iter_mut()
                    .min_by(|a, b| a.total_cmp(b))
                    .map_or(at, |free| {
                        let begins = free.max(at);
                        *free = begins + service;
                        begins
                    });
                let tpot = 0.02 * WORK * slow * asked.pace * paces.next();
                let ttft = begins - at + 0.2 * service;
                let [ttft, tpot] = [(ttft, 0.1 * WORK), (tpot, 0.01 * WORK)].map(|(it, step)| {
                    if self.coarse {
                        (it / step).round().max(1.0) * step
                    } else {
                        it
                    }
                });
                scores.push(score(session, turn, at, ttft, tpot));
            }
        }
        scores
    }
}

/// Log-normal factors around 1, partly in common with the other side.
struct Work {
    engine: Engine,
    common: Draws,
    own: Draws,
    before: f64,
}

impl Work {
    fn new(engine: Engine, common: u64, own: u64) -> Self {
        let (common, mut own) = (Draws::new(common), Draws::new(own));
        Self {
            before: own.normal(),
            engine,
            common,
            own,
        }
    }

    fn next(&mut self) -> f64 {
        let Engine {
            memory,
            common,
            sigma,
            heap,
            ..
        } = self.engine;
        self.before = memory * self.before + (1.0 - memory * memory).sqrt() * self.own.normal();
        let both = common.sqrt() * self.common.normal() + (1.0 - common).sqrt() * self.before;
        let slow = 0.0 < heap && self.own.uniform() < heap;
        (sigma * both).exp() * if slow { HEAP } else { 1.0 }
    }
}

fn score(session: u32, turn: u32, at_ms: f64, ttft_ms: f64, tpot_ms: f64) -> Score {
    let ms = |millis: f64| Nanos::from_secs_f64(millis / 1e3);
    Score {
        session,
        turn,
        scheduled: ms(at_ms),
        sent: Some(ms(at_ms)),
        ttft: Some(ms(ttft_ms)),
        ttfa: Some(ms(ttft_ms)),
        e2e: Some(ms(ttft_ms + 49.0 * tpot_ms)),
        tpot: Some(ms(tpot_ms)),
        itl_p95: Some(ms(tpot_ms)),
        stall: Some(ms(tpot_ms)),
        n: Some(50),
        outcome: Outcome::Ok,
    }
}

/// How a machine's speed changes from point to point.
#[derive(Clone, Copy)]
pub(super) enum Speed {
    Steady,
    /// By so much from the first point to the last.
    Drifting(f64),
    /// By a step of about so much from each point to the next.
    Walking(f64),
}

/// A study of two configurations: its points one after the other as A B, then B A.
#[derive(Clone, Copy)]
pub(super) struct Study {
    pub engine: Engine,
    pub speed: Speed,
    pub rates: &'static [f64],
    pub repeats: u32,
    pub sessions: u32,
    /// Whether both sides have arrivals and prompts in common.
    pub alike: bool,
    /// The candidate's tokens after the first take so many times as long.
    pub pace: f64,
    /// All of the candidate's work does.
    pub slow: f64,
}

impl Study {
    pub const PLAIN: Self = Self {
        engine: Engine::ALONE,
        speed: Speed::Steady,
        rates: &[4.0],
        repeats: 1,
        sessions: 500,
        alike: true,
        pace: 1.0,
        slow: 1.0,
    };
}

/// A run of either side.
pub(super) struct Made {
    pub level: usize,
    pub repeat: u32,
    pub candidate: bool,
    pub started_ms: i64,
    pub scores: Vec<Score>,
}

impl Study {
    pub fn make(&self, seed: u64) -> Vec<Made> {
        let mut steps = Draws::new(derive(seed, &[9]));
        let points = self.rates.len() * self.repeats as usize * 2;
        let mut walked = 0.0;
        let mut made = Vec::with_capacity(points);
        for (place, (level, repeat)) in self.points().into_iter().enumerate() {
            for turn in 0..2 {
                let candidate = (place + turn) % 2 == 1;
                let slow = match self.speed {
                    Speed::Steady => 1.0,
                    Speed::Drifting(by) => 1.0 + by * made.len() as f64 / points as f64,
                    Speed::Walking(by) => {
                        walked += by * steps.normal();
                        f64::exp(walked)
                    }
                };
                made.push(self.one(seed, (level, repeat), candidate, slow, made.len() as i64));
            }
        }
        made
    }

    fn points(&self) -> Vec<(usize, u32)> {
        let of = |level: usize| (0..self.repeats).map(move |repeat| (level, repeat));
        (0..self.rates.len()).flat_map(of).collect()
    }

    fn one(
        &self,
        seed: u64,
        (level, repeat): (usize, u32),
        candidate: bool,
        slow: f64,
        at: i64,
    ) -> Made {
        let path = [level as u64, u64::from(repeat)];
        let own = derive(seed, &[3, path[0], path[1], u64::from(candidate)]);
        let shared = derive(seed, &path);
        let asked = Asked {
            sessions: self.sessions,
            rate: self.rates[level],
            seed: if self.alike || !candidate {
                shared
            } else {
                derive(own, &[0])
            },
            own,
            slow: slow * if candidate { self.slow } else { 1.0 },
            pace: if candidate { self.pace } else { 1.0 },
        };
        Made {
            level,
            repeat,
            candidate,
            started_ms: at * 60_000,
            scores: self.engine.run(&asked),
        }
    }
}
