//! Placeholders until the instrument lands.
pub mod load {
    use std::time::Duration;
    pub struct Probe {
        pub engine: String,
        pub version: Option<String>,
        pub models: Vec<String>,
        pub facts: measure::knobs::Facts,
        pub has_metrics: bool,
        pub can_reset_cache: bool,
    }
    pub async fn probe(
        _: &measure::study::Endpoint,
        _: Duration,
    ) -> Result<Probe, std::fmt::Error> {
        Err(std::fmt::Error)
    }
}
pub mod sim {
    pub struct Config;
    impl Config {
        pub fn preset(_: &str, _: &measure::knobs::Knobs) -> Result<Config, std::fmt::Error> {
            Ok(Config)
        }
    }
    pub const PRESETS: &[&str] = &["tiny", "small-fast"];
}
