//! Ramp, steady part and drain of a point, and whether it stood still: an annotation, applied to nothing by itself.
//!
//! A point begins with an empty engine and ends with no more arrivals. What lies between may be steady, or not: whoever
//! wants figures of another part than all of it takes a [`Window`] and computes them anew.

use serde::{Deserialize, Serialize};

use crate::quantile::Memory;
use crate::score::Score;
use crate::units::Nanos;

mod ramp; // where it ends
pub mod trend; // does it rise

pub use trend::{Direction, Trend};

/// A part of a point, by when requests are due: from the first instant, up to but without the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// Its beginning, from the point's start.
    pub from: Nanos,
    /// Its end.
    pub to: Nanos,
}

impl Window {
    /// Whether a request that is due then is part of it.
    pub fn holds(&self, scheduled: Nanos) -> bool {
        self.from <= scheduled && scheduled < self.to
    }

    /// The requests that are part of it.
    pub fn of(&self, scores: &[Score]) -> Vec<Score> {
        let inside = scores.iter().filter(|score| self.holds(score.scheduled));
        inside.copied().collect()
    }
}

/// The parts of a point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steady {
    /// Between ramp and drain: from where requests in flight no longer climb from an empty engine, to the last start of a
    /// session. The ramp lies before it, the drain after it. `None` where no such part was found: the point is too short, or not
    /// steady, or remembers for too long to be told apart from one that is not.
    pub window: Option<Window>,
    /// When the last request was answered.
    pub end: Nanos,
    /// Requests in flight, within the window or else over all arrivals.
    pub in_flight: Trend,
    /// Time to first token in seconds, within the same.
    pub ttft: Trend,
}

/// Finds the parts of a point; `None` for fewer than [`trend::FEWEST`] requests that were sent. Scores in any order.
pub fn find(scores: &[Score]) -> Option<Steady> {
    let mut sent: Vec<&Score> = scores.iter().filter(|score| score.sent.is_some()).collect();
    sent.sort_by_key(|score| (score.sent, score.scheduled));
    if sent.len() < trend::FEWEST {
        return None;
    }
    let starts = sent.iter().filter(|score| score.turn == 0);
    let last = starts.map(|score| score.scheduled).max();
    let last = last.or_else(|| sent.last().map(|score| score.scheduled))?;
    // What follows the last start of a session is its rest: nobody new comes.
    let seen: Vec<(Nanos, (f64, f64))> = in_flight_seen(&sent)
        .into_iter()
        .zip(&sent)
        .map(|(seen, score)| (score.scheduled, seen))
        .filter(|(scheduled, _)| *scheduled <= last)
        .collect();
    let window = window(&seen, last);
    let from = window.map_or(Nanos::ZERO, |window| window.from);
    let is_part = |scheduled: Nanos| from <= scheduled && scheduled <= last;
    let waits = sent.iter().filter(|score| is_part(score.scheduled));
    let waits: Vec<(f64, f64)> = waits
        .filter_map(|score| Some((score.sent?.as_secs_f64(), score.ttft?.as_secs_f64())))
        .collect();
    Some(Steady {
        window,
        end: sent.iter().filter_map(|score| end(score)).max()?,
        in_flight: level(&since(&seen, from)),
        ttft: level(&waits),
    })
}

/// From where the ramp ends to the last start, if requests in flight stand still there.
fn window(seen: &[(Nanos, (f64, f64))], last: Nanos) -> Option<Window> {
    let values: Vec<f64> = seen.iter().map(|(_, (_, value))| *value).collect();
    let (from, _) = *seen.get(ramp::end(&values)?)?;
    let trend = level(&since(seen, from));
    (trend.direction == Direction::Level).then_some(Window {
        from,
        to: Nanos(last.0 + 1),
    })
}

/// What was seen from an instant on.
fn since(seen: &[(Nanos, (f64, f64))], from: Nanos) -> Vec<(f64, f64)> {
    let those = seen.iter().filter(|(scheduled, _)| from <= *scheduled);
    those.map(|(_, it)| *it).collect()
}

/// Which way a series goes. One that remembers so long that it is worth fewer values than the test has blocks may have climbed and
/// fallen again by chance or not: that it has no direction does not say that it stands still.
fn level(series: &[(f64, f64)]) -> Trend {
    let mut trend = trend::of(series);
    let values: Vec<f64> = series.iter().map(|it| it.1).collect();
    if trend.direction == Direction::Level && Memory::of(&values).worth() < trend::BLOCKS as f64 {
        trend.direction = Direction::CannotTell;
    }
    trend
}

/// When a request ended: with its answer, or when it was sent where it had none.
fn end(score: &Score) -> Option<Nanos> {
    Some(score.sent? + score.e2e.unwrap_or_default())
}

/// How many requests each one finds in flight as it is sent, with when that is in seconds. `sent` in order.
fn in_flight_seen(sent: &[&Score]) -> Vec<(f64, f64)> {
    let mut ends: Vec<Nanos> = sent.iter().filter_map(|score| end(score)).collect();
    ends.sort_unstable();
    let found = |(before, score): (usize, &&Score)| {
        let at = score.sent?;
        // Those that ended in the same instant are gone. A request without a length was never in flight.
        let gone = ends.partition_point(|end| *end <= at).min(before);
        Some((at.as_secs_f64(), (before - gone) as f64))
    };
    sent.iter().enumerate().filter_map(found).collect()
}

#[cfg(test)]
mod tests;
