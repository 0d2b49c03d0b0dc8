//! Small cases with known answers (tests/data/calc_cases.json), each of which some benchmark tool once got wrong.

use serde_json::Value;

mod points; // cases about whole points

use crate::arrival::{Arrival, Burstiness, starts};
use crate::quantile::{Sample, percentile_linear};
use crate::request::RequestRecord;
use crate::summary::{Discipline, Failures, Summary, summarize};
use crate::testing::{answered, sent};
use crate::units::{Level, Nanos, Seed};
use crate::workload::{ShareGptFilter, filter_sharegpt};

fn case(id: &str) -> Value {
    let cases: Vec<Value> =
        serde_json::from_str(include_str!("../tests/data/calc_cases.json")).expect("cases");
    cases
        .into_iter()
        .find(|case| case["id"] == id)
        .unwrap_or_else(|| panic!("no case {id}"))
}

fn numbers(list: &Value) -> Vec<f64> {
    list.as_array()
        .expect("list")
        .iter()
        .filter_map(Value::as_f64)
        .collect()
}

#[track_caller]
fn near(got: Option<f64>, expected: &Value) {
    match (got, expected.as_f64()) {
        (Some(got), Some(expected)) => {
            assert!((got - expected).abs() < 5e-4, "{got}, not {expected}")
        }
        (got, expected) => assert_eq!(got, expected),
    }
}

fn in_ms(nanos: Option<Nanos>) -> Option<f64> {
    nanos.map(Nanos::as_millis_f64)
}

fn open(records: &[RequestRecord]) -> Summary {
    summarize(records, Discipline::OpenLoop, Failures::AsInfinity)
}

#[track_caller]
fn check_percentile(id: &str) {
    let case = case(id);
    let mut values = numbers(&case["input"]["values"]);
    values.sort_by(f64::total_cmp);
    near(
        percentile_linear(&values, case["input"]["p"].as_f64().expect("p")),
        &case["expect"]["linear"],
    );
}

#[test]
fn c01_p99_of_three() {
    check_percentile("C01");
}

#[test]
fn c02_one_sample() {
    check_percentile("C02");
}

#[test]
fn c04_no_samples() {
    check_percentile("C04");
}

#[test]
fn c05_unsorted() {
    let case = case("C05");
    let sample = Sample::new(numbers(&case["input"]["values"]));
    near(
        sample
            .distribution()
            .p50
            .and_then(|e| e.value)
            .map(|v| v.0 as f64),
        &case["expect"]["linear"],
    );
}

#[test]
fn c06_groups_are_merged_before_the_percentile() {
    let case = case("C06");
    let groups = case["input"]["groups"].as_array().expect("groups");
    let mut values: Vec<f64> = groups
        .iter()
        .flat_map(|group| {
            vec![
                group["value"].as_f64().expect("value");
                group["count"].as_u64().expect("count") as usize
            ]
        })
        .collect();
    values.sort_by(f64::total_cmp);
    for (p, name) in [(50.0, "p50"), (95.0, "p95"), (99.0, "p99"), (99.9, "p99.9")] {
        near(percentile_linear(&values, p), &case["expect"][name]);
    }
}

#[test]
fn c08_what_has_no_value_is_not_zero() {
    let case = case("C08");
    let values = case["input"]["values"].as_array().expect("values");
    let records: Vec<_> = values
        .iter()
        .enumerate()
        .map(|(i, ttft)| match ttft.as_f64() {
            // Without a value: the TPOT of a request with one token.
            None => answered(i as u32, 0.0, 1.0, &[]),
            Some(tpot) => answered(i as u32, 0.0, 1.0, &[tpot]),
        })
        .collect();
    let tpot = open(&records).tpot;
    assert_eq!(
        u64::from(tpot.count),
        case["expect"]["count"].as_u64().expect("count")
    );
    near(
        in_ms(tpot.p50.and_then(|e| e.value)),
        &case["expect"]["p50"],
    );
}

#[track_caller]
fn check_tpot(id: &str) {
    let case = case(id);
    let input = &case["input"];
    let tokens = input["output_tokens"].as_u64().expect("tokens") as u32;
    let record = match (input["ttft_ms"].as_f64(), input["e2e_ms"].as_f64()) {
        (Some(ttft), Some(e2e)) if ttft < e2e => answered(0, 0.0, ttft, &[e2e - ttft]),
        (Some(ttft), _) => answered(0, 0.0, ttft, &[]),
        _ => sent(0, 0.0),
    };
    let record = RequestRecord {
        output_tokens: Some(tokens),
        ..record
    };
    near(in_ms(record.tpot()), &case["expect"]["tpot_ms"]);
}

#[test]
fn c09_tpot_leaves_out_the_first_token() {
    check_tpot("C09");
}

#[test]
fn c10_one_token_has_no_tpot() {
    check_tpot("C10");
}

#[test]
fn c11_no_token_has_no_tpot() {
    check_tpot("C11");
}

