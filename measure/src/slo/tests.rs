use super::*;

fn parse(text: &str) -> Slo {
    text.parse()
        .unwrap_or_else(|error: SloError| panic!("{text}: {error}"))
}

/// Reads to the same as the canonical text, and prints it.
#[track_caller]
fn reads(text: &str, canonical: &str) {
    assert_eq!(parse(text).to_string(), canonical, "{text}");
    assert_eq!(parse(canonical), parse(text), "{text}");
}

#[track_caller]
fn refuses(text: &str, at: usize, word: &str, message: &str) {
    let error = text.parse::<Slo>().expect_err(text);
    assert_eq!(
        (error.at, error.word.as_str()),
        (at, word),
        "{text}: {error}"
    );
    assert!(error.message.contains(message), "{text}: {error}");
}

#[test]
fn the_usual_slo_is_canonical() {
    reads(
        "ttft:p95<500ms tpot:p95<50ms attain>=95%",
        "ttft:p95<500ms tpot:p95<50ms attain>=95%",
    );
}

#[test]
fn less_and_less_or_equal_mean_at_most() {
    for text in [
        "ttft:p95<500ms",
        "ttft:p95<=500ms",
        "ttft:p95≤500ms",
        "TTFT p95 ≤ 500 ms",
        " ttft : p95 < 500 ms ",
    ] {
        reads(text, "ttft:p95<500ms attain>=95%");
    }
}

#[test]
fn the_form_of_vllm_is_milliseconds_without_a_percentile() {
    reads(
        "ttft:500 tpot:50 e2el:3000",
        "ttft<500ms tpot<50ms e2e<3s attain>=95%",
    );
}

#[test]
fn units_are_read_glued_or_apart() {
    reads("ttft:p95<0.5s", "ttft:p95<500ms attain>=95%");
    reads(
        "ttft<0.5 seconds, itl:p99<1.5 milliseconds",
        "ttft<500ms itl:p99<1.5ms attain>=95%",
    );
    reads(
        "tpot<250us stall<250µs",
        "tpot<250us stall<250us attain>=95%",
    );
    reads("ttft<500 stall<2s", "ttft<500ms stall<2s attain>=95%");
}

#[test]
fn every_metric_can_be_bound() {
    reads(
        "ttft<1s ttfa<1s scheduled_ttft<1s tpot<1s itl<1s stall<1s e2e<1s",
        "ttft<1s ttfa<1s scheduled_ttft<1s tpot<1s itl<1s stall<1s e2e<1s attain>=95%",
    );
    reads("scheduled-ttft<1s", "scheduled_ttft<1s attain>=95%");
}

#[test]
fn attainment_has_its_spellings() {
    for text in [
        "ttft<1s attain>=99%",
        "attainment ≥ 99 % ttft<1s",
        "ttft<1s attain>0.99",
        "ttft<1s attain:99%",
    ] {
        reads(text, "ttft<1s attain>=99%");
    }
    reads("ttft<1s attain>=99.95%", "ttft<1s attain>=99.95%");
    reads("ttft<1s attain>=100%", "ttft<1s attain>=100%");
}

#[test]
fn an_error_rate_may_stand_alone_and_be_zero() {
    reads("error_rate<1%", "error_rate<1% attain>=95%");
    reads(
        "ttft<1s error_rate<=0.5%",
        "ttft<1s error_rate<0.5% attain>=95%",
    );
    reads("errors<0%", "error_rate<0% attain>=95%");
}

