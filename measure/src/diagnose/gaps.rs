//! Gaps between events: how long, and what a stream more adds to them.

use super::sorted::Sorted;
use super::streams::Streams;

/// Most gaps looked at.
const MOST: usize = 100_000;
/// Gaps of more medians than this hold a prompt's computation.
const USUAL: f64 = 1.5;

/// Gaps of all streams; in seconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Gaps {
    pub sorted: Sorted,
    /// What a stream more adds, by least squares over the usual gaps.
    pub each: Option<f64>,
}

impl Gaps {
    pub fn of(streams: &Streams) -> Self {
        let events: usize = streams.0.iter().map(|it| it.record.chunks.len()).sum();
        let over_time = streams.over_time();
        let mut pairs: Vec<(f64, f64)> = Vec::new();
        for it in streams.0.iter().step_by(events.div_ceil(MOST).max(1)) {
            let later = it.events().skip(1);
            let gaps = it.events().zip(later);
            pairs.extend(gaps.map(|(at, next)| (over_time.streamed(at), next - at)));
        }
        let sorted = Sorted::of(pairs.iter().map(|it| it.1));
        let usual = USUAL * sorted.at(50.0).unwrap_or(0.0);
        pairs.retain(|it| it.1 <= usual);
        Self {
            sorted,
            each: slope(&pairs),
        }
    }
}

/// The slope of the line of least squares; none where all x are alike.
fn slope(pairs: &[(f64, f64)]) -> Option<f64> {
    let count = pairs.len() as f64;
    let middle = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / count;
    let (x, y) = (middle(|it| it.0), middle(|it| it.1));
    let xx: f64 = pairs.iter().map(|it| (it.0 - x).powi(2)).sum();
    let xy: f64 = pairs.iter().map(|it| (it.0 - x) * (it.1 - y)).sum();
    (0.0 < xx).then(|| xy / xx)
}
