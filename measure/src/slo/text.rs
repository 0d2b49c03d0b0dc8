//! Writing an SLO: one canonical form that reads back to the same SLO, and one for people.

use std::fmt;

use crate::units::Nanos;

use super::{Bound, Metric, Slo};

impl Metric {
    /// Every metric, in the order in which tables list them.
    pub const ALL: [Self; 9] = [
        Self::Ttft,
        Self::Ttfa,
        Self::ScheduledTtft,
        Self::ScheduledTtfa,
        Self::ScheduledE2e,
        Self::Tpot,
        Self::Itl,
        Self::Stall,
        Self::E2e,
    ];

    /// The name used in SLO texts, JSON and columns.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ttft => "ttft",
            Self::Ttfa => "ttfa",
            Self::ScheduledTtft => "scheduled_ttft",
            Self::ScheduledTtfa => "scheduled_ttfa",
            Self::ScheduledE2e => "scheduled_e2e",
            Self::Tpot => "tpot",
            Self::Itl => "itl",
            Self::Stall => "stall",
            Self::E2e => "e2e",
        }
    }

    /// The name people read.
    pub fn label(self) -> &'static str {
        match self {
            Self::Ttft => "TTFT",
            Self::Ttfa => "TTFA",
            Self::ScheduledTtft => "scheduled TTFT",
            Self::ScheduledTtfa => "scheduled TTFA",
            Self::ScheduledE2e => "scheduled E2E",
            Self::Tpot => "TPOT",
            Self::Itl => "ITL",
            Self::Stall => "stall",
            Self::E2e => "E2E",
        }
    }

    /// The same latency counted from when the request was due. `None` of what begins after the sending, and of what is counted so already.
    pub fn as_scheduled(self) -> Option<Self> {
        match self {
            Self::Ttft => Some(Self::ScheduledTtft),
            Self::Ttfa => Some(Self::ScheduledTtfa),
            Self::E2e => Some(Self::ScheduledE2e),
            Self::ScheduledTtft | Self::ScheduledTtfa | Self::ScheduledE2e => None,
            Self::Tpot | Self::Itl | Self::Stall => None,
        }
    }

    /// The same latency counted from the sending; what is not counted from when it was due is itself.
    pub fn as_sent(self) -> Self {
        match self {
            Self::ScheduledTtft => Self::Ttft,
            Self::ScheduledTtfa => Self::Ttfa,
            Self::ScheduledE2e => Self::E2e,
            other => other,
        }
    }

    /// The metric of a name, `e2el` (as other tools write it) and hyphens included.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.replace('-', "_");
        if name == "e2el" {
            return Some(Self::E2e);
        }
        Self::ALL.into_iter().find(|metric| metric.name() == name)
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            metric,
            percentile,
            at_most,
        } = self;
        match percentile {
            Some(p) => write!(f, "{metric}:p{p}<{}", exact(*at_most, "")),
            None => write!(f, "{metric}<{}", exact(*at_most, "")),
        }
    }
}

impl Bound {
    /// For people: `TTFT p95 ≤ 500 ms`.
    pub fn pretty(&self) -> String {
        let percentile = self
            .percentile
            .map(|p| format!(" p{p}"))
            .unwrap_or_default();
        format!(
            "{}{percentile} ≤ {}",
            self.metric.label(),
            exact(self.at_most, " ")
        )
    }
}

impl fmt::Display for Slo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for bound in &self.bounds {
            write!(f, "{bound} ")?;
        }
        if let Some(share) = self.error_rate {
            write!(f, "{} ", error_rate(share))?;
        }
        write!(f, "attain>={}", percent(self.attainment))
    }
}

impl Slo {
    /// For people: `TTFT p95 ≤ 500 ms, TPOT p95 ≤ 50 ms, 95% of requests good`.
    pub fn pretty(&self) -> String {
        let mut parts: Vec<String> = self.bounds.iter().map(Bound::pretty).collect();
        parts.extend(
            self.error_rate
                .map(|share| format!("error rate ≤ {}", percent(share))),
        );
        parts.push(format!("{} of requests good", percent(self.attainment)));
        parts.join(", ")
    }

    /// What a reader should know before trusting verdicts by this SLO; whole sentences, usually none.
    pub fn warnings(&self) -> Vec<String> {
        self.bounds
            .iter()
            .filter_map(|bound| {
                let percentile = bound.percentile.filter(|p| p / 100.0 + 0.1 < self.attainment)?;
                Some(format!(
                    "{} is bound at p{percentile}, but a request is good only when it keeps {} itself: an engine that just \
                     keeps this bound makes about {percentile}% of requests good, fewer than the {} asked for.",
                    bound.metric.label(),
                    exact(bound.at_most, " "),
                    percent(self.attainment),
                ))
            })
            .collect()
    }
}

/// The canonical text of an error-rate bound.
pub(super) fn error_rate(share: f64) -> String {
    format!("error_rate<{}", percent(share))
}

/// A span without loss, in the unit that makes it shortest.
fn exact(nanos: Nanos, space: &str) -> String {
    let (unit, size) = match nanos.0 {
        n if n.is_multiple_of(1_000_000_000) => ("s", 1_000_000_000),
        n if 1_000_000 <= n => ("ms", 1_000_000),
        _ => ("us", 1_000),
    };
    let whole = nanos.0 / size;
    let digits = (size as f64).log10().round() as usize;
    let rest = format!("{:0digits$}", nanos.0 % size);
    let rest = rest.trim_end_matches('0');
    let dot = if rest.is_empty() { "" } else { "." };
    format!("{whole}{dot}{rest}{space}{unit}")
}

/// A share as a percentage that reads back to the same number; as a fraction where no percentage does.
fn percent(share: f64) -> String {
    let rounded = (share * 1e14).round() / 1e12;
    [rounded, share * 100.0]
        .into_iter()
        .find(|percent| percent / 100.0 == share && *percent <= 100.0)
        .map_or_else(|| share.to_string(), |percent| format!("{percent}%"))
}
