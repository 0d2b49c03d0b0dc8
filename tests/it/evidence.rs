//! What is seen beside a point, on engines that run for real: foreign traffic, a warm cache, a busy neighbour, silence.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use app::studio::{Studio, StudyState};
use load::{
    Begun, Beside, BesideSpec, Engine, EngineOptions, Observer, PointSpec, Progress, Sharing, Wire,
    plan_point, run_point,
};
use measure::arrival::Arrival;
use measure::certificate::{Innocence, certify};
use measure::evidence::{Evidence, Presence, Warmth};
use measure::study::{Api, Endpoint, EngineSpec, PointLength};
use measure::units::Seed;
use measure::workload::{Lengths, Workload};
use tests::databases::{Place, on_sqlite};
use tests::samples::small_study;
use tokio_util::sync::CancellationToken;

const ME: app::studio::Actor = app::studio::Actor::Owner;

struct Told(Arc<Begun>);

impl Observer for Told {
    fn progress(&self, _: Progress) {}

    fn began(&self, zero: Instant) {
        self.0.at(zero);
    }
}

/// Twenty requests a second for a second and a half, each of its own prompt of 200 words.
fn spec<'a>(endpoint: &'a Endpoint, workload: &'a Workload) -> PointSpec<'a> {
    PointSpec {
        workload,
        data_dir: None,
        arrival: Arrival::Constant,
        level: "20".parse().expect("a level"),
        length: PointLength {
            min_requests: 30,
            max_requests: 30,
            seconds: 1,
        },
        duration: None,
        seed: Seed(7),
        warmup: 2,
        api: endpoint.api,
        model: &endpoint.model,
        quirks: Default::default(),
        counter: None,
        drain: Duration::from_secs(10),
        request_id_prefix: "p",
    }
}

fn workload() -> Workload {
    Workload::Synthetic {
        input: Lengths::Fixed { tokens: 200 },
        output: Lengths::Fixed { tokens: 8 },
    }
}

/// One point, measured with everything beside it.
async fn measured(
    endpoint: &Endpoint,
    workload: &Workload,
) -> anyhow::Result<(Evidence, Option<Vec<u8>>)> {
    let (at, wire) = (endpoint.clone(), Wire::default());
    let engine =
        tokio::task::spawn_blocking(move || Engine::connect(&at, EngineOptions::default()));
    let engine = engine.await??;
    let plan = plan_point(&spec(endpoint, workload))?;
    let made = plan.made.clone();
    let sharing = Sharing::of(&plan);
    let beside = BesideSpec {
        endpoint,
        wire: &wire,
        engine: &engine,
        group: None,
        metrics: None,
        exporters: &[],
    };
    let beside = Beside::start(beside).await;
    let watch = Arc::new(Told(beside.begun()));
    let run = run_point(&engine, plan, watch, CancellationToken::new()).await?;
    let (seen, pages) = beside.end().await;
    let shared = sharing.shared_by(&seen.engine.readings, &run.records, &made);
    Ok((
        Evidence::of(&seen, &run.records, &sharing.warmup, shared),
        pages,
    ))
}

