//! Each metric's distribution: first as ECDF, which has no bins to argue about, then as histogram on the same axis.

mod ecdf; // shares up to each value
mod histogram; // counts in bins

use std::borrow::Cow;

use measure::request::RequestRecord;
use measure::slo::{Metric, Slo};
use measure::summary::Summary;
use measure::units::Nanos;

use super::axis::Scale;
use super::part::{Part, gaps};
use crate::ui::format;
use crate::ui::html::{Html, heads, html, table};
use crate::words;

/// Metrics in the order of their pictures. What begins at the send is drawn as sent and as scheduled, in one.
const METRICS: [Metric; 6] = [
    Metric::Ttft,
    Metric::Tpot,
    Metric::Itl,
    Metric::E2e,
    Metric::Stall,
    Metric::Ttfa,
];
/// Percentiles of the table.
const PERCENTILES: [f64; 9] = [1.0, 5.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9];

/// Values of a metric: of requests that succeeded in nanoseconds, rising, and how many failed, which stand as infinity.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    /// Rising.
    pub finite: Vec<u64>,
    /// Failures.
    pub failed: usize,
}

impl Values {
    /// Of a part's requests, as [`measure::summary::summarize`] takes them.
    pub fn of(part: &Part<'_>, metric: Metric) -> Self {
        let ok = part.scored().filter(|it| it.1.is_ok());
        let mut finite: Vec<u64> = Vec::new();
        match metric {
            Metric::Itl => {
                let paced = ok.filter(|it| !it.1.is_single_burst());
                paced.for_each(|it| finite.extend(gaps(part.of.arrivals(it.0))));
            }
            // A walk over all events of a request, which its score has behind it.
            Metric::Stall => finite.extend(ok.filter_map(|it| it.2.stall).map(|it| it.0)),
            metric => {
                let of = value(metric);
                finite.extend(ok.filter_map(|it| of(it.1)).map(|it| it.0));
            }
        }
        let failed = part.records().filter(|it| !it.is_ok()).count();
        finite.sort_unstable();
        Self { finite, failed }
    }

    /// All of them.
    pub fn len(&self) -> usize {
        self.finite.len() + self.failed
    }

    /// How many are at most so long.
    pub fn up_to(&self, nanos: u64) -> usize {
        self.finite.partition_point(|it| *it <= nanos)
    }

    /// Gaps of all that the stored figures are of: sorted once.
    fn of_gaps<'a>(part: &'a Part<'_>) -> Cow<'a, Self> {
        if part.windowed {
            return Cow::Owned(Self::of(part, Metric::Itl));
        }
        let gaps = &part.of.gaps;
        Cow::Borrowed(gaps.get_or_init(|| Self::of(part, Metric::Itl)))
    }

    /// A percentile, as [`measure::quantile::percentile_linear`] has it; `None` for infinity.
    fn at(&self, p: f64) -> Option<Nanos> {
        let position = (self.len().checked_sub(1)?) as f64 * p / 100.0;
        let (below, share) = (position.floor() as usize, position.fract());
        let low = *self.finite.get(below)? as f64;
        if share == 0.0 {
            return Some(Nanos(low as u64));
        }
        let high = *self.finite.get(below + 1)? as f64;
        Some(Nanos((low * (1.0 - share) + high * share).round() as u64))
    }
}

/// A percentile of rising values, as [`measure::quantile::percentile_linear`] has it.
pub(super) fn percentile(values: &[u64], p: f64) -> Option<Nanos> {
    let position = (values.len().checked_sub(1)?) as f64 * p / 100.0;
    let (below, share) = (position.floor() as usize, position.fract());
    let low = *values.get(below)? as f64;
    let high = values.get(below + 1).map_or(low, |it| *it as f64);
    Some(Nanos((low * (1.0 - share) + high * share).round() as u64))
}

/// A request's value of a metric that has one a request.
fn value(metric: Metric) -> fn(&RequestRecord) -> Option<Nanos> {
    match metric {
        Metric::Ttft => RequestRecord::ttft,
        Metric::Ttfa => RequestRecord::ttfa,
        Metric::ScheduledTtft => RequestRecord::scheduled_ttft,
        Metric::ScheduledTtfa => RequestRecord::scheduled_ttfa,
        Metric::ScheduledE2e => RequestRecord::scheduled_e2e,
        Metric::Tpot => RequestRecord::tpot,
        Metric::Itl => RequestRecord::itl_p95,
        Metric::Stall => RequestRecord::stall,
        Metric::E2e => RequestRecord::e2e,
    }
}

