//! What the client's own records tell.

use super::Case;
use super::gaps::Gaps;
use super::plateau::Plateau;
use super::sorted::{Sorted, share};
use super::streams::{Stream, Streams};
use crate::evidence::Evidence;

/// Requests are late whose first token took so many times the median.
const LATE: f64 = 4.0;
/// Prompts are long that have so many times the median's tokens.
pub(super) const LONG: f64 = 4.0;
/// A crowd is so many times as many in flight as at the median.
const CROWD: f64 = 4.0;

/// Percentiles; times in seconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Spread {
    pub p5: Option<f64>,
    pub p50: Option<f64>,
    pub p90: Option<f64>,
    pub p99: Option<f64>,
}

impl Spread {
    fn of(sorted: &Sorted) -> Self {
        let at = |percentile| sorted.at(percentile);
        Self {
            p5: at(5.0),
            p50: at(50.0),
            p90: at(90.0),
            p99: at(99.0),
        }
    }

    /// p99 over p50.
    pub fn tail(&self) -> Option<f64> {
        over(self.p99, self.p50)
    }
}

/// One figure over another.
pub(super) fn over(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    let (one, other) = (one?, other.filter(|it| 0.0 < *it)?);
    Some(one / other)
}

/// Figures of the client; times in seconds.
pub(super) struct Client {
    /// Requests that were answered.
    pub answered: usize,
    /// The way to the engine and back, where it was measured.
    pub path: Option<f64>,
    /// TTFT, the way included, median.
    pub whole_ttft: Option<f64>,
    /// TTFT without the way.
    pub ttft: Spread,
    pub tpot: Spread,
    pub gap: Spread,
    /// What a stream more adds to a gap.
    pub each: Option<f64>,
    pub stall: Spread,
    /// Tokens of the prompts, median.
    pub prompt: Option<f64>,
    /// Tokens of all prompts.
    pub prompts: f64,
    /// Tokens of all answers.
    pub answers: f64,
    /// Time from the first request to the last; none where all came at once.
    pub seconds: Option<f64>,
    /// Tokens in the cache of a request in the middle of its answer, median.
    pub context: Option<f64>,
    pub late: Late,
    /// Tokens of its prompt that the engine computed in a step.
    pub pieces: Spread,
    pub paused_alone: Option<f64>,
    pub plateau: Plateau,
}

impl Client {
    pub fn of(case: &Case) -> Self {
        let path = case.evidence.and_then(path);
        let streams = Streams::of(case.records, path.unwrap_or(0.0));
        let all = &streams.0;
        let ttft = Sorted::of(all.iter().map(Stream::ttft));
        let seconds = |of: fn(&Stream) -> Option<f64>| Sorted::of(all.iter().filter_map(of));
        let gaps = Gaps::of(&streams);
        Self {
            answered: all.len(),
            path,
            whole_ttft: seconds(|it| Some(it.record.ttft()?.as_secs_f64())).at(50.0),
            late: Late::of(&streams, &ttft),
            ttft: Spread::of(&ttft),
            tpot: Spread::of(&seconds(|it| Some(it.record.tpot()?.as_secs_f64()))),
            gap: Spread::of(&gaps.sorted),
            each: gaps.each,
            stall: Spread::of(&seconds(|it| Some(it.record.stall()?.as_secs_f64()))),
            prompt: seconds(|it| Some(it.prompt)).at(50.0),
            prompts: all.iter().map(|it| it.prompt).sum(),
            answers: all
                .iter()
                .map(|it| f64::from(it.record.output_tokens.unwrap_or(0)))
                .sum(),
            seconds: all
                .first()
                .zip(all.last())
                .map(|(first, last)| last.asked - first.asked),
            context: seconds(|it| Some(it.prompt + f64::from(it.record.output_tokens?) / 2.0))
                .at(50.0),
            pieces: Spread::of(&streams.pieces()),
            paused_alone: streams.paused_alone(),
            plateau: Plateau::of(&streams),
        }
    }
}

/// The shorter of both measurements of the way.
fn path(evidence: &Evidence) -> Option<f64> {
    let trips = evidence.round_trips.iter().flatten();
    let medians = trips.map(|it| it.median.as_secs_f64());
    medians.reduce(f64::min)
}

/// Requests whose first token came late, and what was beside them.
#[derive(Clone, Debug, Default)]
pub(super) struct Late {
    /// Their share.
    pub share: Option<f64>,
    /// Share of them whose prompt is not long, and that waited while a long prompt did.
    pub behind_long: Option<f64>,
    /// Share of the others that waited while a long prompt did.
    pub others_behind_long: Option<f64>,
    /// Share of them that found a crowd in flight.
    pub in_crowd: Option<f64>,
}

impl Late {
    fn of(streams: &Streams, ttft: &Sorted) -> Self {
        let all = &streams.0;
        let from = LATE * ttft.at(50.0).unwrap_or(0.0);
        let (late, others): (Vec<usize>, Vec<usize>) =
            (0..all.len()).partition(|place| from < all[*place].ttft());
        let long = LONG
            * Sorted::of(all.iter().map(|it| it.prompt))
                .at(50.0)
                .unwrap_or(0.0);
        let waits = streams.long_waits(long);
        let behind = |place: &&usize| all[**place].prompt < long && waits.touch(&all[**place]);
        let found = streams.found();
        let usual = Sorted::of(found.iter().copied()).at(50.0).unwrap_or(0.0);
        let crowded = |place: &&usize| CROWD * usual.max(1.0) <= found[**place];
        Self {
            share: share(late.len(), all.len()),
            behind_long: share(late.iter().filter(behind).count(), late.len()),
            others_behind_long: share(others.iter().filter(behind).count(), others.len()),
            in_crowd: share(late.iter().filter(crowded).count(), late.len()),
        }
    }
}
