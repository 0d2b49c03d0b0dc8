//! What a study asked of its engines, as facts: beside what is known of an engine, everything that could make its curve differ.

use measure::knobs::{Fact, Facts, Source};
use measure::study::StudySpec;

/// The seed's name: runs of several seeds are one history, and no fair comparison.
pub(super) const SEED: &str = "seed";

/// What was asked.
pub(super) fn asked(spec: &StudySpec) -> Facts {
    let StudySpec {
        workload,
        arrival,
        length,
        warmup,
        seed,
        idle_timeout_ms,
        drain_ms,
        ramp_in_ms,
        ..
    } = spec;
    let asked = [
        (
            "workload",
            format!(
                "{workload} ({})",
                serde_json::to_string(workload).unwrap_or_default()
            ),
        ),
        (
            "arrival",
            serde_json::to_string(arrival).unwrap_or_default(),
        ),
        (SEED, seed.0.to_string()),
        ("warm-up requests", warmup.to_string()),
        ("ramp-in", format!("{ramp_in_ms} ms")),
        (
            "requests a point",
            format!(
                "{} to {} in {} s",
                length.min_requests, length.max_requests, length.seconds
            ),
        ),
        (
            "time limits",
            format!("idle {idle_timeout_ms} ms, drain {drain_ms} ms"),
        ),
    ];
    asked
        .into_iter()
        .map(|(name, value)| set(name, value))
        .collect()
}

/// The name of what is known of the cache.
pub(super) const CACHE: &str = "cache reset before each point";

/// Whether the cache was cold at every point, where anybody can tell.
pub(super) fn cache(cold: bool) -> (String, Fact) {
    let value = if cold { "yes" } else { "no" };
    set(CACHE, value.to_owned())
}

/// A fact that the studio itself set.
pub(super) fn set(name: &str, value: String) -> (String, Fact) {
    let source = Source::Engine;
    (name.to_owned(), Fact { value, source })
}
