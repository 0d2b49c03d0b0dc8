//! `cargo xtask test`: sets up what the tests need and runs them all.
//!
//! Cheap steps come first. A step that fails does not hide the others: the summary at the end names
//! each with its time, and the exit status is right.

mod chromedriver; // for the browser tests
mod plan; // which steps there are
mod postgres; // for the store tests
mod scratch; // a folder for everything temporary, emptied at the end
mod tally; // how many tests passed

use crate::needs::Consent;
use crate::step::spent;
use anyhow::bail;
use std::process::Command;
use std::time::{Duration, Instant};

/// What `cargo xtask test` may be told.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Options {
    /// Run only tests whose name contains this, and no lints
    filter: Option<String>,
    /// Leave the browser tests out
    #[arg(long)]
    no_browser: bool,
    /// Leave the tests against a real engine out
    #[arg(long)]
    no_engine: bool,
    #[command(flatten)]
    consent: Consent,
}

/// Hands over a `cargo test` that finds module, binary and a running chromedriver.
pub fn with_browser<T>(
    consent: Consent,
    then: impl FnOnce(&mut Command) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let options = Options {
        consent,
        ..Options::default()
    };
    plan::with_browser(&options, then)
}

/// One line of the summary.
struct Done {
    name: &'static str,
    time: Duration,
    error: Option<anyhow::Error>,
}

/// Runs all steps and says how each went.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let began = Instant::now();
    let mut report = Report::default();
    plan::all(options, &mut report);
    report.print();
    println!("all in {}", spent(began.elapsed()));
    match report.failed() {
        0 => Ok(()),
        1 => bail!("one step failed"),
        more => bail!("{more} steps failed"),
    }
}

/// What was done so far.
#[derive(Default)]
struct Report {
    done: Vec<Done>,
    notes: Vec<String>,
}

impl Report {
    /// Does a step and remembers how it went; its result when it went well.
    fn step<T>(
        &mut self,
        name: &'static str,
        work: impl FnOnce() -> anyhow::Result<T>,
    ) -> Option<T> {
        let began = Instant::now();
        let result = crate::step::step(name, work);
        let time = began.elapsed();
        let (value, error) = match result {
            Ok(value) => (Some(value), None),
            Err(error) => (None, Some(error)),
        };
        if let Some(error) = &error {
            println!("    {error:#}");
        }
        self.done.push(Done { name, time, error });
        value
    }

    /// Something that a reader of the summary must not miss.
    fn note(&mut self, note: String) {
        println!("!!! {note}");
        self.notes.push(note);
    }

    fn failed(&self) -> usize {
        self.done.iter().filter(|done| done.error.is_some()).count()
    }

    fn print(&self) {
        println!("\n{:<28} {:>12}", "step", "time");
        for Done { name, time, error } in &self.done {
            let verdict = if error.is_some() { "FAILED" } else { "ok" };
            println!("{name:<28} {:>12}  {verdict}", spent(*time));
        }
        for note in &self.notes {
            println!("!!! {note}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_step_is_counted_and_hides_no_other() {
        let mut report = Report::default();
        assert_eq!(report.step("one", || Ok(1)), Some(1));
        assert_eq!(
            report.step("two", || -> anyhow::Result<()> { bail!("no") }),
            None
        );
        assert_eq!(report.step("three", || Ok(3)), Some(3));
        assert_eq!((report.done.len(), report.failed()), (3, 1));
    }
}