fn simulator(knobs: &[(&str, &str)]) -> anyhow::Result<(sim::Running, Endpoint)> {
    let knobs = knobs
        .iter()
        .map(|(knob, value)| ((*knob).to_owned(), (*value).into()));
    let running = sim::start(sim::Config::preset("tiny", &knobs.collect())?)?;
    let endpoint = Endpoint::new(&running.url, Api::OpenAiChat, &running.model);
    Ok((running, endpoint))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cold_point_alone_is_as_expected_and_the_same_point_again_is_contaminated()
-> anyhow::Result<()> {
    let (_running, endpoint) = simulator(&[("enable-prefix-caching", "on")])?;
    let (first, pages) = measured(&endpoint, &workload()).await?;
    assert_eq!(
        first.foreign.presence,
        Presence::Alone,
        "{:?}",
        first.foreign
    );
    assert_eq!(first.foreign.sent.requests, 32);
    assert_eq!(first.cache.warmth, Warmth::AsExpected, "{:?}", first.cache);
    assert!(pages.is_some_and(|pages| pages.len() < 1 << 20));
    let (again, _) = measured(&endpoint, &workload()).await?;
    assert_eq!(
        again.cache.warmth,
        Warmth::Contaminated,
        "{:?}",
        again.cache
    );
    let findings = again.findings();
    assert!(
        findings.iter().any(
            |(innocence, why)| *innocence == Innocence::Suspect && why.contains("contaminated")
        )
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn families_are_expected_to_share_and_do() -> anyhow::Result<()> {
    let (_running, endpoint) = simulator(&[("enable-prefix-caching", "on")])?;
    let shared = Workload::SharedPrefix {
        families: 2,
        prefix_tokens: 160,
        share: 1.0,
        input: Lengths::Fixed { tokens: 40 },
        output: Lengths::Fixed { tokens: 8 },
    };
    let (evidence, _) = measured(&endpoint, &shared).await?;
    let expected = evidence.cache.expected.expect("compared");
    // All but the first of each family, whole blocks.
    let most = 28 * 160;
    assert!(
        (most - 500..most + 1500).contains(&(expected.tokens as i64)),
        "{expected:?}"
    );
    assert_eq!(
        evidence.cache.warmth,
        Warmth::AsExpected,
        "{:?}",
        evidence.cache
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn series_lie_on_the_clock_of_the_point() -> anyhow::Result<()> {
    let (_running, endpoint) = simulator(&[])?;
    let (evidence, _) = measured(&endpoint, &workload()).await?;
    let engine = evidence
        .tracks
        .iter()
        .find(|track| track.of == "engine")
        .expect("an engine");
    let (first, last) = (engine.at_ms[0], engine.at_ms[engine.at_ms.len() - 1]);
    assert!(first < 0, "before the warm-up: {first}");
    assert!(
        (1400..4000).contains(&last),
        "after the last request: {last}"
    );
    let keys: Vec<&str> = engine
        .series
        .iter()
        .map(|series| series.key.as_str())
        .collect();
    for key in [
        "running",
        "waiting",
        "kv_usage",
        "finished",
        "output_tokens",
    ] {
        assert!(keys.contains(&key), "{keys:?}");
    }
    let trips = evidence.round_trips;
    assert!(trips.iter().all(Option::is_some), "{trips:?}");
    assert!(
        evidence.host.is_some_and(|host| !host.engine_among_others),
        "it is this process"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_without_metrics_leaves_it_open() -> anyhow::Result<()> {
    let server = sim::truth::start(sim::truth::Config::default(), "127.0.0.1:0".parse()?, None)?;
    let endpoint = Endpoint::new(&server.url, Api::OpenAiChat, sim::truth::MODEL);
    let (evidence, pages) = measured(&endpoint, &workload()).await?;
    assert_eq!(evidence.foreign.presence, Presence::CannotTell);
    assert_eq!(evidence.cache.warmth, Warmth::CannotTell);
    assert_eq!((pages, evidence.ttft.as_ref()), (None, None));
    let said = evidence.statements.join(" ");
    assert!(
        said.contains("cannot tell, the engine has no /metrics"),
        "{said}"
    );
    Ok(())
}

/// Processes that use so many cores until they are stopped.
struct Neighbours(Vec<Child>);

impl Neighbours {
    fn start(count: usize) -> std::io::Result<Self> {
        let one = |_| {
            let mut shell = Command::new("sh");
            let spin = shell
                .args(["-c", "while :; do :; done"])
                .stdin(Stdio::null());
            spin.spawn()
        };
        (0..count).map(one).collect::<Result<_, _>>().map(Self)
    }
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_point_beside_a_busy_neighbour_is_suspect() -> anyhow::Result<()> {
    let (_running, endpoint) = simulator(&[])?;
    let cores = std::thread::available_parallelism()?.get();
    let neighbours = Neighbours::start(cores.div_ceil(2))?;
    let (evidence, _) = measured(&endpoint, &workload()).await?;
    drop(neighbours);
    let findings = evidence.findings();
    let busy = findings
        .iter()
        .find(|(_, why)| why.contains("busy neighbour"));
    assert!(busy.is_some(), "{:?} {findings:?}", evidence.host);
    let certificate = certify(&[], Default::default()).with(findings);
    assert_eq!(certificate.innocence, Innocence::Suspect);
    Ok(())
}

/// Asks the engine again and again, as somebody else would, until it is told to stop.
async fn foreign(endpoint: Endpoint, stop: CancellationToken) {
    // Another test of this process may have been first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::new();
    let body = serde_json::json!({
        "model": endpoint.model, "max_tokens": 4, "messages": [{"role": "user", "content": "hello there"}],
    });
    let url = format!("{}/v1/chat/completions", endpoint.url.trim_end_matches('/'));
    while !stop.is_cancelled() {
        let asked = http.post(&url).json(&body).send().await;
        drop(asked);
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn foreign_traffic_voids_the_points_of_a_study_and_is_kept_with_them() {
    on_sqlite(&async |place: &Place| {
        let (_running, endpoint) = simulator(&[])?;
        let studio = place.studio().await?;
        studio
            .save_engine(&ME, "mine".into(), endpoint.clone())
            .await?;
        let mut spec = small_study();
        spec.engine = EngineSpec::Endpoint(endpoint.clone());
        let stop = CancellationToken::new();
        let traffic = tokio::spawn(foreign(endpoint, stop.clone()));
        studio.start_supervisor().await?;
        let id = studio.launch(&ME, spec).await?;
        let view = crate::studio::until_state(&studio, id, StudyState::Finished).await?;
        stop.cancel();
        traffic.await?;
        for point in &view.points {
            let certificate = point.certificate.as_ref().expect("a certificate");
            assert_eq!(certificate.innocence, Innocence::Void);
            let evidence = studio.evidence_of(point.id).await?;
            // Whatever else is said of the client: this alone makes it void, and is said.
            let (innocence, said) = evidence.foreign.finding().expect("a finding");
            assert_eq!(innocence, Innocence::Void);
            assert!(said.contains("somebody else"), "{said}");
            assert!(certificate.reasons.contains(&said), "{certificate:?}");
            assert_eq!(evidence.foreign.presence, Presence::Others);
            assert!(evidence.metrics_kept);
        }
        Ok(())
    })
    .await;
}

/// Runs `goodput bench` for a second and a half against an engine and reads its JSON.
fn bench(url: &str, metrics: &str) -> anyhow::Result<serde_json::Value> {
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("out.json");
    let file_text = file.to_string_lossy();
    let status = crate::bench::goodput(&[
        "bench",
        "--url",
        url,
        "--metrics",
        metrics,
        "--rate",
        "20",
        "--requests",
        "30",
        "--warmup",
        "2",
        "--input-tokens",
        "200",
        "--output-tokens",
        "8",
        "--json",
        &file_text,
    ]);
    assert_eq!(status, 0);
    Ok(serde_json::from_slice(&std::fs::read(&file)?)?)
}

#[test]
fn bench_tells_what_the_engine_said_meanwhile() -> anyhow::Result<()> {
    let (running, _) = simulator(&[("enable-prefix-caching", "on")])?;
    let elsewhere = format!("{}/metrics", running.url.trim_end_matches('/'));
    for metrics in ["auto", elsewhere.as_str()] {
        let json = bench(&running.url, metrics)?;
        let evidence = &json["evidence"];
        assert_eq!(
            evidence["foreign"]["presence"], "alone",
            "{}",
            evidence["foreign"]
        );
        assert_eq!(evidence["foreign"]["sent"]["requests"], 32);
        let figures = evidence["figures"].as_array().expect("figures");
        let names: Vec<&str> = figures
            .iter()
            .filter_map(|it| it["name"].as_str())
            .collect();
        for name in [
            "Running, at most",
            "Waiting, at most",
            "KV cache in use, at most",
            "Prefix cache hits",
        ] {
            assert!(names.contains(&name), "{name}: {names:?}");
        }
    }
    let without = bench_json(&running.url)?;
    assert_eq!(without["evidence"], serde_json::Value::Null);
    Ok(())
}

/// Without anybody asking for the engine's metrics.
fn bench_json(url: &str) -> anyhow::Result<serde_json::Value> {
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("out.json");
    let file_text = file.to_string_lossy();
    crate::bench::goodput(&[
        "bench",
        "--url",
        url,
        "--requests",
        "2",
        "--json",
        &file_text,
    ]);
    Ok(serde_json::from_slice(&std::fs::read(&file)?)?)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_of_bench_beside_somebody_elses_traffic_is_void() -> anyhow::Result<()> {
    let (running, endpoint) = simulator(&[])?;
    let stop = CancellationToken::new();
    let traffic = tokio::spawn(foreign(endpoint, stop.clone()));
    let url = running.url.clone();
    let json = tokio::task::spawn_blocking(move || bench(&url, "auto")).await??;
    stop.cancel();
    traffic.await?;
    assert_eq!(json["evidence"]["foreign"]["presence"], "others");
    let certificate = &json["summary"]["certificate"];
    assert_eq!(certificate["innocence"], "void", "{certificate}");
    assert!(
        certificate["reasons"].to_string().contains("somebody else"),
        "{certificate}"
    );
    Ok(())
}

#[test]
fn bench_on_an_engine_without_metrics_says_that_it_cannot_tell() -> anyhow::Result<()> {
    let server = sim::truth::start(sim::truth::Config::default(), "127.0.0.1:0".parse()?, None)?;
    let json = bench(&server.url, "auto")?;
    assert_eq!(json["evidence"]["foreign"]["presence"], "cannot_tell");
    let said = json["evidence"]["statements"].to_string();
    assert!(said.contains("the engine has no /metrics"), "{said}");
    Ok(())
}
