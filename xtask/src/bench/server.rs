//! The server that knows: ours, or another one with such a log.

use super::place::Place;
use super::scenario::Scenario;
use super::{Programs, truth};
use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, kill_process};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A server under way. It ends when dropped.
pub struct Truth {
    child: Child,
    log: PathBuf,
    pub address: String,
}

/// Starts the server for a scenario.
pub fn start(
    scenario: &Scenario,
    round: u32,
    programs: &Programs,
    place: &Place,
) -> anyhow::Result<Truth> {
    let log = crate::paths::at("target/bench/truth.jsonl");
    let _ = std::fs::remove_file(&log);
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let address = format!("127.0.0.1:{port}");
    let external = programs.truth.as_deref();
    let mut command = place.server(external.unwrap_or(&programs.goodput), scenario.blast);
    if external.is_none() {
        command.arg("truth");
    }
    command
        .args(["--listen", &address, "--log"])
        .arg(&log)
        .args(["--ttft-ms", &scenario.ttft_ms.to_string()])
        .args(["--itl-ms", &scenario.itl_ms.to_string()])
        .args(["--seed", &(round + 1).to_string()]);
    if scenario.jitter > 0.0 {
        let named = if external.is_some() { "lognormal:" } else { "" };
        command.args(["--jitter", &format!("{named}{}", scenario.jitter)]);
    }
    if scenario.blast {
        command.arg("--blast");
    }
    if scenario.faults > 0.0 {
        if external.is_some() {
            bail!(
                "the other server cannot fail on purpose: leave out --truth-server, or this scenario"
            );
        }
        command.args(["--faults", &scenario.faults.to_string()]);
    }
    let child = command
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .spawn()
        .context("cannot start the truth server")?;
    let mut truth = Truth {
        child,
        log,
        address,
    };
    truth.wait()?;
    Ok(truth)
}

impl Truth {
    fn wait(&mut self) -> anyhow::Result<()> {
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(10) {
            if TcpStream::connect(&self.address).is_ok() {
                return Ok(());
            }
            if let Some(status) = self.child.try_wait()? {
                bail!("the truth server ended at once ({status})");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        bail!(
            "the truth server did not listen on {} in 10 s",
            self.address
        )
    }

    /// Ends it and reads its log.
    pub fn end(mut self) -> anyhow::Result<Vec<truth::Request>> {
        self.stop();
        truth::read(&self.log)
    }

    fn stop(&mut self) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let (Some(pid), Ok(None)) = (pid, self.child.try_wait()) {
            let _ = kill_process(pid, Signal::INT);
            let began = Instant::now();
            while began.elapsed() < Duration::from_secs(20) {
                if !matches!(self.child.try_wait(), Ok(None)) {
                    return;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl Drop for Truth {
    fn drop(&mut self) {
        self.stop();
    }
}
