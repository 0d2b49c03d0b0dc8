//! The first line: the verdict, or why there is none.

use crate::ui::erased::Erase;
use leptos::prelude::*;
use measure::compare::CeilingComparison;
use measure::knobs::Comparability;

use super::{name_of, unit};
use crate::studio::{CompareView, PairComparison};
use crate::ui::format;
use crate::ui::html::{Html, html};
use crate::words;

/// One line a candidate.
#[component]
pub fn Verdicts(compared: StoredValue<CompareView>) -> impl IntoView {
    let lines = compared.with_value(|compared| {
        compared
            .pairs
            .iter()
            .map(|pair| lines(compared, pair))
            .collect::<Html>()
    });
    view! { <div class="answer" inner_html=lines.into_string()></div> }.erased()
}

fn lines(compared: &CompareView, pair: &PairComparison) -> Html {
    let (first, second) = sentences(compared, pair);
    html!(
        "<p>{}</p>{}",
        first,
        second.map(|second| html!(r#"<p class="muted second">{}</p>"#, second))
    )
}

/// The headline by attainment, and the second verdict by percentile.
#[expect(
    clippy::too_many_lines,
    reason = "one arm a finding, read in one piece"
)]
pub fn sentences(compared: &CompareView, pair: &PairComparison) -> (String, Option<String>) {
    let candidate = name_of(compared, pair.candidate as usize);
    if let Comparability::Confounded { differing } = &pair.comparability {
        let things = words::count(differing.len(), "thing");
        let verb = if differing.len() == 1 {
            "differs or is unknown"
        } else {
            "differ or are unknown"
        };
        return (
            format!(
                "No verdict on {candidate}: {things} {verb}, so none can be named as the cause."
            ),
            None,
        );
    }
    let ceiling = |index: usize| {
        compared
            .configurations
            .get(index)
            .and_then(|one| one.configuration.ceiling)
    };
    let (Some(from), Some(to)) = (ceiling(0), ceiling(pair.candidate as usize)) else {
        return (
            format!(
                "No verdict on {candidate} yet: its points or the baseline's are not all judged."
            ),
            None,
        );
    };
    let what = match &pair.comparability {
        Comparability::OneVariable { differing } => {
            let name = differing
                .name
                .strip_prefix("knob:")
                .unwrap_or(&differing.name);
            let value = |fact: &Option<measure::knobs::Fact>| {
                fact.as_ref()
                    .map_or("unknown".into(), |fact| fact.value.clone())
            };
            format!(
                "{name} from {} to {}",
                value(&differing.baseline),
                value(&differing.candidate)
            )
        }
        Comparability::Identical | Comparability::Confounded { .. } => {
            format!("{candidate}, in which nothing that is known differs,")
        }
    };
    let unit = unit(compared);
    let moved = format!(
        "{} moves the ceiling from {} to {} {unit}",
        words::capital(&what),
        format::ceiling(&from),
        format::ceiling(&to)
    );
    let first = format!(
        "{moved}: {}",
        pair.ceilings
            .as_ref()
            .map_or("not yet judged.".into(), in_words)
    );
    let second = pair
        .ceilings_by_percentile
        .as_ref()
        .map(|found| format!("By the percentile verdict: {}", in_words(found)));
    (first, second)
}

fn in_words(found: &CeilingComparison) -> String {
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
        .map(|remark| format!(" {}.", words::capital(remark.trim_end_matches('.'))))
        .unwrap_or_default();
    format!("{}{difference}.{remark}", words::verdict(verdict))
}
