//! The figures of the window, beside those that are stored.

use measure::quantile::{Distribution, Estimate};
use measure::slo::{Judgement, Metric};
use measure::summary::{Capacity, Summary};

use super::part::Part;
use crate::ui::format;
use crate::ui::html::{Html, heads, html, missing, table, terms};
use crate::words;

/// Metrics in the order of the table.
const METRICS: [Metric; 9] = [
    Metric::Ttft,
    Metric::ScheduledTtft,
    Metric::Ttfa,
    Metric::ScheduledTtfa,
    Metric::Tpot,
    Metric::Itl,
    Metric::Stall,
    Metric::E2e,
    Metric::ScheduledE2e,
];

/// How the table is read.
const LEGEND: &str = "In brackets: the 95 % interval; (≥ …) has no upper end, because too few requests reach that far. Requests that follow each other fare alike, so n of them say as much as fewer that are independent of each other: intervals go by those.";

/// Latencies, and the verdict by the SLO.
pub fn figures(part: &Part<'_>, summary: &Summary) -> Html {
    let judgement = part.judgement(summary);
    let told = told(part, summary, &judgement);
    let kept = (part.windowed || part.view.slo.is_some())
        .then(|| stored(part))
        .flatten();
    html!(
        r#"<section class="stack" aria-labelledby="latencies"><h2 id="latencies">Latencies</h2><p><strong>{}.</strong> {}</p>{}<div class="scroll-x" tabindex="0" role="region" aria-label="Latencies as a table">{}</div><p class="small muted">{}</p></section>"#,
        part.words(),
        told,
        kept,
        latencies(summary),
        LEGEND
    )
}

/// What the window's requests came to.
fn told(part: &Part<'_>, summary: &Summary, judgement: &Judgement) -> String {
    let by = if part.view.slo.is_some() {
        "the tried SLO"
    } else {
        "the study's SLO"
    };
    let share = judgement
        .attainment
        .as_ref()
        .map_or("–".into(), format::proportion);
    let rate = summary
        .output_tokens_per_s
        .map_or("–".into(), format::number);
    let mut parts = vec![
        format!("{share} good by {by} ({})", part.slo.pretty()),
        format!("by attainment: {}", words::keeps(judgement.by_attainment)),
        format!("by percentile: {}", words::keeps(judgement.by_percentile)),
        format!("{rate} output tok/s"),
    ];
    if let (true, Capacity::Above { why }) = (part.windowed, &summary.capacity) {
        parts.push(format!(
            "above capacity within it: {}",
            why.trim_end_matches('.')
        ));
    }
    let wide = words::stretches(judgement).unwrap_or_default();
    format!("{}.{wide}", words::capital(&parts.join("; ")))
}

/// What is stored, which no window and no tried SLO changes.
fn stored(part: &Part<'_>) -> Option<Html> {
    let (summary, judgement) = part.of.stored.as_ref()?;
    let share = judgement
        .attainment
        .as_ref()
        .map_or("–".into(), format::proportion);
    let row = |metric: Metric| {
        let p95 = summary.of(metric).p95.as_ref();
        (
            words::capital(words::metric_name(metric)),
            p95.map_or("–".into(), |it| format!("p95 {}", format::latency(it))),
        )
    };
    let first = (
        "Good".to_owned(),
        format!(
            "{share}: by attainment {}, by percentile {}",
            words::keeps(judgement.by_attainment),
            words::keeps(judgement.by_percentile)
        ),
    );
    let rows = [Metric::Ttft, Metric::Tpot, Metric::E2e].map(row);
    Some(html!(
        r#"<div class="notice"><p>The stored judgement stays as it is, of {} requests under the study's SLO: what is chosen here annotates.</p><dl class="facts">{}</dl></div>"#,
        summary.scheduled.to_string(),
        terms([first].into_iter().chain(rows))
    ))
}

/// Each metric's percentiles with the requests behind them.
pub fn latencies(summary: &Summary) -> Html {
    let chunky = summary.tokens_per_chunk.is_some_and(|tokens| 1.0 < tokens);
    let row = |metric: Metric| {
        let distribution = summary.of(metric);
        let Distribution {
            count,
            failed,
            effective,
            p50,
            p95,
            p99,
        } = distribution;
        let name = if chunky && metric == Metric::Itl {
            "ITL (chunk gap)"
        } else {
            words::metric_name(metric)
        };
        let all = [p50, p95, p99].map(Option::as_ref);
        let texts = format::latencies(all);
        let cells: Html = all
            .into_iter()
            .zip(texts)
            .map(|(estimate, text)| latency((estimate, text), distribution))
            .collect();
        html!(
            r#"<tr><th scope="row">{}</th>{}<td class="num">{}</td><td class="num">{}</td><td class="num">{}</td></tr>"#,
            words::terms::explained(metric, &words::capital(name)),
            cells,
            format::count(u64::from(*count)),
            failed,
            format::count(effective.round() as u64)
        )
    };
    let heads = heads([
        "metric",
        "#p50",
        "#p95",
        "#p99",
        "#n",
        "#failed",
        "#?independent@effective-sample-size",
    ]);
    table(
        "",
        "Latencies",
        heads,
        METRICS.into_iter().map(row).collect(),
    )
}

fn latency(
    (estimate, text): (Option<&Estimate>, Option<String>),
    distribution: &Distribution,
) -> Html {
    let detail = words::estimate_detail(estimate, distribution);
    let value = |text: String| html!(r#"<span title="{}">{}</span>"#, detail, text);
    html!(
        r#"<td class="num">{}</td>"#,
        text.map_or_else(|| missing(&detail), value)
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::{point, whole};
    use super::super::view::View;
    use super::*;

    fn of(query: &[(&str, &str)]) -> String {
        let point = point(40);
        let view = View::read(|key| {
            let found = query.iter().find(|it| it.0 == key);
            found.map(|it| it.1.to_owned())
        });
        let part = point.part(&view);
        figures(&part, &part.summary()).into_string()
    }

    #[test]
    fn every_metric_has_its_row() {
        let html = of(&[]);
        assert_eq!(html.matches("<tr>").count(), 10, "one head, nine metrics");
        assert!(html.contains("<strong>All 40 requests.</strong>"), "{html}");
        assert!(
            !html.contains("stored judgement"),
            "nothing to hold it against"
        );
    }

    #[test]
    fn a_window_says_how_many_it_holds_and_leaves_the_stored_judgement() {
        let html = of(&[("from", "10"), ("to", "20")]);
        assert!(
            html.contains("In the window 10 s to 20 s: 10 of 40 requests."),
            "{html}"
        );
        assert!(html.contains("stays as it is, of 40 requests"), "{html}");
        assert!(html.contains("the study&#39;s SLO"), "{html}");
    }

    #[test]
    fn a_tried_slo_is_named_as_such() {
        let html = of(&[("slo", "ttft<50ms attain>=95%")]);
        assert!(html.contains("by the tried SLO (TTFT ≤ 50 ms"), "{html}");
        assert!(html.contains("good by"), "{html}");
        assert_eq!(whole(), View::default());
    }
}
