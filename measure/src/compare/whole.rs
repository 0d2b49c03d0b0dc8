//! A whole comparison: every level of every candidate against the baseline, judged together.

use crate::knobs::Comparability;
use crate::slo::{Metric, Slo};
use crate::units::Level;

use super::along::{is_uneven, weighted};
use super::drift::{Drift, Halves};
use super::noise::excess;
use super::sessions::Sides;
use super::together::{Scale, first_threshold, thresholds};
use super::{
    Against, Along, Comparison, LevelRuns, Measured, Pooled, Verdict, attainment, latency, remark,
};

/// What is compared at each level, beside attainment.
const METRICS: [Metric; 2] = [Metric::Ttft, Metric::Tpot];
const PERCENTILES: [f64; 3] = [50.0, 95.0, 99.0];

/// Every difference of every candidate against the baseline, each with its verdict; all of them together are wrong about
/// configurations without a difference in at most 5 % of comparisons (Holm). A confounded candidate gets no verdict.
pub fn compare_all(candidates: &[Against<'_>], slo: &Slo) -> Vec<Pooled> {
    let levels = candidates.iter().map(|it| it.levels.len());
    let most: usize = levels.map(|count| count + usize::from(1 < count)).sum();
    let sure = first_threshold(most * Of::all().count());
    let gathered: Vec<Gathered> = candidates
        .iter()
        .map(|it| Gathered::of(it, slo, sure))
        .collect();
    let all: Vec<&Measured> = gathered.iter().flat_map(Gathered::measured).collect();
    let thresholds = thresholds(&all);
    let counted = all.len() as u32;
    let mut next = thresholds.iter().copied();
    gathered
        .iter()
        .map(|it| it.judged(&mut next, counted))
        .collect()
}

/// What a difference is of.
#[derive(Clone, Copy, PartialEq)]
enum Of {
    Latency(Metric, f64),
    Attainment,
}

impl Of {
    fn all() -> impl Iterator<Item = Self> {
        let latencies = METRICS
            .into_iter()
            .flat_map(|metric| PERCENTILES.map(|p| Self::Latency(metric, p)));
        latencies.chain([Self::Attainment])
    }

    fn scale(self) -> Scale {
        match self {
            Self::Latency(..) => Scale::Latency,
            Self::Attainment => Scale::Share,
        }
    }
}

struct AtLevel {
    level: Level,
    of: Of,
    found: Result<Measured, String>,
}

struct Together {
    of: Of,
    found: Measured,
    levels: u32,
    uneven: bool,
}

#[derive(Default)]
struct Gathered {
    levels: Vec<AtLevel>,
    along: Vec<Together>,
    drift: Option<Drift>,
    repeated: bool,
}

impl Gathered {
    fn of(against: &Against<'_>, slo: &Slo, sure: f64) -> Self {
        if matches!(against.comparability, Comparability::Confounded { .. }) {
            return Self::default();
        }
        let halves = Halves::of(&against.levels);
        let mut levels: Vec<AtLevel> = against
            .levels
            .iter()
            .flat_map(|level| at_level(level, against.alike, slo, sure))
            .collect();
        widen(&mut levels, against, &halves);
        let repeats = |at: &AtLevel| at.found.as_ref().is_ok_and(|it| 1 < it.repeats.len());
        Self {
            along: Of::all().filter_map(|of| along(&levels, of)).collect(),
            drift: Some(halves.drift()),
            repeated: levels.iter().any(repeats) || !against.noise.is_empty(),
            levels,
        }
    }

    fn measured(&self) -> impl Iterator<Item = &Measured> {
        let levels = self.levels.iter().filter_map(|at| at.found.as_ref().ok());
        levels.chain(self.along.iter().map(|it| &it.found))
    }

    fn judged(&self, thresholds: &mut impl Iterator<Item = f64>, counted: u32) -> Pooled {
        let mut pooled = Pooled {
            latencies: Vec::new(),
            attainment: Vec::new(),
            along: Vec::new(),
            drift: self
                .drift
                .clone()
                .unwrap_or(Drift::Unknown { repeated: false }),
            counted,
        };
        for AtLevel { level, of, found } in &self.levels {
            let (difference, verdict) = match found {
                Ok(found) => {
                    let (difference, verdict) = judged(found, *of, thresholds);
                    (Some(difference), verdict)
                }
                Err(why) => (None, Verdict::NotYetJudged { why: why.clone() }),
            };
            match *of {
                Of::Attainment => pooled.attainment.push((*level, difference, verdict)),
                Of::Latency(metric, percentile) => pooled.latencies.push(Comparison {
                    level: *level,
                    metric,
                    percentile,
                    difference,
                    verdict,
                    remark: difference.and_then(|it| remark_of(it.relative, self.repeated)),
                }),
            }
        }
        pooled.along = self.along.iter().map(|it| it.judged(thresholds)).collect();
        pooled
    }
}

impl Together {
    fn judged(&self, thresholds: &mut impl Iterator<Item = f64>) -> Along {
        let (difference, verdict) = judged(&self.found, self.of, thresholds);
        let (metric, percentile) = match self.of {
            Of::Latency(metric, percentile) => (Some(metric), Some(percentile)),
            Of::Attainment => (None, None),
        };
        Along {
            metric,
            percentile,
            levels: self.levels,
            difference,
            verdict,
            uneven: self.uneven,
        }
    }
}

fn judged(
    found: &Measured,
    of: Of,
    thresholds: &mut impl Iterator<Item = f64>,
) -> (super::Difference, Verdict) {
    // There is one for each; without any, nothing would be sure enough.
    let threshold = thresholds.next().unwrap_or(f64::INFINITY);
    found.judged(of.scale(), threshold)
}

/// Under 5 % is noise until repeats have shown otherwise; where they have, it is not.
fn remark_of(relative: f64, repeated: bool) -> Option<String> {
    remark(relative).filter(|_| !repeated || super::NOISE <= relative.abs())
}

fn at_level(level: &LevelRuns<'_>, alike: bool, slo: &Slo, sure: f64) -> Vec<AtLevel> {
    let sides = match &level.nothing {
        Some(why) => Err(why.clone()),
        None => Sides::of(level, alike),
    };
    let found = |of: Of| {
        let sides = sides.as_ref().map_err(Clone::clone)?;
        match of {
            Of::Attainment => attainment::measured(sides, slo),
            Of::Latency(metric, p) => match &level.no_latencies {
                Some(why) => Err(why.clone()),
                None => latency::measured(sides, metric, p, sure),
            },
        }
    };
    Of::all()
        .map(|of| AtLevel {
            level: level.level,
            of,
            found: found(of),
        })
        .collect()
}

/// Lets every difference know the noise between runs and the drift.
fn widen(levels: &mut [AtLevel], against: &Against<'_>, halves: &Halves) {
    for of in Of::all() {
        let same = levels.iter().filter(|at| at.of == of);
        let excess = excess(same.filter_map(|at| at.found.as_ref().ok()));
        for at in levels.iter_mut().filter(|at| at.of == of) {
            let runs = against.levels.iter().find(|it| it.level == at.level);
            let (Ok(found), Some(runs)) = (&mut at.found, runs) else {
                continue;
            };
            let known = |(level, metric, p): &(Level, Metric, f64)| {
                *level == at.level && Of::Latency(*metric, *p) == of
            };
            let known = against.noise.iter().find(|(of, _)| known(of));
            found.widened(excess, known.map(|(_, noise)| *noise), halves.is_restless());
            if let Of::Latency(metric, _) = of {
                found.bias = halves.bias(runs, metric);
            }
        }
    }
}

/// One metric over all levels that have it, two at least.
fn along(levels: &[AtLevel], of: Of) -> Option<Together> {
    let found: Vec<Measured> = levels
        .iter()
        .filter(|at| at.of == of)
        .filter_map(|at| at.found.clone().ok())
        .collect();
    let together = weighted(&found).filter(|_| 1 < found.len())?;
    Some(Together {
        of,
        uneven: is_uneven(&found, &together),
        levels: found.len() as u32,
        found: together,
    })
}
