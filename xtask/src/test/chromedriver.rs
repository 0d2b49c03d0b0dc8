//! Chromium's driver on a port of its own choice.

use super::scratch::Scratch;
use crate::background::{Background, Start};
use crate::command::find;
use crate::needs::{self, Consent};
use crate::paths::at;
use anyhow::Context;
use std::path::PathBuf;
use std::time::Duration;

/// A running driver. Dropping it ends it and its browsers.
pub struct Driver {
    pub url: String,
    _process: Background,
}

/// Installs browser and driver when they are missing, and starts the driver.
pub fn start(scratch: &Scratch, consent: Consent) -> anyhow::Result<Driver> {
    let program = program(consent)?;
    let log = at("target/logs/chromedriver.log");
    let start = Start {
        name: "chromedriver",
        user: None,
        log: &log,
    };
    let arguments = [
        format!("TMPDIR={}", scratch.temporary().display()),
        program.display().to_string(),
        "--port=0".to_owned(),
    ];
    let mut process = Background::start(&start, &PathBuf::from("/usr/bin/env"), &arguments)?;
    let port = process.wait_until(Duration::from_secs(30), port)?;
    Ok(Driver {
        url: format!("http://127.0.0.1:{port}"),
        _process: process,
    })
}

fn program(consent: Consent) -> anyhow::Result<PathBuf> {
    let browser = ["chromium", "chromium-browser", "google-chrome"]
        .iter()
        .any(|name| find(name).is_some());
    if let (true, Some(driver)) = (browser, find("chromedriver")) {
        return Ok(driver);
    }
    needs::install(
        &["chromium", "chromium-driver"],
        "the browser tests",
        consent,
    )?;
    find("chromedriver")
        .context("chromedriver is missing: install Chromium and its driver, or use --no-browser")
}

/// The port out of `ChromeDriver was started successfully on port 35657.`
fn port(said: &str) -> Option<u16> {
    let (_, rest) = said.split_once("successfully on port ")?;
    rest.split_once('.')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(said: &str, expected: Option<u16>) {
        assert_eq!(port(said), expected);
    }

    #[test]
    fn the_port_is_the_one_it_got_not_the_one_it_was_given() {
        check("Starting ChromeDriver 156 on port 0\n", None);
        check(
            "... on port 0\nChromeDriver was started successfully on port 35657.\n",
            Some(35657),
        );
    }
}
