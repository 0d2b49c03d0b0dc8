use super::*;
use crate::testing::{answered, failed, ms, sent};

fn open(records: &[RequestRecord]) -> Summary {
    summarize(records, Discipline::OpenLoop, Failures::AsInfinity)
}

#[test]
fn requests_are_counted_by_what_became_of_them() {
    let summary = open(&[
        answered(0, 0.0, 10.0, &[5.0]),
        failed(1, 100.0, ErrorKind::Truncated),
        failed(2, 200.0, ErrorKind::Truncated),
        RequestRecord {
            sent: None,
            ..failed(3, 300.0, ErrorKind::Cancelled)
        },
    ]);
    assert_eq!(
        (
            summary.scheduled,
            summary.sent,
            summary.completed,
            summary.failed
        ),
        (4, 3, 1, 3)
    );
    assert_eq!(
        summary.failures,
        BTreeMap::from([(ErrorKind::Truncated, 2), (ErrorKind::Cancelled, 1)])
    );
}

#[test]
fn duration_runs_from_the_first_slot_to_the_last_end() {
    let late = RequestRecord {
        scheduled: ms(50.0),
        ..answered(0, 80.0, 10.0, &[])
    };
    let usage_comes_late = RequestRecord {
        end: Some(ms(500.0)),
        ..answered(1, 100.0, 10.0, &[10.0])
    };
    assert_eq!(open(&[late, usage_comes_late]).duration, ms(450.0));
}

#[test]
fn offered_is_the_realised_schedule_and_sent_the_real_one() {
    // 11 starts over a second, sent at nine tenths of the speed.
    let records: Vec<_> = (0..11)
        .map(|i| RequestRecord {
            scheduled: ms(f64::from(i) * 100.0),
            ..answered(i, f64::from(i) * 100.0 / 0.9, 5.0, &[])
        })
        .collect();
    let summary = open(&records);
    assert_eq!(summary.offered_rate, Some(10.0));
    assert!((summary.sent_rate.expect("sent") - 9.0).abs() < 1e-6);
}

#[test]
fn rates_of_sessions_count_their_starts() {
    let mut records = Vec::new();
    for session in 0..6 {
        for turn in 0..3 {
            let at = f64::from(session) * 200.0 + f64::from(turn) * 50.0;
            records.push(RequestRecord {
                turn,
                ..answered(session, at, 5.0, &[])
            });
        }
    }
    let summary = open(&records);
    assert_eq!((summary.sessions, summary.scheduled), (6, 18));
    assert_eq!(summary.offered_rate, Some(5.0));
}

#[test]
fn everything_at_once_has_no_rate() {
    let records: Vec<_> = (0..5).map(|i| answered(i, 0.0, 5.0, &[])).collect();
    let summary = summarize(&records, Discipline::AllAtOnce, Failures::AsInfinity);
    assert_eq!((summary.offered_rate, summary.sent_rate), (None, None));
    assert_eq!(summary.capacity, Capacity::Unknown);
    assert_eq!(summary.max_in_flight, 5);
}

#[test]
fn throughput_counts_tokens_over_the_duration() {
    let records: Vec<_> = (0..10)
        .map(|i| answered(i, f64::from(i) * 100.0, 100.0, &[100.0; 9]))
        .collect();
    let summary = open(&records);
    assert_eq!((summary.output_tokens, summary.input_tokens), (100, 100));
    assert!((summary.output_tokens_per_s.expect("rate") - 100.0 / 1.9).abs() < 1e-9);
    assert!((summary.input_tokens_per_s.expect("rate") - 100.0 / 1.9).abs() < 1e-9);
    assert!((summary.completed_per_s.expect("rate") - 10.0 / 1.9).abs() < 1e-9);
}

#[test]
fn unknown_counts_are_said_and_never_guessed() {
    let record = RequestRecord {
        output_tokens: None,
        ..answered(0, 0.0, 10.0, &[10.0; 9])
    };
    let summary = open(&[record]);
    assert_eq!((summary.output_tokens, summary.output_unknown), (0, 1));
    assert_eq!(
        (summary.output_tokens_per_s, summary.tokens_per_chunk),
        (None, None)
    );
    assert_eq!(summary.tpot.count, 0);
}

#[test]
fn input_tokens_are_the_engines_where_it_counted() {
    let counted = RequestRecord {
        prompt_tokens: Some(17),
        cached_tokens: Some(16),
        ..answered(0, 0.0, 10.0, &[])
    };
    let summary = open(&[
        counted,
        answered(1, 0.0, 10.0, &[]),
        failed(2, 0.0, ErrorKind::ConnectFailed),
    ]);
    assert_eq!(
        (summary.input_tokens, summary.cached_tokens),
        (27, Some(16))
    );
    assert_eq!(open(&[answered(1, 0.0, 10.0, &[])]).cached_tokens, None);
}

