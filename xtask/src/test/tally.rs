//! Runs cargo's tests, shows what they say as they say it, and counts what passed.

use anyhow::{Context, bail};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// How many tests ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    passed: u32,
    failed: u32,
    ignored: u32,
}

/// Runs the command; an error says how many tests failed.
pub fn run(mut command: Command) -> anyhow::Result<()> {
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start cargo")?;
    let mut tally = Tally::default();
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines() {
            let line = line?;
            println!("{line}");
            tally.read(&line);
        }
    }
    let status = child.wait()?;
    let Tally {
        passed,
        failed,
        ignored,
    } = tally;
    println!("\n    {passed} tests passed, {failed} failed, {ignored} ignored");
    if !status.success() {
        bail!("{failed} tests failed ({status})");
    }
    if passed == 0 {
        bail!("no test has that name");
    }
    Ok(())
}

impl Tally {
    /// Adds a line like `test result: ok. 15 passed; 0 failed; 1 ignored; ...`.
    fn read(&mut self, line: &str) {
        let Some(result) = line.strip_prefix("test result: ") else {
            return;
        };
        let Some((_, counts)) = result.split_once(". ") else {
            return;
        };
        for count in counts.split("; ") {
            match count
                .split_once(' ')
                .map(|(number, what)| (number.parse::<u32>(), what))
            {
                Some((Ok(number), "passed")) => self.passed += number,
                Some((Ok(number), "failed")) => self.failed += number,
                Some((Ok(number), "ignored")) => self.ignored += number,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_all_binaries_are_added_up() {
        let mut tally = Tally::default();
        tally.read("test result: ok. 15 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.10s");
        tally.read("test a_test ... ok");
        tally.read("test result: FAILED. 2 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.20s");
        assert_eq!(
            tally,
            Tally {
                passed: 17,
                failed: 3,
                ignored: 1
            }
        );
    }
}
