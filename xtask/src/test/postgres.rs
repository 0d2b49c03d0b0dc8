//! A PostgreSQL server for one test run: own folder, unix socket only, nothing kept.

use super::scratch::Scratch;
use crate::background::{Background, Start};
use crate::command::{answer, find, run_quietly};
use crate::needs::{self, Consent};
use crate::paths::at;
use anyhow::Context;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A running server. Dropping it stops it.
pub struct Postgres {
    /// Connects as superuser to the database `postgres`.
    pub url: String,
    _process: Background,
}

/// Faster, and safe only because nothing is kept.
const HASTE: [&str; 4] = [
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "max_connections=200",
];

/// Makes and starts a server. PostgreSQL refuses to run as root; then it runs as `postgres`.
pub fn start(scratch: &Scratch, consent: Consent) -> anyhow::Result<Postgres> {
    let programs = programs(consent)?;
    let user = needs::is_root().then_some("postgres");
    let (data, socket) = (scratch.path().join("pg"), scratch.path().join("s"));
    for folder in [&data, &socket] {
        fs::create_dir(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        hand_over(folder, user)?;
    }
    initialise(&programs, &data, user)?;
    let log = at("target/logs/postgres.log");
    let start = Start {
        name: "PostgreSQL",
        user,
        log: &log,
    };
    let mut process = Background::start(
        &start,
        &programs.join("postgres"),
        &arguments(&data, &socket),
    )?;
    process.wait_until(Duration::from_secs(60), |said| {
        said.contains("ready to accept connections").then_some(())
    })?;
    Ok(Postgres {
        url: format!(
            "postgres://postgres@localhost/postgres?host={}",
            socket.display()
        ),
        _process: process,
    })
}

fn initialise(programs: &Path, data: &Path, user: Option<&str>) -> anyhow::Result<()> {
    let initdb = programs.join("initdb");
    let mut command = match user {
        None => Command::new(initdb),
        Some(user) => {
            let mut command = Command::new("setpriv");
            command
                .args(["--reuid", user, "--regid", user, "--init-groups", "--"])
                .arg(initdb);
            command
        }
    };
    command.args([
        "--auth=trust",
        "--username=postgres",
        "--encoding=UTF8",
        "--locale=C.UTF-8",
        "--no-sync",
        "-D",
    ]);
    run_quietly(command.arg(data).current_dir("/")).context("cannot make a database cluster")
}

fn arguments(data: &Path, socket: &Path) -> Vec<String> {
    let mut arguments = vec![
        "-D".to_owned(),
        data.display().to_string(),
        "-k".to_owned(),
        socket.display().to_string(),
    ];
    for setting in ["listen_addresses="].iter().chain(&HASTE) {
        arguments.extend(["-c".to_owned(), (*setting).to_owned()]);
    }
    arguments
}

/// Where PostgreSQL's programs are; installed when missing.
fn programs(consent: Consent) -> anyhow::Result<PathBuf> {
    if let Some(found) = find_programs() {
        return Ok(found);
    }
    needs::install(&["postgresql"], "the store's tests", consent)?;
    find_programs().context("PostgreSQL's initdb is missing: install PostgreSQL's server")
}

/// On the path, or where Debian keeps them, one folder a version.
fn find_programs() -> Option<PathBuf> {
    if let Some(initdb) = find("initdb") {
        return Some(initdb.parent()?.to_path_buf());
    }
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?.flatten();
    let newest = versions
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .max()?;
    let folder = PathBuf::from(format!("/usr/lib/postgresql/{newest}/bin"));
    folder.join("initdb").is_file().then_some(folder)
}

/// Gives a folder to another user.
fn hand_over(folder: &Path, user: Option<&str>) -> anyhow::Result<()> {
    let Some(user) = user else { return Ok(()) };
    let id = answer(Command::new("id").args(["-u", user])).and_then(|id| id.parse().ok());
    let id =
        id.with_context(|| format!("there is no user {user}: PostgreSQL cannot run as root"))?;
    std::os::unix::fs::chown(folder, Some(id), None)
        .with_context(|| format!("cannot give {} to {user}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_listens_on_its_socket_only() {
        let arguments = arguments(Path::new("/d"), Path::new("/s"));
        assert!(arguments.windows(2).any(|pair| pair == ["-k", "/s"]));
        assert!(arguments.contains(&"listen_addresses=".to_owned()));
    }
}
