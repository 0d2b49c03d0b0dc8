//! Quantities that check and print themselves: nanoseconds, rates, load levels, seeds.
//!
//! Inside the project a unit is a type; outside (JSON, columns, CSV) it is a suffix of the name.

use std::fmt;
use std::ops::{Add, Sub};

use serde::{Deserialize, Serialize};

use crate::decimal;
use crate::wire::{Misread, Scalar};

/// A span or an instant in nanoseconds. Instants count from the start of the point on a monotonic clock.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// Zero nanoseconds.
    pub const ZERO: Self = Self(0);

    /// Whole milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// Seconds, rounded to the nanosecond; negative and non-finite values become zero.
    pub fn from_secs_f64(seconds: f64) -> Self {
        if !seconds.is_finite() {
            return Self::ZERO;
        }
        Self((seconds * 1e9).round() as u64)
    }

    /// The span in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The span in milliseconds.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// `self - earlier`, or zero where `earlier` lies after `self`.
    pub fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Nanos {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.since(other)
    }
}

impl fmt::Display for Nanos {
    /// Three significant digits in the unit a reader would choose: `812 µs`, `43.1 ms`, `2.30 s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0 as f64;
        // The borders lie where three digits would round up into the next unit.
        match self.0 {
            0 => f.write_str("0 ms"),
            1..=999 => write!(f, "{} ns", self.0),
            1_000..=999_499 => write!(f, "{} µs", three_digits(nanos / 1e3)),
            999_500..=999_499_999 => write!(f, "{} ms", three_digits(nanos / 1e6)),
            _ => write!(f, "{} s", three_digits(nanos / 1e9)),
        }
    }
}

/// A number with three significant digits and no exponent: `0.0123`, `1.23`, `12.3`, `123`, `12300`.
pub fn three_digits(value: f64) -> String {
    significant(value, 3)
}

/// A number with `digits` significant digits (at least one) and no exponent.
pub fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 {
            "0".into()
        } else {
            value.to_string()
        };
    }
    let magnitude = value.abs().log10().floor() as i32;
    let scale = 10f64.powi(digits - 1 - magnitude);
    let rounded = (value * scale).round() / scale;
    // Rounding may have carried into a new digit (9.996 -> 10.0): count the decimals of what is printed.
    let decimals = (digits - 1 - rounded.abs().log10().floor() as i32).clamp(0, 9) as usize;
    format!("{rounded:.decimals$}")
}

/// A value lies outside what its type allows.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{what} must be {allowed}, got {got}")]
pub struct OutOfRange {
    /// What was being read.
    pub what: &'static str,
    /// The allowed range, in words.
    pub allowed: &'static str,
    /// What came instead.
    pub got: String,
}

/// Arrivals per second, finite and above zero. For multi-turn workloads the arrivals are session starts.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Rate(f64);

