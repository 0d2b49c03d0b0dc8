//! What a comparison found beside its table, in words made here so that the page need not know how.

use app::words;
use measure::compare::{Along, Difference, Drift, Pooled, Verdict};

/// Along the curve, whether the machine drifted, and how many verdicts were judged together.
pub(super) fn said(pooled: &Pooled) -> Vec<String> {
    [
        along(&pooled.along),
        Some(drift(&pooled.drift)),
        together(pooled.counted),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Medians and attainment, and whatever else is better or worse.
fn along(found: &[Along]) -> Option<String> {
    let levels = found.iter().map(|one| one.levels).max()?;
    let told = |one: &&Along| {
        let claimed = matches!(one.verdict, Verdict::Better | Verdict::Worse);
        claimed || one.percentile.is_none_or(|percentile| percentile == 50.0)
    };
    let parts: Vec<String> = found.iter().filter(told).map(one).collect();
    Some(format!(
        "Along the curve, {levels} levels together: {}.",
        parts.join("; ")
    ))
}

fn one(along: &Along) -> String {
    let (name, by) = match (along.metric, along.percentile) {
        (Some(metric), Some(percentile)) => (
            format!("{} p{percentile}", words::metric_name(metric)),
            words::difference(&along.difference),
        ),
        _ => ("attainment".to_owned(), points(&along.difference)),
    };
    let uneven = if along.uneven {
        ", and not the same at every level"
    } else {
        ""
    };
    format!("{name} {by}, {}{uneven}", words::verdict(&along.verdict))
}

/// A difference of shares in percentage points.
fn points(difference: &Difference) -> String {
    let point = |value: f64| format!("{:+.1}", value * 100.0).replace('-', "−");
    let [by, lo, hi] = [difference.relative, difference.lo, difference.hi].map(point);
    format!("{by} points ({lo} to {hi})")
}

fn drift(drift: &Drift) -> String {
    match drift {
        Drift::Unknown => "Whether the machine drifted meanwhile nobody can tell: the baseline ran once at each level. \
                           Repeats would tell, and what two runs differ by without any cause."
            .to_owned(),
        Drift::Steady { smallest_seen } => format!(
            "The baseline's own two halves do not differ; from {:.1} % on it would have been seen.",
            smallest_seen * 100.0
        ),
        Drift::Restless { deviation } => format!(
            "The machine was not steady: runs of one and the same configuration differ by {:.1} % beyond what their requests \
             explain. Only what repeats agree on is judged.",
            deviation * 100.0
        ),
        Drift::Drifted { metric, change } => format!(
            "The machine drifted: the baseline's own {} p50 changed by {} from its first half to its second. Intervals are \
             wider for it, and ceilings must lie twice as far apart.",
            words::metric_name(*metric),
            words::difference(change)
        ),
    }
}

fn together(counted: u32) -> Option<String> {
    (1 < counted).then(|| {
        format!(
            "{counted} differences are judged together: each interval is so wide that of 100 comparisons without any \
             difference at most 5 show one (Holm)."
        )
    })
}

#[cfg(test)]
mod tests {
    use measure::slo::Metric;

    use super::*;

    fn difference(relative: f64) -> Difference {
        Difference {
            relative,
            lo: relative - 0.02,
            hi: relative + 0.02,
            pairs: 900,
        }
    }

    fn found(metric: Option<Metric>, percentile: Option<f64>, by: f64, verdict: Verdict) -> Along {
        Along {
            metric,
            percentile,
            levels: 3,
            difference: difference(by),
            verdict,
            uneven: false,
        }
    }

    #[test]
    fn a_control_says_what_it_could_have_seen() {
        let none = |smallest_seen| Verdict::NoDifference { smallest_seen };
        let pooled = Pooled {
            latencies: Vec::new(),
            attainment: Vec::new(),
            along: vec![
                found(Some(Metric::Tpot), Some(50.0), 0.01, none(0.06)),
                found(Some(Metric::Tpot), Some(99.0), 0.01, none(0.3)),
                found(None, None, 0.01, none(0.03)),
            ],
            drift: Drift::Steady {
                smallest_seen: 0.041,
            },
            counted: 28,
        };
        let said = said(&pooled).join("\n");
        assert!(
            said.contains("TPOT p50 +1.0\u{202f}% (−1.0 to +3.0), no difference we can see (smallest we could have seen: 6"),
            "{said}"
        );
        assert!(
            said.contains("attainment +1.0 points (−1.0 to +3.0)"),
            "{said}"
        );
        assert!(!said.contains("p99"), "{said}");
        assert!(
            said.contains("from 4.1 % on it would have been seen"),
            "{said}"
        );
        assert!(said.contains("28 differences"), "{said}");
    }

    #[test]
    fn a_drift_is_said() {
        let said = drift(&Drift::Drifted {
            metric: Metric::Ttft,
            change: difference(0.12),
        });
        assert!(
            said.contains("TTFT p50 changed by +12\u{202f}% (+10.0 to +14)"),
            "{said}"
        );
    }
}
