//! How an engine is reached: encrypted, over HTTP/2, through a proxy, on IPv6.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http::{Request, Response};
use http_body_util::StreamBody;
use hyper::body::{Frame, Incoming};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use load::{Engine, EngineOptions, PointError, PointPlan, PointRun, Trust, Wire, run_point};
use measure::request::{ErrorKind, Outcome};
use measure::study::{Api, Endpoint};
use measure::summary::Discipline;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::run::plan;

/// What a server speaks.
#[derive(Clone, Copy, PartialEq)]
enum Speaks {
    Http1,
    Http2,
}

struct Server {
    address: SocketAddr,
    /// The certificate of its authority, where it encrypts.
    authority: Option<PathBuf>,
    connections: Arc<AtomicUsize>,
    _folder: tempfile::TempDir,
}

impl Server {
    async fn start(bind: &str, speaks: Speaks, encrypted: bool) -> Self {
        let listener = TcpListener::bind(bind).await.expect("bind");
        let address = listener.local_addr().expect("address");
        let folder = tempfile::tempdir().expect("folder");
        let (authority, acceptor) = encrypted.then(|| certificate(&folder, speaks)).unzip();
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                counted.fetch_add(1, SeqCst);
                tokio::spawn(serve(socket, acceptor.clone(), speaks));
            }
        });
        Self {
            address,
            authority,
            connections,
            _folder: folder,
        }
    }

    async fn run(&self, wire: Wire, plan: PointPlan) -> Result<PointRun, PointError> {
        let scheme = if self.authority.is_some() {
            "https"
        } else {
            "http"
        };
        let url = format!("{scheme}://{}", self.address);
        let endpoint = Endpoint::new(url, Api::OpenAiCompletions, "m");
        let options = EngineOptions {
            wire,
            connect_timeout: Duration::from_secs(5),
            ..EngineOptions::default()
        };
        let engine = Engine::connect(&endpoint, options).expect("engine");
        run_point(&engine, plan, Arc::new(()), CancellationToken::new()).await
    }

    fn own_authority(&self) -> Trust {
        Trust::CaFile(self.authority.clone().expect("encrypted"))
    }
}

fn certificate(folder: &tempfile::TempDir, speaks: Speaks) -> (PathBuf, TlsAcceptor) {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("certificate");
    let path = folder.path().join("ca.pem");
    std::fs::write(&path, made.cert.pem()).expect("written");
    let key = made.signing_key.serialize_der().try_into().expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .expect("a pair");
    config.alpn_protocols = vec![match speaks {
        Speaks::Http1 => b"http/1.1".to_vec(),
        Speaks::Http2 => b"h2".to_vec(),
    }];
    (path, TlsAcceptor::from(Arc::new(config)))
}

async fn serve(socket: TcpStream, acceptor: Option<TlsAcceptor>, speaks: Speaks) {
    let _ = socket.set_nodelay(true);
    match acceptor {
        None => speak(socket, speaks).await,
        Some(acceptor) => {
            if let Ok(encrypted) = acceptor.accept(socket).await {
                speak(encrypted, speaks).await;
            }
        }
    }
}

async fn speak(io: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, speaks: Speaks) {
    let (io, service) = (TokioIo::new(io), service_fn(answer));
    let _ = match speaks {
        Speaks::Http1 => http1::Builder::new().serve_connection(io, service).await,
        Speaks::Http2 => {
            http2::Builder::new(TokioExecutor::new())
                .serve_connection(io, service)
                .await
        }
    };
}

type Events = StreamBody<stream::BoxStream<'static, Result<Frame<Bytes>, Infallible>>>;

