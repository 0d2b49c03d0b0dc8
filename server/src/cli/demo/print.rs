//! The study as text: each point, the curves, the ceilings, the verdict.

use std::fmt::Write;

use app::studio::{CompareView, PairComparison, PointView, StudyView};
use app::words;
use measure::certificate::Innocence;
use measure::compare::{CeilingComparison, Verdict};
use measure::curve::Ceiling;
use measure::knobs::Comparability;
use measure::quantile::{Distribution, Estimate};
use measure::study::StudySpec;
use measure::summary::{Capacity, Summary};
use measure::units::{significant, three_digits};

/// Above the points as they finish. TTFT and TPOT in milliseconds.
pub(super) const POINT_HEADER: &str = "point  configuration        rate  requests  TTFT ms p50      p95      p99  TPOT ms p50      p95      p99   good %     tok/s";

/// What is about to be measured.
pub(super) fn introduction(spec: &StudySpec) -> String {
    let plan = spec.plan();
    let seconds = plan
        .iter()
        .map(|point| point.estimated.as_secs_f64())
        .sum::<f64>();
    let levels: Vec<String> = spec.levels.iter().map(ToString::to_string).collect();
    let names: Vec<&str> = spec
        .configurations
        .iter()
        .map(|configuration| configuration.name.as_str())
        .collect();
    format!(
        "\n{}\n  engine    simulated: no real engine is measured\n  workload  {}\n  rates     {} {}, {:?} starts, seed {}\n  \
         compared  {}\n  SLO       {}\n  points    {}, about {:.0} minutes\n",
        spec.name,
        spec.workload,
        levels.join(", "),
        unit(spec),
        spec.arrival,
        spec.seed.0,
        names.join(" with "),
        spec.slo,
        plan.len(),
        (seconds / 60.0).ceil(),
    )
}

/// One finished point.
pub(super) fn point(place: &str, configuration: &str, point: &PointView) -> String {
    format!("{place:<6} {configuration:<18} {}", row(point))
}

/// Both curves, one table each, in order of rate.
pub(super) fn curves(view: &StudyView) -> String {
    let mut text = String::new();
    for (index, configuration) in view.configurations.iter().enumerate() {
        let _ = writeln!(
            text,
            "\n{}\n{}",
            configuration.spec.name,
            &POINT_HEADER[HEADER_OF_ROW..]
        );
        let mut points: Vec<&PointView> = view
            .points
            .iter()
            .filter(|point| point.configuration as usize == index)
            .collect();
        points.sort_by(|one, two| rate(one).total_cmp(&rate(two)));
        for point in points {
            let _ = writeln!(text, "{}", row(point));
        }
    }
    text
}

/// Where the row begins below [`POINT_HEADER`].
const HEADER_OF_ROW: usize = 26;

fn rate(point: &PointView) -> f64 {
    point.level.rate().unwrap_or(f64::INFINITY)
}

fn row(point: &PointView) -> String {
    let level = point.level.to_string();
    let Some(summary) = &point.summary else {
        return format!("{level:>6}  {:?}", point.state);
    };
    let good = point
        .judgement
        .as_ref()
        .and_then(|judgement| judgement.attainment);
    let good = good.map_or("-".into(), |share| format!("{:.1}", share.value * 100.0));
    let throughput = summary.output_tokens_per_s.map_or("-".into(), three_digits);
    let [ttft, tpot] = [&summary.ttft, &summary.tpot].map(latencies);
    format!(
        "{level:>6} {:>9}  {ttft}  {tpot} {good:>8} {throughput:>9}{}",
        summary.scheduled,
        remarks(point, summary)
    )
}

fn latencies(distribution: &Distribution) -> String {
    let cell = |estimate: Option<Estimate>| match estimate.map(|estimate| estimate.value) {
        None => "-".to_owned(),
        Some(None) => "inf".to_owned(),
        Some(Some(value)) => three_digits(value.as_millis_f64()),
    };
    format!(
        "{:>11} {:>8} {:>8}",
        cell(distribution.p50),
        cell(distribution.p95),
        cell(distribution.p99)
    )
}

fn remarks(point: &PointView, summary: &Summary) -> String {
    let mut remarks = Vec::new();
    if matches!(summary.capacity, Capacity::Above { .. }) {
        remarks.push("above capacity".to_owned());
    }
    if 0 < summary.failed {
        remarks.push(format!("{} failed", summary.failed));
    }
    match point
        .certificate
        .as_ref()
        .map(|certificate| certificate.innocence)
    {
        Some(Innocence::Suspect) => remarks.push("client suspect".to_owned()),
        Some(Innocence::Void) => remarks.push("void".to_owned()),
        Some(Innocence::Clean) | None => {}
    }
    if remarks.is_empty() {
        String::new()
    } else {
        format!("  {}", remarks.join(", "))
    }
}

/// The ceilings and what follows from them.
pub(super) fn outcome(view: &StudyView, comparison: &CompareView) -> String {
    let mut text = format!("\nHow much load keeps {}?\n", view.spec.slo);
    let unit = unit(&view.spec);
    for configuration in &view.configurations {
        let _ = writeln!(
            text,
            "  {}: {} (by percentile verdict: {})",
            configuration.spec.name,
            ceiling(configuration.ceiling, unit),
            ceiling(configuration.ceiling_by_percentile, unit)
        );
    }
    for pair in &comparison.pairs {
        let names = |index: usize| &comparison.configurations[index].configuration.spec.name;
        let _ = writeln!(
            text,
            "Verdict on {} against {}: {}",
            names(pair.candidate as usize),
            names(0),
            verdict_of(pair)
        );
    }
    text
}

