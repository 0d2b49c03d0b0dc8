//! The goodput exercise: the study that everyone who benchmarks serving engines should do once.

use crate::arrival::Arrival;
use crate::knobs::KnobValue;
use crate::slo::{Bound, Metric, Slo};
use crate::units::{Level, Nanos, Rate, Seed};
use crate::workload::{Answers, Workload};

use super::{ConfigurationSpec, EngineSpec, OnFailure, PointLength, StudySpec};

/// The exercise's rates, 0.5 to 32 per second, are for an engine of one modern accelerator; the simulator's small fast engine
/// takes shorter texts, so many times as often. The factor is printed beside the rates.
///
/// It was found by rehearsing the exercise in virtual time (`cargo run --release -p sim --example capacity`): without prefix
/// caching the engine keeps the SLO up to about 8 sessions/s, with it up to about 18. With a factor of 1.5 the rates 6, 12
/// and 24 bracket both knees, and 12 lies clearly between them: it breaks the SLO without caching and keeps it with.
pub const EXERCISE_SCALE: f64 = 1.5;

const RATES: [f64; 7] = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

impl StudySpec {
    /// The goodput exercise on the built-in simulator: eight rates, Poisson session starts, ShareGPT-shaped sessions,
    /// prefix caching off and then on.
    ///
    /// Sessions have 3.7 requests on average. The lowest rate then takes about 40 s for its 100 requests; the rates near the
    /// knees (6 to 24 sessions/s) send 450 to 600, enough for a queue to build up where there is too much load; and both
    /// sweeps together take six to seven minutes of load.
    pub fn goodput_exercise() -> Self {
        let rates = RATES
            .iter()
            .filter_map(|rate| Rate::try_from(rate * EXERCISE_SCALE).ok())
            .map(Level::Rate);
        Self {
            name: "Goodput exercise: prefix caching".to_owned(),
            engine: EngineSpec::Simulator {
                preset: "small-fast".to_owned(),
            },
            workload: Workload::ShareGptShaped {
                scale: 0.25,
                max_turns: 5,
                think_ms: 100,
                // With the chat template under 2,048 tokens.
                max_context: 1900,
                answers: Answers::DataSet,
            },
            arrival: Arrival::Poisson,
            levels: rates.chain([Level::Inf]).collect(),
            adaptive: None,
            length: PointLength {
                min_requests: 100,
                max_requests: 600,
                seconds: 20,
            },
            warmup: 4,
            seed: Seed(42),
            slo: exercise_slo(),
            configurations: [("prefix caching off", false), ("prefix caching on", true)]
                .map(caching)
                .into(),
            repeats: 1,
            idle_timeout_ms: 30_000,
            drain_ms: 30_000,
            ramp_in_ms: 0,
            tokenizer: None,
            on_failure: OnFailure::Stop,
            factorial: false,
        }
    }
}

/// `ttft:p95<500ms tpot:p95<50ms attain>=95%`
fn exercise_slo() -> Slo {
    let bound = |metric, millis| Bound {
        metric,
        percentile: Some(95.0),
        at_most: Nanos::from_millis(millis),
    };
    Slo {
        bounds: vec![bound(Metric::Ttft, 500), bound(Metric::Tpot, 50)],
        error_rate: None,
        attainment: 0.95,
    }
}

fn caching((name, on): (&str, bool)) -> ConfigurationSpec {
    ConfigurationSpec {
        name: name.to_owned(),
        knobs: [("enable-prefix-caching".to_owned(), KnobValue::Switch(on))].into(),
        ..ConfigurationSpec::default()
    }
}
