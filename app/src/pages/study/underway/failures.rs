//! What fails at the point under load: by kind, with the first message of each.

use leptos::prelude::*;

use super::super::Page;
use super::now::of_current;
use crate::studio::Failing;
use crate::ui::erased::Erase;
use crate::ui::html::{Html, heads, html};
use crate::ui::reactive::memo;

/// A table, as long as there is something in it.
#[component]
pub fn Failures(page: Page) -> impl IntoView {
    let failing = memo(move || {
        page.known.with(|study| {
            page.underway.with(|it| {
                let seen = of_current(study, it.as_ref());
                seen.map(|(_, progress)| progress.failures.clone())
                    .unwrap_or_default()
            })
        })
    });
    view! {
        <section
            class="stack tight"
            aria-label="Failures of this point"
            hidden=move || failing.with(Vec::is_empty)
            inner_html=move || failing.with(|it| table(it).into_string())
        ></section>
    }
    .erased()
}

fn table(failing: &[Failing]) -> Html {
    let head = heads(["failure", "#how many", "first message", "#last at"]);
    let rows: Html = failing.iter().map(row).collect();
    html!(
        r#"<h2>Failures of this point</h2><div class="scroll-x" tabindex="0" role="region" aria-label="Failures by kind"><table class="failing"><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>"#,
        head,
        rows
    )
}

fn row(it: &Failing) -> Html {
    let said = if it.first.is_empty() {
        "nothing was said"
    } else {
        &it.first
    };
    html!(
        r#"<tr><th scope="row">{}</th><td class="num">{}</td><td class="said">{}</td><td class="num">{} s</td></tr>"#,
        it.kind.replace('_', " "),
        it.count,
        said,
        (it.latest_ms / 1000).to_string()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_engine_says_is_text() {
        let failing = Failing {
            kind: "rate_limited".into(),
            count: 12,
            first: "<b>slow down</b>".into(),
            latest_ms: 4900,
        };
        let html = table(&[failing]).into_string();
        for part in [
            "rate limited",
            r#"<td class="num">12</td>"#,
            "&lt;b&gt;slow down&lt;/b&gt;",
            "4 s",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }
}