#[test]
fn errors_point_at_the_place() {
    refuses("", 0, "", "at least one bound");
    refuses("attain>=95%", 11, "", "at least one bound");
    refuses("ttft:p95<500ms latency<1s", 15, "latency", "unknown name");
    refuses("ttft:p95<-5ms", 9, "-5", "negative");
    refuses("ttft:p95<", 9, "", "expected a number");
    refuses("ttft:p95<ms", 9, "ms", "expected a number");
    refuses("ttft:p95", 8, "", "expected <");
    refuses("ttft", 4, "", "expected <");
    refuses("ttft:p101<5ms", 5, "p101", "percentile");
    refuses("ttft:p0<5ms", 5, "p0", "percentile");
    refuses("ttft:p95>5ms", 8, ">5ms", "bound from above");
    refuses("ttft<0ms", 5, "0ms", "between");
    refuses("ttft<5parsecs", 5, "5parsecs", "unknown unit");
    refuses("ttft<1s ttft:p95<2s", 8, "ttft", "twice");
    refuses("ttft<1s attain>=95% attain>=90%", 20, "attain", "twice");
    refuses(
        "ttft<1s error_rate<1% error_rate<2%",
        22,
        "error_rate",
        "twice",
    );
    refuses("ttft<1s attain>=95", 16, "95", "with %");
    refuses("ttft<1s attain>=1", 16, "1", "with %");
    refuses("ttft<1s attain<95%", 14, "<95%", "from below");
    refuses("ttft<1s attain>=101%", 16, "101%", "between 0% and 100%");
    refuses("ttft<1s attain>=0%", 16, "0%", "above zero");
    refuses("é<1s", 0, "é", "unknown name");
    refuses("<1s", 0, "<1s", "name of a metric");
    refuses("ttft<1..5s", 5, "1..5", "expected a number");
}

#[test]
fn people_read_at_most_and_a_unit_apart() {
    assert_eq!(
        parse("ttft:p95<500ms tpot:p95<50 e2e<3s error_rate<1%").pretty(),
        "TTFT p95 ≤ 500 ms, TPOT p95 ≤ 50 ms, E2E ≤ 3 s, error rate ≤ 1%, 95% of requests good"
    );
}

#[test]
fn a_bound_at_the_median_is_warned_of() {
    assert_eq!(
        parse("ttft:p95<500ms tpot<50ms").warnings(),
        Vec::<String>::new()
    );
    let warnings = parse("ttft:p50<500ms").warnings();
    assert!(
        warnings[0].contains("about 50% of requests good"),
        "{warnings:?}"
    );
}

#[test]
fn an_slo_is_its_text_in_json() {
    let slo = parse("ttft:p95<500ms attain>=99.9%");
    let json = serde_json::to_string(&slo).expect("json");
    assert_eq!(json, "\"ttft:p95<500ms attain>=99.9%\"");
    assert_eq!(serde_json::from_str::<Slo>(&json).expect("back"), slo);
    assert!(serde_json::from_str::<Slo>("\"nonsense\"").is_err());
}

mod judging {
    use super::*;
    use crate::request::{Chunk, ChunkKind, ErrorKind, RequestRecord};
    use crate::score::Score;
    use crate::summary::{Discipline, Failures, Summary, summarize};
    use crate::testing::{answered, failed, ms, scores};
    use crate::units::Nanos;

    fn open(records: &[RequestRecord]) -> Summary {
        summarize(records, Discipline::OpenLoop, Failures::AsInfinity)
    }

    #[track_caller]
    fn is(slo: &str, record: &RequestRecord, expected: Good) {
        assert_eq!(
            parse(slo).judge_request(&Score::from(record)),
            expected,
            "{slo}"
        );
    }

    fn verdict(slo: &str, records: &[RequestRecord]) -> Judgement {
        judge(&scores(records), &open(records), &parse(slo))
    }

    #[test]
    fn a_bound_is_kept_up_to_its_threshold() {
        is("ttft<500ms", &answered(0, 0.0, 500.0, &[]), Good::Yes);
        is("ttft<500ms", &answered(0, 0.0, 500.001, &[]), Good::No);
    }

    #[test]
    fn every_bound_counts_whatever_its_percentile() {
        is(
            "ttft:p50<100ms e2e:p99<1s",
            &answered(0, 0.0, 101.0, &[1.0]),
            Good::No,
        );
        is(
            "ttft:p50<100ms e2e:p99<1s",
            &answered(0, 0.0, 100.0, &[901.0]),
            Good::No,
        );
        is(
            "ttft:p50<100ms e2e:p99<1s",
            &answered(0, 0.0, 100.0, &[900.0]),
            Good::Yes,
        );
    }

