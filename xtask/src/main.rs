//! `cargo xtask ...`: builds, demonstrates, tests and tidies the project.
//!
//! One module per command. Each command first sets up what it needs, says what it does and how long
//! that took, and does only what changed when it runs again.

mod background; // programs that run beside us
mod bench; // the instrument beside others, judged by a server that knows
mod command; // running other programs
mod demo; // everything, up to a served study
mod dist; // the one binary
mod engine; // a real engine, installed and started
mod fingerprint; // has anything changed since last time
mod fuzz; // bytes that nobody would send
mod needs; // programs and Debian packages that must be there
mod npm; // plotly.js and axe-core
mod paths; // where things are
mod release; // the binary with the browser's part inside
mod screens; // pictures of the pages
mod step; // one line before, one line after
mod test; // everything that must hold
mod tidy; // what the compiler does not check
mod web; // app + frontend -> target/site

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Builds, demonstrates, tests and tidies Goodput Studio.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version)]
struct Xtask {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build what the browser gets: WASM, script, styles, plotly, compressed and named by content
    Web(web::Options),
    /// Set everything up, run the goodput exercise on the simulated engine, and serve what came out
    Demo(demo::Options),
    /// Set up what the tests need and run them all, with lints and formatting
    Test(test::Options),
    /// Check what the compiler does not: who imports whom, documents, migrations
    Tidy,
    /// Leave the one self-contained binary in target/dist
    Dist(needs::Consent),
    /// Measure the instrument against the truth, a floor client and other people's tools
    Bench(bench::Options),
    /// Install and start a real engine on loopback
    Engine(engine::Options),
    /// Take pictures of every page for the documentation
    Screens(needs::Consent),
    /// Give what reads an engine's bytes such as nobody would send
    Fuzz(fuzz::Options),
}

fn main() -> ExitCode {
    let outcome = match Xtask::parse().command {
        Command::Web(options) => web::run(&options),
        Command::Demo(options) => demo::run(&options),
        Command::Test(options) => test::run(&options),
        Command::Tidy => step::step("tidy", tidy::run),
        Command::Dist(consent) => dist::run(consent),
        Command::Bench(options) => bench::run(&options),
        Command::Engine(options) => engine::run(&options),
        Command::Screens(consent) => screens::take(consent),
        Command::Fuzz(options) => fuzz::run(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
