//! Requests whose truth can be found out by repetition: independent, autoregressive, and queues.

use crate::request::Outcome;
use crate::sampling::Draws;
use crate::score::Score;
use crate::units::Nanos;

use super::ms;

/// Requests before the first one that counts. Queues start empty.
pub const WARM_UP: usize = 200;
/// Arrivals of the processes that do not queue, and the service that queues give, in seconds.
const GAP: f64 = 0.1;
const SERVICE: f64 = 0.1;
/// Most requests of a batch.
const BATCH: usize = 8;

/// How latencies come about. Arrivals are Poisson in all of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Process {
    /// Log-normal TTFT (sigma 0.5) and TPOT (sigma 0.3), autoregressive of first order on the logarithm; 0 is independent.
    Autoregressive(f64),
    /// M/D/1 at a utilisation: prompts are read one after another, TTFT is wait and reading.
    OneByOne(f64),
    /// M/M/c: so many slots at a utilisation, TTFT is the wait and a tenth of the exponential service.
    Slots(usize, f64),
    /// Batches at a utilisation: up to eight requests that wait are taken together, for a constant time.
    Batches(f64),
}

impl Process {
    /// Its name in tables.
    pub fn name(self) -> String {
        match self {
            Self::Autoregressive(0.0) => "independent".to_owned(),
            Self::Autoregressive(phi) => format!("AR(1) {phi}"),
            Self::OneByOne(load) => format!("M/D/1 {load}"),
            Self::Slots(servers, load) => format!("M/M/{servers} {load}"),
            Self::Batches(load) => format!("batches {load}"),
        }
    }

    /// `n` requests after the warm-up, in order of arrival.
    pub fn run(self, n: usize, seed: u64) -> Vec<Score> {
        let mut draws = Draws::new(seed);
        let mut engine = Engine::new(self, &mut draws);
        let mut now = 0.0;
        let mut all = Vec::with_capacity(n);
        for place in 0..WARM_UP + n {
            let gap = draws.exponential(self.rate());
            now += gap;
            let (ttft, tpot) = engine.next(now, gap, &mut draws);
            let tokens = (64.0 * (0.4 * draws.normal()).exp()).ceil() as u32;
            if WARM_UP <= place {
                all.push(score(place as u32, now, (ttft, tpot), tokens));
            }
        }
        all
    }

    /// Arrivals per second.
    fn rate(self) -> f64 {
        match self {
            Self::Autoregressive(_) => 1.0 / GAP,
            Self::OneByOne(load) => load / SERVICE,
            Self::Slots(servers, load) => load * servers as f64 / SERVICE,
            Self::Batches(load) => load * BATCH as f64 / SERVICE,
        }
    }
}

/// What requests leave behind for those that follow.
struct Engine {
    process: Process,
    /// Logarithms in units of their deviation.
    state: [f64; 2],
    wait: f64,
    free: Vec<f64>,
    /// When the last batch begins, and how many are in it.
    batch: (f64, usize),
}

impl Engine {
    fn new(process: Process, draws: &mut Draws) -> Self {
        let servers = match process {
            Process::Slots(servers, _) => servers,
            _ => 0,
        };
        Self {
            process,
            state: [draws.normal(), draws.normal()],
            wait: 0.0,
            free: vec![0.0; servers],
            batch: (-SERVICE, 0),
        }
    }

    /// TTFT and TPOT in seconds.
    fn next(&mut self, now: f64, gap: f64, draws: &mut Draws) -> (f64, f64) {
        match self.process {
            Process::Autoregressive(phi) => {
                for state in &mut self.state {
                    *state = phi * *state + (1.0 - phi * phi).sqrt() * draws.normal();
                }
                let [ttft, tpot] = self.state;
                (0.3 * (0.5 * ttft).exp(), 0.02 * (0.3 * tpot).exp())
            }
            Process::OneByOne(_) => {
                self.wait = (self.wait + SERVICE - gap).max(0.0);
                let waiting = self.wait / SERVICE;
                let pace = 0.02 * (1.0 + 0.1 * waiting) * (0.2 * draws.normal()).exp();
                (self.wait + SERVICE, pace)
            }
            Process::Slots(..) => self.slot(now, draws),
            Process::Batches(_) => self.batch(now, draws),
        }
    }

