//! A study that looks for the ceiling itself, in place of a fixed grid of levels.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::adaptive::looks::LEVELS;
use crate::adaptive::{Probe, Search};
use crate::decimal;
use crate::units::{Level, OutOfRange, Rate};

use super::check::{Errors, check_rate};
use super::plan::Guess;
use super::{PlannedPoint, StudySpec};

/// Most probes of one configuration.
pub const PROBES: u32 = 15;
/// The limits may lie so far apart.
const SPAN: f64 = 10_000.0;
/// Narrower than this no bracket is asked for: offered rates differ that much from those asked for.
const NARROWEST: f64 = 0.02;
/// Longest budget.
const MAX_MINUTES: u32 = 24 * 60;

/// What the sweep looks for and what it may cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adaptive {
    /// Lowest rate tried.
    pub from: Rate,
    /// Highest rate tried.
    pub to: Rate,
    /// Time for all configurations together, shared evenly.
    pub minutes: u32,
    /// The relative width of the ceiling's bracket at which a configuration is done: 0.15.
    pub width: f64,
}

/// What is wanted where a sweep is written as text.
const WANTED: &str = "find LOWEST-HIGHEST in MINUTES min, and how close where that is not 15%: find 1-64 in 20 min to 10%";
/// How close, where nothing is said.
const USUAL_WIDTH: f64 = 0.15;

/// As it is typed: `find 1-64 in 20 min`, `find 0.5-8 in 60 min to 10%`.
impl fmt::Display for Adaptive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = (self.from.per_second(), self.to.per_second());
        write!(f, "find {from}-{to} in {} min", self.minutes)?;
        if self.width != USUAL_WIDTH {
            write!(f, " to {}%", (self.width * 1e6).round() / 1e4)?;
        }
        Ok(())
    }
}

impl std::str::FromStr for Adaptive {
    type Err = OutOfRange;
    fn from_str(text: &str) -> Result<Self, OutOfRange> {
        read(text).ok_or_else(|| OutOfRange {
            what: "search for the ceiling",
            allowed: WANTED,
            got: format!("{text:?}"),
        })
    }
}

fn read(text: &str) -> Option<Adaptive> {
    let rest = text.trim().strip_prefix("find ")?;
    let (rates, rest) = rest.split_once(" in ")?;
    let (minutes, width) = rest.split_once(" to ").unwrap_or((rest, ""));
    let (from, to) = rates.split_once('-')?;
    let number = |text: &str| decimal::parse(text.trim());
    let width = match width.trim() {
        "" => USUAL_WIDTH,
        width => number(width.strip_suffix('%')?)? / 100.0,
    };
    Some(Adaptive {
        from: number(from)?.try_into().ok()?,
        to: number(to)?.try_into().ok()?,
        minutes: minutes.trim().strip_suffix("min")?.trim().parse().ok()?,
        width,
    })
}

impl StudySpec {
    /// The search of each of its configurations; `None` where its levels are fixed, or its limits leave no rate between them.
    ///
    /// A probe has at least `length.min_requests`; one rate gets at most `length.max_requests` over all its probes.
    pub fn search(&self) -> Option<Search> {
        let adaptive = self.adaptive.filter(|it| it.from < it.to)?;
        let seconds = f64::from(adaptive.minutes) * 60.0;
        Some(Search {
            from: adaptive.from.per_second(),
            to: adaptive.to.per_second(),
            seconds: seconds / self.configurations.len().max(1) as f64,
            width: adaptive.width,
            target: self.slo.attainment,
            least: self.length.min_requests,
            most: self.length.max_requests,
            probes: PROBES,
            per_arrival: self.workload.requests_per_session().max(1.0),
            beside: Guess::of(self).beside(self),
        })
    }

    /// A probe of a configuration as a point. Rates and lengths differ between configurations, and so do the seeds.
    pub fn planned(&self, configuration: u32, probe: Probe) -> Option<PlannedPoint> {
        let level = Rate::try_from(probe.rate).map(Level::Rate).ok()?;
        let level_index = configuration * LEVELS.len() as u32 + probe.level;
        Some(PlannedPoint {
            configuration,
            level_index,
            level,
            repeat: probe.repeat,
            seed: self.point_seed(level_index, probe.repeat),
            requests: probe.requests,
            estimated: Guess::of(self).point(level, probe.requests, self),
        })
    }

    /// The first probe of each configuration.
    pub(super) fn first_probes(&self, search: &Search) -> Vec<PlannedPoint> {
        let Some(first) = search.first() else {
            return Vec::new();
        };
        (0..self.configurations.len() as u32)
            .filter_map(|configuration| self.planned(configuration, first))
            .collect()
    }
}

/// Errors of the adaptive sweep, each at its field.
pub(super) fn check_adaptive(errors: &mut Errors, spec: &StudySpec, adaptive: Adaptive) {
    let Adaptive {
        from,
        to,
        minutes,
        width,
    } = adaptive;
    errors.unless(
        spec.levels.is_empty(),
        "levels",
        "an adaptive sweep chooses its rates; leave them empty, or leave out adaptive",
    );
    check_rate(errors, from.per_second(), "adaptive.from");
    check_rate(errors, to.per_second(), "adaptive.to");
    let ratio = to.per_second() / from.per_second();
    errors.unless(
        1.0 < ratio && ratio <= SPAN,
        "adaptive.to",
        format!(
            "must be above the lowest rate ({}), and at most {SPAN} times it",
            from.per_second()
        ),
    );
    errors.unless(
        (1..=MAX_MINUTES).contains(&minutes),
        "adaptive.minutes",
        format!("must be 1 to {MAX_MINUTES}"),
    );
    errors.unless(
        (NARROWEST..=1.0).contains(&width),
        "adaptive.width",
        format!("must be {NARROWEST} to 1: 0.15 ends at a bracket of 15 %"),
    );
    errors.unless(
        spec.repeats == 1,
        "repeats",
        "an adaptive sweep repeats what needs it; leave it at 1",
    );
    errors.unless(
        !spec.arrival.is_ramp(),
        "arrival",
        "a ramp has no ceiling: no one rate stands for what was kept",
    );
    check_affordable(errors, spec);
}

/// The budget must hold at least the first probe.
fn check_affordable(errors: &mut Errors, spec: &StudySpec) {
    if !errors.is_empty() {
        return;
    }
    let first = spec.search().and_then(|search| search.first());
    errors.unless(
        first.is_some(),
        "adaptive.minutes",
        "too few for the first probe; allow more, or fewer requests a point",
    );
}
