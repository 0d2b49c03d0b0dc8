//! Requests and points against an SLO.

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
    let thought = |(place, chunk): (usize, Chunk)| Chunk {
        kind: [ChunkKind::Reasoning, ChunkKind::Answer][place],
        ..chunk
    };
    record.chunks = record.chunks.iter().enumerate().map(thought).collect();
    is("ttft<200ms", &record, Good::Yes);
    is("ttfa<200ms", &record, Good::No);
    record.chunks = record.chunks.iter().take(1).collect();
    is("ttfa<200ms", &record, Good::Undetermined);
}

#[test]
fn waiting_in_the_client_counts_for_what_is_counted_from_the_schedule() {
    let record = RequestRecord {
        scheduled: ms(0.0),
        ..answered(0, 100.0, 50.0, &[])
    };
    is("ttft<60ms", &record, Good::Yes);
    is("scheduled_ttft<60ms", &record, Good::No);
    is("ttfa<60ms", &record, Good::Yes);
    is("scheduled_ttfa<60ms", &record, Good::No);
    is("e2e<60ms", &record, Good::Yes);
    is("scheduled_e2e<149ms", &record, Good::No);
    is("scheduled_e2e<150ms", &record, Good::Yes);
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
fn what_cannot_be_told_breaks_no_promise() {
    let mut records = spread(0);
    records.iter_mut().for_each(|it| it.output_tokens = None);
    let judgement = verdict("tpot<50ms attain>=90%", &records);
    assert_eq!(judgement.undetermined, 400);
    assert_eq!(judgement.by_attainment, Keeps::CannotTell);
    // Broken whatever the others were.
    let mut records = spread(0);
    for i in 0..100 {
        records[i * 4] = failed(i as u32 * 4, i as f64 * 400.0, ErrorKind::HttpStatus);
    }
    (0..10).for_each(|i| records[i * 4 + 1].output_tokens = None);
    let judgement = verdict("tpot<50ms attain>=90%", &records);
    assert_eq!(judgement.by_attainment, Keeps::SurelyNot);
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
    let records = spread(90);
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
    records.iter_mut().take(30).for_each(|record| {
        let later = |chunk: Chunk| Chunk {
            at: chunk.at + ms(800.0),
            ..chunk
        };
        record.chunks = record.chunks.iter().map(later).collect();
    });
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
        at_kernel: None,
        kind: ChunkKind::ToolCall,
        tokens: Some(2),
    };
    let record = RequestRecord {
        chunks: [chunk].into_iter().collect(),
        ..answered(0, 0.0, 0.0, &[])
    };
    assert_eq!(record.ttfa(), Some(Nanos::ZERO));
}
