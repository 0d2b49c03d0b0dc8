//! The real binary `goodput`, as people start it: a process of its own, killed when dropped.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use measure::study::{Endpoint, StudySpec};
use serde_json::Value;

/// The debug binary of this workspace; `cargo xtask test` builds it before the tests.
pub fn goodput() -> PathBuf {
    workspace().join("target/debug/goodput")
}

/// The workspace's root.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A running studio.
pub struct StudioProcess {
    /// `http://127.0.0.1:PORT`
    pub url: String,
    child: Child,
    /// Reads the log to its end; what in it speaks of a panic.
    log: Option<JoinHandle<Vec<String>>>,
}

impl StudioProcess {
    /// Starts `goodput serve` on a free port with its data in `data_dir`, and waits until it listens.
    pub fn start(data_dir: &Path, extra: &[&str]) -> anyhow::Result<Self> {
        Self::bound(data_dir, "127.0.0.1:0", extra)
    }

    /// The same on a port that another one had.
    pub fn start_at(data_dir: &Path, port: &str) -> anyhow::Result<Self> {
        Self::bound(data_dir, &format!("127.0.0.1:{port}"), &[])
    }

    fn bound(data_dir: &Path, address: &str, extra: &[&str]) -> anyhow::Result<Self> {
        let mut child = Command::new(goodput())
            .args(["serve", "--bind", address, "--data-dir"])
            .arg(data_dir)
            .args(extra)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot start target/debug/goodput: run `cargo build -p server`")?;
        let stdout = child.stdout.take().context("no stdout")?;
        let mut lines = BufReader::new(stdout).lines();
        let first = lines.next().transpose()?.unwrap_or_default();
        // Whatever it prints later must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        let Some((_, url)) = first.split_once("listens on ") else {
            child.kill()?;
            bail!("goodput serve said {first:?}");
        };
        let log = Some(listen(&mut child)?);
        Ok(Self {
            url: url.trim().to_owned(),
            child,
            log,
        })
    }

    /// As a power cut would: no goodbye (SIGKILL).
    pub fn kill(mut self) -> anyhow::Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

/// Passes the log on, and returns at its end what in it speaks of a panic: a page that broke may still have been sent.
fn listen(child: &mut Child) -> anyhow::Result<JoinHandle<Vec<String>>> {
    let stderr = child.stderr.take().context("no stderr")?;
    Ok(std::thread::spawn(move || {
        let lines = BufReader::new(stderr).lines().map_while(Result::ok);
        lines
            .inspect(|line| eprintln!("{line}"))
            .filter(|line| line.contains(" panicked at "))
            .collect()
    }))
}

impl Drop for StudioProcess {
    /// Ends the server. A test during which it panicked has failed.
    fn drop(&mut self) {
        // It may be gone already; there is nobody left to tell.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let panics = self.log.take().map(JoinHandle::join);
        let panics = panics.and_then(Result::ok).unwrap_or_default();
        assert!(
            panics.is_empty() || std::thread::panicking(),
            "the server panicked: {panics:#?}"
        );
    }
}

/// How long a small study may take on a busy machine.
const STUDY: Duration = Duration::from_secs(180);

impl StudioProcess {
    /// Launches a study through the REST interface and returns its id.
    pub async fn launch(&self, spec: &StudySpec) -> anyhow::Result<String> {
        let answer = client()
            .post(format!("{}/api/v1/studies", self.url))
            .json(spec)
            .send()
            .await?;
        let status = answer.status();
        let body: Value = answer.json().await?;
        anyhow::ensure!(status.is_success(), "launch answered {status}: {body}");
        Ok(body["id"].as_str().context("no id")?.to_owned())
    }

    /// The study as the REST interface shows it.
    pub async fn study(&self, id: &str) -> anyhow::Result<Value> {
        self.json(&format!("/api/v1/studies/{id}")).await
    }

    /// What stands at an address, where it is JSON.
    pub async fn json(&self, path: &str) -> anyhow::Result<Value> {
        let url = format!("{}{path}", self.url);
        let answer = client().get(url).send().await?;
        Ok(answer.error_for_status()?.json().await?)
    }

    /// Adds an engine by its endpoint.
    pub async fn add_engine(&self, name: &str, endpoint: &Endpoint) -> anyhow::Result<()> {
        let answer = client()
            .post(format!("{}/api/v1/engines", self.url))
            .json(&serde_json::json!({ "name": name, "endpoint": endpoint }))
            .send()
            .await?;
        answer.error_for_status()?;
        Ok(())
    }

    /// A point's requests as Parquet.
    pub async fn records(&self, point: &str) -> anyhow::Result<bytes::Bytes> {
        let url = format!("{}/api/v1/points/{point}/records.parquet", self.url);
        let answer = client().get(url).send().await?;
        Ok(answer.error_for_status()?.bytes().await?)
    }

    /// Shares a study; the path of the link.
    pub async fn share(&self, id: &str) -> anyhow::Result<String> {
        let answer = client()
            .post(format!("{}/api/v1/studies/{id}/shares", self.url))
            .json(&serde_json::json!({}))
            .send()
            .await?;
        let made: Value = answer.error_for_status()?.json().await?;
        Ok(made["path"].as_str().context("no path")?.to_owned())
    }

    /// Waits until the study is finished and returns it.
    pub async fn finished(&self, id: &str) -> anyhow::Result<Value> {
        self.until(id, |study| study["state"] == "finished").await
    }

    /// Waits until the study satisfies `done` and returns it.
    pub async fn until(&self, id: &str, done: impl Fn(&Value) -> bool) -> anyhow::Result<Value> {
        let started = Instant::now();
        loop {
            let study = self.study(id).await?;
            if done(&study) {
                return Ok(study);
            }
            if STUDY < started.elapsed() {
                bail!("waited {STUDY:?} in vain for the study, which is: {study:#}");
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Asks something of a study: `resume`, `stop`, `proceed`.
    pub async fn ask(&self, id: &str, what: &str) -> anyhow::Result<()> {
        let url = format!("{}/api/v1/studies/{id}/{what}", self.url);
        client()
            .post(url)
            .json(&serde_json::json!({}))
            .send()
            .await?
            .error_for_status()?;
        Ok(())
    }
}

/// Whoever asks over HTTP.
pub fn client() -> reqwest::Client {
    // Fails when another test of this process was first, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new()
}
