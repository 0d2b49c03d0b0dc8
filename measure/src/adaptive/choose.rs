//! The next probe: in coarse steps until the crossing is enclosed, then where it takes most off the bracket for its time.

use super::belief::{Belief, Trial};
use super::level::{ends, found};
use super::looks::{self, LEVELS, LOOKS, Verdict};
use super::{Level, Next, Probe, Probed, Search, Stop};

/// A coarse step.
const STEP: f64 = 4.0;
/// Far from the crossing a quarter of a rate's requests tells.
const COARSE_LOOK: usize = 2;
/// Requests that make one independent one, before anything is known.
pub(super) const MEMORY: f64 = 15.0;
/// Rates closer than this part of the width aimed at are one.
const CLOSE: f64 = 0.1;
/// Rates are chosen for a bracket a little narrower than asked, since those offered differ a little from those asked for.
const AIM: f64 = 0.95;
/// Rates tried between the ends, evenly in their logarithm.
const EVEN: u32 = 12;
/// Rates tried around the crossing that is expected, in widths aimed at.
const AROUND: [f64; 6] = [-0.6, -0.45, -0.3, 0.3, 0.45, 0.6];

/// What is left.
#[derive(Clone, Copy)]
pub(super) struct Purse {
    seconds: f64,
    probes: u32,
}

impl Purse {
    pub fn of(search: &Search, probed: &[Probed]) -> Self {
        let spent: f64 = probed.iter().map(|probe| probe.seconds).sum();
        Self {
            seconds: search.seconds - spent,
            probes: search.probes.saturating_sub(probed.len() as u32).max(1),
        }
    }
}

/// The first probe; `None` where the time does not suffice for it. It needs none of the beliefs, which a browser that only
/// shows a plan would have to load.
pub(super) fn first(search: &Search) -> Option<Probe> {
    let rate = round((search.from * search.to).sqrt());
    match coarse(search, &[], (rate, Purse::of(search, &[]))) {
        Next::Probe(probe) => Some(probe),
        Next::Stop(_) => None,
    }
}

/// The next probe, or why there is none.
pub(super) fn choose(search: &Search, levels: &[Level], purse: Purse) -> Next {
    match coarse_step(search, levels) {
        Some(rate) => coarse(search, levels, (round(rate), purse)),
        None => fine(search, levels, purse),
    }
}

/// Where the next coarse step leads; `None` once the crossing is enclosed, or a rate is undecided.
fn coarse_step(search: &Search, levels: &[Level]) -> Option<f64> {
    let open = |level: &Level| level.verdict == Verdict::Open && 0 < level.repeats;
    if levels.iter().any(open) {
        return None;
    }
    match ends(levels) {
        (None, None) => Some((search.from * search.to).sqrt()),
        (Some(lo), None) => Some((lo.rate * STEP).min(search.to)),
        (None, Some(hi)) => Some((hi.rate / STEP).max(search.from)),
        (Some(_), Some(_)) => None,
    }
}

fn coarse(search: &Search, levels: &[Level], (rate, purse): (f64, Purse)) -> Next {
    // Rounding must not leave the limits, or a search up to 9.999 would never reach them.
    let rate = rate.clamp(search.from, search.to);
    let requests = looks::at(COARSE_LOOK, search.most).max(search.least);
    let left = (purse.seconds - search.beside).max(0.0);
    let affordable = (left * rate * search.per_arrival) as u32;
    if affordable < search.least.max(looks::at(0, search.most)) {
        return Next::Stop(Stop::TimeSpent);
    }
    probe(levels, rate, requests.min(affordable))
}

fn fine(search: &Search, levels: &[Level], purse: Purse) -> Next {
    let between = between(search, levels);
    let belief = Belief::of(levels, between, search.target);
    let goal = (1.0 + search.width * AIM).ln();
    let fair = purse.seconds / f64::from(purse.probes);
    let mut best: Option<(f64, Trial)> = None;
    let mut too_dear = false;
    for rate in candidates(search, levels, between, belief.crossing()) {
        for trial in trials(search, levels, rate) {
            let cost = search.lasts(requests(search, levels, &trial), rate);
            if purse.seconds < cost {
                too_dear = true;
                continue;
            }
            let value = belief.gain(trial, between, goal) / cost.max(fair);
            if best.map_or(0.0, |(most, _)| most) < value {
                best = Some((value, trial));
            }
        }
    }
    match best {
        Some((_, trial)) => probe(levels, trial.rate, requests(search, levels, &trial)),
        None if too_dear => Next::Stop(Stop::TimeSpent),
        None => Next::Stop(Stop::Undecided),
    }
}

