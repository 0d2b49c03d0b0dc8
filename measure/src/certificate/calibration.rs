//! What this host's client can drive, measured beforehand against a perfect server, and which points go beyond half of it.

use serde::{Deserialize, Serialize};

use super::Certificate;
use crate::request::RequestRecord;
use crate::summary::Summary;
use crate::units::{Nanos, three_digits};

/// The most that was driven with a clean certificate, and what the client adds at best.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Requests a second.
    pub rate: f64,
    /// Concurrent streams.
    pub streams: u32,
    /// Token-bearing events a second, over all streams.
    pub chunks_per_s: f64,
    /// What the client reports at TTFT p99, less what is true, under light load.
    pub ttft_error_p99: Nanos,
    /// The same of the ITL.
    pub itl_error_p99: Nanos,
}

/// What a point asked of the client.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// Requests a second, as offered.
    pub rate: Option<f64>,
    /// Most requests in flight.
    pub streams: u32,
    /// Token-bearing events a second.
    pub chunks_per_s: Option<f64>,
}

impl Demand {
    /// What the records of a point asked for.
    pub fn of(records: &[RequestRecord], summary: &Summary) -> Self {
        let chunks: usize = records.iter().map(|record| record.chunks.len()).sum();
        let seconds = summary.duration.as_secs_f64();
        Self {
            rate: summary.offered_rate,
            streams: summary.max_in_flight,
            chunks_per_s: (0.0 < seconds).then(|| chunks as f64 / seconds),
        }
    }
}

/// Beyond this share of what was driven alone, an engine on the same machine or a busier hour may be what is seen.
const SHARE: f64 = 0.5;

impl Calibration {
    /// One sentence for each figure beyond half of what was calibrated.
    pub fn sentences(&self, demand: Demand) -> Vec<String> {
        let figures = [
            (demand.rate, self.rate, "requests a second"),
            (
                Some(f64::from(demand.streams)),
                f64::from(self.streams),
                "streams",
            ),
            (demand.chunks_per_s, self.chunks_per_s, "events a second"),
        ];
        let beyond = figures
            .into_iter()
            .filter_map(|(asked, most, what)| Some((asked?, most, what)))
            .filter(|(asked, most, _)| SHARE * most < *asked);
        beyond
            .map(|(asked, most, what)| {
                format!(
                    "Beyond half of what this host could drive when it was calibrated: {} of {} {what}.",
                    three_digits(asked),
                    three_digits(most)
                )
            })
            .collect()
    }
}

impl Certificate {
    /// Says where a point went beyond half of what was calibrated. The verdict stays: it has evidence of its own.
    pub fn calibrated(mut self, calibration: &Calibration, demand: Demand) -> Self {
        self.reasons.extend(calibration.sentences(demand));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rate: f64, streams: u32, chunks_per_s: f64, expected: &[&str]) {
        let calibration = Calibration {
            rate: 2000.0,
            streams: 4096,
            chunks_per_s: 100_000.0,
            ttft_error_p99: Nanos(80_000),
            itl_error_p99: Nanos(90_000),
        };
        let demand = Demand {
            rate: Some(rate),
            streams,
            chunks_per_s: Some(chunks_per_s),
        };
        assert_eq!(calibration.sentences(demand), expected);
    }

    #[test]
    fn what_is_beyond_half_is_said_and_the_rest_is_not() {
        check(1000.0, 2048, 50_000.0, &[]);
        check(
            1001.0,
            2048,
            0.0,
            &[
                "Beyond half of what this host could drive when it was calibrated: 1000 of 2000 requests a second.",
            ],
        );
        check(
            1.0,
            4096,
            60_000.0,
            &[
                "Beyond half of what this host could drive when it was calibrated: 4100 of 4100 streams.",
                "Beyond half of what this host could drive when it was calibrated: 60000 of 100000 events a second.",
            ],
        );
    }
}
