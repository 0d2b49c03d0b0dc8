//! Where the time before the first token went: in the client, in the engine's queue, in its prefill, elsewhere.
//!
//! Percentiles do not add up, but times do: the parts are shares of all the time that the point's requests spent waiting
//! for their first tokens, together. Each part's own percentiles stand beside it.

use serde::{Deserialize, Serialize};

use super::buckets::{Between, Buckets};
use super::quantity::Quantity;
use super::reading::{Readings, Whose};
use crate::quantile::percentile_linear;
use crate::request::RequestRecord;

/// The engine must have timed as many requests as were answered, but for this share.
const APART: f64 = 0.05;

/// A part of the time before the first token.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// What it is: `client`, `queue`, `prefill`, `front end`, `transport and unexplained`.
    pub name: String,
    /// Its share of the whole, all requests together; below zero where the engine's clock and ours disagree.
    pub share: f64,
    /// Its p50, p95 and p99 in seconds, and how many values they are of; none where it is what is left.
    pub percentiles: Option<([Between; 3], u64)>,
}

/// The time before the first tokens, in parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TtftParts {
    /// Requests with a first token.
    pub requests: u64,
    /// From when each was due to its first token, all together, in seconds.
    pub seconds: f64,
    /// The parts, in the order in which time passes.
    pub parts: Vec<Part>,
}

impl TtftParts {
    /// Of the requests of a point and what the engine timed from the point's start on; else why not, in words.
    pub fn of(readings: &Readings, records: &[RequestRecord]) -> Result<Self, String> {
        let answered: Vec<(f64, f64)> = records
            .iter()
            .filter_map(|it| Some((it.dispatch_lag()?.as_secs_f64(), it.ttft()?.as_secs_f64())))
            .collect();
        let mut client: Vec<f64> = answered.iter().map(|(lag, _)| *lag).collect();
        let of_client: f64 = client.iter().sum();
        let seconds = of_client + answered.iter().map(|(_, ttft)| ttft).sum::<f64>();
        if seconds <= 0.0 {
            return Err("no request had a first token".to_owned());
        }
        let timed = Timed::of(readings, answered.len() as f64)?;
        client.sort_unstable_by(f64::total_cmp);
        let mut parts = vec![Part {
            name: "client".to_owned(),
            share: of_client / seconds,
            percentiles: exact(&client).map(|all| (all, client.len() as u64)),
        }];
        let mut left = 1.0 - of_client / seconds;
        for (name, spent, buckets) in timed.parts() {
            let share = spent / seconds;
            left -= share;
            parts.push(Part {
                name: name.to_owned(),
                share,
                percentiles: buckets.and_then(percentiles),
            });
        }
        parts.push(Part {
            name: "transport and unexplained".to_owned(),
            share: left,
            percentiles: None,
        });
        Ok(Self {
            requests: answered.len() as u64,
            seconds,
            parts,
        })
    }
}

/// The p50, p95 and p99 of values by size.
pub(super) fn percentiles(buckets: &Buckets) -> Option<([Between; 3], u64)> {
    let at = |percentile| buckets.quantile(percentile);
    Some(([at(50.0)?, at(95.0)?, at(99.0)?], buckets.count() as u64))
}

/// The same of sorted values.
fn exact(sorted: &[f64]) -> Option<[Between; 3]> {
    let at = |percentile| {
        percentile_linear(sorted, percentile).map(|value| Between {
            lo: value,
            value,
            hi: Some(value),
        })
    };
    Some([at(50.0)?, at(95.0)?, at(99.0)?])
}

/// What the engine timed, scaled to the requests that were answered.
struct Timed {
    queue: Option<(f64, Buckets)>,
    prefill: (f64, Option<Buckets>),
    /// From the request's arrival at the engine to its first token.
    ttft: Option<f64>,
}

