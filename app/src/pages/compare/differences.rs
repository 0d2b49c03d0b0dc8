//! What differs between the configurations, and what that did at each rate.

use crate::ui::erased::Erase;
use leptos::prelude::*;
use measure::compare::{Comparison, Difference, Verdict};
use measure::knobs::{Comparability, Differing};
use measure::slo::Metric;
use measure::units::Level;

use super::{name_of, unit};
use crate::pages::study::fact_words;
use crate::studio::{CompareView, PairComparison};
use crate::ui::badge::{Badge, CONFOUNDED};
use crate::ui::number::Missing;
use crate::words;

/// One knob, or everything that stands in a verdict's way.
#[component]
pub fn WhatDiffers(compared: StoredValue<CompareView>) -> impl IntoView {
    let tables = compared.with_value(|compared| {
        compared
            .pairs
            .iter()
            .map(|pair| what_differs(compared, pair))
            .collect_view()
    });
    view! {
        <section class="stack" aria-labelledby="differs-heading">
            <h2 id="differs-heading">"What differs"</h2>
            {tables}
        </section>
    }
    .erased()
}

fn what_differs(compared: &CompareView, pair: &PairComparison) -> AnyView {
    let (confounded, differing): (bool, Vec<Differing>) = match &pair.comparability {
        Comparability::Identical => (false, Vec::new()),
        Comparability::OneVariable { differing } => (false, vec![differing.clone()]),
        Comparability::Confounded { differing } => (true, differing.clone()),
    };
    if differing.is_empty() {
        return view! { <p class="muted">"Nothing that is known. What is unknown on both sides is assumed equal."</p> }.erased();
    }
    let row = |one: Differing| {
        view! {
            <tr class=if confounded { "confounder" } else { "differs" }>
                <th scope="row">{one.name.strip_prefix("knob:").unwrap_or(&one.name).to_owned()}</th>
                <td>{fact_words(one.baseline.as_ref())}</td>
                <td>{fact_words(one.candidate.as_ref())}</td>
            </tr>
        }
    };
    view! {
        {confounded.then(|| view! { <p class="row"><Badge word=CONFOUNDED /> <span>"The verdict is withheld."</span></p> })}
        <div class="scroll-x">
            <table class="fact-table">
                <thead>
                    <tr>
                        <th scope="col">"fact"</th>
                        <th scope="col">{name_of(compared, 0)}</th>
                        <th scope="col">{name_of(compared, pair.candidate as usize)}</th>
                    </tr>
                </thead>
                <tbody>{differing.into_iter().map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .erased()
}

/// Every difference at each rate that both have.
#[component]
pub fn AtEqualRate(compared: StoredValue<CompareView>) -> impl IntoView {
    let tables = compared.with_value(|compared| {
        compared
            .pairs
            .iter()
            .map(|pair| at_equal_rate(compared, pair))
            .collect_view()
    });
    view! {
        <section class="stack" aria-labelledby="equal-rate-heading">
            <h2 id="equal-rate-heading">"At equal rate"</h2>
            <p class="muted small">
                "Candidate over baseline − 1 with its 95 % interval, sessions paired by their prompts and starts. For latencies less is better; attainment in percentage points. A dash says on hover why there is no difference to give."
            </p>
            {tables}
        </section>
    }
    .erased()
}

/// One difference, as a cell.
#[derive(Clone)]
struct Cell {
    difference: Option<String>,
    verdict: Verdict,
    detail: String,
}

/// Rates down, metrics across.
fn at_equal_rate(compared: &CompareView, pair: &PairComparison) -> AnyView {
    if pair.latencies.is_empty() && pair.attainment.is_empty() {
        return view! { <p class="muted">"No rate that both have, or the verdict is withheld."</p> }
            .erased();
    }
    let metrics = metrics(&pair.latencies);
    let heads = metrics
        .iter()
        .map(|(metric, percentile)| format!("{} p{percentile}", words::metric_name(*metric)))
        .map(|name| view! { <th scope="col" class="num">{name}</th> })
        .collect_view();
    let rows = levels(pair)
        .into_iter()
        .map(|level| row(level, pair, &metrics))
        .collect_view();
    let caption = format!(
        "{} against {}",
        name_of(compared, pair.candidate as usize),
        name_of(compared, 0)
    );
    view! {
        <div class="scroll-x">
            <table class="differences">
                <caption class="sr-only">{caption}</caption>
                <thead>
                    <tr>
                        <th scope="col" class="num">{format!("rate ({})", unit(compared))}</th>
                        <th scope="col" class="num">"attainment"</th>
                        {heads}
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .erased()
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

fn row(level: Level, pair: &PairComparison, metrics: &[(Metric, f64)]) -> AnyView {
    let attainment = pair.attainment.iter().find(|(one, ..)| *one == level);
    let attainment = attainment.map(|(_, difference, verdict)| Cell {
        difference: difference.as_ref().map(points),
        verdict: verdict.clone(),
        detail: detail(difference.as_ref(), None),
    });
    let latency = |(metric, percentile): &(Metric, f64)| {
        let found = pair.latencies.iter().find(|one| {
            one.level == level && one.metric == *metric && one.percentile == *percentile
        });
        found.map(|one| Cell {
            difference: one.difference.as_ref().map(words::difference),
            verdict: one.verdict.clone(),
            detail: detail(one.difference.as_ref(), one.remark.as_deref()),
        })
    };
    view! {
        <tr>
            <th scope="row" class="num">{level.to_string()}</th>
            {cell(attainment)}
            {metrics.iter().map(|metric| cell(latency(metric))).collect_view()}
        </tr>
    }
    .erased()
}

fn cell(cell: Option<Cell>) -> AnyView {
    let Some(Cell {
        difference,
        verdict,
        detail,
    }) = cell
    else {
        return view! { <td class="num"><Missing reason="Not compared at this rate." /></td> }
            .erased();
    };
    let Some(difference) = difference else {
        return view! { <td class="num"><Missing reason=words::capital(&words::verdict(&verdict)) /></td> }.erased();
    };
    let (tone, word) = match &verdict {
        Verdict::Better => ("good", "better"),
        Verdict::Worse => ("bad", "worse"),
        Verdict::NoDifference { .. } => ("plain", "none we can see"),
        Verdict::NotYetJudged { .. } => ("plain", "not yet judged"),
    };
    let title = format!("{}; {detail}", words::verdict(&verdict));
    view! {
        <td class="num" title=title>
            <span>{difference}</span>
            <span class="verdict small" data-tone=tone>{word}</span>
        </td>
    }
    .erased()
}

fn detail(difference: Option<&Difference>, remark: Option<&str>) -> String {
    let pairs = difference.map(|difference| format!("{} pairs of sessions", difference.pairs));
    [pairs, remark.map(str::to_owned)]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join("; ")
}

/// A difference of shares in percentage points.
fn points(difference: &Difference) -> String {
    let point = |value: f64| format!("{:+.1}", value * 100.0).replace('-', "−");
    format!(
        "{} points ({} to {})",
        point(difference.relative),
        point(difference.lo),
        point(difference.hi)
    )
}
