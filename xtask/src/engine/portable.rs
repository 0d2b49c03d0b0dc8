//! The same server for processors that lack instructions which the prebuilt program needs.

use super::http;
use crate::command::run_quietly;
use anyhow::Context;
use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// llama.cpp as a library, compiled for any processor with AVX2.
pub const PACKAGE: &str = "xllamacpp==2026.10.11549";
/// That library behind the flags of the program.
pub const LAUNCHER: &str = include_str!("llama_server.py");
const ILLEGAL_INSTRUCTION: i32 = 4;

/// Puts at `server` whatever serves here: the prebuilt program, or the library.
pub fn provide(server: &Path, prebuilt: &Path, weights: &Path) -> anyhow::Result<()> {
    forget(server)?;
    if runs(prebuilt, weights)? {
        return Ok(symlink(prebuilt, server)?);
    }
    println!(
        "    this processor lacks instructions of the prebuilt program: downloading {PACKAGE}"
    );
    let python = server.with_file_name("python");
    let pip = ["-m", "pip", "install", "--quiet", "--only-binary", ":all:"];
    run_quietly(Command::new(&python).args(pip).arg(PACKAGE))?;
    fs::write(server, format!("#!{}\n{LAUNCHER}", python.display()))?;
    Ok(fs::set_permissions(server, Permissions::from_mode(0o755))?)
}

fn forget(server: &Path) -> anyhow::Result<()> {
    match fs::remove_file(server) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// Whether the program gets as far as serving the model; false when the processor refuses one of its instructions.
fn runs(program: &Path, weights: &Path) -> anyhow::Result<bool> {
    let port = http::free_port()?;
    let mut child = Command::new(program)
        .arg("-m")
        .arg(weights)
        .args(["--port", &port.to_string(), "--ctx-size", "256"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot start {}", program.display()))?;
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(60) && http::status(port, "/health") != Some(200) {
        if let Some(status) = child.try_wait()? {
            return Ok(status.signal() != Some(ILLEGAL_INSTRUCTION));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    child.kill()?;
    child.wait()?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dies(of: &str) -> anyhow::Result<bool> {
        let folder = tempfile::tempdir()?;
        let program = folder.path().join("server");
        fs::write(&program, format!("#!/bin/sh\n{of}\n"))?;
        fs::set_permissions(&program, Permissions::from_mode(0o755))?;
        runs(&program, Path::new("weights"))
    }

    #[test]
    fn only_an_illegal_instruction_speaks_against_the_program() -> anyhow::Result<()> {
        assert!(!dies("kill -ILL $$")?);
        assert!(
            dies("exit 1")?,
            "whatever else is wrong is said at the start"
        );
        Ok(())
    }
}
