//! What is known of a configuration's engine: what it reports, what the studio set, what a person declared.

use app::studio::{LiveEvent, PointState, SIMULATOR};
use load::Probe;
use measure::knobs::{Fact, Facts, KnobValue, Knobs, MUST_BE_TOLD, SEEN, Source};
use measure::study::{ConfigurationSpec, Endpoint};

use super::run::{Halt, Run};
use super::site::{Site, probe};
use crate::store::FactsChange;
use crate::studio::engines::{engine_words, search_text};

/// Whether another engine answers now than at the start. One that does not answer may be busy with what is left over.
pub(super) async fn exchanged(site: &Site) -> Option<Exchange> {
    let now = probe(&site.endpoint, site.wire.clone()).await.ok()?;
    exchange(&site.reported, &reported(&now))
}

impl Run<'_> {
    /// Records what the configuration's engine is. Finished points must have been measured on the same.
    pub(super) async fn record_facts(
        &mut self,
        configuration: u32,
        facts: Facts,
    ) -> Result<(), Halt> {
        let measured = self.model.points.iter().any(|point| {
            point.configuration == configuration && point.state == PointState::Finished
        });
        let Some(stored) = self.model.configurations.get_mut(configuration as usize) else {
            return Ok(());
        };
        if let Some(change) = changed(&stored.facts, &facts).filter(|_| measured) {
            return Err(Halt::Failed(change));
        }
        if !measured {
            stored.cache_cold = None;
        }
        stored.facts = facts;
        self.tell_facts(configuration).await
    }

    /// Sees that the engine is still the one that its configuration began with.
    pub(super) fn same_engine(&self, site: &Site, now: &Probe) -> Result<(), Halt> {
        match exchange(&site.reported, &reported(now)) {
            Some(it) => Err(Halt::Failed(changed_words(&it.name, &it.was, &it.is))),
            None => Ok(()),
        }
    }

    /// Writes down that a configuration's engine became another: it is compared with nothing that is either of them.
    pub(super) async fn remember_exchange(
        &mut self,
        configuration: u32,
        exchange: Exchange,
    ) -> Result<(), Halt> {
        let Exchange { name, was, is } = exchange;
        let Some(stored) = self.model.configurations.get_mut(configuration as usize) else {
            return Ok(());
        };
        let value = format!("{was}, then {is}");
        let source = Source::Engine;
        stored.facts.insert(name, Fact { value, source });
        self.tell_facts(configuration).await
    }

    /// Stores and announces what the model knows of a configuration.
    pub async fn tell_facts(&mut self, configuration: u32) -> Result<(), Halt> {
        let Some(stored) = self.model.configurations.get(configuration as usize) else {
            return Ok(());
        };
        let (study, facts, cache_cold) =
            (self.model.study.id, stored.facts.clone(), stored.cache_cold);
        let named = match self.parts.store.study(study).await? {
            Some((fresh, _)) if configuration == 0 => {
                let engine = engine_words(&fresh.spec, &facts);
                let search = search_text(&fresh.spec, &fresh.tags, &engine);
                Some((engine, search))
            }
            _ => None,
        };
        let named = named
            .as_ref()
            .map(|(engine, search)| (engine.as_str(), search.as_str()));
        let event = LiveEvent::Facts {
            configuration,
            facts: facts.clone(),
            cache_cold,
        };
        let change = FactsChange {
            study,
            configuration,
            facts: &facts,
            cache_cold,
            named,
            event: &event,
        };
        let number = self.parts.store.record_facts(&change).await?;
        self.announce(number, event);
        Ok(())
    }
}

