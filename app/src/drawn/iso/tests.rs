use super::*;
use crate::fixture;
use measure::request::Outcome;

/// Two hundred requests whose TTFT and TPOT rise together, and one that failed.
fn scores() -> Vec<Score> {
    let millis = |millis: u64| Some(Nanos::from_millis(millis));
    let score = |index: u32| Score {
        session: index,
        turn: 0,
        scheduled: Nanos::from_millis(u64::from(index) * 100),
        sent: millis(u64::from(index) * 100),
        ttft: millis(u64::from(100 + 2 * (index * 37 % 200))),
        ttfa: None,
        e2e: millis(3000),
        tpot: millis(u64::from(10 + index * 53 % 40)),
        itl_p95: None,
        stall: None,
        n: Some(20),
        outcome: Outcome::Ok,
    };
    (0..200).map(score).collect()
}

fn drawn(slo: &str) -> String {
    let study = fixture::study();
    map(&study, 1, &scores(), &slo.parse().expect("slo")).into_string()
}

#[test]
fn the_map_says_what_the_present_pair_keeps_and_what_would_just_do() {
    let html = drawn("ttft:p95<300ms tpot:p95<30ms attain>=50%");
    assert!(html.contains("of 200 requests"), "{html}");
    assert!(html.contains("keep TTFT"), "{html}");
    assert!(
        html.contains("For 50\u{202f}% good, with TPOT ≤ 30"),
        "{html}"
    );
    assert!(html.contains("TTFT must be allowed"), "{html}");
    assert!(html.contains("<option value=\"1\" selected>"), "{html}");
}

#[test]
fn a_pair_that_nothing_keeps_is_said() {
    let html = drawn("ttft:p95<101ms tpot:p95<11ms attain>=99%");
    assert!(html.contains("no bound on TTFT is loose enough"), "{html}");
    assert!(html.contains("no bound on TPOT is loose enough"), "{html}");
}

#[test]
fn an_slo_without_a_pace_has_a_map_all_the_same() {
    let html = drawn("ttft:p95<300ms attain>=90%");
    assert!(html.contains("without a bound on TPOT"), "{html}");
}

#[test]
fn no_line_is_drawn_for_a_share_that_the_sample_cannot_tell() {
    let lines = |count: usize| {
        let study = fixture::study();
        let slo = "ttft:p95<300ms tpot:p95<30ms attain>=90%"
            .parse()
            .expect("slo");
        let html = map(&study, 1, &scores()[..count], &slo).into_string();
        html.contains(">99\u{202f}%</text>")
    };
    assert!(lines(200) && !lines(50));
}

#[test]
fn the_usual_point_is_the_highest_that_keeps_the_slo() {
    let mut study = fixture::study();
    let keeps = |keeps| {
        move |point: &mut PointView| {
            let mut judged = point.judgement.clone().expect("judged");
            judged.by_attainment = keeps;
            point.judgement = Some(judged);
        }
    };
    study.points.iter_mut().for_each(keeps(Keeps::SurelyNot));
    assert_eq!(chosen(&study, None).map(|(at, _)| at), Some(0));
    study.points[..2].iter_mut().for_each(keeps(Keeps::Surely));
    assert_eq!(chosen(&study, None).map(|(at, _)| at), Some(1));
    assert_eq!(chosen(&study, Some(2)).map(|(at, _)| at), Some(2));
    study.points[2].summary = None;
    assert_eq!(chosen(&study, Some(2)).map(|(at, _)| at), Some(1));
    assert_eq!(chosen(&study, Some(99)).map(|(at, _)| at), Some(1));
    study.points.clear();
    assert_eq!(chosen(&study, None), None);
}

#[test]
fn a_point_without_any_pair_says_so() {
    let study = fixture::study();
    let slo = study.spec.slo.clone();
    let html = map(&study, 0, &[], &slo).into_string();
    assert!(html.contains("no pair of bounds keeps any"), "{html}");
}

#[test]
fn void_points_are_shown_where_there_are_no_others() {
    let mut study = fixture::study();
    let measured = |study: &StudyView| {
        study
            .points
            .iter()
            .filter(|it| it.summary.is_some())
            .count()
    };
    assert!(1 < measured(&study));
    let void = |point: &mut PointView| {
        if let Some(certificate) = &mut point.certificate {
            certificate.innocence = Innocence::Void;
        }
    };
    study.points.iter_mut().for_each(void);
    assert!(study.points.iter().any(is_void));
    let (place, point) = chosen(&study, None).expect("one of them");
    assert!(point.summary.is_some());
    let slo = study.spec.slo.clone();
    let html = map(&study, place, &scores(), &slo).into_string();
    assert!(html.contains(" (void)</option>"), "{html}");
}

#[test]
fn shares_stand_on_their_lines_and_never_over_each_other() {
    let html = drawn("ttft:p95<300ms tpot:p95<30ms attain>=90%");
    let at = |text: &str, name: &str| -> Option<String> {
        let rest = text.split_once(&format!(" {name}=\""))?.1;
        Some(rest.split_once('"')?.0.to_owned())
    };
    let labels = html.split("<text ").filter(|it| it.contains("paint-order"));
    let mut places: Vec<_> = labels
        .map(|it| (at(&format!(" {it}"), "x"), at(it, "dx")))
        .collect();
    assert!(3 <= places.len(), "{places:?}");
    places.sort();
    let all = places.len();
    places.dedup();
    assert_eq!(places.len(), all, "{places:?}");
    assert!(
        !html.contains("Prefix caching off at"),
        "a name keeps its letters: {html}"
    );
}
