//! `cargo xtask demo`: from a fresh clone to a studio with a measured study in it.
//!
//! Builds the one binary and becomes it: `goodput demo` serves the studio, runs the goodput exercise on
//! the embedded simulated engine and prints what came out.

use crate::needs::Consent;
use crate::{paths, release};
use anyhow::{Context, bail};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What `cargo xtask demo` may be told.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Port on 127.0.0.1
    #[arg(long, default_value_t = 7878)]
    port: u16,
    /// Where the demonstration keeps its studies
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Stop after the study; the exit status is 0 only if every point finished
    #[arg(long)]
    exit: bool,
    #[command(flatten)]
    consent: Consent,
}

/// Builds what has changed and runs the demonstration in our place.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let data_dir = match &options.data_dir {
        Some(folder) => std::path::absolute(folder)?,
        None => paths::at("target/demo-data"),
    };
    check_port(options.port)?;
    let goodput = release::build(options.consent)?;
    let error = command(&goodput, &data_dir, options).exec();
    Err(error).with_context(|| format!("cannot start {}", goodput.display()))
}

fn command(goodput: &Path, data_dir: &Path, options: &Options) -> Command {
    let mut command = Command::new(goodput);
    command
        .arg("demo")
        .args(["--port", &options.port.to_string()])
        .arg("--data-dir")
        .arg(data_dir);
    if options.exit {
        command.arg("--exit");
    }
    command
}

/// Says that a port is taken before minutes of building, not after.
fn check_port(port: u16) -> anyhow::Result<()> {
    if let Err(error) = std::net::TcpListener::bind(("127.0.0.1", port)) {
        bail!("cannot listen on 127.0.0.1:{port} ({error}): name another with --port");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_port_is_noticed_before_building() -> anyhow::Result<()> {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let said = check_port(port).map_err(|error| error.to_string());
        assert!(said.is_err_and(|said| said.ends_with("name another with --port")));
        Ok(())
    }

    #[test]
    fn the_binary_gets_what_we_were_told() {
        let options = Options {
            port: 9,
            data_dir: None,
            exit: true,
            consent: Consent::default(),
        };
        let command = command(Path::new("goodput"), Path::new("/d"), &options);
        assert_eq!(
            command.get_args().collect::<Vec<_>>(),
            ["demo", "--port", "9", "--data-dir", "/d", "--exit"]
        );
    }
}
