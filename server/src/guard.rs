//! Who may talk to us at all: host names, origins, content types, forwarded headers.
//!
//! A studio on loopback has no login, so a web page elsewhere must not reach it through the browser of the person who
//! runs it. Three things stand in its way: the host name must be ours (DNS rebinding), an unsafe request must come from
//! our own origin, and it must be JSON, which no form of another site can send unasked.

pub mod headers;
pub mod limit;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::{ConnectInfo, Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use url::Url;

use crate::config::Config;
use crate::error::ApiError;
use crate::routes::Edge;

/// What is known of who sent a request, for the layers behind the guard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Host and port as the browser wrote them: `127.0.0.1:7878`.
    pub host: String,
    /// Whether the browser speaks https (to us, or to a proxy that is believed).
    pub https: bool,
    /// Where it comes from, for rate limits.
    pub address: IpAddr,
}

impl Caller {
    /// `http://127.0.0.1:7878`
    pub fn origin(&self) -> String {
        format!(
            "{}://{}",
            if self.https { "https" } else { "http" },
            self.host
        )
    }
}

/// The rules.
#[derive(Clone, Debug)]
pub struct Guard {
    /// Names that it answers to, lowercase.
    names: Vec<String>,
    /// Listens on every address, so any literal address may be ours; rebinding needs a name.
    any_address: bool,
    trust_forwarded: bool,
    public_url: Option<Url>,
}

impl Guard {
    /// The rules that a configuration states.
    pub fn new(config: &Config) -> Self {
        let ip = config.bind.ip();
        let public = config
            .public_url
            .as_ref()
            .and_then(|url| url.host_str().map(str::to_owned));
        let bound = if ip.is_ipv6() {
            format!("[{ip}]")
        } else {
            ip.to_string()
        };
        let names = [
            "localhost".into(),
            "127.0.0.1".into(),
            "[::1]".into(),
            bound,
        ];
        let names = names
            .into_iter()
            .chain(config.allow_hosts.iter().cloned())
            .chain(public);
        Self {
            names: names.map(|name| name.to_ascii_lowercase()).collect(),
            any_address: ip.is_unspecified(),
            trust_forwarded: config.trust_forwarded,
            public_url: config.public_url.clone(),
        }
    }

    /// Who calls, or why the call is refused.
    pub fn identify(&self, request: &Request) -> Result<Caller, ApiError> {
        let headers = request.headers();
        if let Some(name) = forwarded(headers).filter(|_| !self.trust_forwarded) {
            return Err(ApiError::BadRequest(format!(
                "header {name} is not believed; behind a proxy that sets it, start the studio with --trust-forwarded"
            )));
        }
        let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
        let peer = peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |info| info.0.ip());
        let host = self.host(headers, request.uri().host()).to_owned();
        self.check_host(&host)?;
        Ok(Caller {
            https: self.is_https(headers),
            address: self.address(headers, peer),
            host,
        })
    }

    fn host<'a>(&self, headers: &'a HeaderMap, uri: Option<&'a str>) -> &'a str {
        let forwarded = self.trusted(headers, "x-forwarded-host");
        forwarded
            .or_else(|| text(headers, header::HOST.as_str()))
            .or(uri)
            .unwrap_or_default()
    }

    fn is_https(&self, headers: &HeaderMap) -> bool {
        match self.trusted(headers, "x-forwarded-proto") {
            Some(scheme) => scheme == "https",
            None => self
                .public_url
                .as_ref()
                .is_some_and(|url| url.scheme() == "https"),
        }
    }

    fn address(&self, headers: &HeaderMap, peer: IpAddr) -> IpAddr {
        self.trusted(headers, "x-forwarded-for")
            .and_then(|address| address.parse().ok())
            .unwrap_or(peer)
    }

    /// The last entry: the one that our own proxy wrote.
    fn trusted<'a>(&self, headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
        let value = text(headers, name).filter(|_| self.trust_forwarded)?;
        value.rsplit(',').next().map(str::trim)
    }

    fn check_host(&self, host: &str) -> Result<(), ApiError> {
        let parsed = host.parse::<Authority>().ok();
        let Some(authority) = parsed.filter(|authority| !authority.as_str().contains('@')) else {
            return Err(ApiError::WrongHost("the Host header names no host".into()));
        };
        let name = authority.host().to_ascii_lowercase();
        let is_literal = name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
        if self.names.contains(&name) || (self.any_address && is_literal) {
            return Ok(());
        }
        Err(ApiError::WrongHost(format!(
            "this studio does not answer to the name {name:?}; start it with --allow-host {name} if it should"
        )))
    }

    /// Refuses what another site's page makes a browser send.
    pub fn check_origin(&self, request: &Request, caller: &Caller) -> Result<(), ApiError> {
        let headers = request.headers();
        let foreign =
            || ApiError::Forbidden("requests that another site's page makes are refused".into());
        let own = |origin: &str| {
            let public = self
                .public_url
                .as_ref()
                .map(|url| url.origin().ascii_serialization());
            origin == caller.origin() || public.as_deref() == Some(origin)
        };
        let site = text(headers, "sec-fetch-site").unwrap_or("none");
        if is_safe(request.method()) {
            let visit = text(headers, "sec-fetch-mode") == Some("navigate")
                && text(headers, "sec-fetch-dest").is_none_or(|dest| dest == "document");
            let ours = matches!(site, "same-origin" | "none");
            return if ours || visit || is_public(request.uri().path()) {
                Ok(())
            } else {
                Err(foreign())
            };
        }
        if !matches!(site, "same-origin" | "none") {
            return Err(foreign());
        }
        match text(headers, header::ORIGIN.as_str()) {
            // A form of ours says null, since our pages keep their address to themselves; the browser vouches for it.
            Some("null") if site == "same-origin" => Ok(()),
            Some(origin) if !own(origin) => Err(foreign()),
            _ => Ok(()),
        }
    }
}

/// Pictures and style of shared pages may be fetched by the programs of others.
fn is_public(path: &str) -> bool {
    path.starts_with("/s/") || path.starts_with("/assets/")
}

/// Unsafe methods take JSON only: no form of another site can send that unasked. The sign-in form takes a token alone.
pub fn check_content_type(request: &Request) -> Result<(), ApiError> {
    if is_safe(request.method()) || request.uri().path() == "/login" {
        return Ok(());
    }
    let kind = text(request.headers(), header::CONTENT_TYPE.as_str()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(ApiError::WrongType(format!(
        "{} needs the header `Content-Type: application/json`, with a body or without",
        request.method()
    )))
}

/// The middleware: identifies the caller, refuses strangers.
pub async fn guard(State(edge): State<Edge>, mut request: Request, next: Next) -> Response {
    let checked = edge.guard.identify(&request).and_then(|caller| {
        edge.guard.check_origin(&request, &caller)?;
        check_content_type(&request)?;
        Ok(caller)
    });
    match checked {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(error) => refuse(request.uri().path(), error),
    }
}

/// JSON for programs, one plain sentence for people.
pub fn refuse(path: &str, error: ApiError) -> Response {
    if path.starts_with("/api/") || path.starts_with("/fn/") {
        return error.into_response();
    }
    let (status, _) = error.status();
    (status, format!("{error}\n")).into_response()
}

fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

fn forwarded(headers: &HeaderMap) -> Option<&str> {
    let is_forwarded = |name: &&str| {
        name.starts_with("x-forwarded-") || matches!(*name, "forwarded" | "x-real-ip")
    };
    headers
        .keys()
        .map(header::HeaderName::as_str)
        .find(is_forwarded)
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
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
}
