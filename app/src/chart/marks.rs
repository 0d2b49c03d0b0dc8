//! From points to marks: where each stands, how it is filled, and the ceiling across the line.

use measure::order::by_number;

use measure::summary::{Summary, tokens_per_user};

use super::wording::hover;
use super::*;

pub(super) fn line(series: &Series<'_>, axes: Axes, unit: &str, notes: &mut Notes) -> Line {
    let mut marks: Vec<Mark> = series
        .points
        .iter()
        .filter_map(|point| mark(series, point, axes, unit, notes))
        .collect();
    if axes.across == Across::PerGpu && series.gpus.is_none() && !series.points.is_empty() {
        notes.without_gpus.push(series.name.to_owned());
    }
    by_number(&mut marks, Mark::load);
    Line {
        name: series.name.to_owned(),
        colour: series.colour,
        marks,
    }
}

impl Mark {
    /// The order along a curve: how hard the engine was driven, not where the point came to lie.
    pub fn load(&self) -> f64 {
        match self.level {
            Level::Rate(rate) => rate.per_second(),
            Level::Concurrency(streams) => f64::from(streams),
            Level::Replay(speed) => speed.factor(),
            Level::Inf => f64::INFINITY,
        }
    }
}

/// Where a point of a configuration lies on the horizontal axis.
fn across(series: &Series<'_>, summary: &Summary, axes: Axes) -> Option<f64> {
    match axes.across {
        Across::OutputTokens => summary.output_tokens_per_s,
        Across::Offered => summary.offered_rate,
        Across::Completed => summary.completed_per_s,
        Across::PerGpu => summary.output_tokens_per_gpu(series.gpus?),
        Across::PerUser => tokens_per_user(axes.percentile().of(&summary.tpot)?),
    }
}

fn mark(
    series: &Series<'_>,
    point: &PointView,
    axes: Axes,
    unit: &str,
    notes: &mut Notes,
) -> Option<Mark> {
    let summary = point.summary.as_ref()?;
    if axes.across == Across::PerGpu && series.gpus.is_none() {
        return None;
    }
    let place = place(point, axes.upward);
    let x = across(series, summary, axes)
        .filter(|x| x.is_finite())
        .or((place == Place::RightEdge).then_some(f64::INFINITY));
    let Some(x) = x else {
        notes.without_x += 1;
        return None;
    };
    let (y, lo, hi) = upward(point, axes.upward)?;
    if axes.log && place == Place::Value && (x <= 0.0 || y <= 0.0) {
        notes.zeros += 1;
        return None;
    }
    let fill = fill(point);
    notes.see(place, fill);
    notes.thinks |= summary.ttfa != summary.ttft;
    Some(Mark {
        id: point.id,
        level: point.level,
        x,
        y,
        lo,
        hi,
        place,
        fill,
        hover: hover(point, axes, unit),
    })
}

pub(super) fn fill(point: &PointView) -> Fill {
    match point
        .certificate
        .as_ref()
        .map(|certificate| certificate.innocence)
    {
        Some(Innocence::Void) => Fill::Hollow,
        Some(Innocence::Suspect) => Fill::Half,
        Some(Innocence::Clean) | None => Fill::Solid,
    }
}

pub(super) fn place(point: &PointView, upward: Upward) -> Place {
    let above = point
        .summary
        .as_ref()
        .is_some_and(|summary| matches!(summary.capacity, Capacity::Above { .. }));
    match (point.level, upward) {
        (Level::Inf, _) => Place::RightEdge,
        (_, Upward::Latency(..)) if above => Place::Above,
        (_, Upward::Latency(metric, percentile)) => {
            let estimate = point
                .summary
                .as_ref()
                .and_then(|summary| percentile.of(summary.of(metric)));
            if estimate.is_some_and(|estimate| estimate.value.is_none()) {
                Place::Infinite
            } else {
                Place::Value
            }
        }
        _ => Place::Value,
    }
}

/// The vertical value with its interval, in the unit of the axis. Infinite values are infinite here, too.
pub(super) fn upward(point: &PointView, upward: Upward) -> Option<(f64, Option<f64>, Option<f64>)> {
    match upward {
        Upward::Latency(metric, percentile) => {
            let estimate = percentile.of(point.summary.as_ref()?.of(metric))?;
            let value = estimate.value.map_or(f64::INFINITY, Nanos::as_millis_f64);
            Some((
                value,
                estimate.lo.map(Nanos::as_millis_f64),
                estimate.hi.map(Nanos::as_millis_f64),
            ))
        }
        Upward::Attainment => {
            let share = point.judgement.as_ref()?.attainment?;
            Some((
                share.value * 100.0,
                Some(share.lo * 100.0),
                Some(share.hi * 100.0),
            ))
        }
        Upward::Goodput => Some((point.judgement.as_ref()?.good_tokens_per_s?, None, None)),
    }
}

