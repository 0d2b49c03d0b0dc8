//! The options that say where the API key comes from, and where the studio keeps what it knows.

use std::path::PathBuf;

use clap::Args;
use load::Wire;
use measure::certificate::Calibration;
use measure::study::Endpoint;

use crate::config::{ConfigError, default_data_dir};
use crate::reach::{ReachError, with_secret};

#[derive(Args, Debug)]
pub(super) struct KeyArgs {
    /// Environment variable that holds the API key
    #[arg(long, value_name = "NAME", conflicts_with = "api_key_secret")]
    pub(super) api_key_env: Option<String>,
    /// Secret of the studio's that holds the API key: see goodput secret
    #[arg(long, value_name = "NAME")]
    pub(super) api_key_secret: Option<String>,
    /// The studio's folder, for secrets and the calibration [default: goodput in the user's data folder]
    #[arg(long, env = "GOODPUT_DATA_DIR", value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub(super) enum KeyError {
    #[error(transparent)]
    NoFolder(ConfigError),
    #[error("--api-key-secret: {0}")]
    Refused(ReachError),
}

impl KeyArgs {
    fn folder(&self) -> Option<PathBuf> {
        self.data_dir.clone().or_else(default_data_dir)
    }

    /// Adds the stored key to how the engine is reached, where one is named.
    pub(super) fn give(&self, wire: Wire, endpoint: &Endpoint) -> Result<Wire, KeyError> {
        if self.api_key_secret.is_none() {
            return Ok(wire);
        }
        let no_folder = || KeyError::NoFolder(ConfigError::NoDataDir);
        let folder = self.folder().ok_or_else(no_folder)?;
        with_secret(wire, endpoint, &folder).map_err(KeyError::Refused)
    }

    /// What `goodput calibrate` found on this host, where it was asked.
    pub(super) fn calibration(&self) -> Option<Calibration> {
        crate::calibration::read(&self.folder()?)
    }
}
