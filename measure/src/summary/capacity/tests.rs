use super::*;
use crate::arrival::{Arrival, starts};
use crate::sampling::Draws;
use crate::testing::{Queue, answered, failed, ms};
use crate::units::Level;

fn judge(records: &[RequestRecord]) -> Capacity {
    let mut arrived: Vec<&RequestRecord> = records.iter().collect();
    arrived.sort_by_key(|record| record.scheduled);
    capacity(&arrived, Discipline::OpenLoop)
}

fn above(capacity: &Capacity) -> bool {
    matches!(capacity, Capacity::Above { .. })
}

/// How many of 200 runs are called above capacity.
fn called_above(run: impl Fn(u64) -> Vec<RequestRecord>) -> usize {
    (0..200).filter(|seed| above(&judge(&run(*seed)))).count()
}

#[test]
fn a_healthy_engine_with_noise_is_hardly_ever_blamed() {
    for n in [60, 200, 1000] {
        let queue = Queue {
            rate: 5.0,
            servers: 64,
            service_ms: 800.0,
            sigma: 0.3,
        };
        let blamed = called_above(|seed| queue.run(n, seed));
        assert!(blamed <= 1, "{blamed} of 200 with {n} requests");
    }
}

#[test]
fn a_busy_engine_below_capacity_is_seldom_blamed() {
    // Three quarters of what one server can do, with heavy-tailed service.
    let queue = Queue {
        rate: 7.0,
        servers: 1,
        service_ms: 80.0,
        sigma: 0.8,
    };
    let blamed = called_above(|seed| queue.run(400, seed));
    assert!(blamed <= 6, "{blamed} of 200");
}

#[test]
fn an_engine_that_falls_behind_by_a_quarter_is_found() {
    let queue = Queue {
        rate: 12.5,
        servers: 8,
        service_ms: 800.0,
        sigma: 0.3,
    };
    let found = called_above(|seed| queue.run(300, seed));
    assert!(190 <= found, "{found} of 200");
}

#[test]
fn a_quickly_ended_overload_is_found_too() {
    let queue = Queue {
        rate: 40.0,
        servers: 8,
        service_ms: 800.0,
        sigma: 0.3,
    };
    let found = called_above(|seed| queue.run(100, seed));
    assert!(195 <= found, "{found} of 200");
}

/// An engine that admits everything at once: the first token comes soon, the rest ever more slowly.
fn slowing(n: usize, rate: f64, seed: u64) -> Vec<RequestRecord> {
    let mut draws = Draws::new(seed);
    let level: Level = rate.to_string().parse().expect("rate");
    starts(Arrival::Poisson, level, n, seed)
        .iter()
        .enumerate()
        .map(|(i, at)| {
            let stay = 1000.0 + 0.3 * at.as_millis_f64();
            let gap = stay / 10.0 * (0.3 * draws.normal()).exp();
            answered(
                i as u32,
                at.as_millis_f64(),
                50.0 * (0.3 * draws.normal()).exp(),
                &[gap; 10],
            )
        })
        .collect()
}

#[test]
fn growing_stays_are_found_where_the_first_token_is_always_quick() {
    let found = called_above(|seed| slowing(400, 10.0, seed));
    assert!(190 <= found, "{found} of 200");
}

/// Sessions of five turns with growing prompts on an engine that never queues.
fn sessions(n: usize, rate: f64, seed: u64) -> Vec<RequestRecord> {
    let mut draws = Draws::new(seed);
    let level: Level = rate.to_string().parse().expect("rate");
    let mut records = Vec::new();
    for (session, start) in starts(Arrival::Poisson, level, n, seed).iter().enumerate() {
        let mut at = start.as_millis_f64();
        for turn in 0..5 {
            let ttft = (30.0 + 25.0 * f64::from(turn)) * (0.3 * draws.normal()).exp();
            let gap = 40.0 * (0.3 * draws.normal()).exp();
            let record = answered(session as u32, at, ttft, &[gap; 40]);
            at = record.end.expect("ended").as_millis_f64() + 100.0;
            records.push(RequestRecord { turn, ..record });
        }
    }
    records
}

#[test]
fn sessions_that_fill_up_a_healthy_engine_are_not_a_backlog() {
    for (n, rate) in [(20, 0.5), (40, 2.0), (80, 8.0), (80, 30.0)] {
        let blamed = called_above(|seed| sessions(n, rate, seed));
        assert!(blamed <= 2, "{blamed} of 200 at {rate}/s");
    }
}

