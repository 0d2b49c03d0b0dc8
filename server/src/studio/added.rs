//! Load goes only to engines that were added on purpose, with the keys and by the ways that they were added with.

use std::path::Path;

use app::studio::EngineRow;
use measure::study::{Endpoint, FieldError, StudySpec};

use super::engines::{base_url, endpoints, sentence};
use crate::reach;

/// What a study wants that nobody added, or that is not there any more.
pub(crate) fn check_added(
    spec: &StudySpec,
    added: &[EngineRow],
    data_dir: &Path,
) -> Vec<FieldError> {
    endpoints(spec)
        .into_iter()
        .filter_map(|(field, endpoint)| {
            let message = problem(endpoint, added, data_dir)?;
            Some(FieldError { field, message })
        })
        .collect()
}

fn problem(endpoint: &Endpoint, added: &[EngineRow], data_dir: &Path) -> Option<String> {
    if let Some(FieldError { message, .. }) = endpoint.check_reach().pop() {
        return Some(message);
    }
    if let Some(message) = unknown(endpoint, added) {
        return Some(message);
    }
    let unset = endpoint.api_key_env.as_ref();
    let unset = unset.filter(|variable| std::env::var_os(variable).is_none());
    if let Some(variable) = unset {
        return Some(format!(
            "the server has no environment variable {variable}; set it and start the server again"
        ));
    }
    let wire = reach::wire(endpoint, data_dir);
    wire.err().map(|error| sentence(&error))
}

/// What of it no engine was added with. Each step leaves the engines that have all of the steps before.
fn unknown(endpoint: &Endpoint, added: &[EngineRow]) -> Option<String> {
    let url = match base_url(&endpoint.url) {
        Ok(url) => url,
        Err(why) => return Some(why),
    };
    let mut same: Vec<&Endpoint> = added.iter().map(|row| &row.endpoint).collect();
    same.retain(|it| base_url(&it.url).is_ok_and(|known| known == url));
    if same.is_empty() {
        return Some(format!(
            "{} is not among your engines; add it first: load goes only to engines that were added",
            endpoint.url
        ));
    }
    let without = |what: &str| format!("the engine was added without {what}; add it again with it");
    if let Some(variable) = &endpoint.api_key_env {
        same.retain(|it| it.api_key_env.as_ref() == Some(variable));
        if same.is_empty() {
            return Some(without(&format!("the key variable {variable}")));
        }
    }
    if let Some(secret) = &endpoint.api_key_secret {
        same.retain(|it| it.api_key_secret.as_ref() == Some(secret));
        if same.is_empty() {
            return Some(without(&format!("the stored secret {secret}")));
        }
    }
    let connection = &endpoint.connection;
    if let Some(proxy) = &connection.proxy {
        same.retain(|it| it.connection.proxy.as_ref() == Some(proxy));
        if same.is_empty() {
            return Some(without(&format!("the proxy {proxy}")));
        }
    }
    let believed = !connection.insecure || same.iter().any(|it| it.connection.insecure);
    (!believed).then(|| without("believing every certificate"))
}

#[cfg(test)]
mod tests {
    use measure::study::Api;

    use super::*;

    fn endpoint(change: &dyn Fn(&mut Endpoint)) -> Endpoint {
        let mut endpoint = Endpoint::new("https://127.0.0.1:8000", Api::OpenAiChat, "m");
        change(&mut endpoint);
        endpoint
    }

    fn row(change: &dyn Fn(&mut Endpoint)) -> EngineRow {
        EngineRow {
            id: uuid::Uuid::nil(),
            name: "x".into(),
            endpoint: endpoint(change),
            probe: None,
            managed: None,
        }
    }

    #[track_caller]
    fn wanted(added: &[EngineRow], change: &dyn Fn(&mut Endpoint), mend: Option<&str>) {
        let found = problem(&endpoint(change), added, Path::new("/nowhere"));
        assert_eq!(found.is_some(), mend.is_some(), "{found:?}");
        if let (Some(found), Some(mend)) = (found, mend) {
            assert!(found.contains(mend), "{found}");
        }
    }

    fn key(name: &str) -> impl Fn(&mut Endpoint) {
        move |it| it.api_key_env = Some(name.into())
    }

    #[test]
    fn any_engine_of_the_url_may_have_the_key() {
        let added = [row(&|_| {}), row(&key("EDGE_UNSET_API_KEY"))];
        wanted(&added, &|_| {}, None);
        wanted(&added, &|it| it.connection.http2 = true, None);
        let unset = Some("no environment variable");
        wanted(&added, &key("EDGE_UNSET_API_KEY"), unset);
        wanted(
            &added,
            &key("OTHER_API_KEY"),
            Some("without the key variable"),
        );
        wanted(&added, &key("PATH"), Some("never sent"));
        wanted(
            &added,
            &|it| it.url = "http://x".into(),
            Some("add it first"),
        );
    }

    #[test]
    fn a_proxy_a_secret_and_blind_belief_are_added_together_with_what_they_endanger() {
        let secret = |it: &mut Endpoint| it.api_key_secret = Some("VLLM".into());
        let proxied = |it: &mut Endpoint| it.connection.proxy = Some("http://p:1".into());
        let blind = |it: &mut Endpoint| it.connection.insecure = true;
        let added = [row(&secret), row(&proxied), row(&blind)];
        wanted(&added, &proxied, None);
        wanted(&added, &blind, None);
        // It was added, and is not kept there.
        wanted(&added, &secret, Some("goodput secret set VLLM"));
        let other = |it: &mut Endpoint| it.connection.proxy = Some("http://evil:1".into());
        wanted(&added, &other, Some("without the proxy"));
        wanted(
            &added,
            &|it| (secret(it), proxied(it)).0,
            Some("without the proxy"),
        );
        wanted(
            &added,
            &|it| (secret(it), blind(it)).0,
            Some("believing every"),
        );
        wanted(&added[..1], &blind, Some("believing every"));
        wanted(&added[1..], &secret, Some("without the stored secret"));
    }
}
