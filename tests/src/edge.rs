//! A studio behind its edge, without a listener: requests go straight into the router.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use app::studio::{Actor, Studio, StudyState, StudyView};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request};
use measure::study::StudySpec;
use serde_json::Value;
use server::assets::Site;
use server::auth::{Access, TokenHash};
use server::config::{Config, StoreConfig};
use server::routes::{Edge, router};
use server::store::Store;
use server::studio::{LocalStudio, Settings};
use tempfile::TempDir;
use tower::ServiceExt;

/// What opens a studio that [`OnEdge::behind_token`] made.
pub const TOKEN: &str = "a-token-that-is-long-enough";

/// A studio behind its edge.
pub struct OnEdge {
    /// The studio itself.
    pub studio: Arc<LocalStudio>,
    /// Its data directory.
    pub dir: TempDir,
    router: Router,
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    /// Status.
    pub status: u16,
    /// Headers.
    pub headers: HeaderMap,
    /// Body.
    pub body: Vec<u8>,
}

impl Answer {
    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON; null where it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// A header; empty where it is missing.
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }
}

impl OnEdge {
    /// On loopback, open to everyone there.
    pub async fn open() -> anyhow::Result<Self> {
        Self::with(|config| config, Access::open()).await
    }

    /// Its store, to give it what nobody measured.
    pub async fn store(&self) -> anyhow::Result<Store> {
        let folder = self.dir.path().join("data");
        let config = StoreConfig::in_folder(folder);
        Ok(Store::open(&config.database).await?)
    }

    /// Behind an access token.
    pub async fn behind_token() -> anyhow::Result<Self> {
        Self::with(|config| config, Access::by_token(TokenHash::of(TOKEN))).await
    }

    /// With a configuration of its own.
    pub async fn with(
        change: impl FnOnce(Config) -> Config,
        access: Access,
    ) -> anyhow::Result<Self> {
        let dir = tempfile::tempdir()?;
        let config = change(Config::loopback(
            7878,
            StoreConfig::in_folder(dir.path().join("data")),
        ));
        let settings = Settings {
            database: config.store.database.clone(),
            data_dir: config.store.data_dir.clone(),
            resume_interrupted: false,
            registry: Default::default(),
            may_start_engines: true,
            exporters: config.gpu_metrics.clone(),
        };
        std::fs::create_dir_all(&config.store.data_dir)?;
        let studio = LocalStudio::open(settings).await?;
        let router = router(Edge::new(studio.clone(), site(&dir)?, access, &config));
        Ok(Self {
            studio,
            dir,
            router,
        })
    }

    /// Sends a request as a program on this machine does; headers given replace or add.
    pub async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        let defaults = [
            ("host", "127.0.0.1:7878"),
            ("content-type", "application/json"),
        ];
        let is_given = |name: &str| headers.iter().any(|(given, _)| *given == name);
        for (name, value) in defaults
            .iter()
            .filter(|(name, _)| !is_given(name))
            .chain(headers)
        {
            request = request.header(*name, *value);
        }
        let request = request.body(body.into()).expect("a request");
        let response = self
            .router
            .clone()
            .oneshot(request)
            .await
            .expect("an answer");
        let (head, body) = response.into_parts();
        let body = to_bytes(body, 1 << 26).await.expect("a body").to_vec();
        Answer {
            status: head.status.as_u16(),
            headers: head.headers,
            body,
        }
    }

    /// GET.
    pub async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], Body::empty()).await
    }

    /// An unsafe request with a JSON body.
    pub async fn json(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.send(method, path, &[], body.to_string()).await
    }

    /// A study, measured.
    pub async fn finished(&self, spec: StudySpec) -> anyhow::Result<StudyView> {
        self.studio.start_supervisor().await?;
        let id = self.studio.launch(&Actor::Owner, spec).await?;
        for _ in 0..600 {
            let view = self
                .studio
                .study(&Actor::Owner, id)
                .await
                .context("is there")?;
            match view.state {
                StudyState::Finished => return Ok(view),
                StudyState::Failed => bail!("failed: {:?}", view.problem),
                _ => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
        bail!("did not finish in time")
    }
}

/// Web assets as `cargo xtask web` leaves them.
fn site(dir: &TempDir) -> anyhow::Result<Site> {
    let folder = dir.path().join("site");
    std::fs::create_dir_all(folder.join("assets"))?;
    let manifest = serde_json::json!({
        "frontend.js": "assets/frontend.11.js", "frontend.wasm": "assets/frontend.22.wasm",
        "new-study.js": "assets/new-study.66.js", "new-study.wasm": "assets/new-study.77.wasm",
        "app.css": "assets/app.33.css", "plotly.js": "assets/plotly.44.js", "favicon.svg": "assets/favicon.55.svg",
    });
    std::fs::write(folder.join("manifest.json"), manifest.to_string())?;
    for (name, text) in [
        ("frontend.11.js", "js"),
        ("frontend.22.wasm", "wasm"),
        ("frontend.22.wasm.br", "brotli"),
    ] {
        std::fs::write(folder.join("assets").join(name), text)?;
    }
    Ok(Site::open(Some(&folder))?)
}
