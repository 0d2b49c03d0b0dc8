//! What an adaptive sweep is told to take, before it starts.

use super::*;

/// What an adaptive sweep would take, before it starts.
pub fn foretold(spec: &StudySpec) -> String {
    use measure::adaptive::foretell;

    let Some(search) = spec.search().filter(|_| spec.check().is_empty()) else {
        return String::new();
    };
    let expected = foretell(&search);
    let steps: Vec<String> = expected
        .plan
        .iter()
        .map(|probe| format!("{} ({} requests)", number(probe.rate), probe.requests))
        .collect();
    let close = if expected.width.is_finite() {
        format!(
            "The ceiling's bracket should then be about {} wide",
            percent(expected.width)
        )
    } else {
        "That is too little time to enclose the ceiling of most engines".into()
    };
    format!(
        "At most {} of {} min for each configuration. {close}. Were the ceiling in the middle, it would try {}.",
        count(expected.probes as usize, "probe"),
        (expected.seconds / 60.0).ceil(),
        steps.join(", ")
    )
}
