//! A comparison for others: the way to a link, what the page of a link says of its study's configurations, and a frame.

use measure::slo::Slo;

use super::{ComparePage, CompareState, Link, charts, differs, facts, title, verdict};
use crate::pages::embed::Framed;
use crate::studio::CompareView;
use crate::ui::html::{Html, html};
use crate::url_state::ViewState;

/// Where a link to it is made.
pub fn way(state: &CompareState) -> Html {
    html!(
        r#"<div class="row"><a class="button" href="/compare/share?{}">Share</a></div>"#,
        state.query()
    )
}

/// What differs within a shared study and what it did, for the page of its link.
pub fn gist(token: &str, compared: CompareView, slo: Option<Slo>) -> String {
    let ids = compared.configurations.iter();
    let state = CompareState {
        ids: ids.map(|it| it.configuration.id).collect(),
        chart: ViewState {
            slo,
            ..ViewState::default()
        },
        link: Some(Link {
            token: token.to_owned(),
            shows_study: true,
        }),
        ..CompareState::default()
    };
    let page = ComparePage {
        state,
        told: Vec::new(),
        compared: None,
        found: None,
        figures_only: false,
    };
    let said = compared.pairs.iter();
    let said = said.map(|pair| html!("<p>{}</p>", verdict::sentences(&compared, pair).0));
    html!(
        r#"<div class="stack tight">{}<p class="small muted">Judged by {}.</p></div>{}<p><a href="{}" rel="external">At equal rate, at equal SLO, and the curves over each other</a></p>"#,
        said.collect::<Html>(),
        compared.slo.to_string(),
        differs::what_differs(&page, &compared),
        page.state.link()
    )
    .into_string()
}

/// What a frame shows of it: at most four verdicts, the curves over each other, and the way to all of it.
pub fn framed(page: &ComparePage, compared: &CompareView) -> String {
    let said = compared.pairs.iter().take(4);
    let said = said.map(|pair| html!("<p>{}</p>", verdict::sentences(compared, pair).0));
    let chart = charts::table_chart(&page.state, compared);
    let facts = facts(compared);
    let badges = facts.iter().take_while(|it| !it.starts_with("SLO: "));
    let badges = badges.map(|it| html!(r#"<span class="badge">{}</span> "#, it));
    Framed {
        name: &title(page),
        said: html!(
            "<p>{}</p>{}",
            badges.collect::<Html>(),
            said.collect::<Html>()
        ),
        told: &page.told,
        chart: &chart,
        slo: &compared.slo.to_string(),
        whole: page.state.link(),
    }
    .document()
}
