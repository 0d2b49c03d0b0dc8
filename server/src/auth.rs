//! Who is talking: one access token, kept as a hash, exchanged for a cookie.
//!
//! A studio on loopback is open: everyone on the machine is its owner. Elsewhere every page and route needs the token,
//! but for shared links, assets and the sign-in page itself.

pub mod login;

use std::sync::{PoisonError, RwLock};

use app::studio::Actor;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::header;
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::Response;
use axum_extra::extract::CookieJar;
use rand::TryRng;
use sha2::{Digest, Sha256};

use crate::error::ApiError;
use crate::routes::Edge;

/// The cookie's name.
pub const COOKIE: &str = "goodput_token";

/// An access token. Long enough not to be guessed; never printed by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// Too short, or with blanks.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "an access token has at least {} characters and no blanks",
    Token::SHORTEST
)]
pub struct WeakToken;

impl Token {
    /// Fewer characters could be guessed.
    pub const SHORTEST: usize = 16;

    /// A new one: 256 random bits.
    pub fn random() -> Result<Self, rand::rngs::SysError> {
        let mut bytes = [0; 32];
        rand::rngs::SysRng.try_fill_bytes(&mut bytes)?;
        Ok(Self(hex(&bytes)))
    }

    /// The token itself: only for printing it once.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for Token {
    type Err = WeakToken;
    fn from_str(text: &str) -> Result<Self, WeakToken> {
        let is_plain = text
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && !matches!(byte, b';' | b',' | b'"' | b'\\'));
        if Self::SHORTEST <= text.len() && is_plain {
            Ok(Self(text.to_owned()))
        } else {
            Err(WeakToken)
        }
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(..)")
    }
}

/// SHA-256 of a token: all that is kept of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenHash([u8; 32]);

impl TokenHash {
    /// The hash of what was presented.
    pub fn of(token: &str) -> Self {
        Self(Sha256::digest(token.as_bytes()).into())
    }

    /// As it is stored.
    pub fn to_hex(self) -> String {
        hex(&self.0)
    }

    /// As it was stored.
    pub fn from_hex(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return None;
        }
        for (byte, at) in bytes.iter_mut().zip((0..64).step_by(2)) {
            *byte = u8::from_str_radix(&text[at..at + 2], 16).ok()?;
        }
        Some(Self(bytes))
    }

    /// Takes the same time wherever the two differ.
    pub fn matches(self, other: Self) -> bool {
        self.0
            .iter()
            .zip(other.0)
            .fold(0, |differing, (one, two)| differing | (one ^ two))
            == 0
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Who may use this studio.
#[derive(Debug)]
pub struct Access(RwLock<Option<TokenHash>>);

impl Access {
    /// Everyone who can reach it.
    pub fn open() -> Self {
        Self(RwLock::new(None))
    }

    /// Whoever has the token with this hash.
    pub fn by_token(hash: TokenHash) -> Self {
        Self(RwLock::new(Some(hash)))
    }

    /// Another token from now on. An open studio stays open.
    pub fn rotate(&self, hash: TokenHash) {
        let mut kept = self.0.write().unwrap_or_else(PoisonError::into_inner);
        *kept = kept.map(|_| hash);
    }

    /// Whether no token is needed.
    pub fn is_open(&self) -> bool {
        self.kept().is_none()
    }

    /// Whether this token opens the studio.
    pub fn accepts(&self, presented: &str) -> bool {
        self.kept()
            .is_none_or(|hash| hash.matches(TokenHash::of(presented)))
    }

    fn kept(&self) -> Option<TokenHash> {
        *self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The actor of a request, for handlers. Only requests that passed [`require`] have one.
#[derive(Clone, Debug)]
pub struct Who(pub Actor);

impl<S: Send + Sync> FromRequestParts<S> for Who {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        parts
            .extensions
            .get::<Actor>()
            .cloned()
            .map(Self)
            .ok_or(ApiError::Unauthorized)
    }
}

/// The middleware: lets in who may come in, shows the others the door.
pub async fn require(State(edge): State<Edge>, mut request: Request, next: Next) -> Response {
    let path = request.uri().path();
    if !edge.access.is_open() {
        if is_exempt(path) {
            return next.run(request).await;
        }
        if let Some(response) = login::exchange(&edge, &request) {
            return response;
        }
        if !presented(&request)
            .iter()
            .any(|token| edge.access.accepts(token))
        {
            return login::show_the_door(&edge, &request);
        }
    }
    request.extensions_mut().insert(Actor::Owner);
    next.run(request).await
}

/// Shared links carry their own right; the rest is needed to sign in.
fn is_exempt(path: &str) -> bool {
    path.starts_with("/s/")
        || path.starts_with("/embed/")
        || path.starts_with("/assets/")
        // What words mean is the same for everybody, and shared pages cite it.
        || path.starts_with("/docs/")
        || matches!(path, "/login" | "/docs" | "/favicon.ico" | "/fn/shared")
}

fn presented(request: &Request) -> Vec<String> {
    let headers = request.headers();
    let bearer = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    let bearer = bearer
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, token)| token.trim().to_owned());
    let cookie = CookieJar::from_headers(headers)
        .get(COOKIE)
        .map(|cookie| cookie.value().to_owned());
    bearer.into_iter().chain(cookie).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_survives_only_as_its_hash() {
        let token = Token::random().expect("entropy");
        let hash = TokenHash::of(token.reveal());
        assert_eq!(TokenHash::from_hex(&hash.to_hex()), Some(hash));
        assert!(Access::by_token(hash).accepts(token.reveal()));
        assert!(!Access::by_token(hash).accepts("something else"));
        assert!(!format!("{token:?}").contains(token.reveal()));
    }

    #[test]
    fn what_is_no_hash_is_not_read_as_one() {
        for bad in ["", "abc", &"zz".repeat(32), &"é".repeat(32)] {
            assert_eq!(TokenHash::from_hex(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_rotated_token_no_longer_opens() {
        let access = Access::by_token(TokenHash::of("old"));
        access.rotate(TokenHash::of("new"));
        assert!(access.accepts("new") && !access.accepts("old"));
        let open = Access::open();
        open.rotate(TokenHash::of("new"));
        assert!(
            open.is_open(),
            "an open studio cannot be locked from outside"
        );
    }

    #[test]
    fn tokens_that_could_be_guessed_or_break_a_cookie_are_refused() {
        for bad in [
            "",
            "short",
            "with blanks in between",
            "semicolon;semicolon",
            "quote\"quote\"quote",
        ] {
            assert_eq!(bad.parse::<Token>(), Err(WeakToken), "{bad}");
        }
    }
}