/// Three tokens, 20 ms apart.
async fn answer(_: Request<Incoming>) -> Result<Response<Events>, Infallible> {
    let events = stream::unfold(0, |token| async move {
        if token == 3 {
            return None;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
        let rest = if token == 2 {
            "\"length\"}],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":3}}\n\ndata: [DONE]\n\n"
        } else {
            "null}]}\n\n"
        };
        let event = format!("data: {{\"choices\":[{{\"text\":\" w\",\"finish_reason\":{rest}");
        Some((Ok(Frame::data(Bytes::from(event))), token + 1))
    });
    let events: stream::BoxStream<'static, _> = Box::pin(events);
    let response = Response::builder().header("content-type", "text/event-stream");
    Ok(response.body(StreamBody::new(events)).expect("a response"))
}

#[track_caller]
fn all_well(run: &PointRun, requests: usize) {
    let outcomes: Vec<_> = run
        .records
        .iter()
        .map(|record| (record.outcome, &record.error_detail))
        .collect();
    assert_eq!(outcomes.len(), requests);
    assert!(
        outcomes.iter().all(|(outcome, _)| *outcome == Outcome::Ok),
        "{outcomes:?}"
    );
    let gaps = run
        .records
        .iter()
        .flat_map(|record| record.gaps())
        .map(|gap| gap.as_millis_f64());
    assert!(
        gaps.sum::<f64>() / (2 * requests) as f64 > 15.0,
        "tokens come one by one"
    );
}

