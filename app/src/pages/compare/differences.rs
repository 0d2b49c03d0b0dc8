//! At equal rate: what the difference did to latencies and attainment.

use measure::compare::{Comparison, Difference, Verdict};
use measure::knobs::Comparability;
use measure::slo::Metric;
use measure::units::Level;

use super::{name_of, unit};
use crate::studio::{CompareView, PairComparison};
use crate::ui::html::{Html, heads, html, missing, table};
use crate::words;

/// Every difference at each rate that both have.
pub fn at_equal_rate(compared: &CompareView) -> Html {
    let pairs = compared.pairs.iter();
    let tables: Html = pairs.map(|pair| table_of(compared, pair)).collect();
    html!(
        r#"<section class="stack" aria-labelledby="equal-rate-heading"><h2 id="equal-rate-heading">At equal rate</h2><p class="muted small">Candidate over baseline − 1 with the interval that its verdict goes by. For latencies less is better; attainment in percentage points. Point at a difference, go to it with Tab and the arrow keys, or touch it for what was paired, or for why it is not yet judged.</p><div class="stack">{}</div></section>"#,
        tables
    )
}

/// Rates down, metrics across.
fn table_of(compared: &CompareView, pair: &PairComparison) -> Html {
    if pair.latencies.is_empty() && pair.attainment.is_empty() {
        let why = match pair.comparability {
            _ if !super::unmeasured(compared, pair).is_empty() => "not both are measured yet",
            Comparability::Confounded { .. } => "the verdict is withheld",
            _ => "no rate that both have",
        };
        return html!(
            r#"<p class="muted">{}: {}.</p>"#,
            name_of(compared, pair.candidate as usize),
            why
        );
    }
    let metrics = metrics(&pair.latencies);
    let mut names = vec![
        format!("#rate ({})", unit(compared)),
        "#?attainment@attainment".to_owned(),
    ];
    let mut before = None;
    names.extend(metrics.iter().map(|(metric, percentile)| {
        let name = words::metric_name(*metric);
        match before.replace(*metric) == Some(*metric) {
            true => format!("#{name} p{percentile}"),
            false => format!("#{} p{percentile}", words::terms::metric_term(*metric)),
        }
    }));
    let rows = levels(pair)
        .into_iter()
        .map(|level| row(level, pair, &metrics))
        .collect();
    let caption = format!(
        "{} against {}",
        name_of(compared, pair.candidate as usize),
        name_of(compared, 0)
    );
    let heading = (1 < compared.pairs.len()).then(|| html!("<h3>{}</h3>", caption));
    let table = table(
        "differences",
        &caption,
        heads(names.iter().map(String::as_str)),
        rows,
    );
    let said = |text: &String| html!(r#"<p class="muted small">{}</p>"#, text);
    let said: Html = pair.said.iter().map(said).collect();
    html!(
        r#"{}<div class="scroll-x" tabindex="0">{}</div>{}"#,
        heading,
        table,
        said
    )
}

/// Each metric and percentile once, in the order in which they come.
fn metrics(latencies: &[Comparison]) -> Vec<(Metric, f64)> {
    let mut found = Vec::new();
    for one in latencies {
        if !found.contains(&(one.metric, one.percentile)) {
            found.push((one.metric, one.percentile));
        }
    }
    found
}

/// Each level once, in the order in which they come.
fn levels(pair: &PairComparison) -> Vec<Level> {
    let all = pair.attainment.iter().map(|(level, ..)| *level);
    let mut found = Vec::new();
    for level in all.chain(pair.latencies.iter().map(|one| one.level)) {
        if !found.contains(&level) {
            found.push(level);
        }
    }
    found
}

fn row(level: Level, pair: &PairComparison, metrics: &[(Metric, f64)]) -> Html {
    let attainment =
        pair.attainment
            .iter()
            .find(|(one, ..)| *one == level)
            .map(|(_, difference, verdict)| {
                cell(
                    difference.as_ref().map(words::difference_in_points),
                    (verdict, words::verdict_in_points(verdict)),
                    &detail(difference.as_ref(), None),
                )
            });
    let latency = |(metric, percentile): &(Metric, f64)| {
        let found = pair.latencies.iter().find(|one| {
            one.level == level && one.metric == *metric && one.percentile == *percentile
        });
        found.map_or_else(nothing, |one| {
            cell(
                one.difference.as_ref().map(words::difference),
                (&one.verdict, words::verdict(&one.verdict)),
                &detail(one.difference.as_ref(), one.remark.as_deref()),
            )
        })
    };
    let latencies: Html = metrics.iter().map(latency).collect();
    html!(
        r#"<tr><th scope="row" class="num">{}</th>{}{}</tr>"#,
        level.to_string(),
        attainment.unwrap_or_else(nothing),
        latencies
    )
}

fn nothing() -> Html {
    html!(
        r#"<td class="num">{}</td>"#,
        missing("Not compared at this rate.")
    )
}

fn cell(difference: Option<String>, (verdict, words): (&Verdict, String), detail: &str) -> Html {
    let Some(difference) = difference else {
        return html!(
            r#"<td class="num"><abbr class="verdict small" title="{}">not yet judged</abbr></td>"#,
            words::capital(&words)
        );
    };
    let (tone, word) = word_of(verdict);
    let title = format!("{words}; {detail}");
    html!(
        r#"<td class="num" title="{}"><span>{}</span><span class="verdict small" data-tone="{}">{}</span></td>"#,
        title,
        difference,
        tone,
        word
    )
}

/// A verdict's tone and word.
pub(super) fn word_of(verdict: &Verdict) -> (&'static str, &'static str) {
    match verdict {
        Verdict::Better => ("good", "better"),
        Verdict::Worse => ("bad", "worse"),
        Verdict::NoDifference { .. } => ("plain", "none we can see"),
        Verdict::CannotTell { .. } => ("plain", "cannot tell"),
        Verdict::NotYetJudged { .. } => ("plain", "not yet judged"),
    }
}

fn detail(difference: Option<&Difference>, remark: Option<&str>) -> String {
    let pairs = difference.map(|difference| match difference.pairs {
        0 => "two samples, not paired".to_owned(),
        pairs => format!("{pairs} pairs of sessions"),
    });
    [pairs, remark.map(str::to_owned)]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join("; ")
}
