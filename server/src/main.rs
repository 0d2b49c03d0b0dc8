//! `goodput`: see [`server::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(server::cli::run(std::env::args_os()))
}
