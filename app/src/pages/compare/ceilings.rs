//! At equal SLO: ceilings as bars with their intervals, each beside its numbers and against the baseline's.

use measure::certificate::Innocence;
use measure::compare::CeilingComparison;
use measure::curve::Ceiling;

use super::differences::word_of;
use super::{ComparePage, listed, name_of, unit};
use crate::axis::Axis;
use crate::figure_svg::series_colour;
use crate::pages::study::cache_word;
use crate::studio::{CompareView, PairComparison, PointView};
use crate::ui::badge::{CLEAN, SUSPECT, VOID};
use crate::ui::format;
use crate::ui::html::{Html, badge, html, term};
use crate::words;

/// The section.
pub fn section(page: &ComparePage, compared: &CompareView) -> Html {
    html!(
        r#"<section class="stack" aria-labelledby="ceilings-heading"><h2 id="ceilings-heading">At equal {}: goodput {}</h2>{}<div class="scroll-x" tabindex="0">{}</div>{}</section>"#,
        term("SLO", "slo"),
        term("ceilings", "ceiling"),
        form(page, compared),
        table(page, compared),
        caches(compared)
    )
}

/// Another SLO for all of them, where there is anything to judge by.
fn form(page: &ComparePage, compared: &CompareView) -> Html {
    if page.figures_only {
        return html!(
            r#"<p class="muted small">SLO: {}. Another one cannot be tried: this link shows figures only.</p>"#,
            compared.slo.to_string()
        );
    }
    let kept = page.state.pairs().into_iter();
    let kept = kept.filter(|(key, _)| key != "slo");
    let kept =
        kept.map(|(key, value)| html!(r#"<input type="hidden" name="{}" value="{}">"#, key, value));
    html!(
        r#"<form method="get" action="{}" class="row end slo-form">{}<div class="field"><label for="slo">SLO that all are judged by</label><input id="slo" name="slo" type="text" spellcheck="false" autocomplete="off" value="{}"></div><button type="submit" class="button">Judge all by it</button>{}</form>"#,
        page.state.path(),
        kept.collect::<Html>(),
        compared.slo.to_string(),
        page.state.chart.slo.is_some().then(|| html!(
            r#"<a href="{}">back to the baseline's own</a>"#,
            page.state.with(|it| it.chart.slo = None)
        ))
    )
}

fn table(page: &ComparePage, compared: &CompareView) -> Html {
    let ends = compared.configurations.iter();
    let ends = ends.filter_map(|one| end_of(one.configuration.ceiling.as_ref()?));
    let ends: Vec<f64> = ends.collect();
    // Without an end there is nothing to draw, and no axis to draw it on.
    let axis = (!ends.is_empty()).then(|| Axis::over(String::new(), ends, false));
    let axis = axis.as_ref();
    let unit = unit(compared);
    let rows: Html = (0..compared.configurations.len())
        .map(|index| row(page, compared, index, axis))
        .collect();
    html!(
        r#"<table class="ceiling-table"><caption class="sr-only">Goodput ceilings</caption><thead><tr><th scope="col">configuration</th><th scope="col" class="num">by {} ({})</th><th scope="col" class="bar-column"><span class="sr-only">interval</span>{}</th><th scope="col" class="num">against the baseline</th><th scope="col" class="num">by {} ({})</th><th scope="col">{}</th><th scope="col">{}</th></tr></thead><tbody>{}</tbody></table>"#,
        term("attainment", "attainment"),
        unit,
        axis.map(scale),
        term("percentile", "percentile-verdict"),
        unit,
        term("client", "certificate"),
        term("cache", "cold"),
        rows
    )
}

/// The bars' own axis.
fn scale(axis: &Axis) -> Html {
    let ticks = axis.ticks().into_iter();
    let ticks: Html = ticks
        .map(|(value, label)| {
            html!(
                r#"<text x="{}" y="14" text-anchor="middle">{}</text>"#,
                percent(axis, value),
                label
            )
        })
        .collect();
    html!(
        r#"<svg class="ceiling-scale" width="100%" height="18" aria-hidden="true">{}</svg>"#,
        ticks
    )
}

fn percent(axis: &Axis, rate: f64) -> String {
    format!("{:.1}%", axis.fraction(rate) * 100.0)
}

/// The highest rate that is drawn of it.
fn end_of(ceiling: &Ceiling) -> Option<f64> {
    match *ceiling {
        Ceiling::Bracket { hi, .. } | Ceiling::NoneKept { hi } => Some(hi),
        Ceiling::AtLeast { lo } => Some(lo),
        Ceiling::Unresolved { lo, hi } => lo.and(hi),
        Ceiling::Ramped => None,
    }
}

fn row(page: &ComparePage, compared: &CompareView, index: usize, axis: Option<&Axis>) -> Html {
    let one = &compared.configurations[index];
    let text = |found: Option<&Ceiling>| found.map_or("not judged".into(), format::ceiling);
    let ceiling = one.configuration.ceiling.as_ref();
    html!(
        r#"<tr style="--series:{}"><th scope="row"><span class="row nowrap"><span class="key" aria-hidden="true"></span><a href="{}">{}</a></span></th><td class="num nowrap">{}</td><td class="bar-column">{}</td>{}{}<td class="nowrap">{}</td><td class="nowrap">{}</td></tr>"#,
        series_colour(page.state.colour(compared, index)),
        page.state.study(one.study),
        name_of(compared, index),
        text(ceiling),
        axis.and_then(|axis| bar(ceiling?, axis)),
        against(compared, index),
        by_percentile(compared, index),
        client(&one.points),
        badge(cache_word(one.configuration.cache_cold)),
    )
}

/// What became of the ceiling, beside the baseline's.
fn against(compared: &CompareView, index: usize) -> Html {
    if index == 0 {
        return html!(r#"<td class="num">{}</td>"#, super::choose::pin());
    }
    let pair = pair_of(compared, index);
    let Some(found) = pair.and_then(|it| it.ceilings.as_ref()) else {
        let why = match pair {
            Some(pair) if !super::unmeasured(compared, pair).is_empty() => "not measured yet",
            _ => "withheld",
        };
        return html!(
            r#"<td class="num"><span class="verdict small">{}</span></td>"#,
            why
        );
    };
    let difference = found.difference.as_ref().map(words::difference);
    html!(
        r#"<td class="num"><span>{}</span>{}</td>"#,
        difference,
        verdict(found)
    )
}

fn pair_of(compared: &CompareView, index: usize) -> Option<&PairComparison> {
    let mut pairs = compared.pairs.iter();
    pairs.find(|it| it.candidate as usize == index)
}

/// A verdict in a word, with all of it for whoever asks.
fn verdict(found: &CeilingComparison) -> Html {
    let (tone, word) = word_of(&found.verdict);
    let all = [Some(words::verdict(&found.verdict)), found.remark.clone()];
    let all: Vec<String> = all.into_iter().flatten().collect();
    html!(
        r#"<span class="verdict small" data-tone="{}" title="{}">{}</span>"#,
        tone,
        words::capital(&all.join("; ")),
        word
    )
}

/// The ceiling by percentile, with its verdict.
fn by_percentile(compared: &CompareView, index: usize) -> Html {
    let found = compared.configurations[index]
        .configuration
        .ceiling_by_percentile;
    let text = found.as_ref().map_or("not judged".into(), format::ceiling);
    let pair = pair_of(compared, index);
    let verdict = pair.and_then(|it| it.ceilings_by_percentile.as_ref().map(verdict));
    html!(
        r#"<td class="num nowrap"><span>{}</span>{}</td>"#,
        text,
        verdict
    )
}

/// The worst certificate, and how many points have it.
fn client(points: &[PointView]) -> Html {
    let certificates = points.iter().filter_map(|it| it.certificate.as_ref());
    let all: Vec<Innocence> = certificates.map(|it| it.innocence).collect();
    if all.is_empty() {
        return html!(r#"<span class="muted">not measured yet</span>"#);
    }
    let count = |of: Innocence| all.iter().filter(|it| **it == of).count();
    let (void, suspect) = (count(Innocence::Void), count(Innocence::Suspect));
    let (word, number) = match (void, suspect) {
        (0, 0) => (CLEAN, all.len()),
        (0, suspect) => (SUSPECT, suspect),
        (void, _) => (VOID, void),
    };
    html!(
        "{} {} of {}",
        badge(word),
        number.to_string(),
        all.len().to_string()
    )
}

/// What is known of each side's cache, where that is not the same.
fn caches(compared: &CompareView) -> Option<Html> {
    let mut kinds: Vec<(&str, Vec<String>)> = Vec::new();
    for (index, one) in compared.configurations.iter().enumerate() {
        let word = match one.configuration.cache_cold {
            Some(true) => "cold before each point",
            Some(false) => "not cold before each point",
            None => "cold or not, nobody can tell",
        };
        let name = name_of(compared, index);
        match kinds.iter_mut().find(|(known, _)| *known == word) {
            Some((_, names)) => names.push(name),
            None => kinds.push((word, vec![name])),
        }
    }
    let said: Vec<String> = kinds
        .iter()
        .map(|(word, names)| format!("of {} it was {word}", listed(names)))
        .collect();
    (1 < kinds.len()).then(|| {
        html!(
            r#"<p class="notice" data-tone="warn">The prefix cache was not the same on all sides: {}.</p>"#,
            said.join("; ")
        )
    })
}

/// A ceiling as a bar up to its value with its interval as a whisker; an open end has an arrow. What is unresolved has a whisker where
/// both its ends were measured; else words say it, and nothing is drawn.
fn bar(ceiling: &Ceiling, axis: &Axis) -> Option<Html> {
    let (value, lo, hi, open) = match *ceiling {
        Ceiling::Bracket { value, lo, hi } => (value, lo, hi, ""),
        Ceiling::AtLeast { lo } => (lo, lo, lo, "→"),
        Ceiling::NoneKept { hi } => (0.0, 0.0, hi, ""),
        Ceiling::Unresolved {
            lo: Some(lo),
            hi: Some(hi),
        } => (0.0, lo, hi, "?"),
        Ceiling::Unresolved { .. } | Ceiling::Ramped => return None,
    };
    let [value, lo, hi] = [value, lo, hi].map(|it| percent(axis, it));
    Some(html!(
        r#"<svg class="ceiling-bar" width="100%" height="20" aria-hidden="true"><rect y="5" height="10" width="{}"/><line x1="{}" x2="{}" y1="10" y2="10"/><line x1="{}" x2="{}" y1="4" y2="16"/><line x1="{}" x2="{}" y1="4" y2="16"/><text x="{}" dx="4" y="15">{}</text></svg>"#,
        value,
        lo,
        hi,
        lo,
        lo,
        hi,
        hi,
        hi,
        open
    ))
}
