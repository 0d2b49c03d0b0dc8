//! What a calibration tries: about a minute in all.

use std::fmt;

/// How requests come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Load {
    Rate(u32),
    Streams(u32),
}

/// One load, and the server it meets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rung {
    pub load: Load,
    pub requests: u32,
    pub ttft_ms: u32,
    pub itl_ms: f64,
    pub tokens: u32,
}

impl fmt::Display for Rung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            load,
            tokens,
            itl_ms,
            ..
        } = self;
        match load {
            Load::Rate(rate) => write!(f, "{rate} req/s of {tokens} tokens, {itl_ms} ms apart"),
            Load::Streams(streams) => {
                write!(f, "{streams} streams of {tokens} tokens, {itl_ms} ms apart")
            }
        }
    }
}

const fn rate(rate: u32, seconds: u32) -> Rung {
    Rung {
        load: Load::Rate(rate),
        requests: rate * seconds,
        ttft_ms: 20,
        itl_ms: 5.0,
        tokens: 4,
    }
}

const fn streams(streams: u32) -> Rung {
    Rung {
        load: Load::Streams(streams),
        requests: streams,
        ttft_ms: 200,
        itl_ms: 500.0,
        tokens: 5,
    }
}

/// 256 streams whose tokens come faster and faster.
const fn chunks(itl_ms: f64, tokens: u32) -> Rung {
    Rung {
        load: Load::Streams(256),
        requests: 512,
        ttft_ms: 50,
        itl_ms,
        tokens,
    }
}

/// So little that only the floor is left.
pub(super) const LIGHT: Rung = Rung {
    load: Load::Rate(50),
    requests: 200,
    ttft_ms: 20,
    itl_ms: 10.0,
    tokens: 16,
};

/// Short answers at ever more requests a second.
pub(super) const RATES: [Rung; 6] = [
    rate(125, 3),
    rate(250, 3),
    rate(500, 2),
    rate(1000, 2),
    rate(2000, 2),
    rate(4000, 2),
];

/// Ever more streams that say little.
pub(super) const STREAMS: [Rung; 5] = [
    streams(256),
    streams(1024),
    streams(2048),
    streams(4096),
    streams(8192),
];

/// Ever more events.
pub(super) const CHUNKS: [Rung; 6] = [
    chunks(20.0, 64),
    chunks(10.0, 128),
    chunks(5.0, 256),
    chunks(3.0, 384),
    chunks(2.0, 512),
    chunks(1.0, 1024),
];
