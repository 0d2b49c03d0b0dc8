//! Engines as processes: started behind the real guard, ended with everything that they started, whoever dies first.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use load::Wire;
use load::launch::{Exit, Launch, LaunchError, Managed, NotStarted, Program, free_port, start};
use measure::study::{Api, Endpoint};
use tests::process::goodput;
use tokio_util::sync::CancellationToken;

/// What is run in an engine's place, behind the real guard.
fn launch(port: u16, argv: &[&str]) -> Launch {
    let argv = argv
        .iter()
        .map(|word| word.replace("PORT", &port.to_string()));
    Launch {
        program: Program {
            argv: argv.collect(),
            env: BTreeMap::new(),
            stop: Vec::new(),
        },
        pass_env: Vec::new(),
        cwd: None,
        endpoint: Endpoint::new(
            format!("http://127.0.0.1:{port}"),
            Api::OpenAiChat,
            "simulated-tiny",
        ),
        wire: Wire::default(),
        health: "/health".into(),
        limit: Duration::from_secs(30),
        grace: Duration::from_secs(2),
        secrets: vec!["sk-VALUE".into()],
        guard: Some(goodput()),
    }
}

/// The simulator as a program of its own.
fn simulator(port: u16) -> Launch {
    let goodput = goodput();
    let program = goodput.to_str().expect("a path");
    launch(
        port,
        &[program, "sim", "--preset", "tiny", "--port", "PORT"],
    )
}

/// A shell's script in an engine's place.
fn script(text: &str) -> Launch {
    launch(free_port().expect("a port"), &["sh", "-c", text])
}

async fn tried(launch: &Launch) -> Result<Managed, NotStarted> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    start(launch, &CancellationToken::new()).await
}

/// An engine that must start.
async fn started(launch: &Launch) -> Managed {
    let tried = tried(launch).await;
    tried.unwrap_or_else(|it| panic!("{}: {}", it.cause, it.log))
}

/// Whether a process runs; one that ended and that nobody waited for does not.
fn runs(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ")
        .is_some_and(|(_, state)| !state.starts_with('Z'))
}

