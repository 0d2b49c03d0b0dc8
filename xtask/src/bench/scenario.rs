//! What is asked of every client.

use super::clients::Client;

/// How requests come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// Poisson, requests a second.
    Rate(f64),
    /// Closed loop.
    Streams(u32),
}

/// One scenario.
#[derive(Debug)]
pub struct Scenario {
    pub key: &'static str,
    pub name: &'static str,
    pub load: Load,
    pub requests: u32,
    pub ttft_ms: f64,
    pub itl_ms: f64,
    pub tokens: u32,
    /// Spread of the server's spans.
    pub jitter: f64,
    pub blast: bool,
    /// Share of requests in which something goes wrong on purpose.
    pub faults: f64,
    pub quick: bool,
    /// Its result is looked at for its size alone: the truth about so many events would fill the judge's own memory.
    pub memory_only: bool,
    who: Who,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    Everybody,
    /// Beyond what others can do in reasonable time.
    Us,
    /// The instrument alone.
    Instrument,
    /// The instrument alone, once for each of ten seeds.
    Seeds,
}

const COMMON: Scenario = Scenario {
    key: "",
    name: "",
    load: Load::Streams(1),
    requests: 0,
    ttft_ms: 50.0,
    itl_ms: 20.0,
    tokens: 64,
    jitter: 0.0,
    blast: false,
    faults: 0.0,
    quick: false,
    memory_only: false,
    who: Who::Everybody,
};

const fn rate(key: &'static str, name: &'static str, rate: f64, requests: u32) -> Scenario {
    Scenario {
        key,
        name,
        load: Load::Rate(rate),
        requests,
        itl_ms: 10.0,
        ..COMMON
    }
}

const fn streams(key: &'static str, name: &'static str, streams: u32, requests: u32) -> Scenario {
    Scenario {
        key,
        name,
        load: Load::Streams(streams),
        requests,
        ..COMMON
    }
}

/// All of them. Streams are sized so that a run takes seconds and the server stays below its own limit.
pub const SCENARIOS: [Scenario; 13] = [
    rate("rate-20", "Poisson, 20 req/s", 20.0, 200),
    Scenario {
        quick: true,
        ..rate("rate-200", "Poisson, 200 req/s", 200.0, 2000)
    },
    rate("rate-1000", "Poisson, 1,000 req/s", 1000.0, 6000),
    streams("streams-64", "64 streams", 64, 384),
    Scenario {
        quick: true,
        ..streams("streams-256", "256 streams", 256, 1024)
    },
    Scenario {
        quick: true,
        ..streams("streams-1024", "1,024 streams", 1024, 3072)
    },
    streams("streams-2000", "2,000 streams", 2000, 6000),
    Scenario {
        itl_ms: 100.0,
        ..streams(
            "streams-5000",
            "5,000 streams, a token every 100 ms",
            5000,
            10_000,
        )
    },
    Scenario {
        blast: true,
        tokens: 1000,
        ..streams(
            "blast",
            "blast: 64 streams, no pauses between tokens",
            64,
            256,
        )
    },
    Scenario {
        itl_ms: 1000.0,
        tokens: 10,
        jitter: 0.3,
        who: Who::Us,
        ..streams(
            "streams-10000",
            "10,000 streams, a token a second",
            10_000,
            10_000,
        )
    },
    Scenario {
        itl_ms: 5.0,
        tokens: 2,
        who: Who::Seeds,
        ..rate(
            "seeds",
            "Poisson, 200 req/s, ten seeds, 2,001 arrivals each",
            200.0,
            2001,
        )
    },
    Scenario {
        ttft_ms: 5.0,
        itl_ms: 2.0,
        tokens: 8,
        faults: 0.3,
        who: Who::Instrument,
        ..streams(
            "faults",
            "100,000 requests, three in ten go wrong on purpose",
            512,
            100_000,
        )
    },
    Scenario {
        ttft_ms: 2.0,
        itl_ms: 1.0,
        tokens: 256,
        memory_only: true,
        who: Who::Instrument,
        ..streams(
            "memory",
            "100,000 requests of 256 events, what they take in memory",
            128,
            100_000,
        )
    },
];

impl Scenario {
    /// Whether a client takes part.
    pub fn is_for(&self, client: Client, peers: bool) -> bool {
        match self.who {
            Who::Everybody => peers || !client.is_peer(),
            Who::Us => !client.is_peer(),
            Who::Instrument | Who::Seeds => client == Client::Goodput,
        }
    }

    /// How often it is run.
    pub fn rounds(&self, asked: u32) -> u32 {
        match self.who {
            Who::Seeds => 10,
            Who::Instrument => 1,
            Who::Everybody | Who::Us => asked,
        }
    }
}
