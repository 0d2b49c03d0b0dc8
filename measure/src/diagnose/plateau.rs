//! How many streamed at once while others waited: a limit of places shows as a plateau.

use super::sorted::{Sorted, share};
use super::streams::Streams;

/// Moments at which streams are counted.
const MOMENTS: usize = 2000;
/// One that waits may be in its prefill; two are a queue.
const QUEUE: f64 = 2.0;

/// Streams over time.
#[derive(Clone, Debug, Default)]
pub(super) struct Plateau {
    /// Streams at a time, median of the moments with any.
    pub streamed: Option<f64>,
    /// Share of those moments at which two or more waited.
    pub queued: Option<f64>,
    /// Share of the latter at which as many streamed as ever, but for a tenth and one that is in its prefill.
    pub at_most: Option<f64>,
}

impl Plateau {
    pub fn of(streams: &Streams) -> Self {
        let over_time = streams.over_time();
        let last = streams.0.iter().map(|it| it.last).fold(0.0, f64::max);
        let moments: Vec<(f64, f64)> = (0..MOMENTS)
            .map(|it| last * it as f64 / MOMENTS as f64)
            .map(|at| (over_time.streamed(at), over_time.waited(at)))
            .filter(|(streamed, _)| 0.0 < *streamed)
            .collect();
        let most = moments.iter().map(|it| it.0).fold(0.0, f64::max);
        let queued = || moments.iter().filter(|it| QUEUE <= it.1);
        let near = queued().filter(|it| 0.9 * most - 1.0 <= it.0).count();
        Self {
            streamed: Sorted::of(moments.iter().map(|it| it.0)).at(50.0),
            queued: share(queued().count(), moments.len()),
            at_most: share(near, queued().count()),
        }
    }
}
