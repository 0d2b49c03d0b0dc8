//! The adaptive sweep: which rate is probed next, for how long, and when there is no more to find.
//!
//! A pure state machine. [`Search::next`] is asked after every point and answers from the points alone: a probe, or a
//! stop with its reason. It starts coarse, in factors of four, until one rate is kept and another broken, then narrows the
//! bracket by the probe that is expected to take most off it for its time. A rate is looked at five times at most, the
//! error of all looks is shared out beforehand ([`looks`]), and the bracket rests on decided rates alone.

use serde::{Deserialize, Serialize};

use crate::curve::{Ceiling, Seen, bracket};
use crate::slo::Keeps;

pub mod bars; // what the search is held to
mod belief; // where the crossing may lie
mod choose; // the next probe
mod doom; // a point that is above capacity while it runs
mod evidence; // what a probe's requests say
mod foretell; // what a search will take, before it starts
mod level; // all probes of one rate
pub mod looks; // when a look decides
pub mod queue; // queues with a known answer

pub use doom::Doom;
pub use evidence::Evidence;
pub use foretell::{Foretold, foretell};
pub use level::Level;
use level::{ends, levels};
use looks::Verdict;

/// What is sought, and what it may cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    /// Lowest rate tried, per second.
    pub from: f64,
    /// Highest rate tried, per second.
    pub to: f64,
    /// Time it may take, in seconds.
    pub seconds: f64,
    /// The relative width of the bracket at which it ends: (hi - lo) over the rate between them.
    pub width: f64,
    /// The share of requests that must be good.
    pub target: f64,
    /// Fewest requests of one probe.
    pub least: u32,
    /// Most requests of one rate, over all its probes.
    pub most: u32,
    /// Most probes.
    pub probes: u32,
    /// Requests that an arrival brings: those of a session, else 1.
    pub per_arrival: f64,
    /// Time that a probe takes beside its arrivals, in seconds: warm-up, and the last answers.
    pub beside: f64,
}

/// A finished probe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probed {
    /// The rate asked for, as [`Probe::rate`] gave it.
    pub rate: f64,
    /// Arrivals per second of the realised schedule.
    pub offered: f64,
    /// What its requests say.
    pub evidence: Evidence,
    /// It lies above capacity: an upper end, never a value.
    pub above: bool,
    /// The client was not innocent: the probe took its time and says nothing.
    pub void: bool,
    /// The time it took, in seconds.
    pub seconds: f64,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// A point to be measured.
    Probe(Probe),
    /// The end.
    Stop(Stop),
}

/// A point to be measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probe {
    /// Its rate, per second.
    pub rate: f64,
    /// Its requests.
    pub requests: u32,
    /// Which rate of the search this is, from 0 in the order in which they were opened: with the repeat, the seed's place.
    pub level: u32,
    /// Which probe of that rate, from 0.
    pub repeat: u32,
}

/// Why a search ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The bracket is as narrow as was asked.
    Narrow,
    /// The highest rate allowed keeps the promise.
    AtLeast,
    /// The lowest rate allowed breaks it.
    NoneKept,
    /// No probe that would help fits into the time left.
    TimeSpent,
    /// All probes are spent.
    ProbesSpent,
    /// Every rate that would help has had all its requests, or no further rate may be opened.
    Undecided,
    /// A rate is surely kept above one that is surely broken: something else disturbed one of them.
    Contradiction,
    /// Twice at one rate the client could not make the load.
    ClientLimited,
}

impl Stop {
    /// The reason for people, as a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Self::Narrow => "The ceiling is known as closely as was asked.",
            Self::AtLeast => {
                "The highest rate allowed keeps the promise; allow higher rates to find where it breaks."
            }
            Self::NoneKept => {
                "The lowest rate allowed breaks the promise; allow lower rates to find where it holds."
            }
            Self::TimeSpent => {
                "The time is spent: no probe that would narrow the ceiling fits into what is left."
            }
            Self::ProbesSpent => "All probes are spent.",
            Self::Undecided => {
                "The rates between are too near the ceiling to be told from it with the requests allowed for one rate."
            }
            Self::Contradiction => {
                "A higher rate surely keeps the promise and a lower one surely breaks it, so something else disturbed one of the two."
            }
            Self::ClientLimited => {
                "This machine could not make the load at one of the rates; its certificate says why."
            }
        }
    }
}

impl Search {
    /// What comes first; `None` where the time does not suffice for it.
    pub fn first(&self) -> Option<Probe> {
        choose::first(self)
    }

    /// What comes after these probes, which stand in the order in which they were made.
    pub fn next(&self, probed: &[Probed]) -> Next {
        let levels = levels(self, probed);
        match self.stops(&levels, probed.len()) {
            Some(stop) => Next::Stop(stop),
            None => choose::choose(self, &levels, choose::Purse::of(self, probed)),
        }
    }

    /// The probes by rate, in the order in which the rates were opened.
    pub fn levels(&self, probed: &[Probed]) -> Vec<Level> {
        levels(self, probed)
    }

    /// The ceiling by attainment that the probes bear out. Its interval rests on what the looks decided, so it may be read
    /// at any time; the value inside is where the fit through all rates crosses.
    pub fn ceiling(&self, probed: &[Probed]) -> Ceiling {
        let levels = levels(self, probed);
        let used = levels.iter().filter(|level| 0 < level.repeats);
        bracket(used.map(|level| self.seen(level)).collect())
    }

    fn seen(&self, level: &Level) -> Seen {
        let share = level.evidence.share();
        let keeps = match level.verdict {
            Verdict::Kept => Keeps::Surely,
            Verdict::Broken => Keeps::SurelyNot,
            Verdict::Open if self.target <= share => Keeps::Probably,
            Verdict::Open => Keeps::ProbablyNot,
        };
        Seen {
            rate: level.offered,
            keeps,
            margin: (!level.above).then_some(share - self.target),
            weight: level.evidence.effective,
        }
    }

    fn stops(&self, levels: &[Level], probes: usize) -> Option<Stop> {
        let (lo, hi) = ends(levels);
        match (lo, hi) {
            (Some(lo), Some(hi)) if hi.offered <= lo.offered => Some(Stop::Contradiction),
            (Some(lo), Some(hi)) if self.is_narrow(lo.offered, hi.offered) => Some(Stop::Narrow),
            (Some(lo), None) if self.to <= lo.rate => Some(Stop::AtLeast),
            (None, Some(hi)) if hi.rate <= self.from => Some(Stop::NoneKept),
            _ if levels.iter().any(|level| 2 <= level.void) => Some(Stop::ClientLimited),
            _ if self.probes as usize <= probes => Some(Stop::ProbesSpent),
            _ => None,
        }
    }

    /// How long so many requests take to arrive at a rate, and what a probe takes beside.
    fn lasts(&self, requests: u32, rate: f64) -> f64 {
        f64::from(requests) / (rate * self.per_arrival) + self.beside
    }

    fn is_narrow(&self, lo: f64, hi: f64) -> bool {
        hi - lo <= self.width * (hi * lo).sqrt()
    }
}

#[cfg(test)]
mod tests;