    #[test]
    fn a_failed_request_is_not_good_even_where_nothing_is_bound() {
        is(
            "error_rate<50%",
            &failed(0, 0.0, ErrorKind::Truncated),
            Good::No,
        );
    }

    #[test]
    fn one_token_is_exempt_from_bounds_on_pace() {
        is(
            "tpot<1ms itl<1ms stall<1ms",
            &answered(0, 0.0, 100.0, &[]),
            Good::Yes,
        );
    }

    #[test]
    fn several_tokens_in_one_burst_are_undetermined() {
        let burst = RequestRecord {
            output_tokens: Some(8),
            ..answered(0, 0.0, 100.0, &[])
        };
        for slo in ["tpot<1s", "itl<1s", "stall<1s"] {
            is(slo, &burst, Good::Undetermined);
            is(
                slo,
                &answered(0, 0.0, 100.0, &[0.0, 0.0]),
                Good::Undetermined,
            );
        }
        is("ttft<1s", &burst, Good::Yes);
    }

    #[test]
    fn an_unknown_count_leaves_tpot_undetermined() {
        let uncounted = RequestRecord {
            output_tokens: None,
            ..answered(0, 0.0, 100.0, &[10.0, 10.0])
        };
        is("tpot<1s", &uncounted, Good::Undetermined);
        is("itl<1s", &uncounted, Good::Yes);
    }

    #[test]
    fn a_broken_threshold_weighs_more_than_a_missing_value() {
        let burst = RequestRecord {
            output_tokens: Some(8),
            ..answered(0, 0.0, 100.0, &[])
        };
        is("tpot<1s ttft<50ms", &burst, Good::No);
    }

    #[test]
    fn thinking_counts_for_ttft_and_not_for_ttfa() {
        let mut record = answered(0, 0.0, 100.0, &[300.0]);
        record.chunks[0].kind = ChunkKind::Reasoning;
        is("ttft<200ms", &record, Good::Yes);
        is("ttfa<200ms", &record, Good::No);
        record.chunks.truncate(1);
        is("ttfa<200ms", &record, Good::Undetermined);
    }

    #[test]
    fn waiting_in_the_client_counts_for_scheduled_ttft() {
        let record = RequestRecord {
            scheduled: ms(0.0),
            ..answered(0, 100.0, 50.0, &[])
        };
        is("ttft<60ms", &record, Good::Yes);
        is("scheduled_ttft<60ms", &record, Good::No);
    }

    #[test]
    fn itl_is_bound_by_the_requests_own_p95_gap() {
        let gaps: Vec<f64> = (0..41).map(|i| if i == 0 { 500.0 } else { 10.0 }).collect();
        is("itl<10ms", &answered(0, 0.0, 1.0, &gaps), Good::Yes);
        is("stall<10ms", &answered(0, 0.0, 1.0, &gaps), Good::No);
    }

    /// 400 requests a tenth of a second apart, spread so that neighbours tell nothing of each other.
    fn spread(slow: usize) -> Vec<RequestRecord> {
        let is_slow = |i: usize| (i * 137) % 400 < slow;
        (0..400)
            .map(|i| {
                answered(
                    i as u32,
                    i as f64 * 100.0,
                    if is_slow(i) { 900.0 } else { 100.0 },
                    &[10.0],
                )
            })
            .collect()
    }

    #[test]
    fn attainment_is_sure_only_when_its_interval_is() {
        let by = |slow| verdict("ttft:p95<500ms", &spread(slow)).by_attainment;
        assert_eq!(
            [0, 18, 24, 60].map(by),
            [
                Keeps::Surely,
                Keeps::Probably,
                Keeps::ProbablyNot,
                Keeps::SurelyNot
            ]
        );
    }

    #[test]
    fn the_percentile_verdict_is_sure_only_when_its_interval_is() {
        let by = |slow| verdict("ttft:p95<500ms", &spread(slow)).by_percentile;
        assert_eq!(
            [0, 18, 24, 60].map(by),
            [
                Keeps::Surely,
                Keeps::Probably,
                Keeps::ProbablyNot,
                Keeps::SurelyNot
            ]
        );
    }

