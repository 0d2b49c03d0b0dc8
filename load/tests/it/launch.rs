//! Engines as processes: whose token was the first, and what is left of one whose guard is killed.
//!
//! In the guard's place stands a script that starts the engine and does nothing for it: what is tested is what the studio
//! itself does. The real guard is tested with the real binary, in the crate `tests`.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use load::Wire;
use load::launch::{
    AnsweredBy, Exit, Launch, LaunchError, Managed, NotStarted, Program, free_port, start, why,
};
use measure::study::{Api, Endpoint};
use tokio_util::sync::CancellationToken;

use crate::double::{Double, stream};

/// Starts the engine, writes down its own number, ends the engine with the studio.
const GUARD: &str = r#"#!/bin/sh
echo $$ > "$0.pid"
while [ "$1" != -- ]; do shift; done
shift
"$@" &
read -r line
kill -KILL $!
"#;

/// Gives one token to whoever asks; its own children stay in its group, leave it, or have an environment of their own.
const ENGINE: &str = r#"
import http.server, os, subprocess, sys
port, folder = int(sys.argv[1]), sys.argv[2]
children = [subprocess.Popen(["sleep", "600"]),
            subprocess.Popen(["sleep", "600"], start_new_session=True),
            subprocess.Popen(["sleep", "600"], start_new_session=True, env={"A": "B"})]
class Engine(http.server.BaseHTTPRequestHandler):
    def say(self, kind, text):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())
    def do_GET(self):
        self.say("application/json", '{"data":[{"id":"m"}]}')
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.say("text/event-stream", 'data: {"choices":[{"index":0,"text":" w","finish_reason":"length"}]}\n\n'
            'data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":1}}\n\ndata: [DONE]\n\n')
server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Engine)
with open(folder + "/pids", "w") as file:
    file.write("".join("%d\n" % pid for pid in [os.getpid()] + [child.pid for child in children]))
server.serve_forever()
"#;

fn launch(folder: &Path, port: u16, argv: &[&str]) -> Launch {
    let guard = folder.join("guard");
    std::fs::write(&guard, GUARD).expect("written");
    std::fs::set_permissions(&guard, PermissionsExt::from_mode(0o755)).expect("a program");
    Launch {
        program: Program {
            argv: argv.iter().map(|it| (*it).to_owned()).collect(),
            ..Program::default()
        },
        pass_env: Vec::new(),
        cwd: None,
        endpoint: Endpoint::new(
            format!("http://127.0.0.1:{port}"),
            Api::OpenAiCompletions,
            "m",
        ),
        wire: Wire::default(),
        health: "/health".into(),
        limit: Duration::from_secs(30),
        grace: Duration::from_secs(2),
        secrets: Vec::new(),
        guard: Some(guard),
    }
}

fn engine(folder: &Path, port: u16) -> Launch {
    let (file, port_word) = (folder.join("engine.py"), port.to_string());
    std::fs::write(&file, ENGINE).expect("written");
    let [file, at] = [file.as_path(), folder].map(|it| it.to_str().expect("a path"));
    launch(folder, port, &["python3", file, &port_word, at])
}

async fn tried(launch: &Launch) -> Result<Managed, NotStarted> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    start(launch, &CancellationToken::new()).await
}

async fn started(launch: &Launch) -> Managed {
    let tried = tried(launch).await;
    tried.unwrap_or_else(|it| panic!("{}: {}", it.cause, it.log))
}

fn numbers(path: &Path) -> Vec<u32> {
    let text = std::fs::read_to_string(path).expect("written");
    text.lines()
        .map(|it| it.parse().expect("a number"))
        .collect()
}

/// Whether the system still knows such a process, running or not waited for.
fn is_there(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// An engine that only sleeps, with somebody else at its port soon after its start.
async fn usurped(launch: &Launch, port: u16) -> Result<Managed, NotStarted> {
    let other = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        Double::start_at(port, |_| stream(4, Duration::ZERO, Duration::ZERO))
    };
    let (outcome, _other) = tokio::join!(tried(launch), other);
    outcome
}

#[tokio::test(flavor = "multi_thread")]
async fn who_takes_the_port_after_the_start_is_not_measured_as_the_engine() {
    let folder = tempfile::tempdir().expect("a folder");
    let port = free_port().expect("a port");
    let sleeps = launch(folder.path(), port, &["sleep", "600"]);
    let failed = usurped(&sleeps, port).await.map(drop).expect_err("taken");
    assert!(
        matches!(failed.cause, LaunchError::PortInUse { port: taken } if taken == port),
        "{:?}",
        failed.cause
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn where_an_engine_may_live_elsewhere_it_is_said_that_nobody_can_tell() {
    let folder = tempfile::tempdir().expect("a folder");
    let port = free_port().expect("a port");
    let mut sleeps = launch(folder.path(), port, &["sleep", "600"]);
    // What `stop` is for: the engine is no child of its command.
    sleeps.program.stop = vec!["true".into()];
    let engine = usurped(&sleeps, port).await;
    let engine = engine.unwrap_or_else(|it| panic!("{}", it.cause));
    assert!(
        matches!(engine.answered_by, AnsweredBy::Untold(why) if why.contains("outside")),
        "{:?}",
        engine.answered_by
    );
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_at_its_own_port_is_known_as_such() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = started(&engine(folder.path(), free_port().expect("a port"))).await;
    assert_eq!(engine.answered_by, AnsweredBy::Engine);
    kill(&numbers(&folder.path().join("guard.pid")));
    engine.ended().await;
}

fn kill(pids: &[u32]) {
    let pids = pids.iter().map(u32::to_string);
    let killed = Command::new("kill").arg("-KILL").args(pids).status();
    assert!(killed.is_ok_and(|it| it.success()));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_of_an_engine_whose_guard_is_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = started(&engine(folder.path(), free_port().expect("a port"))).await;
    // Nothing of the studio's other children is touched, in the engine's group or not.
    let mut other = Command::new("sleep").arg("600").spawn().expect("a process");
    let pids = numbers(&folder.path().join("pids"));
    assert_eq!(pids.len(), 4);
    assert!(
        pids.iter().all(|pid| engine.pids().contains(pid)),
        "{pids:?}"
    );
    // One of them has neither the mark nor the group: it is known because it was seen.
    let seen = Instant::now();
    while seen.elapsed() < Duration::from_secs(3) {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    kill(&numbers(&folder.path().join("guard.pid")));
    let exit = engine.ended().await;
    assert!(
        !pids.iter().any(|pid| is_there(*pid)),
        "killed, and let go of: {pids:?}"
    );
    assert_eq!(exit, Exit::Guard(9));
    assert_eq!(exit.to_string(), "its guard was killed by signal 9");
    let said = why(exit, "CUDA out of memory").expect("a reason");
    assert!(!said.contains("memory"), "{said}");
    assert_eq!(other.try_wait().expect("asked"), None);
    other.kill().expect("killed");
    other.wait().expect("gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_born_since_the_last_look_is_found_by_its_mark() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("late");
    let port = free_port().expect("a port");
    // Its parent is gone at once, and the guard with it.
    let text = format!(
        "(setsid sleep 600 & echo $! > {0}.new; mv {0}.new {0}); kill -KILL $PPID; sleep 600",
        file.display()
    );
    let dies = launch(folder.path(), port, &["sh", "-c", &text]);
    let failed = tried(&dies).await.map(drop).expect_err("no engine");
    assert!(
        failed.cause.to_string().contains("its guard was killed"),
        "{}",
        failed.cause
    );
    assert!(!numbers(&file).into_iter().any(is_there));
}
