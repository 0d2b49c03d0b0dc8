//! What is looked at beside a run, where that was asked for: the engine's own metrics, GPUs, this host, the way to the engine.

use std::sync::Arc;

use load::{Begun, Beside, BesideSpec, Engine, Made, PointPlan, PointRun, Sharing, Wire};
use measure::evidence::Evidence;
use measure::study::Endpoint;
use url::Url;

/// Where the engine's metrics page is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Metrics {
    /// Where engines have it.
    Auto,
    /// Somewhere else.
    At(Url),
}

pub(super) fn parse(text: &str) -> Result<Metrics, String> {
    if text == "auto" {
        return Ok(Metrics::Auto);
    }
    let url = Url::parse(text).ok();
    let url = url.filter(|url| ["http", "https"].contains(&url.scheme()) && url.has_host());
    let url = url.filter(|url| url.username().is_empty() && url.password().is_none());
    url.map(Metrics::At)
        .ok_or_else(|| "must be auto, or the page's URL, as http://127.0.0.1:8000/metrics".into())
}

/// Looks at a run from before its warm-up until after its drain.
pub(super) struct Looks {
    beside: Beside,
    sharing: Sharing,
}

impl Looks {
    /// Starts to look, if anybody asked.
    pub(super) async fn start(
        metrics: Option<&Metrics>,
        (endpoint, wire): (&Endpoint, &Wire),
        engine: &Engine,
        plan: &PointPlan,
    ) -> Option<Self> {
        let elsewhere = match metrics? {
            Metrics::Auto => None,
            Metrics::At(url) => Some(url),
        };
        let spec = BesideSpec {
            endpoint,
            wire,
            engine,
            group: None,
            metrics: elsewhere,
            exporters: &[],
        };
        let sharing = Sharing::of(plan);
        let beside = Beside::start(spec).await;
        Some(Self { beside, sharing })
    }

    /// To be told when the clock starts.
    pub(super) fn begun(&self) -> Arc<Begun> {
        self.beside.begun()
    }

    /// Takes a last look; what follows from them all.
    pub(super) async fn end(self, run: &PointRun, made: &Made) -> Evidence {
        let (seen, _) = self.beside.end().await;
        let (sharing, readings) = (&self.sharing, &seen.engine.readings);
        let shared = sharing.shared_by(readings, &run.records, made);
        Evidence::of(&seen, &run.records, &sharing.warmup, shared)
    }
}

/// For people, line by line.
pub(super) fn lines(evidence: &Evidence) -> Vec<String> {
    let figures = evidence.figures.iter();
    let figures =
        figures.map(|figure| format!("  {:<38} {}", format!("{}:", figure.name), figure.value));
    let parts = evidence.ttft.iter().flat_map(|whole| &whole.parts);
    let parts = parts.map(|part| {
        let share = (part.share * 1e3).round() / 10.0 + 0.0;
        format!(
            "  {:<38} {share:.1} %",
            format!("Before the first token, {}:", part.name)
        )
    });
    let statements = evidence
        .statements
        .iter()
        .map(|sentence| format!("  {sentence}"));
    ["What the engine said meanwhile:".to_owned()]
        .into_iter()
        .chain(figures)
        .chain(parts)
        .chain(statements)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::evidence::{Look, Seen};

    #[test]
    fn a_page_is_the_engines_own_or_an_address() {
        assert_eq!(parse("auto"), Ok(Metrics::Auto));
        let url = "http://127.0.0.1:9400/metrics";
        assert_eq!(
            parse(url).map(|it| it == Metrics::At(url.parse().expect("a URL"))),
            Ok(true)
        );
        for wrong in [
            "",
            "on",
            "127.0.0.1:9400",
            "ftp://x/metrics",
            "http://u:p@x/metrics",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_cannot_be_told_is_said() {
        let seen = Seen {
            engine: Look {
                absent: Some("the engine has no /metrics".into()),
                ..Look::default()
            },
            ..Seen::default()
        };
        let text = lines(&Evidence::of(&seen, &[], &[], None)).join("\n");
        assert!(
            text.starts_with("What the engine said meanwhile:"),
            "{text}"
        );
        assert!(
            text.contains("cannot tell, the engine has no /metrics"),
            "{text}"
        );
    }
}
