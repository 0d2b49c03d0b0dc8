//! What was typed, and what it means: command-line arguments and environment become a checked [`Config`].

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use clap::Args;
use url::Url;

use crate::auth::Token;
pub use crate::store::Database;

/// Arguments that say where studies are kept; shared by `serve`, `demo` and `token`.
#[derive(Args, Clone, Debug, Default)]
pub struct StoreArgs {
    /// Folder for the database, data sets and settings [default: goodput in the user's data folder]
    #[arg(long, env = "GOODPUT_DATA_DIR", value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Database: postgres://... or sqlite:FILE [default: goodput.db in the data folder]
    #[arg(
        long,
        env = "GOODPUT_DATABASE",
        hide_env_values = true,
        value_name = "URL"
    )]
    pub database: Option<String>,
    /// File that holds the database's URL, so that its password stands in no process list
    #[arg(
        long,
        env = "GOODPUT_DATABASE_FILE",
        value_name = "FILE",
        conflicts_with = "database"
    )]
    pub database_file: Option<PathBuf>,
}

/// Arguments of `goodput serve`.
#[derive(Args, Clone, Debug)]
pub struct ServeArgs {
    /// Address and port to listen on; any but a loopback address demands an access token
    #[arg(long, default_value = "127.0.0.1:7878", value_name = "ADDRESS:PORT")]
    pub bind: String,
    /// Where studies are kept
    #[command(flatten)]
    pub store: StoreArgs,
    /// File that lists engines, and how those are started that the studio starts [default: studio.toml in the data folder]
    #[arg(long, env = "GOODPUT_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Folder with the built web assets [default: those in the binary, or target/site]
    #[arg(long, env = "GOODPUT_SITE", value_name = "DIR")]
    pub site: Option<PathBuf>,
    /// Demand an access token on a loopback address too
    #[arg(long)]
    pub token: bool,
    /// File that holds the access token (or set GOODPUT_TOKEN)
    #[arg(long, env = "GOODPUT_TOKEN_FILE", value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Put interrupted studies back in the queue at the start
    #[arg(long)]
    pub resume: bool,
    /// Another host name that this studio answers to (again for more)
    #[arg(long, value_name = "NAME")]
    pub allow_host: Vec<String>,
    /// Believe X-Forwarded-Host, X-Forwarded-Proto and X-Forwarded-For: only behind a proxy that sets them
    #[arg(long)]
    pub trust_forwarded: bool,
    /// Address under which people reach this studio, for links: <https://studio.example>
    #[arg(long, value_name = "URL")]
    pub public_url: Option<Url>,
    /// A DCGM exporter on an engine's host, whose GPUs are then looked at while that engine is measured:
    /// <http://gpu-box:9400/metrics> (again for more). GPUs of this machine need none
    #[arg(
        long,
        env = "GOODPUT_GPU_METRICS",
        value_name = "URL",
        value_delimiter = ','
    )]
    pub gpu_metrics: Vec<Url>,
}

/// Where studies are kept, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct StoreConfig {
    /// Database, data sets and settings live here.
    pub data_dir: PathBuf,
    /// The database.
    pub database: Database,
}

/// How callers prove that they may.
#[derive(Clone, Debug, PartialEq)]
pub enum Access {
    /// Loopback without a token: everyone on this machine is the owner.
    Open,
    /// This token, given from outside.
    Given(Token),
    /// The token whose hash is stored; made and printed once when there is none.
    Kept,
}

/// A server, ready to start.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Listens here.
    pub bind: SocketAddr,
    /// Where studies are kept.
    pub store: StoreConfig,
    /// File that lists engines, where one was named.
    pub engines: Option<PathBuf>,
    /// Folder with the web assets, where one was named.
    pub site: Option<PathBuf>,
    /// Who may use it.
    pub access: Access,
    /// Interrupted studies are queued again at the start.
    pub resume: bool,
    /// More host names that it answers to.
    pub allow_hosts: Vec<String>,
    /// Forwarded headers are believed.
    pub trust_forwarded: bool,
    /// How people reach it.
    pub public_url: Option<Url>,
    /// DCGM exporters on engines' hosts.
    pub gpu_metrics: Vec<Url>,
}

/// Why arguments make no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// `--bind` is no address.
    #[error("--bind must be ADDRESS:PORT, such as 127.0.0.1:7878, got {0:?}")]
    Bind(String),
    /// The URL names no database that is known.
    #[error("--database must begin with postgres:// or sqlite:, got {0:?}")]
    Database(String),
    /// No home.
    #[error("no folder for data: neither XDG_DATA_HOME nor HOME is set; name one with --data-dir")]
    NoDataDir,
    /// A file that an argument names cannot be read.
    #[error("{argument} names {path:?}, which cannot be read")]
    Unreadable {
        /// The argument.
        argument: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        cause: std::io::Error,
    },
    /// A token that could be guessed.
    #[error(
        "the access token must have at least {} characters and no blanks; `goodput token rotate` makes one",
        Token::SHORTEST
    )]
    WeakToken,
    /// Links need http or https.
    #[error("--public-url must be http:// or https:// with a host, got {0}")]
    PublicUrl(Url),
    /// So do exporters.
    #[error(
        "--gpu-metrics must be http:// or https:// with a host, such as http://gpu-box:9400/metrics, got {0}"
    )]
    GpuMetrics(Url),
    /// A host name with a port, a scheme or blanks.
    #[error("--allow-host takes a bare host name, such as studio.example, got {0:?}")]
    AllowHost(String),
}

