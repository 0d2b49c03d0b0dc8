//! What an adaptive sweep is told to take, before it starts.

use measure::adaptive::{Foretold, Stop, foretell};

use super::*;

/// What an adaptive sweep would take, before it starts.
pub fn foretold(spec: &StudySpec) -> String {
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
        too_little(spec, &expected)
    };
    format!(
        "At most {} of {} min for each configuration. {close}. Were the ceiling in the middle, it would try {}.",
        count(expected.probes as usize, "probe"),
        (expected.seconds / 60.0).ceil(),
        steps.join(", ")
    )
}

/// What keeps a search from enclosing most ceilings: its time, or how many requests a rate may have.
fn too_little(spec: &StudySpec, expected: &Foretold) -> String {
    let most = spec.length.max_requests;
    match expected.stop {
        Stop::TimeSpent => "That is too little time to enclose the ceiling of most engines".into(),
        _ => format!(
            "At most {most} requests a rate are too few to enclose the ceiling of most engines"
        ),
    }
}

#[cfg(test)]
mod tests {
    use measure::study::Preset;

    use super::*;

    #[test]
    fn the_search_that_is_offered_encloses_a_ceiling() {
        let offered = StudySpec {
            name: "a search".into(),
            ..Preset::Ceiling.study(&[])
        };
        let said = foretold(&offered);
        assert!(said.contains("bracket should then be about"), "{said}");
        let mut few = offered;
        few.length.max_requests = 200;
        let said = foretold(&few);
        assert!(said.contains("At most 200 requests a rate"), "{said}");
    }
}
