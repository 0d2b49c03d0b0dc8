use super::*;
use crate::testing::{answered, failed, ms};

/// 200 requests ten milliseconds apart, each sent so late.
fn late_by(lag: impl Fn(u32) -> f64) -> Vec<RequestRecord> {
    (0..200)
        .map(|i| {
            let slot = f64::from(i) * 10.0;
            RequestRecord {
                scheduled: ms(slot),
                ..answered(i, slot + lag(i), 20.0, &[5.0])
            }
        })
        .collect()
}

fn innocence(records: &[RequestRecord]) -> Innocence {
    certify(records, ClientEvidence::default()).innocence
}

#[test]
fn a_punctual_client_is_clean() {
    let certificate = certify(&late_by(|_| 0.1), ClientEvidence::default());
    assert_eq!(
        (certificate.innocence, certificate.reasons.len()),
        (Innocence::Clean, 0)
    );
    assert_eq!(certificate.lag_p50, Some(Nanos(100_000)));
    assert_eq!(certificate.sent_over_offered, Some(1.0));
}

#[test]
fn one_hiccup_in_two_hundred_is_forgiven_and_shown() {
    let certificate = certify(
        &late_by(|i| if i == 100 { 80.0 } else { 0.1 }),
        ClientEvidence::default(),
    );
    assert_eq!(certificate.innocence, Innocence::Clean);
    assert_eq!(certificate.lag_max, Some(ms(80.0)));
}

#[test]
fn late_sends_are_suspect_and_then_void() {
    assert_eq!(innocence(&late_by(|_| 4.9)), Innocence::Clean);
    assert_eq!(innocence(&late_by(|_| 6.0)), Innocence::Suspect);
    assert_eq!(innocence(&late_by(|_| 60.0)), Innocence::Void);
}

#[test]
fn the_worst_reason_comes_first() {
    let client = ClientEvidence {
        poll_lag_p99: Some(ms(60.0)),
        ..ClientEvidence::default()
    };
    let certificate = certify(&late_by(|_| 6.0), client);
    assert_eq!(certificate.innocence, Innocence::Void);
    assert_eq!(
        certificate.reasons,
        [
            "The client read late: its own clock ticks came 60.0 ms late at their 99th percentile.",
            "The client sent late: 1 % of requests left 6.00 ms or more after their slot."
        ]
    );
}

#[test]
fn a_short_run_is_not_condemned_for_microseconds() {
    let short = &late_by(|i| if i == 0 { 4.0 } else { 0.1 })[..3];
    let certificate = certify(short, ClientEvidence::default());
    let ratio = certificate.sent_over_offered.expect("ratio");
    assert!(1.05 < ratio, "{ratio}");
    assert_eq!(certificate.innocence, Innocence::Clean);
    let late = &late_by(|i| if i == 0 { 9.0 } else { 0.1 })[..3];
    let reasons = certify(late, ClientEvidence::default()).reasons;
    assert!(
        reasons.iter().any(|reason| reason.contains("offered rate")),
        "{reasons:?}"
    );
}

#[test]
fn falling_behind_the_schedule_is_seen_in_the_rate() {
    let certificate = certify(&late_by(|i| f64::from(i) * 0.2), ClientEvidence::default());
    assert!((certificate.sent_over_offered.expect("ratio") - 1.0 / 1.02).abs() < 1e-9);
    assert_eq!(certificate.reasons.len(), 2);
}

#[test]
fn a_busy_process_is_suspect_and_never_void() {
    let client = ClientEvidence {
        cpu_cores: Some(1.95),
        cores_available: Some(2),
        ..ClientEvidence::default()
    };
    assert_eq!(
        certify(&late_by(|_| 0.1), client).innocence,
        Innocence::Suspect
    );
    let idle = ClientEvidence {
        cpu_cores: Some(1.0),
        ..client
    };
    assert_eq!(certify(&late_by(|_| 0.1), idle).innocence, Innocence::Clean);
}

#[test]
fn sending_everything_at_once_takes_its_time() {
    let burst = |lag: f64| -> Vec<RequestRecord> {
        (0..100)
            .map(|i| RequestRecord {
                scheduled: ms(0.0),
                ..answered(i, f64::from(i) * lag / 100.0, 5000.0, &[5.0])
            })
            .collect()
    };
    assert_eq!(innocence(&burst(60.0)), Innocence::Clean);
    assert_eq!(innocence(&burst(300.0)), Innocence::Suspect);
    assert_eq!(innocence(&burst(900.0)), Innocence::Void);
    assert_eq!(
        certify(&burst(60.0), ClientEvidence::default()).sent_over_offered,
        None
    );
}

