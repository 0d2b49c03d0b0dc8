//! Programs and Debian packages that must be there; what is missing is installed, with consent.

use crate::command::{answer, find, run_quietly};
use anyhow::{Context, bail};
use std::io::{BufRead, IsTerminal, Write};
use std::path::PathBuf;
use std::process::Command;

/// May packages be installed? `--yes` says so beforehand; a person at a terminal is asked; without a
/// terminal (a build machine) starting the command is the consent, and what is installed is printed.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct Consent {
    /// Install missing packages without asking
    #[arg(long)]
    pub yes: bool,
}

/// A program on the search path, or one sentence with the mend.
pub fn program(name: &str, mend: &str) -> anyhow::Result<PathBuf> {
    find(name).with_context(|| format!("{name} is missing: {mend}"))
}

/// Makes sure of the program by installing these Debian packages when it is not there.
pub fn program_or_packages(
    name: &str,
    packages: &[&str],
    why: &str,
    consent: Consent,
) -> anyhow::Result<PathBuf> {
    if let Some(found) = find(name) {
        return Ok(found);
    }
    install(packages, why, consent)?;
    find(name).with_context(|| {
        format!(
            "{name} is still missing after installing {}",
            packages.join(" ")
        )
    })
}

/// Installs Debian packages that are needed for `why`.
pub fn install(packages: &[&str], why: &str, consent: Consent) -> anyhow::Result<()> {
    let list = packages.join(" ");
    if find("apt-get").is_none() {
        bail!(
            "{why} needs what Debian calls {list}: install it with this system's package manager"
        );
    }
    let sudo = sudo()
        .with_context(|| format!("{why} needs {list}: run `apt-get install {list}` as root"))?;
    if !agreed(consent, &list, why)? {
        bail!("{why} needs {list}: install it, or run this command again with --yes");
    }
    println!("    installing {list} ({why})");
    run_quietly(apt(sudo).args(["update", "-qq"])).context("cannot read Debian's package lists")?;
    run_quietly(
        apt(sudo)
            .args(["install", "-y", "-qq", "--no-install-recommends"])
            .args(packages),
    )
    .with_context(|| format!("cannot install {list}"))
}

/// Whether a Debian package is installed.
pub fn is_installed(package: &str) -> bool {
    let query =
        answer(Command::new("dpkg-query").args(["-W", "-f", "${db:Status-Status}", package]));
    query.as_deref() == Some("installed")
}

/// Whether we are the superuser.
pub fn is_root() -> bool {
    answer(Command::new("id").arg("-u")).as_deref() == Some("0")
}

/// Whether `sudo` has to stand in front of a command; an error when it has to and is not there.
fn sudo() -> anyhow::Result<bool> {
    if is_root() {
        return Ok(false);
    }
    program("sudo", "become root or install sudo")?;
    Ok(true)
}

fn apt(sudo: bool) -> Command {
    let mut command = Command::new(if sudo { "sudo" } else { "env" });
    command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get"]);
    command
}

fn agreed(consent: Consent, list: &str, why: &str) -> anyhow::Result<bool> {
    if consent.yes || !std::io::stdin().is_terminal() {
        return Ok(true);
    }
    print!("    {why} needs the Debian packages {list}. Install them now? [Y/n] ");
    std::io::stdout().flush()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(is_yes(&line))
}

fn is_yes(line: &str) -> bool {
    matches!(line.trim().to_lowercase().as_str(), "" | "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_line_agrees_and_no_refuses() {
        assert!(is_yes("\n") && is_yes("Y\n") && is_yes("yes"));
        assert!(!is_yes("n\n") && !is_yes("what?"));
    }

    #[test]
    fn a_missing_program_is_one_sentence_with_the_mend() {
        let said = program("no-such-program", "install it").map_err(|error| error.to_string());
        assert_eq!(
            said,
            Err("no-such-program is missing: install it".to_owned())
        );
    }
}
