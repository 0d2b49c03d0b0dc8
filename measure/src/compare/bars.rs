//! What the verdicts promise, tried on many studies whose truth is known.
//!
//! Ordinary tests take few studies a row and allow for chance; the statistics take a thousand and print the table:
//! `cargo xtask bench --statistics verdicts`.

use crate::testing::bars::{Bar, FULL, Row, check, full_count};

mod draws; // runs of engines that are not there
mod frontier; // what can be found without knowing the noise
mod never; // confounded pairs
mod null; // configurations without a difference
mod power; // differences that are there

/// Studies of a row in ordinary tests.
const FEW: u32 = 20;

#[test]
fn false_alarms_are_few_in_few_studies() {
    check(&[null::rows(FEW), never::rows(FEW)].concat());
}

#[test]
fn differences_are_found_in_few_studies() {
    check(&power::rows(FEW));
}

#[test]
#[ignore = "minutes; in release mode, by the bench of statistics"]
fn statistics_verdicts_false_alarms() {
    let count = full_count();
    null::rows(count)
        .iter()
        .chain(&never::rows(count))
        .for_each(Row::print);
}

#[test]
#[ignore = "minutes; in release mode, by the bench of statistics"]
fn statistics_verdicts_found() {
    power::rows(full_count()).iter().for_each(Row::print);
    frontier::row().print();
}
