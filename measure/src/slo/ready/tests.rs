//! Columns and bits say what judging each request by itself says, and what was judged before changes nothing.

use proptest::prelude::*;

use super::*;
use crate::quantile::Proportion;
use crate::request::{ErrorKind, Outcome};
use crate::slo::{Good, Judge, judge};
use crate::summary::{Discipline, Failures, Summary, summarize};
use crate::units::Nanos;

prop_compose! {
    /// A latency that is often missing, often alike, and often exactly at a bound.
    fn latency()(value in 0u64..40, missing in 0u8..8) -> Option<Nanos> {
        (missing != 0).then_some(Nanos(value * 25_000_000))
    }
}

/// Latencies, the start in milliseconds, tokens plus one, and how it ended.
type Row = ([Option<Nanos>; 6], u64, u32, u8);

prop_compose! {
    fn scores()(
        rows in prop::collection::vec(
            ([latency(), latency(), latency(), latency(), latency(), latency()], 0u64..1000, 0u32..5, 0u8..9),
            0..300,
        ),
    ) -> Vec<Score> {
        let score = |(index, (latencies, scheduled, n, fate)): (usize, Row)| {
            let [ttft, ttfa, e2e, tpot, itl_p95, stall] = latencies;
            let scheduled = Nanos::from_millis(scheduled);
            Score {
                session: index as u32,
                turn: 0,
                scheduled,
                sent: (fate != 1).then_some(scheduled + Nanos(u64::from(n) * 12_500_000)),
                ttft, ttfa, e2e, tpot, itl_p95, stall,
                n: n.checked_sub(1),
                outcome: if fate == 0 { Outcome::Error(ErrorKind::HttpStatus) } else { Outcome::Ok },
            }
        };
        rows.into_iter().enumerate().map(score).collect()
    }
}

prop_compose! {
    fn slos()(
        metrics in prop::sample::subsequence(Metric::ALL.to_vec(), 0..=9),
        percentiles in prop::collection::vec(prop::option::of(prop::sample::select(vec![50.0, 70.0, 95.0, 99.0])), 9),
        thresholds in prop::collection::vec(0u64..40, 9),
        error_rate in prop::option::of(0.0f64..=1.0),
        attainment in 0.0001f64..=1.0,
    ) -> Slo {
        let bound = |(i, metric): (usize, &Metric)| Bound {
            metric: *metric,
            percentile: percentiles[i],
            at_most: Nanos(thresholds[i] * 25_000_000),
        };
        Slo { bounds: metrics.iter().enumerate().map(bound).collect(), error_rate, attainment }
    }
}

fn nothing_measured() -> Summary {
    Summary {
        duration: Nanos::from_millis(7_300),
        ..summarize(&[], Discipline::OpenLoop, Failures::AsInfinity)
    }
}

/// The margin by its definition: the latency over itself and the threshold, at the worst bound.
fn margin(score: &Score, slo: &Slo) -> f64 {
    if !score.is_ok() {
        return 1.0;
    }
    let of = |bound: &Bound| {
        let latency = value(score, bound.metric).map_or(0.0, |value| value.0 as f64);
        match latency + bound.at_most.0 as f64 {
            0.0 => 0.0,
            both => latency / both,
        }
    };
    slo.bounds.iter().map(of).fold(0.0, f64::max)
}

proptest! {
    #[test]
    fn columns_say_what_each_request_says(mut scores in scores(), slo in slos()) {
        scores.sort_by_key(|score| score.scheduled);
        let tally = Ready::of(&scores).tally(&slo);
        let each: Vec<Good> = scores.iter().map(|score| slo.judge_request(score)).collect();
        prop_assert_eq!(tally.each().collect::<Vec<_>>(), each.iter().map(|it| *it == Good::Yes).collect::<Vec<_>>());
        prop_assert_eq!(tally.good(), each.iter().filter(|it| **it == Good::Yes).count());
        prop_assert_eq!(tally.undetermined as usize, each.iter().filter(|it| **it == Good::Undetermined).count());
        for (got, score) in tally.margins.iter().zip(&scores) {
            let expected = margin(score, &slo);
            prop_assert!((got - expected).abs() < 1e-12, "{} not {}", got, expected);
        }
        let counted = scores.iter().zip(&each).filter(|(score, good)| **good == Good::Yes && score.n.is_some());
        let tokens = counted.clone().map(|(score, _)| u64::from(score.n.unwrap_or(0))).sum();
        let known = 0 < counted.count() || tally.good() == 0;
        prop_assert_eq!(tally.tokens, known.then_some(tokens));
    }

    #[test]
    fn what_was_judged_before_changes_nothing(scores in scores(), slos in prop::collection::vec(slos(), 1..5)) {
        let (ready, summary) = (Ready::of(&scores), nothing_measured());
        for slo in &slos {
            prop_assert_eq!(Judge::new(slo).judge(&ready, &summary), judge(&scores, &summary, slo));
        }
    }

    #[test]
    fn percentiles_are_those_of_the_requests_themselves(scores in scores(), slo in slos()) {
        let mut sorted = scores.clone();
        sorted.sort_by_key(|score| score.scheduled);
        let judged = judge(&scores, &nothing_measured(), &slo);
        for (bound, verdict) in slo.bounds.iter().zip(&judged.bounds) {
            let p = bound.percentile.unwrap_or((slo.attainment * 1e14).round() / 1e12);
            let counted = |score: &Score, metric| match value(score, metric) {
                _ if !score.is_ok() => Some(f64::INFINITY),
                value => value.map(|value| value.0 as f64),
            };
            let has = || sorted.iter().filter_map(|it| Some((it, counted(it, bound.metric)?)));
            let mut sample = Sample::new(has().map(|(_, value)| value).collect());
            if matches!(bound.metric, Metric::Tpot | Metric::Stall | Metric::E2e | Metric::ScheduledE2e) {
                let waits = has().map(|(score, _)| counted(score, Metric::Ttft).unwrap_or(0.0));
                sample = sample.beside(Sample::new(waits.collect()));
            }
            let expected = sample.estimate(p).map(|(estimate, _)| estimate);
            let expected = expected.filter(|_| bound.metric != Metric::Itl);
            prop_assert_eq!(verdict.observed, expected);
        }
        if let Some(most) = slo.error_rate {
            let failed: Indicator = sorted.iter().map(|score| !score.is_ok()).collect();
            let none = Proportion::of(&failed).is_none();
            prop_assert_eq!(judged.bounds.last().map(|it| it.keeps == crate::slo::Keeps::CannotTell), Some(none), "{}", most);
        }
    }
}
