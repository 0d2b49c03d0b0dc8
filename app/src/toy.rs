//! Models that only show that an engine works: too small to say anything of those that people use.

use measure::decimal;
use measure::study::{Endpoint, EngineSpec, Turn};

use crate::studio::ConfigurationView;

/// Every model is one that only shows that an engine works: below half a billion parameters, or below one on this machine. The
/// study's engine is given where it is known.
pub fn is_toy<'a>(
    configurations: impl Iterator<Item = &'a ConfigurationView>,
    engine: Option<&EngineSpec>,
) -> bool {
    let mut configurations = configurations.peekable();
    let any = configurations.peek().is_some();
    any && configurations.all(|it| is_small(it, endpoint(it, engine)))
}

fn is_small(one: &ConfigurationView, endpoint: Option<&Endpoint>) -> bool {
    let told = one.facts.get("model").map(|it| it.value.as_str());
    let name = told.or_else(|| endpoint.map(|it| it.model.as_str()));
    let most = if endpoint.is_some_and(|it| is_near(&it.url)) {
        1e9
    } else {
        5e8
    };
    name.and_then(parameters).is_some_and(|size| size < most)
}

fn endpoint<'a>(
    one: &'a ConfigurationView,
    engine: Option<&'a EngineSpec>,
) -> Option<&'a Endpoint> {
    match (&one.spec.turn, engine) {
        (Turn::OtherEndpoint(endpoint), _) => Some(endpoint),
        (Turn::Managed { .. }, _) => None,
        (_, Some(EngineSpec::Endpoint(endpoint))) => Some(endpoint),
        _ => None,
    }
}

/// Whether a URL leads to this machine.
fn is_near(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.strip_prefix("[::1]").map_or(host, |_| "localhost");
    let host = host.split(':').next().unwrap_or_default();
    host == "localhost" || (host.starts_with("127.") && host.split('.').count() == 4)
}

/// How many parameters a model has by its name: `smollm2-135m`, `qwen2.5-0.5b-instruct`; as good as none where it calls itself tiny. None
/// where the name does not say.
fn parameters(name: &str) -> Option<f64> {
    let is = |word: &str| name.eq_ignore_ascii_case(word);
    if ["tiny", "toy", "dummy"].into_iter().any(is) {
        return Some(0.0);
    }
    let words = name.split(|sign: char| !sign.is_ascii_alphanumeric() && sign != '.');
    words
        .filter_map(|word| {
            let (number, unit) = word.split_at_checked(word.len().checked_sub(1)?)?;
            let digits = number.trim_start_matches(|sign: char| sign.is_ascii_alphabetic());
            let times = match unit {
                "k" | "K" => 1e3,
                "m" | "M" => 1e6,
                "b" | "B" => 1e9,
                _ => return None,
            };
            decimal::parse(digits).map(|it| it * times)
        })
        .next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use measure::knobs::{Fact, Source};

    #[test]
    fn a_models_name_says_how_large_it_is() {
        for (name, expected) in [
            ("SmolLM2-135M-Instruct", Some(135e6)),
            ("stories260K", Some(260e3)),
            ("tiny", Some(0.0)),
            ("qwen2.5-0.5b", Some(0.5e9)),
            ("meta-llama/Llama-3.1-8B", Some(8e9)),
            ("gpt-5", None),
            ("bloom", None),
            ("", None),
        ] {
            assert_eq!(parameters(name), expected, "{name}");
        }
    }

    #[test]
    fn this_machine_is_told_by_its_address() {
        for near in [
            "http://localhost:8000/v1",
            "http://127.0.0.1",
            "http://127.3.0.1:80/?x",
            "http://[::1]:8000",
        ] {
            assert!(is_near(near), "{near}");
        }
        for far in [
            "http://10.0.0.1",
            "https://localhost.example",
            "",
            "http://127.example",
        ] {
            assert!(!is_near(far), "{far}");
        }
    }

    #[test]
    fn every_configuration_has_to_be_small() {
        let mut study = fixture::study();
        let all = |study: &crate::studio::StudyView| {
            is_toy(study.configurations.iter(), Some(&study.spec.engine))
        };
        let mut call = |index: usize, name: &str| {
            let fact = Fact {
                value: name.into(),
                source: Source::Engine,
            };
            let facts = &mut study.configurations[index].facts;
            facts.insert("model".into(), fact);
            all(&study)
        };
        assert!(!call(0, "SmolLM2-135M"), "the other is not known");
        assert!(call(1, "tiny"));
        assert!(!call(0, "Llama-3.1-8B"));
        assert!(!is_toy([].into_iter(), None));
    }
}
