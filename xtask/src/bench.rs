//! `cargo xtask bench`: the instrument, a floor client and, on request, the tools people use now, side by side against a
//! server that knows the truth. Writes docs/benchmarks.md.
//!
//! The server has one core for itself, the client's whole process tree another. What a client reports at a percentile, less
//! what the server's log says there, is the client's error.

mod arrivals; // did the process come out as intended
mod bars; // what must hold
mod browser; // what pages cost the browser
mod clients; // who makes the load, and what it says
mod instructions; // counts that do not depend on the day
mod measured; // what came of one client in one scenario
mod peers; // other people's clients
mod place; // which core, which priority
mod report; // docs/benchmarks.md
mod scenario; // what is asked of every client
mod server; // the one that knows
mod statistics; // how often judgement is right
mod truth; // what its log says
mod watch; // what a process tree costs

use crate::command::{cargo, run as run_program};
use crate::needs::Consent;
use crate::paths;
use crate::step::step;
use anyhow::Context;
use clients::Client;
use measured::Measured;
use scenario::{SCENARIOS, Scenario};
use std::path::PathBuf;

/// What `cargo xtask bench` may be told.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// A short one: fewer scenarios, one round
    #[arg(long)]
    quick: bool,
    /// Only these scenarios (their keys); figures of the others are kept from earlier
    #[arg(long, value_name = "KEY")]
    only: Vec<String>,
    /// Rounds of each scenario; the median of them counts
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=20))]
    rounds: u32,
    /// Also run the tools people use now, from Python packages in a virtual environment under target/bench/peers
    #[arg(long)]
    peers: bool,
    /// Another server that keeps such a log, to be judged by it instead
    #[arg(long, value_name = "PATH")]
    truth_server: Option<PathBuf>,
    /// Take the programs as they were built last
    #[arg(long)]
    no_build: bool,
    /// Count instructions under callgrind and compare them with those kept in the repository
    #[arg(long)]
    instructions: bool,
    /// Try judgement on processes whose truth is known, at the full count, and print one table; only the tests whose names
    /// go on with NAME after `statistics_`, where one is given
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "", conflicts_with = "instructions")]
    statistics: Option<String>,
    /// Measure what pages of large studies cost the main thread of a real Chromium, and print one table
    #[arg(long, conflicts_with_all = ["instructions", "statistics"])]
    browser: bool,
    /// With --instructions: keep the counts of today
    #[arg(long, requires = "instructions")]
    keep: bool,
    #[command(flatten)]
    consent: Consent,
}

/// The programs that are measured.
pub struct Programs {
    goodput: PathBuf,
    floor: PathBuf,
    peers: Option<peers::Installed>,
    truth: Option<PathBuf>,
}

/// Measures, judges, writes.
pub fn run(options: &Options) -> anyhow::Result<()> {
    if let Some(only) = &options.statistics {
        return statistics::run(only);
    }
    if options.browser {
        return browser::run(options.consent);
    }
    if options.instructions {
        return instructions::count_all(options.keep, options.no_build, options.consent);
    }
    let programs = programs(options)?;
    let place = place::take();
    println!("    {}", place.in_words());
    let mut all = measured::Store::open(options.truth_server.is_some())?;
    for scenario in chosen(options)? {
        let rounds = if options.quick { 1 } else { options.rounds };
        step(scenario.name, || {
            scenario_rounds(scenario, rounds, &programs, &place, &mut all)
        })?;
        all.save()?;
    }
    let bars = bars::all(&all);
    report::write(&all, &bars, &place)?;
    for bar in &bars {
        println!("{bar}");
    }
    println!("\nwritten: docs/benchmarks.md");
    Ok(())
}

fn chosen(options: &Options) -> anyhow::Result<Vec<&'static Scenario>> {
    let named = |key: &String| {
        SCENARIOS
            .iter()
            .find(|scenario| scenario.key == key)
            .with_context(|| {
                let keys: Vec<_> = SCENARIOS.iter().map(|scenario| scenario.key).collect();
                format!("no scenario is called {key}; there are {}", keys.join(", "))
            })
    };
    if options.only.is_empty() {
        let quick = |scenario: &&Scenario| !options.quick || scenario.quick;
        return Ok(SCENARIOS.iter().filter(quick).collect());
    }
    options.only.iter().map(named).collect()
}

fn programs(options: &Options) -> anyhow::Result<Programs> {
    let release = paths::native_target().join("release");
    if !options.no_build {
        step("goodput and the floor client, release builds", || {
            // In one, so that what both need is built once.
            let build = ["build", "--release", "--locked", "--package", "server"];
            let of = [
                "--package",
                "load",
                "--bin",
                "goodput",
                "--example",
                "floor",
            ];
            run_program(cargo().args(build).args(of))
        })?;
    }
    let peers = match options.peers {
        true => Some(step("other people's clients", || {
            peers::install(options.consent)
        })?),
        false => None,
    };
    Ok(Programs {
        goodput: release.join("goodput"),
        floor: release.join("examples/floor"),
        peers,
        truth: options.truth_server.clone(),
    })
}

fn scenario_rounds(
    scenario: &'static Scenario,
    rounds: u32,
    programs: &Programs,
    place: &place::Place,
    all: &mut measured::Store,
) -> anyhow::Result<()> {
    let mut of_clients: Vec<(Client, Vec<Measured>)> = Client::ALL
        .into_iter()
        .filter(|client| scenario.is_for(*client, programs.peers.is_some()))
        .map(|client| (client, Vec::new()))
        .collect();
    // Round by round, so that a noisy minute hits all of them alike. Others are slow to start: one round for them.
    for round in 0..scenario.rounds(rounds) {
        for (client, runs) in &mut of_clients {
            if round == 0 || !client.is_peer() {
                let run = clients::measure(*client, scenario, round, programs, place)?;
                println!("    {}: {run}", client.name());
                runs.push(run);
            }
        }
    }
    for (client, runs) in of_clients {
        all.put(scenario.key, client, runs);
    }
    Ok(())
}