    #[test]
    fn the_two_verdicts_can_disagree() {
        // Slow in TTFT and slow in TPOT are different requests: each percentile is kept, too few requests keep both.
        let records: Vec<_> = (0..1000)
            .map(|i| {
                let ttft = if i % 25 == 0 { 900.0 } else { 100.0 };
                let gap = if i % 25 == 12 { 90.0 } else { 10.0 };
                answered(i as u32, i as f64 * 100.0, ttft, &[gap, gap])
            })
            .collect();
        let judgement = verdict("ttft:p95<500ms tpot:p95<50ms", &records);
        assert_eq!((judgement.good, judgement.scheduled), (920, 1000));
        assert_eq!(judgement.by_attainment, Keeps::SurelyNot);
        assert!(
            matches!(judgement.by_percentile, Keeps::Surely | Keeps::Probably),
            "{judgement:?}"
        );
    }

    #[test]
    fn undetermined_requests_are_shown_and_not_good() {
        let mut records = spread(0);
        (0..4).for_each(|i| records[i].output_tokens = None);
        let judgement = verdict("tpot<50ms", &records);
        assert_eq!((judgement.good, judgement.undetermined), (396, 4));
    }

    #[test]
    fn goodput_has_two_names() {
        let records: Vec<_> = (0..10)
            .map(|i| answered(i, f64::from(i) * 100.0, 100.0, &[100.0; 9]))
            .collect();
        let judgement = verdict("ttft<1s", &records);
        // D runs from 0 to 900 + 100 + 900 ms.
        assert_eq!(
            judgement.good_requests_per_s.map(|r| (r * 1e3).round()),
            Some(5263.0)
        );
        assert_eq!(
            judgement.good_tokens_per_s.map(|r| (r * 1e2).round()),
            Some(5263.0)
        );
    }

    #[test]
    fn tokens_that_nobody_counted_are_no_goodput() {
        let record = RequestRecord {
            output_tokens: None,
            ..answered(0, 0.0, 100.0, &[100.0])
        };
        assert_eq!(verdict("ttft<1s", &[record]).good_tokens_per_s, None);
    }

    #[test]
    fn the_error_rate_belongs_to_the_percentile_verdict() {
        let mut records = spread(0);
        (0..40).for_each(|i| {
            records[i * 10] = failed(i as u32 * 10, i as f64 * 1000.0, ErrorKind::HttpStatus)
        });
        let judgement = verdict("error_rate<1% attain>=50%", &records);
        assert_eq!(judgement.by_attainment, Keeps::Surely);
        assert_eq!(judgement.by_percentile, Keeps::SurelyNot);
        assert_eq!(judgement.bounds[0].bound, "error_rate<1%");
    }

    #[test]
    fn failures_weigh_on_percentiles_as_infinity() {
        let mut records = spread(0);
        (0..60).for_each(|i| {
            records[i * 6] = failed(i as u32 * 6, i as f64 * 600.0, ErrorKind::HttpStatus)
        });
        let judgement = verdict("ttft:p95<500ms", &records);
        assert_eq!(judgement.bounds[0].observed.map(|e| e.value), Some(None));
        assert_eq!(judgement.by_percentile, Keeps::SurelyNot);
    }

    #[test]
    fn other_percentiles_come_from_the_scores_except_of_pooled_gaps() {
        let records = spread(60);
        let bounds = verdict("ttft:p70<500ms e2e:p90<200ms itl:p90<50ms", &records).bounds;
        assert_eq!(
            [0, 1, 2].map(|i| bounds[i].keeps),
            [Keeps::Surely, Keeps::SurelyNot, Keeps::CannotTell]
        );
        assert_eq!(
            bounds[0].observed.and_then(|e| e.value),
            Some(Nanos::from_millis(100))
        );
    }

    #[test]
    fn a_bound_without_a_percentile_takes_the_attainment_targets() {
        let bounds = verdict("ttft<500ms attain>=95%", &spread(18)).bounds;
        assert_eq!(bounds[0].observed, open(&spread(18)).ttft.p95);
        assert_eq!(bounds[0].bound, "ttft<500ms");
    }

