//! Cases about whole points.

use serde_json::Value;

use crate::request::{ErrorKind, RequestRecord};
use crate::slo::{Slo, judge};
use crate::summary::{Discipline, Failures, summarize};
use crate::testing::{answered, failed, ms, scores};
use crate::units::Nanos;

use super::{case, in_ms, near, numbers, open};

/// The last one ends so that D is as given.
fn judged(mut records: Vec<RequestRecord>, duration_s: &Value) -> crate::slo::Judgement {
    records.last_mut().expect("a record").end =
        Some(Nanos::from_secs_f64(duration_s.as_f64().expect("duration")));
    let slo: Slo = "ttft:500".parse().expect("slo");
    judge(&scores(&records), &open(&records), &slo)
}

#[test]
fn c14_a_bound_is_at_most_and_in_milliseconds() {
    let case = case("C14");
    let ttfts = numbers(&case["input"]["ttft_ms"]);
    let records = ttfts
        .iter()
        .enumerate()
        .map(|(i, ttft)| answered(i as u32, 0.0, *ttft, &[]))
        .collect();
    let judgement = judged(records, &case["input"]["duration_s"]);
    assert_eq!(
        u64::from(judgement.good),
        case["expect"]["good"].as_u64().expect("good")
    );
    near(
        judgement.good_requests_per_s,
        &case["expect"]["goodput_rps"],
    );
}

#[test]
fn c16_a_failed_request_is_never_good() {
    let case = case("C16");
    let requests = case["input"]["requests"].as_array().expect("requests");
    let records = requests
        .iter()
        .enumerate()
        .map(|(i, request)| {
            let record = answered(
                i as u32,
                0.0,
                request["ttft_ms"].as_f64().expect("ttft"),
                &[],
            );
            let failure = failed(0, 0.0, ErrorKind::Truncated).outcome;
            if request["ok"] == true {
                record
            } else {
                RequestRecord {
                    outcome: failure,
                    ..record
                }
            }
        })
        .collect();
    let judgement = judged(records, &case["input"]["duration_s"]);
    assert_eq!(
        u64::from(judgement.good),
        case["expect"]["good"].as_u64().expect("good")
    );
    near(
        judgement.good_requests_per_s,
        &case["expect"]["goodput_rps"],
    );
    near(
        judgement.attainment.map(|share| share.value),
        &case["expect"]["attainment"],
    );
}

#[test]
fn c18_a_point_where_all_failed_has_numbers() {
    let case = case("C18");
    let records = [
        failed(0, 0.0, ErrorKind::HttpStatus),
        failed(1, 4000.0, ErrorKind::HttpStatus),
    ];
    let summary = open(&records);
    assert_eq!(
        u64::from(summary.completed),
        case["expect"]["completed"].as_u64().expect("completed")
    );
    assert_eq!(
        u64::from(summary.failed),
        case["expect"]["failed"].as_u64().expect("failed")
    );
    near(
        summary.completed_per_s,
        &case["expect"]["request_throughput"],
    );
    near(
        in_ms(summary.ttft.p99.and_then(|e| e.value)),
        &case["expect"]["p99_ttft_ms"],
    );
    let json = serde_json::to_string(&summary).expect("json");
    assert!(!json.contains("NaN") && !json.contains("inf"), "{json}");
    let named = summarize(&records, Discipline::OpenLoop, Failures::SuccessesOnly);
    assert_eq!((named.ttft.count, named.ttft.p50), (0, None));
}

#[test]
fn c20_the_clock_starts_with_the_first_measured_request() {
    let case = case("C20");
    // Warm-up is not among the records; the first measured request is scheduled at 5 s, the last one ends at 15 s.
    let records: Vec<_> = (0..10)
        .map(|i| answered(i, 5000.0 + 900.0 * f64::from(i), 1900.0, &[]))
        .collect();
    let summary = open(&records);
    near(
        Some(summary.duration.as_secs_f64()),
        &case["expect"]["duration_s"],
    );
    near(
        summary.completed_per_s,
        &case["expect"]["request_throughput"],
    );
}

#[test]
fn c21_no_duration_no_rate() {
    let case = case("C21");
    let summary = open(&[answered(0, 0.0, 0.0, &[])]);
    assert_eq!(summary.duration, Nanos::ZERO);
    near(
        summary.completed_per_s,
        &case["expect"]["request_throughput"],
    );
    assert_eq!(
        (summary.offered_rate, summary.output_tokens_per_s),
        (None, None)
    );
}

#[test]
fn c23_a_rate_that_was_not_reached_is_shown_and_flagged() {
    let case = case("C23");
    let ratio = case["expect"]["ratio"].as_f64().expect("ratio");
    let records: Vec<_> = (0..200)
        .map(|i| {
            let record = answered(i, f64::from(i) * 5.0, 10.0, &[]);
            RequestRecord {
                sent: Some(ms(f64::from(i) * 5.0 / ratio)),
                ..record
            }
        })
        .collect();
    let certificate = crate::certificate::certify(&records, Default::default());
    near(certificate.sent_over_offered, &case["expect"]["ratio"]);
    assert_ne!(certificate.innocence, crate::certificate::Innocence::Clean);
}

#[test]
fn c27_waiting_for_the_engine_is_not_left_out() {
    let case = case("C27");
    let input = &case["input"];
    let (every, n) = (
        input["every_ms"].as_f64().expect("every"),
        input["n"].as_u64().expect("n"),
    );
    let mut free = 0.0f64;
    let records: Vec<_> = (0..n)
        .map(|i| {
            let stall = input["stall"]["request"].as_u64() == Some(i);
            let service = if stall {
                &input["stall"]["service_ms"]
            } else {
                &input["service_ms"]
            };
            let due = i as f64 * every;
            free = free.max(due) + service.as_f64().expect("service");
            answered(i as u32, due, free - due, &[])
        })
        .collect();
    let latencies: Vec<f64> = records
        .iter()
        .filter_map(|record| in_ms(record.scheduled_ttft()))
        .collect();
    assert_eq!(latencies, numbers(&case["expect"]["latency_from_due_ms"]));
    let p50 = in_ms(open(&records).scheduled_ttft.p50.and_then(|e| e.value)).expect("p50");
    assert!(
        90.0 < p50,
        "{p50}: a client that waits would report {}",
        case["naive"]["p50"]
    );
}

#[test]
fn c29_intervals_in_flight_are_half_open() {
    let case = case("C29");
    let records: Vec<_> = case["input"]["intervals"]
        .as_array()
        .expect("intervals")
        .iter()
        .enumerate()
        .map(|(i, interval)| {
            let [from, to] = [0, 1].map(|end| interval[end].as_f64().expect("end"));
            answered(i as u32, from, to - from, &[])
        })
        .collect();
    assert_eq!(
        u64::from(open(&records).max_in_flight),
        case["expect"]["peak"].as_u64().expect("peak")
    );
}
