//! The engine of one configuration, ready to be measured: started, waited for or found, probed, and its facts recorded.

use std::time::Duration;

use app::studio::{LiveEvent, PointState, StudyState};
use load::dialect::Quirks;
use load::{Engine, EngineOptions, Probe, Wire};
use measure::knobs::{Fact, Facts, KnobValue, Knobs, MUST_BE_TOLD, SEEN, Source};
use measure::study::{Api, ConfigurationSpec, Endpoint, EngineSpec, Turn};

use super::hindrance::{hindrance, unreachable};
use super::lengths::Lengths;
use super::run::{Halt, Run};
use crate::reach;
use crate::store::FactsChange;
use crate::studio::engines::{PROBE_LIMIT, engine_words, search_text, sentence};

/// A connection that is not open after this has failed.
const CONNECT: Duration = Duration::from_secs(10);

/// What the simulator calls itself.
const SIMULATOR: &str = "Goodput simulator";

/// A person may press Continue at another server: so often the study looks.
const LOOK: Duration = Duration::from_secs(1);

/// The engine of one configuration.
pub(super) struct Site {
    pub configuration: u32,
    pub endpoint: Endpoint,
    pub engine: Engine,
    /// How the engine is reached.
    pub wire: Wire,
    /// What its requests may say.
    pub quirks: Quirks,
    /// Who counts its prompts.
    pub lengths: Lengths,
    /// Whether the engine lets its prefix cache be reset.
    pub can_reset_cache: bool,
    /// The simulator lives as long as it is measured.
    _simulator: Option<sim::Running>,
}

impl Run<'_> {
    /// Makes the configuration's engine ready and records what it is.
    pub async fn open_site(&mut self, configuration: u32) -> Result<Site, Halt> {
        let spec = self.model.spec_of(configuration);
        let (endpoint, simulator, set) = match &self.model.study.spec.engine {
            EngineSpec::Simulator { preset } => start_simulator(preset, &spec)?,
            EngineSpec::Endpoint(endpoint) => (
                self.wait_for_engine(endpoint.clone(), &spec).await?,
                None,
                Knobs::new(),
            ),
        };
        let wire = reach::wire(&endpoint, &self.parts.data_dir)
            .map_err(|cause| Halt::Failed(unreachable(&cause)))?;
        let probe = probe(&endpoint, wire.clone()).await?;
        let endpoint = with_model(endpoint, &probe)?;
        check_declared(&spec, &probe)?;
        let can_reset_cache = probe.can_reset_cache;
        let quirks = load::quirks(&endpoint, wire.clone(), &probe, Quirks::default())
            .await
            .map_err(refused)?;
        let engine = self.connect(endpoint.clone(), wire.clone()).await?;
        let reached = (&endpoint, &wire);
        let lengths = self.lengths(&engine, reached, quirks).await?;
        let mut facts = facts(&spec, &endpoint, probe, &set);
        facts.extend(lengths.facts());
        self.record_facts(configuration, facts).await?;
        Ok(Site {
            configuration,
            endpoint,
            engine,
            wire,
            quirks,
            lengths,
            can_reset_cache,
            _simulator: simulator,
        })
    }

    /// The endpoint that stands for a configuration; where a person has to restart it, after they did.
    async fn wait_for_engine(
        &mut self,
        endpoint: Endpoint,
        spec: &ConfigurationSpec,
    ) -> Result<Endpoint, Halt> {
        match &spec.turn {
            Turn::AsIs => Ok(endpoint),
            Turn::OtherEndpoint(other) => Ok(other.clone()),
            Turn::Pause { instruction } => {
                self.wait_for_person(instruction).await?;
                Ok(endpoint)
            }
        }
    }

    async fn wait_for_person(&mut self, instruction: &str) -> Result<(), Halt> {
        let study = self.model.study.id;
        let event = LiveEvent::State {
            state: StudyState::Waiting,
            problem: Some(instruction.to_owned()),
            remaining_ms: None,
        };
        let number = self
            .parts
            .store
            .move_study(study, StudyState::Running, &event)
            .await?;
        self.model.study.state = StudyState::Waiting;
        self.parts.live.announce(study, number, event);
        loop {
            tokio::select! {
                () = self.control.halted.cancelled() => return Err(Halt::Wanted),
                () = self.control.proceed.notified() => {}
                () = tokio::time::sleep(LOOK) => {}
            }
            let stored = self.parts.store.study(study).await?;
            if stored.is_some_and(|(study, _)| study.state == StudyState::Running) {
                self.model.study.state = StudyState::Running;
                return Ok(());
            }
        }
    }

    /// Records what the configuration's engine is. Finished points must have been measured on the same.
    async fn record_facts(&mut self, configuration: u32, facts: Facts) -> Result<(), Halt> {
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

    /// A client for the endpoint, made where blocking is allowed: it looks the host up.
    async fn connect(&self, endpoint: Endpoint, wire: Wire) -> Result<Engine, Halt> {
        let idle_timeout = Duration::from_millis(self.model.study.spec.idle_timeout_ms);
        let options = EngineOptions {
            idle_timeout,
            connect_timeout: CONNECT,
            keep_text: false,
            wire,
            ..EngineOptions::default()
        };
        let made = tokio::task::spawn_blocking(move || Engine::connect(&endpoint, options)).await;
        match made {
            Ok(Ok(engine)) => Ok(engine),
            Ok(Err(cause)) => Err(Halt::Failed(format!(
                "The engine cannot be used: {}.",
                sentence(&cause)
            ))),
            Err(_) => Err(Halt::Failed(
                "The engine's client could not be made.".into(),
            )),
        }
    }
}

