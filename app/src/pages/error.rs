//! What could not be shown, and why. On the server the response carries the fitting status.

use crate::ui::erased::Erase;
use leptos::prelude::*;
use leptos_meta::{Meta, Title};

use crate::status::{set_status, status_of};
use crate::studio::StudioError;
use crate::words;

/// An error in place of a page.
#[component]
pub fn ErrorView(
    /// What went wrong.
    error: StudioError,
) -> impl IntoView {
    set_status(status_of(&error));
    let heading = heading(&error);
    let message = explained(&error);
    view! {
        <Title text=heading />
        <Meta name="robots" content="noindex" />
        <section class="page error-page">
            <h1>{heading}</h1>
            <p role="alert">{message}</p>
            <p>
                <a href="/" rel="external">"Back to your studies"</a>
            </p>
        </section>
    }
    .erased()
}

/// The same of a page that the server draws whole: its title and what stands in it.
#[cfg(feature = "ssr")]
pub fn error_page(error: &StudioError) -> (&'static str, crate::ui::html::Html) {
    let heading = heading(error);
    (heading, told_page(heading, &explained(error)))
}

/// What stands in such a page: a heading and a sentence.
#[cfg(feature = "ssr")]
pub fn told_page(heading: &str, sentence: &str) -> crate::ui::html::Html {
    crate::ui::html::html!(
        r#"<section class="page error-page"><h1>{}</h1><p role="alert">{}</p><p><a href="/">Back to your studies</a></p></section>"#,
        heading,
        sentence
    )
}

/// Where no route leads.
#[component]
pub fn NotFoundPage() -> impl IntoView {
    view! { <ErrorView error=StudioError::NotFound { what: "page".into() } /> }.erased()
}

/// What stands over an error.
pub fn heading(error: &StudioError) -> &'static str {
    match error {
        StudioError::NotFound { .. } => "Not found",
        StudioError::Forbidden { .. } => "Not allowed",
        StudioError::Engine { .. } => "The engine did not do its part",
        StudioError::Invalid { .. } | StudioError::Conflict { .. } => "That does not work",
        StudioError::Full => "No room left",
        StudioError::Internal => "Something went wrong",
    }
}

/// An error as a sentence of a page: of what is not there, also why that may be.
pub fn explained(error: &StudioError) -> String {
    let why = match error {
        StudioError::NotFound { what } if what == "link" => {
            ": it was revoked, has expired, or its address is not whole; ask whoever sent it"
        }
        StudioError::NotFound { what } if what == "page" || what == "document" => {
            ": look at how the address is written, or begin at your studies"
        }
        StudioError::NotFound { .. } => {
            ": it was deleted, or its address is not whole; look for it among your studies"
        }
        _ => "",
    };
    sentence(&format!("{error}{why}"))
}

/// An error's text as a sentence of a page.
pub fn sentence(text: &str) -> String {
    format!("{}.", words::capital(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_text_becomes_a_sentence() {
        assert_eq!(sentence("no such study"), "No such study.");
        assert_eq!(sentence(""), ".");
    }

    #[test]
    fn what_is_not_there_is_named_with_a_way_on() {
        for (what, way) in [
            (
                "study",
                "No such study: it was deleted, or its address is not whole; look for it among your studies.",
            ),
            ("link", "ask whoever sent it."),
            ("page", "begin at your studies."),
        ] {
            let said = explained(&StudioError::NotFound { what: what.into() });
            assert!(said.ends_with(way), "{said}");
        }
        assert_eq!(
            explained(&StudioError::Internal),
            sentence(&StudioError::Internal.to_string())
        );
    }
}
