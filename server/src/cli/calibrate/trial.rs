//! One rung: a truth server and the instrument as processes of their own, and what the two say of each other.

use std::fmt;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use measure::quantile::percentile_linear;
use measure::units::Nanos;
use serde_json::Value;
use sim::truth::Record;

use super::apart;
use super::ladder::{Load, Rung};

/// An error beyond this spoils what is measured: 1 % of a 500 ms TTFT bound, as the certificate has it.
const MOST_ERROR: Nanos = Nanos::from_millis(5);
/// Once asked to end, the truth server gets so long to write its log.
const GRACE: Duration = Duration::from_secs(10);

/// Why a rung could not be tried.
#[derive(Debug, thiserror::Error)]
pub(super) enum TrialError {
    #[error("cannot start goodput itself as another process")]
    Start(#[source] std::io::Error),
    #[error(
        "cannot keep the figures of a trial in the folder for temporary files; make room there"
    )]
    Folder(#[source] std::io::Error),
    #[error("the truth server did not start")]
    NoServer,
    #[error("the result of a trial cannot be read: {0}")]
    Result(String),
}

/// What came of a rung.
pub(super) struct Trial {
    pub rate: Option<f64>,
    pub streams: u32,
    pub chunks_per_s: f64,
    pub ttft_error_p99: Nanos,
    pub itl_error_p99: Nanos,
    /// Why it does not count.
    pub broken: Option<String>,
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ttft, itl) = (self.ttft_error_p99, self.itl_error_p99);
        write!(f, "error p99 TTFT {ttft}, ITL {itl}; ")?;
        match &self.broken {
            None => f.write_str("holds"),
            Some(why) => write!(f, "no more: {why}"),
        }
    }
}

/// Ends the server however the trial ends.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Tries a rung.
pub(super) fn run(rung: &Rung) -> Result<Trial, TrialError> {
    let folder = tempfile::Builder::new()
        .prefix("goodput-calibrate-")
        .tempdir()
        .map_err(TrialError::Folder)?;
    in_folder(rung, folder.path())
}

fn in_folder(rung: &Rung, folder: &Path) -> Result<Trial, TrialError> {
    let (log, out) = (folder.join("truth.jsonl"), folder.join("out.json"));
    let program = std::env::current_exe().map_err(TrialError::Start)?;
    let mut server = Server(
        Command::new(&program)
            .args([
                "truth",
                "--with-parent",
                "--ttft-ms",
                &rung.ttft_ms.to_string(),
            ])
            .args(["--itl-ms", &rung.itl_ms.to_string()])
            .arg("--log")
            .arg(&log)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(TrialError::Start)?,
    );
    let url = url(&mut server.0).ok_or(TrialError::NoServer)?;
    bench(&program, rung, &url, &out)?;
    end(&mut server.0);
    let text = std::fs::read_to_string(&log).map_err(TrialError::Folder)?;
    let truth: Result<Vec<Record>, _> = text.lines().map(serde_json::from_str).collect();
    let truth = truth.map_err(|error| TrialError::Result(error.to_string()))?;
    let bytes = std::fs::read(&out).map_err(TrialError::Folder)?;
    let said: Value =
        serde_json::from_slice(&bytes).map_err(|error| TrialError::Result(error.to_string()))?;
    Ok(judge(&said, &truth))
}

/// The address on the server's first line.
fn url(server: &mut Child) -> Option<String> {
    let mut line = String::new();
    BufReader::new(server.stdout.take()?)
        .read_line(&mut line)
        .ok()?;
    Some(line.split_once(" on ")?.1.trim().to_owned())
}

fn bench(program: &Path, rung: &Rung, url: &str, out: &Path) -> Result<(), TrialError> {
    let mut bench = Command::new(program);
    bench
        .args(["bench", "--url", url, "--api", "openai.completions"])
        .args(["--model", sim::truth::MODEL, "--no-probe"])
        .args(["--requests", &rung.requests.to_string()])
        .args(["--input-tokens", "32"])
        .args(["--output-tokens", &rung.tokens.to_string()])
        .arg("--json")
        .arg(out)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    match rung.load {
        Load::Rate(rate) => bench.args(["--rate", &rate.to_string()]),
        Load::Streams(streams) => bench.args(["--concurrency", &streams.to_string()]),
    };
    // A failure shows in its result, or in that there is none.
    bench.status().map(drop).map_err(TrialError::Start)
}

