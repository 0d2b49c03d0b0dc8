//! The same values as counts in bins, on the same axis.

use measure::slo::Metric;
use measure::units::Nanos;

use super::Values;
use crate::axis::Axis;
use crate::requests::axis::Scale;
use crate::requests::drawing::{Frame, HIGH, WIDE, bound_across, short};
use crate::ui::format;
use crate::ui::html::{Html, html};

/// Bins over the axis.
const BINS: usize = 60;
/// Units of the picture that a lone value has at least, so that it is seen.
const LEAST: f64 = 6.0;

/// The picture.
pub fn histogram(name: &str, values: &Values, scale: &Scale, bounds: &[(Metric, Nanos)]) -> Html {
    let counts = counts(values, scale);
    let most = counts.iter().copied().max().unwrap_or(0);
    let y = Axis::over("requests".into(), [most as f64], false);
    let wide = WIDE / BINS as f64;
    let bar = |(index, count): (usize, &usize)| {
        let high = (y.fraction(*count as f64) * HIGH).max(LEAST);
        let left = index as f64 * wide;
        (0 < *count).then(|| {
            format!(
                "M{} 300v-{}h{}V300z",
                short(left),
                short(high),
                short(wide * 0.9)
            )
        })
    };
    let path: String = counts.iter().enumerate().filter_map(bar).collect();
    let bounds = bounds.iter().map(|it| scale.fraction(it.1.0));
    let bounds = bounds.filter(|at| (0.0..=1.0).contains(at));
    let failed = (0 < values.failed).then(|| {
        html!(
            r#"<text x="100%" y="10" text-anchor="end" class="halo" style="fill:var(--bad)">× {} failed</text>"#,
            format::count(values.failed as u64)
        )
    });
    let over = bounds.map(|at| bound_across(at, "")).chain(failed);
    let title = format!(
        "Histogram of {name}: at most {} in one of {BINS} bins",
        format::count(most as u64)
    );
    let frame = Frame {
        title: &title,
        x: &scale.axis,
        y: Some(&y),
        height: 80,
    };
    frame.draw(
        html!(r#"<path class="bars" d="{}"/>"#, path),
        over.collect(),
    )
}

/// How many values lie in each bin.
fn counts(values: &Values, scale: &Scale) -> Vec<usize> {
    let mut counts = vec![0; BINS];
    for value in &values.finite {
        let place = (scale.fraction(*value).max(0.0) * BINS as f64) as usize;
        if let Some(count) = counts.get_mut(place.min(BINS - 1)) {
            *count += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_is_left_out_and_a_lone_one_is_seen() {
        let mut finite = vec![1_000_000; 10_000];
        finite.push(900_000_000);
        let values = Values { finite, failed: 2 };
        let scale = Scale::of_latencies(values.finite.iter().copied());
        assert_eq!(counts(&values, &scale).iter().sum::<usize>(), 10_001);
        let html = histogram("TTFT", &values, &scale, &[]).into_string();
        assert_eq!(html.matches("v-").count(), 2, "{html}");
        assert!(html.contains(" 300v-6h"), "{html}");
        assert!(html.contains("× 2 failed"));
    }
}
