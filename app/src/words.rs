//! Numbers and findings in words, the same on every page.
//!
//! Nothing here measures or judges; it says what `measure` found, with its unit, its interval and its doubts.

mod by; // differences and what is said of them
mod doubt; // what speaks against the answer
pub mod failures; // failed requests
#[cfg(feature = "ssr")]
mod foretold; // what a sweep would take
mod second; // the verdict that comes second
mod stretches; // why an interval is wide
#[cfg(feature = "ssr")]
mod surest; // where there is no verdict on ceilings
pub mod terms; // words that the glossary explains
mod unresolved; // why there is no ceiling

pub use by::{
    difference, difference_in_points, larger, signed, signed_percent, verdict, verdict_in_points,
};
#[cfg(feature = "ssr")]
pub use foretold::foretold;
pub use second::by_percentile;
pub use stretches::stretches;
#[cfg(feature = "ssr")]
pub use surest::{needs_surest, surest};

use doubt::{NO_RATE, doubt, offered, void_of};
use unresolved::unresolved_reason;

use measure::compare::{Verdict, compare_ceilings_apart};
use measure::curve::{self, AtCeiling, Ceiling, CurvePoint};
use measure::quantile::{Distribution, Estimate};
use measure::slo::{Keeps, Metric, Slo};
use measure::study::StudySpec;
use measure::summary::Capacity;
use measure::units::Nanos;

use crate::studio::{ConfigurationView, PointState, PointView, StudyState, StudyView};
use crate::ui::format::{ceiling, number, percent};

/// A metric's name as people write it.
pub fn metric_name(metric: Metric) -> &'static str {
    match metric {
        Metric::Ttft => "TTFT",
        Metric::Ttfa => "TTFA",
        Metric::ScheduledTtft => "TTFT from schedule",
        Metric::ScheduledTtfa => "TTFA from schedule",
        Metric::ScheduledE2e => "E2E from schedule",
        Metric::Tpot => "TPOT",
        Metric::Itl => "ITL",
        Metric::Stall => "stall",
        Metric::E2e => "E2E",
    }
}

/// What a rate counts in this study.
pub fn rate_unit(spec: &StudySpec) -> &'static str {
    if spec.workload.is_multi_turn() {
        "sessions/s"
    } else {
        "req/s"
    }
}

/// A threshold without empty decimals: `500 ms`, `1.5 s`.
pub fn threshold(at_most: Nanos) -> String {
    let text = at_most.to_string();
    let Some((number, unit)) = text.split_once(' ') else {
        return text;
    };
    if !number.contains('.') {
        return text;
    }
    format!(
        "{} {unit}",
        number.trim_end_matches('0').trim_end_matches('.')
    )
}