/// The SLO's threshold of a metric.
pub(super) fn bound_of(slo: &Slo, metric: Metric) -> Option<Nanos> {
    let mut bounds = slo.bounds.iter().filter(|it| it.metric == metric);
    bounds.next().map(|it| it.at_most)
}

/// All metrics.
pub fn distributions(part: &Part<'_>, summary: &Summary) -> Html {
    let chunky = summary.tokens_per_chunk.is_some_and(|tokens| 1.0 < tokens);
    let ttft = Values::of(part, Metric::Ttft);
    let one = |metric: Metric| {
        let values = match metric {
            Metric::Ttft => Cow::Borrowed(&ttft),
            Metric::Itl => Values::of_gaps(part),
            metric => Cow::Owned(Values::of(part, metric)),
        };
        if metric == Metric::Ttfa && *values == ttft {
            return html!(
                r#"<p class="muted">TTFA is TTFT here: no request began with thinking.</p>"#
            );
        }
        let name = match metric {
            Metric::Itl if chunky => "ITL (chunk gap)",
            metric => words::metric_name(metric),
        };
        of_metric(part, summary, (metric, name), &values)
    };
    html!(
        r#"<section class="stack" aria-labelledby="distributions"><h2 id="distributions">Distributions</h2><p class="muted small">{}. Dots are p50, p95 and p99. Failed requests stand at infinity, so lines end below 100 %.</p><div class="chart-grid">{}</div></section>"#,
        part.words(),
        METRICS.into_iter().map(one).collect::<Html>()
    )
}

fn of_metric(
    part: &Part<'_>,
    summary: &Summary,
    (metric, name): (Metric, &str),
    values: &Values,
) -> Html {
    let name = words::capital(name);
    if values.finite.is_empty() {
        return html!(
            r#"<p class="muted"><strong>{}</strong> has no value here.</p>"#,
            name
        );
    }
    let scheduled = metric.as_scheduled().map(|it| Values::of(part, it));
    let bounds = [Some(metric), metric.as_scheduled()];
    let bounds = bounds.into_iter().flatten();
    let bounds: Vec<(Metric, Nanos)> = bounds
        .filter_map(|it| Some((it, bound_of(part.slo, it)?)))
        .collect();
    let also = scheduled.iter().flat_map(ends);
    let scale = Scale::of_latencies(
        ends(values)
            .into_iter()
            .chain(also)
            .collect::<Vec<_>>()
            .into_iter(),
    );
    let told = told(part, values, (metric, scheduled.is_some()), &bounds);
    let shown = ecdf::Shown {
        name: &name,
        values,
        scheduled: scheduled.as_ref(),
        distribution: summary.of(metric),
        bounds: &bounds,
    };
    html!(
        r#"<figure class="stack tight"><figcaption><strong>{}</strong> in {}. {}</figcaption><div class="lane-plot">{}</div><div class="lane-plot">{}</div><details class="as-text"><summary>As a table<span class="sr-only">: {}</span></summary><div class="scroll-x" tabindex="0" role="region" aria-label="{} as a table">{}</div></details></figure>"#,
        name,
        scale.words(),
        told,
        ecdf::ecdf(&shown, &scale),
        histogram::histogram(&name, values, &scale, &bounds),
        name,
        name,
        as_table(&name, values, scheduled.as_ref())
    )
}

/// The shortest and the longest: what an axis has to hold.
fn ends(values: &Values) -> Vec<u64> {
    let positive = values.finite.iter().find(|it| 0 < **it);
    let ends = [values.finite.first(), positive, values.finite.last()];
    ends.into_iter().flatten().copied().collect()
}

