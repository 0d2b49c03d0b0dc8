//! What earlier runs of both sides differ by: no difference between the two is surer than that.

use app::chart::level_words;
use app::words::rate_unit;
use measure::compare::{LevelRuns, Noise};
use measure::slo::Metric;
use measure::units::Level;

use super::Side;
use crate::studio::history::Known;

/// What is known at the levels that both have. A run of history is a study, its repeats together; `compare` asks for one repeat's noise,
/// of which a mean of R has 1 / R of the variance.
pub(super) fn of_pair(
    baseline: &Side,
    candidate: &Side,
    levels: &[LevelRuns<'_>],
) -> Vec<((Level, Metric, f64), Noise)> {
    let repeats = |level: Level| {
        let runs = levels.iter().find(|it| it.level == level)?;
        Some(runs.baseline.len().max(runs.candidate.len()).max(1) as f64)
    };
    let known = both(baseline, candidate).filter_map(|(of, noise, _)| {
        let deviation = noise.deviation * repeats(of.0)?.sqrt();
        Some((of, Noise { deviation, ..noise }))
    });
    known.collect()
}

/// How many runs it is known from, and where.
pub(super) fn sentence(baseline: &Side, candidate: &Side) -> Option<String> {
    let mut levels: Vec<Level> = Vec::new();
    let mut runs: Vec<usize> = Vec::new();
    for ((level, ..), _, count) in both(baseline, candidate) {
        if !levels.contains(&level) && candidate.has(level) && baseline.has(level) {
            levels.push(level);
            runs.push(count);
        }
    }
    let (least, most) = (runs.iter().min()?, runs.iter().max()?);
    let runs = if least == most {
        least.to_string()
    } else {
        format!("{least} to {most}")
    };
    let unit = rate_unit(&baseline.spec);
    let levels: Vec<String> = levels.into_iter().map(|it| level_words(it, unit)).collect();
    Some(format!(
        "Noise from {runs} earlier runs of the same: no difference of TTFT or TPOT at {} is taken to be surer than those runs differ by.",
        levels.join(", ")
    ))
}

/// What is known of either side, or of both together, and by how many runs.
fn both<'a>(
    baseline: &'a Side,
    candidate: &'a Side,
) -> impl Iterator<Item = ((Level, Metric, f64), Noise, usize)> + 'a {
    let other = |of| candidate.noise.iter().find(move |it| it.of == of);
    let first = baseline.noise.iter().map(move |one| match other(one.of) {
        Some(other) if other != one => {
            (one.of, mean(one.noise, other.noise), one.runs + other.runs)
        }
        _ => (one.of, one.noise, one.runs),
    });
    let lacks = |it: &&Known| !baseline.noise.iter().any(|one| one.of == it.of);
    let rest = candidate.noise.iter().filter(lacks);
    first.chain(rest.map(|it| (it.of, it.noise, it.runs)))
}

/// A side's variance on average; degrees of freedom by Welch and Satterthwaite.
fn mean(one: Noise, other: Noise) -> Noise {
    let (a, b) = (one.deviation.powi(2), other.deviation.powi(2));
    let doubt = a * a / one.freedom + b * b / other.freedom;
    Noise {
        deviation: ((a + b) / 2.0).sqrt(),
        freedom: if 0.0 < doubt {
            (a + b).powi(2) / doubt
        } else {
            one.freedom.min(other.freedom)
        },
    }
}

impl Side {
    fn has(&self, level: Level) -> bool {
        self.view.points.iter().any(|it| it.level == level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sides_are_as_noisy_as_they_are_on_average() {
        let noise = |deviation, freedom| Noise { deviation, freedom };
        let both = mean(noise(0.03, 9.0), noise(0.04, 9.0));
        assert!((both.deviation - 0.035_355).abs() < 1e-5, "{both:?}");
        assert!(9.0 < both.freedom && both.freedom <= 18.0, "{both:?}");
        assert_eq!(mean(noise(0.0, 4.0), noise(0.0, 6.0)), noise(0.0, 4.0));
    }
}
