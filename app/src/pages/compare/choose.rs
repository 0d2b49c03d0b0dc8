//! Which configurations are compared: the baseline's pin, what is hidden, what may go, and the way to another one.

use uuid::Uuid;

use super::knob::unsaid;
use super::{ComparePage, MOST, configurations, name_of};
use crate::figure_svg::series_colour;
use crate::studio::{CompareView, StudyRow};
use crate::ui::badge::{IMPORTED, SIMULATED};
use crate::ui::format;
use crate::ui::html::{Html, badge, html};

/// The compared ones, in the order of the address.
pub fn chosen(page: &ComparePage, compared: &CompareView) -> Html {
    let rows = (0..page.state.ids.len()).filter_map(|place| row(page, compared, place));
    let more = match &page.state.link {
        None => another(page),
        // Whoever has a link chooses among its configurations.
        Some(link) => html!(
            r#"<p class="small"><a href="{}">every configuration of this {}</a></p>"#,
            page.state.path(),
            if link.shows_study {
                "study"
            } else {
                "comparison"
            }
        ),
    };
    html!(
        r#"<section class="stack tight" aria-labelledby="chosen-heading"><h2 id="chosen-heading">Configurations</h2><ul class="compared-list">{}</ul>{}</section>"#,
        rows.collect::<Html>(),
        more
    )
}

/// What it was set to, where its name does not say so.
fn setting(compared: &CompareView, index: usize) -> Option<Html> {
    let said = unsaid(compared, index)?;
    Some(html!(r#"<span class="muted small">{}</span>"#, said))
}

fn row(page: &ComparePage, compared: &CompareView, place: usize) -> Option<Html> {
    let state = &page.state;
    let id = state.ids.get(place)?;
    let mut all = compared.configurations.iter();
    let index = all.position(|one| one.configuration.id == *id)?;
    let one = compared.configurations.get(index)?;
    let name = name_of(compared, index);
    let pin = if place == state.baseline {
        pin()
    } else {
        html!(
            r#"<a href="{}" aria-label="make it the baseline: {}">make it the baseline</a>"#,
            state.with(|it| it.baseline = place),
            name
        )
    };
    // A link without any shows all of them.
    let may_go = state.link.is_none() || 2 < state.ids.len();
    let remove = may_go.then(|| {
        html!(
            r#"<a href="{}" aria-label="Remove {}">remove</a>"#,
            state.without(place),
            name
        )
    });
    Some(html!(
        r#"<li style="--series:{}"><span class="key" aria-hidden="true"></span>{}{}{}<span class="acts small">{}{}{}</span></li>"#,
        series_colour(place),
        named(state.study(one.study), &name),
        setting(compared, index),
        one.simulated.then(|| badge(SIMULATED)),
        pin,
        hide(page, place, &name),
        remove
    ))
}

/// Its name, and the way to its study where there is one.
fn named(study: Option<String>, name: &str) -> Html {
    match study {
        Some(study) => html!(r#"<a class="name" href="{}">{}</a>"#, study, name),
        None => html!(r#"<span class="name">{}</span>"#, name),
    }
}

/// What marks the baseline.
pub(super) fn pin() -> Html {
    html!(
        r#"<span class="pin"><svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true"><path d="M4 0h4v1L7.5 1.500V5L9.5 7v1H6.5v4h-1V8H2.5V7L4.5 5V1.500L4 1Z" fill="currentColor"/></svg> baseline</span>"#
    )
}

/// Shows or hides a curve; figures and verdicts stay.
fn hide(page: &ComparePage, place: usize, name: &str) -> Html {
    let (number, hidden) = (place as u32, &page.state.chart.hidden);
    let is_hidden = hidden.contains(&number);
    let link = page.state.with(|it| {
        let hidden = &mut it.chart.hidden;
        if is_hidden {
            hidden.retain(|one| *one != number);
        } else {
            hidden.push(number);
            hidden.sort_unstable();
        }
    });
    let act = if is_hidden {
        "show curve"
    } else {
        "hide curve"
    };
    html!(
        r#"<a href="{}" aria-label="{} of {}">{}</a>"#,
        link,
        act,
        name,
        act
    )
}

/// Looks for another configuration: a plain form, whose answer is the same page with what was found.
fn another(page: &ComparePage) -> Html {
    if MOST <= page.state.ids.len() {
        return html!(
            r#"<p class="muted small">At most {} stand on one page.</p>"#,
            configurations(MOST)
        );
    }
    let kept = page
        .state
        .pairs()
        .into_iter()
        .map(|(key, value)| html!(r#"<input type="hidden" name="{}" value="{}">"#, key, value));
    let kept: Html = kept.collect();
    let open = page.found.is_some();
    html!(
        r#"<details class="as-text"{}><summary>Add another configuration</summary><form method="get" action="/compare" class="row end" data-keep>{}<div class="field"><label for="find">Study, engine, model or tag</label><input id="find" name="find" type="search" value="{}"></div><button type="submit" class="button">Search</button></form>{}</details>"#,
        open.then(|| Html::literal(" open")),
        kept,
        page.state.find,
        page.found.as_deref().map(|found| results(page, found))
    )
}

fn results(page: &ComparePage, found: &[StudyRow]) -> Html {
    let rows: Vec<Html> = found.iter().filter_map(|it| study(page, it)).collect();
    if rows.is_empty() {
        return html!(
            r#"<p class="muted" role="status">No other configuration has these words in its study's name, engine, model or tags.</p>"#
        );
    }
    html!(
        r#"<ul class="found">{}</ul>"#,
        rows.into_iter().collect::<Html>()
    )
}

fn study(page: &ComparePage, row: &StudyRow) -> Option<Html> {
    let unit = if row.sessions { "sessions/s" } else { "req/s" };
    let all = std::iter::zip(&row.configurations, &row.ceilings);
    let others = all.filter(|(id, _)| !page.state.ids.contains(id));
    let links: Vec<Html> = others
        .map(|(id, (name, ceiling))| {
            let found = ceiling.as_ref().map(format::ceiling);
            let found = found.map_or("not judged".to_owned(), |it| format!("{it} {unit}"));
            html!(
                r#"<li><a class="button compact" href="{}" aria-label="Add {} of {}">Add</a> <span>{}</span> <span class="muted small">{}</span></li>"#,
                added(page, *id),
                name,
                row.name,
                name,
                found
            )
        })
        .collect();
    (!links.is_empty()).then(|| {
        html!(
            r#"<li><p class="row"><a href="/studies/{}">{}</a>{}{}<span class="muted small">{}</span></p><ul>{}</ul></li>"#,
            row.id.to_string(),
            row.name,
            row.simulated.then(|| badge(SIMULATED)),
            row.imported.then(|| badge(IMPORTED)),
            row.engine,
            links.into_iter().collect::<Html>()
        )
    })
}

fn added(page: &ComparePage, id: Uuid) -> String {
    page.state.with(|it| {
        it.ids.push(id);
        it.find = None;
    })
}

/// The page before there is anything to compare.
pub fn few(page: &ComparePage) -> Html {
    let sentence = match page.state.ids.len() {
        0 => "A comparison needs two configurations. Choose the baseline first.",
        _ => {
            "A comparison needs two configurations. The baseline is chosen; add what it is compared with."
        }
    };
    html!(
        r#"<div class="answer"><p>{}</p></div>{}"#,
        sentence,
        another(page)
    )
}