/// How many keep the bound, and how many there are.
fn told(
    part: &Part<'_>,
    values: &Values,
    (metric, twice): (Metric, bool),
    bounds: &[(Metric, Nanos)],
) -> Html {
    let what = if metric == Metric::Itl {
        "gaps"
    } else {
        "requests"
    };
    let of = format::count(values.len() as u64);
    let kept: Vec<String> = bounds
        .iter()
        .filter(|it| it.0 == metric)
        .map(|(_, at_most)| {
            let kept = values.up_to(at_most.0);
            let share = format::percent(kept as f64 / values.len().max(1) as f64);
            format!("{share} at most {}", words::threshold(*at_most))
        })
        .collect();
    let failed = match values.failed {
        0 => String::new(),
        failed => format!(", {failed} of them failed"),
    };
    let lines = twice.then(|| {
        Html::literal(
            r#" <svg width="20" height="8" aria-hidden="true"><path class="flight" d="M0 4H20"/></svg> as sent, <svg width="20" height="8" aria-hidden="true"><path class="waits" d="M0 4H20"/></svg> as scheduled."#,
        )
    });
    let window = if part.windowed { " in the window" } else { "" };
    html!(
        "{} {}{}{}.{}{}",
        of,
        what,
        window,
        failed,
        kept.first().map(|it| format!(" {it}.")),
        lines
    )
}

fn as_table(name: &str, values: &Values, scheduled: Option<&Values>) -> Html {
    let at = |values: &Values, p: f64| {
        values
            .at(p)
            .map_or_else(|| "∞".to_owned(), |it| it.to_string())
    };
    let row = |p: f64| {
        let second = scheduled.map(|it| html!(r#"<td class="num">{}</td>"#, at(it, p)));
        html!(
            r#"<tr><th scope="row">p{}</th><td class="num">{}</td>{}</tr>"#,
            p.to_string(),
            at(values, p),
            second
        )
    };
    let longest = values.finite.last().map(|it| Nanos(*it).to_string());
    let second = scheduled.map(|it| {
        let longest = it.finite.last().map(|it| Nanos(*it).to_string());
        html!(r#"<td class="num">{}</td>"#, longest)
    });
    let last = html!(
        r#"<tr><th scope="row">longest that succeeded</th><td class="num">{}</td>{}</tr>"#,
        longest,
        second
    );
    let first = format!("#of {}", format::count(values.len() as u64));
    let names = ["percentile", &first, "#as scheduled"];
    let names = &names[..if scheduled.is_some() { 3 } else { 2 }];
    let rows = PERCENTILES.into_iter().map(row).chain([last]).collect();
    table("", name, heads(names.iter().copied()), rows)
}

#[cfg(test)]
mod tests {
    use measure::quantile::percentile_linear;

    use super::super::tests::{point, whole};
    use super::*;

    #[test]
    fn values_are_those_of_the_summary() {
        let point = point(40);
        let view = whole();
        let part = point.part(&view);
        let summary = part.summary();
        for metric in Metric::ALL {
            let values = Values::of(&part, metric);
            let distribution = summary.of(metric);
            assert_eq!(values.len(), distribution.count as usize, "{metric}");
            for p in [50.0, 95.0, 99.0] {
                let theirs = distribution.at(p).and_then(|it| it.value);
                assert_eq!(values.at(p), theirs, "{metric} p{p}");
            }
        }
        let plain = Values {
            finite: vec![1, 2, 10],
            failed: 0,
        };
        let expected = percentile_linear(&[1.0, 2.0, 10.0], 75.0);
        assert_eq!(plain.at(75.0).map(|it| it.0 as f64), expected);
        assert_eq!(
            Values {
                finite: vec![],
                failed: 0
            }
            .at(50.0),
            None
        );
    }

    #[test]
    fn a_percentile_lies_between_two_values() {
        let values = [1, 3, 5, 7, 100];
        let sorted = [1.0, 3.0, 5.0, 7.0, 100.0];
        for p in [0.0, 25.0, 50.0, 95.0, 99.0, 100.0] {
            let expected = percentile_linear(&sorted, p).map(|it| Nanos(it.round() as u64));
            assert_eq!(percentile(&values, p), expected, "p{p}");
        }
        assert_eq!(percentile(&[], 50.0), None);
    }

    #[test]
    fn each_metric_is_drawn_with_its_bound_and_its_table() {
        let point = point(40);
        let view = whole();
        let part = point.part(&view);
        let html = distributions(&part, &part.summary()).into_string();
        assert_eq!(html.matches("aria-label=\"ECDF of").count(), 5, "{html}");
        assert_eq!(html.matches("aria-label=\"Histogram of").count(), 5);
        assert!(html.contains("TTFA is TTFT here"), "{html}");
        assert!(html.contains("TTFT ≤ 500 ms"), "{html}");
        assert!(
            html.contains("95\u{202f}% at most 500 ms"),
            "two of forty failed: {html}"
        );
        assert!(html.contains("as scheduled"));
        assert!(!html.contains("NaN") && !html.contains("inf%"));
    }
}
