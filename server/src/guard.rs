//! Who may talk to us at all: host names, origins, content types, forwarded headers.
//!
//! A studio on loopback has no login, so a web page elsewhere must not reach it through the browser of the person who
//! runs it. Three things stand in its way: the host name must be ours (DNS rebinding), an unsafe request must come from
//! our own origin, and it must be JSON, which no form of another site can send unasked.

pub mod headers;
pub mod limit;

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::body::Body;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use percent_encoding::percent_decode_str;
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

/// Pictures and style of shared pages may be fetched by the programs of others, and a shared curve may stand in a frame of their pages:
/// the link is the right, whoever asks. What else may be framed its policy says.
fn is_public(path: &str) -> bool {
    ["/s/", "/embed/", "/assets/"]
        .iter()
        .any(|public| path.starts_with(public))
}

/// Unsafe methods take JSON only: no form of another site can send that unasked. The sign-in form takes a token alone; our pages' own
/// forms say nothing but their address, and are taken where the browser vouches that the page is ours.
pub fn check_content_type(request: &Request) -> Result<(), ApiError> {
    if is_safe(request.method()) || request.uri().path() == "/login" {
        return Ok(());
    }
    let kind = text(request.headers(), header::CONTENT_TYPE.as_str()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    let vouched = text(request.headers(), "sec-fetch-site") == Some("same-origin");
    if vouched && essence.eq_ignore_ascii_case(FORM) && takes_forms(request.uri().path()) {
        return Ok(());
    }
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(ApiError::WrongType(format!(
        "{} needs the header `Content-Type: application/json`, with a body or without",
        request.method()
    )))
}

/// Refuses addresses with `.` or `..` between their slashes, however often encoded: who may come in is decided by how an
/// address begins, and whoever resolves them later would show what stands elsewhere.
fn check_path(path: &str) -> Result<(), ApiError> {
    let mut text = path.to_owned();
    while let Cow::Owned(decoded) = percent_decode_str(&text).decode_utf8_lossy() {
        text = decoded;
    }
    let goes_up = |segment: &str| matches!(segment, "." | "..");
    if text.split(['/', '\\']).any(goes_up) {
        return Err(ApiError::BadRequest(
            "an address holds no `.` and no `..` between its slashes".into(),
        ));
    }
    Ok(())
}

/// What a plain form sends.
const FORM: &str = "application/x-www-form-urlencoded";

/// Addresses that forms of the start page have.
fn takes_forms(path: &str) -> bool {
    path == "/exercise"
        || path.starts_with("/examples/")
        || (path.starts_with("/studies/")
            && (path.ends_with("/delete") || path.ends_with("/undelete")))
}

/// The middleware: identifies the caller, refuses strangers.
pub async fn guard(State(edge): State<Edge>, mut request: Request, next: Next) -> Response {
    let checked = edge.guard.identify(&request).and_then(|caller| {
        check_path(request.uri().path())?;
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
    let text = format!("{error}\n");
    // With the headers that programs get: when to come back.
    let (mut parts, _) = error.into_response().into_parts();
    for name in [header::CONTENT_TYPE, header::CONTENT_LENGTH] {
        parts.headers.remove(name);
    }
    let plain = (
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/plain; charset=utf-8"),
    );
    parts.headers.extend([plain]);
    Response::from_parts(parts, Body::from(text))
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
mod tests;