impl Rate {
    /// Arrivals per second.
    pub fn per_second(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Rate {
    type Error = OutOfRange;
    fn try_from(per_second: f64) -> Result<Self, OutOfRange> {
        if 0.0 < per_second && per_second.is_finite() {
            return Ok(Self(per_second));
        }
        Err(OutOfRange {
            what: "rate",
            allowed: "a number above 0, or inf",
            got: per_second.to_string(),
        })
    }
}

impl From<Rate> for f64 {
    fn from(rate: Rate) -> Self {
        rate.0
    }
}

/// How many times as fast as it was recorded a trace is replayed, finite and above zero.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Speed(f64);

impl Speed {
    /// The factor.
    pub fn factor(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Speed {
    type Error = OutOfRange;
    fn try_from(factor: f64) -> Result<Self, OutOfRange> {
        if 0.0 < factor && factor.is_finite() {
            return Ok(Self(factor));
        }
        Err(OutOfRange {
            what: "speed",
            allowed: "a number above 0; x2 replays twice as fast as recorded",
            got: factor.to_string(),
        })
    }
}

/// One step of a sweep: how hard the engine is driven. In JSON and forms: `2.5`, `"inf"`, `"c=16"`, `"x2"`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "LevelText", into = "LevelText")]
pub enum Level {
    /// Open loop: arrivals at this rate, whatever the engine does.
    Rate(Rate),
    /// Everything at once: peak throughput, never part of the curve over rate.
    Inf,
    /// Closed loop: so many streams, each starting its next request when the one before it ended.
    Concurrency(u32),
    /// Open loop: the arrivals of a trace, so many times as fast as they were recorded.
    Replay(Speed),
}

impl Level {
    /// The rate, where the level is one.
    pub fn rate(self) -> Option<f64> {
        match self {
            Self::Rate(rate) => Some(rate.per_second()),
            Self::Inf | Self::Concurrency(_) | Self::Replay(_) => None,
        }
    }

    /// Whether arrivals come at a pace of their own, whatever the engine does: such points lie on the curve over rate.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Rate(_) | Self::Replay(_))
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate(rate) => write!(f, "{}", rate.per_second()),
            Self::Inf => f.write_str("inf"),
            Self::Concurrency(streams) => write!(f, "c={streams}"),
            Self::Replay(speed) => write!(f, "x{}", speed.factor()),
        }
    }
}

impl std::str::FromStr for Level {
    type Err = OutOfRange;
    fn from_str(text: &str) -> Result<Self, OutOfRange> {
        let text = text.trim();
        let refuse = || OutOfRange {
            what: "rate",
            allowed: "a number above 0, inf, c=STREAMS for a closed loop, or x2 for a trace at twice its speed",
            got: format!("{text:?}"),
        };
        if text.eq_ignore_ascii_case("inf") {
            return Ok(Self::Inf);
        }
        if let Some(streams) = text.strip_prefix("c=") {
            let streams: u32 = streams.parse().map_err(|_| refuse())?;
            return if streams == 0 {
                Err(refuse())
            } else {
                Ok(Self::Concurrency(streams))
            };
        }
        if let Some(factor) = text.strip_prefix('x') {
            let factor = decimal::parse(factor).ok_or_else(refuse)?;
            return Speed::try_from(factor)
                .map(Self::Replay)
                .map_err(|_| refuse());
        }
        let number = decimal::parse(text).ok_or_else(refuse)?;
        Rate::try_from(number).map(Self::Rate).map_err(|_| refuse())
    }
}

/// How a [`Level`] stands in JSON: a bare number for a rate, else text.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged, try_from = "Scalar")]
enum LevelText {
    Number(f64),
    Text(String),
}

impl TryFrom<Scalar> for LevelText {
    type Error = Misread;
    fn try_from(value: Scalar) -> Result<Self, Misread> {
        match value {
            Scalar::Natural(rate) => Ok(Self::Number(rate as f64)),
            Scalar::Whole(rate) => Ok(Self::Number(rate as f64)),
            Scalar::Fraction(rate) => Ok(Self::Number(rate)),
            Scalar::Text(text) => Ok(Self::Text(text)),
            Scalar::Switch(_) => Err(Misread::Other("a rate: a number or text")),
        }
    }
}

impl TryFrom<LevelText> for Level {
    type Error = OutOfRange;
    fn try_from(text: LevelText) -> Result<Self, OutOfRange> {
        match text {
            LevelText::Number(rate) => Rate::try_from(rate).map(Self::Rate),
            LevelText::Text(text) => text.parse(),
        }
    }
}

impl From<Level> for LevelText {
    fn from(level: Level) -> Self {
        match level {
            Level::Rate(rate) => Self::Number(rate.per_second()),
            other => Self::Text(other.to_string()),
        }
    }
}

/// A seed. Text in JSON, because JavaScript rounds integers above 2^53; numbers are read as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "SeedText", into = "String")]
pub struct Seed(pub u64);

#[derive(Deserialize)]
#[serde(try_from = "Scalar")]
enum SeedText {
    Number(u64),
    Text(String),
}

impl TryFrom<Scalar> for SeedText {
    type Error = Misread;
    fn try_from(value: Scalar) -> Result<Self, Misread> {
        match value {
            Scalar::Natural(seed) => Ok(Self::Number(seed)),
            Scalar::Text(text) => Ok(Self::Text(text)),
            _ => Err(Misread::Other("a seed: a whole number or text")),
        }
    }
}

impl TryFrom<SeedText> for Seed {
    type Error = OutOfRange;
    fn try_from(seed: SeedText) -> Result<Self, OutOfRange> {
        match seed {
            SeedText::Number(seed) => Ok(Self(seed)),
            SeedText::Text(text) => text.trim().parse().map(Self).map_err(|_| OutOfRange {
                what: "seed",
                allowed: "a whole number from 0 to 2^64 - 1",
                got: format!("{text:?}"),
            }),
        }
    }
}

impl From<Seed> for String {
    fn from(seed: Seed) -> Self {
        seed.0.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn prints(nanos: u64, expected: &str) {
        assert_eq!(Nanos(nanos).to_string(), expected);
    }

    #[test]
    fn spans_print_three_digits_in_a_fitting_unit() {
        prints(0, "0 ms");
        prints(812_345, "812 µs");
        prints(43_123_456, "43.1 ms");
        prints(2_300_000_000, "2.30 s");
        prints(9_996_000, "10.0 ms");
        prints(999_600_000, "1.00 s");
    }

    #[test]
    fn a_rate_is_finite_and_positive() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Rate::try_from(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_level_survives_json() {
        for (level, json) in [
            ("0.5", "0.5"),
            ("inf", "\"inf\""),
            ("c=16", "\"c=16\""),
            ("x2.5", "\"x2.5\""),
        ] {
            let level: Level = level.parse().expect("level");
            assert_eq!(serde_json::to_string(&level).expect("json"), json);
            assert_eq!(serde_json::from_str::<Level>(json).expect("back"), level);
        }
        for bad in ["c=0", "x0", "x-1", "xinf", "x", "2x"] {
            assert!(bad.parse::<Level>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_seed_is_text_in_json_so_that_javascript_cannot_round_it() {
        let json = serde_json::to_string(&Seed(9_007_199_254_740_993)).expect("json");
        assert_eq!(json, "\"9007199254740993\"");
        assert_eq!(
            serde_json::from_str::<Seed>(&json).expect("back"),
            Seed(9_007_199_254_740_993)
        );
    }
}