impl Timed {
    fn of(readings: &Readings, answered: f64) -> Result<Self, String> {
        // Whatever warmed up had ended by then.
        let (from, to) = (readings.look_at(0), readings.last());
        let came = |quantity| {
            let came = readings.histogram(quantity, Whose::Ours).came(from, to);
            came.filter(|came| 0.0 < came.count())
        };
        let scaled = |came: Buckets| {
            let count = came.count();
            let near = (count - answered).abs() <= APART * answered;
            near.then(|| (came.sum * answered / count, came))
                .ok_or_else(|| {
                    format!("the engine timed {count:.0} requests and {answered:.0} were answered")
                })
        };
        let prefill = match came(Quantity::PrefillTime) {
            Some(came) => scaled(came).map(|(sum, came)| (sum, Some(came)))?,
            None => {
                let seconds = readings.counter(Quantity::PrefillSeconds, Whose::Ours);
                let spent = seconds.grown(from, to).filter(|spent| 0.0 < *spent);
                (spent.ok_or("the engine does not time prefills")?, None)
            }
        };
        Ok(Self {
            queue: came(Quantity::QueueTime).map(scaled).transpose()?,
            prefill,
            ttft: came(Quantity::Ttft).and_then(|came| Some(scaled(came).ok()?.0)),
        })
    }

    fn parts(&self) -> Vec<(&'static str, f64, Option<&Buckets>)> {
        let queue = self.queue.as_ref();
        let mut parts = Vec::new();
        parts.extend(queue.map(|(spent, came)| ("queue", *spent, Some(came))));
        parts.push(("prefill", self.prefill.0, self.prefill.1.as_ref()));
        // What the engine needs around its scheduler: reading the request, counting its tokens, writing the answer.
        if let (Some(ttft), Some((queued, _))) = (self.ttft, queue) {
            // Where queue and prefill take longer than the whole, its clocks overlap, and nothing is left that could be told.
            let left = ttft - queued - self.prefill.0;
            parts.extend((0.0 <= left).then_some(("the engine's front end", left, None)));
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::super::reading::{Amount, Reading, Source, Value};
    use super::*;
    use crate::testing::{answered, ms};

    /// One look before the point and one after it, with so many requests of so many seconds together.
    fn readings(timed: &[(Quantity, f64, f64)]) -> Readings {
        let look = |at_ms, factor: f64| Reading {
            at_ms,
            values: timed
                .iter()
                .filter_map(|(quantity, count, sum)| {
                    let up_to = vec![(0.01, 0.0), (0.1, count * factor)];
                    Some(Value {
                        quantity: *quantity,
                        source: 0,
                        amount: Amount::Buckets(Buckets::cumulative(up_to, sum * factor)?),
                    })
                })
                .collect(),
        };
        Readings {
            sources: vec![Source {
                name: String::new(),
                ours: true,
            }],
            readings: vec![look(0, 1.0), look(5000, 2.0)],
        }
    }

    /// A hundred requests, each sent 2 ms late, with a TTFT of 98 ms.
    fn records() -> Vec<RequestRecord> {
        let one = |index: u32| RequestRecord {
            scheduled: ms(f64::from(index)),
            ..answered(index, f64::from(index) + 2.0, 98.0, &[5.0])
        };
        (0..100).map(one).collect()
    }

    #[test]
    fn the_parts_add_up_to_the_whole() {
        let timed = [
            (Quantity::QueueTime, 100.0, 3.0),
            (Quantity::PrefillTime, 100.0, 5.0),
            (Quantity::Ttft, 100.0, 9.0),
        ];
        let whole = TtftParts::of(&readings(&timed), &records()).expect("parts");
        let shown: Vec<(&str, i64)> = whole
            .parts
            .iter()
            .map(|part| (part.name.as_str(), (part.share * 100.0).round() as i64))
            .collect();
        assert_eq!(
            shown,
            [
                ("client", 2),
                ("queue", 30),
                ("prefill", 50),
                ("the engine's front end", 10),
                ("transport and unexplained", 8)
            ]
        );
        assert!((whole.seconds - 10.0).abs() < 1e-9);
        let (queue, count) = whole.parts[1].percentiles.expect("known by its buckets");
        assert_eq!((queue[0].lo, queue[0].hi, count), (0.01, Some(0.1), 100));
    }

    #[track_caller]
    fn refused(timed: &[(Quantity, f64, f64)], says: &str) {
        let why = TtftParts::of(&readings(timed), &records()).expect_err("no parts");
        assert!(why.contains(says), "{why}");
    }

    #[test]
    fn what_the_engine_does_not_time_is_not_guessed() {
        refused(&[], "does not time prefills");
        refused(
            &[(Quantity::PrefillTime, 60.0, 5.0)],
            "timed 60 requests and 100",
        );
    }
}
