//! `cargo xtask ...`: builds, demonstrates, tests and tidies the project.
//!
//! One module per command. Each command first sets up what it needs, says what it does and how long
//! that took, and does only what changed when it runs again.

mod command; // running other programs
mod fingerprint; // has anything changed since last time
mod needs; // programs and Debian packages that must be there
mod npm; // plotly.js and axe-core
mod paths; // where things are
mod step; // one line before, one line after
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
}

fn main() -> ExitCode {
    let outcome = match Xtask::parse().command {
        Command::Web(options) => web::run(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
