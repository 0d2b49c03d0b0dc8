//! Who is behind a URL: which engine a URL names, whether it was added on purpose, and what to call it.

use std::time::Duration;

use app::studio::{EngineRow, ProbeReport, ProbeRequest, StudioError};
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
        probe(&endpoint).await
    }

    /// Adds an engine, or replaces the one of that name. It is probed, and may be away: what it is then stays open.
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
        let probe = probe(&endpoint).await.ok();
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

async fn probe(endpoint: &Endpoint) -> Result<ProbeReport, StudioError> {
    let probe = load::probe(endpoint, PROBE_LIMIT).await;
    let load::Probe {
        engine,
        version,
        models,
        facts,
        has_metrics,
        can_reset_cache,
    } = probe.map_err(|cause| StudioError::Engine {
        message: sentence(&cause),
    })?;
    Ok(ProbeReport {
        engine,
        version,
        models,
        facts,
        has_metrics,
        can_reset_cache,
    })
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
    if url.query().is_some() || url.fragment().is_some() {
        return Err("the URL must end before ? and #".into());
    }
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix("/v1").unwrap_or(path).to_owned();
    url.set_path(&path);
    Ok(url)
}

/// The engine that a URL loads: its host and port, whatever the path. All names of the own machine are one.
pub(crate) fn identity(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let own = host == "localhost"
        || host.ends_with(".localhost")
        || host.starts_with("127.")
        || host == "[::1]";
    let host = if own { "127.0.0.1" } else { host };
    format!("{host}:{}", url.port_or_known_default().unwrap_or(0))
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

/// Identities of all engines that a study puts under load, sorted.
pub(crate) fn identities(spec: &StudySpec) -> Vec<String> {
    let mut all: Vec<String> = endpoints(spec)
        .iter()
        .filter_map(|(_, it)| Some(identity(&base_url(&it.url).ok()?)))
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
    let same = |row: &&EngineRow| base_url(&row.endpoint.url).is_ok_and(|known| known == url);
    let Some(engine) = added.iter().find(same) else {
        return refuse(format!(
            "{} is not among your engines; add it first: load goes only to engines that were added",
            endpoint.url
        ));
    };
    let Some(variable) = &endpoint.api_key_env else {
        return None;
    };
    if engine.endpoint.api_key_env.as_ref() != Some(variable) {
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
    fn check(url: &str, base: &str, id: &str) {
        let parsed = base_url(url).expect("a URL");
        assert_eq!((parsed.as_str(), identity(&parsed).as_str()), (base, id));
    }

    #[test]
    fn one_engine_has_one_identity() {
        check(
            "http://LocalHost:8000/v1/",
            "http://localhost:8000/",
            "127.0.0.1:8000",
        );
        check(
            "http://127.0.0.1:8000",
            "http://127.0.0.1:8000/",
            "127.0.0.1:8000",
        );
        check("http://[::1]:8000/", "http://[::1]:8000/", "127.0.0.1:8000");
        check(
            "https://GPU7.example/llm/v1",
            "https://gpu7.example/llm",
            "gpu7.example:443",
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
