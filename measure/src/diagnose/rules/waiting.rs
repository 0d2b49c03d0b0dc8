//! What requests wait for: cache, places, the budget of a step, one another, capacity.

use super::super::client::LONG;
use super::super::condition::{Condition, Told, Unit, fact};
use super::super::streams::PROBES;
use super::{ALL_TAKEN, Figure, Figures, HARDWARE, KV_FULL, Parts, STAYS, Turn, falls, over};
use crate::summary::Capacity;

/// So many preemptions a request make a tail of their own; fewer are the price of a full cache.
const PREEMPTED: f64 = 0.25;
/// TPOT p99 over p50: an answer that was computed anew.
const TPOT_TAIL: f64 = 1.25;
/// One answer of five hundred that paused alone, and three at least: one is an accident.
const PAUSED: f64 = 0.002;
const FEW: f64 = 3.0;
/// A queue that is more than a coincidence.
const WAITS: f64 = 0.2;
/// First tokens take so many steps.
const STEPS: f64 = 8.0;
/// No gap is stretched by a prompt beside it.
const EVEN: f64 = 1.5;
/// A step computes at most this share of a prompt.
const PIECE: f64 = 0.15;
/// Tokens come as quickly as they ever did.
const AS_EVER: f64 = 1.3;
/// What the streams of a batch add to a step: twice as many would serve a third more.
const HALF: f64 = 0.5;
/// A device with less to compute than this has room for a larger batch.
const ROOM: f64 = 0.7;
/// TTFT p99 over p50: a queue of many answers' length.
const SPIKE: f64 = 8.0;
/// TTFT p99 over p50: a prompt of many steps' length.
const HELD_UP: f64 = 4.0;
/// One late request of a hundred: what p99 sees.
const ONE_PERCENT: f64 = 0.01;
/// Most of the late.
const MOST: f64 = 0.5;

/// Answers that were thrown out and computed anew pause alone.
fn paused(figures: &Figures) -> Condition {
    let fewest = FEW / figures.client.answered.clamp(1, PROBES) as f64;
    figures.paused_alone().at_least(fewest.max(PAUSED)).hint()
}

/// A queue as the client sees it.
fn queued(figures: &Figures) -> Told {
    figures.client(
        "moments at which two or more waited for their first token",
        Unit::Percent,
        figures.client.plateau.queued,
    )
}

pub(super) fn kv_pressure(figures: &Figures) -> Parts {
    let tail = figures.client(
        "TPOT p99 over its p50",
        Unit::Times,
        figures.client.tpot.tail(),
    );
    let conditions = vec![
        figures.preemptions().at_least(PREEMPTED),
        tail.at_least(TPOT_TAIL),
        paused(figures),
    ];
    let prediction = falls(Figure::TpotP99, 0.15);
    (conditions, Turn::GrowKvCache, prediction)
}

pub(super) fn kv_bound(figures: &Figures) -> Parts {
    let conditions = vec![
        figures.waits().at_least(WAITS),
        figures.kv_when_waiting().at_least(KV_FULL),
        figures.preemptions().at_most(PREEMPTED),
        figures.full().at_most(0.9).veto(),
        queued(figures).at_least(WAITS).hint(),
        paused(figures),
    ];
    let prediction = falls(Figure::TtftP99, 0.3);
    (conditions, Turn::GrowKvCache, prediction)
}

pub(super) fn prefill_bound(figures: &Figures) -> Parts {
    let client = &figures.client;
    let stretched = over(client.stall.p99, client.gap.p50);
    let stretched = figures.client(
        "longest gaps' p99 over the median gap",
        Unit::Times,
        stretched,
    );
    let piece = over(client.pieces.p90, client.prompt);
    let piece = figures.client(
        "of its prompt a step computes, at p90",
        Unit::Percent,
        piece,
    );
    let gap = client.gap.p50;
    let steps = figures.page(
        "time from a request's first step to its first token, over the median gap",
        Unit::Times,
        |it| over(it.prefill, gap),
    );
    let conditions = vec![
        figures.ttft_steps().at_least(STEPS),
        stretched.at_most(EVEN),
        steps.at_least(STEPS),
        piece.at_most(PIECE).veto(),
    ];
    let prediction = falls(Figure::TtftP50, 0.3);
    (conditions, Turn::RaiseTokenBudget, prediction)
}

pub(super) fn too_little_concurrency(figures: &Figures) -> Parts {
    let conditions = vec![
        figures.waits().at_least(STAYS),
        figures.full().at_least(ALL_TAKEN),
        free_cache(figures),
        figures.decodes().at_most(figures.beside_decodes()),
        room(figures),
        load(figures).at_most(ROOM).veto(),
        queued(figures).at_least(STAYS).hint(),
        at_most(figures).at_least(ALL_TAKEN).hint(),
    ];
    let prediction = falls(Figure::TtftP50, 0.5);
    (conditions, Turn::RaiseConcurrentSequences, prediction)
}

