//! Studies from elsewhere: those that come with the studio, and the way to open somebody's.

use leptos::prelude::*;
use serde::Deserialize;

use crate::api;
use crate::browser::read_json;
use crate::reading::Reading;
use crate::studio::{StudyFilter, StudyRow};
use crate::ui::badge::SIMULATED;
use crate::ui::erased::Erase;
use crate::ui::html::{Html, badge, html};
use crate::ui::upload::Upload;
use crate::words;

/// What the studio answers when it opened a bundle.
#[derive(Deserialize)]
struct Opened {
    id: String,
}

/// The section; hidden while something is searched.
#[component]
pub fn Examples(
    /// Whether the list above shows all there is.
    unfiltered: Memo<bool>,
) -> impl IntoView {
    let filter = || StudyFilter {
        examples: true,
        ..StudyFilter::default()
    };
    let examples: Reading<Vec<StudyRow>> = Reading::new(filter, api::list_studies);
    let target = Callback::new(|name: String| {
        let name = js_sys::encode_uri_component(&name);
        ("POST", format!("/api/v1/bundles?file={name}"))
    });
    let done = Callback::new(|answer: String| {
        let Opened { id } = read_json(&answer).map_err(|why| why.to_string())?;
        // A browser that does not go there shows the study in its list.
        let _ = window().location().set_href(&format!("/studies/{id}"));
        Ok(())
    });
    view! {
        <section class="stack" hidden=move || !unfiltered.get() aria-labelledby="examples-heading">
            <h2 id="examples-heading">"Example studies"</h2>
            {examples.part(|rows| view! { <ul class="stack tight" inner_html=list(&rows).into_string()></ul> }.erased())}
            <Upload label="Open a bundle…" target done />
        </section>
    }
    .erased()
}

/// An address of their own opens them: for the browser it is another page.
fn list(rows: &[StudyRow]) -> Html {
    let line = |row: &StudyRow| {
        html!(
            r#"<li class="row"><a rel="external" href="/examples/{}">{}</a>{}<span class="small muted">{}, {}</span></li>"#,
            row.id.to_string(),
            row.name,
            row.simulated.then(|| badge(SIMULATED)),
            row.engine,
            words::count(row.points as usize, "point")
        )
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::start::tests::row;
    use crate::studio::StudyState;

    #[test]
    fn an_example_is_a_link_and_says_that_it_is_simulated() {
        let text = list(&[row(StudyState::Finished)]).into_string();
        let id = "00000000-0000-0000-0000-000000000001";
        assert!(
            text.contains(&format!("href=\"/examples/{id}\">a study</a>")),
            "{text}"
        );
        assert!(
            text.contains("simulated") && text.contains("8 points"),
            "{text}"
        );
    }
}
