//! The empirical distribution: which share of the requests took at most so long.

use measure::quantile::{Distribution, Estimate};
use measure::slo::Metric;
use measure::units::Nanos;

use super::Values;
use crate::axis::Axis;
use crate::requests::axis::Scale;
use crate::requests::drawing::{Frame, HIGH, WIDE, bound_across, line, percent};
use crate::ui::format;
use crate::ui::html::{Html, html};
use crate::words;

/// More values than that are drawn as far as the picture has places: each is in the step at its place.
const EXACT: usize = 800;
const PLACES: usize = 500;

/// What is drawn.
pub struct Shown<'a> {
    /// The metric's name.
    pub name: &'a str,
    /// Its values.
    pub values: &'a Values,
    /// The same from when requests were due.
    pub scheduled: Option<&'a Values>,
    /// Its percentiles.
    pub distribution: &'a Distribution,
    /// The SLO's thresholds.
    pub bounds: &'a [(Metric, Nanos)],
}

/// The picture.
pub fn ecdf(shown: &Shown<'_>, scale: &Scale) -> Html {
    let y = Axis::over("share".into(), [], false).zoomed(0.0, 100.0);
    let path = |class: &str, values: &Values| {
        html!(
            r#"<path class="{}" d="{}"/>"#,
            class.to_owned(),
            line(corners(values, scale))
        )
    };
    let lines = html!(
        "{}{}",
        shown.scheduled.map(|it| path("waits", it)),
        path("flight", shown.values)
    );
    let Distribution { p50, p95, p99, .. } = shown.distribution;
    let dots = [(50.0, p50), (95.0, p95), (99.0, p99)];
    let dots = dots
        .into_iter()
        .filter_map(|(p, of)| dot(scale, p, of.as_ref()?));
    let bounds = shown.bounds.iter().map(|it| bound(scale, *it));
    let said = [(50, p50), (95, p95), (99, p99)].map(|(p, of)| {
        let value = of.as_ref().map_or_else(|| "–".to_owned(), format::latency);
        format!("p{p} {value}")
    });
    let title = format!(
        "ECDF of {}: {} of {}",
        shown.name,
        said.join(", "),
        format::count(shown.values.len() as u64)
    );
    let frame = Frame {
        title: &title,
        x: &scale.axis,
        y: Some(&y),
        height: 150,
    };
    frame.draw(lines, dots.chain(bounds).collect())
}

fn bound(scale: &Scale, (metric, at_most): (Metric, Nanos)) -> Html {
    let at = scale.fraction(at_most.0).max(0.0);
    let words = format!(
        "{} ≤ {}",
        words::metric_name(metric),
        words::threshold(at_most)
    );
    bound_across(at, &words)
}

fn dot(scale: &Scale, p: f64, estimate: &Estimate) -> Option<Html> {
    let at = scale.fraction(estimate.value?.0);
    Some(html!(
        r#"<circle cx="{}" cy="{}" r="3.5" class="dot"/>"#,
        percent(at),
        percent(1.0 - p / 100.0)
    ))
}

/// Steps from place to place: a step a value, or a step a place of the picture.
fn corners(values: &Values, scale: &Scale) -> Vec<(f64, f64)> {
    let all = values.len().max(1) as f64;
    let down = |count: usize| (1.0 - count as f64 / all) * HIGH;
    let mut corners = vec![(0.0, HIGH)];
    let mut step = |x: f64, count: usize| {
        let before = corners.last().map_or(HIGH, |it| it.1);
        match corners.last_mut() {
            // Several at one place are one step.
            Some(last) if last.0 == x => last.1 = down(count),
            _ if down(count) != before => corners.extend([(x, before), (x, down(count))]),
            _ => {}
        }
    };
    if values.finite.len() <= EXACT {
        for (index, value) in values.finite.iter().enumerate() {
            step(scale.fraction(*value).max(0.0) * WIDE, index + 1);
        }
    } else {
        for place in 1..=PLACES {
            let fraction = place as f64 / PLACES as f64;
            let value = scale.axis.at(fraction) * scale.per;
            step(fraction * WIDE, values.up_to(value as u64));
        }
    }
    corners.push((WIDE, down(values.finite.len())));
    corners
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(values: &Values) -> Scale {
        Scale::of_latencies(values.finite.iter().copied())
    }

    #[test]
    fn a_step_for_each_value_and_failures_never_come_true() {
        let values = Values {
            finite: vec![1_000_000, 2_000_000, 2_000_000],
            failed: 1,
        };
        let scale = scale(&values);
        let corners = corners(&values, &scale);
        let at = |nanos| scale.fraction(nanos) * WIDE;
        let (one, two) = (at(1_000_000), at(2_000_000));
        assert_eq!(
            corners,
            [
                (0.0, 300.0),
                (one, 300.0),
                (one, 225.0),
                (two, 225.0),
                (two, 75.0),
                (WIDE, 75.0)
            ]
        );
    }

    #[test]
    fn many_values_keep_their_last() {
        let mut finite: Vec<u64> = (0..5000).map(|it| 1_000_000 + it * 10).collect();
        finite.push(1_000_000_000);
        let values = Values { finite, failed: 0 };
        let scale = scale(&values);
        let corners = corners(&values, &scale);
        assert!(corners.len() <= 2 * PLACES + 2);
        let before_last = scale.fraction(900_000_000) * WIDE;
        assert!(
            corners
                .iter()
                .any(|it| before_last < it.0 && 0.0 < it.1 && it.1 < 0.1),
            "the outlier has its step"
        );
    }
}
