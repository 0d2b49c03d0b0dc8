//! Who makes the load, how it is started, and what it says.

mod honesty; // request by request against the log
mod said; // result files to figures

use super::arrivals::{self, Slot};
use super::measured::{Measured, Percentiles};
use super::place::Place;
use super::scenario::{Load, Scenario};
use super::truth::{self, Request};
use super::{Programs, peers, server, watch};
use anyhow::{Context, bail};
use said::Said;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Input tokens of each request.
pub const PROMPT_TOKENS: u32 = 128;
/// No run takes longer.
const LIMIT: Duration = Duration::from_secs(300);
/// The same where a run is long on purpose.
const LONG_LIMIT: Duration = Duration::from_secs(1200);

/// Who makes the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Client {
    Goodput,
    Floor,
    SglangBench,
    Vllm,
}

impl Client {
    pub const ALL: [Self; 4] = [Self::Goodput, Self::Floor, Self::SglangBench, Self::Vllm];

    pub fn name(self) -> &'static str {
        match self {
            Self::Goodput => "goodput",
            Self::Floor => "floor",
            Self::SglangBench => "sglang-bench",
            Self::Vllm => "vllm bench serve",
        }
    }

    pub fn is_peer(self) -> bool {
        matches!(self, Self::SglangBench | Self::Vllm)
    }

    fn command(
        self,
        scenario: &Scenario,
        round: u32,
        address: &str,
        out: &Path,
        programs: &Programs,
        place: &Place,
    ) -> anyhow::Result<Command> {
        let peers = || {
            let missing = "other people's clients are not installed: use --peers";
            programs.peers.as_ref().context(missing)
        };
        Ok(match self {
            Self::Goodput => goodput(
                place.client(&programs.goodput),
                scenario,
                round,
                address,
                out,
            ),
            Self::Floor => floor(place.client(&programs.floor), scenario, round, address),
            Self::SglangBench => peers::sglang(peers()?, place, scenario, address, out),
            Self::Vllm => peers::vllm(peers()?, place, scenario, address, out),
        })
    }
}

fn goodput(
    mut command: Command,
    scenario: &Scenario,
    round: u32,
    address: &str,
    out: &Path,
) -> Command {
    command
        .args(["bench", "--url", &format!("http://{address}")])
        .args([
            "--api",
            "openai.completions",
            "--model",
            "truth",
            "--no-probe",
        ])
        .args(["--requests", &scenario.requests.to_string()])
        .args(["--input-tokens", &PROMPT_TOKENS.to_string()])
        .args(["--output-tokens", &scenario.tokens.to_string()])
        .args(["--seed", &(round + 1).to_string()])
        .arg("--json")
        .arg(out);
    if scenario.faults > 0.0 {
        command.args(["--idle-timeout-ms", "1500"]);
    }
    match scenario.load {
        Load::Rate(rate) => command.args(["--rate", &rate.to_string()]),
        Load::Streams(streams) => command.args(["--concurrency", &streams.to_string()]),
    };
    command
}

fn floor(mut command: Command, scenario: &Scenario, round: u32, address: &str) -> Command {
    command.arg(address).args([
        format!("requests={}", scenario.requests),
        format!("tokens={}", scenario.tokens),
        format!("prompt={PROMPT_TOKENS}"),
        format!("seed={}", round + 1),
    ]);
    command.arg(match scenario.load {
        Load::Rate(rate) => format!("rate={rate}"),
        Load::Streams(streams) => format!("streams={streams}"),
    });
    command
}