/// A knob that the engine reports must be as the configuration declares it: a restart may have been forgotten.
pub(super) fn check_declared(spec: &ConfigurationSpec, probe: &Probe) -> Result<(), Halt> {
    for (name, declared) in &spec.knobs {
        let reported = probe.facts.get(&format!("knob:{name}"));
        // SGLang's flags are written with dashes, its report with underscores.
        let dashed = || probe.facts.get(&format!("knob:{}", name.replace('_', "-")));
        let Some(fact) = reported.or_else(dashed) else {
            continue;
        };
        let (reported, declared) = (knob_text(&fact.value), knob_text(&declared.to_string()));
        if reported != declared {
            return Err(Halt::Failed(format!(
                "The engine reports {name} {reported}, but the configuration {} declares {declared}. Restart the engine so, then resume the study.",
                spec.name
            )));
        }
    }
    Ok(())
}

/// A knob's value as one spelling: engines write `True`, people `on`.
fn knob_text(value: &str) -> String {
    KnobValue::from(value.to_lowercase().as_str()).to_string()
}

/// The fact that says in whose words the engine is asked.
pub(crate) const DIALECT: &str = "dialect";

/// What the simulator runs on, and what its weights are.
pub(crate) const NO_MACHINE: &str = "none: simulated";

/// Everything known of a configuration: what the engine reports, what the studio set, what a person declared.
pub(super) fn facts(
    spec: &ConfigurationSpec,
    endpoint: &Endpoint,
    probe: Probe,
    set: &Knobs,
) -> Facts {
    let Probe {
        engine,
        version,
        models,
        facts: mut all,
        ..
    } = probe;
    for (name, fact) in &mut all {
        if name.starts_with("knob:") {
            fact.value = knob_text(&fact.value);
        }
    }
    let simulated = engine == SIMULATOR;
    let mut tell = |name: &str, value: String, source| {
        all.entry(name.to_owned()).or_insert(Fact { value, source });
    };
    let known = if models.contains(&endpoint.model) {
        Source::Engine
    } else {
        Source::Declared
    };
    tell("model", endpoint.model.clone(), known);
    if simulated {
        let preset = NO_MACHINE.to_owned();
        tell("hardware", preset.clone(), Source::Engine);
        tell("quantization", preset, Source::Engine);
    }
    if engine != "unknown" {
        tell("engine", engine, Source::Engine);
    }
    tell(DIALECT, endpoint.api.name().to_owned(), Source::Engine);
    let connection = endpoint.connection.words();
    if !connection.is_empty() {
        tell("connection", connection, Source::Engine);
    }
    if let Some(version) = version {
        tell("version", version, Source::Engine);
    }
    for (name, value) in set {
        tell(
            &format!("knob:{name}"),
            knob_text(&value.to_string()),
            Source::Engine,
        );
    }
    for (name, value) in &spec.knobs {
        tell(
            &format!("knob:{name}"),
            knob_text(&value.to_string()),
            Source::Declared,
        );
    }
    for (name, value) in &spec.declared {
        tell(name, value.trim().to_owned(), Source::Declared);
    }
    for name in MUST_BE_TOLD {
        tell(name, "unknown".to_owned(), Source::Unknown);
    }
    all
}

/// Adds what is known from elsewhere: what was only declared gives way to what anybody knows.
pub(super) fn take_fact(facts: &mut Facts, name: String, fact: Fact) {
    let is_known = |it: &Fact| it.source != Source::Unknown;
    if fact.source == Source::Declared && facts.get(&name).is_some_and(is_known) {
        return;
    }
    facts.insert(name, fact);
}

/// What an engine told of itself twice, and otherwise the second time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Exchange {
    /// The fact.
    pub name: String,
    /// What it was.
    pub was: String,
    /// What it is.
    pub is: String,
}

impl Exchange {
    /// What it means for the point that was measured meanwhile.
    pub fn sentence(&self) -> String {
        let Self { name, was, is } = self;
        format!(
            "The engine was exchanged while the point was measured: {name} was {was} and is {is}, so that its figures are of both."
        )
    }
}

