//! What stands beside a percentile: its interval, or what one would take.

use measure::quantile::{Distribution, Estimate, needed_for};
use measure::units::Nanos;

/// A percentile's value, and behind it its 95 % interval. A dash where so few requests bound it on one side alone, with what it would
/// take.
pub(super) fn with_interval(
    percentile: u32,
    estimate: Option<&Estimate>,
    distribution: &Distribution,
) -> (String, String) {
    let millis = |value: Nanos| format!("{:.2}", value.as_millis_f64());
    let Some(found) = estimate else {
        return ("-".to_owned(), String::new());
    };
    match (found.value, found.lo, found.hi) {
        (None, Some(lo), _) => ("inf".to_owned(), format!("(at least {})", millis(lo))),
        (None, ..) => ("inf".to_owned(), "(failures reach into it)".to_owned()),
        (Some(value), Some(lo), Some(hi)) => (
            millis(value),
            format!("(95 %: {} to {})", millis(lo), millis(hi)),
        ),
        (Some(_), lo, _) => {
            let lo = lo.map_or(String::new(), |it| format!("at least {}; ", millis(it)));
            let needed = needed_for(f64::from(percentile));
            (
                "-".to_owned(),
                format!("({lo}{})", takes(needed, distribution)),
            )
        }
    }
}

/// What an interval with two ends takes: more requests, or such as hang together less.
fn takes(needed: u32, distribution: &Distribution) -> String {
    if distribution.count < needed {
        format!("takes {needed} requests, has {}", distribution.count)
    } else {
        format!(
            "takes {needed} independent requests, these {} are worth {:.0}",
            distribution.count, distribution.effective
        )
    }
}
