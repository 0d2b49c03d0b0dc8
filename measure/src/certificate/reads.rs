//! Did the client read in time? Told from when the kernel had the bytes and when they were read.

use serde::{Deserialize, Serialize};

use crate::request::{Chunk, RequestRecord};
use crate::units::Nanos;

/// Most events looked at: a share of all of them, evenly spread, says as much.
const LOOK_AT: usize = 1_000_000;
/// A read so late took several events as one, where a prompt one would have told them apart.
const LATE: Nanos = Nanos::from_millis(1);

/// How late the client read, by the kernel's stamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reads {
    /// Share of the token-bearing events whose moment is the kernel's.
    pub stamped: f64,
    /// Time between the kernel's receipt and the read, 99th percentile.
    pub lag_p99: Option<Nanos>,
    /// Its maximum.
    pub lag_max: Option<Nanos>,
    /// Share of the events whose moment the client blurred: read late, and together with others.
    pub blurred: f64,
}

impl Reads {
    /// What the events of these requests tell.
    pub(super) fn of(records: &[RequestRecord]) -> Self {
        let all: usize = records.iter().map(|record| record.chunks.len()).sum();
        let step = all.div_ceil(LOOK_AT).max(1);
        let (mut seen, mut blurred, mut lags) = (0u32, 0u32, Vec::new());
        for record in records.iter().step_by(step) {
            let mut before: Option<Chunk> = None;
            for chunk in &record.chunks {
                seen += 1;
                let lag = chunk.read_lag();
                lags.extend(lag);
                let together = before.is_some_and(|before| before.at == chunk.at);
                blurred += u32::from(together && lag.is_some_and(|lag| LATE <= lag));
                before = Some(chunk);
            }
        }
        lags.sort_unstable();
        let share = |count: f64| {
            if seen == 0 {
                0.0
            } else {
                count / f64::from(seen)
            }
        };
        Self {
            stamped: share(lags.len() as f64),
            lag_p99: lags
                .get((lags.len() * 99 / 100).min(lags.len().saturating_sub(1)))
                .copied(),
            lag_max: lags.last().copied(),
            blurred: share(f64::from(blurred)),
        }
    }

    /// Whether the kernel's stamps stand for nearly all events, so that reading late does not mean measuring late.
    pub fn by_kernel(&self) -> bool {
        0.99 <= self.stamped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{answered, ms};

    /// A request whose events were read so late, some of them together.
    fn read_late(lag_ms: f64, together: bool) -> RequestRecord {
        let mut record = answered(0, 0.0, 100.0, &[20.0, 20.0, 20.0]);
        let last = record.chunks.last().expect("four").at;
        let late = |chunk: Chunk| Chunk {
            at: if together { last } else { chunk.at } + ms(lag_ms),
            at_kernel: Some(if together { last } else { chunk.at }),
            ..chunk
        };
        record.chunks = record.chunks.iter().map(late).collect();
        record
    }

    #[test]
    fn a_late_read_of_one_event_blurs_nothing() {
        let reads = Reads::of(&[read_late(9.0, false)]);
        assert_eq!((reads.lag_p99, reads.blurred), (Some(ms(9.0)), 0.0));
        assert!(reads.by_kernel());
    }

    #[test]
    fn events_read_late_and_together_are_blurred() {
        assert_eq!(Reads::of(&[read_late(9.0, true)]).blurred, 0.75);
    }

    #[test]
    fn events_sent_together_and_read_at_once_are_the_engine_s_own() {
        assert_eq!(Reads::of(&[read_late(0.2, true)]).blurred, 0.0);
    }

    #[test]
    fn without_stamps_nothing_is_said() {
        let reads = Reads::of(&[answered(0, 0.0, 100.0, &[20.0])]);
        assert_eq!((reads, reads.by_kernel()), (Reads::default(), false));
        assert_eq!(Reads::of(&[]), Reads::default());
    }
}
