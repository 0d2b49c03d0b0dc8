//! The engine of one configuration, ready to be measured: started, waited for or found, probed, and its facts recorded.

use std::time::Duration;

use app::studio::Hold;
use load::dialect::Quirks;
use load::{Engine, EngineOptions, Probe, Wire};
use measure::knobs::{Facts, Knobs};
use measure::study::{Api, ConfigurationSpec, Endpoint, EngineSpec, Turn};

use super::facts::{check_declared, facts, reported, take_fact};
use super::hindrance::{hindrance, unreachable};
use super::lengths::Lengths;
use super::managed::{Ready, Started};
use super::run::{Failure, Halt, Run};
use crate::reach;
use crate::store::Store;
use crate::studio::engines::{PROBE_LIMIT, sentence};

/// A connection that is not open after this has failed.
const CONNECT: Duration = Duration::from_secs(10);

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
    /// What it told of itself when it was found.
    pub reported: Facts,
    /// The simulator lives as long as it is measured.
    _simulator: Option<sim::Running>,
    /// The engine that the studio started for it.
    pub managed: Option<Started>,
}

/// What stands behind a configuration before it was probed.
struct Found {
    endpoint: Endpoint,
    simulator: Option<sim::Running>,
    managed: Option<Started>,
    /// What the studio set itself.
    set: Knobs,
    facts: Facts,
}

impl Found {
    fn live(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            simulator: None,
            managed: None,
            set: Knobs::new(),
            facts: Facts::new(),
        }
    }
}

impl Site {
    /// Whether the next point needs a fresh engine.
    pub fn is_spent(&self) -> bool {
        self.managed.as_ref().is_some_and(Started::is_spent)
    }

    /// What fails while a managed engine is gone is the engine's failure.
    pub fn blame(&self, halt: Halt) -> Halt {
        let gone = self
            .managed
            .as_ref()
            .is_some_and(|it| it.engine.exit().is_some());
        match halt {
            Halt::Failed(problem) if gone => Halt::Engine(Failure::of_point(problem)),
            other => other,
        }
    }

    /// Keeps what a managed engine has said so far.
    pub async fn keep_log(&self, store: &Store) {
        if let Some(managed) = &self.managed {
            managed.keep_log(store).await;
        }
    }
}

impl Run<'_> {
    /// Makes the configuration's engine ready and records what it is.
    pub async fn open_site(&mut self, configuration: u32) -> Result<Site, Halt> {
        let spec = self.model.spec_of(configuration);
        let mut found = self.find_engine(configuration, &spec).await?;
        let managed = found.managed.take();
        match self.make_site(configuration, &spec, found).await {
            Ok(site) => Ok(Site { managed, ..site }),
            Err(halt) => Err(self.let_go(managed, halt).await),
        }
    }

    /// An engine that the studio started for nothing is stopped. That it cannot be used is its failure, not the study's.
    async fn let_go(&self, managed: Option<Started>, halt: Halt) -> Halt {
        let Some(managed) = managed else { return halt };
        managed.stop(&self.parts.store).await;
        match halt {
            Halt::Failed(problem) => Halt::Engine(Failure::of_start(problem)),
            other => other,
        }
    }

    async fn find_engine(
        &mut self,
        configuration: u32,
        spec: &ConfigurationSpec,
    ) -> Result<Found, Halt> {
        if let Some(name) = self.managed_name(spec) {
            let Ready {
                endpoint,
                started,
                facts,
                set,
            } = self.start_managed(configuration, spec, &name).await?;
            return Ok(Found {
                endpoint,
                simulator: None,
                managed: Some(started),
                set,
                facts,
            });
        }
        match &self.model.study.spec.engine {
            EngineSpec::Simulator { preset } => start_simulator(preset, spec),
            EngineSpec::Endpoint(endpoint) => {
                let endpoint = self.wait_for_engine(endpoint.clone(), spec).await?;
                Ok(Found::live(endpoint))
            }
            // Its configurations run on it, or on a second one.
            EngineSpec::Managed { .. } => {
                let none = Endpoint::new("", Api::default(), "");
                let endpoint = self.wait_for_engine(none, spec).await?;
                Ok(Found::live(endpoint))
            }
        }
    }

    async fn make_site(
        &mut self,
        configuration: u32,
        spec: &ConfigurationSpec,
        found: Found,
    ) -> Result<Site, Halt> {
        let Found {
            endpoint,
            simulator,
            set,
            facts: known,
            ..
        } = found;
        let wire = reach::wire(&endpoint, &self.parts.data_dir)
            .map_err(|cause| Halt::Failed(unreachable(&cause)))?;
        let probe = probe(&endpoint, wire.clone()).await?;
        let endpoint = with_model(endpoint, &probe)?;
        check_declared(spec, &probe)?;
        let can_reset_cache = probe.can_reset_cache;
        let reported = reported(&probe);
        let quirks = load::quirks(&endpoint, wire.clone(), &probe, Quirks::default())
            .await
            .map_err(refused)?;
        let inside = simulator.is_some();
        let engine = self.connect(&endpoint, wire.clone(), inside).await?;
        let reached = (&endpoint, &wire);
        let lengths = self.lengths(&engine, reached, quirks).await?;
        let mut facts = facts(spec, &endpoint, probe, &set);
        for (name, fact) in known {
            take_fact(&mut facts, name, fact);
        }
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
            reported,
            _simulator: simulator,
            managed: None,
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
            Turn::Managed { .. } => Ok(endpoint),
            Turn::Pause { instruction } => {
                self.wait_for_person(instruction.clone(), Hold::None)
                    .await?;
                Ok(endpoint)
            }
        }
    }

    /// A client for the endpoint, made where blocking is allowed: it looks the host up.
    async fn connect(
        &self,
        endpoint: &Endpoint,
        wire: Wire,
        in_process: bool,
    ) -> Result<Engine, Halt> {
        let endpoint = endpoint.clone();
        let idle_timeout = Duration::from_millis(self.model.study.spec.idle_timeout_ms);
        let options = EngineOptions {
            idle_timeout,
            connect_timeout: CONNECT,
            keep_text: false,
            wire,
            in_process,
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
fn start_simulator(preset: &str, spec: &ConfigurationSpec) -> Result<Found, Halt> {
    let config = sim::Config::preset(preset, &spec.knobs).map_err(|cause| {
        Halt::Failed(format!("The simulator cannot start: {}.", sentence(&cause)))
    })?;
    let set = config.knobs();
    let running = sim::start(config)
        .map_err(|cause| Halt::Failed(format!("The simulator cannot start: {cause}.")))?;
    let endpoint = Endpoint::new(&running.url, Api::OpenAiChat, "");
    Ok(Found {
        simulator: Some(running),
        set,
        ..Found::live(endpoint)
    })
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
