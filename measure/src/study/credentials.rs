//! Credentials stay out of studies and engines: a key is named by its environment variable or as a stored secret, and a
//! header holds none.

use super::{Endpoint, FieldError};

/// Longest name of a variable or a header.
const MAX_NAME: usize = 100;

/// Endings of names of headers that carry a credential.
const SECRET_ENDINGS: [&str; 12] = [
    "authorization",
    "authentication",
    "auth",
    "cookie",
    "cookie2",
    "token",
    "secret",
    "key",
    "password",
    "passwd",
    "credential",
    "credentials",
];

/// Headers that say where a request ends, which is not for people to say.
const FRAMING: [&str; 6] = [
    "connection",
    "content-length",
    "expect",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// How a header's value begins when it is a credential, whatever the header is called.
const SECRET_BEGINNINGS: [&str; 3] = ["bearer ", "basic ", "sk-"];

impl Endpoint {
    /// What is wrong with how it is reached: its credentials, then its connection, each error at its field.
    pub fn check_reach(&self) -> Vec<FieldError> {
        let mut errors = self.check_credentials();
        errors.extend(self.connection.check(&self.url));
        errors
    }

    /// What of it is, or could give away, a credential: each error at `api_key_env`, `api_key_secret` or `headers`. No
    /// value is repeated.
    fn check_credentials(&self) -> Vec<FieldError> {
        let key = self.api_key_env.as_deref().and_then(key_variable_problem);
        let key = key.map(|message| ("api_key_env", message.to_owned()));
        let secret = self.secret_problem();
        let secret = secret.map(|message| ("api_key_secret", message.to_owned()));
        let headers = self.headers.iter();
        let headers = headers.filter_map(|(name, value)| header_problem(name, value));
        let headers = headers.map(|message| ("headers", message));
        let at_field = |(field, message): (&str, String)| FieldError {
            field: field.to_owned(),
            message,
        };
        let keys = key.into_iter().chain(secret);
        keys.chain(headers).map(at_field).collect()
    }

    fn secret_problem(&self) -> Option<&'static str> {
        let name = self.api_key_secret.as_deref()?;
        if !is_variable_name(name) {
            return Some(
                "name a stored secret, in capitals such as VLLM; never write the key itself",
            );
        }
        self.api_key_env.is_some().then_some(
            "the key comes from a variable or from a stored secret: leave one of them out",
        )
    }
}

/// Whether a text is written as environment variables are, and names of stored secrets: capitals, digits and underscores,
/// no digit first. A key that was typed in place of its name hardly ever is.
pub fn is_variable_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    text.len() <= MAX_NAME
        && text.chars().all(plain)
        && text.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
}

/// A server has many variables that must never leave it; those whose names end so are API keys.
fn key_variable_problem(name: &str) -> Option<&'static str> {
    if !is_variable_name(name) {
        return Some(
            "name an environment variable, such as VLLM_API_KEY; never write the key itself",
        );
    }
    let is_key = name == "API_KEY" || name.ends_with("_API_KEY");
    (!is_key || name.starts_with("GOODPUT_")).then_some(
        "this variable is never sent to an engine: only those whose names end in _API_KEY are, and none of the studio's own; set the key in such a one, for example VLLM_API_KEY",
    )
}

fn header_problem(name: &str, value: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if name.is_empty() || MAX_NAME < name.len() || !name.chars().all(is_plain) {
        return Some(format!(
            "a header's name has at most {MAX_NAME} letters, digits and dashes and no blanks; mend it"
        ));
    }
    if holds_credential(name, value) {
        return Some(format!(
            "the header {name} would store a credential; remove it and name the environment variable that holds the key instead"
        ));
    }
    if FRAMING.iter().any(|it| name.eq_ignore_ascii_case(it)) {
        return Some(format!(
            "the header {name} belongs to the connection and is set for each request; remove it"
        ));
    }
    let is_visible = |c: char| matches!(c, ' '..='~' | '\t');
    (!value.chars().all(is_visible))
        .then(|| format!("the value of the header {name} must be one line of visible ASCII"))
}

