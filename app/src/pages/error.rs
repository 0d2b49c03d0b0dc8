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
    let message = sentence(&error.to_string());
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
pub fn error_page(error: &StudioError) -> (String, crate::ui::html::Html) {
    let heading = heading(error);
    let page = crate::ui::html::html!(
        r#"<section class="page error-page"><h1>{}</h1><p role="alert">{}</p><p><a href="/">Back to your studies</a></p></section>"#,
        heading,
        sentence(&error.to_string())
    );
    (heading.to_owned(), page)
}

/// Where no route leads.
#[component]
pub fn NotFoundPage() -> impl IntoView {
    view! { <ErrorView error=StudioError::NotFound { what: "page".into() } /> }.erased()
}

fn heading(error: &StudioError) -> &'static str {
    match error {
        StudioError::NotFound { .. } => "Not found",
        StudioError::Forbidden { .. } => "Not allowed",
        StudioError::Engine { .. } => "The engine did not do its part",
        StudioError::Invalid { .. } | StudioError::Conflict { .. } => "That does not work",
        StudioError::Full => "No room left",
        StudioError::Internal => "Something went wrong",
    }
}

/// An error's text as a sentence of a page.
fn sentence(text: &str) -> String {
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
}