impl StoreConfig {
    /// Everything in one folder, the database as a file.
    pub fn in_folder(data_dir: PathBuf) -> Self {
        Self {
            database: Database::Sqlite(data_dir.join("goodput.db")),
            data_dir,
        }
    }
}

impl TryFrom<StoreArgs> for StoreConfig {
    type Error = ConfigError;
    fn try_from(args: StoreArgs) -> Result<Self, ConfigError> {
        let StoreArgs {
            data_dir,
            database,
            database_file,
        } = args;
        let data_dir = data_dir
            .or_else(default_data_dir)
            .ok_or(ConfigError::NoDataDir)?;
        let url = match database_file {
            Some(path) => Some(read_line("--database-file", &path)?),
            None => database,
        };
        let database = match url {
            Some(url) => database_from(&url)?,
            None => Database::Sqlite(data_dir.join("goodput.db")),
        };
        Ok(Self { data_dir, database })
    }
}

impl ServeArgs {
    /// Checks everything. `given_token` is the environment's GOODPUT_TOKEN.
    pub fn check(self, given_token: Option<String>) -> Result<Config, ConfigError> {
        let Self {
            bind,
            store,
            config,
            site,
            token,
            token_file,
            resume,
            allow_host,
            trust_forwarded,
            public_url,
            gpu_metrics,
        } = self;
        let bind = parse_bind(&bind)?;
        let given = match token_file {
            Some(path) => Some(read_line("--token-file", &path)?),
            None => given_token.filter(|token| !token.is_empty()),
        };
        let access = match given {
            Some(token) => Access::Given(token.parse().map_err(|_| ConfigError::WeakToken)?),
            None if token || !bind.ip().is_loopback() => Access::Kept,
            None => Access::Open,
        };
        if let Some(url) = public_url.as_ref().filter(|url| !is_web(url)) {
            return Err(ConfigError::PublicUrl(url.clone()));
        }
        if let Some(bad) = gpu_metrics.iter().find(|url| !is_web(url)) {
            return Err(ConfigError::GpuMetrics(bad.clone()));
        }
        if let Some(bad) = allow_host.iter().find(|name| !is_host_name(name)) {
            return Err(ConfigError::AllowHost(bad.clone()));
        }
        let store = store.try_into()?;
        Ok(Config {
            bind,
            store,
            engines: config,
            site,
            access,
            resume,
            allow_hosts: allow_host,
            trust_forwarded,
            public_url,
            gpu_metrics,
        })
    }
}

impl Config {
    /// A studio for one person on this machine.
    pub fn loopback(port: u16, store: StoreConfig) -> Self {
        Self {
            bind: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port),
            store,
            engines: None,
            site: None,
            access: Access::Open,
            resume: false,
            allow_hosts: Vec::new(),
            trust_forwarded: false,
            public_url: None,
            gpu_metrics: Vec::new(),
        }
    }
}

fn parse_bind(text: &str) -> Result<SocketAddr, ConfigError> {
    let numeric = text
        .strip_prefix("localhost:")
        .map(|port| format!("127.0.0.1:{port}"));
    numeric
        .as_deref()
        .unwrap_or(text)
        .parse()
        .map_err(|_| ConfigError::Bind(text.to_owned()))
}

fn database_from(url: &str) -> Result<Database, ConfigError> {
    if url.starts_with("postgres://") || url.starts_with("postgresql://") {
        return Ok(Database::Postgres(url.to_owned()));
    }
    match url.strip_prefix("sqlite:") {
        Some(path) if !path.trim_start_matches('/').is_empty() => {
            let path = path.strip_prefix("//").unwrap_or(path);
            Ok(Database::Sqlite(path.into()))
        }
        // Only the scheme is echoed: the rest may hold a password.
        _ => Err(ConfigError::Database(
            url.split_once(':')
                .map_or(url, |(scheme, _)| scheme)
                .to_owned(),
        )),
    }
}

/// The studio's folder, where nobody names another.
pub(crate) fn default_data_dir() -> Option<PathBuf> {
    let set = |name| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let base =
        set("XDG_DATA_HOME").or_else(|| set("HOME").map(|home| home.join(".local/share")))?;
    Some(base.join("goodput"))
}

fn read_line(argument: &'static str, path: &Path) -> Result<String, ConfigError> {
    let text = std::fs::read_to_string(path).map_err(|cause| ConfigError::Unreadable {
        argument,
        path: path.to_owned(),
        cause,
    })?;
    Ok(text.trim().to_owned())
}

fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https") && url.has_host()
}

fn is_host_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
}

#[cfg(test)]
mod tests;
