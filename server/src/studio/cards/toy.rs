//! Models that only show that an engine works: too small to say anything of those that people use.

use measure::study::{Endpoint, EngineSpec, Turn};
use url::{Host, Url};

use crate::studio::views::Model;

/// Every model is one that only shows that an engine works: below half a billion parameters, or below one on this machine.
pub(super) fn is_toy(model: &Model) -> bool {
    let mut each = (0..).zip(&model.configurations).map(|(ordinal, stored)| {
        let endpoint = endpoint(model, ordinal);
        let name = stored.facts.get("model").map(|it| it.value.clone());
        let name = name.or_else(|| endpoint.map(|it| it.model.clone()));
        let size = name.as_deref().and_then(parameters);
        let most = if endpoint.is_some_and(is_near) {
            1e9
        } else {
            5e8
        };
        size.is_some_and(|size| size < most)
    });
    !model.configurations.is_empty() && each.all(|is_small| is_small)
}

fn endpoint(model: &Model, ordinal: u32) -> Option<&Endpoint> {
    let stated = model.study.spec.configurations.get(ordinal as usize);
    match (stated.map(|it| &it.turn), &model.study.spec.engine) {
        (Some(Turn::OtherEndpoint(endpoint)), _) => Some(endpoint),
        (Some(Turn::Managed { .. }), _) => None,
        (_, EngineSpec::Endpoint(endpoint)) => Some(endpoint),
        _ => None,
    }
}

fn is_near(endpoint: &Endpoint) -> bool {
    let url = Url::parse(&endpoint.url).ok();
    match url.as_ref().and_then(Url::host) {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// How many parameters a model has by its name: `smollm2-135m`, `qwen2.5-0.5b-instruct`; as good as none where it calls itself tiny. None
/// where the name does not say.
fn parameters(name: &str) -> Option<f64> {
    let lower = name.to_ascii_lowercase();
    if matches!(lower.as_str(), "tiny" | "toy" | "dummy") {
        return Some(0.0);
    }
    let words = lower.split(|sign: char| !sign.is_ascii_alphanumeric() && sign != '.');
    words
        .filter_map(|word| {
            let (number, unit) = word.split_at_checked(word.len().checked_sub(1)?)?;
            let digits = number.trim_start_matches(|sign: char| sign.is_ascii_alphabetic());
            let times = match unit {
                "k" => 1e3,
                "m" => 1e6,
                "b" => 1e9,
                _ => return None,
            };
            digits.parse::<f64>().ok().map(|it| it * times)
        })
        .next()
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
