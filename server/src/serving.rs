//! A studio that listens: everything put together, and taken down again.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use app::studio::StudioError;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::assets::Site;
use crate::auth::{Access, Token, TokenHash};
use crate::config::{self, Config};
use crate::connections::{self, Limits};
use crate::registry::{Registry, RegistryError};
use crate::routes::{Edge, router};
use crate::store::{OpenError, Store, StoreError};
use crate::studio::{LocalStudio, Settings, is_in_use};

/// Where the access token's hash is kept.
pub const TOKEN_SETTING: &str = "access_token_sha256";
/// Lies in the data directory while a studio runs whose token was given from outside.
const TOKEN_GIVEN: &str = "token-given";
/// A rotated token is in force after so long at the latest.
const LOOK_FOR_TOKEN: Duration = Duration::from_secs(5);
/// Connections that are still open after so long are cut at shutdown.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// Why a studio does not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Something else has the port.
    #[error("port {} of {} is in use; stop what listens there, or choose another with --bind {}:PORT", .0.port(), .0.ip(), .0.ip())]
    PortInUse(SocketAddr),
    /// The address cannot be had.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's word.
        #[source]
        cause: io::Error,
    },
    /// Data directory or database.
    #[error(transparent)]
    Open(OpenError),
    /// The file that lists engines.
    #[error(transparent)]
    Engines(RegistryError),
    /// The system has no randomness for a token.
    #[error("cannot make an access token")]
    Entropy(#[source] rand::rngs::SysError),
    /// The token's hash cannot be read or kept.
    #[error("cannot keep the access token's hash")]
    Keep(#[source] StudioError),
    /// The database failed.
    #[error("cannot keep the access token's hash")]
    Store(#[source] StoreError),
    /// No folder to keep a token in.
    #[error("there is no data directory {}; name the studio's own with --data-dir", .0.display())]
    NoDataDir(PathBuf),
    /// A token made now would open nothing.
    #[error("the studio that runs on {} was given its token by GOODPUT_TOKEN or --token-file, and no other opens it; change it there and restart the studio", .0.display())]
    TokenGiven(PathBuf),
}

/// A studio that listens. Ends with [`Serving::shutdown`].
pub struct Serving {
    /// Where.
    pub address: SocketAddr,
    /// What.
    pub studio: Arc<LocalStudio>,
    /// The access token, when it was made just now: print it, it is kept nowhere.
    pub new_token: Option<Token>,
    /// Whether callers need a token.
    pub needs_token: bool,
    stop: CancellationToken,
    server: JoinHandle<()>,
}

impl Serving {
    /// Listens, opens the data, starts what is queued.
    pub async fn start(config: &Config) -> Result<Self, ServeError> {
        let listener = listen(config.bind).await?;
        let address = listener.local_addr().map_err(|cause| ServeError::Listen {
            address: config.bind,
            cause,
        })?;
        let registry = Registry::read(config.engines.as_deref(), &config.store.data_dir)
            .map_err(ServeError::Engines)?;
        let settings = Settings {
            database: config.store.database.clone(),
            data_dir: config.store.data_dir.clone(),
            resume_interrupted: config.resume,
            may_start_engines: matches!(config.access, config::Access::Open)
                || registry.token_may_start_engines,
            registry,
            exporters: config.gpu_metrics.clone(),
        };
        let studio = LocalStudio::open(settings)
            .await
            .map_err(ServeError::Open)?;
        let (access, new_token) = access(config, &studio).await?;
        mark_given(config).map_err(ServeError::Open)?;
        let edge = Edge::new(studio.clone(), site(config), access, config);
        let (stop, needs_token) = (edge.stop.clone(), !edge.access.is_open());
        if matches!(config.access, config::Access::Kept) {
            tokio::spawn(follow_token(edge.clone()));
        }
        studio.start_supervisor().await.map_err(ServeError::Open)?;
        let server = tokio::spawn(run(listener, edge));
        Ok(Self {
            address,
            studio,
            new_token,
            needs_token,
            stop,
            server,
        })
    }

    /// `http://127.0.0.1:7878`
    pub fn url(&self) -> String {
        let ip = self.address.ip();
        let host = if ip.is_unspecified() {
            "127.0.0.1".into()
        } else {
            SocketAddr::new(ip, 0).to_string()
        };
        let host = host.strip_suffix(":0").unwrap_or(&host).to_owned();
        format!("http://{host}:{}", self.address.port())
    }

    /// Ends live streams, studies (they can be resumed) and connections, in this order.
    pub async fn shutdown(mut self) {
        self.stop.cancel();
        self.studio.shutdown().await;
        if tokio::time::timeout(LAST_ANSWERS, &mut self.server)
            .await
            .is_err()
        {
            self.server.abort();
        }
    }
}

async fn listen(address: SocketAddr) -> Result<TcpListener, ServeError> {
    TcpListener::bind(address)
        .await
        .map_err(|cause| match cause.kind() {
            io::ErrorKind::AddrInUse => ServeError::PortInUse(address),
            _ => ServeError::Listen { address, cause },
        })
}

async fn run(listener: TcpListener, edge: Edge) {
    let stop = edge.stop.clone();
    connections::serve(listener, router(edge), Limits::default(), stop).await;
}

fn site(config: &Config) -> Site {
    Site::open(config.site.as_deref()).unwrap_or_else(|problem| {
        warn!("{problem}");
        Site::default()
    })
}

/// The token in force. Made when one is needed and none is known.
async fn access(
    config: &Config,
    studio: &LocalStudio,
) -> Result<(Access, Option<Token>), ServeError> {
    match &config.access {
        config::Access::Open => Ok((Access::open(), None)),
        config::Access::Given(token) => Ok((Access::by_token(TokenHash::of(token.reveal())), None)),
        config::Access::Kept => {
            if let Some(hash) = kept_hash(studio).await.map_err(ServeError::Keep)? {
                return Ok((Access::by_token(hash), None));
            }
            let token = Token::random().map_err(ServeError::Entropy)?;
            let hash = TokenHash::of(token.reveal());
            studio
                .set_setting(TOKEN_SETTING, Some(&hash.to_hex()))
                .await
                .map_err(ServeError::Keep)?;
            Ok((Access::by_token(hash), Some(token)))
        }
    }
}

async fn kept_hash(studio: &LocalStudio) -> Result<Option<TokenHash>, StudioError> {
    let kept = studio.setting(TOKEN_SETTING).await?;
    Ok(kept.as_deref().and_then(TokenHash::from_hex))
}

/// Takes up a token that `goodput token rotate` made.
async fn follow_token(edge: Edge) {
    while !edge.stop.is_cancelled() {
        tokio::select! {
            () = edge.stop.cancelled() => return,
            () = tokio::time::sleep(LOOK_FOR_TOKEN) => {}
        }
        if let Ok(Some(hash)) = kept_hash(&edge.studio).await {
            edge.access.rotate(hash);
        }
    }
}

/// Notes beside the data whether the token in force was given from outside; the note means something as long as the
/// studio holds its data directory.
fn mark_given(config: &Config) -> Result<(), OpenError> {
    let path = config.store.data_dir.join(TOKEN_GIVEN);
    let marked = match config.access {
        config::Access::Given(_) => std::fs::write(path, ""),
        config::Access::Open | config::Access::Kept => match std::fs::remove_file(path) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        },
    };
    marked.map_err(|cause| OpenError::DataDir {
        path: config.store.data_dir.clone(),
        cause,
    })
}

/// Makes a new token and keeps its hash. A server that runs takes it up by itself.
pub async fn rotate_token(store: &config::StoreConfig) -> Result<Token, ServeError> {
    if !store.data_dir.is_dir() {
        return Err(ServeError::NoDataDir(store.data_dir.clone()));
    }
    if store.data_dir.join(TOKEN_GIVEN).exists() && is_in_use(&store.data_dir) {
        return Err(ServeError::TokenGiven(store.data_dir.clone()));
    }
    let open = Store::open(&store.database)
        .await
        .map_err(ServeError::Open)?;
    let token = Token::random().map_err(ServeError::Entropy)?;
    let hash = TokenHash::of(token.reveal()).to_hex();
    open.set_setting(TOKEN_SETTING, Some(&hash))
        .await
        .map_err(ServeError::Store)?;
    open.close().await;
    Ok(token)
}