/// Sessions of five turns for `seconds`, on an engine whose steps take longer the more sessions are open, or longer and longer.
fn batched(seconds: f64, rate: f64, for_ever: bool, seed: u64) -> Vec<RequestRecord> {
    /// A session takes about so many seconds.
    const SESSION: f64 = 5.0;
    let mut draws = Draws::new(seed);
    let level: Level = rate.to_string().parse().expect("rate");
    let count = (seconds * rate) as usize;
    let mut records = Vec::new();
    for (session, start) in starts(Arrival::Poisson, level, count, seed)
        .iter()
        .enumerate()
    {
        let mut at = start.as_millis_f64();
        for turn in 0..5 {
            let filled = at / 1e3 / SESSION;
            let busy = if for_ever { filled } else { filled.min(1.0) };
            let gap = 14.0 * (1.0 + busy) * (0.2 * draws.normal()).exp();
            let record = answered(session as u32, at, 30.0, &[gap; 30]);
            at = record.end.expect("ended").as_millis_f64() + 100.0;
            records.push(RequestRecord { turn, ..record });
        }
    }
    records.retain(|record| record.sent.is_some_and(|sent| sent.as_secs_f64() < seconds));
    records.sort_by_key(|record| record.sent);
    records
}

#[test]
fn steps_that_lengthen_while_sessions_open_are_not_a_backlog() {
    for seconds in [8.0, 14.0, 40.0] {
        let blamed = called_above(|seed| batched(seconds, 12.0, false, seed));
        assert!(blamed <= 2, "{blamed} of 200 in {seconds} s");
    }
    let found = called_above(|seed| batched(40.0, 12.0, true, seed));
    assert!(190 <= found, "{found} of 200");
}

#[test]
fn refusals_for_load_are_above_capacity() {
    let mut records = Queue {
        rate: 5.0,
        servers: 64,
        service_ms: 100.0,
        sigma: 0.1,
    }
    .run(200, 1);
    for i in (0..200).step_by(10) {
        records[i] = failed(
            i as u32,
            records[i].scheduled.as_millis_f64(),
            crate::request::ErrorKind::RateLimited,
        );
    }
    let Capacity::Above { why } = judge(&records) else {
        panic!("not above")
    };
    assert_eq!(
        why,
        "20 of 200 requests were refused for load, given up or not answered in time"
    );
}

#[test]
fn failures_of_other_kinds_are_not() {
    let mut records = Queue {
        rate: 5.0,
        servers: 64,
        service_ms: 100.0,
        sigma: 0.1,
    }
    .run(200, 1);
    for i in (0..200).step_by(10) {
        records[i] = failed(
            i as u32,
            records[i].scheduled.as_millis_f64(),
            crate::request::ErrorKind::HttpStatus,
        );
    }
    assert_eq!(judge(&records), Capacity::Within);
}

#[test]
fn few_requests_and_closed_loops_cannot_be_told() {
    let records = Queue {
        rate: 50.0,
        servers: 1,
        service_ms: 800.0,
        sigma: 0.1,
    }
    .run(39, 1);
    assert_eq!(judge(&records), Capacity::Unknown);
    let records = Queue {
        rate: 50.0,
        servers: 1,
        service_ms: 800.0,
        sigma: 0.1,
    }
    .run(100, 1);
    let arrived: Vec<&RequestRecord> = records.iter().collect();
    assert_eq!(
        capacity(&arrived, Discipline::ClosedLoop),
        Capacity::Unknown
    );
    assert_eq!(capacity(&arrived, Discipline::AllAtOnce), Capacity::Unknown);
}

#[test]
fn a_constant_answer_is_within() {
    let records: Vec<_> = (0..100)
        .map(|i| answered(i, f64::from(i) * 100.0, 50.0, &[10.0; 5]))
        .collect();
    assert_eq!(judge(&records), Capacity::Within);
    assert_eq!(records[0].end, Some(ms(100.0)));
}

#[test]
fn waits_that_grow_with_the_rate_blame_nobody() {
    let falls_behind = Queue {
        rate: 12.5,
        servers: 8,
        service_ms: 800.0,
        sigma: 0.3,
    };
    let mut records = falls_behind.run(300, 1);
    assert!(above(&judge(&records)));
    let changing = |records: &[RequestRecord]| {
        let mut arrived: Vec<&RequestRecord> = records.iter().collect();
        arrived.sort_by_key(|record| record.scheduled);
        capacity(&arrived, Discipline::Changing)
    };
    assert_eq!(changing(&records), Capacity::Unknown);
    for record in records.iter_mut().step_by(10) {
        record.outcome = Outcome::Error(ErrorKind::RateLimited);
    }
    assert!(above(&changing(&records)), "what is refused is refused");
}
