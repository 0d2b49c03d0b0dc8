//! How an engine of `studio.toml` is started with the knobs of a configuration.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use load::catalogue::{Catalogue, Flags};
use load::launch::{Filling, Launch, LaunchError, Program, Template};
use measure::knobs::{KnobError, Knobs};
use measure::study::Endpoint;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::sheet;
use crate::reach::{self, ReachError};
use crate::studio::dataset::hexadecimal;
use crate::studio::engines::sentence;

/// Bytes of a digest that tell two launches apart.
const DIGEST: usize = 6;

/// The command of an engine and what belongs to it.
#[derive(Clone, Debug)]
pub struct LaunchTemplate {
    /// The command.
    pub template: Template,
    /// Its knobs.
    pub catalogue: &'static Catalogue,
    /// Where it answers.
    pub address: Address,
    /// Variables of the studio's environment that it gets.
    pub pass_env: Vec<String>,
    /// Its working directory.
    pub cwd: Option<PathBuf>,
    /// The path that says whether it is well.
    pub health: String,
    /// How long a start may take.
    pub limit: Duration,
    /// How long it may take to end.
    pub grace: Duration,
    /// Knobs that it always has, unless a configuration says otherwise.
    pub base_knobs: Knobs,
    /// Flags that the catalogue does not know are let through.
    pub free_flags: bool,
    /// How its prefix cache is emptied between points.
    pub cache_reset: CacheReset,
}

/// Where an engine answers once it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// With `{port}`.
    pub url: String,
    /// `None`: a free one each time.
    pub port: Option<u16>,
    /// The machine that it keeps busy.
    pub host: String,
}

/// How a prefix cache is emptied between points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheReset {
    /// By the engine where it can; else by a restart where that is quick; else not, and the page says so.
    #[default]
    Auto,
    /// By a restart before each point.
    Restart,
    /// By the engine where it can, and never by a restart.
    Never,
}

/// Why no launch comes of a template.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlanError {
    #[error("{}", .0.message)]
    Knob(KnobError),
    #[error(transparent)]
    Template(load::launch::TemplateError),
    #[error(transparent)]
    Launch(LaunchError),
    #[error(transparent)]
    Reach(ReachError),
}

impl LaunchTemplate {
    /// The knobs that a configuration ends up with.
    pub fn knobs(&self, given: &Knobs) -> Knobs {
        let mut knobs = self.base_knobs.clone();
        knobs.extend(given.clone());
        knobs
    }

    /// Checks a configuration's knobs; the arguments that they become.
    pub fn flags(&self, given: &Knobs) -> Result<Flags, KnobError> {
        let knobs = self.knobs(given);
        let set = knobs
            .keys()
            .find_map(|name| Some((name, self.template.sets(self.catalogue.flag(name))?)));
        if let Some((name, word)) = set {
            return Err(KnobError {
                knob: Some(name.clone()),
                message: format!(
                    "{name} is set by the engine's launch template itself ({word}); move it from its command to its base_knobs, where configurations can change it"
                ),
            });
        }
        self.catalogue.render(&knobs, self.free_flags)
    }

    /// Everything for one start.
    pub(crate) fn plan(
        &self,
        endpoint: &Endpoint,
        given: &Knobs,
        data_dir: &Path,
        guard: Option<PathBuf>,
    ) -> Result<Launch, PlanError> {
        let port = match self.address.port {
            Some(port) => port,
            None => load::launch::free_port().map_err(PlanError::Launch)?,
        };
        let endpoint = Endpoint {
            url: self.address.url.replace("{port}", &port.to_string()),
            ..endpoint.clone()
        };
        let wire = reach::wire(&endpoint, data_dir).map_err(PlanError::Reach)?;
        let program = self.program(&endpoint.model, port, given)?;
        Ok(Launch {
            program,
            pass_env: self.pass_env.clone(),
            cwd: self.cwd.clone(),
            secrets: self.secrets(&endpoint),
            endpoint,
            wire,
            health: self.health.clone(),
            limit: self.limit,
            grace: self.grace,
            guard,
        })
    }

    fn program(&self, model: &str, port: u16, given: &Knobs) -> Result<Program, PlanError> {
        let Flags { args, env, .. } = self.flags(given).map_err(PlanError::Knob)?;
        let filling = Filling {
            model,
            port,
            args: &args,
            env: &env,
        };
        self.template.fill(&filling).map_err(PlanError::Template)
    }

    /// What makes a start another one, as a short digest: the command and how it is ended before anything is filled in,
    /// its variables, its directory. Keys are left out, and base knobs, which are facts of their own.
    pub(crate) fn digest(&self) -> String {
        self.digest_where(|name| std::env::var(name).ok())
    }

    pub(super) fn digest_where(&self, own: impl Fn(&str) -> Option<String>) -> String {
        let Template { command, stop, env } = &self.template;
        let passed = self.pass_env.iter().map(|name| (name.as_str(), own(name)));
        let given = env
            .iter()
            .map(|(name, value)| (name.as_str(), Some(value.clone())));
        let variables: BTreeMap<&str, Option<String>> = passed
            .chain(given)
            .map(|(name, value)| (name, value.filter(|value| !sheet::is_key(name, value))))
            .collect();
        let cwd = self.cwd.as_ref().map(|path| path.to_string_lossy());
        let all = (sheet::shown(command), sheet::shown(stop), variables, cwd);
        let digest = Sha256::digest(serde_json::to_vec(&all).unwrap_or_default());
        hexadecimal(&digest[..DIGEST])
    }

    /// Values that must not stand in a log: keys that the engine gets, in variables or in its command. Longer ones first,
    /// so that one within another leaves nothing of that.
    pub(super) fn secrets(&self, endpoint: &Endpoint) -> Vec<String> {
        let is_secret = |name: &&String| {
            let name = name.to_ascii_uppercase();
            ["KEY", "TOKEN", "SECRET", "PASSWORD"]
                .iter()
                .any(|it| name.contains(it))
        };
        let own = self.pass_env.iter().chain(&endpoint.api_key_env);
        let own = own
            .filter(is_secret)
            .filter_map(|name| std::env::var(name).ok());
        let given = self.template.env.iter().filter(|(name, _)| is_secret(name));
        let given = given.map(|(_, value)| value.clone());
        let Template { command, stop, .. } = &self.template;
        let written = sheet::keys(command).chain(sheet::keys(stop));
        let mut all: Vec<String> = own.chain(given).chain(written).collect();
        all.sort_by_key(|it| std::cmp::Reverse(it.len()));
        all
    }
}

impl PlanError {
    /// For people.
    pub(crate) fn words(&self) -> String {
        sentence(self)
    }
}
