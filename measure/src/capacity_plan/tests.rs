use super::*;
use crate::request::ErrorKind;
use crate::request::RequestRecord;
use crate::slo::{Slo, judge};
use crate::summary::{Discipline, Failures, summarize};
use crate::testing::{answered, failed, scores};

/// Four requests a second for fifty seconds, ten tokens each; one in twenty fails.
fn records() -> Vec<RequestRecord> {
    let at = |index: u32| f64::from(index) * 250.0;
    let each = |index: u32| match index % 20 {
        7 => failed(index, at(index), ErrorKind::RateLimited),
        _ => answered(index, at(index), 100.0, &[20.0; 9]),
    };
    (0..200).map(each).collect()
}

fn with_point<T>(then: impl FnOnce(Measured<'_>) -> T) -> T {
    let (records, slo) = (
        records(),
        "ttft<500ms attain>=90%".parse::<Slo>().expect("SLO"),
    );
    let summary = summarize(&records, Discipline::OpenLoop, Failures::AsInfinity);
    let judgement = judge(&scores(&records), &summary, &slo);
    then(Measured {
        summary: &summary,
        judgement: &judgement,
    })
}

fn planned(ceiling: Ceiling, need: &Need) -> Result<Plan, String> {
    with_point(|point| plan(&ceiling, &[point], None, need))
}

fn need(query: &[(&str, &str)]) -> Result<Need, NeedError> {
    let query: Vec<(String, String)> = query
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    Need::read(&|key| {
        query
            .iter()
            .find(|(known, _)| known == key)
            .map(|(_, value)| value.clone())
    })
}

const BRACKET: Ceiling = Ceiling::Bracket {
    value: 4.0,
    lo: 3.0,
    hi: 5.0,
};

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() < 1e-9 * expected,
        "{found}, not {expected}"
    );
}

#[test]
fn what_one_gpu_gives_goes_with_the_ceilings_ends() {
    let plan = planned(BRACKET, &need(&[("gpus", "2")]).expect("a need")).expect("a plan");
    assert_eq!(
        plan.rate,
        Range {
            lo: 3.0,
            value: Some(4.0),
            hi: Some(5.0)
        }
    );
    assert_eq!(
        plan.requests_per_gpu,
        Range {
            lo: 1.5,
            value: Some(2.0),
            hi: Some(2.5)
        }
    );
    // 190 of 200 are good, ten tokens each: 9.5 for each arrival, four a second, on two GPUs.
    let tokens = plan.good_tokens_per_gpu.expect("tokens");
    near(tokens.value.expect("a value"), 19.0);
    assert!(
        tokens.lo < 9.5 * 3.0 / 2.0 && 9.5 * 5.0 / 2.0 < tokens.hi.expect("an end"),
        "{tokens:?}"
    );
    assert_eq!(
        (plan.replicas, plan.million_good_tokens, plan.hour),
        (None, None, None)
    );
}

#[test]
fn goodput_at_the_ceiling_is_the_curves_own() {
    let at = |tokens_per_s| AtCeiling {
        rate: 4.0,
        requests_per_s: None,
        tokens_per_s: Some(tokens_per_s),
    };
    let need = need(&[]).expect("a need");
    for (curve, is_lower_end) in [(36.0, false), (1.0, true)] {
        let found = with_point(|point| plan(&BRACKET, &[point], Some(at(curve)), &need));
        let tokens = found.expect("a plan").good_tokens_per_gpu.expect("tokens");
        near(tokens.value.expect("a value"), curve);
        assert_eq!(tokens.lo == curve, is_lower_end, "{tokens:?}");
    }
}

