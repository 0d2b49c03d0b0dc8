//! How often judgement is right: intervals against processes whose truth is known, and whatever else prints rows.
//!
//! Rows come from ignored tests whose names begin with `statistics`, run in a release build. A row is one line on standard
//! output, `statistics | name | count | figure | bar | kept`, the last either `kept` or `missed`
//! (`measure/src/testing/rows.rs` prints them). To add rows, add such a test; to add a crate, name it here. Tests of pages in
//! a browser print such rows too (`bench/browser.rs`).

use crate::command::cargo;
use crate::paths;
use crate::step::step;
use anyhow::{Context, bail};
use std::process::{Command, Stdio};

/// Crates whose tests print rows.
const CRATES: [&str; 2] = ["measure", "sim"];
/// What a row begins with.
const MARK: &str = "statistics |";
/// Where the table is left.
const TABLE: &str = "target/bench/statistics.md";

/// One statement, how often it was tried, what came out, what should, and whether it did.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    name: String,
    count: u64,
    figure: String,
    bar: String,
    kept: bool,
}

/// Runs the tests whose names begin with `statistics` and go on as said, and prints one table of their rows.
pub fn run(only: &str) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    for name in CRATES {
        rows.extend(step(
            &format!("statistics of {name}, at the full count"),
            || rows_of(name, only),
        )?);
    }
    if rows.is_empty() {
        bail!("no test called statistics_{only}... printed a row");
    }
    rows.sort();
    show(&rows, TABLE)
}

/// Prints the table and leaves it in a file.
pub fn show(rows: &[Row], file: &str) -> anyhow::Result<()> {
    let table = table(rows);
    let path = paths::at(file);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(&path, &table)?;
    println!("{table}");
    let kept = rows.iter().filter(|row| row.kept).count();
    println!("{kept} of {} keep their bar; written: {file}", rows.len());
    Ok(())
}

fn rows_of(name: &str, only: &str) -> anyhow::Result<Vec<Row>> {
    let filter = if only.is_empty() {
        "statistics".to_owned()
    } else {
        format!("statistics_{only}")
    };
    let mut command = cargo();
    command
        .args([
            "test",
            "--release",
            "--locked",
            "--package",
            name,
            "--tests",
        ])
        .args(["--", "--ignored", "--nocapture", &filter]);
    printed(&mut command).with_context(|| format!("the statistics of {name}"))
}

/// The rows that a test run prints, in its order.
pub fn printed(command: &mut Command) -> anyhow::Result<Vec<Row>> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .context("cannot run the tests")?;
    let said = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        bail!("they failed ({})\n{said}", output.status);
    }
    said.lines().filter_map(row).collect()
}

/// A row, where a line holds one. Tests run side by side, so it may begin after another's name.
fn row(line: &str) -> Option<anyhow::Result<Row>> {
    let (_, text) = line.split_once(MARK)?;
    let cells: Vec<&str> = text.split('|').map(str::trim).collect();
    Some(parse(&cells).with_context(|| format!("no row: {line}")))
}

fn parse(cells: &[&str]) -> anyhow::Result<Row> {
    let &[name, count, figure, bar, kept] = cells else {
        bail!("a row has name, count, figure, bar and kept");
    };
    Ok(Row {
        name: name.to_owned(),
        count: count.parse().context("the count is no number")?,
        figure: figure.to_owned(),
        bar: bar.to_owned(),
        kept: match kept {
            "kept" => true,
            "missed" => false,
            _ => bail!("a row ends with kept or missed"),
        },
    })
}

fn table(rows: &[Row]) -> String {
    let mut text =
        String::from("| | what | count | figure | bar |\n| --- | --- | --- | --- | --- |\n");
    for Row {
        name,
        count,
        figure,
        bar,
        kept,
    } in rows
    {
        let kept = if *kept { "kept" } else { "MISSED" };
        text += &format!("| {kept} | {name} | {count} | {figure} | {bar} |\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_found_among_what_tests_say() {
        let line = "test a::b ... statistics | p95, n 500 | 1000 | 94.1 % | 93 % | kept";
        let found = row(line).and_then(Result::ok);
        let expected = Row {
            name: "p95, n 500".to_owned(),
            count: 1000,
            figure: "94.1 %".to_owned(),
            bar: "93 %".to_owned(),
            kept: true,
        };
        assert_eq!(found.as_ref(), Some(&expected));
        assert!(table(&[expected]).ends_with("| kept | p95, n 500 | 1000 | 94.1 % | 93 % |\n"));
        assert!(row("test a::b ... ok").is_none());
    }

    #[test]
    fn half_a_row_is_an_error() {
        for line in [
            "statistics | a | 1 | b | kept",
            "statistics | a | x | b | c | kept",
            "statistics | a | 1 | b | c | perhaps",
        ] {
            assert!(row(line).is_some_and(|row| row.is_err()), "{line}");
        }
    }
}