/// A simulator with the configuration's knobs. All its settings are facts: the studio set them itself.
fn start_simulator(
    preset: &str,
    spec: &ConfigurationSpec,
) -> Result<(Endpoint, Option<sim::Running>, Knobs), Halt> {
    let config = sim::Config::preset(preset, &spec.knobs).map_err(|cause| {
        Halt::Failed(format!("The simulator cannot start: {}.", sentence(&cause)))
    })?;
    let set = config.knobs();
    let running = sim::start(config)
        .map_err(|cause| Halt::Failed(format!("The simulator cannot start: {cause}.")))?;
    let endpoint = Endpoint::new(&running.url, Api::OpenAiChat, "");
    Ok((endpoint, Some(running), set))
}

/// What is behind the endpoint, or why nothing can be measured there.
pub(super) async fn probe(endpoint: &Endpoint, wire: Wire) -> Result<Probe, Halt> {
    let probe = load::probe(endpoint, wire, PROBE_LIMIT).await;
    probe.map_err(|cause| Halt::Failed(hindrance(&cause)))
}

fn refused(cause: load::TrialError) -> Halt {
    Halt::Failed(format!(
        "Every request would fail: {}. Mend that, then resume the study.",
        sentence(&cause)
    ))
}

/// The model asked for must be one that the engine serves; the simulator serves one and needs no name.
fn with_model(mut endpoint: Endpoint, probe: &Probe) -> Result<Endpoint, Halt> {
    if endpoint.model.is_empty() {
        endpoint.model = probe.models.first().cloned().unwrap_or_default();
    }
    if probe.models.is_empty() || probe.models.contains(&endpoint.model) {
        return Ok(endpoint);
    }
    let (wanted, served) = (&endpoint.model, probe.models.join(", "));
    Err(Halt::Failed(format!(
        "The engine does not serve the model {wanted}; it serves {served}. Launch the study with one of these."
    )))
}

/// A knob that the engine reports must be as the configuration declares it: a restart may have been forgotten.
fn check_declared(spec: &ConfigurationSpec, probe: &Probe) -> Result<(), Halt> {
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

/// Everything known of a configuration: what the engine reports, what the studio set, what a person declared.
fn facts(spec: &ConfigurationSpec, endpoint: &Endpoint, probe: Probe, set: &Knobs) -> Facts {
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
        let preset = "none: simulated".to_owned();
        tell("hardware", preset.clone(), Source::Engine);
        tell("quantization", preset, Source::Engine);
    }
    if engine != "unknown" {
        tell("engine", engine, Source::Engine);
    }
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

/// In what an engine is no longer the one that finished points were measured on.
fn changed(before: &Facts, now: &Facts) -> Option<String> {
    let settings = before.iter().filter(|(name, _)| !name.starts_with(SEEN));
    let told = |fact: &Fact| fact.source == Source::Engine;
    let (name, old, new) = settings.into_iter().find_map(|(name, old)| {
        let new = now.get(name)?;
        let differs = told(old) && told(new) && new.value != old.value;
        differs.then_some((name, &old.value, &new.value))
    })?;
    Some(format!(
        "The engine changed since its finished points were measured: {name} was {old} and is {new} now. Restart it as it was, or launch a new study."
    ))
}

#[cfg(test)]
mod tests {
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
            changed(&before, &known(&[("version", "2")]))
                .is_some_and(|text| text.contains("version was 1 and is 2"))
        );
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
        let declared = |name: &str| (facts[name].value.as_str(), facts[name].source);
        assert_eq!(declared("hardware"), ("1x L4", Source::Declared));
        assert_eq!(declared("version"), ("unknown", Source::Unknown));
        assert_eq!(declared("quantization"), ("unknown", Source::Unknown));
    }
}
