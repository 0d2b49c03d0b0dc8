//! How much higher one percentile is than another.

use crate::quantile::{Indicator, Sample, needed_for};
use crate::score::Score;
use crate::slo::{Metric, value};

use super::Difference;
use super::pairs::Pairs;

/// Candidate over baseline - 1 with its interval; why not, where the data do not suffice.
pub(super) fn difference(
    baseline: &[Score],
    candidate: &[Score],
    metric: Metric,
    p: f64,
    seed: u64,
) -> Result<Difference, String> {
    let pairs = Pairs::new(baseline, candidate)?;
    let from = Side::new(&pairs.baseline, metric);
    let to = Side::new(&pairs.candidate, metric);
    let (old, new) = (
        from.judgeable("baseline", metric, p)?,
        to.judgeable("candidate", metric, p)?,
    );
    let slow = from
        .slow(old)
        .zip(to.slow(new))
        .map(|(a, b)| a || b)
        .collect::<Indicator>();
    let ratio = |drawn: &[u32]| {
        Some(to.percentile(drawn, p)? / from.percentile(drawn, p)?).filter(|r| r.is_finite())
    };
    let (lo, hi) = pairs.interval(seed, &slow, ratio).ok_or_else(|| {
        format!(
            "Failed requests reach into the {metric} p{p} of many resamples; compare attainment."
        )
    })?;
    let relative = new / old - 1.0;
    Ok(Difference {
        relative,
        lo: (lo - 1.0).min(relative),
        hi: (hi - 1.0).max(relative),
        pairs: pairs.len() as u32,
    })
}

/// One side's values, from the smallest up, each with the session it belongs to.
struct Side {
    sorted: Vec<(f64, u32)>,
    /// The largest value of each session, in order of arrival.
    worst: Vec<f64>,
    in_order: Vec<f64>,
}

impl Side {
    fn new(sessions: &[Vec<&Score>], metric: Metric) -> Self {
        let mut sorted = Vec::new();
        let mut worst = Vec::with_capacity(sessions.len());
        let mut by_arrival = Vec::new();
        for (session, scores) in sessions.iter().enumerate() {
            let mut most = 0.0f64;
            for score in scores {
                let Some(latency) = latency(score, metric) else {
                    continue;
                };
                most = most.max(latency);
                sorted.push((latency, session as u32));
                by_arrival.push((score.scheduled, latency));
            }
            worst.push(most);
        }
        sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        by_arrival.sort_by_key(|(at, _)| *at);
        Self {
            sorted,
            worst,
            in_order: by_arrival.into_iter().map(|(_, latency)| latency).collect(),
        }
    }

    /// The percentile over everything, where there is enough data to judge it.
    fn judgeable(&self, side: &str, metric: Metric, p: f64) -> Result<f64, String> {
        let sample = Sample::new(self.in_order.clone());
        let (_, effective) = sample
            .estimate(p)
            .ok_or_else(|| format!("The {side} has no {metric} at all."))?;
        let value = self
            .percentile(&vec![1; self.worst.len()], p)
            .unwrap_or(f64::INFINITY);
        if value.is_infinite() {
            return Err(format!(
                "Failed requests reach into the {side}'s {metric} p{p}; compare attainment instead."
            ));
        }
        if value == 0.0 {
            return Err(format!(
                "The {side}'s {metric} p{p} is zero: it has no relative difference."
            ));
        }
        let needed = needed_for(p);
        if effective < f64::from(needed) {
            return Err(format!(
                "A p{p} needs {needed} independent requests; the {side}'s {} are worth {}.",
                self.in_order.len(),
                effective as u32
            ));
        }
        Ok(value)
    }

    /// Which sessions have a value above the percentile.
    fn slow(&self, value: f64) -> impl Iterator<Item = bool> + '_ {
        self.worst.iter().map(move |worst| value < *worst)
    }

    /// The percentile when each session counts as often as it was drawn.
    fn percentile(&self, drawn: &[u32], p: f64) -> Option<f64> {
        let total: u64 = self
            .sorted
            .iter()
            .map(|(_, session)| u64::from(drawn[*session as usize]))
            .sum();
        let position = p * total.checked_sub(1)? as f64 / 100.0;
        let (below, share) = (position.floor() as u64, position.fract());
        let mut passed = 0;
        let mut lower = None;
        for (value, session) in &self.sorted {
            passed += u64::from(drawn[*session as usize]);
            if lower.is_none() && below < passed {
                lower = Some(*value);
            }
            if let Some(lower) = lower.filter(|_| share == 0.0 || below + 1 < passed) {
                return Some(if share == 0.0 {
                    lower
                } else {
                    lower * (1.0 - share) + value * share
                });
            }
        }
        lower
    }
}

/// A request's value; a failed one is infinite.
fn latency(score: &Score, metric: Metric) -> Option<f64> {
    if score.is_ok() {
        value(score, metric).map(|nanos| nanos.0 as f64)
    } else {
        Some(f64::INFINITY)
    }
}
