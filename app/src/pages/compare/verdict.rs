//! The first line: the verdict, or why there is none.

use measure::compare::{CeilingComparison, Verdict};
use measure::knobs::{Comparability, Differing, Fact};

use super::{listed, name_of, trade, unit, unmeasured};
use crate::studio::{CompareView, PairComparison};
use crate::ui::format;
use crate::ui::html::{Html, html};
use crate::words;

/// One line a candidate.
pub fn verdicts(compared: &CompareView) -> Html {
    let pairs = compared.pairs.iter();
    // Of many, the second verdict stands in the table of ceilings alone.
    let many = 3 < compared.pairs.len();
    let lines: Html = pairs.map(|pair| lines(compared, pair, many)).collect();
    let many = if many { " many" } else { "" };
    html!(r#"<div class="answer{}">{}</div>"#, many, lines)
}

fn lines(compared: &CompareView, pair: &PairComparison, many: bool) -> Html {
    let (first, second) = sentences(compared, pair);
    let second = second.filter(|_| !many);
    html!(
        "<p>{}</p>{}",
        first,
        second.map(|second| html!(r#"<p class="muted second">{}</p>"#, second))
    )
}

/// The headline by attainment with what speaks against it, and the second verdict by percentile.
pub fn sentences(compared: &CompareView, pair: &PairComparison) -> (String, Option<String>) {
    let candidate = name_of(compared, pair.candidate as usize);
    let ceiling = |index: usize| compared.configurations.get(index)?.configuration.ceiling;
    let unmeasured = unmeasured(compared, pair);
    if !unmeasured.is_empty() {
        return (not_yet(compared, &candidate, &unmeasured), None);
    }
    if let Comparability::Confounded { differing } = &pair.comparability {
        return (withheld(&candidate, differing), None);
    }
    let (Some(from), Some(to)) = (ceiling(0), ceiling(pair.candidate as usize)) else {
        return (
            open(compared, pair, &candidate, without_ceilings(compared)),
            None,
        );
    };
    let second = pair
        .ceilings_by_percentile
        .as_ref()
        .map(|found| format!("By the percentile verdict: {}", in_words(found)));
    if let Some(Verdict::NotYetJudged { why }) = pair.ceilings.as_ref().map(|it| &it.verdict) {
        let why = words::small(why.trim_end_matches('.'));
        return (open(compared, pair, &candidate, &why), second);
    }
    let first = format!(
        "{} moves the ceiling from {} to {} {}: {}",
        cause(&candidate, &pair.comparability),
        format::ceiling(&from),
        format::ceiling(&to),
        unit(compared),
        pair.ceilings
            .as_ref()
            .map_or("not yet judged.".into(), |found| trade::in_words(
                found,
                &pair.along
            ))
    );
    (first + &trade::caveat(compared, pair), second)
}

/// What was changed, and what can be said of it without a verdict on ceilings: the surest difference, else why there is none yet.
fn open(compared: &CompareView, pair: &PairComparison, candidate: &str, why: &str) -> String {
    let changed = cause(candidate, &pair.comparability);
    let changed = changed.trim_end_matches(',');
    match words::surest(pair, unit(compared)) {
        Some(found) => {
            let caveat = trade::caveat(compared, pair);
            format!("{changed}: {found}. Of ceilings no verdict yet: {why}.{caveat}")
        }
        None => format!("{changed}: no verdict yet, {why}."),
    }
}

/// Why there are no ceilings at all.
fn without_ceilings(compared: &CompareView) -> &'static str {
    let points = compared.configurations.iter().flat_map(|it| &it.points);
    if { points }.all(|it| !it.level.is_open()) {
        "a closed loop offers no rate of its own, so there is none"
    } else {
        "its points or the baseline's are not all judged"
    }
}

/// Who has not run yet.
fn not_yet(compared: &CompareView, candidate: &str, unmeasured: &[usize]) -> String {
    let names = unmeasured.iter().map(|index| match index {
        0 => format!("the baseline, {}", name_of(compared, 0)),
        index => name_of(compared, *index),
    });
    let names: Vec<String> = names.collect();
    let verb = if 1 < names.len() { "are" } else { "is" };
    format!(
        "No verdict on {candidate} yet: {} {verb} not measured yet.",
        listed(&names)
    )
}

fn withheld(candidate: &str, differing: &[Differing]) -> String {
    let things = words::count(differing.len(), "thing");
    let verb = if differing.len() == 1 {
        "differs or is unknown"
    } else {
        "differ or are unknown"
    };
    format!("No verdict on {candidate}: {things} {verb}, so none can be named as the cause.")
}

/// What made the difference: the one knob, from one value to the other.
fn cause(candidate: &str, comparability: &Comparability) -> String {
    let Comparability::OneVariable { differing, .. } = comparability else {
        return format!("{candidate}, in which nothing that is known differs,");
    };
    let name = differing.name.strip_prefix("knob:");
    let value = |fact: &Option<Fact>| {
        fact.as_ref()
            .map_or("unknown".into(), |fact| fact.value.clone())
    };
    format!(
        "Turning {} from {} to {}",
        name.unwrap_or(&differing.name),
        value(&differing.baseline),
        value(&differing.candidate)
    )
}

pub(super) fn in_words(found: &CeilingComparison) -> String {
    let CeilingComparison {
        difference,
        verdict,
        remark,
    } = found;
    let difference = difference
        .as_ref()
        .map(|difference| format!(", {}", words::difference(difference)))
        .unwrap_or_default();
    let remark = remark
        .as_ref()
        .map(|remark| format!(" {remark}"))
        .unwrap_or_default();
    format!("{}{difference}.{remark}", words::verdict(verdict))
}