/// Runs a client in a scenario and judges what it says.
pub fn measure(
    client: Client,
    scenario: &Scenario,
    round: u32,
    programs: &Programs,
    place: &Place,
) -> anyhow::Result<Measured> {
    let out = crate::paths::at("target/bench/out.json");
    let log = crate::paths::at("target/bench/client.log");
    let _ = std::fs::remove_file(&out);
    let server = server::start(scenario, round, programs, place)?;
    let mut command = client.command(scenario, round, &server.address, &out, programs, place)?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(if client == Client::Floor {
            File::create(&out)?
        } else {
            File::create(&log)?
        })
        .stderr(File::create(log.with_extension("err"))?)
        .spawn()
        .with_context(|| format!("cannot start {}", client.name()))?;
    if scenario.memory_only {
        return memory_alone(&mut child, scenario, &log);
    }
    let seen = watch::follow(&mut child, LIMIT)?;
    let mut requests = server.end()?;
    // Others try one request first.
    let surplus = requests.len().saturating_sub(scenario.requests as usize);
    if client.is_peer() {
        requests.drain(..surplus);
    }
    if !seen.succeeded && scenario.faults == 0.0 {
        bail!(
            "{} failed in {}; it said: {}",
            client.name(),
            scenario.name,
            last_words(&log)
        );
    }
    let said = said::read(client, &out)?;
    let mut measured = judge(&said, &requests, &seen, scenario);
    if scenario.faults > 0.0 {
        measured.honesty = Some(honesty::check(&said, &requests, scenario.requests as usize));
    }
    Ok(measured)
}

/// What a run takes in memory, its result written and thrown away.
fn memory_alone(child: &mut Child, scenario: &Scenario, log: &Path) -> anyhow::Result<Measured> {
    let seen = watch::follow(child, LONG_LIMIT)?;
    if !seen.succeeded {
        let said = last_words(log);
        bail!("{} did not come to its end; it said: {said}", scenario.name);
    }
    Ok(Measured {
        peak_mib: seen.peak_bytes as f64 / f64::from(1 << 20),
        events: u64::from(scenario.requests) * u64::from(scenario.tokens),
        ..Measured::default()
    })
}

fn last_words(log: &Path) -> String {
    let said: Vec<PathBuf> = vec![log.to_owned(), log.with_extension("err")];
    let text: String = said
        .iter()
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .collect();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(6)..].join("\n")
}

fn judge(said: &Said, requests: &[Request], seen: &watch::Seen, scenario: &Scenario) -> Measured {
    let truth = truth::figures(requests);
    let error = |said: Option<Percentiles>, truth: Percentiles| said.map(|said| said.less(truth));
    let cpu = seen.cpu_between(truth.from_ns, truth.to_ns);
    let events = truth.events.max(1) as f64;
    let span = truth.to_ns.saturating_sub(truth.from_ns) as f64 / 1e9;
    let mut measured = Measured {
        ttft: error(said.ttft, truth.ttft),
        tpot: error(said.tpot, truth.tpot),
        itl: error(said.itl, truth.itl),
        e2e: error(said.e2e, truth.e2e),
        cpu_us_per_event: cpu * 1e6 / events,
        peak_mib: seen.peak_bytes as f64 / f64::from(1 << 20),
        events: truth.events,
        events_per_s: events / span.max(1e-9),
        certificate: said.certificate.clone(),
        reasons: said.reasons.clone(),
        server_late_p99_ms: truth.late_p99,
        ..Measured::default()
    };
    if let Load::Rate(rate) = scenario.load {
        arrived(&mut measured, said, requests, rate);
    }
    measured
}

/// What the server saw of the arrivals.
fn arrived(measured: &mut Measured, said: &Said, requests: &[Request], rate: f64) {
    let at: Vec<u64> = requests.iter().map(|request| request.head_rx_ns).collect();
    let reached = arrivals::rate(&at);
    let scheduled: Vec<u64> = said
        .requests
        .iter()
        .map(|request| request.scheduled_ns)
        .collect();
    let meant = arrivals::rate(&scheduled).unwrap_or(rate);
    measured.rate = reached;
    measured.rate_error = reached.map(|reached| reached / meant - 1.0);
    let gaps = arrivals::gaps(at);
    measured.ks = Some(arrivals::ks_distance(&gaps, rate));
    measured.ks_limit = Some(arrivals::ks_limit(gaps.len()));
    let received: BTreeMap<&str, u64> = requests
        .iter()
        .map(|request| (request.client_id.as_str(), request.head_rx_ns))
        .collect();
    let slots: Vec<Slot> = said
        .requests
        .iter()
        .filter_map(|request| {
            Some(Slot {
                scheduled_ns: request.scheduled_ns,
                sent_ns: request.sent_ns?,
                received_ns: *received.get(request.id.as_str())?,
            })
        })
        .collect();
    if !slots.is_empty() {
        let late = Percentiles::of(arrivals::lateness(&slots));
        measured.late_p50_ms = Some(late.p50);
        measured.late_p99_ms = Some(late.p99);
    }
}
