//! Signing in: the token in a link or in the form becomes a cookie, and the address forgets it.

use std::time::Instant;

use axum::Form;
use axum::extract::{Query, Request, State};
use axum::http::{Method, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::{Extension, http::Uri};
use axum_extra::extract::cookie::{Cookie, SameSite};
use serde::Deserialize;

use super::COOKIE;
use crate::error::ApiError;
use crate::guard::{Caller, refuse};
use crate::routes::Edge;

/// What the form sends, and what brings it up.
#[derive(Debug, Default, Deserialize)]
pub struct SignIn {
    /// The access token.
    #[serde(default)]
    token: String,
    /// Where to go afterwards.
    #[serde(default)]
    next: String,
}

/// The form.
pub async fn form(State(edge): State<Edge>, Query(SignIn { next, .. }): Query<SignIn>) -> Response {
    page(&edge, StatusCode::OK, &next, "")
}

/// The form, sent.
pub async fn sign_in(
    State(edge): State<Edge>,
    Extension(caller): Extension<Caller>,
    Form(SignIn { token, next }): Form<SignIn>,
) -> Response {
    if let Err(seconds) = edge.sign_ins.take(caller.address, Instant::now()) {
        return refuse("/login", ApiError::TooMany(seconds));
    }
    if !edge.access.accepts(token.trim()) {
        return page(
            &edge,
            StatusCode::UNAUTHORIZED,
            &next,
            "That is not this studio's access token.",
        );
    }
    let_in(&caller, token.trim(), &next)
}

/// `?token=...` on any page: a redirect to the same page without it. `None` where there is no token to exchange.
pub(super) fn exchange(edge: &Edge, request: &Request) -> Option<Response> {
    if request.method() != Method::GET || request.uri().path().starts_with("/api/") {
        return None;
    }
    let (token, rest) = take_token(request.uri())?;
    let caller = request.extensions().get::<Caller>()?;
    if let Err(seconds) = edge.sign_ins.take(caller.address, Instant::now()) {
        return Some(refuse("/login", ApiError::TooMany(seconds)));
    }
    if !edge.access.accepts(&token) {
        return Some(page(
            edge,
            StatusCode::UNAUTHORIZED,
            &rest,
            "The link's access token is not valid (any more).",
        ));
    }
    Some(let_in(caller, &token, &rest))
}

/// What someone without a token gets: JSON for programs, the form for people.
pub(super) fn show_the_door(edge: &Edge, request: &Request) -> Response {
    let path = request.uri().path();
    if path.starts_with("/api/") || path.starts_with("/fn/") {
        return ApiError::Unauthorized.into_response();
    }
    // A strict cookie is not sent when another site's link is followed. Loading the page once more from here sends it.
    let from_elsewhere = request
        .headers()
        .get("sec-fetch-site")
        .is_some_and(|site| site == "cross-site");
    if from_elsewhere && request.method() == Method::GET {
        return (StatusCode::UNAUTHORIZED, Html(AGAIN)).into_response();
    }
    let wanted = request
        .uri()
        .path_and_query()
        .map_or("/", |path| path.as_str());
    page(edge, StatusCode::UNAUTHORIZED, wanted, "")
}

const AGAIN: &str = "<!doctype html><html lang=en><meta charset=utf-8>\
    <meta http-equiv=refresh content=0><title>Goodput Studio</title><p>One moment.</p>";

fn let_in(caller: &Caller, token: &str, next: &str) -> Response {
    let cookie = Cookie::build((COOKIE, token.to_owned()))
        .path("/")
        .http_only(true)
        .same_site(SameSite::Strict)
        .secure(caller.https)
        .permanent()
        .build();
    let mut response = Redirect::to(local(next)).into_response();
    if let Ok(value) = cookie.to_string().parse() {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
    response
}

/// Only our own pages: never another site, never another scheme.
fn local(next: &str) -> &str {
    let second = next.as_bytes().get(1);
    let is_local = next.starts_with('/')
        && !matches!(second, Some(b'/' | b'\\'))
        && !next.starts_with("/login");
    if is_local && next.bytes().all(|byte| byte.is_ascii_graphic()) {
        next
    } else {
        "/"
    }
}

/// The token in the query, and the address without it.
fn take_token(uri: &Uri) -> Option<(String, String)> {
    let pairs = || url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    let token = pairs().find(|(name, _)| name == "token")?.1.into_owned();
    let rest = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(pairs().filter(|(name, _)| name != "token"))
        .finish();
    let path = uri.path();
    Some((
        token,
        if rest.is_empty() {
            path.to_owned()
        } else {
            format!("{path}?{rest}")
        },
    ))
}

fn page(edge: &Edge, status: StatusCode, next: &str, problem: &str) -> Response {
    let css = &edge.site.assets().css;
    let style = if css.is_empty() {
        String::new()
    } else {
        format!("<link rel=stylesheet href=\"{}\">", escape(css))
    };
    let problem = if problem.is_empty() {
        String::new()
    } else {
        format!("<p role=alert>{}</p>", escape(problem))
    };
    let next = escape(local(next));
    let html = format!(
        "<!doctype html><html lang=en><head><meta charset=utf-8>\
         <meta name=viewport content=\"width=device-width,initial-scale=1\">\
         <title>Sign in - Goodput Studio</title>{style}</head><body><main class=sign-in>\
         <h1>Goodput Studio</h1><p>This studio needs its access token. It was printed when the studio was started for \
         the first time; <code>goodput token rotate</code> makes a new one.</p>{problem}\
         <form method=post action=/login><input type=hidden name=next value=\"{next}\">\
         <p><label>Access token <input type=password name=token autocomplete=current-password required autofocus></label> \
         <button class=primary>Sign in</button></p></form></main></body></html>"
    );
    (status, Html(html)).into_response()
}

/// For text and attribute values.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn goes(next: &str, expected: &str) {
        assert_eq!(local(next), expected);
    }

    #[test]
    fn one_is_never_sent_to_another_site() {
        goes("/studies/1?x=y", "/studies/1?x=y");
        for foreign in [
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "",
            "/a\r\nSet-Cookie:x",
            "/login?next=/login",
        ] {
            goes(foreign, "/");
        }
    }

    #[test]
    fn the_token_leaves_the_address_and_the_rest_stays() {
        let take = |uri: &str| take_token(&uri.parse().expect("uri"));
        assert_eq!(take("/?token=abc"), Some(("abc".into(), "/".into())));
        assert_eq!(
            take("/compare?c=1&token=a%20b&c=2"),
            Some(("a b".into(), "/compare?c=1&c=2".into()))
        );
        assert_eq!(take("/compare?c=1"), None);
    }

    #[test]
    fn html_is_escaped() {
        assert_eq!(escape("<a href=\"&\">"), "&lt;a href=&quot;&amp;&quot;&gt;");
    }
}