/// Asks the server to end, and waits until its log is whole.
fn end(server: &mut Child) {
    use rustix::process::{Pid, Signal, kill_process};
    let Some(pid) = i32::try_from(server.id()).ok().and_then(Pid::from_raw) else {
        return;
    };
    let _ = kill_process(pid, Signal::TERM);
    let began = Instant::now();
    while began.elapsed() < GRACE && matches!(server.try_wait(), Ok(None)) {
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn judge(said: &Value, truth: &[Record]) -> Trial {
    let summary = &said["summary"];
    let reported = |metric: &str| summary[metric]["p99_ns"].as_u64().map(Nanos);
    let ttft = truth
        .iter()
        .map(|record| record.first_ns.saturating_sub(record.rx_ns));
    let gaps = truth
        .iter()
        .flat_map(|record| record.tok_ns.windows(2).map(|pair| pair[1] - pair[0]));
    // Where a figure is missing, nothing can be said for it.
    let error = |said: Option<Nanos>, truth: Option<Nanos>| {
        said.zip(truth)
            .map_or(Nanos(u64::MAX), |(said, truth)| apart(said, truth))
    };
    let (ttft_error_p99, itl_error_p99) = (
        error(reported("ttft"), p99(ttft.collect())),
        error(reported("itl"), p99(gaps.collect())),
    );
    let chunks: u64 = truth
        .iter()
        .map(|record| u64::from(record.sent_tokens))
        .sum();
    let seconds = Nanos(summary["duration_ns"].as_u64().unwrap_or_default()).as_secs_f64();
    Trial {
        rate: summary["sent_rate"].as_f64(),
        streams: summary["max_in_flight"].as_u64().unwrap_or_default() as u32,
        chunks_per_s: if 0.0 < seconds {
            chunks as f64 / seconds
        } else {
            0.0
        },
        ttft_error_p99,
        itl_error_p99,
        broken: broken(summary, ttft_error_p99.max(itl_error_p99)),
    }
}

fn broken(summary: &Value, error: Nanos) -> Option<String> {
    let failed = summary["failed"].as_u64().unwrap_or(u64::MAX);
    let innocence = &summary["certificate"]["innocence"];
    match () {
        () if failed == u64::MAX => Some("it left no result".to_owned()),
        () if 0 < failed => Some(format!("{failed} requests failed")),
        () if innocence != "clean" => {
            let first = &summary["certificate"]["reasons"][0];
            Some(
                first
                    .as_str()
                    .unwrap_or("the certificate is not clean")
                    .to_owned(),
            )
        }
        () if MOST_ERROR < error => Some(format!("its figures are off by {error}")),
        () => None,
    }
}

fn p99(values: Vec<u64>) -> Option<Nanos> {
    let mut values: Vec<f64> = values.into_iter().map(|value| value as f64).collect();
    values.sort_unstable_by(f64::total_cmp);
    percentile_linear(&values, 99.0).map(|value| Nanos(value.round() as u64))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn truth() -> Vec<Record> {
        vec![Record {
            rx_ns: 1_000_000,
            first_ns: 21_000_000,
            sent_tokens: 2,
            tok_ns: vec![21_000_000, 31_000_000],
            ..Record::default()
        }]
    }

    #[track_caller]
    fn check(summary: Value, broken: Option<&str>) {
        let trial = judge(&json!({ "summary": summary }), &truth());
        assert_eq!(
            trial.broken.is_some(),
            broken.is_some_and(|said| trial
                .broken
                .as_ref()
                .is_some_and(|broken| broken.contains(said))),
            "{trial}"
        );
    }

    fn summary(ttft: u64, innocence: &str, failed: u64) -> Value {
        json!({
            "ttft": { "p99_ns": ttft }, "itl": { "p99_ns": 10_100_000 }, "duration_ns": 1_000_000_000, "failed": failed,
            "certificate": { "innocence": innocence, "reasons": ["The client sent late."] },
        })
    }

    #[test]
    fn a_rung_holds_while_the_certificate_is_clean_and_the_figures_are_true() {
        check(summary(20_050_000, "clean", 0), None);
        check(summary(20_050_000, "suspect", 0), Some("sent late"));
        check(summary(20_050_000, "clean", 3), Some("3 requests failed"));
        check(summary(26_000_000, "clean", 0), Some("off by"));
        check(json!({}), Some("no result"));
    }

    #[test]
    fn errors_are_what_is_said_less_what_is_true() {
        let said = json!({ "summary": summary(20_050_000, "clean", 0) });
        let trial = judge(&said, &truth());
        assert_eq!(
            (
                trial.ttft_error_p99,
                trial.itl_error_p99,
                trial.chunks_per_s
            ),
            (Nanos(50_000), Nanos(100_000), 2.0)
        );
    }
}