async fn gone(pids: &[u32]) -> bool {
    let until = Instant::now() + Duration::from_secs(10);
    while pids.iter().any(|pid| runs(*pid)) {
        if until < Instant::now() {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    true
}

/// The processes below the ones that a script wrote into a file.
async fn written(path: &Path, count: usize) -> Vec<u32> {
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let pids: Vec<u32> = text.lines().filter_map(|line| line.parse().ok()).collect();
        if count <= pids.len() {
            return pids;
        }
        assert!(Instant::now() < until, "{text}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_is_ready_with_its_first_token_and_gone_after_its_end() {
    let launch = simulator(free_port().expect("a port"));
    let engine = started(&launch).await;
    assert!(Duration::ZERO < engine.startup && engine.startup < launch.limit);
    let pids = engine.pids();
    assert!(!pids.is_empty() && pids.iter().all(|pid| runs(*pid)));
    assert!(
        engine.log().contains("Simulated engine tiny"),
        "{}",
        engine.log()
    );
    assert_eq!(engine.exit(), None);
    let stopped = engine.stop().await;
    assert_eq!(stopped.exit, Exit::Status(0), "{}", stopped.log);
    assert!(gone(&pids).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_let_go_is_ended_too() {
    let launch = simulator(free_port().expect("a port"));
    let engine = started(&launch).await;
    let pids = engine.pids();
    drop(engine);
    assert!(gone(&pids).await);
}

#[track_caller]
fn says(failed: Result<Managed, NotStarted>, parts: &[&str]) -> NotStarted {
    let failed = failed.map(drop).expect_err("not started");
    let text = format!("{}\n{}", failed.cause, failed.log);
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
    failed
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_comes_to_nothing_says_why() {
    let goodput = goodput();
    let program = goodput.to_str().expect("a path");
    let port = free_port().expect("a port");
    let flag = launch(port, &[program, "sim", "--port", "PORT", "--max-num-seq=4"]);
    let failed = says(
        tried(&flag).await,
        &[
            "does not know --max-num-seq",
            "exit status 2",
            "unexpected argument",
        ],
    );
    assert!(matches!(failed.cause, LaunchError::Exited { .. }));
    let oom = script(
        "echo loading weights; echo 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB' >&2; exit 1",
    );
    says(
        tried(&oom).await,
        &[
            "does not fit into the accelerator's memory",
            "exit status 1",
            "loading weights",
        ],
    );
    let killed = script("echo loading weights; kill -KILL $$");
    says(
        tried(&killed).await,
        &["killed by signal 9", "want of memory"],
    );
    let missing = launch(port, &["no-such-engine-anywhere", "--port", "PORT"]);
    says(
        tried(&missing).await,
        &["command cannot be run", "cannot start", "No such file"],
    );
    let leaky = script("echo key is sk-VALUE; exit 3");
    let failed = says(tried(&leaky).await, &["exit status 3", "[secret]"]);
    assert!(!failed.log.contains("VALUE"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hang_at_the_start_ends_in_time_and_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("pids");
    let mut hangs = script(&format!(
        "echo waiting for weights; sleep 600 & echo $! > {0}; echo $$ >> {0}; wait",
        file.display()
    ));
    hangs.limit = Duration::from_secs(1);
    let failed = says(
        tried(&hangs).await,
        &[
            "did not answer at /health within 1 s",
            "waiting for weights",
        ],
    );
    assert!(matches!(failed.cause, LaunchError::Silent { .. }));
    assert!(gone(&written(&file, 2).await).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_in_use_is_told_before_anything_runs() {
    let holder = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = holder.local_addr().expect("bound").port();
    let failed = tried(&simulator(port)).await.map(drop).expect_err("taken");
    assert!(
        matches!(failed.cause, LaunchError::PortInUse { port: taken } if taken == port),
        "{:?}",
        failed.cause
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_can_be_given_up() {
    let stop = CancellationToken::new();
    let hangs = script("sleep 600");
    let began = Instant::now();
    let give_up = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        stop.cancel();
    };
    let (failed, ()) = tokio::join!(start(&hangs, &stop), give_up);
    assert!(matches!(
        failed.map(drop).expect_err("given up").cause,
        LaunchError::GivenUp
    ));
    assert!(began.elapsed() < Duration::from_secs(5));
}

/// An engine that answers, does not hear TERM, and has children that left its process group.
fn stubborn(port: u16, file: &Path) -> Launch {
    let goodput = goodput();
    let text = format!(
        "trap '' TERM; setsid sleep 600 & echo $! > {0}; {1} sim --preset tiny --port {2} & echo $! >> {0}; echo $$ >> {0}; while :; do sleep 1; done",
        file.display(),
        goodput.display(),
        port
    );
    launch(port, &["sh", "-c", &text])
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_hear_term_is_killed_with_all_that_it_started() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("pids");
    let port = free_port().expect("a port");
    let engine = started(&stubborn(port, &file)).await;
    let pids = written(&file, 3).await;
    assert!(pids.iter().all(|pid| runs(*pid)), "{pids:?}");
    let stopped = engine.stop().await;
    assert!(
        Duration::from_secs(2) <= stopped.took && stopped.took < Duration::from_secs(8),
        "{:?}",
        stopped.took
    );
    assert!(gone(&pids).await, "{pids:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_dies_is_noticed_with_its_last_words() {
    let launch = simulator(free_port().expect("a port"));
    let engine = started(&launch).await;
    let pids = engine.pids();
    kill(&pids);
    let exit = tokio::time::timeout(Duration::from_secs(5), engine.ended()).await;
    assert_eq!(exit.expect("in time"), Exit::Signal(9));
    assert!(gone(&pids).await);
    assert_eq!(engine.stop().await.exit, Exit::Signal(9));
}

fn kill(pids: &[u32]) {
    for pid in pids {
        let killed = std::process::Command::new("kill")
            .args(["-KILL", &pid.to_string()])
            .status();
        assert!(killed.is_ok());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_command_ends_what_outlives_its_own_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, said) = (folder.path().join("pids"), folder.path().join("said"));
    let port = free_port().expect("a port");
    let mut launch = simulator(port);
    launch.program.stop = ["sh", "-c", &format!("echo stop >> {}", said.display())]
        .map(str::to_owned)
        .into();
    let engine = started(&launch).await;
    engine.stop().await;
    assert_eq!(std::fs::read_to_string(&said).unwrap_or_default(), "stop\n");
    drop(file);
}
