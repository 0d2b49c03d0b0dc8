//! Where an engine was asked, and in whose words, as far as the study itself says. Engines that nobody tells apart are one
//! only where they were asked at one place.

use measure::knobs::{Comparability, Differing, Fact, Facts, Source};
use measure::study::{Api, ConfigurationSpec, Endpoint, EngineSpec, StudySpec, Turn};
use url::Url;
use uuid::Uuid;

use crate::studio::engines::base_url;

/// What is in doubt where nobody tells who answers at two places.
const WHO: &str = "engine, at two addresses";

/// In whose words a configuration's engine is asked; `None` where `studio.toml` said so. Studies of earlier releases did not
/// record it.
pub(super) fn dialect(spec: &StudySpec, configuration: &ConfigurationSpec) -> Option<Fact> {
    let api = match (endpoint(spec, configuration), &spec.engine) {
        (Some(endpoint), _) => endpoint.api,
        (None, EngineSpec::Simulator { .. }) => Api::OpenAiChat,
        (None, _) => return None,
    };
    Some(Fact {
        value: api.name().to_owned(),
        source: Source::Engine,
    })
}

/// The place where a configuration's engine answered, in a form that is compared and never shown.
pub(super) fn place(study: Uuid, spec: &StudySpec, configuration: &ConfigurationSpec) -> String {
    let url = endpoint(spec, configuration).and_then(|it| base_url(&it.url).ok());
    match (url, &configuration.turn, &spec.engine) {
        (Some(url), ..) => place_of(url),
        (None, Turn::Managed { name }, _) => format!("managed:{name}"),
        // Taken out of what came from elsewhere: within a study it still is one place.
        (None, Turn::OtherEndpoint(_), _) => format!("{study}:{}", configuration.name),
        (None, _, EngineSpec::Managed { name }) => format!("managed:{name}"),
        (None, ..) => study.to_string(),
    }
}

/// The endpoint that a configuration is measured at, where it has one.
fn endpoint<'a>(spec: &'a StudySpec, configuration: &'a ConfigurationSpec) -> Option<&'a Endpoint> {
    match (&configuration.turn, &spec.engine) {
        (Turn::OtherEndpoint(endpoint), _) => Some(endpoint),
        (Turn::Managed { .. }, _) => None,
        (_, EngineSpec::Endpoint(endpoint)) => Some(endpoint),
        _ => None,
    }
}

/// One spelling of a place: all names of the own machine are one.
fn place_of(mut url: Url) -> String {
    let own = matches!(url.host_str(), Some("localhost" | "[::1]" | "0.0.0.0"));
    if own {
        let _ = url.set_host(Some("127.0.0.1"));
    }
    String::from(url)
}

/// Where nobody tells of either side what engine it is, two places may be two engines: then no cause can be named.
pub(super) fn doubted(
    found: Comparability,
    sides: [&Facts; 2],
    places: &[String; 2],
) -> Comparability {
    let is_told = |facts: &&Facts| {
        let engine = facts.get("engine");
        engine.is_some_and(|it| it.source != Source::Unknown)
    };
    if places[0] == places[1] || sides.iter().any(is_told) {
        return found;
    }
    let mut differing = match found {
        Comparability::Identical => Vec::new(),
        Comparability::OneVariable { differing, beside } => {
            [differing].into_iter().chain(beside).collect()
        }
        Comparability::Confounded { differing } => differing,
    };
    differing.push(Differing {
        name: WHO.to_owned(),
        baseline: None,
        candidate: None,
    });
    Comparability::Confounded { differing }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn study(turn: Turn) -> (StudySpec, ConfigurationSpec) {
        let mut spec = StudySpec::goodput_exercise();
        spec.engine = EngineSpec::Endpoint(Endpoint::new(
            "http://localhost:8000/v1",
            Api::OpenAiCompletions,
            "m",
        ));
        let configuration = ConfigurationSpec {
            turn,
            ..ConfigurationSpec::default()
        };
        (spec, configuration)
    }

    fn at(url: &str) -> Turn {
        Turn::OtherEndpoint(Endpoint::new(url, Api::OpenAiChat, "m"))
    }

    fn place(turn: Turn) -> String {
        let (spec, configuration) = study(turn);
        super::place(Uuid::nil(), &spec, &configuration)
    }

    #[test]
    fn a_place_has_one_spelling() {
        let own = place(Turn::AsIs);
        assert_eq!(place(at("http://127.0.0.1:8000")), own);
        assert_ne!(place(at("http://127.0.0.1:8001")), own);
        assert_ne!(place(at("http://127.0.0.1:8000/other")), own);
        // Taken out of a bundle.
        assert_ne!(place(at("")), own);
    }

    #[test]
    fn the_dialect_is_that_of_the_endpoint_measured() {
        let named = |turn| {
            let (spec, configuration) = study(turn);
            dialect(&spec, &configuration).map(|it| it.value)
        };
        assert_eq!(named(Turn::AsIs).as_deref(), Some("openai.completions"));
        assert_eq!(named(at("http://x:1")).as_deref(), Some("openai.chat"));
        let managed = Turn::Managed { name: "x".into() };
        assert_eq!(named(managed), None);
    }

    #[test]
    fn two_unknown_engines_at_two_places_name_no_cause() {
        let facts = |source| {
            let value = "unknown".to_owned();
            Facts::from([("engine".to_owned(), Fact { value, source })])
        };
        let (unknown, declared) = (facts(Source::Unknown), facts(Source::Declared));
        let places = ["a".to_owned(), "b".to_owned()];
        let one = Comparability::OneVariable {
            differing: Differing {
                name: "knob:k".into(),
                baseline: None,
                candidate: None,
            },
            beside: Vec::new(),
        };
        let found = doubted(one.clone(), [&unknown, &Facts::new()], &places);
        let Comparability::Confounded { differing } = found else {
            panic!("{found:?}")
        };
        let names: Vec<&str> = differing.iter().map(|it| &*it.name).collect();
        assert_eq!(names, ["knob:k", WHO]);
        let alike = doubted(Comparability::Identical, [&unknown, &unknown], &places);
        assert!(matches!(alike, Comparability::Confounded { .. }));
        // Where a person declares the engine, or there is one place, nothing is in doubt.
        let same = ["a".to_owned(), "a".to_owned()];
        for (sides, places) in [
            ([&unknown, &declared], &places),
            ([&unknown, &unknown], &same),
        ] {
            assert_eq!(doubted(one.clone(), sides, places), one);
        }
    }
}
