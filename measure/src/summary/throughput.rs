//! How sure a point's throughput is.

use crate::quantile::{PerSecond, Times, relative_swing};
use crate::request::RequestRecord;

use super::Summary;

/// Throughput with 95 % intervals. `None` where there is none, or fewer than 20 requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Throughput {
    /// Requests completed / D.
    pub completed: Option<PerSecond>,
    /// Output tokens / D.
    pub output_tokens: Option<PerSecond>,
    /// Input tokens / D.
    pub input_tokens: Option<PerSecond>,
}

impl Summary {
    /// The intervals of its rates, from the records that it was made of, in any order. They say what other requests of the
    /// same process would have come to: arrivals, lengths and failures all vary.
    pub fn throughput(&self, records: &[RequestRecord]) -> Throughput {
        let mut arrived: Vec<&RequestRecord> = records.iter().collect();
        arrived.sort_by_key(|record| record.scheduled);
        let times = Times::of(arrived.iter().map(|it| (it.scheduled, it.end)));
        let of = |value: Option<f64>, amount: fn(&RequestRecord) -> u32| {
            let amounts: Vec<f64> = arrived.iter().map(|it| f64::from(amount(it))).collect();
            let swing = relative_swing(&amounts, &times)?;
            Some(PerSecond::within(value?, swing, swing))
        };
        Throughput {
            completed: of(self.completed_per_s, |it| u32::from(it.is_ok())),
            output_tokens: of(self.output_tokens_per_s, |it| it.output_tokens.unwrap_or(0)),
            input_tokens: of(self.input_tokens_per_s, input),
        }
    }
}

/// Input tokens as the summary counts them.
pub(super) fn input(record: &RequestRecord) -> u32 {
    // What a failed request made the engine read is known only where the engine said so.
    let planned = record.is_ok().then_some(record.input_tokens_planned);
    record.prompt_tokens.or(planned).unwrap_or(0)
}
