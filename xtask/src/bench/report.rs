//! docs/benchmarks.md: every figure and every bar, as measured.

use super::bars::{Bar, three};
use super::clients::Client;
use super::measured::{Measured, Percentiles, Store};
use super::place::Place;
use super::scenario::{Load, SCENARIOS, Scenario};
use crate::command::answer;
use crate::paths;
use anyhow::Context;
use std::fmt::Write;
use std::process::Command;

const HEAD: &str = "# Benchmarks of the instrument

Made by `cargo xtask bench`; do not edit. The instrument (`goodput bench`), a *floor* client (the least code that can read
these streams, `load/examples/floor.rs`) and other people's tools make the same load, one after another, on a server that keeps
its own record of when each token left it (`goodput truth`). What a client reports at a percentile, less what that record says
there, is the client's **error**, in milliseconds.

CPU is user and system time of the client's whole process tree between the first request and the last token, over the
tokens written; memory is the sum of the processes' peaks. Rates and lateness are taken from when the server's network stack
received the requests (the kernel's stamps); lateness counts from each request's own slot. Where several rounds were run,
the table and the bars show their median. *Own error of the server*: the 99th percentile over requests of its worst lag behind a deadline.
128 prompt tokens, 64 output tokens, first token after 50 ms, one token an event, unless said otherwise.
";

/// Writes the document.
pub fn write(store: &Store, bars: &[Bar], place: &Place) -> anyhow::Result<()> {
    let mut text = HEAD.to_owned();
    let date = answer(Command::new("date").args(["-u", "+%Y-%m-%d"])).unwrap_or_default();
    let commit = answer(Command::new("git").current_dir(paths::root()).args([
        "rev-parse",
        "--short",
        "HEAD",
    ]));
    let _ = writeln!(
        text,
        "\n{date}, commit {}: {}.\n",
        commit.unwrap_or_default(),
        place.in_words()
    );
    if place.busy() {
        let _ = writeln!(
            text,
            "**Other programs ran on this machine meanwhile** (see the load average): errors and lateness show what they did to each client, so only a quiet run settles a missed bar.\n"
        );
    }
    let _ = writeln!(
        text,
        "## What must hold\n\n| | | figure |\n| --- | --- | --- |"
    );
    for bar in bars {
        let _ = writeln!(
            text,
            "| {} | {} | {} |",
            bar.verdict(),
            bar.what,
            bar.figure
        );
    }
    for scenario in &SCENARIOS {
        table(&mut text, store, scenario);
    }
    let path = paths::at("docs/benchmarks.md");
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn table(text: &mut String, store: &Store, scenario: &Scenario) {
    let measured = |client: &Client| !store.runs(scenario.key, *client).is_empty();
    let clients: Vec<Client> = Client::ALL.into_iter().filter(measured).collect();
    if clients.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "\n## {} (`{}`)\n\n{} requests, {} tokens each, {}.\n",
        scenario.name,
        scenario.key,
        scenario.requests,
        scenario.tokens,
        pauses(scenario)
    );
    let rate = matches!(scenario.load, Load::Rate(_));
    let arrivals = if rate {
        " rate reached | late p99, ms | KS distance (limit) |"
    } else {
        ""
    };
    let lines = if rate { " --- | --- | --- |" } else { "" };
    let _ = writeln!(
        text,
        "| client | rounds | TTFT error p50 / p95 / p99 | TPOT error p50 / p95 / p99 | ITL error p50 / p95 / p99 | E2E error p50 / p95 / p99 | CPU per token, µs | tokens/s | peak memory, MiB |{arrivals} certificate | own error of the server, ms |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |{lines} --- | --- |"
    );
    for client in clients {
        row(text, store, scenario.key, client, rate);
    }
}

fn pauses(scenario: &Scenario) -> String {
    if scenario.blast {
        "no pauses".to_owned()
    } else {
        format!("a token every {} ms", scenario.itl_ms)
    }
}

fn row(text: &mut String, store: &Store, key: &str, client: Client, rate: bool) {
    let of = |figure: &dyn Fn(&Measured) -> Option<f64>| store.median(key, client, figure);
    let shown = |value: Option<f64>| value.map_or("-".to_owned(), three);
    let error = |metric: fn(&Measured) -> Option<Percentiles>| {
        let at = |p: fn(Percentiles) -> f64| shown(of(&|run| Some(p(metric(run)?))));
        format!("{} / {} / {}", at(|e| e.p50), at(|e| e.p95), at(|e| e.p99))
    };
    let runs = store.runs(key, client);
    let _ = write!(
        text,
        "| {} | {} | {} | {} | {} | {} | {} | {:.0} | {:.0} |",
        client.name(),
        runs.len(),
        error(|run| run.ttft),
        error(|run| run.tpot),
        error(|run| run.itl),
        error(|run| run.e2e),
        shown(of(&|run| Some(run.cpu_us_per_event))),
        of(&|run| Some(run.events_per_s)).unwrap_or_default(),
        of(&|run| Some(run.peak_mib)).unwrap_or_default(),
    );
    if rate {
        let limit = of(&|run| run.ks_limit).unwrap_or_default();
        let _ = write!(
            text,
            " {} | {} | {} ({limit:.3}) |",
            shown(of(&|run| run.rate)),
            shown(of(&|run| run.late_p99_ms)),
            shown(of(&|run| run.ks)),
        );
    }
    let certificates: Vec<String> = runs
        .iter()
        .filter_map(|run| run.certificate.clone())
        .collect();
    let _ = writeln!(
        text,
        " {} | {} |",
        certificates.join(", "),
        shown(of(&|run| Some(run.server_late_p99_ms)))
    );
}
