//! Placeholders until the instrument lands.
#![allow(missing_docs, dead_code)]
pub mod load {
    use measure::request::RequestRecord;
    use measure::study::*;
    use std::path::Path;
    use std::sync::Arc;
    use std::time::Duration;
    pub struct Probe {
        pub engine: String,
        pub version: Option<String>,
        pub models: Vec<String>,
        pub facts: measure::knobs::Facts,
        pub has_metrics: bool,
        pub can_reset_cache: bool,
    }
    pub async fn probe(_: &Endpoint, _: Duration) -> Result<Probe, std::fmt::Error> {
        Err(std::fmt::Error)
    }
    pub async fn reset_prefix_cache(_: &Endpoint) -> bool {
        false
    }
    pub struct Engine;
    pub struct EngineOptions {
        pub idle_timeout: Duration,
        pub connect_timeout: Duration,
        pub keep_text: bool,
    }
    impl Engine {
        pub fn connect(_: &Endpoint, _: EngineOptions) -> Result<Engine, std::fmt::Error> {
            Ok(Engine)
        }
    }
    pub struct PointPlan;
    pub struct PointSpec<'a> {
        pub workload: &'a measure::workload::Workload,
        pub data_dir: Option<&'a Path>,
        pub arrival: measure::arrival::Arrival,
        pub level: measure::units::Level,
        pub length: PointLength,
        pub seed: measure::units::Seed,
        pub warmup: u32,
        pub api: Api,
        pub model: &'a str,
        pub drain: Duration,
        pub request_id_prefix: &'a str,
    }
    pub fn plan_point(_: &PointSpec<'_>) -> Result<PointPlan, std::fmt::Error> {
        Ok(PointPlan)
    }
    pub struct PointRun {
        pub records: Vec<RequestRecord>,
        pub client: measure::certificate::ClientEvidence,
        pub started_unix_ms: i64,
        pub stopped: bool,
    }
    pub use app::studio::Progress;
    pub trait Observer: Send + Sync {
        fn progress(&self, now: Progress);
    }
    pub async fn run_point(
        _: &Engine,
        _: PointPlan,
        _: Arc<dyn Observer>,
        _: tokio_util::sync::CancellationToken,
    ) -> Result<PointRun, std::fmt::Error> {
        Err(std::fmt::Error)
    }
}
