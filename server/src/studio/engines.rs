//! Who is behind a URL: which engine a URL names, whether it was added on purpose, and what to call it.

use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::time::Duration;

use app::studio::{EngineRow, ProbeReport, ProbeRequest, StudioError};
use load::address::AddressError;
use load::{EngineError, ProbeError};
use measure::knobs::Facts;
use measure::study::{ConfigurationSpec, Endpoint, EngineSpec, FieldError, StudySpec, Turn};
use std::collections::BTreeMap;
use url::Url;

use super::{LocalStudio, internal, invalid, launch};

/// An engine may take so long to say what it is.
pub(crate) const PROBE_LIMIT: Duration = Duration::from_secs(10);

/// The simulators are one engine: two on one host would disturb each other.
pub(crate) const SIMULATOR: &str = "simulator";

impl LocalStudio {
    /// What is behind a URL.
    pub(super) async fn probe_url(
        &self,
        request: ProbeRequest,
    ) -> Result<ProbeReport, StudioError> {
        let ProbeRequest {
            url,
            api,
            api_key_env,
        } = request;
        let url = base_url(&url)
            .map_err(|why| invalid("url", why))?
            .to_string();
        let endpoint = Endpoint {
            url,
            api,
            model: String::new(),
            api_key_env,
            headers: BTreeMap::new(),
        };
        check_credentials(&endpoint)?;
        probe(&endpoint).await.map_err(unprobed)
    }

    /// Adds an engine, or replaces the one of that name. It is probed, and may be away: what it is then stays open. What
    /// could never be used is refused.
    pub(super) async fn add_engine(
        &self,
        name: String,
        endpoint: Endpoint,
    ) -> Result<EngineRow, StudioError> {
        let name = launch::checked_name("name", &name)?;
        base_url(&endpoint.url).map_err(|why| invalid("url", why))?;
        if endpoint.model.trim().is_empty() {
            return Err(invalid(
                "model",
                "name the model; Probe lists those that the engine serves",
            ));
        }
        check_credentials(&endpoint)?;
        let probe = match probe(&endpoint).await {
            Ok(report) => Some(report),
            Err(cause) if is_away(&cause) => None,
            Err(cause) => return Err(unprobed(cause)),
        };
        let id = self
            .store
            .save_engine(&name, &endpoint, probe.as_ref())
            .await
            .map_err(internal)?;
        Ok(EngineRow {
            id,
            name,
            endpoint,
            probe,
        })
    }
}

fn check_credentials(endpoint: &Endpoint) -> Result<(), StudioError> {
    let fields = endpoint.check_credentials();
    if fields.is_empty() {
        Ok(())
    } else {
        Err(StudioError::Invalid { fields })
    }
}

async fn probe(endpoint: &Endpoint) -> Result<ProbeReport, ProbeError> {
    let load::Probe {
        engine,
        version,
        models,
        facts,
        has_metrics,
        can_reset_cache,
    } = load::probe(endpoint, PROBE_LIMIT).await?;
    Ok(ProbeReport {
        engine,
        version,
        models,
        facts,
        has_metrics,
        can_reset_cache,
    })
}

/// Whether the engine may well be there another time, as it was described.
fn is_away(cause: &ProbeError) -> bool {
    match cause {
        ProbeError::Endpoint(EngineError::Address(AddressError::Unresolved { .. })) => true,
        ProbeError::Endpoint(_) => false,
        _ => true,
    }
}

/// What was typed wrong stands at its field; the rest is the engine's.
fn unprobed(cause: ProbeError) -> StudioError {
    let message = sentence(&cause);
    let field = match &cause {
        _ if is_away(&cause) => return StudioError::Engine { message },
        ProbeError::Endpoint(EngineError::Address(_)) => "url",
        ProbeError::Endpoint(EngineError::NoKey { .. }) => "api_key_env",
        ProbeError::Endpoint(EngineError::Header { name }) if name == "authorization" => {
            "api_key_env"
        }
        ProbeError::Endpoint(EngineError::Header { .. }) => "headers",
        _ => return internal(cause),
    };
    invalid(field, message)
}

/// An error with its whole chain, in one line.
pub(crate) fn sentence(cause: &dyn std::error::Error) -> String {
    let mut text = cause.to_string();
    let mut next = cause.source();
    while let Some(source) = next {
        let more = source.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        next = source.source();
    }
    text
}

