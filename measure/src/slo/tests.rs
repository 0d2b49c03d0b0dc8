use super::*;

mod judging; // was it kept
mod properties; // round trips

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
        "ttft<1s ttfa<1s scheduled_ttft<1s scheduled_ttfa<1s scheduled_e2e<1s tpot<1s itl<1s stall<1s e2e<1s",
        "ttft<1s ttfa<1s scheduled_ttft<1s scheduled_ttfa<1s scheduled_e2e<1s tpot<1s itl<1s stall<1s e2e<1s attain>=95%",
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

#[test]
fn what_begins_at_the_send_can_be_counted_from_the_schedule_and_nothing_else() {
    for metric in Metric::ALL {
        match metric.as_scheduled() {
            Some(scheduled) => assert_eq!(
                (scheduled.name(), scheduled.as_sent()),
                (format!("scheduled_{}", metric.name()).as_str(), metric)
            ),
            None if metric.name().starts_with("scheduled_") => {
                assert_eq!(metric.as_sent().as_scheduled(), Some(metric));
            }
            None => assert!(
                matches!(metric, Metric::Tpot | Metric::Itl | Metric::Stall),
                "{metric}"
            ),
        }
        assert_eq!(Metric::ALL[metric as usize], metric);
    }
}
