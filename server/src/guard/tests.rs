//! Tests of the module above.

use axum::body::Body;
use axum::http::Request;

use super::*;
use crate::config::{Database, StoreConfig};

fn config() -> Config {
    let store = StoreConfig {
        data_dir: "/d".into(),
        database: Database::Sqlite("/d/x".into()),
    };
    Config::loopback(7878, store)
}

fn ask(method: &str, path: &str, headers: &[(&str, &str)]) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path);
    if !headers.iter().any(|(name, _)| *name == "host") {
        request = request.header("host", "127.0.0.1:7878");
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Body::empty()).expect("request")
}

fn status(config: &Config, request: &Request<Body>) -> u16 {
    let guard = Guard::new(config);
    let checked = guard.identify(request).and_then(|caller| {
        guard.check_origin(request, &caller)?;
        check_content_type(request)
    });
    checked.map_or_else(|error| error.status().0.as_u16(), |()| 200)
}

#[track_caller]
fn check(method: &str, path: &str, headers: &[(&str, &str)], expected: u16) {
    assert_eq!(
        status(&config(), &ask(method, path, headers)),
        expected,
        "{headers:?}"
    );
}

const JSON: (&str, &str) = ("content-type", "application/json; charset=utf-8");

#[test]
fn only_our_own_names_are_answered() {
    for host in [
        "127.0.0.1:7878",
        "localhost",
        "LOCALHOST:7878",
        "[::1]:7878",
        "localhost:80",
    ] {
        check("GET", "/", &[("host", host)], 200);
    }
    for host in [
        "evil.example",
        "evil.example:7878",
        "127.0.0.1.evil.example",
        "10.0.0.1",
        "",
        "a b",
        "x@localhost",
        "localhost/x",
    ] {
        check("GET", "/", &[("host", host)], 421);
    }
}

#[test]
fn a_name_that_was_allowed_is_answered() {
    let config = Config {
        allow_hosts: vec!["Studio.example".into()],
        ..config()
    };
    assert_eq!(
        status(&config, &ask("GET", "/", &[("host", "studio.example:443")])),
        200
    );
}

#[test]
fn on_every_address_any_literal_is_answered_but_no_name() {
    let config = Config {
        bind: "0.0.0.0:7878".parse().expect("address"),
        ..config()
    };
    assert_eq!(
        status(&config, &ask("GET", "/", &[("host", "192.168.7.7:7878")])),
        200
    );
    assert_eq!(
        status(&config, &ask("GET", "/", &[("host", "rebound.example")])),
        421
    );
}

#[test]
fn an_unsafe_request_comes_from_our_own_origin() {
    let path = "/api/v1/studies";
    check("POST", path, &[JSON], 200);
    check(
        "POST",
        path,
        &[JSON, ("origin", "http://127.0.0.1:7878")],
        200,
    );
    check(
        "POST",
        path,
        &[JSON, ("origin", "http://127.0.0.1:3000")],
        403,
    );
    check(
        "POST",
        path,
        &[JSON, ("origin", "https://127.0.0.1:7878")],
        403,
    );
    check("POST", path, &[JSON, ("origin", "null")], 403);
    check(
        "POST",
        "/login",
        &[("origin", "null"), ("sec-fetch-site", "same-origin")],
        200,
    );
    check("POST", path, &[JSON, ("sec-fetch-site", "cross-site")], 403);
    check(
        "DELETE",
        path,
        &[JSON, ("sec-fetch-site", "same-site")],
        403,
    );
}

#[test]
fn an_unsafe_request_is_json() {
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "application/jsonx",
    ] {
        check("POST", "/fn/launch", &[("content-type", kind)], 415);
    }
    check("DELETE", "/api/v1/slos/x", &[], 415);
    check(
        "POST",
        "/login",
        &[("content-type", "application/x-www-form-urlencoded")],
        200,
    );
    check("POST", "/login", &[("origin", "http://evil.example")], 403);
}

#[test]
fn a_link_from_elsewhere_may_be_followed_but_not_fetched() {
    let cross = ("sec-fetch-site", "cross-site");
    check(
        "GET",
        "/studies/1",
        &[
            cross,
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "document"),
        ],
        200,
    );
    check(
        "GET",
        "/studies/1",
        &[
            cross,
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "iframe"),
        ],
        403,
    );
    check(
        "GET",
        "/api/v1/studies",
        &[cross, ("sec-fetch-mode", "no-cors")],
        403,
    );
    check(
        "GET",
        "/s/token/preview.png",
        &[cross, ("sec-fetch-mode", "no-cors")],
        200,
    );
}

#[test]
fn a_shared_curve_may_be_framed_by_any_site_and_nothing_else() {
    for site in ["same-site", "cross-site"] {
        let framed = [
            ("sec-fetch-site", site),
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "iframe"),
        ];
        check("GET", "/embed/token?y=tpot", &framed, 200);
        for own in [
            "/",
            "/studies/1",
            "/compare",
            "/login",
            "/embedded",
            "/engines",
        ] {
            check("GET", own, &framed, 403);
        }
        let posted = [("sec-fetch-site", site), JSON];
        check("POST", "/embed/token", &posted, 403);
    }
}

#[test]
fn forwarded_headers_are_refused_unless_they_are_believed() {
    for name in [
        "forwarded",
        "x-forwarded-for",
        "x-forwarded-host",
        "x-real-ip",
    ] {
        check("GET", "/", &[(name, "x")], 400);
    }
    let behind = Config {
        trust_forwarded: true,
        allow_hosts: vec!["studio.example".into()],
        ..config()
    };
    let request = ask(
        "POST",
        "/fn/x",
        &[
            JSON,
            ("x-forwarded-host", "studio.example"),
            ("x-forwarded-proto", "https"),
            ("x-forwarded-for", "6.6.6.6, 9.9.9.9"),
            ("origin", "https://studio.example"),
        ],
    );
    assert_eq!(status(&behind, &request), 200);
    let caller = Guard::new(&behind).identify(&request).expect("caller");
    assert_eq!(
        (
            caller.origin().as_str(),
            caller.address.to_string().as_str()
        ),
        ("https://studio.example", "9.9.9.9")
    );
}

#[test]
fn an_address_that_goes_up_is_refused_however_it_is_written() {
    for path in [
        "/s/../studies/new",
        "/embed/%2e%2e/studies/new",
        "/s/x/%2E./../studies",
        "/s/%252e%252e/studies/new",
        "/s/..%2fstudies/new",
        "/s/..\\studies\\new",
        "/s/./x",
        "/..",
    ] {
        assert!(check_path(path).is_err(), "{path}");
    }
    for path in [
        "/",
        "/s/a..b/curve.svg",
        "/assets/app..css",
        "/s/%E0%A4%A",
        "/studies/...",
    ] {
        assert!(check_path(path).is_ok(), "{path}");
    }
}
