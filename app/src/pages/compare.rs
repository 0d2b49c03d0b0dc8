//! Configurations side by side: the verdict or why there is none, what differs, the curves, ceilings, and the difference at each rate.
//!
//! The server draws it whole, each choice is a link, so it needs no module in the browser: a few lines of script zoom by dragging.

mod brush; // zooming by dragging
mod ceilings; // at equal SLO: ceilings as bars
mod charts; // the curves: over each other, side by side, against a knob
mod choose; // which are compared, which is the baseline, another one
mod differences; // at equal rate
mod differs; // what differs
mod fields; // workloads and arrivals, field by field
mod knob; // ceilings against the values of one knob
mod passed; // the way to a link, and what a link's own page says of it
mod state; // the choices, as an address
mod trade; // what the first line must say beside the verdict
mod verdict; // the first line

pub use charts::{csv, sheet_of};
pub use differs::differing_fields;
pub use passed::{framed, gist};
pub use state::{CompareState, Drawing, Link, Query};

use measure::knobs::Comparability;
use measure::study::Connection;

use crate::sheet::{Source, legend_of};
use crate::studio::{CompareView, ComparedConfiguration, PairComparison, PointView, StudyRow};
use crate::ui::badge::{INSECURE, SIMULATED, TOY_MODEL};
use crate::ui::html::{Html, badge, html};
use crate::words;

/// Configurations of one page at most.
pub const MOST: usize = 24;

/// What the page shows.
#[derive(Clone, Debug)]
pub struct ComparePage {
    /// The choices.
    pub state: CompareState,
    /// What stands in the address in vain, a sentence each.
    pub told: Vec<String>,
    /// The comparison; none with fewer than two configurations.
    pub compared: Option<CompareView>,
    /// Studies whose configurations can be added; none where nobody looked for any.
    pub found: Option<Vec<StudyRow>>,
    /// A link shows it, and of each point its figures alone: no other SLO can be tried.
    pub figures_only: bool,
}

/// The page's title: the knob that was turned, where it is one.
pub fn title(page: &ComparePage) -> String {
    let Some(compared) = &page.compared else {
        return "Compare".into();
    };
    let Some((knob, values)) = knob::one_knob(compared) else {
        return title_by_names(compared);
    };
    let values: Vec<String> = values.into_iter().map(knob::shortened).collect();
    match values.as_slice() {
        [from, to] => format!("{knob} from {from} to {to}"),
        [from, others @ ..] if others.len() < 4 => {
            format!("{knob} {from} against {}", listed(others))
        }
        values => format!("{} settings of {knob}", values.len()),
    }
}

/// What was compared, as people called it.
fn title_by_names(compared: &CompareView) -> String {
    let names = names(compared);
    match names.as_slice() {
        [baseline, others @ ..] if 2 < others.len() => {
            format!("{} configurations against {baseline}", others.len())
        }
        names => names.join(" against "),
    }
}