/// The thresholds of an SLO: `TTFT ≤ 500 ms and TPOT ≤ 50 ms`.
pub fn thresholds(slo: &Slo) -> String {
    let bounds: Vec<String> = slo
        .bounds
        .iter()
        .map(|bound| {
            format!(
                "{} ≤ {}",
                metric_name(bound.metric),
                threshold(bound.at_most)
            )
        })
        .collect();
    match bounds.split_last() {
        None => "success".into(),
        Some((only, [])) => only.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

/// The interval and the count behind a percentile, in one line for a hover.
pub fn estimate_detail(estimate: Option<&Estimate>, distribution: &Distribution) -> String {
    let Distribution { count, failed, .. } = distribution;
    let failures = if *failed == 0 {
        String::new()
    } else {
        format!(", {failed} failures stand as infinity")
    };
    let interval = match estimate {
        None => return format!("no value: {count} requests{failures}"),
        Some(Estimate {
            lo: Some(lo),
            hi: Some(hi),
            ..
        }) => format!("95 % interval {lo} to {hi}"),
        Some(Estimate {
            lo: Some(lo),
            hi: None,
            ..
        }) => format!("at least {lo}: too few requests for an upper end"),
        Some(Estimate {
            lo: None,
            hi: Some(hi),
            ..
        }) => format!("at most {hi}"),
        Some(Estimate {
            lo: None, hi: None, ..
        }) => "no interval: too few requests".into(),
    };
    format!("{interval}; n = {count}{failures}")
}

/// Whether a promise is kept, as a word.
pub fn keeps(keeps: Keeps) -> &'static str {
    match keeps {
        Keeps::Surely => "kept",
        Keeps::Probably => "probably kept",
        Keeps::ProbablyNot => "probably broken",
        Keeps::SurelyNot => "broken",
        Keeps::CannotTell => "cannot tell",
    }
}

/// Time left, rounded as people say it.
pub fn time_left(milliseconds: u64) -> String {
    match milliseconds.div_ceil(1000) {
        seconds @ 0..=90 => format!("{seconds} s left"),
        seconds @ 91..=5400 => format!("{} min left", seconds.div_ceil(60)),
        seconds => format!("{} h {} min left", seconds / 3600, seconds % 3600 / 60),
    }
}

/// `1 point`, `8 points`.
pub fn count(number: usize, thing: &str) -> String {
    if number == 1 {
        format!("1 {thing}")
    } else {
        format!("{number} {thing}s")
    }
}

/// Points finished and planned.
pub fn finished(view: &StudyView) -> (usize, usize) {
    (
        view.points
            .iter()
            .filter(|point| point.state == PointState::Finished)
            .count(),
        view.points.len(),
    )
}

/// The answer of a study's page, in words, before any chart. The first sentence is the headline. A configuration's name stands as
/// it was given, at the beginning of a sentence too: `vLLM, bf16` is no `VLLM`.
pub fn answer(view: &StudyView) -> Vec<String> {
    let unit = rate_unit(&view.spec);
    let Some((baseline, others)) = view.configurations.split_first() else {
        return vec!["This study has no configuration.".into()];
    };
    if let Some(nothing) = failures::nothing_succeeded(view) {
        return vec![nothing];
    }
    let is_measured = view.points.iter().any(|it| it.summary.is_some());
    // Without a verdict on ceilings these are the answer.
    let differences = view.differences.iter();
    let mut sentences: Vec<String> = differences
        .filter_map(|(index, said)| {
            let other = view.configurations.get(*index as usize)?;
            Some(format!(
                "{} against {}: {said}.",
                other.spec.name, baseline.spec.name
            ))
        })
        .collect();
    if has_no_rate(view) && is_measured {
        sentences.push(NO_RATE.to_owned());
        sentences.extend(doubt(view));
        return sentences;
    }
    sentences.push(headline(view, baseline, unit));
    let others = others.iter().zip(1..);
    sentences.extend(others.map(|(other, index)| moved(view, (baseline, other, index), unit)));
    sentences.extend(doubt(view));
    sentences.extend(view.configurations.iter().filter_map(|it| {
        let ended = it.search_ended.as_deref()?;
        Some(format!("{}: {}", it.spec.name, small(ended)))
    }));
    sentences.extend(offered(view, unit));
    sentences
}

/// Whether no point of a study has a rate of its own: nothing lies over one, and there is no ceiling to be found.
pub fn has_no_rate(view: &StudyView) -> bool {
    let levels = &view.spec.levels;
    !levels.is_empty() && levels.iter().all(|it| !it.is_open())
}

fn headline(view: &StudyView, baseline: &ConfigurationView, unit: &str) -> String {
    let Some(found) = &baseline.ceiling else {
        return not_yet(view);
    };
    let finding = finding(view, found, unit);
    if 1 < view.configurations.len() {
        format!("{}: {finding}", baseline.spec.name)
    } else {
        capital(&finding)
    }
}

/// What a ceiling says of the promise, as the second half of a sentence.
fn finding(view: &StudyView, found: &Ceiling, unit: &str) -> String {
    let promise = format!(
        "at least {} of requests keep {}",
        percent(view.spec.slo.attainment),
        thresholds(&view.spec.slo)
    );
    let tokens = at_ceiling(view, 0, found)
        .and_then(|at| at.tokens_per_s)
        .map(|tokens| format!(", with {} good tok/s at that rate", number(tokens)))
        .unwrap_or_default();
    match found {
        Ceiling::Bracket { .. } => format!("{promise} up to {}{tokens}.", with_unit(found, unit)),
        Ceiling::AtLeast { lo } => format!(
            "{promise} up to at least {} {unit}{tokens}; no rate tried broke it.",
            number(*lo)
        ),
        Ceiling::NoneKept { hi } => {
            let at = number(*hi);
            match above_capacity(view, *hi) {
                Some(why) => format!(
                    "no rate is known up to which {promise}: the lowest tried, {at} {unit}, lies above capacity already ({why})."
                ),
                None => format!(
                    "no rate tried kept the promise that {promise}: it is broken already at {at} {unit}."
                ),
            }
        }
        Ceiling::Ramped => format!("cannot tell up to which rate {promise}: {RAMPED}."),
        Ceiling::Unresolved { .. } => format!(
            "cannot tell yet up to which rate {promise}: {}.",
            unresolved_reason(found, unit, void_of(view, 0))
        ),
    }
}

/// Why the baseline's rate lies above capacity, where it does.
fn above_capacity(view: &StudyView, rate: f64) -> Option<&str> {
    let points = view.points.iter().filter(|it| it.configuration == 0);
    let off = |it: &&PointView| {
        let offered = it.summary.as_ref().and_then(|it| it.offered_rate);
        offered.map_or(f64::INFINITY, |it| (it - rate).abs())
    };
    let nearest = points.min_by(|a, b| off(a).total_cmp(&off(b)))?;
    match &nearest.summary.as_ref()?.capacity {
        Capacity::Above { why } => Some(why),
        _ => None,
    }
}

/// Why ramps have no ceiling, with the mend.
const RAMPED: &str = "the rate went from one to another within each point, so none stands for what was kept; measure at steady rates";

/// `11.4 sessions/s (10.6 to 12.1)`
pub fn with_unit(found: &Ceiling, unit: &str) -> String {
    let text = ceiling(found);
    match text.split_once(" (") {
        _ if !text.contains(|letter: char| letter.is_ascii_digit()) => text,
        Some((value, interval)) => format!("{value} {unit} ({interval}"),
        None => format!("{text} {unit}"),
    }
}

fn not_yet(view: &StudyView) -> String {
    let (done, all) = finished(view);
    match view.state {
        StudyState::Queued => "Not yet judged: the study waits for its engine.".into(),
        StudyState::Running | StudyState::Waiting => format!(
            "Not yet judged: {done} of {} finished.",
            count(all, "point")
        ),
        _ => format!("Not judged: {done} of {} finished.", count(all, "point")),
    }
}

/// What the other configuration did to the ceiling.
fn moved(
    view: &StudyView,
    (baseline, other, index): (&ConfigurationView, &ConfigurationView, usize),
    unit: &str,
) -> String {
    let name = &other.spec.name;
    let (Some(from), Some(to)) = (baseline.ceiling, other.ceiling) else {
        return match &other.ceiling {
            Some(found) => format!("{name}: {}.", with_unit(found, unit)),
            None => format!("{name}: not yet judged."),
        };
    };
    if let Ceiling::Ramped = to {
        return format!("{name}: cannot tell either.");
    }
    if let Ceiling::Unresolved { .. } = to {
        let reason = unresolved_reason(&to, unit, void_of(view, index));
        return format!("{name}: cannot tell yet, {reason}.");
    }
    let apart = view.apart.iter().find(|it| it.0 as usize == index);
    let compared = compare_ceilings_apart(from, to, apart.map_or(0.0, |it| it.1));
    if let (Verdict::NotYetJudged { .. }, Ceiling::NoneKept { .. }) = (&compared.verdict, to) {
        return format!(
            "{name}: {}; against the first not yet judged.",
            with_unit(&to, unit)
        );
    }
    let change = compared
        .difference
        .map(|found| format!(", {}", difference(&found)))
        .unwrap_or_default();
    let remark = compared
        .remark
        .map(|remark| format!(" {remark}"))
        .unwrap_or_default();
    let open = matches!(compared.verdict, Verdict::NotYetJudged { .. });
    let lead = match to {
        Ceiling::Bracket { .. } if open => format!("{name}: {}", with_unit(&to, unit)),
        Ceiling::Bracket { .. } => format!("{name} moves it to {}", with_unit(&to, unit)),
        _ => format!("{name}: {}", with_unit(&to, unit)),
    };
    if let Verdict::NotYetJudged { why } = &compared.verdict {
        let why = why.trim_end_matches('.');
        return format!("{lead}. Not yet judged against the first: {}.", small(why));
    }
    format!("{lead}: {}{change}.{remark}", verdict(&compared.verdict))
}

/// What a configuration delivers at its ceiling.
pub fn at_ceiling(view: &StudyView, configuration: u32, found: &Ceiling) -> Option<AtCeiling> {
    let of = |point: &&PointView| point.configuration == configuration;
    let points = view.points.iter().filter(of);
    let curve: Vec<CurvePoint<'_>> = points
        .filter_map(|point| point.on_curve(view.spec.arrival))
        .collect();
    curve::at_ceiling(&curve, found)
}

/// The first letter large.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map(|first| crate::browser::large(first) + letters.as_str())
        .unwrap_or_default()
}

/// The first letter small, as after a colon.
pub fn small(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters
        .next()
        .map(|first| first.to_lowercase().collect::<String>() + letters.as_str())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
