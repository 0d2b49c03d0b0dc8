//! When sessions start: an arrival process and a level become a list of offsets.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::decimal;
use crate::summary::Discipline;
use crate::units::{Level, Nanos, OutOfRange, Rate};

mod process; // one start after another

use process::Process;

/// How starts are spread over time at a given rate. In JSON, in forms and on the command line: `poisson`, `constant`,
/// `gamma=0.5`, `linear-ramp=2`, `exponential-ramp=2`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Arrival {
    /// Exponential gaps: what independent users look like.
    #[default]
    Poisson,
    /// Equal gaps.
    Constant,
    /// Gamma gaps of the same mean: below a burstiness of 1 in bunches, above it more even, at 1 as Poisson.
    Gamma(Burstiness),
    /// Poisson starts whose rate grows (or falls) evenly over the point, from this one to the level's.
    LinearRamp {
        /// The rate at the start.
        from: Rate,
    },
    /// Poisson starts whose rate grows (or falls) by the same factor in each second, from this one to the level's.
    ExponentialRamp {
        /// The rate at the start.
        from: Rate,
    },
}

/// The shape of gamma gaps: their spread over their mean is `1 / sqrt(burstiness)`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Burstiness(f64);

impl Burstiness {
    /// The shape.
    pub fn shape(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Burstiness {
    type Error = OutOfRange;
    fn try_from(shape: f64) -> Result<Self, OutOfRange> {
        if (0.01..=1000.0).contains(&shape) {
            return Ok(Self(shape));
        }
        Err(OutOfRange {
            what: "burstiness",
            allowed: "a number from 0.01 (in bunches) over 1 (Poisson) to 1000 (even)",
            got: shape.to_string(),
        })
    }
}

impl Arrival {
    /// Whether the rate changes over the point, so that no one rate stands for it.
    pub fn is_ramp(self) -> bool {
        matches!(self, Self::LinearRamp { .. } | Self::ExponentialRamp { .. })
    }

    /// Starts per second on average over the point, at a level's rate.
    pub fn mean_rate(self, rate: f64) -> f64 {
        process::mean_rate(self, rate)
    }
}

impl fmt::Display for Arrival {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Poisson => f.write_str("poisson"),
            Self::Constant => f.write_str("constant"),
            Self::Gamma(burstiness) => write!(f, "gamma={}", burstiness.0),
            Self::LinearRamp { from } => write!(f, "linear-ramp={}", from.per_second()),
            Self::ExponentialRamp { from } => write!(f, "exponential-ramp={}", from.per_second()),
        }
    }
}

impl std::str::FromStr for Arrival {
    type Err = OutOfRange;
    fn from_str(text: &str) -> Result<Self, OutOfRange> {
        let refuse = || OutOfRange {
            what: "arrival",
            allowed: "poisson, constant, gamma=BURSTINESS, linear-ramp=RATE or exponential-ramp=RATE (the rate it starts from)",
            got: format!("{text:?}"),
        };
        match text.trim() {
            "poisson" => return Ok(Self::Poisson),
            "constant" => return Ok(Self::Constant),
            _ => {}
        }
        let (kind, number) = text.trim().split_once('=').ok_or_else(refuse)?;
        let number = decimal::parse(number.trim()).ok_or_else(refuse)?;
        match kind {
            "gamma" => Burstiness::try_from(number).map(Self::Gamma),
            "linear-ramp" => Ok(Self::LinearRamp {
                from: Rate::try_from(number)?,
            }),
            "exponential-ramp" => Ok(Self::ExponentialRamp {
                from: Rate::try_from(number)?,
            }),
            _ => Err(refuse()),
        }
    }
}

impl TryFrom<String> for Arrival {
    type Error = OutOfRange;
    fn try_from(text: String) -> Result<Self, OutOfRange> {
        text.parse()
    }
}

impl From<Arrival> for String {
    fn from(arrival: Arrival) -> Self {
        arrival.to_string()
    }
}

/// Offsets of `count` starts from the start of the point, in order; the first lies one gap after the start, but at zero
/// for constant ones. A ramp spans them all. `inf`, closed loops and replays start everything at zero: a closed loop
/// waits for its slots instead, and a replay's starts stand in its trace.
pub fn starts(arrival: Arrival, level: Level, count: usize, seed: u64) -> Vec<Nanos> {
    let Some(rate) = level.rate() else {
        return vec![Nanos::ZERO; count];
    };
    let span = count as f64 / arrival.mean_rate(rate);
    Process::new(arrival, rate, span, seed)
        .take(count)
        .collect()
}

/// Offsets of all starts within a span, in order, but at most so many. A ramp lasts as long as the span.
pub fn starts_within(
    arrival: Arrival,
    rate: Rate,
    span: Nanos,
    most: usize,
    seed: u64,
) -> Vec<Nanos> {
    Process::new(arrival, rate.per_second(), span.as_secs_f64(), seed)
        .take_while(|start| *start < span)
        .take(most)
        .collect()
}

/// How a level's requests come.
pub fn discipline(arrival: Arrival, level: Level) -> Discipline {
    match level {
        Level::Rate(_) if arrival.is_ramp() => Discipline::Changing,
        Level::Rate(_) => Discipline::OpenLoop,
        Level::Replay(_) => Discipline::Changing,
        Level::Inf => Discipline::AllAtOnce,
        Level::Concurrency(_) => Discipline::ClosedLoop,
    }
}

#[cfg(test)]
mod tests;