/// What an engine tells of itself. What it is set to by others is not in it.
pub(super) fn reported(probe: &Probe) -> Facts {
    let mut all = probe.facts.clone();
    let version = probe.version.clone().map(|it| ("version", it));
    let engine = (probe.engine != "unknown").then(|| ("engine", probe.engine.clone()));
    for (name, value) in version.into_iter().chain(engine) {
        let source = Source::Engine;
        all.insert(name.to_owned(), Fact { value, source });
    }
    all
}

/// The first that an engine tells otherwise. What it tells only once may have been asked of it in vain.
pub(super) fn exchange(before: &Facts, now: &Facts) -> Option<Exchange> {
    let settings = before.keys().filter(|name| !name.starts_with(SEEN));
    settings
        .filter_map(|name| Some((name, told(before, name)?, told(now, name)?)))
        .find(|(_, was, is)| was != is)
        .map(|(name, was, is)| Exchange {
            name: name.clone(),
            was: was.to_owned(),
            is: is.to_owned(),
        })
}

fn changed_words(name: &str, was: &str, is: &str) -> String {
    format!(
        "The engine changed since its finished points were measured: {name} was {was} and is {is} now. Restart it as it was, or launch a new study."
    )
}

/// In what an engine is no longer the one that finished points were measured on: it tells otherwise, or it tells no more
/// what it told, or tells now what it did not.
fn changed(before: &Facts, now: &Facts) -> Option<String> {
    let names = before.keys().chain(now.keys());
    let mut settings = names.filter(|name| !name.starts_with(SEEN));
    let (name, old, new) = settings.find_map(|name| {
        let (old, new) = (told(before, name), told(now, name));
        let is_change = match (old, new) {
            (Some(old), Some(new)) => old != new,
            (Some(_), None) => true,
            (None, Some(_)) => is_always_told(name),
            (None, None) => false,
        };
        is_change.then_some((name, old, new))
    })?;
    let words = |value: Option<&str>| value.unwrap_or("unknown").to_owned();
    let is = match new {
        None if now.contains_key(name) => "not told by the engine".to_owned(),
        new => words(new),
    };
    Some(changed_words(name, &words(old), &is))
}

/// What the engine told of a matter, or the studio set.
fn told<'a>(facts: &'a Facts, name: &str) -> Option<&'a str> {
    let fact = facts.get(name)?;
    (fact.source == Source::Engine).then_some(fact.value.as_str())
}

/// Whether an engine that did not tell it is another than one that does. What later releases of the studio ask for is
/// none of these: a study that began under an earlier one goes on.
fn is_always_told(name: &str) -> bool {
    MUST_BE_TOLD.contains(&name) || name.starts_with("knob:")
}

#[cfg(test)]
mod tests {
    use measure::knobs::LAUNCH;
    use measure::study::Api;

    use super::*;

    fn known(pairs: &[(&str, &str)]) -> Facts {
        pairs
            .iter()
            .map(|(name, value)| {
                (
                    (*name).to_owned(),
                    Fact {
                        value: (*value).to_owned(),
                        source: Source::Engine,
                    },
                )
            })
            .collect()
    }

    #[test]
    fn an_engine_that_changed_is_another() {
        let before = known(&[("version", "1"), ("model", "m")]);
        assert_eq!(changed(&before, &before), None);
        assert!(
            changed(&before, &known(&[("version", "2"), ("model", "m")]))
                .is_some_and(|text| text.contains("version was 1 and is 2"))
        );
    }

    #[test]
    fn an_engine_that_is_exchanged_tells_otherwise() {
        let before = known(&[("version", "0.9.0"), ("seen:kv cache tokens", "1")]);
        let found = |now: &[(&str, &str)]| exchange(&before, &known(now));
        let said = found(&[("version", "0.9.5")]).expect("another").sentence();
        assert!(said.contains("version was 0.9.0 and is 0.9.5"), "{said}");
        assert_eq!(found(&[("version", "0.9.0")]), None);
        assert_eq!(found(&[("seen:kv cache tokens", "2")]), None);
        assert_eq!(found(&[("engine", "vLLM")]), None);
    }

