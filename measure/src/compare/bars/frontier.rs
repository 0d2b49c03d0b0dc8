//! How often a difference can be found by one who does not know how much runs differ.
//!
//! An oracle knows that the machine is steady. A test knows the difference at each level, whose swing its requests tell, and how
//! far two repeats at each of four levels differ, together four degrees of freedom. Where all such tests must keep to 6.5 % of
//! false alarms when runs differ, how many differences can any of them find when they do not? By weak duality the answer is at
//! most the largest value of (found - weight x false alarms) + weight x 6.5 %, for any one noise between runs and any weight.

use super::{Bar, Row};

/// Rates, and degrees of freedom of what repeats tell.
const LEVELS: i32 = 4;
/// Most studies with a false alarm.
const MOST: f64 = 0.065;
/// Excess of the variance, in that which requests explain, and its weight, for which the bound is least.
const EXCESS: f64 = 2.8;
const WEIGHT: f64 = 2.8;
/// Classes of what repeats differ by, from 1 % to 100 times what requests explain.
const CLASSES: i32 = 200;
/// Steps of a threshold, and beyond it a difference is never found.
const STEP: f64 = 0.05;
const NEVER: f64 = 12.0;

/// The largest share of differences found, each so many standard errors large, by a test that on a steady machine asks for at
/// least `threshold` standard errors.
pub(super) fn most_found(standard_errors: f64, threshold: f64) -> f64 {
    let thresholds = (0..).map(|step| threshold + STEP * f64::from(step));
    let tests: Vec<(f64, f64)> = thresholds
        .take_while(|at| *at < NEVER)
        .map(|at| (found(at, standard_errors), false_alarm(at)))
        .chain([(0.0, 0.0)])
        .collect();
    let best = |[steady, restless]: [f64; 2]| {
        let gain = |(found, alarm): &(f64, f64)| steady * found - WEIGHT * restless * alarm;
        tests.iter().map(gain).fold(0.0, f64::max)
    };
    classes().map(best).sum::<f64>() + WEIGHT * MOST
}

/// How often a difference exceeds a threshold, in standard errors on a steady machine.
fn found(threshold: f64, standard_errors: f64) -> f64 {
    beyond(threshold - standard_errors) + beyond(threshold + standard_errors)
}

/// How often any level does without a difference, where runs differ.
fn false_alarm(threshold: f64) -> f64 {
    1.0 - (1.0 - 2.0 * beyond(threshold / (1.0 + EXCESS).sqrt())).powi(LEVELS)
}

/// How often repeats differ by as much as each class says, on a steady machine and where runs differ.
fn classes() -> impl Iterator<Item = [f64; 2]> {
    let end = |class: i32| match class {
        0 => 0.0,
        CLASSES => f64::INFINITY,
        _ => 0.01 * 1e4f64.powf(f64::from(class) / f64::from(CLASSES)),
    };
    (0..CLASSES).map(move |class| {
        [1.0, 1.0 + EXCESS]
            .map(|variance| within(end(class + 1) / variance) - within(end(class) / variance))
    })
}

/// Chi-square's distribution with four degrees of freedom, over four.
fn within(mean_square: f64) -> f64 {
    let half = 2.0 * mean_square;
    if half.is_infinite() {
        return 1.0;
    }
    1.0 - (-half).exp() * (1.0 + half)
}

/// The normal distribution's share beyond a deviate, by the middles of 2,000 strips.
fn beyond(deviate: f64) -> f64 {
    if deviate < 0.0 {
        return 1.0 - beyond(-deviate);
    }
    let strip = 0.005;
    let density = |x: f64| (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let middles = (0..2000).map(|at| deviate + (f64::from(at) + 0.5) * strip);
    middles.map(density).sum::<f64>() * strip
}

/// Beside the row of two repeats: 5 % are 3.54 standard errors of 1.38 %, and the surest of 28 differences takes 3.19.
pub(super) fn row() -> Row {
    let most = most_found(1.05f64.ln() / 0.0138, 3.19);
    let name = "verdicts: found at most by one who does not know the noise, 5 % of TPOT p50, 2 repeats of 500 pairs at each of 4 rates";
    Row::new(name.to_owned(), 1, most, Bar::None)
}

#[test]
fn the_bound_agrees_with_scipy() {
    // scipy.stats.norm.sf(1.96), chi2.cdf(4, 4); the bound by numpy with the same classes.
    assert!(
        (beyond(1.96) - 0.024_997_9).abs() < 1e-6 && (beyond(-1.96) - 0.975_002_1).abs() < 1e-6
    );
    assert!((within(1.0) - 0.593_994_2).abs() < 1e-6);
    let most = row().figure;
    assert!((most - 0.510).abs() < 2e-3, "{most}");
    // Who need not fear noise finds as much as the oracle: P(Z > 3.19 - 3.54).
    assert!((found(3.19, 3.5355) - 0.635).abs() < 1e-3);
}
