//! Who is behind a URL: which engine a URL names, whether it was added on purpose, and what to call it.

use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::time::Duration;

use app::studio::{EngineRow, ProbeReport, ProbeRequest, StudioError};
use load::address::AddressError;
use load::{EngineError, ProbeError, Wire};
use measure::knobs::Facts;
use measure::study::{ConfigurationSpec, Endpoint, EngineSpec, StudySpec, Turn};
use url::Url;

use super::share::plain;
use super::{LocalStudio, internal, invalid, launch};
use crate::reach;
use crate::registry::Registry;
use crate::secrets::Secrets;

/// An engine may take so long to say what it is.
pub(crate) const PROBE_LIMIT: Duration = Duration::from_secs(10);

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
            api_key_secret,
            connection,
        } = request;
        let url = base_url(&url)
            .map_err(|why| invalid("url", why))?
            .to_string();
        let endpoint = Endpoint {
            api_key_env,
            api_key_secret,
            connection,
            ..Endpoint::new(url, api, "")
        };
        let wire = self.checked_wire(&endpoint)?;
        probe(&endpoint, wire).await.map_err(unprobed)
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
        if self.registry.rows().any(|row| row.name == name) {
            let message = "an engine of this name stands in studio.toml; take another name";
            return Err(invalid("name", message));
        }
        if endpoint.model.trim().is_empty() {
            return Err(invalid(
                "model",
                "name the model; Probe lists those that the engine serves",
            ));
        }
        let wire = self.checked_wire(&endpoint)?;
        let probe = match probe(&endpoint, wire).await {
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
            managed: None,
        })
    }

    /// How an endpoint is reached, once nothing speaks against it.
    fn checked_wire(&self, endpoint: &Endpoint) -> Result<Wire, StudioError> {
        let fields = endpoint.check_reach();
        if !fields.is_empty() {
            return Err(StudioError::Invalid { fields });
        }
        let wire = reach::wire(endpoint, &self.data_dir);
        wire.map_err(|error| invalid(error.field(), sentence(&error)))
    }

    /// Names of the secrets that the studio keeps; nothing gives their values.
    pub(super) fn secret_names(&self) -> Result<Vec<String>, StudioError> {
        Secrets::of(&self.data_dir).names().map_err(internal)
    }
}

async fn probe(endpoint: &Endpoint, wire: Wire) -> Result<ProbeReport, ProbeError> {
    let load::Probe {
        engine,
        version,
        models,
        facts,
        has_metrics,
        can_reset_cache,
    } = load::probe(endpoint, wire, PROBE_LIMIT).await?;
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
        ProbeError::Endpoint(EngineError::Proxy(AddressError::Unresolved { .. })) => true,
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
        ProbeError::Endpoint(EngineError::Proxy(_)) => "connection.proxy",
        ProbeError::Endpoint(EngineError::Tls(_)) => "connection.ca_file",
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

/// The machine that a URL loads, whatever the port and path: the host as written, and each address that it has, so that
/// two spellings of one machine share one of these. All names and addresses of the own machine are one. Two engines on
/// one machine are one load: the one that is not measured has to be idle.
fn identity(url: &Url) -> Vec<String> {
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
    let mut all: Vec<String> = addresses.chain(named).collect();
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

/// Identities of all machines that a study puts under load, sorted. Looks hosts up: not for threads that must not wait.
/// A proxy is one of them: two loads through it would measure each other, and an engine named as a proxy is still that
/// engine.
pub(crate) fn identities(spec: &StudySpec, registry: &Registry) -> Vec<String> {
    let mut all: Vec<String> = endpoints(spec)
        .iter()
        .flat_map(|(_, it)| [Some(&it.url), it.connection.proxy.as_ref()])
        .filter_map(|url| base_url(url?).ok())
        .flat_map(|url| identity(&url))
        .collect();
    if matches!(spec.engine, EngineSpec::Simulator { .. }) {
        all.push(OWN.to_string());
    }
    all.extend(started_hosts(spec, registry));
    all.sort();
    all.dedup();
    all
}

/// The machines of engines that the studio starts, by what their templates say.
fn started_hosts(spec: &StudySpec, registry: &Registry) -> Vec<String> {
    let by_turn = |turn: &Turn| match turn {
        Turn::Managed { name } => Some(name.clone()),
        _ => None,
    };
    let turns = spec
        .configurations
        .iter()
        .filter_map(|it| by_turn(&it.turn));
    let engine = match &spec.engine {
        EngineSpec::Managed { name } => Some(name.clone()),
        _ => None,
    };
    let hosts = engine.into_iter().chain(turns).filter_map(|name| {
        let (_, template) = registry.managed(&name)?;
        Some(template.address.host.clone())
    });
    hosts
        .flat_map(|host| match base_url(&format!("http://{host}")) {
            Ok(url) => identity(&url),
            // A name of its own, such as a queue's, is one machine as well.
            Err(_) => vec![host],
        })
        .collect()
}

/// A study's engine in words: `simulator small-fast`, `vLLM 0.32.0, llama-8b`.
pub(crate) fn engine_words(spec: &StudySpec, facts: &Facts) -> String {
    let told = |value: &&str| {
        !value.is_empty() && *value != "unknown" && !value.starts_with(plain::HIDDEN)
    };
    let fact = |name: &str| facts.get(name).map(|fact| fact.value.as_str()).filter(told);
    let engine = match (fact("engine"), fact("version")) {
        (Some(engine), Some(version)) => Some(format!("{engine} {version}")),
        (Some(engine), None) => Some(engine.to_owned()),
        (None, _) => None,
    };
    match (&spec.engine, engine) {
        (EngineSpec::Simulator { preset }, _) => format!("simulator {preset}"),
        (EngineSpec::Endpoint(endpoint), Some(engine)) => format!("{engine}, {}", endpoint.model),
        (EngineSpec::Endpoint(endpoint), None) => endpoint.model.clone(),
        (EngineSpec::Managed { name }, Some(engine)) => format!("{name} ({engine})"),
        (EngineSpec::Managed { name }, None) => name.clone(),
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
    use measure::study::Api;

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
        let own = &["127.0.0.1"];
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
        let far = &["192.0.2.7"];
        check(
            "https://[::ffff:192.0.2.7]/llm/v1",
            "https://[::ffff:c000:207]/llm",
            far,
        );
        check("https://192.0.2.7/other", "https://192.0.2.7/other", far);
        check(
            "https://GPU7.invalid/llm/v1",
            "https://gpu7.invalid/llm",
            &["gpu7.invalid"],
        );
    }

    #[test]
    fn a_proxy_is_put_under_load_as_well() {
        let mut spec = StudySpec::goodput_exercise();
        let mut endpoint = Endpoint::new("https://192.0.2.7/v1", Api::OpenAiChat, "m");
        endpoint.connection.proxy = Some("http://localhost:3128".into());
        spec.engine = EngineSpec::Endpoint(endpoint);
        assert_eq!(
            identities(&spec, &Registry::default()),
            owned(&["127.0.0.1", "192.0.2.7"])
        );
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