fn wire(trust: Trust, http2: bool) -> Wire {
    Wire {
        trust,
        http2,
        ..Wire::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_way_of_speaking_reads_the_same_stream() {
    let plan = || plan(Discipline::OpenLoop, &[0, 5, 10, 15], 1);
    for speaks in [Speaks::Http1, Speaks::Http2] {
        for encrypted in [false, true] {
            let server = Server::start("127.0.0.1:0", speaks, encrypted).await;
            let trust = if encrypted {
                server.own_authority()
            } else {
                Trust::System
            };
            let run = server
                .run(wire(trust, speaks == Speaks::Http2), plan())
                .await
                .expect("a run");
            all_well(&run, 4);
            let stamped = run
                .records
                .iter()
                .flat_map(|record| &record.chunks)
                .filter(|chunk| chunk.at_kernel.is_some());
            let expected = if speaks == Speaks::Http1 { 12 } else { 0 };
            assert_eq!(
                stamped.count(),
                expected,
                "HTTP/2 shares a connection and has no moment of the kernel's"
            );
            assert!(
                run.records.iter().all(|record| record.connect.is_none()),
                "opened before the clock"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn http_2_carries_many_requests_on_one_connection() {
    let server = Server::start("127.0.0.1:0", Speaks::Http2, false).await;
    let run = server
        .run(
            wire(Trust::System, true),
            plan(Discipline::AllAtOnce, &[0; 40], 1),
        )
        .await;
    all_well(&run.expect("a run"), 40);
    let cores = std::thread::available_parallelism()
        .expect("cores")
        .get()
        .min(8);
    assert_eq!(
        server.connections.load(SeqCst),
        cores,
        "one for each thread"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_of_nobody_known_is_refused_unless_that_is_asked_for() {
    let server = Server::start("127.0.0.1:0", Speaks::Http1, true).await;
    let plan = || plan(Discipline::OpenLoop, &[0], 1);
    match server.run(Wire::default(), plan()).await {
        Err(PointError::Unreachable { why }) => {
            assert!(
                why.contains("certificate") && why.contains("--ca-file"),
                "{why}"
            )
        }
        other => panic!("{other:?}"),
    }
    all_well(
        &server
            .run(wire(Trust::Insecure, false), plan())
            .await
            .expect("a run"),
        1,
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_http_2_is_named() {
    let server = Server::start("127.0.0.1:0", Speaks::Http1, true).await;
    let refused = server
        .run(
            wire(server.own_authority(), true),
            plan(Discipline::OpenLoop, &[0], 1),
        )
        .await;
    assert!(
        matches!(refused, Err(PointError::Unreachable { .. })),
        "{refused:?}"
    );
}

#[test]
fn a_file_without_a_certificate_is_named_with_its_mend() {
    let file = tempfile::NamedTempFile::new().expect("file");
    let endpoint = Endpoint::new("https://127.0.0.1:1", Api::OpenAiChat, "m");
    let options = EngineOptions {
        wire: wire(Trust::CaFile(file.path().to_owned()), false),
        ..EngineOptions::default()
    };
    let error = Engine::connect(&endpoint, options)
        .map(drop)
        .expect_err("nothing in it");
    assert!(
        error.to_string().contains("-----BEGIN CERTIFICATE-----"),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn ipv6_works_like_ipv4() {
    if TcpListener::bind("[::1]:0").await.is_err() {
        eprintln!("left out: this host has no IPv6");
        return;
    }
    let server = Server::start("[::1]:0", Speaks::Http1, false).await;
    all_well(
        &server
            .run(Wire::default(), plan(Discipline::OpenLoop, &[0], 1))
            .await
            .expect("a run"),
        1,
    );
}

/// A proxy that tunnels (CONNECT) or forwards to one server; the first lines that it was sent.
async fn proxy(to: SocketAddr) -> (url::Url, Arc<std::sync::Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let url = format!("http://{}", listener.local_addr().expect("address"));
    let lines = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = Arc::clone(&lines);
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let seen = Arc::clone(&seen);
            tokio::spawn(async move {
                client.set_nodelay(true).ok()?;
                let mut head = vec![0; 16];
                client.read_exact(&mut head).await.ok()?;
                let tunnel = head.starts_with(b"CONNECT");
                while tunnel && !head.ends_with(b"\r\n\r\n") {
                    head.push(client.read_u8().await.ok()?);
                }
                seen.lock()
                    .expect("lock")
                    .push(String::from_utf8_lossy(&head).into_owned());
                let mut server = TcpStream::connect(to).await.ok()?;
                server.set_nodelay(true).ok()?;
                if tunnel {
                    client
                        .write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")
                        .await
                        .ok()?;
                } else {
                    server.write_all(&head).await.ok()?;
                }
                tokio::io::copy_bidirectional(&mut client, &mut server)
                    .await
                    .ok()
            });
        }
    });
    (url.parse().expect("a URL"), lines)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_tunnels_what_is_encrypted_and_forwards_what_is_not() {
    for (encrypted, first) in [(true, "CONNECT 127.0.0.1:"), (false, "POST http://127.")] {
        let server = Server::start("127.0.0.1:0", Speaks::Http1, encrypted).await;
        let (proxy, lines) = proxy(server.address).await;
        let trust = if encrypted {
            server.own_authority()
        } else {
            Trust::System
        };
        let wire = Wire {
            trust,
            proxy: Some(proxy),
            ..Wire::default()
        };
        let run = server
            .run(wire, plan(Discipline::OpenLoop, &[0], 1))
            .await
            .expect("a run");
        all_well(&run, 1);
        let lines = lines.lock().expect("lock");
        assert!(
            lines.iter().any(|line| line.starts_with(first)),
            "{lines:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_cannot_be_opened_inside_the_clock_is_a_failure_of_its_own_kind() {
    let server = Server::start("127.0.0.1:0", Speaks::Http1, false).await;
    // The proxy goes away after the first connection.
    let gone = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let url: url::Url = format!("http://{}", gone.local_addr().expect("address"))
        .parse()
        .expect("a URL");
    tokio::spawn(async move {
        let first = gone.accept().await;
        drop(gone);
        tokio::time::sleep(Duration::from_secs(20)).await;
        drop(first);
    });
    let wire = Wire {
        proxy: Some(url),
        ..Wire::default()
    };
    let options = plan(Discipline::OpenLoop, &[4500], 1);
    let run = server.run(wire, options).await.expect("a run");
    let record = &run.records[0];
    assert_eq!(
        (record.outcome, record.sent, record.connect.is_some()),
        (Outcome::Error(ErrorKind::ConnectFailed), None, true)
    );
}
