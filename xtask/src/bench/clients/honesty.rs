//! Zero tolerance: what the instrument says of each request, against what the server's log says.

use super::said::{Said, SaidRequest};
use crate::bench::measured::Honesty;
use crate::bench::truth::Request;
use std::collections::BTreeMap;

/// What a request that went wrong on purpose may be called.
fn names(fault: &str) -> &'static [&'static str] {
    match fault {
        "reset_before" | "reset_after" => &["connection_reset"],
        "stall" => &["stall_timeout"],
        "truncate" => &["truncated", "empty_stream"],
        "cut" => &["truncated", "connection_reset"],
        "in_band_error" => &["in_band_error"],
        "too_many_requests" => &["rate_limited"],
        "unavailable" => &["http_status"],
        "empty" => &["empty_stream"],
        "abort" => &["aborted"],
        "malformed" => &["malformed_event"],
        _ => &[],
    }
}

/// Compares request by request; `asked` is how many were to be sent.
pub fn check(said: &Said, requests: &[Request], asked: usize) -> Honesty {
    let mut log: BTreeMap<&str, Vec<&Request>> = BTreeMap::new();
    for request in requests {
        log.entry(&request.client_id).or_default().push(request);
    }
    let mut records: BTreeMap<&str, usize> = BTreeMap::new();
    for request in &said.requests {
        *records.entry(&request.id).or_default() += 1;
    }
    let mut honesty = Honesty {
        requests: requests.len(),
        wrong: requests
            .iter()
            .filter(|request| !request.is_whole())
            .count(),
        doubled: log.values().filter(|times| 1 < times.len()).count(),
        lost: asked.abs_diff(records.len())
            + records.values().filter(|times| **times != 1).count()
            + log.keys().filter(|id| !records.contains_key(*id)).count(),
        ..Honesty::default()
    };
    for request in &said.requests {
        match log.get(request.id.as_str()).and_then(|times| times.first()) {
            Some(truth) => compare(request, truth, &mut honesty),
            // It says that it went well, and the server never heard of it.
            None => honesty.falsely_ok += usize::from(request.ok),
        }
    }
    honesty
}

fn compare(said: &SaidRequest, truth: &Request, honesty: &mut Honesty) {
    match (said.ok, truth.is_whole()) {
        (true, false) => honesty.falsely_ok += 1,
        (false, true) => honesty.falsely_failed += 1,
        (true, true) => {
            honesty.miscounted += usize::from(said.events != truth.tok_ns.len() as u64);
        }
        (false, false) => {
            let kind = said.kind.as_deref().unwrap_or_default();
            let fault = truth.fault.as_deref().unwrap_or_default();
            honesty.misnamed += usize::from(!names(fault).contains(&kind));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(id: &str, kind: Option<&str>) -> SaidRequest {
        SaidRequest {
            id: id.into(),
            ok: kind.is_none(),
            kind: kind.map(str::to_owned),
            ..SaidRequest::default()
        }
    }

    fn truth(id: &str, fault: Option<&str>) -> Request {
        Request {
            client_id: id.into(),
            status: 200,
            fault: fault.map(str::to_owned),
            ..Request::default()
        }
    }

    #[track_caller]
    fn check_one(said: Vec<SaidRequest>, log: &[Request], expected: Honesty) {
        let said = Said {
            requests: said,
            ..Said::default()
        };
        let mut found = check(&said, log, 1);
        (found.requests, found.wrong) = (0, 0);
        assert_eq!(found, expected);
    }

    #[test]
    fn each_kind_of_lie_is_found() {
        let none = Honesty::default();
        check_one(vec![said("a", None)], &[truth("a", None)], none);
        check_one(
            vec![said("a", Some("stall_timeout"))],
            &[truth("a", Some("stall"))],
            none,
        );
        let falsely_ok = Honesty {
            falsely_ok: 1,
            ..none
        };
        check_one(
            vec![said("a", None)],
            &[truth("a", Some("cut"))],
            falsely_ok,
        );
        check_one(vec![said("a", None)], &[], falsely_ok);
        check_one(
            vec![said("a", Some("truncated"))],
            &[truth("a", None)],
            Honesty {
                falsely_failed: 1,
                ..none
            },
        );
        check_one(
            vec![said("a", Some("truncated"))],
            &[truth("a", Some("abort"))],
            Honesty {
                misnamed: 1,
                ..none
            },
        );
        check_one(
            vec![said("a", None)],
            &[truth("a", None), truth("a", None)],
            Honesty { doubled: 1, ..none },
        );
        check_one(
            vec![said("a", None), said("a", None)],
            &[truth("a", None)],
            Honesty { lost: 1, ..none },
        );
    }
}
