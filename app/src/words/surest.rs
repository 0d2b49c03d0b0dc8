//! What a comparison says where it has no verdict on ceilings: the surest difference at equal rate or along the curve, or that there is
//! none that could be seen.

use measure::compare::{Difference, Verdict};
use measure::slo::Metric;

use super::{difference, difference_in_points, larger, metric_name, verdict_in_points};
use crate::chart::level_words;
use crate::studio::PairComparison;

/// One difference of a comparison, of a level or along the curve.
struct One<'a> {
    /// `at 8.00 req/s`, or `along the curve`.
    place: String,
    /// None of attainment.
    of: Option<(Metric, f64)>,
    difference: Option<&'a Difference>,
    verdict: &'a Verdict,
}

/// The surest difference, with what surely went the other way and what became of attainment; else that none was seen, with the smallest
/// that could have been, and of how many figures nobody can tell. `None` where nothing was judged.
pub fn surest(pair: &PairComparison, unit: &str) -> Option<String> {
    let all = all(pair, unit);
    let mut sure: Vec<&One<'_>> = all.iter().filter(|it| it.is_sure()).collect();
    sure.sort_by(|one, other| other.sureness().total_cmp(&one.sureness()));
    let Some(first) = sure.first() else {
        return none_seen(&all);
    };
    let other_way = sure.iter().find(|it| it.verdict != first.verdict);
    let attainment = sure.iter().find(|it| it.of.is_none());
    let mut said: Vec<&One<'_>> = vec![first];
    for one in [attainment, other_way].into_iter().flatten() {
        if !said.iter().any(|it| std::ptr::eq(*it, *one)) {
            said.push(one);
        }
    }
    Some(in_words(&said))
}

/// Whether a pair has no verdict on its ceilings, and differences that may have one.
pub fn needs_surest(pair: &PairComparison) -> bool {
    let ceilings = pair.ceilings.as_ref().map(|it| &it.verdict);
    matches!(
        ceilings,
        None | Some(Verdict::NotYetJudged { .. } | Verdict::CannotTell { .. })
    )
}

fn all<'a>(pair: &'a PairComparison, unit: &str) -> Vec<One<'a>> {
    let along = pair.along.iter().map(|it| One {
        place: "along the curve".to_owned(),
        of: it.metric.zip(it.percentile),
        difference: Some(&it.difference),
        verdict: &it.verdict,
    });
    let latencies = pair.latencies.iter().map(|it| One {
        place: format!("at {}", level_words(it.level, unit)),
        of: Some((it.metric, it.percentile)),
        difference: it.difference.as_ref(),
        verdict: &it.verdict,
    });
    let attainment = pair
        .attainment
        .iter()
        .map(|(level, difference, verdict)| One {
            place: format!("at {}", level_words(*level, unit)),
            of: None,
            difference: difference.as_ref(),
            verdict,
        });
    along.chain(latencies).chain(attainment).collect()
}

impl One<'_> {
    fn is_sure(&self) -> bool {
        matches!(self.verdict, Verdict::Better | Verdict::Worse)
    }

    fn is_open(&self) -> bool {
        !self.is_sure() && !matches!(self.verdict, Verdict::NoDifference { .. })
    }

    /// How far away from nothing it is, in lengths of its interval on that side; a latency's as logarithms, in which its interval was made.
    fn sureness(&self) -> f64 {
        let Some(found) = self.difference else {
            return 0.0;
        };
        let scale = |value: f64| match self.of {
            Some(_) => value.max(-1.0 + 1e-9).ln_1p(),
            None => value,
        };
        let near = if 0.0 < found.relative {
            found.lo
        } else {
            found.hi
        };
        let value = scale(found.relative);
        value.abs() / (value - scale(near)).abs().max(f64::MIN_POSITIVE)
    }

    fn name(&self) -> String {
        self.of.map_or_else(
            || "attainment".to_owned(),
            |(metric, percentile)| format!("{} p{percentile}", metric_name(metric)),
        )
    }

    /// `TTFT p95 −98 % (−99 to −97), better`
    fn said(&self) -> String {
        let word = if *self.verdict == Verdict::Better {
            "better"
        } else {
            "worse"
        };
        format!("{} {}, {word}", self.name(), self.by().unwrap_or_default())
    }

    /// `+39.0 points (+29.0 to +49.0)`
    fn by(&self) -> Option<String> {
        self.difference.map(|it| match self.of {
            Some(_) => difference(it),
            None => difference_in_points(it),
        })
    }
}

