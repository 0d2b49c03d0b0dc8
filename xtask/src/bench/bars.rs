//! What must hold, each with its figure: kept, missed, or not measured.

use super::clients::Client;
use super::measured::{Measured, Percentiles, Store};
use std::fmt;

/// One thing that must hold.
pub struct Bar {
    pub what: String,
    pub figure: String,
    /// `None` where something was not measured.
    pub kept: Option<bool>,
}

impl fmt::Display for Bar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<12} {}: {}", self.verdict(), self.what, self.figure)
    }
}

impl Bar {
    pub fn verdict(&self) -> &'static str {
        match self.kept {
            Some(true) => "kept",
            Some(false) => "MISSED",
            None => "not measured",
        }
    }

    /// A figure that must not pass a limit.
    fn at_most(what: String, figure: Option<f64>, limit: Option<f64>, unit: &str) -> Self {
        let (kept, text) = match (figure, limit) {
            (Some(figure), Some(limit)) => (
                Some(figure <= limit),
                format!("{} of at most {} {unit}", three(figure), three(limit)),
            ),
            (Some(figure), None) => (
                None,
                format!("{} {unit}; nothing to compare with", three(figure)),
            ),
            (None, _) => (None, "-".to_owned()),
        };
        Self {
            what,
            figure: text,
            kept,
        }
    }
}

/// Three digits that matter.
pub fn three(value: f64) -> String {
    match value.abs() {
        size if size < 0.9995 => format!("{value:.3}"),
        size if size < 9.995 => format!("{value:.2}"),
        size if size < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// Whose p99 is asked.
type Metric = (&'static str, fn(&Measured) -> Option<Percentiles>);

const TTFT: Metric = ("TTFT", |run| run.ttft);
const ITL: Metric = ("ITL", |run| run.itl);

/// All bars.
pub fn all(store: &Store) -> Vec<Bar> {
    let mut bars = errors(store);
    bars.push(best_peer(store));
    bars.extend(cpu(store));
    bars.extend(arrivals(store));
    bars.push(seeds(store));
    let of = |scenario, figure: fn(&Measured) -> Option<f64>| {
        store.median(scenario, Client::Goodput, figure)
    };
    bars.push(Bar::at_most(
        "peak memory at 1,024 streams".into(),
        of("streams-1024", |run| Some(run.peak_mib * 1.048_576)),
        Some(80.0),
        "MB",
    ));
    bars.push(Bar::at_most(
        "peak memory with 100,000 requests of 256 events, result file included".into(),
        of("memory", |run| Some(run.peak_mib * 1.048_576)),
        Some(300.0),
        "MB",
    ));
    bars.push(ten_thousand(store));
    bars.push(honesty(store));
    bars
}

fn p99(store: &Store, scenario: &str, client: Client, (_, metric): Metric) -> Option<f64> {
    store.median(scenario, client, |run| Some(metric(run)?.p99.abs()))
}

fn errors(store: &Store) -> Vec<Bar> {
    let scenarios = ["rate-200", "streams-256", "streams-1024", "streams-2000"];
    let bar = |scenario: &'static str, metric: Metric| {
        let limit = p99(store, scenario, Client::Floor, metric).map(|floor| (3.0 * floor).max(0.5));
        Bar::at_most(
            format!("{} error p99, {scenario} (3 x floor or 0.5 ms)", metric.0),
            p99(store, scenario, Client::Goodput, metric),
            limit,
            "ms",
        )
    };
    scenarios
        .into_iter()
        .flat_map(|scenario| [bar(scenario, TTFT), bar(scenario, ITL)])
        .collect()
}

fn best_peer(store: &Store) -> Bar {
    let peers = Client::ALL.into_iter().filter(|client| client.is_peer());
    let best = peers
        .filter_map(|peer| p99(store, "streams-1024", peer, TTFT))
        .min_by(f64::total_cmp);
    Bar::at_most(
        "TTFT error p99, streams-1024 (a twentieth of the best peer's)".into(),
        p99(store, "streams-1024", Client::Goodput, TTFT),
        best.map(|best| best / 20.0),
        "ms",
    )
}

fn cpu(store: &Store) -> Vec<Bar> {
    let of = |scenario, client| store.median(scenario, client, |run| Some(run.cpu_us_per_event));
    let against = [
        (Client::Floor, 1.5),
        (Client::SglangBench, 0.9),
        (Client::Vllm, 0.5),
    ];
    let bar = |scenario: &'static str, (client, times): (Client, f64)| {
        Bar::at_most(
            format!("CPU per token, {scenario} ({times} x {})", client.name()),
            of(scenario, Client::Goodput),
            of(scenario, client).map(|theirs| times * theirs),
            "µs",
        )
    };
    ["streams-256", "streams-1024", "rate-200"]
        .into_iter()
        .flat_map(|scenario| against.map(|other| bar(scenario, other)))
        .collect()
}

fn arrivals(store: &Store) -> Vec<Bar> {
    let of = |scenario, client, figure: fn(&Measured) -> Option<f64>| {
        store.median(scenario, client, figure)
    };
    let rate = |scenario: &'static str| {
        let error = of(scenario, Client::Goodput, |run| {
            Some(100.0 * run.rate_error?.abs())
        });
        let what = format!("rate at the server against the realised schedule, {scenario}");
        Bar::at_most(what, error, Some(0.5), "% off")
    };
    let late = |scenario: &'static str| {
        let floor = of(scenario, Client::Floor, |run| run.late_p99_ms);
        Bar::at_most(
            format!("lateness p99, slot by slot, {scenario} (2 x floor or 0.5 ms)"),
            of(scenario, Client::Goodput, |run| run.late_p99_ms),
            floor.map(|floor| (2.0 * floor).max(0.5)),
            "ms",
        )
    };
    ["rate-20", "rate-200", "rate-1000"]
        .into_iter()
        .flat_map(|scenario| [rate(scenario), late(scenario)])
        .collect()
}

