//! A history in words: the same on the page and on the command line.

use measure::history::Change;
use measure::quantile::Estimate;
use measure::slo::Metric;
use measure::units::{Level, Nanos};

use super::{FigureHistory, HistoryView, Outcome, PointHistory};
use crate::chart::level_words;
use crate::ui::format;
use crate::words::{self, count, metric_name, signed_percent};

/// `TTFT p50`, or `ceiling`.
pub fn figure_name(figure: &FigureHistory) -> String {
    match (figure.metric, figure.percentile) {
        (Some(metric), Some(percentile)) => format!("{} p{percentile}", metric_name(metric)),
        _ => "ceiling".to_owned(),
    }
}

/// An operating point: `8.00 req/s`, or `the whole curve`.
pub fn place(level: Option<Level>, unit: &str) -> String {
    level.map_or_else(
        || "the whole curve".to_owned(),
        |level| level_words(level, unit),
    )
}

/// A figure's value with its unit.
pub fn value(metric: Option<Metric>, value: f64, unit: &str) -> String {
    match metric {
        Some(_) => Nanos(value.max(0.0).round() as u64).to_string(),
        None => format!("{} {unit}", format::number(value)),
    }
}

/// Normal deviates that a 95 % interval is long, one way.
const HALF: f64 = 1.96;

/// A figure's value with the digits that its own interval carries, as the other pages write it.
pub fn written(figure: &FigureHistory, of: f64, unit: &str) -> String {
    let Some(error) = figure.error else {
        return value(figure.metric, of, unit);
    };
    let wide = (HALF * error).exp();
    if figure.metric.is_none() {
        let text = format::with_interval(of, Some(of / wide), Some(of * wide));
        let value = text.split(" (").next().unwrap_or_default();
        return format!("{value} {unit}");
    }
    let nanos = |it: f64| Some(Nanos(it.max(0.0).round() as u64));
    format::latency_value(&Estimate {
        value: nanos(of),
        lo: nanos(of / wide),
        hi: nanos(of * wide),
    })
}

/// What came of a figure, as the second half of a sentence.
pub fn told(figure: &FigureHistory) -> String {
    let why = figure.why.as_deref().unwrap_or_default();
    let Some(change) = figure.change else {
        return format!("{}: {why}", figure.outcome.word());
    };
    let by = format!(
        "{} ({} to {}) against {}",
        signed_percent(change.relative),
        signed_percent(change.lo).trim_end_matches("\u{202f}%"),
        signed_percent(change.hi).trim_end_matches("\u{202f}%"),
        count(figure.counted as usize, "run"),
    );
    match figure.outcome {
        Outcome::Indeterminate => format!("indeterminate: {by}; {why}"),
        Outcome::Pass if figure.improved => format!("pass, and better: {by}"),
        Outcome::Pass => format!("pass: {by}; {} would have been seen", seen(figure, &change)),
        outcome => format!("{}: {by}", outcome.word()),
    }
}

/// The smallest change for the worse that would have been seen: `8 % more`, or `3.2 times as much`; of a ceiling, less.
pub(super) fn seen(figure: &FigureHistory, change: &Change) -> String {
    match (figure.metric, change.smallest_seen) {
        (None, seen) => format!("{} less", format::percent(seen / (1.0 + seen))),
        (Some(_), seen) if seen < 1.0 => format!("{} more", format::percent(seen)),
        (Some(_), seen) => format!("{} times as much", format::number(1.0 + seen)),
    }
}

