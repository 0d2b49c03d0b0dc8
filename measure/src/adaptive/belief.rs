//! Where the crossing may lie and how steep it is: used to choose the next probe and to foretell a width, never for the
//! interval itself.
//!
//! The odds of a bad request are taken to grow as a power of the rate: odds(r) = odds(target) (r / crossing)^steep. What is
//! believed of the two is a table of weights, multiplied by the likelihood of what was seen.

use super::Level;
use super::looks::{distance, limit};

/// Powers of the rate by which the odds of a bad request may grow: a lightly loaded queue's, up to a wall.
const STEEP: [f64; 5] = [2.5, 5.0, 10.0, 20.0, 40.0];
/// Places of the crossing between the ends, even in the logarithm of the rate.
const PLACES: usize = 24;
/// Levels further away than this factor say nothing of the crossing.
const NEAR: f64 = 3.0;

/// One possibility.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// The logarithm of the crossing.
    at: f64,
    steep: f64,
    weight: f64,
}

/// What is believed.
pub(super) struct Belief {
    nodes: Vec<Node>,
    target: f64,
}

/// A probe that might be next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    pub rate: f64,
    /// Which level it belongs to.
    pub level: usize,
    /// The look that it goes to.
    pub look: usize,
    /// What the level has shown so far: share, and independent requests.
    pub seen: (f64, f64),
    /// Independent requests that the probe adds.
    pub more: f64,
}

impl Belief {
    /// What the levels say of a crossing between two rates.
    pub fn of(levels: &[Level], (lo, hi): (f64, f64), target: f64) -> Self {
        let step = (hi / lo).ln() / PLACES as f64;
        let places = (0..PLACES).map(|place| lo.ln() + step * (place as f64 + 0.5));
        let mut nodes: Vec<Node> = places
            .flat_map(|at| {
                STEEP.map(|steep| Node {
                    at,
                    steep,
                    weight: 0.0,
                })
            })
            .collect();
        let near =
            |level: &&Level| !level.above && lo / NEAR < level.rate && level.rate < hi * NEAR;
        for node in &mut nodes {
            let seen = levels.iter().filter(near);
            node.weight = seen.map(|level| node.log_likelihood(level, target)).sum();
        }
        let most = nodes
            .iter()
            .map(|node| node.weight)
            .fold(f64::NEG_INFINITY, f64::max);
        nodes
            .iter_mut()
            .for_each(|node| node.weight = (node.weight - most).exp());
        let all: f64 = nodes.iter().map(|node| node.weight).sum();
        nodes.iter_mut().for_each(|node| node.weight /= all);
        Self { nodes, target }
    }

    /// The crossing that is expected.
    pub fn crossing(&self) -> f64 {
        self.nodes
            .iter()
            .map(|node| node.weight * node.at)
            .sum::<f64>()
            .exp()
    }

    /// How much of the surplus over `goal` a probe is expected to take off the logarithm of hi over lo.
    pub fn gain(&self, trial: Trial, (lo, hi): (f64, f64), goal: f64) -> f64 {
        let surplus = |ratio: f64| (ratio.ln() - goal).max(0.0);
        let now = surplus(hi / lo);
        let (if_kept, if_broken) = (
            now - surplus(hi / trial.rate),
            now - surplus(trial.rate / lo),
        );
        let gains = self.nodes.iter().map(|node| {
            let (kept, broken) = node.decides(trial, self.target);
            node.weight * (kept * if_kept + broken * if_broken)
        });
        gains.sum()
    }
}

impl Node {
    fn share(&self, rate: f64, target: f64) -> f64 {
        share(rate / self.at.exp(), self.steep, target)
    }

    /// Half of the likelihood's logarithm: the power law is only nearly true.
    fn log_likelihood(&self, level: &Level, target: f64) -> f64 {
        let share = self.share(level.rate, target).clamp(1e-9, 1.0 - 1e-9);
        let evidence = &level.evidence;
        let seen = evidence.share();
        0.5 * evidence.effective * (seen * share.ln() + (1.0 - seen) * (1.0 - share).ln())
    }

    /// The chances that a probe decides for the one side and for the other.
    fn decides(&self, trial: Trial, target: f64) -> (f64, f64) {
        let (seen, worth) = trial.seen;
        let all = worth + trial.more;
        let share = (seen * worth + self.share(trial.rate, target) * trial.more) / all;
        let distance = distance(share, all, target);
        let chance = logistic(
            1.7 * (distance.abs() - limit(trial.level, trial.look)) / (trial.more / all).sqrt(),
        );
        if 0.0 < distance {
            (chance, 0.0)
        } else {
            (0.0, chance)
        }
    }
}

/// The share of good requests at a rate that is `ratio` times the crossing.
pub(super) fn share(ratio: f64, steep: f64, target: f64) -> f64 {
    1.0 / (1.0 + (1.0 - target) / target * ratio.powf(steep))
}

/// Near enough to the normal distribution at 1.7 times its argument.
fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}