/// The whole page. `nonce` is that of its content security policy.
pub fn page(page: &ComparePage, nonce: &str) -> Html {
    let compared = page.compared.as_ref();
    let knob = compared.and_then(|it| knob::in_vain(&page.state, it));
    let told = page.told.iter().chain(&knob);
    let told = told.map(|it| html!(r#"<p class="notice" data-tone="warn">{}</p>"#, it));
    let told: Html = told.collect();
    let body = match &page.compared {
        Some(compared) => compared_body(page, compared, nonce),
        None => choose::few(page),
    };
    html!(
        r#"<article class="page compare">{}{}{}</article>"#,
        head(page),
        told,
        body
    )
}

fn head(page: &ComparePage) -> Html {
    let compared = page.compared.as_ref();
    let study = compared.and_then(|it| it.configurations.first());
    let study = study.and_then(|it| {
        let place = page.state.study(it.study)?;
        Some(html!(r#"<a href="{}">{}</a>"#, place, it.study_name))
    });
    let owner = page.state.link.is_none();
    let all = owner.then(|| Html::literal(r#"<a href="/">Studies</a>"#));
    let title = title(page);
    let names = compared.map(title_by_names).filter(|it| *it != title);
    html!(
        r#"<header class="page-head"><div class="stack tight"><nav class="crumbs" aria-label="Breadcrumb">{}{}<span aria-current="page">Compare</span></nav><h1>{}</h1>{}<div class="row">{}</div></div>{}</header>"#,
        all,
        study,
        title,
        names.map(|it| html!(r#"<p class="muted">{}</p>"#, it)),
        compared.map(badges),
        compared.filter(|_| owner).map(|_| passed::way(&page.state))
    )
}

fn badges(compared: &CompareView) -> Html {
    let simulated = compared.configurations.iter().any(|one| one.simulated);
    let insecure = compared.configurations.iter().any(is_insecure);
    let each = compared.configurations.iter().map(|it| &it.configuration);
    let toy = !simulated && crate::toy::is_toy(each, None);
    html!(
        r#"{}{}{}<span class="muted">judged by {}</span>"#,
        simulated.then(|| badge(SIMULATED)),
        insecure.then(|| badge(INSECURE)),
        toy.then(|| badge(TOY_MODEL)),
        compared.slo.to_string()
    )
}

fn is_insecure(one: &ComparedConfiguration) -> bool {
    let connection = one.configuration.facts.get("connection");
    connection.is_some_and(|fact| fact.value.contains(Connection::UNCHECKED))
}

fn compared_body(page: &ComparePage, compared: &CompareView, nonce: &str) -> Html {
    html!(
        "{}{}{}{}{}{}",
        verdict::verdicts(compared),
        choose::chosen(page, compared),
        differs::what_differs(page, compared),
        charts::section(page, compared, nonce),
        ceilings::section(page, compared),
        differences::at_equal_rate(compared),
    )
}

/// Every configuration's name here.
fn names(compared: &CompareView) -> Vec<String> {
    let all = 0..compared.configurations.len();
    all.map(|index| name_of(compared, index)).collect()
}

/// A configuration's name here: with its study where there are several.
pub(super) fn name_of(compared: &CompareView, index: usize) -> String {
    let several = compared
        .configurations
        .windows(2)
        .any(|pair| pair[0].study != pair[1].study);
    let one = compared.configurations.get(index);
    one.map_or_else(String::new, |one| {
        let name = &one.configuration.spec.name;
        if several {
            format!("{} ({})", name, one.study_name)
        } else {
            name.clone()
        }
    })
}

/// Which of a pair has no measured point yet: what it is, is not known either.
pub(super) fn unmeasured(compared: &CompareView, pair: &PairComparison) -> Vec<usize> {
    let measured = |index: &usize| {
        let one = compared.configurations.get(*index);
        one.is_some_and(|it| it.points.iter().any(|point| point.summary.is_some()))
    };
    let sides = [0, pair.candidate as usize].into_iter();
    sides.filter(|index| !measured(index)).collect()
}

/// Whether more than one thing differs between two that were measured.
pub(super) fn is_confounded(compared: &CompareView, pair: &PairComparison) -> bool {
    matches!(pair.comparability, Comparability::Confounded { .. })
        && unmeasured(compared, pair).is_empty()
}

/// What rates count. Comparable configurations share their workload, so their points tell.
pub(super) fn unit(compared: &CompareView) -> &'static str {
    let sessions = |one: &ComparedConfiguration| {
        one.points
            .iter()
            .filter_map(|point| point.summary.as_ref())
            .any(|summary| summary.sessions < summary.scheduled)
    };
    if compared.configurations.iter().any(sessions) {
        "sessions/s"
    } else {
        "req/s"
    }
}

/// Where the rows of an export come from.
fn sources<'a>(state: &CompareState, compared: &'a CompareView) -> Vec<Source<'a>> {
    let all = compared.configurations.iter().enumerate();
    all.map(|(index, one)| Source {
        colour: state.colour(compared, index),
        study: &one.study_name,
        id: one.study,
        simulated: one.simulated,
        configuration: &one.configuration,
        points: one.points.iter().collect::<Vec<&PointView>>(),
    })
    .collect()
}

/// What must be known beside a picture of it.
fn facts(compared: &CompareView) -> Vec<String> {
    let mut badges = Vec::new();
    let simulated = compared.configurations.iter().filter(|it| it.simulated);
    match simulated.count() {
        0 => {}
        all if all == compared.configurations.len() => {
            badges.push("simulated: not measured on a real engine".to_owned());
        }
        some => badges.push(format!(
            "{some} of them simulated: not measured on a real engine"
        )),
    }
    if compared.configurations.iter().any(is_insecure) {
        badges.push("insecure".into());
    }
    let withheld = compared.pairs.iter();
    let withheld = withheld.filter(|it| is_confounded(compared, it));
    if 0 < withheld.count() {
        badges.push("confounded: more than one thing differs".into());
    }
    let verdicts = compared.pairs.iter();
    let verdicts = verdicts.map(|pair| verdict::sentences(compared, pair).0);
    let slo = format!("SLO: {}", compared.slo);
    (!badges.is_empty())
        .then(|| badges.join(", "))
        .into_iter()
        .chain([slo])
        .chain(verdicts.take(4))
        .collect()
}

/// Each shown configuration with its colour, its ceiling, its counts and what the client is said to be.
fn legend(state: &CompareState, compared: &CompareView) -> Vec<(usize, String)> {
    let all = compared.configurations.iter().enumerate();
    let shown = all.filter(|(index, _)| !state.hides(compared, *index));
    shown
        .map(|(index, one)| {
            let points: Vec<&PointView> = one.points.iter().collect();
            let ceiling = one.configuration.ceiling.as_ref();
            let ceiling = ceiling.map_or("not judged".into(), |it| {
                words::with_unit(it, unit(compared))
            });
            let set = knob::unsaid(compared, index);
            let set = set.map_or(String::new(), |it| format!(" ({it})"));
            let name = name_of(compared, index) + &set;
            (
                state.colour(compared, index),
                legend_of(&name, &ceiling, &points),
            )
        })
        .collect()
}

/// Names as people list them: `a, b and c`.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}

/// How many, for a sentence.
fn configurations(number: usize) -> String {
    words::count(number, "configuration")
}

#[cfg(test)]
mod tests;
