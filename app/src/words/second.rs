//! The second verdict.

use super::*;

/// The second verdict, always named: the ceiling by percentile, where it says something else than the headline.
pub fn by_percentile(view: &StudyView) -> Option<String> {
    if has_no_rate(view) {
        return None;
    }
    let unit = rate_unit(&view.spec);
    let found: Vec<String> = view
        .configurations
        .iter()
        .filter_map(|configuration| {
            Some(format!(
                "{}: {}",
                configuration.spec.name,
                ceiling(configuration.ceiling_by_percentile.as_ref()?)
            ))
        })
        .collect();
    if found.is_empty() {
        return None;
    }
    let bounds: Vec<String> = view
        .spec
        .slo
        .bounds
        .iter()
        .map(|bound| {
            let percentile = bound.percentile.unwrap_or(view.spec.slo.attainment * 100.0);
            format!(
                "{} p{percentile} ≤ {}",
                metric_name(bound.metric),
                threshold(bound.at_most)
            )
        })
        .collect();
    Some(format!(
        "By the percentile verdict ({}), in {unit}: {}.",
        bounds.join(", "),
        found.join("; ")
    ))
}
