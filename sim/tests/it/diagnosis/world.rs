//! What is wrong outside the engine: a client that is stopped now and then, a way that takes time.

use measure::evidence::RoundTrip;
use measure::sampling::{Draws, derive};
use measure::units::Nanos;

/// Between the engine and the client's figures.
#[derive(Clone)]
pub enum World {
    /// Nothing but a tenth of a millisecond by chance.
    Near,
    /// The client is stopped from the first to the second of each pair.
    Stopped(Vec<(Nanos, Nanos)>),
    /// There and back takes so long, and a little more by chance.
    Far(Nanos),
}

impl World {
    /// Somebody else takes the client's processor: at strength 0 a tenth of the time, in pieces of 12 ms, at strength 1 four tenths, in
    /// pieces of 60 ms.
    pub fn hog(strength: f64, seed: u64) -> Self {
        let mut draws = Draws::new(derive(seed, &[17]));
        let (piece, share) = (12.0 + 48.0 * strength, 0.1 + 0.3 * strength);
        let (mut at, mut stops) = (0.0, Vec::new());
        while at < 1_200_000.0 {
            at += draws.exponential(1.0) * piece * (1.0 - share) / share;
            let until = at + piece * (0.5 + draws.uniform());
            stops.push((millis(at), millis(until)));
            at = until;
        }
        Self::Stopped(stops)
    }

    /// At strength 0 there and back takes 50 ms, at strength 1 250 ms, give or take a tenth.
    pub fn far(strength: f64, seed: u64) -> Self {
        let mut draws = Draws::new(derive(seed, &[18]));
        Self::Far(millis(
            (50.0 + 200.0 * strength) * (0.9 + 0.2 * draws.uniform()),
        ))
    }

    /// When the client does what is due at a moment.
    pub fn awake(&self, at: Nanos) -> Nanos {
        match self {
            Self::Stopped(stops) => {
                let next = stops.partition_point(|(_, until)| *until < at);
                match stops.get(next) {
                    Some((from, until)) if *from <= at => *until,
                    _ => at,
                }
            }
            _ => at,
        }
    }

    /// One way.
    pub fn way(&self) -> Nanos {
        match self {
            Self::Far(both) => Nanos(both.0 / 2),
            _ => Nanos::ZERO,
        }
    }

    /// What a message is late by chance.
    pub fn jitter(&self, draws: &mut Draws) -> Nanos {
        let mean = match self {
            Self::Far(both) => both.0 as f64 / 40.0,
            _ => 100_000.0,
        };
        Nanos((draws.exponential(1.0) * mean) as u64)
    }

    pub fn round_trip(&self) -> RoundTrip {
        let both = match self {
            Self::Far(both) => *both,
            _ => Nanos(60_000),
        };
        RoundTrip {
            min: both,
            median: both,
            tries: 5,
        }
    }

    /// How late ticks of a millisecond come, 99th percentile and most.
    pub fn poll_lag(&self) -> (Nanos, Nanos) {
        let Self::Stopped(_) = self else {
            return (Nanos(80_000), Nanos(400_000));
        };
        let ticks = (0..60_000).map(Nanos::from_millis);
        let mut lags: Vec<Nanos> = ticks.map(|tick| self.awake(tick).since(tick)).collect();
        lags.sort_unstable();
        (lags[59_400], lags[59_999])
    }
}

fn millis(millis: f64) -> Nanos {
    Nanos::from_secs_f64(millis / 1e3)
}