#[test]
fn an_engine_that_cannot_be_reached_is_not_the_clients_fault() {
    let mut records = late_by(|_| 0.1);
    let dead = crate::request::ErrorKind::ConnectFailed;
    for record in &mut records[100..] {
        let slot = record.scheduled.as_millis_f64();
        *record = RequestRecord {
            sent: None,
            ..failed(record.session, slot, dead)
        };
    }
    assert_eq!(innocence(&records), Innocence::Clean);
}

/// 200 requests of which so many got no connection from this machine.
fn limited(count: usize) -> Certificate {
    let mut records = late_by(|_| 0.1);
    for record in &mut records[..count] {
        let slot = record.scheduled.as_millis_f64();
        *record = RequestRecord {
            sent: None,
            error_detail: Some("no port".into()),
            ..failed(record.session, slot, crate::request::ErrorKind::ClientLimit)
        };
    }
    certify(&records, ClientEvidence::default())
}

#[test]
fn a_client_at_its_own_limit_is_never_innocent() {
    for (count, innocence) in [
        (0, Innocence::Clean),
        (1, Innocence::Suspect),
        (2, Innocence::Void),
        (200, Innocence::Void),
    ] {
        let certificate = limited(count);
        assert_eq!(certificate.innocence, innocence, "{count}");
        let says = format!("{count} of 200 requests got no connection (no port)");
        let said = certificate.reasons.iter().any(|it| it.contains(&says));
        assert_eq!(said, 0 < count, "{:?}", certificate.reasons);
    }
}

#[test]
fn evidence_is_counted() {
    let mut records = late_by(|_| 0.1);
    records[0].connect = Some(ms(1.0));
    records[1].coalesced_reads = 3;
    records[2].coalesced_reads = 2;
    let certificate = certify(&records, ClientEvidence::default());
    assert_eq!(
        (certificate.fresh_connections, certificate.coalesced_reads),
        (1, 5)
    );
}

#[test]
fn nothing_measured_nothing_to_blame() {
    let certificate = certify(&[], ClientEvidence::default());
    assert_eq!(
        (certificate.innocence, certificate.lag_p99),
        (Innocence::Clean, None)
    );
}

#[test]
fn a_certificate_survives_json() {
    let certificate = certify(&late_by(|_| 6.0), ClientEvidence::default());
    let json = serde_json::to_string(&certificate).expect("json");
    assert_eq!(
        serde_json::from_str::<Certificate>(&json).expect("back"),
        certificate
    );
}

#[test]
fn what_was_found_beside_the_requests_counts_as_well() {
    let found = |innocence, reason: &str| (innocence, reason.to_owned());
    for (lag, findings, innocence, first) in [
        (0.1, vec![], Innocence::Clean, ""),
        (
            0.1,
            vec![
                found(Innocence::Suspect, "busy"),
                found(Innocence::Void, "others"),
            ],
            Innocence::Void,
            "others",
        ),
        (
            60.0,
            vec![found(Innocence::Suspect, "busy")],
            Innocence::Void,
            "The client sent late",
        ),
        (
            6.0,
            vec![found(Innocence::Void, "others")],
            Innocence::Void,
            "others",
        ),
    ] {
        let certificate = certify(&late_by(|_| lag), ClientEvidence::default());
        let own = certificate.reasons.len();
        let more = findings.len();
        let certificate = certificate.with(findings);
        assert_eq!(certificate.innocence, innocence);
        assert_eq!(certificate.reasons.len(), own + more);
        let said = certificate.reasons.first().map_or("", String::as_str);
        assert!(said.starts_with(first), "{said}");
    }
}

#[test]
fn reasons_stand_the_worst_first_and_then_as_given() {
    let found = |innocence, reason: &str| (innocence, reason.to_owned());
    let certificate = certify(&late_by(|_| 60.0), ClientEvidence::default());
    assert_eq!(certificate.void_reasons as usize, certificate.reasons.len());
    let own = certificate.reasons.len();
    let certificate = certificate
        .with(vec![
            found(Innocence::Void, "second"),
            found(Innocence::Suspect, "busy"),
            found(Innocence::Void, "third"),
        ])
        .with(vec![found(Innocence::Void, "fourth")]);
    let more: Vec<&str> = certificate.reasons[own..]
        .iter()
        .map(String::as_str)
        .collect();
    assert_eq!(more, ["second", "third", "fourth", "busy"]);
    assert!(certificate.reasons[0].starts_with("The client sent late"));
}