/// What rates count: starts of sessions, or single requests.
fn unit(spec: &StudySpec) -> &'static str {
    if spec.workload.is_multi_turn() {
        "sessions/s"
    } else {
        "requests/s"
    }
}

fn ceiling(ceiling: Option<Ceiling>, unit: &str) -> String {
    // No more digits than the bracket bears.
    let digits = |value| significant(value, 3);
    match ceiling {
        Some(Ceiling::Bracket { value, lo, hi }) => {
            format!(
                "up to {} {unit} ({} to {})",
                digits(value),
                digits(lo),
                digits(hi)
            )
        }
        Some(Ceiling::AtLeast { lo }) => format!("at least {} {unit}", digits(lo)),
        Some(Ceiling::NoneKept { hi }) => format!("below {} {unit}", digits(hi)),
        Some(Ceiling::Unresolved { lo, hi }) => {
            let end = |end: Option<f64>| end.map_or("?".into(), digits);
            format!("unresolved ({} to {})", end(lo), end(hi))
        }
        Some(Ceiling::Ramped) => "cannot tell: a ramp".into(),
        None => "not measured".into(),
    }
}

fn verdict_of(pair: &PairComparison) -> String {
    if let Comparability::Confounded { differing } = &pair.comparability {
        let names: Vec<&str> = differing
            .iter()
            .map(|differing| differing.name.as_str())
            .collect();
        return format!(
            "withheld, since more than one thing differs ({})",
            names.join(", ")
        );
    }
    match &pair.ceilings {
        Some(ceilings) => verdict(ceilings),
        None => "withheld".into(),
    }
}

/// In the words of the pages.
fn verdict(
    CeilingComparison {
        difference,
        verdict,
        remark,
    }: &CeilingComparison,
) -> String {
    let by = difference.map_or(String::new(), |difference| {
        format!(", {}", words::difference(&difference))
    });
    let said = match verdict {
        Verdict::NotYetJudged { why } => format!("not yet judged{by}: {why}"),
        Verdict::NoDifference { .. } | Verdict::CannotTell { .. } => words::verdict(verdict),
        Verdict::Better | Verdict::Worse => format!("{}{by}", words::verdict(verdict)),
    };
    let said = remark
        .as_ref()
        .map_or(said.clone(), |remark| format!("{said}. {remark}"));
    // Terminals have no narrow space.
    said.replace('\u{202f}', " ")
}

#[cfg(test)]
mod tests {
    use measure::compare::Difference;
    use measure::units::Nanos;

    use super::*;

    #[test]
    fn ceilings_are_said_with_their_bracket() {
        let said = |it| ceiling(Some(it), "sessions/s");
        assert_eq!(
            said(Ceiling::Bracket {
                value: 11.42,
                lo: 10.61,
                hi: 12.08
            }),
            "up to 11.4 sessions/s (10.6 to 12.1)"
        );
        assert_eq!(
            said(Ceiling::AtLeast { lo: 32.0 }),
            "at least 32.0 sessions/s"
        );
        assert_eq!(
            said(Ceiling::Unresolved {
                lo: None,
                hi: Some(4.0)
            }),
            "unresolved (? to 4.00)"
        );
    }

    #[test]
    fn a_verdict_names_its_interval() {
        let comparison = |verdict| CeilingComparison {
            difference: Some(Difference {
                relative: 0.31,
                lo: 0.2,
                hi: 0.4,
                pairs: 0,
            }),
            verdict,
            remark: None,
        };
        assert_eq!(
            verdict(&comparison(Verdict::Better)),
            "better, +31 % (+20 to +40)"
        );
        let why = Verdict::NotYetJudged {
            why: "the brackets touch".into(),
        };
        assert_eq!(
            verdict(&comparison(why)),
            "not yet judged, +31 % (+20 to +40): the brackets touch"
        );
    }

    #[test]
    fn a_bracket_that_meets_the_other_ends_above_nothing() {
        let meets = CeilingComparison {
            difference: Some(Difference {
                relative: 0.31,
                lo: 0.0,
                hi: 0.6,
                pairs: 0,
            }),
            verdict: Verdict::Better,
            remark: None,
        };
        assert_eq!(verdict(&meets), "better, +31 % (above 0 to +60)");
    }

    #[test]
    fn the_exercise_introduces_itself() {
        let text = introduction(&StudySpec::goodput_exercise());
        assert!(
            text.contains("seed 42")
                && text.contains("sessions/s,")
                && text.contains("simulated")
                && text.contains("0.25"),
            "{text}"
        );
    }

    #[test]
    fn percentiles_stand_in_milliseconds() {
        let estimate = |value| {
            Some(Estimate {
                value,
                lo: None,
                hi: None,
            })
        };
        let distribution = Distribution {
            p50: estimate(Some(Nanos::from_millis(43))),
            p95: estimate(None),
            ..Distribution::default()
        };
        assert_eq!(
            latencies(&distribution)
                .split_whitespace()
                .collect::<Vec<_>>(),
            ["43.0", "inf", "-"]
        );
    }
}
