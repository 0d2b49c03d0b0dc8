//! Tokens slower than the hardware allows: launches, the host, refused drafts.

use super::super::condition::{Condition, Told, Unit, fact};
use super::{DECODES, Figure, Figures, HARDWARE, PAGE, Parts, STAYS, Turn, falls, over};

/// Steps so far beyond what the hardware allows are not explained by a rough data sheet.
const LAUNCHES: f64 = 1.2;
/// Where each sequence adds to a step, less is enough.
const HOST: f64 = 1.05;
/// What a stream more adds to a step beyond reading its cache, in seconds, where the CPU prepares it.
const EACH: f64 = 8e-6;
/// Drafts of which fewer than this share stand cost more than they give.
const STAND: f64 = 0.5;

/// The usual steps over the shortest possible ones for as many streams as usual.
fn beyond(figures: &Figures) -> Told {
    let client = &figures.client;
    let shortest = figures.case.theory.and_then(|it| {
        let each = it.sequence.as_secs_f64() + it.cached_token.as_secs_f64() * client.context?;
        Some(it.step.as_secs_f64() + each * client.plateau.streamed?)
    });
    Told {
        name: "median gap between tokens over the shortest step that the hardware allows",
        value: over(client.gap.p50, shortest),
        unit: Unit::Times,
        by: HARDWARE,
    }
}

/// What a stream more adds to a gap, beyond what reading its cache takes.
fn each(figures: &Figures) -> Told {
    let client = &figures.client;
    let beyond = figures.case.theory.and_then(|it| {
        let reading = it.cached_token.as_secs_f64() * client.context?;
        Some(client.each? - reading - it.sequence.as_secs_f64())
    });
    Told {
        name: "what each stream more adds to a gap, beyond reading its cache",
        value: beyond,
        unit: Unit::Time,
        by: HARDWARE,
    }
}

/// Nothing is drafted.
fn no_drafts(figures: &Figures) -> Condition {
    let holds = figures.engine.as_ref().map(|it| it.accepted.is_none());
    let words = match holds {
        Some(true) => "the engine drafts nothing".to_owned(),
        Some(false) => "the engine drafts tokens".to_owned(),
        None => format!("whether the engine drafts tokens: not told ({PAGE})"),
    };
    fact(holds, words)
}

pub(super) fn drafts_refused(figures: &Figures) -> Parts {
    let share = figures.engine.as_ref().map(|it| it.accepted);
    let stands = match share {
        Some(None) => fact(Some(false), "the engine drafts nothing".to_owned()),
        _ => figures
            .page("drafted tokens that stood", Unit::Percent, |it| it.accepted)
            .at_most(STAND),
    };
    let conditions = vec![stands, beyond(figures).at_least(HOST).hint()];
    let prediction = falls(Figure::TpotP50, 0.05);
    (conditions, Turn::StopDrafting, prediction)
}

pub(super) fn eager_launches(figures: &Figures) -> Parts {
    let conditions = vec![
        beyond(figures).at_least(LAUNCHES).core(),
        each(figures).at_most(EACH),
        figures.decodes().at_most(DECODES),
        no_drafts(figures),
        figures.waits().at_most(STAYS).veto(),
    ];
    let prediction = falls(Figure::TpotP50, 0.1);
    (conditions, Turn::RecordGraphs, prediction)
}

pub(super) fn slow_host(figures: &Figures) -> Parts {
    let conditions = vec![
        beyond(figures).at_least(HOST).core(),
        each(figures).at_least(EACH),
        figures.decodes().at_most(DECODES),
        no_drafts(figures),
        figures.waits().at_most(STAYS).veto(),
    ];
    let prediction = falls(Figure::TpotP50, 0.05);
    (conditions, Turn::PlanAhead, prediction)
}
