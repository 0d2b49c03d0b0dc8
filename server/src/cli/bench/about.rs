//! What a run was, for scripts.

use load::{Made, Probe};
use measure::study::Endpoint;
use measure::units::Seed;
use measure::workload::Workload;
use serde_json::{Value, json};

use super::BenchArgs;

/// When, by what, and against which engine.
pub(super) fn run(began: jiff::Timestamp, endpoint: &Endpoint, probe: Option<&Probe>) -> Value {
    json!({
        "goodput": env!("CARGO_PKG_VERSION"),
        "began": began.to_string(),
        "endpoint": endpoint,
        "engine": probe.map(|probe| &probe.engine),
        "version": probe.and_then(|probe| probe.version.as_ref()),
        "facts": probe.map(|probe| &probe.facts),
    })
}

/// What was sent, and when.
pub(super) fn workload(args: &BenchArgs, workload: &Workload, made: &Made) -> Value {
    json!({
        "name": workload.to_string(),
        "spec": workload,
        "arrival": args.traffic.arrival(),
        "level": args.traffic.level(workload),
        "seed": Seed(args.seed),
        "made": made,
    })
}