/// The rates that the crossing lies between: the bracket's ends, or a coarse step beyond what was tried.
fn between(search: &Search, levels: &[Level]) -> (f64, f64) {
    let rates = || levels.iter().map(|level| level.rate);
    let (lo, hi) = ends(levels);
    let below = || (rates().fold(search.to, f64::min) / STEP).max(search.from / 1.1);
    let above = || (rates().fold(search.from, f64::max) * STEP).min(search.to * 1.1);
    (
        lo.map_or_else(below, |lo| lo.rate),
        hi.map_or_else(above, |hi| hi.rate),
    )
}

/// Rates between the ends that a probe could help at: new ones, and those not yet decided.
fn candidates(search: &Search, levels: &[Level], (lo, hi): (f64, f64), crossing: f64) -> Vec<f64> {
    let apart =
        |rate: f64| move |level: &Level| CLOSE * search.width < (level.rate / rate).ln().abs();
    let inside = |rate: &f64| lo < *rate && *rate < hi;
    let even = (1..EVEN).map(|part| lo * (hi / lo).powf(f64::from(part) / f64::from(EVEN)));
    let around = AROUND.map(|part| crossing * (1.0 + part * search.width));
    let mut rates: Vec<f64> = even
        .chain(around)
        .map(|rate| round(rate).clamp(search.from, search.to))
        .filter(inside)
        .filter(|rate| levels.len() < LEVELS.len() && levels.iter().all(apart(*rate)))
        .collect();
    let open = levels
        .iter()
        .filter(|level| level.verdict == Verdict::Open && level.void == 0);
    rates.extend(open.map(|level| level.rate).filter(inside));
    rates
}

/// How far a probe at a rate may go: to each look that is still to come.
fn trials(search: &Search, levels: &[Level], rate: f64) -> impl Iterator<Item = Trial> {
    let place = levels.iter().position(|level| level.rate == rate);
    let level = place.map(|place| levels[place]);
    let had = level.map_or(0, |level| level.evidence.scheduled);
    let seen = level.map_or((search.target, 0.0), |level| {
        (level.evidence.share(), level.evidence.effective)
    });
    let memory = memory(levels, rate);
    let (level, most) = (place.unwrap_or(levels.len()), search.most);
    (looks::passed(had, most)..LOOKS.len()).map(move |look| Trial {
        rate,
        level,
        look,
        seen,
        more: f64::from(looks::at(look, most).saturating_sub(had).max(1)) / memory,
    })
}

/// How many requests make one independent one, going by the nearest rate that was tried.
fn memory(levels: &[Level], rate: f64) -> f64 {
    let far = |level: &Level| (level.rate / rate).ln().abs();
    let valued = levels
        .iter()
        .filter(|level| !level.above && 0.0 < level.evidence.effective);
    let near = valued.reduce(|a, b| if far(b) < far(a) { b } else { a });
    near.map_or(MEMORY, |level| {
        f64::from(level.evidence.scheduled) / level.evidence.effective
    })
}

/// What a rate lacks to a look.
fn requests(search: &Search, levels: &[Level], trial: &Trial) -> u32 {
    let had = found(levels, trial.rate).map_or(0, |level| level.evidence.scheduled);
    let lacks = looks::at(trial.look, search.most).saturating_sub(had);
    lacks.max(search.least)
}

fn probe(levels: &[Level], rate: f64, requests: u32) -> Next {
    let place = levels.iter().position(|level| level.rate == rate);
    let had = place.map(|place| &levels[place]);
    Next::Probe(Probe {
        rate,
        requests,
        level: place.unwrap_or(levels.len()) as u32,
        repeat: had.map_or(0, |level| level.repeats + level.void),
    })
}

/// To three digits.
fn round(rate: f64) -> f64 {
    let scale = 10f64.powf(2.0 - rate.log10().floor());
    (rate * scale).round() / scale
}
