//! A point by other tools' rules, as the page shows it: drawn by the server, so that browsers get it ready-made.

use measure::rules::{NOTE, Row, Table};
use uuid::Uuid;

use crate::ui::html::{Html, heads, html, table};

/// The whole panel: a table for each tool, all folded; where there are none, the point is too large for a page.
pub fn panel(point: Uuid, tables: &[Table]) -> String {
    let each: Html = if tables.is_empty() {
        html!("<p>This point has too many tokens to be told anew for every view of the page.</p>")
    } else {
        tables.iter().map(of_tool).collect()
    };
    let panel = html!(
        r#"<section class="stack" id="rules"><h2>Under other tools' rules</h2><p class="muted">What other tools would have said of these very requests, beside what is said above, and why. {}.</p>{}<p class="row"><a class="button" href="/api/v1/points/{}/rules" rel="external">All of it as JSON</a></p></section>"#,
        NOTE,
        each,
        point.to_string(),
    );
    panel.into_string()
}

fn of_tool(told: &Table) -> Html {
    let differing = told.rows.iter().filter(|row| !row.reads_the_same()).count();
    let rows: Html = told.rows.iter().map(row).collect();
    let heads = heads(["metric", "#ours", "#theirs", "why they differ"]);
    html!(
        r#"<details class="as-text"><summary>{} <span class="muted">differs in {} of {}</span></summary><div class="scroll-x" tabindex="0">{}</div></details>"#,
        told.title,
        differing.to_string(),
        told.rows.len().to_string(),
        table("", &format!("By the rules of {}", told.title), heads, rows)
    )
}

fn row(row: &Row) -> Html {
    let percentiles = (row.ours.values().len() == 3).then(|| "p50 / p95 / p99".to_owned());
    let detail: Vec<String> = percentiles
        .into_iter()
        .chain((!row.unit.is_empty()).then(|| row.unit.clone()))
        .collect();
    let why = if row.reads_the_same() {
        "the same"
    } else {
        &row.why
    };
    html!(
        r#"<tr><th scope="row">{} <span class="muted">{}</span></th><td class="num">{}</td><td class="num">{}</td><td>{}</td></tr>"#,
        row.metric,
        detail.join(", "),
        row.ours.text(),
        row.theirs.text(),
        why
    )
}

#[cfg(test)]
mod tests {
    use measure::rules::Figures;

    use super::*;

    fn table(same: bool) -> Table {
        Table {
            tool: "vllm".into(),
            title: "vllm <bench>".into(),
            rows: vec![Row {
                metric: "TTFT".into(),
                unit: "ms".into(),
                ours: Figures::Three([Some(181.0), Some(365.2), Some(f64::INFINITY)]),
                theirs: Figures::Three([Some(181.0), Some(365.2), None]),
                same,
                why: "Failures are left out".into(),
            }],
        }
    }

    #[test]
    fn a_figure_stands_beside_the_own_and_says_why_it_differs() {
        let html = panel(Uuid::nil(), &[table(false)]);
        for part in [
            "vllm &lt;bench&gt;",
            "differs in 1 of 1",
            "p50 / p95 / p99, ms",
            "181 / 365 / unbounded",
            "181 / 365 / –",
            "<td>Failures are left out</td>",
            "/api/v1/points/00000000-0000-0000-0000-000000000000/rules",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    #[test]
    fn a_point_too_large_for_a_page_says_where_it_is_told() {
        let html = panel(Uuid::nil(), &[]);
        assert!(
            html.contains("too many tokens") && html.contains("/rules\""),
            "{html}"
        );
    }

    #[test]
    fn what_reads_the_same_differs_in_no_row() {
        let mut told = table(false);
        told.rows[0].ours = Figures::One(Some(181.2));
        told.rows[0].theirs = Figures::One(Some(181.3));
        let html = panel(Uuid::nil(), &[told]);
        assert!(
            html.contains("differs in 0 of 1") && html.contains("<td>the same</td>"),
            "{html}"
        );
    }

    #[test]
    fn a_figure_that_agrees_needs_no_reason() {
        let html = panel(Uuid::nil(), &[table(true)]);
        assert!(html.contains("<td>the same</td>") && html.contains("differs in 0 of 1"));
    }
}