    #[test]
    fn an_engine_that_tells_less_or_more_is_another() {
        let all = known(&[
            ("engine", "vLLM"),
            ("version", "1"),
            ("model", "m"),
            ("quantization", "fp8"),
            ("dtype", "bfloat16"),
            ("knob:max-num-seqs", "4"),
        ]);
        assert_eq!(changed(&all, &all.clone()), None);
        for name in all.keys() {
            let mut less = all.clone();
            less.remove(name);
            let gone = changed(&all, &less).expect(name);
            assert!(gone.contains(&format!("{name} was ")), "{gone}");
            assert!(gone.contains("is unknown now"), "{gone}");
            // Probed again, what must be told and is not stands as unknown, or as a person declared it.
            for source in [Source::Unknown, Source::Declared] {
                let mut untold = all.clone();
                untold.get_mut(name).expect(name).source = source;
                assert!(changed(&all, &untold).is_some(), "{name}");
                let is_told_now = changed(&untold, &all).is_some();
                assert_eq!(is_told_now, name != "dtype", "{name}");
            }
        }
    }

    #[test]
    fn a_study_that_began_before_a_fact_was_asked_for_goes_on() {
        let before = known(&[("engine", "vLLM")]);
        let now = known(&[
            ("engine", "vLLM"),
            (LAUNCH, "0a1b"),
            (DIALECT, "openai.chat"),
        ]);
        assert_eq!(changed(&before, &now), None);
        let otherwise = known(&[
            ("engine", "vLLM"),
            (LAUNCH, "2c3d"),
            (DIALECT, "openai.chat"),
        ]);
        let changed = changed(&now, &otherwise).expect("a change");
        assert!(changed.contains("launch was 0a1b and is 2c3d"), "{changed}");
        let seen = known(&[("engine", "vLLM"), ("seen:start-up", "1 s")]);
        assert_eq!(super::changed(&before, &seen), None);
        assert_eq!(super::changed(&seen, &before), None);
    }

    #[test]
    fn a_knob_has_one_spelling() {
        for (value, text) in [
            ("True", "on"),
            ("off", "off"),
            ("0.90", "0.9"),
            ("64", "64"),
            ("FP8", "fp8"),
        ] {
            assert_eq!(knob_text(value), text);
        }
    }

    #[test]
    fn what_the_engine_reports_outweighs_what_a_person_says() {
        let spec = ConfigurationSpec {
            name: "x".into(),
            knobs: [("max-num-seqs".to_owned(), "4".into())].into(),
            declared: [
                ("hardware".to_owned(), " 1x L4 ".to_owned()),
                ("engine".to_owned(), "mine".to_owned()),
            ]
            .into(),
            ..ConfigurationSpec::default()
        };
        let mut endpoint = Endpoint::new("", Api::OpenAiChat, "m");
        endpoint.connection.http2 = true;
        let reported = known(&[("knob:max-num-seqs", "8")]);
        let probe = Probe {
            engine: "vLLM".into(),
            version: None,
            models: vec!["m".into()],
            facts: reported,
            has_metrics: false,
            can_reset_cache: false,
        };
        let facts = facts(&spec, &endpoint, probe, &Knobs::new());
        assert_eq!(
            facts["knob:max-num-seqs"],
            Fact {
                value: "8".into(),
                source: Source::Engine
            }
        );
        assert_eq!(facts["engine"].value, "vLLM");
        assert_eq!(facts["connection"].value, "HTTP/2");
        assert_eq!(facts[DIALECT].value, "openai.chat");
        let declared = |name: &str| (facts[name].value.as_str(), facts[name].source);
        assert_eq!(declared("hardware"), ("1x L4", Source::Declared));
        assert_eq!(declared("version"), ("unknown", Source::Unknown));
        assert_eq!(declared("quantization"), ("unknown", Source::Unknown));
    }
}
