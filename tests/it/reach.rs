//! How engines are reached from the studio: encrypted with an authority of one's own, over HTTP/2, through a proxy, with a
//! key that the studio keeps and never shows.

use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context;
use app::studio::{Actor, ShareScope, Studio};
use measure::request::Outcome;
use measure::study::{Api, Endpoint, EngineSpec, StudySpec};
use serde_json::{Value, json};
use tests::edge::OnEdge;
use tests::process::goodput;
use tests::samples::small_study;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// What must never be seen.
const VALUE: &str = "sk-4b1d5e9c0f";

/// A simulator behind a server that encrypts.
struct Encrypted {
    url: String,
    model: String,
    /// What clients asked it, decrypted.
    heard: Arc<Mutex<Vec<u8>>>,
    address: SocketAddr,
    _simulator: sim::Running,
}

impl Encrypted {
    /// Speaks one protocol; leaves its certificate where the studio looks for it.
    async fn start(edge: &OnEdge, protocol: &[u8]) -> anyhow::Result<Self> {
        Self::start_slow(edge, protocol, Duration::ZERO).await
    }

    /// The same, where each handshake takes so long.
    async fn start_slow(
        edge: &OnEdge,
        protocol: &[u8],
        handshake: Duration,
    ) -> anyhow::Result<Self> {
        let simulator = sim::start(sim::Config::preset("tiny", &Default::default())?)?;
        let plain = simulator.url.trim_start_matches("http://").to_owned();
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()])?;
        let certificates = edge.dir.path().join("data/certificates");
        std::fs::create_dir_all(&certificates)?;
        std::fs::write(certificates.join("ours.pem"), made.cert.pem())?;
        let key = made.signing_key.serialize_der().try_into();
        let key = key.map_err(anyhow::Error::msg)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)?;
        config.alpn_protocols = vec![protocol.to_vec()];
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let heard = Arc::new(Mutex::new(Vec::new()));
        let hears = heard.clone();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let (acceptor, plain, hears) = (acceptor.clone(), plain.clone(), hears.clone());
                tokio::spawn(async move {
                    tokio::time::sleep(handshake).await;
                    decrypt(socket, acceptor, plain, hears).await
                });
            }
        });
        Ok(Self {
            url: format!("https://{address}"),
            model: simulator.model.clone(),
            heard,
            address,
            _simulator: simulator,
        })
    }

    fn endpoint(&self, connection: Value) -> anyhow::Result<Endpoint> {
        Ok(Endpoint {
            connection: serde_json::from_value(connection)?,
            ..Endpoint::new(&self.url, Api::OpenAiChat, &self.model)
        })
    }
}

async fn decrypt(
    socket: TcpStream,
    acceptor: TlsAcceptor,
    plain: String,
    heard: Arc<Mutex<Vec<u8>>>,
) -> Option<()> {
    let client = acceptor.accept(socket).await.ok()?;
    let server = TcpStream::connect(plain).await.ok()?;
    server.set_nodelay(true).ok()?;
    let (mut from, mut back) = tokio::io::split(client);
    let (mut answers, mut to) = server.into_split();
    let answering = tokio::spawn(async move {
        tokio::io::copy(&mut answers, &mut back).await.ok()?;
        back.shutdown().await.ok()
    });
    let mut bytes = vec![0; 8192];
    while let Ok(read @ 1..) = from.read(&mut bytes).await {
        heard.lock().ok()?.extend_from_slice(&bytes[..read]);
        to.write_all(&bytes[..read]).await.ok()?;
    }
    drop(to);
    answering.await.ok()?
}

/// A proxy that opens tunnels to one server, and what it was asked.
async fn proxy(to: SocketAddr) -> anyhow::Result<(String, Arc<Mutex<Vec<String>>>)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    let asked = Arc::new(Mutex::new(Vec::new()));
    let hears = asked.clone();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            tokio::spawn(tunnel(client, to, hears.clone()));
        }
    });
    Ok((url, asked))
}

