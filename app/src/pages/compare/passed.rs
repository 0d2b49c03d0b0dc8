//! A comparison for others: the way to a link, and what the page of a link says of its study's configurations.

use measure::slo::Slo;
use uuid::Uuid;

use super::{ComparePage, CompareState, differs, verdict};
use crate::studio::CompareView;
use crate::ui::html::{Html, html};
use crate::url_state::ViewState;
use crate::words;

/// Where a link to it is made. A link shows one study.
pub fn way(state: &CompareState, compared: &CompareView) -> Html {
    let studies = studies(compared);
    let [(id, _)] = studies.as_slice() else {
        return several(&studies);
    };
    html!(
        r#"<div class="row"><a class="button" href="/studies/{}/share?of=comparison&amp;{}">Share</a></div>"#,
        id.to_string(),
        state.query()
    )
}

fn several(studies: &[(Uuid, &str)]) -> Html {
    let each = studies.iter().map(|(id, name)| {
        html!(
            r#"<li><a href="/studies/{}/share">Share {}</a></li>"#,
            id.to_string(),
            name
        )
    });
    html!(
        r#"<details class="as-text"><summary>Share</summary><p class="small">A link shows one study, so that it can be revoked with what it shows; these configurations belong to {}. Share each, or take the comparison as a picture below its curves.</p><ul class="small">{}</ul></details>"#,
        words::count(studies.len(), "study").replace("studys", "studies"),
        each.collect::<Html>()
    )
}

/// Each study once, in the order of the comparison.
fn studies(compared: &CompareView) -> Vec<(Uuid, &str)> {
    let mut found: Vec<(Uuid, &str)> = Vec::new();
    for one in &compared.configurations {
        if !found.iter().any(|(id, _)| *id == one.study) {
            found.push((one.study, &one.study_name));
        }
    }
    found
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
        link: Some(token.to_owned()),
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
