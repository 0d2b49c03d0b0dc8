//! A request's figures, each with how it is counted and what the SLO says of it.

use measure::request::RequestRecord;
use measure::score::Score;
use measure::slo::{Metric, value};
use measure::units::Nanos;

use crate::requests::distributions::bound_of;
use crate::requests::part::Part;
use crate::requests::view::seconds;
use crate::ui::html::{Html, heads, html, missing, table};
use crate::words;

/// The table.
pub fn section(part: &Part<'_>, record: &RequestRecord, score: &Score) -> Html {
    let moments = [
        ("Due", Some(record.scheduled), "The intended start."),
        (
            "Sent",
            record.sent,
            "Just before the request was handed to the connection.",
        ),
        (
            "Headers",
            record.headers,
            "When the response's headers had been read. Never called TTFT.",
        ),
        (
            "Finish reason",
            record.finish,
            "When the event with the finish reason arrived.",
        ),
        (
            "End",
            record.end,
            "When the stream ended, or the failure was noticed.",
        ),
    ];
    let moment = |(name, at, about): (&str, Option<Nanos>, &str)| {
        let at = at.map(|it| format!("{} s", seconds(it)));
        row(name, at, about, Html::default())
    };
    let lag = record.dispatch_lag().map(|it| it.to_string());
    let lag = row(
        "Dispatch lag",
        lag,
        "Sent − due: what the client itself added.",
        Html::default(),
    );
    let metrics = Metric::ALL
        .into_iter()
        .map(|metric| of_metric(part, score, metric));
    let rows: Html = moments
        .into_iter()
        .map(moment)
        .chain([lag])
        .chain(metrics)
        .collect();
    html!(
        r#"<section class="stack" aria-labelledby="figures"><h2 id="figures">Figures</h2><div class="scroll-x" tabindex="0" role="region" aria-label="Figures as a table">{}</div></section>"#,
        table(
            "",
            "Figures of this request",
            heads(["figure", "#value", "SLO", "how it is counted"]),
            rows
        )
    )
}

fn row(name: &str, value: Option<String>, about: &str, slo: Html) -> Html {
    let value = value.map_or_else(|| missing("It has no value."), |it| html!("{}", it));
    html!(
        r#"<tr><th scope="row">{}</th><td class="num">{}</td><td>{}</td><td>{}</td></tr>"#,
        name,
        value,
        slo,
        about
    )
}

fn of_metric(part: &Part<'_>, score: &Score, metric: Metric) -> Html {
    let found = value(score, metric);
    let slo = bound_of(part.slo, metric).map(|at_most| {
        let words = match found {
            Some(found) if at_most < found => "broken",
            Some(_) => "kept",
            None => "cannot tell",
        };
        html!("≤ {}: {}", words::threshold(at_most), words)
    });
    let name = match metric {
        Metric::Itl => "ITL, its own p95 gap".to_owned(),
        metric => words::capital(words::metric_name(metric)),
    };
    row(
        &name,
        found.map(|it| it.to_string()),
        definition(metric),
        slo.unwrap_or_default(),
    )
}

/// How a metric is counted.
fn definition(metric: Metric) -> &'static str {
    match metric {
        Metric::Ttft => "Time to first token: first token-bearing event − sent. Thinking counts.",
        Metric::Ttfa => {
            "Time to first answer token: first token-bearing event that is not thinking − sent."
        }
        Metric::ScheduledTtft => {
            "First token-bearing event − due: the client's own lateness is part of it."
        }
        Metric::ScheduledTtfa => {
            "First token-bearing event that is not thinking − due: the client's own lateness is part of it."
        }
        Metric::ScheduledE2e => "The end as of E2E − due: the client's own lateness is part of it.",
        Metric::Tpot => {
            "Time per output token: (E2E − TTFT) / (tokens − 1). No value below two tokens, or where all came in one burst."
        }
        Metric::Itl => {
            "Inter-token latency: gaps between token-bearing events. For one request its own p95 counts."
        }
        Metric::Stall => "The longest gap within the request.",
        Metric::E2e => {
            "End to end: later of the last token-bearing event and the event with the finish reason, − sent."
        }
    }
}