/// An engine's URL without what does not matter: `/v1`, a final slash, upper case in the host.
pub(crate) fn base_url(text: &str) -> Result<Url, String> {
    let mut url = Url::parse(text.trim())
        .map_err(|_| format!("{text:?} is no URL; it looks like http://127.0.0.1:8000"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err("the URL must begin with http:// or https:// and name a host".into());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("the URL must not carry a name or password; name an environment variable that holds the key".into());
    }
    // Azure's deployments want a version in every request.
    let version = url.query_pairs().all(|(name, _)| name == "api-version");
    if !version || url.query() == Some("") || url.fragment().is_some() {
        return Err("the URL must end before ? and #".into());
    }
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix("/v1").unwrap_or(path).to_owned();
    url.set_path(&path);
    Ok(url)
}

/// The engine that a URL loads, whatever the path: host and port as written, and each address that the host has, so
/// that two spellings of one engine share one of these. All names and addresses of the own machine are one.
fn identity(url: &Url) -> Vec<String> {
    let port = url.port_or_known_default().unwrap_or(0);
    let host = url.host_str().unwrap_or_default();
    let written = if host == "localhost" || host.ends_with(".localhost") {
        OWN.to_string()
    } else {
        host.to_owned()
    };
    // A host that is away, or refused, is known by its name alone.
    let addresses = load::address::resolve(url).unwrap_or_default();
    let addresses = addresses.iter().map(|it| canonical(it.ip()).to_string());
    let named = (addresses.len() == 0 || url.domain().is_some()).then_some(written);
    let mut all: Vec<String> = addresses
        .chain(named)
        .map(|host| format!("{host}:{port}"))
        .collect();
    all.sort();
    all.dedup();
    all
}

/// The own machine.
const OWN: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// One spelling of an address: IPv4 where it stands for one, loopback where it is the own machine's.
fn canonical(address: IpAddr) -> IpAddr {
    let address = load::address::unwrapped(address);
    // Only an own address can be bound. Nothing is sent.
    let is_own = address.is_loopback() || UdpSocket::bind((address, 0)).is_ok();
    if is_own { OWN } else { address }
}

/// All endpoints of a study, each with the field that names it.
pub(crate) fn endpoints(spec: &StudySpec) -> Vec<(String, &Endpoint)> {
    let mut found = Vec::new();
    if let EngineSpec::Endpoint(endpoint) = &spec.engine {
        found.push(("engine".to_owned(), endpoint));
    }
    for (index, ConfigurationSpec { turn, .. }) in spec.configurations.iter().enumerate() {
        if let Turn::OtherEndpoint(endpoint) = turn {
            found.push((format!("configurations[{index}].turn"), endpoint));
        }
    }
    found
}

/// Identities of all engines that a study puts under load, sorted. Looks hosts up: not for threads that must not wait.
pub(crate) fn identities(spec: &StudySpec) -> Vec<String> {
    let mut all: Vec<String> = endpoints(spec)
        .iter()
        .filter_map(|(_, it)| base_url(&it.url).ok())
        .flat_map(|url| identity(&url))
        .collect();
    if matches!(spec.engine, EngineSpec::Simulator { .. }) {
        all.push(SIMULATOR.to_owned());
    }
    all.sort();
    all.dedup();
    all
}

/// Load goes only to engines that were added on purpose.
pub(crate) fn check_added(spec: &StudySpec, added: &[EngineRow]) -> Vec<FieldError> {
    endpoints(spec)
        .into_iter()
        .filter_map(|(field, endpoint)| check_endpoint(field, endpoint, added))
        .collect()
}

fn check_endpoint(field: String, endpoint: &Endpoint, added: &[EngineRow]) -> Option<FieldError> {
    let refuse = |message: String| {
        Some(FieldError {
            field: field.clone(),
            message,
        })
    };
    let url = match base_url(&endpoint.url) {
        Ok(url) => url,
        Err(why) => return refuse(why),
    };
    if let Some(FieldError { message, .. }) = endpoint.check_credentials().pop() {
        return refuse(message);
    }
    let mut same = added
        .iter()
        .filter(|row| base_url(&row.endpoint.url).is_ok_and(|known| known == url))
        .peekable();
    if same.peek().is_none() {
        return refuse(format!(
            "{} is not among your engines; add it first: load goes only to engines that were added",
            endpoint.url
        ));
    }
    let variable = endpoint.api_key_env.as_ref()?;
    if !same.any(|row| row.endpoint.api_key_env.as_ref() == Some(variable)) {
        return refuse(format!(
            "the engine was added without the key variable {variable}; add it again with it"
        ));
    }
    if std::env::var_os(variable).is_none() {
        return refuse(format!(
            "the server has no environment variable {variable}; set it and start the server again"
        ));
    }
    None
}

/// A study's engine in words: `simulator small-fast`, `vLLM 0.32.0, llama-8b`.
pub(crate) fn engine_words(spec: &StudySpec, facts: &Facts) -> String {
    let fact = |name: &str| {
        facts
            .get(name)
            .map(|fact| fact.value.as_str())
            .filter(|value| !value.is_empty())
    };
    match &spec.engine {
        EngineSpec::Simulator { preset } => format!("simulator {preset}"),
        EngineSpec::Endpoint(endpoint) => match (
            fact("engine").filter(|name| *name != "unknown"),
            fact("version"),
        ) {
            (Some(engine), Some(version)) => format!("{engine} {version}, {}", endpoint.model),
            (Some(engine), None) => format!("{engine}, {}", endpoint.model),
            (None, _) => endpoint.model.clone(),
        },
    }
}

/// What a search of the start page looks through.
pub(crate) fn search_text(spec: &StudySpec, tags: &[String], engine: &str) -> String {
    let models = endpoints(spec)
        .into_iter()
        .map(|(_, endpoint)| endpoint.model.as_str());
    let words = [spec.name.as_str(), engine]
        .into_iter()
        .chain(tags.iter().map(String::as_str))
        .chain(models);
    words.collect::<Vec<_>>().join("\n").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, base: &str, ids: &[&str]) {
        let parsed = base_url(url).expect("a URL");
        assert_eq!((parsed.as_str(), identity(&parsed)), (base, owned(ids)));
    }

    fn owned(ids: &[&str]) -> Vec<String> {
        ids.iter().map(|id| (*id).to_owned()).collect()
    }

    #[test]
    fn one_engine_has_one_identity() {
        let own = &["127.0.0.1:8000"];
        for (url, base) in [
            ("http://LocalHost:8000/v1/", "http://localhost:8000/"),
            ("http://127.0.0.1:8000", "http://127.0.0.1:8000/"),
            ("http://127.9.9.9:8000", "http://127.9.9.9:8000/"),
            ("http://[::1]:8000/", "http://[::1]:8000/"),
            (
                "http://[::ffff:127.0.0.1]:8000/x",
                "http://[::ffff:7f00:1]:8000/x",
            ),
            ("http://2130706433:8000/x", "http://127.0.0.1:8000/x"),
        ] {
            check(url, base, own);
        }
        let far = &["192.0.2.7:443"];
        check(
            "https://[::ffff:192.0.2.7]/llm/v1",
            "https://[::ffff:c000:207]/llm",
            far,
        );
        check("https://192.0.2.7/other", "https://192.0.2.7/other", far);
        check(
            "https://GPU7.invalid/llm/v1",
            "https://gpu7.invalid/llm",
            &["gpu7.invalid:443"],
        );
    }

    fn row(api_key_env: Option<&str>) -> EngineRow {
        let endpoint = Endpoint {
            url: "http://127.0.0.1:8000".into(),
            api: Default::default(),
            model: "m".into(),
            api_key_env: api_key_env.map(Into::into),
            headers: BTreeMap::new(),
        };
        EngineRow {
            id: uuid::Uuid::nil(),
            name: "x".into(),
            endpoint,
            probe: None,
        }
    }

    #[test]
    fn any_engine_of_the_url_may_have_the_key() {
        let added = [row(None), row(Some("EDGE_UNSET_API_KEY"))];
        let wanted = |key| {
            check_endpoint("engine".into(), &row(key).endpoint, &added).map(|error| error.message)
        };
        assert_eq!(wanted(None), None);
        let known = wanted(Some("EDGE_UNSET_API_KEY")).expect("it is not set");
        assert!(known.contains("no environment variable"), "{known}");
        let unknown = wanted(Some("OTHER_API_KEY")).expect("nobody added it");
        assert!(unknown.contains("without the key variable"), "{unknown}");
        let never = wanted(Some("PATH")).expect("never sent");
        assert!(never.contains("never sent"), "{never}");
    }

    #[test]
    fn a_url_that_is_none_says_why() {
        for (url, word) in [
            ("gpu7:8000", "http://"),
            ("ftp://x", "http://"),
            ("http://a:b@x", "password"),
            ("http://x/?q", "?"),
            ("", "no URL"),
        ] {
            let why = base_url(url).expect_err(url);
            assert!(why.contains(word), "{url}: {why}");
        }
    }
}
