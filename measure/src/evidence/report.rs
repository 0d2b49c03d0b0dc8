//! All the evidence of a point, as it is stored and shown.

use serde::{Deserialize, Serialize};

use super::buckets::Between;
use super::cache::{Cache, Shared};
use super::doubt::{Doubt, MANY_RESETS, resets};
use super::foreign::{Foreign, Sent};
use super::host::HostTime;
use super::quantity::Quantity;
use super::reading::{Readings, Whose};
use super::said::Finding;
use super::series::{self, Track};
use super::ttft::{TtftParts, percentiles};
use crate::quantile::percentile_linear;
use crate::request::RequestRecord;
use crate::units::{Nanos, three_digits};

/// What was read of one page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Look {
    /// What it held.
    pub readings: Readings,
    /// By whose names it was read.
    pub by: String,
    /// Why there is nothing, in words that follow "cannot tell,".
    pub absent: Option<String>,
    /// What else is to be said of the reading, a sentence each.
    pub notes: Vec<String>,
}

/// How long a connection to the engine's address took to open, several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundTrip {
    /// The shortest.
    pub min: Nanos,
    /// The median.
    pub median: Nanos,
    /// How many.
    pub tries: u32,
}

/// What was seen beside a point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// The engine's page.
    pub engine: Look,
    /// GPUs.
    pub gpu: Look,
    /// The host of the client; none where it does not say.
    pub host: Option<HostTime>,
    /// The same over time.
    pub host_track: Track,
    /// The way to the engine, before and after.
    pub round_trips: [Option<RoundTrip>; 2],
}

/// A number in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figure {
    /// What it is.
    pub name: String,
    /// How much, with its count where it is a percentile.
    pub value: String,
}

/// The evidence of a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The version of this shape.
    pub version: u32,
    /// Quantities over time.
    pub tracks: Vec<Track>,
    /// Numbers of the whole point.
    pub figures: Vec<Figure>,
    /// Where the time before first tokens went; none where that cannot be told.
    pub ttft: Option<TtftParts>,
    /// Was anybody else there.
    pub foreign: Foreign,
    /// Was the prefix cache cold.
    pub cache: Cache,
    /// Who else used the client's host.
    pub host: Option<HostTime>,
    /// The way to the engine, before and after.
    pub round_trips: [Option<RoundTrip>; 2],
    /// What the GPUs drew for each output token, in joules.
    pub joules_per_output_token: Option<f64>,
    /// What is to be said, a sentence each, what cannot be told among it.
    pub statements: Vec<String>,
    /// Whether the text of the engine's pages is kept with the point.
    pub metrics_kept: bool,
}

impl Evidence {
    /// Of all that was seen, the point's records, requests of ours besides (the warm-up's, those that were given up before;
    /// output tokens asked of each) and what requests share.
    pub fn of(
        seen: &Seen,
        records: &[RequestRecord],
        besides: &[u32],
        shared: Option<Shared>,
    ) -> Self {
        let readings = &seen.engine.readings;
        let why_not = seen.engine.absent.as_deref();
        let doubt = Doubt::of(readings, records);
        let parts = match &doubt {
            Some(Doubt::NotOurs(why)) => Err(why.clone()),
            _ => TtftParts::of(readings, records),
        };
        let sent = Sent::of(records, besides);
        let foreign = Foreign::of(readings, sent, why_not, doubt.as_ref());
        let cache = Cache::of(readings, records, shared, why_not, doubt.as_ref());
        let energy = energy(&seen.gpu.readings);
        let joules_per_output_token = energy.and_then(|joules| per_token(joules, records));
        let mut statements = read(&seen.engine, "engine");
        statements.push(foreign.sentence.clone());
        statements.push(cache.sentence.clone());
        if let Err(why) = &parts {
            let why = why_not.unwrap_or(why);
            statements.push(format!(
                "Where the time before the first token went: cannot tell, {why}."
            ));
        }
        statements.extend(seen.host.map(|host| host.sentence()));
        statements.extend(read(&seen.gpu, "GPU"));
        let mut figures = engine_figures(readings);
        figures.extend(gpu_figures(
            &seen.gpu.readings,
            energy,
            joules_per_output_token,
        ));
        figures.extend(round_trip_figures(&seen.round_trips));
        let tracks = [
            series::client(records),
            series::engine(readings),
            series::gpus(&seen.gpu.readings),
            seen.host_track.clone(),
        ];
        Self {
            version: 1,
            tracks: tracks
                .into_iter()
                .filter(|it| !it.series.is_empty())
                .collect(),
            figures,
            ttft: parts.ok(),
            foreign,
            cache,
            host: seen.host,
            round_trips: seen.round_trips,
            joules_per_output_token,
            statements,
            metrics_kept: false,
        }
    }