fn seeds(store: &Store) -> Bar {
    let runs = store.runs("seeds", Client::Goodput);
    let passed = runs
        .iter()
        .filter(|run| {
            run.ks
                .zip(run.ks_limit)
                .is_some_and(|(ks, limit)| ks <= limit)
        })
        .count();
    Bar {
        what: "gaps of 2,000 arrivals pass a KS test (alpha 0.01), 9 of 10 seeds".into(),
        figure: format!("{passed} of {}", runs.len()),
        kept: (9 < runs.len()).then_some(9 <= passed),
    }
}

fn ten_thousand(store: &Store) -> Bar {
    let run = store.runs("streams-10000", Client::Goodput).first();
    let certificate = run.and_then(|run| run.certificate.clone());
    let says = |run: &Measured| match run.reasons.as_slice() {
        [] => run.certificate.clone().unwrap_or_default(),
        reasons => format!(
            "{}: {}",
            run.certificate.clone().unwrap_or_default(),
            reasons.join(" ")
        ),
    };
    Bar {
        what: "10,000 streams at a token a second: clean, or says why not".into(),
        figure: run.map_or("-".to_owned(), says),
        kept: run
            .zip(certificate)
            .map(|(run, certificate)| certificate == "clean" || !run.reasons.is_empty()),
    }
}

fn honesty(store: &Store) -> Bar {
    let run = store.runs("faults", Client::Goodput).first();
    let honesty = run.and_then(|run| run.honesty);
    Bar {
        what: "no request lost, doubled, or ok where it was not".into(),
        figure: honesty.map_or("-".to_owned(), |honesty| {
            format!(
                "of {} requests ({} went wrong on purpose): lost {}, doubled {}, falsely ok {}, falsely failed {}, misnamed {}, miscounted {}",
                honesty.requests, honesty.wrong, honesty.lost, honesty.doubled, honesty.falsely_ok, honesty.falsely_failed, honesty.misnamed, honesty.miscounted
            )
        }),
        kept: honesty.map(|honesty| honesty.lost + honesty.doubled + honesty.falsely_ok + honesty.falsely_failed == 0),
    }
}