#[test]
fn several_tokens_a_chunk_are_seen() {
    let record = RequestRecord {
        output_tokens: Some(6),
        ..answered(0, 0.0, 10.0, &[10.0; 2])
    };
    assert_eq!(open(&[record]).tokens_per_chunk, Some(2.0));
}

#[test]
fn failures_stand_as_infinity_or_are_left_out_by_name() {
    let records: Vec<_> = (0..20)
        .map(|i| {
            let at = f64::from(i) * 100.0;
            if i % 5 == 0 {
                failed(i, at, ErrorKind::HttpStatus)
            } else {
                answered(i, at, 10.0, &[5.0])
            }
        })
        .collect();
    let summary = open(&records);
    assert_eq!((summary.ttft.count, summary.ttft.failed), (20, 4));
    assert_eq!(summary.ttft.p95.map(|e| e.value), Some(None));
    let named = summarize(&records, Discipline::OpenLoop, Failures::SuccessesOnly);
    assert_eq!((named.ttft.count, named.ttft.failed), (16, 0));
    assert_eq!(named.ttft.p95.and_then(|e| e.value), Some(ms(10.0)));
    assert_eq!((summary.itl.count, named.itl.count), (20, 16));
}

#[test]
fn what_a_failed_request_measured_enters_no_distribution() {
    let quick = RequestRecord {
        outcome: Outcome::Error(ErrorKind::Truncated),
        ..answered(1, 100.0, 1.0, &[1.0])
    };
    let summary = open(&[answered(0, 0.0, 10.0, &[5.0]), quick]);
    assert_eq!(summary.ttft.p50.map(|e| e.value), Some(None));
    assert_eq!(summary.ttft.count, 2);
}

#[test]
fn one_token_and_one_burst_enter_no_pace() {
    let summary = open(&[
        answered(0, 0.0, 10.0, &[]),
        answered(1, 100.0, 10.0, &[0.0, 0.0]),
    ]);
    assert_eq!(
        (
            summary.ttft.count,
            summary.tpot.count,
            summary.itl.count,
            summary.stall.count
        ),
        (2, 0, 0, 0)
    );
}

#[test]
fn no_records_no_numbers() {
    let summary = open(&[]);
    assert_eq!(
        (summary.scheduled, summary.duration, summary.offered_rate),
        (0, Nanos::ZERO, None)
    );
    assert_eq!(summary.ttft, Distribution::default());
}

#[test]
fn in_flight_counts_sent_requests_until_their_end() {
    let waiting = sent(9, 5.0);
    assert_eq!(
        open(&[
            answered(0, 0.0, 10.0, &[]),
            answered(1, 10.0, 10.0, &[]),
            waiting
        ])
        .max_in_flight,
        1
    );
}

#[test]
fn each_metric_has_its_distribution() {
    let mut record = answered(0, 100.0, 10.0, &[20.0, 30.0]);
    record.scheduled = ms(95.0);
    let summary = open(&[record]);
    let p50 = |metric| summary.of(metric).p50.and_then(|e| e.value);
    let expected = [10.0, 10.0, 15.0, 15.0, 65.0, 25.0, 25.0, 30.0, 60.0];
    assert_eq!(
        Metric::ALL.map(p50),
        expected.map(|millis| Some(ms(millis)))
    );
}

#[test]
fn a_summary_survives_json() {
    let summary = open(&[
        answered(0, 0.0, 10.0, &[5.0]),
        failed(1, 100.0, ErrorKind::RateLimited),
    ]);
    let json = serde_json::to_string(&summary).expect("json");
    assert_eq!(
        serde_json::from_str::<Summary>(&json).expect("back"),
        summary
    );
}

#[test]
fn what_an_older_summary_lacks_is_found_again_from_its_requests() {
    let mut records: Vec<RequestRecord> = (0..200_u32)
        .map(|i| {
            let at = f64::from(i) * 20.0;
            let queue = f64::from(i % 17) * 9.0;
            RequestRecord {
                scheduled: ms(at - f64::from(i % 5)),
                ..answered(i, at, 10.0 + queue, &[5.0, f64::from(i % 7)])
            }
        })
        .skip(1)
        .collect();
    records.push(failed(200, 5000.0, ErrorKind::Truncated));
    let now = open(&records);
    let mut json = serde_json::to_value(&now).expect("json");
    let fields = json.as_object_mut().expect("object");
    for name in ["scheduled_ttfa", "scheduled_e2e"] {
        fields.remove(name).expect(name);
    }
    let mut before: Summary = serde_json::from_value(json).expect("an older summary");
    assert!(before.is_from_before() && !now.is_from_before());
    let scores: Vec<crate::score::Score> = records.iter().map(Into::into).collect();
    before.completed_by(&Ready::of(&scores));
    assert_eq!(before, now);
}
