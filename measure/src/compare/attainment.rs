//! How many more requests are good.

use crate::slo::{Good, Slo};

use super::sessions::{Session, Sides};
use super::shares::{self, Tallies, Tally};
use super::{Learned, Measured};

/// Candidate - baseline in shares of requests, with its standard error; why not, where the data do not suffice.
pub(super) fn measured(sides: &Sides<'_>, slo: &Slo) -> Result<Measured, String> {
    untold(sides, slo)?;
    let lengths = |runs: &[Vec<Session<'_>>]| runs.iter().map(Vec::len).collect::<Vec<usize>>();
    let (from_runs, to_runs) = (lengths(&sides.baseline), lengths(&sides.candidate));
    let from = tallies(&sides.baseline, &from_runs, slo);
    let to = tallies(&sides.candidate, &to_runs, slo);
    let found = if sides.paired {
        shares::paired(&from, &to)
    } else {
        shares::unpaired(&from, &to)
    };
    let error = found.spread.variance.sqrt();
    let measured = Measured {
        value: found.value,
        below: error,
        above: error,
        bias: 0.0,
        freedom: found.spread.freedom,
        pairs: sides.pairs(),
        repeats: repeats(&from, &to),
        learned: Learned::Nothing,
    };
    match found.spread.judgeable() {
        Ok(()) => Ok(measured),
        Err(why) => measured
            .by_repeats(from_runs.len().max(to_runs.len()))
            .ok_or(why),
    }
}

/// More undetermined requests than this leave nothing to compare: they count as not good, and nobody knows.
const MOST_UNTOLD: f64 = 0.01;

/// Why not, where of too many requests nobody can tell whether they were good.
fn untold(sides: &Sides<'_>, slo: &Slo) -> Result<(), String> {
    for (side, runs) in [
        ("baseline", &sides.baseline),
        ("candidate", &sides.candidate),
    ] {
        let requests = || runs.iter().flatten().flatten();
        let (all, untold) = (
            requests().count(),
            requests()
                .filter(|score| slo.judge_request(score) == Good::Undetermined)
                .count(),
        );
        if MOST_UNTOLD * (all as f64) < untold as f64 {
            return Err(format!(
                "Of {untold} of the {side}'s {all} requests nobody can tell whether they were good: their tokens were not counted."
            ));
        }
    }
    Ok(())
}

fn tallies<'a>(runs: &[Vec<Session<'_>>], lengths: &'a [usize], slo: &Slo) -> Tallies<'a> {
    Tallies {
        sessions: runs.iter().flatten().map(|it| tally(it, slo)).collect(),
        runs: lengths,
    }
}

fn tally(session: &Session<'_>, slo: &Slo) -> Tally {
    let good = session
        .iter()
        .filter(|score| slo.judge_request(score) == Good::Yes)
        .count();
    Tally {
        hits: good as u32,
        all: session.len() as u32,
    }
}

/// The difference of each repeat by itself.
fn repeats(from: &Tallies<'_>, to: &Tallies<'_>) -> Vec<f64> {
    if from.runs.len().min(to.runs.len()) < 2 {
        return Vec::new();
    }
    let pairs = by_run(from).into_iter().zip(by_run(to));
    pairs.map(|(old, new)| new - old).collect()
}

fn by_run(side: &Tallies<'_>) -> Vec<f64> {
    let mut from = 0;
    let of = |length: &usize| {
        let sessions = side.sessions[from..from + length].to_vec();
        from += length;
        Tallies {
            sessions,
            runs: &[],
        }
        .share()
    };
    side.runs.iter().map(of).collect()
}
