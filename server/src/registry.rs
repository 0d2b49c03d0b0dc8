//! Engines that whoever administers the studio wrote down in `studio.toml`: by URL, or with the command that starts them.
//!
//! Commands come from this file and from nowhere else: a study names an engine and gives values for its knobs. What is
//! wrong in the file is said with its line when the studio starts, before anything runs.

mod file; // how the file is read
pub(crate) mod sheet; // an engine as pages show it
mod template; // how an engine is started

use std::path::{Path, PathBuf};

use app::studio::{EngineRow, EngineSheet, ProbeReport};
use measure::knobs::{Fact, Facts, Source};
use measure::study::Endpoint;
use sha2::{Digest, Sha256};
use uuid::Uuid;

pub use template::{CacheReset, LaunchTemplate};

/// The file within the data directory.
pub const FILE: &str = "studio.toml";

/// Engines by name.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    /// In the order of the file.
    engines: Vec<Registered>,
    /// Whoever holds the access token may start engines, too.
    pub token_may_start_engines: bool,
    /// The program that guards engines; `None`: this one.
    pub guard: Option<PathBuf>,
}

/// An engine of the file.
#[derive(Clone, Debug)]
pub struct Registered {
    /// A name of its own.
    pub name: String,
    /// How it is reached; without a URL where the studio starts it.
    pub endpoint: Endpoint,
    /// What it runs on, in a person's words.
    pub hardware: Option<String>,
    /// Tags, sorted.
    pub tags: Vec<String>,
    /// How it is started, where the studio does that.
    pub launch: Option<LaunchTemplate>,
}

/// Why the file is of no use.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// It was named and is not there, or it cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's word.
        #[source]
        cause: std::io::Error,
    },
    /// It says something that means nothing.
    #[error("{}, line {line}: {message}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// What is wrong, and the mend.
        message: String,
    },
}

impl Registry {
    /// Reads the file that was named, or else the one of the data directory, which need not be there.
    pub fn read(named: Option<&Path>, data_dir: &Path) -> Result<Self, RegistryError> {
        let path = named.map_or_else(|| data_dir.join(FILE), Path::to_owned);
        match std::fs::read_to_string(&path) {
            Ok(text) => file::parse(&text).map_err(|(line, message)| RegistryError::Wrong {
                path,
                line,
                message,
            }),
            Err(cause) if named.is_none() && cause.kind() == std::io::ErrorKind::NotFound => {
                Ok(Self::default())
            }
            Err(cause) => Err(RegistryError::Unreadable { path, cause }),
        }
    }

    /// The engine of a name that the studio starts.
    pub fn managed(&self, name: &str) -> Option<(&Registered, &LaunchTemplate)> {
        let found = self.engines.iter().find(|it| it.name == name)?;
        Some((found, found.launch.as_ref()?))
    }

    /// Names of the engines that the studio starts.
    pub fn managed_names(&self) -> Vec<&str> {
        let managed = self.engines.iter().filter(|it| it.launch.is_some());
        managed.map(|it| &*it.name).collect()
    }

    /// Everything that pages show of the engines.
    pub fn sheets(&self) -> impl Iterator<Item = EngineSheet> {
        self.engines.iter().map(sheet::of)
    }

    /// The engines as pages see them.
    pub fn rows(&self) -> impl Iterator<Item = EngineRow> {
        self.engines.iter().map(Registered::row)
    }

    /// Whether an engine stands in the file.
    pub fn has(&self, id: Uuid) -> bool {
        self.engines.iter().any(|it| it.id() == id)
    }
}

impl Registered {
    /// The same at every start.
    fn id(&self) -> Uuid {
        let digest = Sha256::digest(format!("{FILE}: {}", self.name));
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        uuid::Builder::from_custom_bytes(bytes).into_uuid()
    }

    pub(crate) fn row(&self) -> EngineRow {
        let mut endpoint = self.endpoint.clone();
        if self.launch.is_some() {
            endpoint.url = format!("managed:{}", self.name);
        }
        let catalogue = self.launch.as_ref().map(|it| it.catalogue);
        EngineRow {
            id: self.id(),
            name: self.name.clone(),
            endpoint,
            probe: catalogue.map(|it| ProbeReport {
                engine: it.title.clone(),
                version: None,
                models: vec![self.endpoint.model.clone()],
                facts: self.facts(),
                has_metrics: false,
                can_reset_cache: it.cache_reset.is_some(),
            }),
            managed: catalogue.map(|it| it.engine.clone()),
        }
    }

    /// What the file says of it that nobody measures.
    pub fn facts(&self) -> Facts {
        let declared = |name: &str, value: String| {
            let source = Source::Declared;
            (name.to_owned(), Fact { value, source })
        };
        let hardware = self.hardware.clone().map(|it| declared("hardware", it));
        hardware.into_iter().collect()
    }
}
