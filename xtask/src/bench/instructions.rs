//! Instruction counts under callgrind: wall times are noise, counts are not. They depend on the compiler, whose version is
//! kept with them; under another one nothing is compared.

use crate::command::{answer, cargo, run, run_quietly};
use crate::needs::{self, Consent};
use crate::paths;
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Where the counts are kept.
const KEPT: &str = "load/benches/instructions.json";
/// More than this is a regression; less by as much should be kept.
const TOLERANCE: f64 = 0.03;
/// Times that each thing is done; what is done before and after is subtracted.
const TIMES: u64 = 50;

/// Counts, and what they hold for.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Counts {
    rustc: String,
    target: String,
    /// Instructions for doing it once.
    instructions: BTreeMap<String, u64>,
}

/// Counts, compares, and keeps the counts when asked to.
pub fn count_all(keep: bool, no_build: bool, consent: Consent) -> anyhow::Result<()> {
    needs::program_or_packages("valgrind", &["valgrind"], "counting instructions", consent)?;
    if !no_build {
        // With the server, so that both get the same parts of what they share, and are built once.
        let build = ["build", "--release", "--locked", "--package", "server"];
        run(cargo()
            .args(build)
            .args(["--package", "load", "--example", "counted"]))?;
    }
    let program = paths::native_target().join("release/examples/counted");
    let names =
        answer(&mut Command::new(&program)).context("counted does not say what it counts")?;
    let mut instructions = BTreeMap::new();
    for name in names.lines() {
        let count = count(&program, name, TIMES)?.saturating_sub(count(&program, name, 0)?) / TIMES;
        println!("    {name}: {count} instructions");
        instructions.insert(name.to_owned(), count);
    }
    let (rustc, target) = compiler()?;
    let counts = Counts {
        rustc,
        target,
        instructions,
    };
    let path = paths::at(KEPT);
    if keep {
        std::fs::write(&path, serde_json::to_string_pretty(&counts)? + "\n")?;
        println!("kept in {KEPT}");
        return Ok(());
    }
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("no counts in {KEPT}: keep some with --keep"))?;
    let kept: Counts =
        serde_json::from_str(&text).with_context(|| format!("{KEPT} holds no counts"))?;
    let findings = compare(&kept, &counts);
    if let Some(other) = other_compiler(&kept, &counts) {
        println!("{other}");
        return Ok(());
    }
    if !findings.is_empty() {
        bail!("instruction counts changed:\n{}", findings.join("\n"));
    }
    println!("all within {:.0} % of {KEPT}", 100.0 * TOLERANCE);
    Ok(())
}

fn other_compiler(kept: &Counts, counts: &Counts) -> Option<String> {
    let same = (&kept.rustc, &kept.target) == (&counts.rustc, &counts.target);
    (!same).then(|| {
        format!(
            "not compared: the counts kept are those of {} for {}, this is {} for {}; keep new ones with --keep",
            kept.rustc, kept.target, counts.rustc, counts.target
        )
    })
}

/// What changed by more than the tolerance, came, or went.
fn compare(kept: &Counts, counts: &Counts) -> Vec<String> {
    let mut findings = Vec::new();
    for (name, before) in &kept.instructions {
        match counts.instructions.get(name) {
            None => findings.push(format!(
                "{name} is counted no more: keep new counts with --keep"
            )),
            Some(now) => {
                let change = *now as f64 / *before as f64 - 1.0;
                if TOLERANCE < change.abs() {
                    let mend = if change < 0.0 {
                        "better: keep it with --keep"
                    } else {
                        "more work than before"
                    };
                    findings.push(format!(
                        "{name}: {before} -> {now} ({:+.1} %), {mend}",
                        100.0 * change
                    ));
                }
            }
        }
    }
    let new = counts
        .instructions
        .keys()
        .filter(|name| !kept.instructions.contains_key(*name));
    findings.extend(new.map(|name| format!("{name} is new: keep it with --keep")));
    findings
}

fn count(program: &Path, name: &str, times: u64) -> anyhow::Result<u64> {
    let out = paths::at("target/bench/callgrind.out");
    if let Some(folder) = out.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut command = Command::new("valgrind");
    command
        .args([
            "--tool=callgrind",
            &format!("--callgrind-out-file={}", out.display()),
        ])
        .arg(program)
        .args([name, &times.to_string()]);
    run_quietly(&mut command)?;
    let text = std::fs::read_to_string(&out)?;
    let total = text.lines().find_map(|line| {
        line.strip_prefix("summary: ")
            .or_else(|| line.strip_prefix("totals: "))
    });
    let total = total.and_then(|total| total.trim().parse().ok());
    total.context("callgrind's file has no total")
}

fn compiler() -> anyhow::Result<(String, String)> {
    let said =
        answer(Command::new("rustc").arg("-vV")).context("rustc does not say its version")?;
    let of = |name: &str| {
        said.lines()
            .find_map(|line| line.strip_prefix(name))
            .unwrap_or_default()
            .to_owned()
    };
    Ok((of("release: "), of("host: ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(rustc: &str, decode: u64) -> Counts {
        Counts {
            rustc: rustc.into(),
            target: "t".into(),
            instructions: [("decode".to_owned(), decode)].into(),
        }
    }

    #[test]
    fn more_than_the_tolerance_is_found_either_way() {
        let kept = counts("1", 1000);
        assert_eq!(compare(&kept, &counts("1", 1029)).len(), 0);
        assert!(compare(&kept, &counts("1", 1031))[0].contains("more work"));
        assert!(compare(&kept, &counts("1", 900))[0].contains("better"));
    }

    #[test]
    fn another_compiler_is_not_compared() {
        assert!(other_compiler(&counts("1", 1), &counts("2", 1)).is_some());
        assert!(other_compiler(&counts("1", 1), &counts("1", 2)).is_none());
    }
}
