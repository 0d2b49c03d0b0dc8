//! Prompts that begin alike: nothing is reused, or too little.

use super::super::condition::{Condition, Told, Unit};
use super::{Figure, Figures, PAGE, PROMPTS, Parts, Turn, falls, over};

/// From this share of the input tokens on it matters whether they are reused.
const ALIKE: f64 = 0.2;
/// Up to this share of what could be reused, nothing is.
const NOTHING: f64 = 0.05;
/// Up to this share of what could be reused, much is lost.
const LITTLE: f64 = 0.7;
/// First tokens take so many steps: prompts are computed, not found.
const COMPUTED: f64 = 4.0;

fn alike(figures: &Figures) -> Condition {
    Told {
        name: "input tokens that prompts share with those before them",
        value: figures.prefixes().expected,
        unit: Unit::Percent,
        by: PROMPTS,
    }
    .at_least(ALIKE)
}

/// Of what could be reused, what was.
fn reused(figures: &Figures) -> Told {
    let prefixes = figures.prefixes();
    Told {
        name: "tokens found in the prefix cache, of those that prompts share",
        value: over(prefixes.hit, prefixes.expected),
        unit: Unit::Percent,
        by: PAGE,
    }
}

pub(super) fn cold_cache(figures: &Figures) -> Parts {
    let conditions = vec![
        alike(figures),
        reused(figures).at_most(NOTHING),
        figures.ttft_steps().at_least(COMPUTED).hint(),
    ];
    let prediction = falls(Figure::TtftP50, 0.4);
    (conditions, Turn::ReusePrefixes, prediction)
}

pub(super) fn evicted_prefixes(figures: &Figures) -> Parts {
    let conditions = vec![
        alike(figures),
        reused(figures).at_least(NOTHING),
        reused(figures).at_most(LITTLE),
        figures.ttft_steps().at_least(COMPUTED).hint(),
    ];
    let prediction = falls(Figure::TtftP50, 0.2);
    (conditions, Turn::GrowKvCache, prediction)
}
