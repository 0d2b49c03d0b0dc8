//! What makes two runs runs of the same.

use measure::history::{Figure, Key};
use measure::knobs::{ACCEPTED, AUTHOR, Facts, Source};
use measure::study::{Endpoint, EngineSpec, Turn};
use measure::units::Level;
use url::Url;

use crate::bundle::sha256;
use crate::store::StoredConfiguration;
use crate::studio::asked::{SEED, asked, cache, set};
use crate::studio::views::Model;

/// What is known of a configuration and what was asked of it. The machine stands for hardware that nobody tells.
pub(super) fn facts(model: &Model, stored: &StoredConfiguration) -> Facts {
    let mut facts = model.configuration_view(stored).facts;
    facts.extend(asked(&model.study.spec));
    facts.extend(stored.cache_cold.map(cache));
    // Another seed draws other requests of the same workload: part of what runs differ by.
    facts.remove(SEED);
    facts.remove(ACCEPTED);
    facts.remove(AUTHOR);
    facts.extend(engine(model, stored.ordinal, &facts));
    facts
}

/// Facts for ceilings alone: what was promised, and at which rates it was tried.
pub(super) fn facts_of_ceilings(model: &Model, facts: &Facts) -> Facts {
    let spec = &model.study.spec;
    let text = |it: serde_json::Result<String>| it.unwrap_or_default();
    let mut facts = facts.clone();
    facts.extend([
        set("slo", spec.slo.to_string()),
        set("levels", text(serde_json::to_string(&spec.levels))),
        set("adaptive", text(serde_json::to_string(&spec.adaptive))),
        set("repeats", spec.repeats.to_string()),
    ]);
    facts
}

/// The digest of a figure's key.
pub(super) fn digest(facts: &Facts, level: Option<Level>, figure: Figure) -> String {
    let key = Key::of(facts, level, figure);
    sha256(&serde_json::to_vec(&key).unwrap_or_default())
}

/// Which simulator, or which machine where its hardware is unknown.
fn engine(model: &Model, ordinal: u32, facts: &Facts) -> Option<(String, measure::knobs::Fact)> {
    let known = |name: &str| {
        facts
            .get(name)
            .is_some_and(|it| it.source != Source::Unknown)
    };
    let machine = |value: String| (!known("hardware")).then(|| set("hardware", value));
    match (&model.spec_of(ordinal).turn, &model.study.spec.engine) {
        (Turn::OtherEndpoint(it), _) => machine(host(it)),
        (Turn::Managed { name }, _) => machine(format!("that of {name}")),
        (_, EngineSpec::Simulator { preset }) => Some(set("preset", preset.clone())),
        (_, EngineSpec::Endpoint(it)) => machine(host(it)),
        (_, EngineSpec::Managed { name }) => machine(format!("that of {name}")),
    }
}

/// An engine's machine by its name on the network; ports change from start to start.
fn host(endpoint: &Endpoint) -> String {
    let url = Url::parse(&endpoint.url).ok();
    let host = url.as_ref().and_then(Url::host_str);
    format!("at {}", host.unwrap_or(&endpoint.url))
}
