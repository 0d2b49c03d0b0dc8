//! Running other programs: what they are told, and what is said when they fail.

use anyhow::{Context, bail};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// `cargo`, the same one that started us, in the workspace's root, for a native build.
///
/// What `cargo run` put into our environment must not leak into a second build, nor may a compiler
/// chosen for the web build.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(crate::paths::root());
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(set_by_cargo) {
            command.env_remove(&name);
        }
    }
    command.env_remove("RUSTC").env_remove("RUSTC_BOOTSTRAP");
    command
}

/// Variables that `cargo run` sets for the program it runs.
fn set_by_cargo(name: &str) -> bool {
    name.starts_with("CARGO_PKG_")
        || name.starts_with("CARGO_MANIFEST_")
        || name.starts_with("CARGO_BIN_")
}

/// Runs a program with our own input and output; an error names the program and its exit status.
pub fn run(command: &mut Command) -> anyhow::Result<()> {
    let status = command
        .status()
        .with_context(|| format!("cannot start {}", name(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", line(command));
    }
    Ok(())
}

/// Runs a program without showing its output, unless it fails.
pub fn run_quietly(command: &mut Command) -> anyhow::Result<()> {
    let output = command
        .output()
        .with_context(|| format!("cannot start {}", name(command)))?;
    if !output.status.success() {
        let said = [output.stdout, output.stderr].concat();
        bail!(
            "`{}` failed ({})\n{}",
            line(command),
            output.status,
            String::from_utf8_lossy(&said)
        );
    }
    Ok(())
}

/// What a program writes to its standard output, without the last line break; `None` when it fails.
pub fn answer(command: &mut Command) -> Option<String> {
    let output = command
        .stderr(Stdio::null())
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    Some(
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned(),
    )
}

/// Whether a program succeeds within `limit`; it is ended when time is up and never heard.
pub fn succeeds_within(command: &mut Command, limit: Duration) -> bool {
    let silent = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let Ok(mut child) = silent.spawn() else {
        return false;
    };
    let began = Instant::now();
    while began.elapsed() < limit {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) => std::thread::sleep(Duration::from_millis(50)),
            Err(_) => break,
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    false
}

/// Where a program lies on the search path.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| is_program(file))
}

/// Whether there is a file that may be run.
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file)
        .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

fn name(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}

/// The command as one could type it, without its folder.
fn line(command: &Command) -> String {
    let program = Path::new(command.get_program())
        .file_name()
        .unwrap_or(OsStr::new("?"));
    let words = std::iter::once(program).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_the_command() {
        let error =
            run(Command::new("/bin/sh").args(["-c", "exit 3"])).map_err(|error| error.to_string());
        assert_eq!(
            error,
            Err("`sh -c exit 3` failed (exit status: 3)".to_owned())
        );
    }

    #[test]
    fn a_program_that_takes_too_long_is_ended() {
        let began = Instant::now();
        assert!(!succeeds_within(
            Command::new("sleep").arg("30"),
            Duration::from_millis(100)
        ));
        assert!(began.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn programs_are_found_on_the_path() {
        assert!(find("sh").is_some());
        assert!(find("no-such-program-anywhere").is_none());
    }
}
