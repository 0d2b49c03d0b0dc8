//! What a search will take, and how close it will come, before it starts: the search itself, run on engines that might be.

use super::{Evidence, Next, Probe, Probed, Search, Stop, belief, choose};
use crate::quantile::percentile_linear;

/// Where the ceiling might lie between the limits, in parts of the logarithm of their ratio.
const PLACES: [f64; 3] = [0.2, 0.5, 0.8];
/// How steeply the odds of a bad request might grow with the rate.
const STEEP: [f64; 3] = [5.0, 10.0, 20.0];

/// What may be expected of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Foretold {
    /// The probes, if the ceiling lay in the middle of the limits and were of middling steepness.
    pub plan: Vec<Probe>,
    /// Why it would end.
    pub stop: Stop,
    /// The most probes that any of the engines took.
    pub probes: u32,
    /// The longest time that any took, in seconds.
    pub seconds: f64,
    /// The relative width of the bracket that half of them come to; infinite where half of them have none.
    pub width: f64,
}

/// The plan and the width that may be expected, over nine engines that differ in where their ceiling lies and in how
/// steep it is. Each behaves exactly as expected, so a real search takes a little more.
pub fn foretell(search: &Search) -> Foretold {
    let (mut probes, mut seconds, mut widths) = (0, 0.0f64, Vec::new());
    for place in PLACES {
        for steep in STEEP {
            let ceiling = search.from * (search.to / search.from).powf(place);
            let (run, _) = rehearse(search, ceiling, steep);
            probes = probes.max(run.len() as u32);
            seconds = seconds.max(run.iter().map(|probe| probe.seconds).sum());
            let width = search.ceiling(&run).relative_width();
            widths.push(width.unwrap_or(f64::INFINITY));
        }
    }
    widths.sort_unstable_by(f64::total_cmp);
    let middle = (search.from * search.to).sqrt() * 1.1;
    let (run, stop) = rehearse(search, middle.min(search.to), STEEP[1]);
    Foretold {
        plan: plan(search, &run),
        stop,
        probes,
        seconds,
        width: percentile_linear(&widths, 50.0).unwrap_or(f64::INFINITY),
    }
}

/// The search on an engine whose shares are as expected.
fn rehearse(search: &Search, ceiling: f64, steep: f64) -> (Vec<Probed>, Stop) {
    let mut probed: Vec<Probed> = Vec::new();
    loop {
        match search.next(&probed) {
            Next::Stop(stop) => return (probed, stop),
            Next::Probe(probe) => probed.push(expected(search, probe, ceiling, steep)),
        }
    }
}

fn expected(search: &Search, probe: Probe, ceiling: f64, steep: f64) -> Probed {
    let share = belief::share(probe.rate / ceiling, steep, search.target);
    let requests = f64::from(probe.requests);
    Probed {
        rate: probe.rate,
        offered: probe.rate,
        evidence: Evidence {
            scheduled: probe.requests,
            good: (share * requests).round() as u32,
            effective: requests / choose::MEMORY,
        },
        above: false,
        void: false,
        seconds: search.lasts(probe.requests, probe.rate),
    }
}

fn plan(search: &Search, run: &[Probed]) -> Vec<Probe> {
    (0..run.len())
        .filter_map(|done| match search.next(&run[..done]) {
            Next::Probe(probe) => Some(probe),
            Next::Stop(_) => None,
        })
        .collect()
}