async fn tunnel(
    mut client: TcpStream,
    to: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
) -> Option<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(client.read_u8().await.ok()?);
    }
    asked
        .lock()
        .ok()?
        .push(String::from_utf8_lossy(&head).into_owned());
    let mut server = TcpStream::connect(to).await.ok()?;
    let opened = b"HTTP/1.1 200 Connection established\r\n\r\n";
    client.write_all(opened).await.ok()?;
    copy_bidirectional(&mut client, &mut server).await.ok()?;
    Some(())
}

#[tokio::test(flavor = "multi_thread")]
async fn handshakes_at_the_start_are_no_part_of_ttft() -> anyhow::Result<()> {
    let slow = Duration::from_millis(700);
    let edge = OnEdge::open().await?;
    let server = Encrypted::start_slow(&edge, b"http/1.1", slow).await?;
    let ours = edge.dir.path().join("data/certificates/ours.pem");
    // Connections are opened before the clock starts, so that not even what is counted from the schedule waits for them.
    for rate in ["inf", "40"] {
        let mut bench = Command::new(goodput());
        bench
            .args(["bench", "--url", &server.url, "--rate", rate, "--requests"])
            .args(["24", "--input-tokens", "16", "--output-tokens", "4"])
            .args([
                "--no-calibration",
                "--json",
                "-",
                "--slo",
                "scheduled_ttft<500ms",
            ])
            .args(["--data-dir".as_ref(), edge.dir.path()])
            .args(["--ca-file".as_ref(), ours.as_path()]);
        let output = tokio::task::spawn_blocking(move || bench.output()).await??;
        let told = String::from_utf8_lossy(&output.stderr);
        let said: Value = serde_json::from_slice(&output.stdout).context(told.to_string())?;
        assert!(told.contains("kept: 24 of 24 requests were good"), "{told}");
        assert_eq!(said["promise"]["judgement"]["good"], 24);
        assert_eq!(said["run"]["engine"], "Goodput simulator");
    }
    Ok(())
}

fn study_on(endpoint: Endpoint) -> StudySpec {
    StudySpec {
        engine: EngineSpec::Endpoint(endpoint),
        ..small_study()
    }
}