    #[test]
    fn nothing_scheduled_cannot_be_told() {
        let judgement = verdict("ttft<1s", &[]);
        assert_eq!(
            (judgement.by_attainment, judgement.by_percentile),
            (Keeps::CannotTell, Keeps::CannotTell)
        );
        assert_eq!(judgement.attainment, None);
    }

    #[test]
    fn the_order_of_scores_does_not_matter() {
        let mut records = spread(30);
        records
            .iter_mut()
            .take(30)
            .for_each(|record| record.chunks[0].at = record.chunks[0].at + ms(800.0));
        let mut turned = records.clone();
        turned.reverse();
        assert_eq!(
            verdict("ttft<500ms", &records),
            verdict("ttft<500ms", &turned)
        );
    }

    #[test]
    fn bursts_of_bad_requests_are_worth_less_than_scattered_ones() {
        let clustered: Vec<_> = (0..400)
            .map(|i| {
                answered(
                    i,
                    f64::from(i) * 100.0,
                    if i < 40 { 900.0 } else { 100.0 },
                    &[],
                )
            })
            .collect();
        let worth = |records: &[RequestRecord]| {
            verdict("ttft<500ms", records)
                .attainment
                .expect("some")
                .effective
        };
        assert!(worth(&clustered) < worth(&spread(40)) / 5.0);
    }

    #[test]
    fn promises_combine_to_the_worse() {
        use Keeps::{CannotTell, Probably, ProbablyNot, Surely, SurelyNot};
        for (one, other, both) in [
            (Surely, Surely, Surely),
            (Surely, Probably, Probably),
            (Probably, CannotTell, CannotTell),
            (CannotTell, ProbablyNot, ProbablyNot),
            (ProbablyNot, SurelyNot, SurelyNot),
        ] {
            assert_eq!((one.and(other), other.and(one)), (both, both));
        }
    }

    #[test]
    fn a_chunk_keeps_its_kind() {
        let chunk = Chunk {
            at: Nanos::ZERO,
            kind: ChunkKind::ToolCall,
            tokens: Some(2),
        };
        let record = RequestRecord {
            chunks: vec![chunk],
            ..answered(0, 0.0, 0.0, &[])
        };
        assert_eq!(record.ttfa(), Some(Nanos::ZERO));
    }
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    prop_compose! {
        fn slos()(
            metrics in prop::sample::subsequence(Metric::ALL.to_vec(), 0..=7),
            percentiles in prop::collection::vec(prop::option::of(0.001f64..99.999), 7),
            nanos in prop::collection::vec(1u64..86_400_000_000_000, 7),
            error_rate in prop::option::of(0.0f64..=1.0),
            attainment in 0.0001f64..=1.0,
        ) -> Slo {
            let bounds = metrics
                .iter()
                .enumerate()
                .map(|(i, metric)| Bound { metric: *metric, percentile: percentiles[i], at_most: Nanos(nanos[i]) })
                .collect();
            Slo { bounds, error_rate, attainment }
        }
    }

    proptest! {
        #[test]
        fn an_slo_survives_its_text(slo in slos()) {
            prop_assume!(!slo.bounds.is_empty() || slo.error_rate.is_some());
            let text = slo.to_string();
            prop_assert_eq!(text.parse::<Slo>(), Ok(slo), "{}", text);
        }

        #[test]
        fn round_percentages_print_as_such(tenths in 1u32..=1000) {
            let text = format!("ttft<1s attain>={}%", f64::from(tenths) / 10.0);
            prop_assert_eq!(text.parse::<Slo>().expect("slo").to_string(), text);
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,40}") {
            if let Err(error) = text.parse::<Slo>() {
                prop_assert!(text[error.at..].starts_with(&error.word));
            }
        }

        #[test]
        fn no_nearly_right_text_makes_it_panic(text in "(ttft|tpot|attain|p95|é|<|≤|>=|:|%|ms|s|-|[0-9]| |,){0,12}") {
            if let Err(error) = text.parse::<Slo>() {
                prop_assert!(text[error.at..].starts_with(&error.word));
            }
        }
    }
}
