//! Where engines are, taken out of what they say: a message may name an address that no setting of the study has, as a redirect does.

use std::net::{IpAddr, SocketAddr};

use app::studio::StudyView;

use super::Removed;
use super::plain::HIDDEN;

/// Takes them out of a view's messages, with what else was taken out.
pub(super) fn leave_out(view: &mut StudyView, removed: &Removed) {
    for text in messages(view) {
        removed.strip_text(text);
        *text = left_out(text);
    }
}

/// All that engines and the studio said of what went wrong.
fn messages(view: &mut StudyView) -> impl Iterator<Item = &mut String> {
    let underway = view.underway.iter_mut();
    let failing = underway.flat_map(|(_, it)| it.failures.iter_mut().map(|it| &mut it.first));
    let of_points = view.points.iter_mut().flat_map(|point| {
        let first = point.summary.iter_mut();
        let first = first.flat_map(|it| it.first_failures.values_mut());
        let first = first.filter_map(|it| it.detail.as_mut());
        let reasons = point.certificate.iter_mut();
        let reasons = reasons.flat_map(|it| it.reasons.iter_mut());
        let said = point.problem.iter_mut().chain(&mut point.notes);
        first.chain(reasons).chain(said)
    });
    view.problem.iter_mut().chain(failing).chain(of_points)
}

/// The text without URLs, IP addresses and ports of this host.
fn left_out(text: &str) -> String {
    let pieces = text.split_inclusive(is_end);
    let shown = pieces.map(|piece| {
        let word = piece.trim_end_matches(is_end);
        match bare(word) {
            Some(address) => piece.replacen(address, HIDDEN, 1),
            None => piece.to_owned(),
        }
    });
    shown.collect()
}

/// Where a word ends. A bracket that opens is part of an IPv6 address.
fn is_end(c: char) -> bool {
    c.is_whitespace() || "\"'`<>(),;{}|".contains(c)
}

/// The address that a word is, without the marks around it.
fn bare(word: &str) -> Option<&str> {
    let word = word.trim_end_matches(['.', ':', '!', '?']);
    if let Some(at) = word.find("://") {
        let name = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        let begins = word[..at].trim_end_matches(name).len();
        return Some(&word[begins..]);
    }
    // As in `addr=10.0.0.7:80`.
    let word = word.rsplit('=').next().unwrap_or_default();
    let host = word.split('/').next().unwrap_or_default();
    let is_local = || {
        let port = host.strip_prefix("localhost:");
        port.is_some_and(|it| it.parse::<u16>().is_ok())
    };
    let inner = host.trim_start_matches('[').trim_end_matches(']');
    let is_address =
        host.parse::<SocketAddr>().is_ok() || inner.parse::<IpAddr>().is_ok() || is_local();
    is_address.then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_left_out_and_words_stay() {
        for (said, shown) in [
            (
                "redirected to http://127.0.0.1:23001/ok/v1, which is not followed; give that address",
                "redirected to hidden, which is not followed; give that address",
            ),
            ("at 'https://engine.corp/x?y=1'.", "at 'hidden'."),
            ("connect 10.0.0.7:8000: refused", "connect hidden: refused"),
            ("connect [::1]:8000 (refused)", "connect hidden (refused)"),
            ("no route to 10.0.0.7.", "no route to hidden."),
            ("localhost:8000/v1 is gone", "hidden is gone"),
            (
                "TTFT p95 was 1.5 s at 12:30, 9 of 10",
                "TTFT p95 was 1.5 s at 12:30, 9 of 10",
            ),
            (
                "version was 0.9.0 and is 0.9.5",
                "version was 0.9.0 and is 0.9.5",
            ),
        ] {
            assert_eq!(left_out(said), shown);
        }
    }
}
