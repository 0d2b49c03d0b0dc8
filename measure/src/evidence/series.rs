//! Quantities over time, as charts take them: on the time axis of the point's requests.

use serde::{Deserialize, Serialize};

use super::buckets::Buckets;
use super::quantity::Quantity;
use super::reading::{Growth, Readings, Whose};
use crate::request::RequestRecord;
use crate::units::Nanos;

/// Most looks that a track shows; of more, each takes several together.
const MOST: usize = 600;
const SECOND: u64 = 1_000_000_000;

/// One quantity over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Its name for programs.
    pub key: String,
    /// Its name for people.
    pub label: String,
    /// Its unit; empty for counts.
    pub unit: String,
    /// One value a look; of a counter or a histogram that of the time since the look before.
    pub values: Vec<Option<f64>>,
    /// Surely not below these, where values are known by their buckets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lo: Vec<Option<f64>>,
    /// Surely not above these; none where there is no bound.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hi: Vec<Option<f64>>,
}

/// What one page, or the host, told over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Track {
    /// Who: `engine`, `gpu`, `host`.
    pub of: String,
    /// When, in milliseconds from the point's start.
    pub at_ms: Vec<i64>,
    /// What.
    pub series: Vec<Series>,
}

/// Four digits are more than any of it is good for.
fn short(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let scale = 10f64.powi(3 - value.abs().log10().floor() as i32);
    (value * scale).round() / scale
}

impl Series {
    /// A series with something to show.
    pub fn of(key: &str, label: &str, unit: &str, values: Vec<Option<f64>>) -> Option<Self> {
        let any = values.iter().any(Option::is_some);
        any.then(|| Self {
            key: key.to_owned(),
            label: label.to_owned(),
            unit: unit.to_owned(),
            values: values.into_iter().map(|value| value.map(short)).collect(),
            ..Self::default()
        })
    }
}

/// Values of which there are any.
fn told(values: Vec<Option<f64>>) -> Option<Vec<Option<f64>>> {
    values.iter().any(Option::is_some).then_some(values)
}

/// Makes series of readings.
struct Drawing<'a> {
    readings: &'a Readings,
    looks: Vec<usize>,
}

impl Drawing<'_> {
    fn of(readings: &Readings) -> Drawing<'_> {
        let every = readings.readings.len().div_ceil(MOST).max(1);
        let mut looks: Vec<usize> = (0..readings.readings.len()).step_by(every).collect();
        if looks.last() != Some(&readings.last()) {
            looks.push(readings.last());
        }
        Drawing { readings, looks }
    }

    fn at_ms(&self) -> Vec<i64> {
        let moment = |look: &usize| self.readings.readings.get(*look).map(|it| it.at_ms);
        self.looks.iter().filter_map(moment).collect()
    }

    fn gauge(&self, quantity: Quantity, whose: Whose) -> Vec<Option<f64>> {
        let told = self.readings.gauge(quantity, whose);
        let at = |look: &usize| told.get(*look).copied().flatten();
        self.looks.iter().map(at).collect()
    }

    fn counter(&self, quantity: Quantity) -> Growth<f64> {
        self.readings.counter(quantity, Whose::Ours)
    }

    /// What is made of each time between two looks; of the first look nothing.
    fn intervals<T>(&self, of: impl Fn(usize, usize) -> Option<T>) -> Vec<Option<T>> {
        let later = self.looks.windows(2).map(|pair| of(pair[0], pair[1]));
        std::iter::once(None)
            .chain(later)
            .take(self.looks.len())
            .collect()
    }

    fn seconds(&self, from: usize, to: usize) -> f64 {
        let at = |look: usize| self.readings.readings.get(look).map_or(0, |it| it.at_ms);
        (at(to) as f64 - at(from) as f64) / 1e3
    }

    fn grown(&self, quantity: Quantity) -> Vec<Option<f64>> {
        let growth = self.counter(quantity);
        self.intervals(|from, to| growth.grown(from, to))
    }

    fn rate(&self, quantity: Quantity) -> Vec<Option<f64>> {
        let growth = self.counter(quantity);
        self.intervals(|from, to| {
            let seconds = self.seconds(from, to);
            growth
                .grown(from, to)
                .filter(|_| 0.0 < seconds)
                .map(|more| more / seconds)
        })
    }

    /// One counter's growth over another's, in percent; none where the other stood.
    fn share(&self, part: Quantity, whole: Quantity) -> Vec<Option<f64>> {
        let (part, whole) = (self.counter(part), self.counter(whole));
        self.intervals(|from, to| {
            let all = whole.grown(from, to).filter(|all| 0.0 < *all)?;
            Some((100.0 * part.grown(from, to)? / all).min(100.0))
        })
    }

    fn percent(&self, quantity: Quantity) -> Vec<Option<f64>> {
        let told = self.gauge(quantity, Whose::Ours);
        told.into_iter()
            .map(|it| it.map(|share| 100.0 * share))
            .collect()
    }

    /// Hits of the prefix cache: of what was looked up, else of all input, else as the engine reckons it.
    fn hits(&self) -> Vec<Option<f64>> {
        let looked_up = self.share(Quantity::CacheHits, Quantity::CacheQueries);
        let of_all = || self.share(Quantity::CachedTokens, Quantity::PromptTokens);
        let own = || self.percent(Quantity::HitRate);
        told(looked_up)
            .or_else(|| told(of_all()))
            .unwrap_or_else(own)
    }

    /// Speculation that stood, by counters, else as the engine reckons it.
    fn accepted(&self) -> Vec<Option<f64>> {
        let counted = self.share(Quantity::AcceptedTokens, Quantity::DraftTokens);
        told(counted).unwrap_or_else(|| self.percent(Quantity::AcceptRate))
    }

    /// The p50, p95 and p99 of what came between looks, each with its bucket's bounds.
    fn quantiles(&self, quantity: Quantity, key: &str, label: &str, unit: &str) -> Vec<Series> {
        let growth = self.readings.histogram(quantity, Whose::Ours);
        // Times are shown in milliseconds.
        let scale = if unit == "ms" { 1e3 } else { 1.0 };
        let came: Vec<Option<Buckets>> = self.intervals(|from, to| growth.came(from, to));
        let one = |percentile: f64| {
            let found = came.iter().map(|came| came.as_ref()?.quantile(percentile));
            let found: Vec<_> = found.collect();
            let of = |value: fn(&super::Between) -> Option<f64>| {
                let values = found.iter().map(|it| value(it.as_ref()?));
                values
                    .map(|it| it.map(|value| short(value * scale)))
                    .collect()
            };
            Series {
                lo: of(|it| Some(it.lo)),
                hi: of(|it| it.hi),
                ..Series::of(
                    &format!("{key}_p{percentile}"),
                    &format!("{label} p{percentile}"),
                    unit,
                    of(|it| Some(it.value)),
                )
                .unwrap_or_default()
            }
        };
        let all = [50.0, 95.0, 99.0].into_iter().map(one);
        all.filter(|series| !series.key.is_empty()).collect()
    }
}

