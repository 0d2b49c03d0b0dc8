//! What the client's own records tell.

use super::Case;
use super::sorted::{Sorted, share};
use super::streams::{Stream, Streams};

/// Requests are late whose first token took so many times the median.
const LATE: f64 = 4.0;
/// Prompts are long that have so many times the median's tokens.
const LONG: f64 = 4.0;
/// Moments at which streams are counted.
const MOMENTS: usize = 2000;
/// Most gaps looked at.
const GAPS: usize = 100_000;

/// Figures of the client; times in seconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Client {
    pub answered: usize,
    pub ttft: [Option<f64>; 4],  // p50 p95 p98 p99
    pub tpot: [Option<f64>; 4],  // p5 p50 p95 p99
    pub gap: [Option<f64>; 4],   // p5 p50 p95 p99
    pub stall: [Option<f64>; 2], // p50 p99
    pub prompt: Option<f64>,
    pub context: Option<f64>,
    pub late: Option<f64>,
    pub late_behind_long: Option<f64>,
    pub others_behind_long: Option<f64>,
    pub late_in_crowd: Option<f64>,
    pub found: [Option<f64>; 2], // p50 max
    pub pieces: [Option<f64>; 2], // p50 p90
    pub pieces_known: usize,
    pub paused_alone: Option<f64>,
    pub streamed_most: f64,
    pub streamed: Option<f64>,
    pub somebody_waits: Option<f64>,
    pub at_most: Option<f64>,
    pub spread: Option<f64>,
    pub slope: Option<f64>,
    pub tokens_per_event: Option<f64>,
}

impl Client {
    pub fn of(case: &Case) -> Self {
        let streams = Streams::of(case.records);
        let all = &streams.0;
        let ttft = Sorted::of(all.iter().map(Stream::ttft));
        let tpot = Sorted::of(all.iter().filter_map(|it| Some(it.record.tpot()?.as_secs_f64())));
        let stall = Sorted::of(all.iter().filter_map(|it| Some(it.record.stall()?.as_secs_f64())));
        let prompt = Sorted::of(all.iter().map(|it| it.prompt));
        let context = Sorted::of(all.iter().map(|it| it.prompt + f64::from(it.record.output_tokens.unwrap_or(0)) / 2.0));
        let late = LATE * ttft.at(50.0).unwrap_or(0.0);
        let long = LONG * prompt.at(50.0).unwrap_or(0.0);
        let found = streams.found();
        let found_sorted = Sorted::of(found.iter().copied());
        let crowd = 4.0 * found_sorted.at(50.0).unwrap_or(0.0).max(1.0);
        let late_found: Vec<f64> = found
            .iter()
            .zip(all)
            .filter(|(_, it)| late < it.ttft())
            .map(|(found, _)| *found)
            .collect();
        let pieces = streams.pieces();
        let (gap, slope) = gaps(&streams);
        let plateau = Plateau::of(&streams);
        let of = |it: &Sorted, p: [f64; 4]| p.map(|p| it.at(p));
        Self {
            answered: all.len(),
            ttft: of(&ttft, [50.0, 95.0, 98.0, 99.0]),
            tpot: of(&tpot, [5.0, 50.0, 95.0, 99.0]),
            gap: of(&gap, [5.0, 50.0, 95.0, 99.0]),
            stall: [stall.at(50.0), stall.at(99.0)],
            prompt: prompt.at(50.0),
            context: context.at(50.0),
            late: share(all.iter().filter(|it| late < it.ttft()).count(), all.len()),
            late_behind_long: streams.beside_long(long, |it| late < it.ttft()),
            others_behind_long: streams.beside_long(long, |it| it.ttft() <= late),
            late_in_crowd: share(late_found.iter().filter(|it| crowd <= **it).count(), late_found.len()),
            found: [found_sorted.at(50.0), found_sorted.at(100.0)],
            pieces: [pieces.at(50.0), pieces.at(90.0)],
            pieces_known: pieces.len(),
            paused_alone: streams.paused_alone(4),
            streamed_most: plateau.most,
            streamed: plateau.median,
            somebody_waits: plateau.waits,
            at_most: plateau.at_most,
            spread: plateau.spread,
            slope,
            tokens_per_event: case.summary.tokens_per_chunk,
        }
    }
}

struct Plateau {
    most: f64,
    median: Option<f64>,
    waits: Option<f64>,
    at_most: Option<f64>,
    spread: Option<f64>,
}

impl Plateau {
    fn of(streams: &Streams) -> Self {
        let streaming = streams.streaming();
        let last = streams.0.iter().map(|it| it.last).fold(0.0, f64::max);
        let moments: Vec<(f64, f64)> = (0..MOMENTS)
            .map(|it| last * it as f64 / MOMENTS as f64)
            .map(|at| (streaming.at(at), streaming.waiting(at)))
            .filter(|(streaming, _)| 0.0 < *streaming)
            .collect();
        let most = moments.iter().map(|it| it.0).fold(0.0, f64::max);
        let waits: Vec<f64> = moments.iter().filter(|it| 1.5 < it.1).map(|it| it.0).collect();
        let near = waits.iter().filter(|it| most * 0.9 - 1.0 <= **it).count();
        let sorted = Sorted::of(waits.iter().copied());
        Self {
            most,
            median: Sorted::of(moments.iter().map(|it| it.0)).at(50.0),
            waits: share(waits.len(), moments.len()),
            at_most: share(near, waits.len()),
            spread: sorted.at(90.0).zip(sorted.at(10.0)).map(|(hi, lo)| hi / lo.max(1.0)),
        }
    }
}

/// Gaps in order of size, and by how much a gap grows with each stream more.
fn gaps(streams: &Streams) -> (Sorted, Option<f64>) {
    let events: usize = streams.0.iter().map(|it| it.record.chunks.len()).sum();
    let step = events.div_ceil(GAPS).max(1);
    let streaming = streams.streaming();
    let mut pairs: Vec<(f64, f64)> = Vec::new();
    for it in streams.0.iter().step_by(step) {
        let chunks = &it.record.chunks;
        for (one, next) in chunks.iter().zip(chunks.iter().skip(1)) {
            let gap = next.arrived().since(one.arrived()).as_secs_f64();
            pairs.push((streaming.at(one.arrived().as_secs_f64()), gap));
        }
    }
    let sorted = Sorted::of(pairs.iter().map(|it| it.1));
    let usual = 1.5 * sorted.at(50.0).unwrap_or(0.0);
    pairs.retain(|it| it.1 <= usual);
    let slope = slope(&pairs);
    (sorted, slope)
}

/// Least squares.
fn slope(pairs: &[(f64, f64)]) -> Option<f64> {
    let n = pairs.len() as f64;
    let (mx, my) = (
        pairs.iter().map(|it| it.0).sum::<f64>() / n,
        pairs.iter().map(|it| it.1).sum::<f64>() / n,
    );
    let xx: f64 = pairs.iter().map(|it| (it.0 - mx).powi(2)).sum();
    let xy: f64 = pairs.iter().map(|it| (it.0 - mx) * (it.1 - my)).sum();
    (0.0 < xx).then(|| xy / xx)
}
