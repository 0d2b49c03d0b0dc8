//! What a comparison found beside its table, in words made here so that the page need not know how.

use app::words;
use measure::compare::{Along, Drift, Pooled, Verdict, Watched};

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
    let (name, by, verdict) = match (along.metric, along.percentile) {
        (Some(metric), Some(percentile)) => (
            format!("{} p{percentile}", words::metric_name(metric)),
            words::difference(&along.difference),
            words::verdict(&along.verdict),
        ),
        _ => (
            "attainment".to_owned(),
            words::difference_in_points(&along.difference),
            words::verdict_in_points(&along.verdict),
        ),
    };
    let uneven = if along.uneven {
        ", and not the same at every level"
    } else {
        ""
    };
    format!("{name} {by}, {verdict}{uneven}")
}

fn drift(drift: &Drift) -> String {
    match drift {
        Drift::Unknown { repeated: false } => "Whether the machine drifted meanwhile nobody can tell: the baseline ran once at each level. \
                           Repeats would tell, and what two runs differ by without any cause."
            .to_owned(),
        Drift::Unknown { repeated: true } => "Whether the machine drifted meanwhile nobody can tell: the baseline's own two \
                           halves have too few requests to be compared, or such as hang together too long."
            .to_owned(),
        Drift::Steady { watched, .. } => steady(watched),
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

/// Which medians were judged, and how large a change of each would have been seen.
fn steady(watched: &[Watched]) -> String {
    let (judged, open): (Vec<&Watched>, Vec<&Watched>) =
        watched.iter().partition(|it| it.smallest_seen.is_some());
    let seen = judged.iter().filter_map(|it| {
        let seen = it.smallest_seen?;
        let only = if 1.0 <= seen { "only " } else { "" };
        Some(format!(
            "{} {only}from {} on",
            median(it),
            words::larger(seen)
        ))
    });
    let seen: Vec<String> = seen.collect();
    let open: Vec<String> = open.into_iter().map(median).collect();
    let open = (!open.is_empty()).then(|| {
        format!(
            " Of {} nobody can tell: its requests are too few, or hang together too long.",
            open.join(" and ")
        )
    });
    format!(
        "The baseline's own two halves do not differ as far as can be seen: a change of {} would have been seen.{}",
        seen.join(", of "),
        open.unwrap_or_default()
    )
}

fn median(of: &Watched) -> String {
    format!("{} p50", words::metric_name(of.metric))
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
    use measure::compare::Difference;
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

    fn watched(metric: Metric, smallest_seen: Option<f64>) -> Watched {
        Watched {
            metric,
            smallest_seen,
        }
    }

    #[test]
    fn each_median_says_what_would_have_been_seen_of_it() {
        let said = steady(&[
            watched(Metric::Ttft, Some(2.2)),
            watched(Metric::Tpot, Some(0.032)),
        ]);
        assert!(
            said.contains(
                "TTFT p50 only from 3.20 times as much on, of TPOT p50 from 3.2\u{202f}% on"
            ),
            "{said}"
        );
    }

    #[test]
    fn an_empty_verdict_is_none() {
        let along = found(
            Some(Metric::Ttft),
            Some(50.0),
            0.01,
            Verdict::CannotTell {
                smallest_seen: 24.667,
            },
        );
        let said = one(&along);
        assert!(
            said.ends_with(
                "cannot tell (one would have been seen only from 25.7 times as much on)"
            ),
            "{said}"
        );
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
                watched: vec![
                    watched(Metric::Tpot, Some(0.041)),
                    watched(Metric::Ttft, None),
                ],
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
            said.contains("a change of TPOT p50 from 4.1\u{202f}% on would have been seen. Of TTFT p50 nobody can tell"),
            "{said}"
        );
        assert!(
            said.contains("(smallest we could have seen: 3 points)"),
            "a share's in points, as its interval is: {said}"
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