    /// What it means for the point.
    pub fn findings(&self) -> Vec<Finding> {
        let host = self.host.and_then(|host| host.finding());
        let all = [self.foreign.finding(), self.cache.finding(), host];
        all.into_iter().flatten().collect()
    }
}

/// How a page was read.
fn read(look: &Look, what: &str) -> Vec<String> {
    let mut statements = Vec::new();
    match &look.absent {
        Some(why) => statements.push(format!(
            "What the {what} tells of itself: cannot tell, {why}."
        )),
        None if !look.by.is_empty() => statements.push(format!(
            "The {what}'s metrics were read {} times, by the names of {}.",
            look.readings.readings.len(),
            look.by
        )),
        None => {}
    }
    let resets = resets(&look.readings);
    if MANY_RESETS <= resets {
        statements.push(format!(
            "Counters on the {what}'s page fell {resets} times: several engines answer at one address in turn, so that differences between looks mean little."
        ));
    } else if 0 < resets {
        statements.push(format!(
            "Counters on the {what}'s page fell {resets} times: the engine started anew while the point ran."
        ));
    }
    statements.extend(look.notes.iter().cloned());
    statements
}

fn figure(name: &str, value: String) -> Figure {
    Figure {
        name: name.to_owned(),
        value,
    }
}

fn engine_figures(readings: &Readings) -> Vec<Figure> {
    let (from, to) = (readings.look_at(0), readings.last());
    let most = |quantity| {
        let told = readings.gauge(quantity, Whose::Ours).into_iter().flatten();
        told.reduce(f64::max)
    };
    // Differences between pages of several engines are nobody's.
    let in_turn = MANY_RESETS <= resets(readings);
    let grown = |quantity| {
        let growth = readings.counter(quantity, Whose::Ours);
        growth.grown(from, to).filter(|_| !in_turn)
    };
    let share = |part, whole| {
        let (part, whole) = (grown(part)?, grown(whole).filter(|all| 0.0 < *all)?);
        let share = three_digits((100.0 * part / whole).min(100.0));
        Some(format!("{share} % of {whole:.0} tokens"))
    };
    let count = |number: f64| format!("{number:.0}");
    let plain = [
        ("Running, at most", most(Quantity::Running).map(count)),
        ("Waiting, at most", most(Quantity::Waiting).map(count)),
        (
            "KV cache in use, at most",
            most(Quantity::KvUsage).map(|share| format!("{} %", three_digits(100.0 * share))),
        ),
        ("Preemptions", grown(Quantity::Preemptions).map(count)),
        (
            "Prefix cache hits",
            share(Quantity::CacheHits, Quantity::CacheQueries)
                .or_else(|| share(Quantity::CachedTokens, Quantity::PromptTokens)),
        ),
        (
            "Speculation that stood",
            share(Quantity::AcceptedTokens, Quantity::DraftTokens),
        ),
    ];
    let plain = plain
        .into_iter()
        .filter_map(|(name, value)| Some(figure(name, value?)));
    let spread = [
        ("Queue time", Quantity::QueueTime),
        ("Prefill time", Quantity::PrefillTime),
        ("TTFT by the engine", Quantity::Ttft),
        ("ITL by the engine", Quantity::Itl),
        ("E2E by the engine", Quantity::E2e),
        ("Tokens a step", Quantity::IterationTokens),
    ];
    let spread = spread.into_iter().filter_map(|(name, quantity)| {
        let came = readings.histogram(quantity, Whose::Ours).came(from, to);
        let came = came.filter(|_| !in_turn)?;
        let is_time = quantity != Quantity::IterationTokens;
        Some(figure(name, percentile_words(percentiles(&came)?, is_time)))
    });
    plain.chain(spread).collect()
}

