//! What differs from the baseline: one knob, or everything that stands in a verdict's way. One table for all configurations.

use measure::knobs::{Comparability, Differing, Fact};

use super::{ComparePage, fields, name_of};
use crate::figure_svg::series_colour;
use crate::pages::study::fact_words;
use crate::studio::{CompareView, PairComparison};
use crate::ui::badge::{CONFOUNDED, Tone, Word};
use crate::ui::html::{Html, badge, html};
use crate::words;

const ONE: Word = Word {
    word: "one thing",
    tone: Tone::Good,
    mark: "full",
    about: "One thing differs from the baseline, so it is what moved the curve.",
};
const NOT_YET: Word = Word {
    word: "not measured yet",
    tone: Tone::Plain,
    mark: "hollow",
    about: "What an engine is, is known once it was measured: nothing is said of what differs before that.",
};
const ALIKE: Word = Word {
    word: "nothing known",
    tone: Tone::Plain,
    mark: "hollow",
    about: "Nothing that is known differs from the baseline.",
};

/// The section.
pub fn what_differs(page: &ComparePage, compared: &CompareView) -> Html {
    let names = row_names(compared);
    let body = if names.is_empty() {
        html!(
            r#"<p class="muted">Nothing that is known. What is unknown on both sides is assumed equal.</p>"#
        )
    } else {
        table(page, compared, &names)
    };
    html!(
        r#"<section class="stack" aria-labelledby="differs-heading"><h2 id="differs-heading">What differs</h2>{}{}{}</section>"#,
        said(compared),
        body,
        accepted(compared)
    )
}

/// Everything of a pair that differs, also what was accepted. Of what is not measured yet, only what both tell.
fn all_of<'a>(compared: &CompareView, pair: &'a PairComparison) -> Vec<&'a Differing> {
    let early = !super::unmeasured(compared, pair).is_empty();
    match &pair.comparability {
        Comparability::Identical => Vec::new(),
        Comparability::OneVariable { differing, beside } => {
            std::iter::once(differing).chain(beside).collect()
        }
        Comparability::Confounded { differing } => differing
            .iter()
            .filter(|it| !early || !it.is_one_sided())
            .collect(),
    }
}

/// What differs anywhere: knobs first, each once.
fn row_names(compared: &CompareView) -> Vec<&str> {
    let all = compared.pairs.iter();
    let all = all.flat_map(|pair| all_of(compared, pair));
    let mut names: Vec<&str> = all.map(|one| one.name.as_str()).collect();
    names.sort_by_key(|name| (!name.starts_with("knob:"), *name));
    names.dedup();
    names
}

/// Whose verdict is withheld.
fn said(compared: &CompareView) -> Option<Html> {
    let confounded = compared
        .pairs
        .iter()
        .filter(|it| super::is_confounded(compared, it));
    let names: Vec<String> = confounded
        .map(|it| name_of(compared, it.candidate as usize))
        .collect();
    (!names.is_empty()).then(|| {
        let of = (1 < compared.pairs.len()).then(|| format!(" on {}", super::listed(&names)));
        html!(
            r#"<p class="row">{} <span>The verdict{} is withheld: what differs is in red.</span></p>"#,
            badge(CONFOUNDED),
            of.unwrap_or_default()
        )
    })
}

fn accepted(compared: &CompareView) -> Option<Html> {
    let beside = compared
        .pairs
        .iter()
        .find_map(|pair| match &pair.comparability {
            Comparability::OneVariable { beside, .. } => beside.first(),
            _ => None,
        })?;
    Some(html!(
        r#"<p>{} differs as well, and was accepted as part of the engine: what is said is of both together.</p>"#,
        words::capital(&beside.name)
    ))
}

fn table(page: &ComparePage, compared: &CompareView, names: &[&str]) -> Html {
    let pairs = compared.pairs.iter();
    let heads: Html = pairs.map(|pair| head(page, compared, pair)).collect();
    let rows: Html = names.iter().map(|name| rows(compared, name)).collect();
    html!(
        r#"<div class="scroll-x" tabindex="0"><table class="fact-table differs-table"><caption class="sr-only">What differs from the baseline</caption><thead><tr><th scope="col">fact</th><th scope="col">{}<span class="under">baseline</span></th>{}</tr></thead><tbody>{}</tbody></table></div>"#,
        key(page, compared, 0),
        heads,
        rows
    )
}

