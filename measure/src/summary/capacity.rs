//! Did the engine keep up with the arrivals?
//!
//! Above capacity every latency grows with the length of the run, so its percentiles say nothing about the engine.
//! The tests ask for a growth that is both beyond chance and large: an engine that falls behind by a factor r makes
//! requests wait (r - 1) seconds longer for every second of the run, noise and a warming engine do not.

use std::collections::BTreeMap;

use crate::request::{ErrorKind, Outcome, RequestRecord};
use crate::units::Nanos;

use super::{Capacity, Discipline};

/// Fewer requests than this say nothing either way.
const FEWEST_REQUESTS: usize = 40;
/// The run is cut into so many blocks of equally many requests. Their medians are compared, since neighbours depend on
/// each other and blocks hardly do.
const BLOCKS: usize = 8;
/// Of the 28 pairs of blocks, how many more must rise than fall: by chance less than once in 350 healthy points.
const RISES: i32 = 22;
/// The last blocks must lie so far above the first ones.
const RATIO: f64 = 1.5;
/// And must have grown by this share of the time between them: below it the engine is within 2 % of keeping up.
const FALLING_BEHIND: f64 = 0.02;
/// And, for stays, single requests must show it as well: the median of the last quarter over that of the first.
const STAY_RATIO: f64 = 1.25;
/// Refused or abandoned requests above this share are load that the engine did not take.
const NOT_TAKEN: f64 = 0.01;

/// The verdict on one point. `records` in order of arrival.
pub(super) fn capacity(records: &[&RequestRecord], discipline: Discipline) -> Capacity {
    if records.len() < FEWEST_REQUESTS {
        return Capacity::Unknown;
    }
    let (refused, otherwise) = match discipline {
        Discipline::OpenLoop => {
            let grows = || waiting_grows(records).or_else(|| backlog_grows(records));
            (not_taken(records).or_else(grows), Capacity::Within)
        }
        // Waits grow with the rate: only what the engine refused is sure.
        Discipline::Changing => (not_taken(records), Capacity::Unknown),
        Discipline::AllAtOnce | Discipline::ClosedLoop => return Capacity::Unknown,
    };
    refused.map_or(otherwise, |why| Capacity::Above { why })
}

/// Completed below sent: the engine refused requests, or left them unanswered until they were given up.
fn not_taken(records: &[&RequestRecord]) -> Option<String> {
    let lost: crate::quantile::Indicator = records.iter().map(|record| is_lost(record)).collect();
    let share = crate::quantile::Proportion::of(&lost)?;
    (NOT_TAKEN < share.lo).then(|| {
        format!(
            "{} of {} requests were refused for load, given up or not answered in time",
            lost.ones(),
            lost.len()
        )
    })
}

/// Failures that load causes.
fn is_lost(record: &RequestRecord) -> bool {
    let kinds = [
        ErrorKind::RateLimited,
        ErrorKind::StallTimeout,
        ErrorKind::Cancelled,
    ];
    matches!(record.outcome, Outcome::Error(kind) if kinds.contains(&kind))
}

/// TTFT grows over the run. Later turns carry longer prompts, so each request is measured against its own turn.
fn waiting_grows(records: &[&RequestRecord]) -> Option<String> {
    let waits: Vec<(u32, f64, f64)> = records
        .iter()
        .filter_map(|record| {
            let wait = if is_lost(record) {
                f64::INFINITY
            } else {
                record.ttft()?.as_secs_f64()
            };
            Some((record.turn, record.sent?.as_secs_f64(), wait))
        })
        .collect();
    let typical = typical_by_turn(&waits);
    let relative: Vec<(f64, f64, f64)> = waits
        .iter()
        .filter_map(|(turn, at, wait)| Some((*at, *wait, wait / typical.get(turn)?)))
        .collect();
    if relative.len() < FEWEST_REQUESTS {
        return None;
    }
    let blocks: Vec<Block> = (0..BLOCKS)
        .map(|i| block(&relative[i * relative.len() / BLOCKS..(i + 1) * relative.len() / BLOCKS]))
        .collect();
    let (from, to) = growth(&blocks)?;
    Some(format!(
        "time to first token grows over the run, from about {} to {}",
        span(from),
        span(to)
    ))
}

/// The median wait of each turn that is frequent enough to have one.
fn typical_by_turn(waits: &[(u32, f64, f64)]) -> BTreeMap<u32, f64> {
    let mut by_turn = BTreeMap::<u32, Vec<f64>>::new();
    for (turn, _, wait) in waits {
        by_turn.entry(*turn).or_default().push(*wait);
    }
    by_turn
        .into_iter()
        .filter(|(_, waits)| BLOCKS <= waits.len())
        .map(|(turn, mut waits)| (turn, median(&mut waits)))
        .filter(|(_, typical)| 0.0 < *typical && typical.is_finite())
        .collect()
}

/// What a stretch of the run looks like: when, how long the wait, and how it compares with the whole run.
struct Block {
    at: f64,
    wait: f64,
    relative: f64,
}