/// `p50 12.0 ms (10.0 ms to 15.0 ms), p95 between 20.0 ms and 50.0 ms, p99 above 10.0 s, of 200`.
pub fn percentile_words((all, count): ([Between; 3], u64), is_time: bool) -> String {
    let size = |value: f64| {
        if is_time {
            Nanos::from_secs_f64(value).to_string()
        } else {
            three_digits(value)
        }
    };
    let one = |(name, it): (&str, Between)| {
        let Between { lo, value, hi } = it;
        match hi {
            Some(hi) if hi == lo => format!("{name} {}", size(value)),
            Some(hi) if !it.tells() => format!("{name} between {} and {}", size(lo), size(hi)),
            Some(hi) => format!("{name} {} ({} to {})", size(value), size(lo), size(hi)),
            None => format!("{name} above {}", size(lo)),
        }
    };
    let words: Vec<String> = ["p50", "p95", "p99"]
        .into_iter()
        .zip(all)
        .map(one)
        .collect();
    format!("{}, of {count}", words.join(", "))
}

/// Joules drawn while the point ran: by the GPUs' own counters, else by their power.
fn energy(readings: &Readings) -> Option<f64> {
    let (from, to) = (readings.look_at(0), readings.last());
    let counted = readings
        .counter(Quantity::GpuEnergy, Whose::Ours)
        .grown(from, to);
    counted.filter(|joules| 0.0 < *joules).or_else(|| {
        let power = readings.gauge(Quantity::GpuPower, Whose::Ours);
        let moments = readings.readings.iter().map(|it| it.at_ms as f64 / 1e3);
        let told: Vec<(f64, f64)> = moments
            .zip(power)
            .skip(from)
            .filter_map(|(at, power)| Some((at, power?)))
            .collect();
        let slices = told.windows(2);
        let slices = slices.map(|it| (it[1].0 - it[0].0) * (it[0].1 + it[1].1) / 2.0);
        slices.reduce(|all, more| all + more)
    })
}

fn per_token(joules: f64, records: &[RequestRecord]) -> Option<f64> {
    let counted = records.iter().filter_map(|record| record.output_tokens);
    let tokens: u64 = counted.map(u64::from).sum();
    (0 < tokens).then(|| joules / tokens as f64)
}

fn gpu_figures(
    readings: &Readings,
    energy: Option<f64>,
    joules_per_output_token: Option<f64>,
) -> Vec<Figure> {
    let from = readings.look_at(0);
    let mut figures = Vec::new();
    for (index, source) in readings.sources.iter().enumerate() {
        for (quantity, what, unit, factor) in [
            (Quantity::GpuUse, "in use", "%", 100.0),
            (
                Quantity::GpuMemory,
                "memory",
                "GiB",
                1.0 / (1u64 << 30) as f64,
            ),
            (Quantity::GpuPower, "power", "W", 1.0),
            (Quantity::GpuClock, "clock", "MHz", 1.0),
        ] {
            let told = readings.gauge(quantity, Whose::One(index as u32));
            let mut told: Vec<f64> = told.into_iter().skip(from).flatten().collect();
            told.sort_unstable_by(f64::total_cmp);
            let at = |percentile| percentile_linear(&told, percentile);
            if let (Some(median), Some(most)) = (at(50.0), at(100.0)) {
                let value = format!(
                    "p50 {} {unit}, at most {} {unit}, of {} looks",
                    three_digits(median * factor),
                    three_digits(most * factor),
                    told.len()
                );
                figures.push(figure(&format!("{}: {what}", source.name), value));
            }
        }
    }
    if let (Some(joules), Some(each)) = (energy, joules_per_output_token) {
        let value = format!(
            "{} J, {} J for each output token",
            three_digits(joules),
            three_digits(each)
        );
        figures.push(figure("GPU energy", value));
    }
    figures
}

fn round_trip_figures(round_trips: &[Option<RoundTrip>; 2]) -> Vec<Figure> {
    let words = |trip: &Option<RoundTrip>| match trip {
        Some(RoundTrip { min, median, tries }) => {
            format!("at least {min}, median {median}, of {tries}")
        }
        None => "cannot tell".to_owned(),
    };
    let names = ["Network round trip before", "Network round trip after"];
    let both = names.into_iter().zip(round_trips);
    both.map(|(name, trip)| figure(name, words(trip))).collect()
}

#[cfg(test)]
mod tests;
