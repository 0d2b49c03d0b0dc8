//! What a chart says in words: what hovers over a mark, the titles of its axes, the notes under it.

use super::marks::fill;
use super::*;
use crate::url_state::is_scheduled;

pub(super) fn hover(point: &PointView, axes: Axes, unit: &str) -> String {
    let Some(summary) = &point.summary else {
        return String::new();
    };
    let mut parts = vec![level_words(point.level, unit)];
    if let Upward::Latency(metric, percentile) = axes.upward {
        let (distribution, name) = (summary.of(metric), words::metric_name(metric));
        let estimate = percentile.of(distribution);
        let detail = words::estimate_detail(estimate, distribution);
        parts.push(format!(
            "{name} {} {} ({detail})",
            percentile.name(),
            estimate.map_or("–".into(), format::latency_value)
        ));
    }
    if let Some(tokens) = summary.output_tokens_per_s {
        parts.push(format!("{} output tok/s", format::number(tokens)));
    }
    if let Some(share) = point
        .judgement
        .as_ref()
        .and_then(|judgement| judgement.attainment)
    {
        parts.push(format!(
            "{} good ({} to {})",
            format::percent(share.value),
            format::percent(share.lo),
            format::percent(share.hi)
        ));
    }
    match &summary.capacity {
        Capacity::Above { why } => parts.push(format!("above capacity: {why}")),
        Capacity::Within | Capacity::Unknown => {}
    }
    match fill(point) {
        Fill::Solid => {}
        Fill::Half => parts.push("suspect: the client may have added to this".into()),
        Fill::Hollow => parts.push("void: the client was not innocent".into()),
    }
    parts.join("; ")
}

/// A level in words: `8 sessions/s`, `everything at once`, `16 streams`, `2 times its speed`.
pub fn level_words(level: Level, unit: &str) -> String {
    match level {
        Level::Rate(rate) => format!("{} {unit}", format::number(rate.per_second())),
        Level::Inf => "everything at once".into(),
        Level::Concurrency(streams) => words::count(streams as usize, "stream"),
        Level::Replay(speed) => format!("{} times its speed", format::number(speed.factor())),
    }
}

pub(super) fn upward_title(upward: Upward) -> String {
    match upward {
        Upward::Latency(metric, percentile) => {
            format!("{} {} (ms)", words::metric_name(metric), percentile.name())
        }
        Upward::Attainment => "good requests (%)".into(),
        Upward::Goodput => "good output tokens per second (tok/s)".into(),
    }
}

pub(super) fn across_title(axes: Axes, unit: &str) -> String {
    match axes.across {
        Across::OutputTokens => "output tokens per second (tok/s)".into(),
        Across::Offered => format!("offered rate ({unit})"),
        Across::Completed => "completed requests per second (req/s)".into(),
        Across::PerGpu => "output tokens per second and GPU (tok/s)".into(),
        Across::PerUser => format!(
            "output tokens per second of one user: 1 / TPOT {} (tok/s)",
            axes.percentile().name()
        ),
    }
}

pub(super) fn title(axes: Axes, unit: &str) -> String {
    format!(
        "{} against {}",
        upward_title(axes.upward),
        across_title(axes, unit)
    )
}

/// What was met while the marks were made.
#[derive(Default)]
pub(super) struct Notes {
    pub(super) zeros: usize,
    pub(super) without_x: usize,
    pub(super) without_gpus: Vec<String>,
    pub(super) thinks: bool,
    pub(super) above: bool,
    pub(super) infinite: bool,
    pub(super) edge: bool,
    pub(super) half: bool,
    pub(super) hollow: bool,
}

impl Notes {
    pub(super) fn see(&mut self, place: Place, fill: Fill) {
        self.above |= place == Place::Above;
        self.infinite |= place == Place::Infinite;
        self.edge |= place == Place::RightEdge;
        self.half |= fill == Fill::Half;
        self.hollow |= fill == Fill::Hollow;
    }

    pub(super) fn sentences(&self, axes: Axes) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.without_gpus.is_empty() {
            let (names, it) = match &self.without_gpus[..] {
                [one] => (format!("{one} is"), "it has"),
                more => (format!("{} are", more.join(", ")), "they have"),
            };
            notes.push(format!("{names} left out: nobody says how many GPUs {it}. State it in the fact “hardware”, as “2x H100”: in studio.toml, where the engine is added, or under Recorded."));
        }
        let metric = match axes.upward {
            Upward::Latency(metric, _) => Some(metric),
            Upward::Attainment | Upward::Goodput => None,
        };
        if metric.is_some_and(is_scheduled) {
            notes.push("Counted from when each request was due, not from when it was sent: a late client's own share is in it.".into());
        }
        if metric.map(Metric::as_sent) == Some(Metric::Ttfa) && !self.thinks {
            notes.push(
                "No thinking was seen: the first answer token is the first token, so TTFA is TTFT."
                    .into(),
            );
        }
        if self.above {
            notes.push("↑ above capacity: the engine fell behind or refused requests, so there is a direction and no value.".into());
        }
        if self.infinite {
            notes.push("∞ failures make this percentile infinite.".into());
        }
        if self.edge {
            notes.push(
                "◆ everything at once (inf) is another experiment and no part of the curve.".into(),
            );
        }
        if self.half {
            notes.push("◐ suspect: the client may have added to it.".into());
        }
        if self.hollow {
            notes.push("○ void: the client was not innocent; used for nothing.".into());
        }
        if self.zeros > 0 {
            notes.push(format!(
                "{} at zero left out: a logarithmic axis has no zero.",
                words::count(self.zeros, "point")
            ));
        }
        if self.without_x > 0 {
            notes.push(format!(
                "{} left out: no value on the horizontal axis.",
                words::count(self.without_x, "point")
            ));
        }
        notes
    }
}