/// Each place once: `at 8.00 req/s TTFT p95 …, better, and attainment …, better`.
fn in_words(said: &[&One<'_>]) -> String {
    let mut before = None;
    let parts = said.iter().map(|it| {
        let again = before.replace(&it.place) == Some(&it.place);
        let place = if again {
            String::new()
        } else {
            format!("{} ", it.place)
        };
        format!("{place}{}", it.said())
    });
    parts.collect::<Vec<_>>().join("; ")
}

/// `no difference we can see …`, by metric the smallest that could have been seen.
fn none_seen(all: &[One<'_>]) -> Option<String> {
    let mut smallest: Vec<(&One<'_>, f64)> = Vec::new();
    for one in all {
        let Verdict::NoDifference { smallest_seen } = *one.verdict else {
            continue;
        };
        let metric = one.of.map(|(metric, _)| metric);
        let known = smallest.iter_mut();
        match { known }.find(|(it, _)| it.of.map(|(metric, _)| metric) == metric) {
            Some(known) if known.1 <= smallest_seen => {}
            Some(known) => *known = (one, smallest_seen),
            None => smallest.push((one, smallest_seen)),
        }
    }
    let seen: Vec<String> = smallest
        .iter()
        .map(|(one, seen)| finest(one, *seen))
        .collect();
    let seen = (!seen.is_empty()).then(|| {
        format!(
            "no difference we can see (smallest we could have seen: {})",
            seen.join(", ")
        )
    });
    let open: Vec<&One<'_>> = all.iter().filter(|it| it.is_open()).collect();
    open_and_seen(&open, all.len(), seen)
}

/// What stays open leads where it is more than half of all figures: *no difference* would then be said of the few that could be judged.
fn open_and_seen(open: &[&One<'_>], of: usize, seen: Option<String>) -> Option<String> {
    let count = open.len();
    match (count, seen) {
        (0, seen) => seen,
        (_, Some(seen)) if 2 * count <= of => Some(format!(
            "{seen}; of {count} of {of} figures nobody can tell"
        )),
        (_, seen) => {
            let nearest = nearest(open);
            if nearest.is_none() && seen.is_none() {
                return None;
            }
            let nearest = nearest.map_or(String::new(), |it| format!(", {it}"));
            let seen = seen.map_or(String::new(), |it| format!("; of the rest {it}"));
            Some(format!(
                "of {count} of {of} figures nobody can tell{nearest}{seen}"
            ))
        }
    }
}

/// Which open difference more repeats or longer points would settle first.
fn nearest(open: &[&One<'_>]) -> Option<String> {
    let cannot_tell = |it: &&&One<'_>| matches!(it.verdict, Verdict::CannotTell { .. });
    let known = open.iter().filter(cannot_tell);
    let found = known.max_by(|one, other| one.sureness().total_cmp(&other.sureness()))?;
    let by = found.by()?;
    let (place, name) = (&found.place, found.name());
    Some(format!("closest to a verdict {name} {place}: {by}"))
}

/// `6 % of TTFT p50 at 8.00 req/s`
fn finest(one: &One<'_>, seen: f64) -> String {
    let size = match one.of {
        Some(_) => larger(seen),
        None => points(seen),
    };
    format!("{size} of {} {}", one.name(), one.place)
}

fn points(seen: f64) -> String {
    let text = verdict_in_points(&Verdict::NoDifference {
        smallest_seen: seen,
    });
    let size = text
        .split_once(": ")
        .map_or(text.as_str(), |(_, size)| size);
    size.trim_end_matches(')').to_owned()
}

#[cfg(test)]
mod tests {
    use measure::compare::Comparison;
    use measure::knobs::Comparability;
    use measure::units::Level;

    use super::*;

    fn level() -> Level {
        "8".parse().expect("a level")
    }

    fn latency(percentile: f64, relative: f64, wide: f64, verdict: Verdict) -> Comparison {
        Comparison {
            level: level(),
            metric: Metric::Ttft,
            percentile,
            difference: Some(Difference {
                relative,
                lo: relative - wide,
                hi: relative + wide,
                pairs: 300,
            }),
            verdict,
            remark: None,
        }
    }

    fn pair(latencies: Vec<Comparison>, attainment: (f64, Verdict)) -> PairComparison {
        let (by, verdict) = attainment;
        let difference = Difference {
            relative: by,
            lo: by - 0.1,
            hi: by + 0.1,
            pairs: 300,
        };
        PairComparison {
            candidate: 1,
            comparability: Comparability::Identical,
            ceilings: None,
            ceilings_by_percentile: None,
            latencies,
            attainment: vec![(level(), Some(difference), verdict)],
            along: Vec::new(),
            drift: None,
            together: 0,
            said: Vec::new(),
        }
    }

    #[test]
    fn one_rate_says_its_surest_difference_and_attainment() {
        let found = pair(
            vec![
                latency(50.0, -0.5, 0.3, Verdict::Better),
                latency(95.0, -0.98, 0.01, Verdict::Better),
            ],
            (0.39, Verdict::Better),
        );
        assert_eq!(
            surest(&found, "req/s").as_deref(),
            Some(
                "at 8.00 req/s TTFT p95 −98\u{202f}% (−99 to −97), better; attainment +39.0 points (+29.0 to +49.0), better"
            )
        );
    }

    #[test]
    fn what_went_the_other_way_stands_beside_it() {
        let none = Verdict::NoDifference {
            smallest_seen: 0.05,
        };
        let found = pair(
            vec![
                latency(50.0, -0.5, 0.1, Verdict::Better),
                latency(95.0, 0.4, 0.3, Verdict::Worse),
            ],
            (0.0, none),
        );
        let said = surest(&found, "req/s").expect("said");
        assert!(
            said.contains("TTFT p50 −50")
                && said.ends_with("TTFT p95 +40\u{202f}% (+10 to +70), worse"),
            "{said}"
        );
    }

    #[test]
    fn a_control_says_that_there_is_no_difference_and_what_would_have_been_seen() {
        let none = |smallest_seen| Verdict::NoDifference { smallest_seen };
        let latencies = |p99| {
            vec![
                latency(50.0, 0.01, 0.05, none(0.06)),
                latency(95.0, 0.01, 0.2, none(0.3)),
                latency(99.0, 0.01, 9.0, p99),
            ]
        };
        let found = pair(latencies(none(0.9)), (0.0, none(0.03)));
        assert_eq!(
            surest(&found, "req/s").as_deref(),
            Some(
                "no difference we can see (smallest we could have seen: 6\u{202f}% of TTFT p50 at 8.00 req/s, 3 points of attainment at 8.00 req/s)"
            )
        );
        let blind = Verdict::CannotTell {
            smallest_seen: 25.0,
        };
        let found = pair(latencies(blind.clone()), (0.0, none(0.03)));
        let said = surest(&found, "req/s").expect("said");
        assert!(
            said.ends_with("; of 1 of 4 figures nobody can tell"),
            "{said}"
        );
        let few = pair(
            vec![
                latency(50.0, 0.01, 0.05, none(0.06)),
                latency(95.0, 0.5, 0.9, blind.clone()),
            ],
            (0.05, blind),
        );
        assert_eq!(
            surest(&few, "req/s").as_deref(),
            Some(
                "of 2 of 3 figures nobody can tell, closest to a verdict attainment at 8.00 req/s: +5.0 points (−5.0 to +15.0); of the rest no difference we can see (smallest we could have seen: 6\u{202f}% of TTFT p50 at 8.00 req/s)"
            )
        );
        assert_eq!(
            surest(
                &pair(
                    Vec::new(),
                    (0.0, Verdict::NotYetJudged { why: "few".into() })
                ),
                "req/s"
            ),
            None
        );
    }
}
