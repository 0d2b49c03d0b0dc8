//! What differs between the configurations, and what that did at each rate.

use leptos::prelude::*;
use crate::ui::erased::Erase;
use measure::compare::{Comparison, Difference, Verdict};
use measure::knobs::{Comparability, Differing};

use super::{name_of, unit};
use crate::chart::level_words;
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
                "Candidate over baseline − 1 with its 95 % interval, sessions paired by their prompts and starts. For latencies less is better; attainment in percentage points."
            </p>
            {tables}
        </section>
    }
    .erased()
}

fn at_equal_rate(compared: &CompareView, pair: &PairComparison) -> AnyView {
    let unit = unit(compared);
    let latency = |one: &Comparison| {
        let metric = format!("{} p{}", words::metric_name(one.metric), one.percentile);
        row(
            level_words(one.level, unit),
            metric,
            one.difference.as_ref().map(words::difference),
            pairs(one.difference.as_ref()),
            &one.verdict,
            one.remark.clone(),
        )
    };
    let attainment = pair.attainment.iter().map(|(level, difference, verdict)| {
        let text = difference.as_ref().map(points);
        row(
            level_words(*level, unit),
            "attainment".into(),
            text,
            pairs(difference.as_ref()),
            verdict,
            None,
        )
    });
    let rows = attainment
        .chain(pair.latencies.iter().map(latency))
        .collect_view();
    if pair.latencies.is_empty() && pair.attainment.is_empty() {
        return view! { <p class="muted">"No rate that both have, or the verdict is withheld."</p> }.erased();
    }
    view! {
        <div class="scroll-x">
            <table class="differences">
                <caption class="sr-only">{format!("{} against {}", name_of(compared, pair.candidate as usize), name_of(compared, 0))}</caption>
                <thead>
                    <tr>
                        <th scope="col">"rate"</th>
                        <th scope="col">"metric"</th>
                        <th scope="col" class="num">{format!("{} against {}", name_of(compared, pair.candidate as usize), name_of(compared, 0))}</th>
                        <th scope="col" class="num">"pairs"</th>
                        <th scope="col">"verdict"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .erased()
}

fn pairs(difference: Option<&Difference>) -> String {
    difference.map_or_else(String::new, |difference| difference.pairs.to_string())
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

fn row(
    level: String,
    metric: String,
    difference: Option<String>,
    pairs: String,
    verdict: &Verdict,
    remark: Option<String>,
) -> AnyView {
    let tone = match verdict {
        Verdict::Better => "good",
        Verdict::Worse => "bad",
        Verdict::NoDifference { .. } | Verdict::NotYetJudged { .. } => "plain",
    };
    let verdict = words::verdict(verdict);
    view! {
        <tr>
            <th scope="row">{level}</th>
            <td>{metric}</td>
            <td class="num">
                {match difference {
                    Some(text) => text.erased(),
                    None => view! { <Missing reason=verdict.clone() /> }.erased(),
                }}
            </td>
            <td class="num">{pairs}</td>
            <td class="verdict" data-tone=tone>
                {verdict}
                {remark.map(|remark| view! { <span class="muted small">{format!(" {remark}")}</span> })}
            </td>
        </tr>
    }
    .erased()
}
