//! What pages cost the browser's one thread: ignored tests of a real Chromium that print rows.

use super::statistics;
use crate::needs::Consent;
use crate::step::step;
use crate::test;
use anyhow::bail;

/// Where the table is left.
const TABLE: &str = "target/bench/browser.md";

/// Builds module and binary, runs the benches one after another, and prints one table.
pub fn run(consent: Consent) -> anyhow::Result<()> {
    let rows = step("pages of large studies in Chromium", || {
        test::with_browser(consent, |command| {
            command.args(["--test", "it", "--", "--ignored", "--nocapture"]);
            statistics::printed(command.args(["--test-threads=1", "statistics_browser"]))
        })
    })?;
    if rows.is_empty() {
        bail!("no test printed a row");
    }
    statistics::show(&rows, TABLE)
}
