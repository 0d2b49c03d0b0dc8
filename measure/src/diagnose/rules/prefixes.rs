//! Prompts that begin alike: nothing is reused, or too little.

use super::super::condition::{Condition, Told, Unit, fact};
use super::{Figure, Figures, PAGE, PROMPTS, Parts, Turn, falls, over};
use crate::units::three_digits;

/// From this share of the input tokens on it matters whether they are reused.
const ALIKE: f64 = 0.2;
/// Up to this share of what could be reused, nothing is.
const NOTHING: f64 = 0.05;
/// Up to this share of what could be reused, much is lost.
const LITTLE: f64 = 0.7;
/// Requests wait so many times as long for a place as their prompts take.
const QUEUED: f64 = 2.0;
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

/// Where prompts wait for a place and not for their computation, whether they are reused is not the first thing.
fn first_of_all(figures: &Figures) -> Option<Condition> {
    let engine = figures.engine.as_ref()?;
    let ttft = &figures.client.ttft;
    // Where the engine does not take it apart, the quickest of the prompts hardly waited.
    let waits = || Some(over(ttft.p50, ttft.p5)? - 1.0);
    let times = over(engine.queue, engine.prefill).or_else(waits);
    let times = times.filter(|it| QUEUED <= *it)?;
    figures.wait_for_places().then(|| {
        let times = three_digits(times);
        let words = format!(
            "all places are taken, and requests wait {times} times as long for one as their prompts take to be computed (it takes less than {QUEUED} times)"
        );
        fact(Some(false), words)
    })
}

pub(super) fn cold_cache(figures: &Figures) -> Parts {
    let mut conditions = vec![
        alike(figures),
        reused(figures).at_most(NOTHING),
        figures.ttft_steps().at_least(COMPUTED).hint(),
    ];
    conditions.extend(first_of_all(figures));
    let prediction = falls(Figure::TtftP50, 0.4);
    (conditions, Turn::ReusePrefixes, prediction)
}

pub(super) fn evicted_prefixes(figures: &Figures) -> Parts {
    let mut conditions = vec![
        alike(figures),
        reused(figures).at_least(NOTHING),
        reused(figures).at_most(LITTLE),
        figures.ttft_steps().at_least(COMPUTED).hint(),
    ];
    conditions.extend(first_of_all(figures));
    let prediction = falls(Figure::TtftP50, 0.2);
    (conditions, Turn::GrowKvCache, prediction)
}