/// Runs `goodput secret`.
fn secret(data: &Path, args: &[&str], input: &str) -> anyhow::Result<Output> {
    let mut command = Command::new(goodput());
    command.arg("secret").args(args).arg("--data-dir").arg(data);
    let piped = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = piped.spawn().context("run `cargo build -p server`")?;
    let stdin = child.stdin.take().context("no stdin")?;
    // A command that refuses its arguments reads nothing.
    let _ = { stdin }.write_all(input.as_bytes());
    Ok(child.wait_with_output()?)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_study_goes_over_tls_http_2_and_a_proxy() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let server = Encrypted::start(&edge, b"h2").await?;
    let (proxy, asked) = proxy(server.address).await?;
    let whole = json!({ "ca_file": "ours.pem", "http2": true, "proxy": proxy });
    let endpoint = server.endpoint(whole)?;
    let row = edge
        .studio
        .save_engine(&Actor::Owner, "ours".into(), endpoint.clone())
        .await?;
    let engine = row.probe.context("it answers")?.engine;
    assert_eq!(engine, "Goodput simulator");
    let view = edge.finished(study_on(endpoint)).await?;
    let configuration = &view.configurations[0];
    let connection = &configuration.facts["connection"].value;
    assert_eq!(connection, "own authority, HTTP/2, through a proxy");
    assert_eq!(configuration.cache_cold, Some(true), "the reset went there");
    for point in &view.points {
        let records = edge.studio.records_parquet(point.id).await?;
        let records = server::records::from_parquet(records.into())?;
        assert!(records.iter().all(|it| it.outcome == Outcome::Ok));
    }
    let asked = asked.lock().expect("lock");
    let tunnel = format!("CONNECT {} HTTP/1.1", server.address);
    let straight = asked.iter().filter(|it| !it.starts_with(&tunnel)).count();
    assert!(straight == 0 && 2 < asked.len(), "{asked:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_of_nobody_known_stops_everything_until_it_is_believed_on_purpose()
-> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let server = Encrypted::start(&edge, b"http/1.1").await?;
    let probe = json!({ "url": server.url, "api": "openai.chat", "api_key_env": null });
    let refused = edge.json("POST", "/api/v1/probe", &probe).await;
    assert_eq!(refused.status, 502);
    assert!(refused.text().contains("CA file"), "{}", refused.text());
    let blind = server.endpoint(json!({ "insecure": true }))?;
    let plain = server.endpoint(json!({}))?;
    let studio = &edge.studio;
    studio
        .save_engine(&Actor::Owner, "ours".into(), plain)
        .await?;
    let spec = serde_json::to_value(study_on(blind.clone()))?;
    let launched = edge.json("POST", "/api/v1/studies", &spec).await.text();
    assert!(launched.contains("believing every"), "{launched}");
    studio
        .save_engine(&Actor::Owner, "blind".into(), blind.clone())
        .await?;
    let view = edge.finished(study_on(blind)).await?;
    assert!(view.is_insecure());
    let connection = &view.configurations[0].facts["connection"].value;
    assert_eq!(connection, "no certificate checked");
    let share = studio
        .share(&Actor::Owner, view.id, None, ShareScope::Requests)
        .await?;
    let path = share.path.unwrap_or_default();
    let token = path.trim_start_matches("/s/");
    let shared = studio.shared(token).await?;
    assert!(shared.is_insecure(), "strangers are told too");
    let page = edge.get(&path).await.text();
    assert!(page.contains(">insecure<"), "{page}");
    Ok(())
}

/// Everything that the studio tells of an engine, a study and its points.
async fn all_answers(edge: &OnEdge, study: uuid::Uuid) -> anyhow::Result<Vec<u8>> {
    let view = edge.studio.study(&Actor::Owner, study).await?;
    let share = edge
        .studio
        .share(&Actor::Owner, study, None, ShareScope::Requests)
        .await?;
    let mut paths = vec![
        "/".to_owned(),
        "/studies/new".to_owned(),
        format!("/studies/{study}"),
        share.path.context("a link")?,
        "/api/v1/secrets".to_owned(),
        "/api/v1/engines".to_owned(),
        "/api/v1/studies".to_owned(),
        format!("/api/v1/studies/{study}"),
    ];
    for point in &view.points {
        paths.push(format!("/studies/{study}/points/{}", point.id));
        paths.push(format!("/api/v1/points/{}/records.parquet", point.id));
        paths.push(format!("/api/v1/points/{}/scores", point.id));
    }
    let mut all = Vec::new();
    for path in paths {
        let answer = edge.get(&path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        all.extend(answer.body);
    }
    Ok(all)
}

/// Every file of a folder but those of secrets.
fn all_files(folder: &Path) -> anyhow::Result<Vec<u8>> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && !path.ends_with("secrets") {
            all.extend(all_files(&path)?);
        } else if path.is_file() {
            all.extend(std::fs::read(&path)?);
        }
    }
    Ok(all)
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|it| it == text.as_bytes())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stored_key_reaches_its_engine_and_is_never_seen_elsewhere() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let data = edge.dir.path().join("data");
    let server = Encrypted::start(&edge, b"http/1.1").await?;
    let kept = secret(&data, &["set", "OURS", "--for", &server.url], VALUE)?;
    assert!(kept.status.success(), "{kept:?}");
    assert!(!holds(&kept.stdout, VALUE) && !holds(&kept.stderr, VALUE));
    let listed = secret(&data, &["list"], "")?;
    let expected = format!("OURS  for {}\n", server.url);
    assert_eq!(String::from_utf8_lossy(&listed.stdout), expected);
    assert_eq!(edge.get("/api/v1/secrets").await.json(), json!(["OURS"]));
    let mut endpoint = server.endpoint(json!({ "ca_file": "ours.pem" }))?;
    endpoint.api_key_secret = Some("OURS".into());
    let studio = &edge.studio;
    studio
        .save_engine(&Actor::Owner, "ours".into(), endpoint.clone())
        .await?;
    let view = edge.finished(study_on(endpoint.clone())).await?;
    let sent = format!("authorization: Bearer {VALUE}");
    let heard = server.heard.lock().expect("lock").clone();
    assert!(holds(&heard, &sent), "the engine has it");
    assert!(!holds(&all_answers(&edge, view.id).await?, VALUE));
    assert!(holds(&all_files(&data)?, "OURS"), "its name is stored");
    assert!(!holds(&all_files(&data)?, VALUE));
    // It was bound to that engine: no other address gets it, whoever adds it.
    let mut elsewhere = serde_json::to_value(&endpoint)?;
    elsewhere["url"] = json!("https://127.0.0.1:9");
    let engine = json!({ "name": "evil", "endpoint": elsewhere });
    let refused = edge.json("POST", "/api/v1/engines", &engine).await;
    assert_eq!(refused.status, 422);
    assert_eq!(refused.json()["fields"][0]["field"], "api_key_secret");
    assert!(refused.text().contains("sent nowhere else") && !refused.text().contains(VALUE));
    // What is forgotten is told before the load, not by every request.
    assert!(secret(&data, &["remove", "OURS"], "")?.status.success());
    let spec = serde_json::to_value(study_on(endpoint))?;
    let gone = edge.json("POST", "/api/v1/studies", &spec).await;
    assert_eq!(gone.status, 422);
    assert!(gone.text().contains("keeps no secret"), "{}", gone.text());
    Ok(())
}