fn block(requests: &[(f64, f64, f64)]) -> Block {
    let of = |part: fn(&(f64, f64, f64)) -> f64| {
        median(&mut requests.iter().map(part).collect::<Vec<f64>>())
    };
    Block {
        at: of(|r| r.0),
        wait: of(|r| r.1),
        relative: of(|r| r.2),
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    crate::quantile::percentile_linear(values, 50.0).unwrap_or(f64::NAN)
}

/// From which wait to which the blocks grow, when they do so beyond chance and by enough to matter.
fn growth(blocks: &[Block]) -> Option<(f64, f64)> {
    let rises: i32 = (0..blocks.len())
        .flat_map(|i| (i + 1..blocks.len()).map(move |j| (i, j)))
        .map(|(i, j)| {
            blocks[j]
                .relative
                .partial_cmp(&blocks[i].relative)
                .map_or(0, |order| order as i32)
        })
        .sum();
    if rises < RISES {
        return None;
    }
    let pair = |a: &Block, b: &Block| Block {
        at: (a.at + b.at) / 2.0,
        wait: (a.wait + b.wait) / 2.0,
        relative: (a.relative + b.relative) / 2.0,
    };
    let (early, late) = (
        pair(&blocks[0], &blocks[1]),
        pair(&blocks[BLOCKS - 2], &blocks[BLOCKS - 1]),
    );
    // What the run's own typical wait would have grown by, so that a changing mix of turns does not count.
    let scale = median(&mut blocks.iter().map(|b| b.wait).collect::<Vec<f64>>());
    let grown = (late.relative - early.relative) * scale;
    let large =
        RATIO * early.relative <= late.relative && FALLING_BEHIND * (late.at - early.at) <= grown;
    large.then_some((early.wait, late.wait))
}

/// Requests in flight grow faster than they are sent: in each stretch of the run, in flight over sent per second is the
/// time that a request stays (Little), whatever the number of open sessions does.
fn backlog_grows(records: &[&RequestRecord]) -> Option<String> {
    let stays: Vec<(f64, f64)> = records
        .iter()
        .filter_map(|record| Some((record.sent?.as_secs_f64(), record.end?.as_secs_f64())))
        .collect();
    let mut sent: Vec<f64> = stays.iter().map(|(sent, _)| *sent).collect();
    sent.sort_unstable_by(f64::total_cmp);
    let (first, last) = (*sent.first()?, *sent.last()?);
    if !stays_lengthen(&stays) {
        return None;
    }
    // Nothing can be in flight for longer than it has been since the start, and sessions fill the engine up until the first of
    // them end: leave out the time that those took.
    let from = first + ramp(records);
    if last - from < (last - first) / 2.0 {
        return None;
    }
    let step = (last - from) / BLOCKS as f64;
    let blocks: Vec<Block> = (0..BLOCKS)
        .map(|i| stay(&stays, &sent, from + step * i as f64, step))
        .collect::<Option<_>>()?;
    let (from, to) = growth(&blocks)?;
    Some(format!(
        "requests stay longer and longer, from about {} to {}",
        span(from),
        span(to)
    ))
}

fn stays_lengthen(stays: &[(f64, f64)]) -> bool {
    let quarter = stays.len() / 4;
    let typical = |part: &[(f64, f64)]| {
        median(
            &mut part
                .iter()
                .map(|(sent, end)| end - sent)
                .collect::<Vec<_>>(),
        )
    };
    STAY_RATIO * typical(&stays[..quarter]) <= typical(&stays[stays.len() - quarter..])
}

/// How long the first eighth of the sessions took, from the first request to the end of the last (the 90th percentile).
fn ramp(records: &[&RequestRecord]) -> f64 {
    let mut sessions = BTreeMap::<u32, (f64, f64)>::new();
    for record in records {
        let (Some(sent), Some(end)) = (record.sent, record.end) else {
            continue;
        };
        let (sent, end) = (sent.as_secs_f64(), end.as_secs_f64());
        let of = sessions.entry(record.session).or_insert((sent, end));
        *of = (of.0.min(sent), of.1.max(end));
    }
    let mut spans: Vec<(f64, f64)> = sessions.into_values().collect();
    spans.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    spans.truncate(spans.len().div_ceil(BLOCKS));
    let mut first: Vec<f64> = spans.iter().map(|(sent, end)| end - sent).collect();
    first.sort_unstable_by(f64::total_cmp);
    crate::quantile::percentile_linear(&first, 90.0).unwrap_or(0.0)
}

/// One stretch of the run by Little's law; `None` when too little was sent in it.
fn stay(stays: &[(f64, f64)], sent: &[f64], from: f64, length: f64) -> Option<Block> {
    let to = from + length;
    let area: f64 = stays
        .iter()
        .map(|(sent, end)| (end.min(to) - sent.max(from)).max(0.0))
        .sum();
    let arrived = sent.partition_point(|at| *at < to) - sent.partition_point(|at| *at < from);
    (3 <= arrived).then(|| {
        let wait = area / arrived as f64;
        Block {
            at: from + length / 2.0,
            wait,
            relative: wait,
        }
    })
}

fn span(seconds: f64) -> String {
    if seconds.is_finite() {
        Nanos::from_secs_f64(seconds).to_string()
    } else {
        "never".to_owned()
    }
}

#[cfg(test)]
mod tests;