/// Requests in flight, as the client knows them.
pub fn client(records: &[RequestRecord]) -> Track {
    let sorted = |of: fn(&RequestRecord) -> Option<Nanos>| {
        let sent = records.iter().filter(|record| record.sent.is_some());
        let mut all: Vec<Nanos> = sent.filter_map(of).collect();
        all.sort_unstable();
        all
    };
    let (sent, ended) = (sorted(|it| it.sent), sorted(|it| it.end));
    let last = ended.last().or(sent.last()).copied().unwrap_or_default();
    let step = (last.0 / MOST as u64).max(SECOND / 4);
    let moments = (0..=last.0.div_ceil(step)).map(|look| Nanos(look * step));
    let in_flight = |at: Nanos| {
        let begun = sent.partition_point(|it| *it <= at);
        let over = ended.partition_point(|it| *it <= at);
        Some(begun.saturating_sub(over) as f64)
    };
    let values = moments.clone().map(in_flight).collect();
    Track {
        of: "client".to_owned(),
        at_ms: moments.map(|at| (at.0 / 1_000_000) as i64).collect(),
        series: Series::of("in_flight", "in flight", "", values)
            .filter(|_| !sent.is_empty())
            .into_iter()
            .collect(),
    }
}

/// What an engine told over time.
pub fn engine(readings: &Readings) -> Track {
    let it = Drawing::of(readings);
    let gauge = |quantity| it.gauge(quantity, Whose::Ours);
    let mut all = vec![
        ("running", "running", "", gauge(Quantity::Running)),
        ("waiting", "waiting", "", gauge(Quantity::Waiting)),
        (
            "kv_usage",
            "KV cache in use",
            "%",
            it.percent(Quantity::KvUsage),
        ),
        ("hit_rate", "prefix cache hits", "%", it.hits()),
        ("accepted", "speculation that stood", "%", it.accepted()),
        (
            "preemptions",
            "preemptions",
            "",
            it.grown(Quantity::Preemptions),
        ),
    ];
    all.extend([
        (
            "finished",
            "requests ended",
            "/s",
            it.rate(Quantity::Finished),
        ),
        (
            "output_tokens",
            "output tokens",
            "/s",
            it.rate(Quantity::OutputTokens),
        ),
        (
            "prompt_tokens",
            "input tokens",
            "/s",
            it.rate(Quantity::PromptTokens),
        ),
    ]);
    let plain = all.into_iter();
    let plain = plain.filter_map(|(key, label, unit, told)| Series::of(key, label, unit, told));
    let mut series: Vec<Series> = plain.collect();
    for (quantity, key, label, unit) in [
        (Quantity::QueueTime, "queue_time", "queue time", "ms"),
        (Quantity::PrefillTime, "prefill_time", "prefill time", "ms"),
        (
            Quantity::IterationTokens,
            "iteration_tokens",
            "tokens a step",
            "",
        ),
    ] {
        series.extend(it.quantiles(quantity, key, label, unit));
    }
    Track {
        of: "engine".to_owned(),
        at_ms: it.at_ms(),
        series,
    }
}

/// What GPUs told over time, one by one.
pub fn gpus(readings: &Readings) -> Track {
    let it = Drawing::of(readings);
    let mut series = Vec::new();
    for (index, source) in readings.sources.iter().enumerate() {
        let whose = Whose::One(index as u32);
        let scaled = |quantity, factor: f64| {
            let told = it.gauge(quantity, whose).into_iter();
            told.map(|value| value.map(|value| value * factor))
                .collect()
        };
        let name = &source.name;
        let all = [
            ("use", "in use", "%", Quantity::GpuUse, 100.0),
            (
                "memory",
                "memory",
                "GiB",
                Quantity::GpuMemory,
                1.0 / (1u64 << 30) as f64,
            ),
            ("power", "power", "W", Quantity::GpuPower, 1.0),
            ("clock", "clock", "MHz", Quantity::GpuClock, 1.0),
        ];
        series.extend(
            all.into_iter()
                .filter_map(|(key, label, unit, quantity, factor)| {
                    let label = format!("{name}: {label}");
                    Series::of(
                        &format!("gpu{index}_{key}"),
                        &label,
                        unit,
                        scaled(quantity, factor),
                    )
                }),
        );
    }
    Track {
        of: "gpu".to_owned(),
        at_ms: it.at_ms(),
        series,
    }
}

#[cfg(test)]
mod tests;