fn key(page: &ComparePage, compared: &CompareView, index: usize) -> Html {
    html!(
        r#"<span class="row nowrap" style="--series:{}"><span class="key" aria-hidden="true"></span>{}</span>"#,
        series_colour(page.state.colour(compared, index)),
        name_of(compared, index)
    )
}

fn head(page: &ComparePage, compared: &CompareView, pair: &PairComparison) -> Html {
    let word = match &pair.comparability {
        _ if !super::unmeasured(compared, pair).is_empty() => NOT_YET,
        Comparability::Identical => ALIKE,
        Comparability::OneVariable { .. } => ONE,
        Comparability::Confounded { .. } => CONFOUNDED,
    };
    html!(
        r#"<th scope="col">{}<span class="under">{}</span></th>"#,
        key(page, compared, pair.candidate as usize),
        badge(word)
    )
}

/// A fact's row, and those of its fields where it is a structure.
fn rows(compared: &CompareView, name: &str) -> Html {
    let of = |pair: &'_ PairComparison| -> Option<Differing> {
        all_of(compared, pair)
            .into_iter()
            .find(|it| it.name == name)
            .cloned()
    };
    let found: Vec<Option<Differing>> = compared.pairs.iter().map(of).collect();
    let baseline = found.iter().flatten().find_map(|it| it.baseline.clone());
    let cells = std::iter::zip(&compared.pairs, &found);
    let cells = cells.map(|(pair, it)| {
        let text = it.as_ref().map(|it| words_of(it.candidate.as_ref()));
        cell(compared, pair, text)
    });
    let cells: Vec<Html> = cells.collect();
    let own = row(&name_in_words(name), &words_of(baseline.as_ref()), cells);
    let fields = differing_fields(&found, baseline.as_ref());
    let fields = fields.into_iter().map(|(field, base, others)| {
        let cells = std::iter::zip(&compared.pairs, others);
        let cells = cells
            .map(|(pair, text)| cell(compared, pair, text))
            .collect();
        row(&format!("{}: {field}", name_in_words(name)), &base, cells)
    });
    std::iter::once(own).chain(fields).collect()
}

fn name_in_words(name: &str) -> String {
    name.strip_prefix("knob:").unwrap_or(name).to_owned()
}

/// A fact in words, structures without their JSON.
fn words_of(fact: Option<&Fact>) -> String {
    let worded = fact.map(|fact| Fact {
        value: fields::in_words(&fact.value),
        ..fact.clone()
    });
    fact_words(worded.as_ref())
}

fn row(name: &str, baseline: &str, cells: Vec<Html>) -> Html {
    html!(
        r#"<tr><th scope="row">{}</th><td>{}</td>{}</tr>"#,
        name,
        baseline,
        cells.into_iter().collect::<Html>()
    )
}

fn cell(compared: &CompareView, pair: &PairComparison, text: Option<String>) -> Html {
    let Some(text) = text else {
        return html!(r#"<td class="muted">same</td>"#);
    };
    let class = if super::is_confounded(compared, pair) {
        "confounder"
    } else {
        "knob"
    };
    html!(r#"<td class="{}">{}</td>"#, class, text)
}

/// A field with the baseline's value and each candidate's, where that differs.
pub type FieldRow = (String, String, Vec<Option<String>>);

/// The fields by which structures differ.
pub fn differing_fields(found: &[Option<Differing>], baseline: Option<&Fact>) -> Vec<FieldRow> {
    let of = |fact: Option<&Fact>| fact.map_or_else(Vec::new, |it| fields::fields(&it.value));
    let base = of(baseline);
    let others: Vec<Option<Vec<(String, String)>>> = found
        .iter()
        .map(|it| it.as_ref().map(|it| of(it.candidate.as_ref())))
        .collect();
    let all = base.iter().chain(others.iter().flatten().flatten());
    let mut names: Vec<&str> = all.map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let value = |fields: &[(String, String)], name: &str| {
        let found = fields.iter().find(|(known, _)| known == name);
        found.map_or_else(|| "–".to_owned(), |(_, value)| value.clone())
    };
    let rows = names.into_iter().map(|name| {
        let base = value(&base, name);
        let others = others.iter().map(|it| {
            let other = it.as_ref().map(|fields| value(fields, name));
            other.filter(|it| *it != base)
        });
        (name.to_owned(), base.clone(), others.collect::<Vec<_>>())
    });
    let rows = rows.filter(|(_, _, others)| others.iter().any(Option::is_some));
    rows.collect()
}