fn holds_credential(name: &str, value: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let value = value.trim_start().to_ascii_lowercase();
    SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending))
        || SECRET_BEGINNINGS
            .iter()
            .any(|beginning| value.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::Api;

    fn problems(change: impl Fn(&mut Endpoint)) -> Vec<FieldError> {
        let mut endpoint = Endpoint::new("http://127.0.0.1:8000", Api::OpenAiChat, "m");
        change(&mut endpoint);
        endpoint.check_credentials()
    }

    #[track_caller]
    fn key(name: &str, mend: &str) {
        let found = problems(|it| it.api_key_env = Some(name.to_owned()));
        assert_eq!(found.len(), 1, "{name}");
        assert_eq!(found[0].field, "api_key_env");
        assert!(found[0].message.contains(mend), "{}", found[0].message);
        let is_repeated = 3 < name.len() && found[0].message.contains(name);
        assert!(!is_repeated, "{}", found[0].message);
    }

    #[test]
    fn a_key_is_named_never_written_and_no_other_variable_leaves() {
        for typed in [
            "sk-live-SECRETKEY",
            "hf_abcDEF",
            "",
            "A=B",
            "7_API_KEY",
            "\0",
        ] {
            key(typed, "never write the key itself");
        }
        for other in ["PATH", "HOME", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN"] {
            key(other, "end in _API_KEY");
        }
        key("GOODPUT_API_KEY", "none of the studio's own");
        key("GOODPUT_TOKEN", "none of the studio's own");
        for good in ["API_KEY", "VLLM_API_KEY", "OPENAI_API_KEY", "_2_API_KEY"] {
            assert_eq!(problems(|it| it.api_key_env = Some(good.into())), []);
        }
    }

    #[test]
    fn a_secret_is_named_and_stands_alone() {
        let secret = |name: &str, variable: Option<&str>| {
            let found = problems(|it| {
                it.api_key_secret = Some(name.to_owned());
                it.api_key_env = variable.map(str::to_owned);
            });
            found.into_iter().next()
        };
        for typed in ["sk-live-secretkey", "", "../VLLM", "vllm"] {
            let error = secret(typed, None).expect("refused");
            assert_eq!(error.field, "api_key_secret");
            assert!(error.message.contains("never write"), "{}", error.message);
            assert!(!error.message.contains("secretkey"), "{}", error.message);
        }
        assert_eq!(secret("VLLM", None), None);
        let both = secret("VLLM", Some("VLLM_API_KEY")).expect("one too many");
        assert!(both.message.contains("leave one"), "{}", both.message);
    }

    #[track_caller]
    fn header(name: &str, value: &str, mend: Option<&str>) {
        let found = problems(|it| drop(it.headers.insert(name.into(), value.into())));
        let message = found.first().map(|error| error.message.as_str());
        assert_eq!(message.is_some(), mend.is_some(), "{name}: {message:?}");
        if let (Some(message), Some(mend)) = (message, mend) {
            assert_eq!(found[0].field, "headers");
            assert!(message.contains(mend), "{message}");
            assert!(!message.contains("SECRET"), "{message}");
        }
    }

    #[test]
    fn a_header_holds_no_credential() {
        for name in [
            "Authorization",
            "proxy-authorization",
            "Cookie",
            "x-api-key",
            "API-Key",
            "X-Goog-Api-Key",
            "Ocp-Apim-Subscription-Key",
            "x-auth-token",
            "cf-access-client-secret",
        ] {
            header(name, "SECRET", Some("environment variable"));
        }
        header("x-team", "Bearer SECRET", Some("environment variable"));
        header("x-team", "sk-SECRET", Some("environment variable"));
        header("x-team", "a", None);
        header("X-Request-Priority", "low; bulk", None);
    }

    #[test]
    fn a_header_that_cannot_be_sent_is_refused() {
        header("a b", "x", Some("no blanks"));
        header("", "x", Some("no blanks"));
        header("x-team", "a\r\nHost: SECRET", Some("one line"));
        header("x-team", "é", Some("one line"));
    }
}
