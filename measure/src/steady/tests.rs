use super::*;
use crate::adaptive::queue::{Queue, Service};
use crate::request::Outcome;

/// A queue's requests as scores: the wait is the time to first token.
fn scores(rate: f64, count: usize) -> Vec<Score> {
    let queue = Queue {
        name: "M/M/16",
        servers: 16,
        service: Service::Exponential,
        bound: 1.0,
        target: 0.95,
    };
    let stays = queue.stays(rate, 3).take(count).zip(queue.waits(rate, 3));
    let score = |(index, ((at, left), wait)): (usize, ((f64, f64), f64))| Score {
        session: index as u32,
        turn: 0,
        scheduled: Nanos::from_secs_f64(at),
        sent: Some(Nanos::from_secs_f64(at)),
        ttft: Some(Nanos::from_secs_f64(wait)),
        ttfa: None,
        e2e: Some(Nanos::from_secs_f64(left - at)),
        tpot: None,
        itl_p95: None,
        stall: None,
        n: Some(2),
        outcome: Outcome::Ok,
    };
    stays.enumerate().map(score).collect()
}

#[test]
fn a_loaded_queue_is_steady_after_a_short_ramp() {
    let scores = scores(10.0, 2000);
    let steady = find(&scores).expect("enough");
    let window = steady.window.expect("steady");
    // The ramp is a few service times, the last arrival the end.
    assert!(window.from.as_secs_f64() < 30.0, "{window:?}");
    let last = scores.last().expect("some").scheduled;
    assert!(window.holds(last) && !window.holds(Nanos(last.0 + 1)));
    assert!(last < steady.end);
    assert_eq!(steady.in_flight.direction, Direction::Level, "{steady:?}");
}

#[test]
fn an_overloaded_queue_is_not_steady_and_rises() {
    let steady = find(&scores(24.0, 2000)).expect("enough");
    assert_eq!(steady.window, None);
    assert_eq!(steady.in_flight.direction, Direction::Rising);
    assert_eq!(steady.ttft.direction, Direction::Rising);
    // Half again too many: 8 of each second's 24 stay.
    let per_second = steady.in_flight.per_second;
    assert!((per_second / 8.0 - 1.0).abs() < 0.2, "{per_second}");
}

#[test]
fn a_window_holds_what_is_due_in_it_and_the_order_does_not_matter() {
    let mut scores = scores(10.0, 400);
    let found = find(&scores);
    scores.reverse();
    assert_eq!(find(&scores), found);
    let window = Window {
        from: Nanos::from_millis(5_000),
        to: Nanos::from_millis(15_000),
    };
    let inside = window.of(&scores);
    assert!(!inside.is_empty() && inside.len() < scores.len());
    assert!(inside.iter().all(|score| window.holds(score.scheduled)));
}

#[test]
fn what_climbs_and_falls_again_is_not_called_steady() {
    // Half of the requests meet an engine that is slower by the middle of the point than at its ends.
    let hump = |index: usize| {
        let at = index as f64 / 20.0;
        let stay = 0.2 + 2.0 * (std::f64::consts::PI * index as f64 / 211.0).sin().powi(2);
        let stay = stay * (0.9 + 0.2 * ((index * 7919) % 13) as f64 / 13.0);
        Score {
            scheduled: Nanos::from_secs_f64(at),
            sent: Some(Nanos::from_secs_f64(at)),
            ttft: Some(Nanos::from_secs_f64(stay / 2.0)),
            e2e: Some(Nanos::from_secs_f64(stay)),
            ..scores(10.0, 1)[0]
        }
    };
    let steady = find(&(0..211).map(hump).collect::<Vec<_>>()).expect("enough");
    assert_eq!(steady.window, None, "{steady:?}");
    assert_eq!(steady.in_flight.direction, Direction::CannotTell);
}

#[test]
fn the_drain_begins_with_the_last_start_of_a_session() {
    let mut scores = scores(10.0, 2000);
    let at = scores[1499].scheduled;
    for score in &mut scores[1500..] {
        score.turn = 1;
    }
    let window = find(&scores).expect("enough").window.expect("steady");
    assert_eq!(window.to, Nanos(at.0 + 1));
}

#[test]
fn few_requests_have_no_parts() {
    assert_eq!(find(&scores(10.0, 39)), None);
    assert_eq!(find(&[]), None);
}

#[test]
fn requests_in_flight_are_counted_as_each_is_sent() {
    let at = |from: u64, lasts: u64| {
        let mut score = scores(10.0, 1)[0];
        score.sent = Some(Nanos::from_millis(from));
        score.e2e = Some(Nanos::from_millis(lasts));
        score
    };
    let scores = [at(0, 10), at(5, 10), at(10, 10), at(30, 1)];
    let seen = in_flight_seen(&scores.iter().collect::<Vec<_>>());
    let counts: Vec<f64> = seen.iter().map(|it| it.1).collect();
    assert_eq!(counts, [0.0, 1.0, 1.0, 0.0]);
}
