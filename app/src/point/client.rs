//! Was the client innocent: the certificate's verdict with its evidence.

use measure::certificate::{Certificate, ClientEvidence, Innocence};
use measure::units::Nanos;

use crate::ui::badge::{CLEAN, SUSPECT, VOID};
use crate::ui::format;
use crate::ui::html::{Html, badge, html, terms};

/// The verdict, its reasons and its evidence.
pub(super) fn client(certificate: &Certificate) -> Html {
    let word = match certificate.innocence {
        Innocence::Clean => CLEAN,
        Innocence::Suspect => SUSPECT,
        Innocence::Void => VOID,
    };
    let rows = sending(certificate).into_iter().chain(reading(certificate));
    let rows = rows.map(|(term, what)| (term.to_owned(), what));
    html!(
        r#"<p class="row">{} <span>{}</span></p><dl class="facts">{}</dl>"#,
        badge(word),
        certificate.reasons.join(" "),
        terms(rows)
    )
}

fn span(value: Option<Nanos>) -> String {
    value.map_or("–".into(), |value| value.to_string())
}

fn sending(certificate: &Certificate) -> [(&'static str, String); 3] {
    let lag = format!(
        "p50 {}, p99 {}, at most {}",
        span(certificate.lag_p50),
        span(certificate.lag_p99),
        span(certificate.lag_max)
    );
    let rate = certificate.sent_over_offered;
    [
        ("Sent after it was due", lag),
        (
            "Sent over offered",
            rate.map_or("–".into(), format::percent),
        ),
        (
            "Connections opened inside the clock",
            certificate.fresh_connections.to_string(),
        ),
    ]
}

fn reading(certificate: &Certificate) -> [(&'static str, String); 4] {
    let (reads, client) = (certificate.reads, certificate.client);
    let late = |p99, most| format!("p99 {}, at most {}", span(p99), span(most));
    let read = match reads.lag_max {
        Some(_) => late(reads.lag_p99, reads.lag_max),
        None => "unknown: the kernel does not say".into(),
    };
    [
        (
            "Reads with several events",
            certificate.coalesced_reads.to_string(),
        ),
        ("Read after the kernel had it", read),
        (
            "Load runtime polled late",
            late(client.poll_lag_p99, client.poll_lag_max),
        ),
        ("Cores used", cores(&client)),
    ]
}

fn cores(client: &ClientEvidence) -> String {
    let of = client.cores_available.map(|all| format!(" of {all}"));
    client.cpu_cores.map_or("–".into(), |used| {
        format!("{}{}", format::number(used), of.unwrap_or_default())
    })
}