/// The first line: what came of the whole study.
pub fn sentence(view: &HistoryView) -> String {
    let judged = || {
        let points = view.configurations.iter().flat_map(|it| &it.points);
        points.filter(|it| it.outcome != Outcome::LeftOut)
    };
    let (all, of) = (judged().count(), |outcome: Outcome| {
        judged().filter(|it| it.outcome == outcome).count()
    });
    let (failed, open) = (of(Outcome::Fail), of(Outcome::Indeterminate));
    let places = count(all, "operating point");
    let measure = match view.allowed {
        Some(allowed) => format!("than the {} that were allowed", format::percent(allowed)),
        None => "than runs of the same are".to_owned(),
    };
    match view.outcome {
        Outcome::Fail => format!("Fail: worse {measure} at {failed} of {places}."),
        Outcome::Pass => format!("Pass: no worse {measure} at {places}.{}", blind_spot(view)),
        Outcome::Indeterminate if view.lacking => {
            "Indeterminate: runs of earlier studies are still being worked out. Look again in a few minutes.".to_owned()
        }
        Outcome::Indeterminate if all == 0 => {
            "Indeterminate: there is nothing to judge.".to_owned()
        }
        _ if is_first(view) => {
            format!(
                "Indeterminate: no earlier run of the same is here. {ENOUGH} would tell what two runs differ by."
            )
        }
        _ => format!(
            "Indeterminate: cannot tell at {open} of {places}. {}{}",
            most_runs(view),
            mend(view)
        ),
    }
}

/// The largest change that may have stayed unseen, where nothing was allowed: of which figure, and where.
fn blind_spot(view: &HistoryView) -> String {
    let points = view.configurations.iter().flat_map(|it| &it.points);
    let figures = points.flat_map(|point| point.figures.iter().map(move |it| (point, it)));
    let found = figures
        .filter(|(_, it)| it.outcome == Outcome::Pass && view.allowed.is_none())
        .filter_map(|(point, it)| Some((point, it, it.change?)))
        .max_by(|one, other| one.2.smallest_seen.total_cmp(&other.2.smallest_seen));
    found.map_or_else(String::new, |(point, figure, change)| {
        format!(
            " The largest blind spot: {} at {} would have been seen from {} on.",
            figure_name(figure),
            place(point.level, &view.unit),
            seen(figure, &change)
        )
    })
}

/// What else would end it where only the blind spot is too large.
fn mend(view: &HistoryView) -> &'static str {
    let points = view.configurations.iter().flat_map(|it| &it.points);
    let mut open = points.flat_map(|it| &it.figures);
    let is_blind = |it: &FigureHistory| {
        it.outcome == Outcome::Indeterminate && it.change.is_some() && view.allowed.is_none()
    };
    if open.any(is_blind) {
        " Or say what is allowed (--allow), or accept a larger blind spot (--blind)."
    } else {
        ""
    }
}

/// Why nothing can be told, where all that cannot be told has the same reason: it is said once.
pub fn common(view: &HistoryView) -> Option<&str> {
    let points = view.configurations.iter().flat_map(|it| &it.points);
    let open = points.flat_map(|it| &it.figures);
    let mut open = open.filter(|it| it.outcome == Outcome::Indeterminate);
    let first = open.next()?.why.as_deref()?;
    open.all(|it| it.why.as_deref() == Some(first))
        .then_some(first)
}

/// As many runs as a verdict needs.
const ENOUGH: &str = "Five";

/// Nothing that it could be held against is here.
pub(super) fn is_first(view: &HistoryView) -> bool {
    let points = view.configurations.iter().flat_map(|it| &it.points);
    let mut figures = points.flat_map(|it| &it.figures);
    !view.lacking && figures.all(|it| it.runs.is_empty())
}

/// How many runs there are, where that is what lacks.
fn most_runs(view: &HistoryView) -> String {
    let points = view.configurations.iter().flat_map(|it| &it.points);
    let open = points.filter(|it| it.outcome == Outcome::Indeterminate);
    let why = open.flat_map(reasons).next();
    why.map(|why| format!("{}.", words::capital(why)))
        .unwrap_or_default()
}

fn reasons(point: &PointHistory) -> impl Iterator<Item = &str> {
    let open = point.figures.iter();
    let open = open.filter(|it| it.outcome == Outcome::Indeterminate);
    let left = point.figures.iter();
    open.chain(left).filter_map(|it| it.why.as_deref())
}