#[test]
fn c13_itl_pools_gaps_and_tpot_counts_requests() {
    let case = case("C13");
    let requests = case["input"]["requests"].as_array().expect("requests");
    let records: Vec<_> = requests
        .iter()
        .enumerate()
        .map(|(i, request)| answered(i as u32, 0.0, 5.0, &numbers(&request["gaps_ms"])))
        .collect();
    let gaps: Vec<f64> = records
        .iter()
        .flat_map(RequestRecord::gaps)
        .map(Nanos::as_millis_f64)
        .collect();
    near(
        Some(gaps.iter().sum::<f64>() / gaps.len() as f64),
        &case["expect"]["mean_itl_ms"],
    );
    let tpots: Vec<f64> = records
        .iter()
        .filter_map(|record| in_ms(record.tpot()))
        .collect();
    near(
        Some(tpots.iter().sum::<f64>() / tpots.len() as f64),
        &case["expect"]["mean_tpot_ms"],
    );
    let summary = open(&records);
    assert_eq!((summary.itl.count, summary.tpot.count), (100, 2));
    assert_eq!(in_ms(summary.itl.p50.and_then(|e| e.value)), Some(10.0));
    assert_eq!(in_ms(summary.tpot.p50.and_then(|e| e.value)), Some(55.0));
}

#[test]
fn c24_gamma_gaps_keep_their_mean_and_spread_by_burstiness() {
    let case = case("C24");
    let level = Level::Rate(
        case["input"]["rate"]
            .as_f64()
            .and_then(|rate| rate.try_into().ok())
            .expect("rate"),
    );
    let shapes = numbers(&case["input"]["burstiness"]);
    for (shape, expected) in shapes.into_iter().zip(numbers(&case["expect"]["cv"])) {
        let gamma = Arrival::Gamma(shape.try_into().expect("burstiness"));
        let starts = starts(gamma, level, 200_000, 1);
        let seconds: Vec<f64> = starts.iter().map(|start| start.as_secs_f64()).collect();
        let gaps: Vec<f64> = seconds.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        let mean_expected = case["expect"]["mean_gap_s"].as_f64().expect("mean");
        assert!((mean / mean_expected - 1.0).abs() < 0.02, "{shape}: {mean}");
        let cv = variance.sqrt() / mean;
        assert!(
            (cv / expected - 1.0).abs() < 0.02,
            "{shape}: {cv}, not {expected}"
        );
    }
}

#[test]
fn c25_no_burstiness_is_refused() {
    for shape in numbers(&case("C25")["input"]["burstiness"]) {
        let error = Burstiness::try_from(shape)
            .expect_err("refused")
            .to_string();
        assert!(error.contains("burstiness must be"), "{error}");
    }
}

#[test]
fn c26_rate_inf_starts_everything_at_once() {
    let case = case("C26");
    let level: Level = "inf".parse().expect("level");
    let delays: Vec<f64> = starts(Arrival::Poisson, level, 5, 42)
        .into_iter()
        .map(Nanos::as_secs_f64)
        .collect();
    assert_eq!(delays, numbers(&case["expect"]["delays_s"]));
    assert_eq!(
        serde_json::to_value(level).expect("json"),
        case["expect"]["json_rate"]
    );
}

/// A row of the filter's case as its turns.
fn turns(id: &str) -> Option<Vec<(&'static str, u32)>> {
    let pair = |prompt, output| vec![("human", prompt), ("gpt", output)];
    match id {
        "empty" | "nokey" => Some(Vec::new()),
        "one" => Some(vec![("human", 50)]),
        "p3" => Some(pair(3, 50)),
        "p4" => Some(pair(4, 50)),
        "o3" => Some(pair(50, 3)),
        "o4" => Some(pair(50, 4)),
        "p1024" => Some(pair(1024, 100)),
        "p1025" => Some(pair(1025, 100)),
        "t2048" => Some(pair(1000, 1048)),
        "t2049" => Some(pair(1000, 1049)),
        "gptfirst" => Some(vec![("gpt", 50), ("human", 50)]),
        "user" => Some(vec![("user", 50), ("assistant", 50)]),
        _ => None,
    }
}

#[test]
fn c30_sharegpt_rows_are_kept_or_dropped_for_a_named_reason() {
    let case = case("C30");
    let limits: ShareGptFilter =
        serde_json::from_value(case["input"]["limits"].clone()).expect("limits");
    assert_eq!(limits, ShareGptFilter::default());
    let kept: Vec<&str> = case["expect"]["keep"]
        .as_array()
        .expect("keep")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    for row in case["input"]["rows"].as_array().expect("rows") {
        let id = row["id"].as_str().expect("id");
        match filter_sharegpt(turns(id).as_deref(), &limits) {
            Ok(()) => assert!(kept.contains(&id), "{id}"),
            Err(why) => assert_eq!(
                serde_json::to_value(why).expect("json"),
                case["expect"]["drop"][id],
                "{id}"
            ),
        }
    }
}

#[test]
fn c46_a_big_seed_is_text_in_json() {
    let case = case("C46");
    let seed = Seed(case["input"]["seed"].as_u64().expect("seed"));
    assert_eq!(
        serde_json::to_string(&seed).expect("json"),
        case["expect"]["json"].as_str().expect("json")
    );
}