pub(super) fn limit(slo: &Slo, upward: Upward) -> Option<Limit> {
    match upward {
        Upward::Latency(metric, _) => {
            let bound = slo.bounds.iter().find(|bound| bound.metric == metric)?;
            let text = format!(
                "{} ≤ {}",
                words::metric_name(metric),
                words::threshold(bound.at_most)
            );
            Some(Limit {
                value: bound.at_most.as_millis_f64(),
                text,
            })
        }
        Upward::Attainment => Some(Limit {
            value: slo.attainment * 100.0,
            text: format!("at least {}", format::percent(slo.attainment)),
        }),
        Upward::Goodput => None,
    }
}

/// Where ceilings may lie: the rates of all points that have one.
pub(super) fn offered_rates(series: &[Series<'_>]) -> Vec<f64> {
    series
        .iter()
        .flat_map(|series| &series.points)
        .filter(|point| point.level.rate().is_some())
        .filter_map(|point| point.summary.as_ref()?.offered_rate)
        .collect()
}

/// The ceiling is a rate; on another axis it lies where the curve passes that rate.
pub(super) fn ceiling_mark(
    found: &Ceiling,
    series: &Series<'_>,
    axes: Axes,
    x: &Axis,
    unit: &str,
) -> Option<CeilingMark> {
    let here = |rate: f64| along(series, axes, rate).map(|at| at.clamp(x.bottom(), x.top()));
    // Where the least and the most load lie.
    let (idle, full) = if axes.across.falls() {
        (x.top(), x.bottom())
    } else {
        (x.bottom(), x.top())
    };
    let text = format!("{}: {} {unit}", series.name, format::ceiling(found));
    let (at, from, to) = match *found {
        Ceiling::Bracket { value, lo, hi } => (here(value), here(lo)?, here(hi)?),
        Ceiling::AtLeast { lo } => (None, here(lo)?, full),
        Ceiling::NoneKept { hi } => (None, idle, here(hi)?),
        // Nothing is known of it: there is nothing to draw.
        Ceiling::Unresolved { lo: None, hi: None } | Ceiling::Ramped => return None,
        Ceiling::Unresolved { lo, hi } => (
            None,
            lo.map_or(Some(idle), here)?,
            hi.map_or(Some(full), here)?,
        ),
    };
    Some(CeilingMark {
        at,
        from: from.min(to),
        to: to.max(from),
        text,
        label: ceiling_label(found, unit),
        colour: series.colour,
    })
}

/// The ceiling without its interval, which the mark itself shows.
fn ceiling_label(found: &Ceiling, unit: &str) -> String {
    let number = format::number;
    let value = match *found {
        Ceiling::Bracket { value, .. } => number(value),
        Ceiling::AtLeast { lo } => format!("≥ {}", number(lo)),
        Ceiling::NoneKept { hi } => format!("< {}", number(hi)),
        Ceiling::Unresolved { .. } | Ceiling::Ramped => return "unresolved".into(),
    };
    format!("{value} {unit}")
}

/// Where on the horizontal axis the curve is at an offered rate: linear between its neighbours, the ends beyond them.
pub(super) fn along(series: &Series<'_>, axes: Axes, rate: f64) -> Option<f64> {
    if axes.across == Across::Offered {
        return Some(rate);
    }
    let mut known: Vec<(f64, f64)> = series
        .points
        .iter()
        .filter(|point| point.level.rate().is_some() && fill(point) != Fill::Hollow)
        .filter_map(|point| {
            let summary = point.summary.as_ref()?;
            Some((summary.offered_rate?, across(series, summary, axes)?))
        })
        .collect();
    by_number(&mut known, |(offered, _)| *offered);
    let above = known.partition_point(|(offered, _)| *offered < rate);
    let (Some(right), Some(left)) = (
        known.get(above),
        above.checked_sub(1).and_then(|below| known.get(below)),
    ) else {
        return known.get(above).or(known.last()).map(|(_, x)| *x);
    };
    Some(left.1 + (right.1 - left.1) * (rate - left.0) / (right.0 - left.0))
}
