//! Headers that every response carries.

use axum::extract::Request;
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;

/// What is not a page runs nothing and shows nothing but itself.
const NOT_A_PAGE: &str = "default-src 'none'; style-src 'self'; img-src 'self'; \
                          form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// The policy of what may stand in a frame of any page: it runs nothing, asks for nothing, and sends nothing.
pub const FRAMED: &str = "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; \
                          frame-ancestors *; base-uri 'none'";

const ALWAYS: [(HeaderName, &str); 4] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::CONTENT_SECURITY_POLICY, NOT_A_PAGE),
];

/// The policy of pages. `nonce` is the one that the page's own scripts carry.
pub fn page_policy(nonce: &str) -> String {
    format!(
        "default-src 'self'; script-src 'self' 'nonce-{nonce}' 'wasm-unsafe-eval'; \
         style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; \
         frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
    )
}

/// The middleware. A header that a handler set stays.
pub async fn secure(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    add(response.headers_mut());
    response
}

fn add(headers: &mut HeaderMap) {
    let policy = headers.get(header::CONTENT_SECURITY_POLICY);
    let framed = policy.is_some_and(|it| it == FRAMED);
    for (name, value) in ALWAYS {
        // The older header knows no exception.
        if framed && name == header::X_FRAME_OPTIONS {
            continue;
        }
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
    // Answers are a person's own; only hashed assets say otherwise.
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_that_a_page_set_stays() {
        let mut headers = HeaderMap::new();
        headers.insert(
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static("default-src 'self'"),
        );
        add(&mut headers);
        assert_eq!(
            headers[header::CONTENT_SECURITY_POLICY],
            "default-src 'self'"
        );
        assert_eq!(headers[header::REFERRER_POLICY], "no-referrer");
    }

    #[test]
    fn only_what_may_be_framed_is() {
        let with = |policy: &'static str| {
            let mut headers = HeaderMap::new();
            let value = HeaderValue::from_static(policy);
            headers.insert(header::CONTENT_SECURITY_POLICY, value);
            add(&mut headers);
            headers.contains_key(header::X_FRAME_OPTIONS)
        };
        assert!(!with(FRAMED));
        assert!(with("default-src 'self'; frame-ancestors *"));
        assert!(!FRAMED.contains("script-src"));
    }

    #[test]
    fn pages_run_only_their_own_scripts() {
        let policy = page_policy("abc");
        assert!(
            policy.contains("script-src 'self' 'nonce-abc' 'wasm-unsafe-eval';"),
            "{policy}"
        );
        assert!(!policy.contains("'unsafe-eval'"), "{policy}");
    }
}
