//! Queues with a known answer: first come, first served, by several servers that each take one request at a time.
//!
//! A request's wait before it is served stands for its time to first token. For Poisson arrivals and exponential
//! service (M/M/c) the long-run share of waits is Erlang's; for constant service by one server (M/D/1) it is Crommelin's.

use crate::sampling::Draws;

/// How long a request is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Exponential of mean 1 s.
    Exponential,
    /// Always 1 s.
    Constant,
}

/// A queue and the promise that is made of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Queue {
    /// Its name in tables.
    pub name: &'static str,
    /// Servers.
    pub servers: u32,
    /// Their time for a request.
    pub service: Service,
    /// The longest wait that is good, in seconds.
    pub bound: f64,
    /// The share of waits that must be good.
    pub target: f64,
}

impl Queue {
    /// Waits of the requests of one run from empty at a rate, in order of arrival, over the bound: good at most 1.
    /// The first `warmup` are left out.
    pub fn run(&self, rate: f64, (warmup, requests): (u32, u32), seed: u64) -> Vec<f64> {
        self.waits(rate, seed)
            .skip(warmup as usize)
            .take(requests as usize)
            .collect()
    }

    /// The same without an end, the warm-up included.
    pub fn waits(&self, rate: f64, seed: u64) -> impl Iterator<Item = f64> + use<> {
        let bound = self.bound;
        self.requests(rate, seed)
            .map(move |(arrived, begun, _)| (begun - arrived) / bound)
    }

    /// When each request arrives and leaves, in seconds.
    pub fn stays(&self, rate: f64, seed: u64) -> impl Iterator<Item = (f64, f64)> + use<> {
        self.requests(rate, seed)
            .map(|(arrived, _, left)| (arrived, left))
    }

    /// When each request arrives, is begun and leaves: whichever server is free first takes it (Kiefer and Wolfowitz, 1955).
    fn requests(&self, rate: f64, seed: u64) -> impl Iterator<Item = (f64, f64, f64)> + use<> {
        let service = self.service;
        let mut draws = Draws::new(seed);
        let mut free = vec![0.0f64; self.servers as usize];
        let mut now = 0.0;
        std::iter::from_fn(move || {
            now += draws.exponential(rate);
            let lasts = match service {
                Service::Exponential => draws.exponential(1.0),
                Service::Constant => 1.0,
            };
            let first = free.iter_mut().min_by(|a, b| a.total_cmp(b))?;
            let begun = first.max(now);
            *first = begun + lasts;
            Some((now, begun, begun + lasts))
        })
    }

    /// The long-run share of good waits at a rate: the finite run's value without its start. Zero above capacity.
    pub fn in_the_long_run(&self, rate: f64) -> Option<f64> {
        let servers = f64::from(self.servers);
        if servers <= rate {
            return Some(0.0);
        }
        match self.service {
            Service::Exponential => {
                let waiting = erlang_c(self.servers, rate);
                Some(1.0 - waiting * (-(servers - rate) * self.bound).exp())
            }
            Service::Constant if self.servers == 1 => Some(crommelin(rate, self.bound)),
            Service::Constant => None,
        }
    }
}

/// The share of requests that wait at all (Erlang's second formula, 1917), by the recursion of his first.
pub fn erlang_c(servers: u32, load: f64) -> f64 {
    let blocked = (1..=servers).fold(1.0, |blocked, n| {
        load * blocked / (f64::from(n) + load * blocked)
    });
    let idle = 1.0 - load / f64::from(servers);
    blocked / (idle + blocked * (1.0 - idle))
}

/// The share of waits of at most `wait` seconds for one server that takes one second (Crommelin, 1932): (1 - rate) times
/// the sum over k = 0..floor(wait) of (rate (k - wait))^k / k! e^(-rate (k - wait)).
pub fn crommelin(rate: f64, wait: f64) -> f64 {
    let mut sum = 0.0;
    let mut factorial = 1.0;
    for k in 0..=wait.floor() as u32 {
        factorial *= f64::from(k.max(1));
        let x = rate * (f64::from(k) - wait);
        sum += x.powi(k as i32) / factorial * (-x).exp();
    }
    (1.0 - rate) * sum
}
