//! What a verdict on ceilings leaves out: what became of latencies meanwhile, and whether the client was innocent.

use measure::certificate::Innocence;
use measure::compare::{Along, CeilingComparison, Verdict};

use super::{listed, verdict};
use crate::studio::{CompareView, PairComparison};
use crate::words;

/// The verdict on ceilings; with what moved the other way along the curve, where anything did.
pub fn in_words(found: &CeilingComparison, along: &[Along]) -> String {
    let plain = verdict::in_words(found);
    let [mut better, mut worse] = [Verdict::Better, Verdict::Worse].map(|it| moved(along, &it));
    let same_way = match found.verdict {
        Verdict::Better if !worse.is_empty() => &mut better,
        Verdict::Worse if !better.is_empty() => &mut worse,
        Verdict::NoDifference { .. } | Verdict::CannotTell { .. }
            if !(better.is_empty() && worse.is_empty()) =>
        {
            let both = both(&better, &worse);
            return format!("{}; {both}.", plain.trim_end_matches('.'));
        }
        _ => return plain,
    };
    let by = found.difference.as_ref().map(words::difference);
    let by = by.map_or(String::new(), |it| format!(" {it}"));
    same_way.insert(0, format!("ceiling{by}"));
    let remark = found.remark.as_ref();
    let remark = remark.map_or(String::new(), |it| format!(" {it}"));
    format!("{}.{remark}", both(&better, &worse))
}

/// `better in ceiling and TTFT p95 (−88 %), worse in TPOT p95 (+205 %)`
fn both(better: &[String], worse: &[String]) -> String {
    let part = |word: &str, what: &[String]| {
        (!what.is_empty()).then(|| format!("{word} in {}", listed(what)))
    };
    let parts = [part("better", better), part("worse", worse)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// What has this verdict along the curve, each metric once: at p95 where that has it, else at the first percentile that has.
fn moved(along: &[Along], verdict: &Verdict) -> Vec<String> {
    let mut found: Vec<&Along> = Vec::new();
    let of = along.iter().filter(|it| it.verdict == *verdict);
    for one in of {
        match found.iter_mut().find(|it| it.metric == one.metric) {
            Some(known) if one.percentile == Some(95.0) => *known = one,
            Some(_) => {}
            None => found.push(one),
        }
    }
    found.into_iter().map(named).collect()
}

fn named(one: &Along) -> String {
    match (one.metric, one.percentile) {
        (Some(metric), Some(percentile)) => format!(
            "{} p{percentile} ({})",
            words::metric_name(metric),
            words::signed_percent(one.difference.relative)
        ),
        _ => format!(
            "attainment ({} points)",
            words::signed(one.difference.relative * 100.0, 1)
        ),
    }
}

/// What must be said in the same breath: the client may have made the figures.
pub fn caveat(compared: &CompareView, pair: &PairComparison) -> String {
    let sides = [0, pair.candidate as usize].map(|index| compared.configurations.get(index));
    let points = sides.into_iter().flatten().flat_map(|side| &side.points);
    let all: Vec<Innocence> = points
        .filter_map(|point| Some(point.certificate.as_ref()?.innocence))
        .collect();
    let count = |of: Innocence| all.iter().filter(|it| **it == of).count();
    let said = |number: usize, word: &str, so: &str| {
        (0 < number).then(|| {
            format!(
                " But the client is {word} at {number} of {} points: {so}.",
                all.len()
            )
        })
    };
    let suspect = said(
        count(Innocence::Suspect),
        "suspect",
        "it may have added to these figures",
    );
    let void = said(
        count(Innocence::Void),
        "void",
        "they are left out of the comparison",
    );
    [suspect, void].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use measure::compare::Difference;
    use measure::slo::Metric;

    use super::*;

    fn along(metric: Metric, percentile: f64, relative: f64, verdict: Verdict) -> Along {
        Along {
            metric: Some(metric),
            percentile: Some(percentile),
            levels: 4,
            difference: Difference {
                relative,
                lo: relative - 0.1,
                hi: relative + 0.1,
                pairs: 900,
            },
            verdict,
            uneven: false,
        }
    }

    fn ceilings(verdict: Verdict) -> CeilingComparison {
        CeilingComparison {
            difference: None,
            verdict,
            remark: None,
        }
    }

    #[test]
    fn a_trade_stands_in_the_verdict() {
        let found = [
            along(Metric::Ttft, 50.0, -0.97, Verdict::Better),
            along(Metric::Ttft, 95.0, -0.88, Verdict::Better),
            along(Metric::Tpot, 50.0, 1.37, Verdict::Worse),
            along(Metric::Tpot, 95.0, 2.05, Verdict::Worse),
        ];
        assert_eq!(
            in_words(&ceilings(Verdict::Better), &found),
            "better in ceiling and TTFT p95 (−88\u{202f}%), worse in TPOT p95 (+205\u{202f}%)."
        );
        assert_eq!(
            in_words(&ceilings(Verdict::Worse), &found),
            "better in TTFT p95 (−88\u{202f}%), worse in ceiling and TPOT p95 (+205\u{202f}%)."
        );
        let none = Verdict::NoDifference {
            smallest_seen: 0.06,
        };
        let said = in_words(&ceilings(none), &found);
        assert!(
            said.ends_with(
                "; better in TTFT p95 (−88\u{202f}%), worse in TPOT p95 (+205\u{202f}%)."
            ),
            "{said}"
        );
        assert_eq!(in_words(&ceilings(Verdict::Better), &found[..2]), "better.");
    }
}