/// Whether the cache has room. Where as many run as the engine's own settings allow, it need not be told: they wait for a place.
fn free_cache(figures: &Figures) -> Condition {
    let condition = figures.kv_when_waiting().at_most(MOST);
    match figures.case.slots {
        Some(_) => condition.veto(),
        None => condition,
    }
}

/// Whether a larger batch would serve more: what its streams add to a step is little of it. Where there were always as many, tokens
/// have to come as quickly as they ever did.
fn room(figures: &Figures) -> Condition {
    let client = &figures.client;
    let added = client.each.zip(client.plateau.streamed);
    let added = added.map(|(each, streams)| each.max(0.0) * streams);
    match over(added, client.gap.p50) {
        None => as_ever(figures).at_most(AS_EVER),
        share => figures
            .client(
                "of the median gap between tokens, what the other streams add to it",
                Unit::Percent,
                share,
            )
            .at_most(HALF),
    }
}

/// Whether tokens come as quickly as they ever did.
fn as_ever(figures: &Figures) -> Told {
    let gap = &figures.client.gap;
    figures.client(
        "median gap between tokens over its p5",
        Unit::Times,
        over(gap.p50, gap.p5),
    )
}

/// What arrives over what the device could compute if all of it ran at once: no weights are read for few tokens then.
fn load(figures: &Figures) -> Told {
    let client = &figures.client;
    let seconds = figures.case.theory.and_then(|it| {
        let token = it.prompt_token.as_secs_f64();
        let cache = it.cached_token.as_secs_f64() * client.context?;
        Some(client.prompts * token + client.answers * (token + cache))
    });
    Told {
        name: "computing what arrives, all of it at once, of the time in which it arrives",
        value: over(seconds, client.seconds),
        unit: Unit::Percent,
        by: HARDWARE,
    }
}

/// As many streamed as ever while others waited.
fn at_most(figures: &Figures) -> Told {
    let name = "moments with waiting requests at which as many streamed as ever";
    figures.client(name, Unit::Percent, figures.client.plateau.at_most)
}

pub(super) fn queue_spikes(figures: &Figures) -> Parts {
    let late = &figures.client.late;
    let conditions = vec![
        figures.ttft_tail().at_least(SPIKE),
        late_share(figures).at_least(ONE_PERCENT),
        figures
            .client(
                "late requests that found a crowd",
                Unit::Percent,
                late.in_crowd,
            )
            .at_least(MOST),
        figures
            .page(
                "time in the queue over time in prefill",
                Unit::Times,
                |it| over(it.queue, it.prefill),
            )
            .at_least(1.0),
        behind_long(figures).at_most(MOST).veto(),
        figures.waits().at_most(STAYS).veto(),
        figures.full().at_least(0.7).veto(),
        figures.kv_when_waiting().at_most(KV_FULL).veto(),
        at_most(figures).at_least(0.7).hint(),
    ];
    let prediction = falls(Figure::TtftP99, 0.5);
    (conditions, Turn::RaiseConcurrentSequences, prediction)
}

fn late_share(figures: &Figures) -> Told {
    let share = figures.client.late.share;
    figures.client(
        "requests with four times the median's TTFT",
        Unit::Percent,
        share,
    )
}

fn behind_long(figures: &Figures) -> Told {
    let share = figures.client.late.behind_long;
    figures.client(
        "late short requests that waited beside a long prompt",
        Unit::Percent,
        share,
    )
}

pub(super) fn long_prefills(figures: &Figures) -> Parts {
    let late = &figures.client.late;
    let others = figures.client(
        "other short requests that waited beside a long prompt",
        Unit::Percent,
        late.others_behind_long,
    );
    let conditions = vec![
        figures.ttft_tail().at_least(HELD_UP),
        late_share(figures).at_least(ONE_PERCENT),
        behind_long(figures).at_least(MOST),
        others.at_most(STAYS),
        figures.waits().at_most(STAYS).veto(),
    ];
    let long = figures.client.prompt.map(|it| LONG * it);
    let short = long.map(|it| Figure::ShortTtftP99 { up_to: it as u32 });
    let prediction = short.and_then(|it| falls(it, 0.3));
    (conditions, Turn::CapLongPrompts, prediction)
}

pub(super) fn above_capacity(figures: &Figures) -> Parts {
    let grows = match &figures.case.summary.capacity {
        Capacity::Above { why } => fact(Some(true), why.clone()),
        Capacity::Within => fact(Some(false), "latencies do not grow over the run".to_owned()),
        Capacity::Unknown => fact(
            None,
            "whether latencies grow over the run: not told (a schedule with a constant rate)"
                .to_owned(),
        ),
    };
    let conditions = vec![
        grows,
        figures.waits().at_least(STAYS),
        as_ever(figures).at_most(AS_EVER).hint(),
    ];
    let prediction = falls(Figure::TtftP50, 0.5);
    (conditions, Turn::LowerRate, prediction)
}