    /// A request joins the batch that has not begun, where it has room; else it begins the next one.
    fn batch(&mut self, now: f64, draws: &mut Draws) -> (f64, f64) {
        let (begins, members) = self.batch;
        self.batch = if now < begins && members < BATCH {
            (begins, members + 1)
        } else {
            ((begins + SERVICE).max(now), 1)
        };
        let (begins, members) = self.batch;
        let full = members as f64 / BATCH as f64;
        let pace = 0.02 * (1.0 + full) * (0.2 * draws.normal()).exp();
        (begins - now + SERVICE, pace)
    }

    fn slot(&mut self, now: f64, draws: &mut Draws) -> (f64, f64) {
        let busy = self.free.iter().filter(|free| now < **free).count() as f64;
        let first = (0..self.free.len()).fold(0, |first, i| {
            if self.free[i] < self.free[first] {
                i
            } else {
                first
            }
        });
        let begins = self.free[first].max(now);
        let service = draws.exponential(1.0 / SERVICE);
        self.free[first] = begins + service;
        let pace = 0.02 * (1.0 + busy / self.free.len() as f64) * (0.2 * draws.normal()).exp();
        (begins - now + 0.1 * service, pace)
    }
}

fn score(place: u32, now: f64, (ttft, tpot): (f64, f64), tokens: u32) -> Score {
    let nanos = |seconds: f64| ms(1e3 * seconds);
    Score {
        session: place,
        turn: 0,
        scheduled: nanos(now),
        sent: Some(nanos(now)),
        ttft: Some(nanos(ttft)),
        ttfa: Some(nanos(ttft)),
        e2e: Some(nanos(ttft + tpot * f64::from(tokens))),
        tpot: Some(nanos(tpot)),
        itl_p95: Some(nanos(tpot)),
        stall: Some(nanos(tpot)),
        n: Some(tokens),
        outcome: Outcome::Ok,
    }
}

/// D of a run.
pub fn duration(run: &[Score]) -> Nanos {
    let first = run.first().map_or(Nanos::ZERO, |score| score.scheduled);
    let ends = run
        .iter()
        .filter_map(|score| Some(score.sent? + score.e2e?));
    ends.max().unwrap_or_default().since(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean wait over many requests, in services.
    fn mean_wait(process: Process, of: impl Fn(&Score) -> f64) -> f64 {
        let run = process.run(400_000, 1);
        run.iter().map(of).sum::<f64>() / run.len() as f64 / SERVICE
    }

    #[test]
    fn a_queue_with_one_server_waits_as_pollaczek_and_khinchine_say() {
        // M/D/1: load / 2 (1 - load) services.
        let wait = mean_wait(Process::OneByOne(0.7), |score| {
            score.ttft.map_or(0.0, Nanos::as_secs_f64) - SERVICE
        });
        assert!((wait / (0.7 / 0.6) - 1.0).abs() < 0.05, "{wait}");
    }

    #[test]
    fn batches_are_filled_where_requests_wait() {
        // Far below capacity a request waits for what is left of one batch at most; near it, for many.
        let wait = |load| {
            mean_wait(Process::Batches(load), |score| {
                score.ttft.map_or(0.0, Nanos::as_secs_f64) - SERVICE
            })
        };
        let (calm, busy) = (wait(0.1), wait(0.97));
        assert!(0.2 < calm && calm < 0.6 && 1.0 < busy, "{calm} {busy}");
    }

    #[test]
    fn a_queue_with_four_servers_waits_as_erlang_says() {
        // M/M/4 at 0.7: C = 0.4287, wait C / (4 (1 - 0.7)) services, and a tenth of one until the first token.
        let wait = mean_wait(Process::Slots(4, 0.7), |score| {
            score.ttft.map_or(0.0, Nanos::as_secs_f64)
        });
        assert!((wait / (0.4287 / 1.2 + 0.1) - 1.0).abs() < 0.05, "{wait}");
    }
}