#[test]
fn a_secret_that_cannot_be_kept_is_refused_without_repeating_it() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    for (args, input, status) in [
        (["set", "vllm", "--for", "http://x"], VALUE, 2),
        (["set", VALUE, "--for", "http://x"], VALUE, 2),
        (["set", "VLLM", "--for", "ftp://x"], VALUE, 2),
        (["set", "VLLM", "--for", "http://x"], "", 2),
        (["set", "VLLM", "--for", "http://x"], "two words", 2),
        (["set", "VLLM", "--for", "http://x"], VALUE, 0),
    ] {
        let output = secret(folder.path(), &args, input)?;
        assert_eq!(output.status.code(), Some(status), "{args:?} {output:?}");
        assert!(!holds(&output.stderr, VALUE), "{args:?}");
    }
    let none = secret(folder.path(), &["remove", "OTHER"], "")?;
    assert_eq!(none.status.code(), Some(2));
    Ok(())
}

#[tokio::test]
async fn each_mistake_is_refused_at_its_field() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let proxy = |url: &str| json!({ "connection": { "proxy": url } });
    let ca = |file: &str| json!({ "connection": { "ca_file": file } });
    let cases = [
        (ca("../goodput.db"), "connection.ca_file", "without a path"),
        (ca("/etc/passwd"), "connection.ca_file", "without a path"),
        (ca("none.pem"), "connection.ca_file", "no such file"),
        (proxy("socks5://p"), "connection.proxy", "http:// URL"),
        (proxy("http://a:SECRET@p"), "connection.proxy", "password"),
        (
            proxy("http://169.254.169.254"),
            "connection.proxy",
            "metadata",
        ),
        (
            proxy("http://[::ffff:169.254.169.254]:80"),
            "connection.proxy",
            "metadata",
        ),
        (
            json!({ "api_key_secret": "sk-SECRET" }),
            "api_key_secret",
            "never write",
        ),
        (
            json!({ "api_key_secret": "NONE" }),
            "api_key_secret",
            "keeps no secret",
        ),
        (
            json!({ "api_key_secret": "A", "api_key_env": "A_API_KEY" }),
            "api_key_secret",
            "leave one",
        ),
    ];
    for (part, field, mend) in cases {
        let mut endpoint = json!({ "url": "https://127.0.0.1:9", "api": "openai.chat" });
        let parts = part.as_object().cloned().unwrap_or_default();
        endpoint.as_object_mut().context("a map")?.extend(parts);
        let probed = edge.json("POST", "/api/v1/probe", &endpoint).await;
        endpoint["model"] = json!("m");
        let engine = json!({ "name": "x", "endpoint": endpoint });
        let added = edge.json("POST", "/api/v1/engines", &engine).await;
        for answer in [probed, added] {
            let text = answer.text();
            assert_eq!(answer.status, 422, "{text}");
            assert_eq!(answer.json()["fields"][0]["field"], field, "{text}");
            assert!(text.contains(mend) && !text.contains("SECRET"), "{text}");
        }
    }
    assert_eq!(edge.get("/api/v1/engines").await.json(), json!([]));
    Ok(())
}
