//! Each candidate against the baseline: which runs stand against which, judged all together.

use app::studio::PairComparison;
use measure::certificate::Innocence;
use measure::compare::{
    Against, CeilingComparison, LevelRuns, Pooled, Run, Verdict, compare_all,
    compare_ceilings_apart,
};
use measure::curve::Ceiling;
use measure::knobs::Comparability;
use measure::slo::Slo;
use measure::summary::Capacity;
use measure::units::Level;

use super::said::said;
use super::{Side, comparability_of, noise, outputs};

/// Facts that say what was asked: where one of them differs, sessions of one number are not the same.
const ASKED: [&str; 4] = ["workload", "arrival", "seed", "data set"];

/// Every candidate against the first side.
pub(super) fn pairs(sides: &[Side], slo: &Slo) -> Vec<PairComparison> {
    let Some((baseline, candidates)) = sides.split_first() else {
        return Vec::new();
    };
    let differing: Vec<Comparability> = candidates
        .iter()
        .map(|candidate| comparability_of(baseline, candidate))
        .collect();
    let against = candidates.iter().zip(&differing);
    let against = against.map(|(candidate, comparability)| {
        let levels = levels(baseline, candidate);
        Against {
            comparability,
            alike: are_alike(baseline, comparability),
            noise: noise::of_pair(baseline, candidate, &levels),
            levels,
        }
    });
    let pooled = compare_all(&against.collect::<Vec<_>>(), slo);
    let found = candidates.iter().zip(differing).zip(pooled);
    found
        .zip(1..)
        .map(|(((candidate, comparability), pooled), index)| {
            pair((baseline, candidate), comparability, pooled, index)
        })
        .collect()
}

fn pair(
    (baseline, candidate): (&Side, &Side),
    comparability: Comparability,
    pooled: Pooled,
    index: u32,
) -> PairComparison {
    let judged = !matches!(comparability, Comparability::Confounded { .. });
    let (one, other) = (&baseline.view.configuration, &candidate.view.configuration);
    let apart = pooled.drift.apart();
    let other_work = outputs::apart(baseline, candidate)
        .filter(|_| judged && are_alike(baseline, &comparability));
    let ceilings = |one: Option<Ceiling>, other: Option<Ceiling>| {
        let both = one.zip(other).filter(|_| judged);
        both.map(|(one, other)| match &other_work {
            Some(why) => not_judged(why.clone()),
            None => compare_ceilings_apart(one, other, apart),
        })
    };
    PairComparison {
        candidate: index,
        ceilings: ceilings(one.ceiling, other.ceiling),
        ceilings_by_percentile: ceilings(one.ceiling_by_percentile, other.ceiling_by_percentile),
        said: if judged {
            let noise = noise::sentence(baseline, candidate);
            let work = other_work.clone();
            said(&pooled).into_iter().chain(noise).chain(work).collect()
        } else {
            Vec::new()
        },
        latencies: pooled.latencies,
        attainment: pooled.attainment,
        along: pooled.along,
        drift: judged.then_some(pooled.drift),
        together: pooled.counted,
        comparability,
    }
}

fn not_judged(why: String) -> CeilingComparison {
    CeilingComparison {
        difference: None,
        verdict: Verdict::NotYetJudged { why },
        remark: None,
    }
}

/// Whether both sides were asked the same. Sessions that carry the engine's own answers never are.
fn are_alike(baseline: &Side, comparability: &Comparability) -> bool {
    let asked = match comparability {
        Comparability::Identical => true,
        Comparability::OneVariable { differing, .. } => !ASKED.contains(&differing.name.as_str()),
        Comparability::Confounded { .. } => false,
    };
    asked && !baseline.spec.workload.has_real_answers()
}

/// The levels that both have, in the order in which the baseline ran them.
fn levels<'a>(baseline: &'a Side, candidate: &'a Side) -> Vec<LevelRuns<'a>> {
    let mut seen = Vec::new();
    for point in &baseline.view.points {
        if !seen.contains(&point.level) {
            seen.push(point.level);
        }
    }
    let both = |level: Level| Some((baseline.runs(level)?, candidate.runs(level)?));
    seen.into_iter()
        .filter_map(|level| {
            let (one, other) = both(level)?;
            Some(LevelRuns {
                level,
                no_latencies: why(&one, &other, |side| side.above_capacity, ABOVE),
                nothing: why(&one, &other, |side| side.runs.is_empty(), VOID),
                baseline: one.runs,
                candidate: other.runs,
            })
        })
        .collect()
}

const ABOVE: &str = "above capacity: its latencies grow with the length of the run";
const VOID: &str = "void: the client itself disturbed the measurement";

fn why(
    one: &SideRuns<'_>,
    other: &SideRuns<'_>,
    holds: fn(&SideRuns<'_>) -> bool,
    because: &str,
) -> Option<String> {
    let whose = match (holds(one), holds(other)) {
        (true, _) => "the baseline's",
        (false, true) => "the candidate's",
        (false, false) => return None,
    };
    Some(format!("{whose} point is {because}"))
}

/// What one side measured at a level. Void runs are left out.
struct SideRuns<'a> {
    runs: Vec<Run<'a>>,
    above_capacity: bool,
}

impl Side {
    /// `None` where it has nothing at this level.
    fn runs(&self, level: Level) -> Option<SideRuns<'_>> {
        let (mut runs, mut above_capacity, mut any) = (Vec::new(), false, false);
        for point in self.view.points.iter().filter(|it| it.level == level) {
            let (Some(scores), Some(summary), Some(certificate)) = (
                self.scores.get(&point.id),
                &point.summary,
                &point.certificate,
            ) else {
                continue;
            };
            any = true;
            if certificate.innocence == Innocence::Void {
                continue;
            }
            above_capacity |= matches!(summary.capacity, Capacity::Above { .. });
            runs.push(Run {
                repeat: point.repeat,
                started_ms: point.started_ms.unwrap_or(0),
                scores,
            });
        }
        any.then_some(SideRuns {
            runs,
            above_capacity,
        })
    }
}