#[test]
fn replicas_are_planned_by_the_rate_that_surely_keeps_the_slo() {
    let need = need(&[("demand", "24"), ("headroom", "20"), ("price", "2.5")]).expect("a need");
    let plan = planned(BRACKET, &need).expect("a plan");
    let replicas = plan.replicas.expect("replicas");
    // 24 / (3 * 0.8), 24 / (4 * 0.8) = 7.5, 24 / (5 * 0.8)
    assert_eq!(
        replicas,
        Replicas {
            planned: 10,
            by_value: Some(8),
            least: Some(6)
        }
    );
    near(plan.hour.expect("a price"), 25.0);
    let cost = plan.million_good_tokens.expect("a cost");
    // 2.5 an hour for 4 * 9.5 * 0.8 tokens a second.
    near(
        cost.value.expect("a value"),
        2.5 / 3600.0 * 1e6 / (4.0 * 9.5 * 0.8),
    );
    assert!(cost.least < cost.value && cost.value < Some(cost.most));
    let said = plan.sentences(&need, "req/s").join(" ");
    for part in [
        "One replica takes 4.00 (3.00 to 5.00) req/s",
        "24.0 req/s with 20.0 % head-room: 10 replicas, by the rate that surely keeps the SLO; 8 by the ceiling's value, and fewer than 6 surely break it.",
        "A million good tokens cost 22.8 (",
        "cost 25.0 an hour",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn a_whole_quotient_stays_whole() {
    let need = need(&[("demand", "0.9"), ("headroom", "0")]).expect("a need");
    let at_least = Ceiling::AtLeast { lo: 0.3 };
    let plan = planned(at_least, &need).expect("a plan");
    assert_eq!(plan.replicas.map(|it| it.planned), Some(3));
}

#[test]
fn without_an_upper_end_it_is_at_least_so_much_and_at_most_so_many() {
    let need = need(&[("demand", "10"), ("price", "1")]).expect("a need");
    for open in [
        Ceiling::AtLeast { lo: 4.0 },
        Ceiling::Unresolved {
            lo: Some(4.0),
            hi: None,
        },
    ] {
        let plan = planned(open, &need).expect("a plan");
        assert_eq!((plan.rate.value, plan.rate.hi), (None, None));
        let said = plan.sentences(&need, "req/s").join(" ");
        for part in [
            "takes at least 4.00 req/s",
            "4 replicas, or fewer",
            "cost at most",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
    }
}

#[test]
fn where_no_rate_surely_keeps_the_slo_there_is_no_plan_but_a_reason() {
    let need = need(&[]).expect("a need");
    for (ceiling, why) in [
        (Ceiling::NoneKept { hi: 0.5 }, "not even 0.500"),
        (Ceiling::Ramped, "steady rates"),
        (
            Ceiling::Unresolved {
                lo: None,
                hi: Some(2.0),
            },
            "no rate surely keeps",
        ),
        (
            Ceiling::Unresolved {
                lo: Some(3.0),
                hi: Some(2.0),
            },
            "repeat the points between",
        ),
    ] {
        let told = planned(ceiling, &need).expect_err("no plan");
        assert!(told.contains(why), "{told}");
    }
    assert!(plan(&BRACKET, &[], None, &need).is_err());
}

#[test]
fn of_the_points_the_nearest_to_the_planned_rate_says_what_an_arrival_brings() {
    let need = need(&[]).expect("a need");
    with_point(|point| {
        // Far from the ceiling, and wordy.
        let mut far = point.summary.clone();
        far.offered_rate = Some(40.0);
        far.sessions = 1;
        let far = Measured {
            summary: &far,
            ..point
        };
        let one = plan(&BRACKET, &[point], None, &need);
        assert_eq!(plan(&BRACKET, &[far, point], None, &need), one);
    });
}

#[test]
fn a_query_is_read_field_by_field() {
    let usual = need(&[("demand", " "), ("unknown", "x")]).expect("a need");
    assert_eq!(
        usual,
        Need {
            demand: None,
            headroom: 0.2,
            price: None,
            gpus: 1
        }
    );
    for (field, wrong) in [
        ("demand", "0"),
        ("demand", "-3"),
        ("demand", "many"),
        ("demand", "inf"),
        ("headroom", "100"),
        ("headroom", "-1"),
        ("price", "nan"),
        ("gpus", "0"),
        ("gpus", "1.5"),
    ] {
        let error = need(&[(field, wrong)]).expect_err(wrong);
        assert!(
            error.field == field && error.to_string().contains(wrong),
            "{error}"
        );
    }
}
