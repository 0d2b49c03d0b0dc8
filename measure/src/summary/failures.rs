//! What went wrong first, in the engine's own words, and what a person can do about it.

use serde::{Deserialize, Serialize};

use super::Summary;
use crate::request::{ErrorKind, Outcome, RequestRecord};

/// So much of an engine's words is shown in one line.
const SHOWN: usize = 300;

/// The first failure of its kind, in order of arrival.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstFailure {
    /// The response's status, where there was a response.
    pub http_status: Option<u16>,
    /// What exactly went wrong; for people.
    pub detail: Option<String>,
}

impl FirstFailure {
    /// A failed request's; `None` where the request succeeded.
    pub(super) fn of(record: &RequestRecord) -> Option<(ErrorKind, Self)> {
        let Outcome::Error(kind) = record.outcome else {
            return None;
        };
        let first = Self {
            http_status: record.http_status,
            detail: record.error_detail.clone(),
        };
        Some((kind, first))
    }

    /// `HTTP 401: invalid api key`, in one line.
    fn words(&self) -> String {
        let status = self.http_status.map(|status| format!("HTTP {status}"));
        let detail = self.detail.as_deref().map(in_one_line);
        let parts: Vec<String> = status.into_iter().chain(detail).collect();
        parts.join(": ")
    }
}

fn in_one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

impl Summary {
    /// Failures in words, the most frequent kind first: `40 × http_status (HTTP 401: invalid api key)`.
    pub fn failures_in_words(&self) -> Vec<String> {
        let words = |(kind, count): (ErrorKind, u32)| {
            let first = self.first_failures.get(&kind).map(FirstFailure::words);
            let first = first.filter(|words| !words.is_empty());
            let first = first.map_or(String::new(), |words| format!(" ({words})"));
            format!("{count} × {}{first}", kind.name())
        };
        self.kinds_by_count().into_iter().map(words).collect()
    }

    /// What helps against the most frequent failure, where that is known.
    pub fn mend(&self) -> Option<&'static str> {
        let (kind, _) = *self.kinds_by_count().first()?;
        let status = self.first_failures.get(&kind).and_then(|it| it.http_status);
        mend(kind, status)
    }

    /// Whether every failure is an answer that did not come in time: what load far above capacity does.
    pub fn fails_by_lateness_only(&self) -> bool {
        let is_late =
            |kind: &ErrorKind| matches!(kind, ErrorKind::StallTimeout | ErrorKind::Cancelled);
        self.failures.keys().all(is_late)
    }

    fn kinds_by_count(&self) -> Vec<(ErrorKind, u32)> {
        let mut kinds: Vec<_> = self
            .failures
            .iter()
            .map(|(kind, count)| (*kind, *count))
            .collect();
        kinds.sort_by_key(|(kind, count)| (std::cmp::Reverse(*count), *kind));
        kinds
    }
}

fn mend(kind: ErrorKind, status: Option<u16>) -> Option<&'static str> {
    match (kind, status) {
        (ErrorKind::HttpStatus, Some(401 | 403)) => {
            Some("the engine wants another API key: name the environment variable that holds it")
        }
        (ErrorKind::HttpStatus, Some(404 | 405)) => {
            Some("check the URL's path and the model's name")
        }
        (ErrorKind::HttpStatus, Some(400 | 413 | 422)) => {
            Some("check the API, the model and whether prompts and answers fit its context")
        }
        (ErrorKind::HttpStatus | ErrorKind::InBandError, _) => Some("the engine's log says why"),
        (ErrorKind::RateLimited, _) => Some("raise the engine's limit or lower the rate"),
        (ErrorKind::NotAStream | ErrorKind::MalformedEvent, _) => {
            Some("what answers there does not speak this API: check the URL, its path and the API")
        }
        (ErrorKind::ConnectFailed | ErrorKind::ConnectionReset, _) => {
            Some("check that the engine runs and can be reached")
        }
        (ErrorKind::ClientLimit, _) => {
            Some("raise the limit of this machine that is named there, or lower the load")
        }
        (ErrorKind::StallTimeout, _) => {
            Some("lower the rate, or raise the time that a stream may be silent")
        }
        (
            ErrorKind::Aborted
            | ErrorKind::Truncated
            | ErrorKind::EmptyStream
            | ErrorKind::Cancelled,
            _,
        ) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Discipline, Failures, summarize};
    use super::*;
    use crate::testing::{answered, failed};

    fn refused(session: u32, status: u16, detail: &str) -> RequestRecord {
        RequestRecord {
            http_status: Some(status),
            error_detail: Some(detail.to_owned()),
            ..failed(session, f64::from(session), ErrorKind::HttpStatus)
        }
    }

    fn summary(records: &[RequestRecord]) -> Summary {
        summarize(records, Discipline::OpenLoop, Failures::AsInfinity)
    }

    #[test]
    fn the_first_of_each_kind_is_kept_with_its_status() {
        let summary = summary(&[
            refused(2, 500, "later"),
            refused(1, 401, "no\n  key"),
            failed(3, 3.0, ErrorKind::StallTimeout),
            answered(0, 0.0, 1.0, &[]),
        ]);
        assert_eq!(
            summary.failures_in_words(),
            ["2 × http_status (HTTP 401: no key)", "1 × stall_timeout"]
        );
        assert!(summary.mend().is_some_and(|mend| mend.contains("API key")));
        assert!(!summary.fails_by_lateness_only());
    }

    #[test]
    fn a_page_of_html_is_cut_to_a_line() {
        let summary = summary(&[refused(0, 404, &"<p>not here</p>\n".repeat(200))]);
        let words = summary.failures_in_words();
        assert!(
            words[0].len() < 400 && words[0].ends_with("...)"),
            "{words:?}"
        );
    }

    #[test]
    fn summaries_stored_before_first_failures_were_kept_are_read() {
        let mut json = serde_json::to_value(summary(&[refused(0, 404, "x")])).expect("written");
        json.as_object_mut()
            .expect("object")
            .remove("first_failures");
        let read: Summary = serde_json::from_value(json).expect("read");
        assert_eq!(read.failures_in_words(), ["1 × http_status"]);
    }
}
