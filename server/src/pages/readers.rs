//! Refusals as pages: whoever follows a link to what cannot be shown gets a page that says so, whatever stands at that address. Programs
//! get what they always get.

use std::borrow::Cow;

use app::drawn::document::{self, Drawn};
use app::pages::told_page;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use percent_encoding::percent_decode_str;

use super::drawn;
use crate::error::{ApiError, Told};
use crate::guard::refuse;
use crate::routes::Edge;

/// The middleware: refuses addresses that no page can show, and turns refusals into pages.
pub async fn answer(State(edge): State<Edge>, request: Request, next: Next) -> Response {
    let reads = reads_pages(&request);
    let is_guest = ["/s/", "/login"]
        .iter()
        .any(|it| request.uri().path().starts_with(it));
    let is_function = request.uri().path().starts_with("/fn/");
    let mut response = match unshowable(request.uri()) {
        Some(error) => refuse(request.uri().path(), error),
        None => next.run(request).await,
    };
    if is_function {
        // Leptos leaves out what its errors are.
        let kind = response.headers_mut().entry(header::CONTENT_TYPE);
        kind.or_insert(HeaderValue::from_static("application/json"));
    }
    match response.extensions_mut().remove::<Told>() {
        Some(told) if reads => page(&edge, response, told, is_guest),
        _ => response,
    }
}

/// Whether a person's browser is on its way to a page. What stands in a frame has a page of its own.
fn reads_pages(request: &Request) -> bool {
    let path = request.uri().path();
    let other = ["/api/", "/fn/", "/assets/", "/embed/"];
    let accept = request.headers().get(header::ACCEPT);
    let accept = accept.and_then(|it| it.to_str().ok()).unwrap_or_default();
    accept.contains("text/html") && !other.iter().any(|it| path.starts_with(it))
}

/// Control characters in an address: no page can hold them, and no database looks for them.
fn unshowable(uri: &Uri) -> Option<ApiError> {
    let is_control = |it: char| it.is_control() && !matches!(it, '\t' | '\n' | '\r');
    let holds = |text: &str| {
        let decoded: Cow<'_, str> = percent_decode_str(text).decode_utf8_lossy();
        decoded.chars().any(is_control)
    };
    let holds = holds(uri.path()) || uri.query().is_some_and(holds);
    holds.then(|| {
        let why = "an address holds no control characters, such as %00; leave them out";
        ApiError::BadRequest(why.into())
    })
}

/// The page in place of a refusal, with its status and its headers: when to come back.
fn page(edge: &Edge, refusal: Response, told: Told, is_guest: bool) -> Response {
    let document = if is_guest {
        document::for_guest
    } else {
        document::document
    };
    let page = drawn(|nonce| {
        let page = Drawn {
            body: told_page(told.heading, &told.sentence),
            title: told.heading.to_owned(),
            is_engines: false,
        };
        document(&page, edge.site.assets(), nonce)
    });
    let (refused, _) = refusal.into_parts();
    let mut page = (refused.status, page).into_response();
    for name in [header::RETRY_AFTER, header::WWW_AUTHENTICATE] {
        if let Some(value) = refused.headers.get(&name) {
            page.headers_mut().insert(name, value.clone());
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(address: &str, expected: bool) {
        let uri: Uri = address.parse().expect("an address");
        assert_eq!(unshowable(&uri).is_some(), expected, "{address}");
    }

    #[test]
    fn only_what_no_page_can_hold_is_refused() {
        for address in ["/?q=%00", "/a%1Bb", "/?q=%7f", "/?a=1&b=%C2%85", "/%00?q=1"] {
            check(address, true);
        }
        for address in ["/", "/?q=%0A%09x", "/?q=%2500", "/?q=%C3%A4%FF", "/%FF"] {
            check(address, false);
        }
    }
}
