//! Failed requests in words: which kinds, how many, and what follows where all of them failed.

use std::collections::BTreeMap;

use measure::request::ErrorKind;

use crate::studio::StudyView;

/// A kind of failure as a person reads it.
pub fn kind(kind: ErrorKind) -> String {
    kind.name().replace('_', " ")
}

/// `300 http status, 2 connect`, the most frequent first.
pub fn list(failures: &BTreeMap<ErrorKind, u32>) -> String {
    let mut all: Vec<_> = failures.iter().collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    all.iter()
        .map(|(one, count)| format!("{count} {}", kind(**one)))
        .collect::<Vec<_>>()
        .join(", ")
}

/// The answer of a study of which no request succeeded: there is nothing to judge, and more of the same would not help.
pub fn nothing_succeeded(view: &StudyView) -> Option<String> {
    let mut failures = BTreeMap::new();
    for summary in view.points.iter().filter_map(|it| it.summary.as_ref()) {
        if summary.completed > 0 {
            return None;
        }
        for (kind, count) in &summary.failures {
            *failures.entry(*kind).or_insert(0) += count;
        }
    }
    (!failures.is_empty()).then(|| {
        format!(
            "No request succeeded, so there is nothing to judge: {}. The page of a point says more.",
            list(&failures)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn kinds_are_listed_by_their_number() {
        let failures = BTreeMap::from([(ErrorKind::StallTimeout, 2), (ErrorKind::HttpStatus, 300)]);
        assert_eq!(list(&failures), "300 http status, 2 stall timeout");
        assert_eq!(list(&BTreeMap::new()), "");
    }

    #[test]
    fn only_a_study_without_any_success_has_nothing_to_judge() {
        let mut study = fixture::study();
        let last = study.points.len() - 1;
        for point in &mut study.points[..last] {
            let summary = point.summary.as_mut().expect("summary");
            summary.completed = 0;
            summary.failures = BTreeMap::from([(ErrorKind::HttpStatus, 10)]);
        }
        assert_eq!(nothing_succeeded(&study), None);
        let summary = study.points[last].summary.as_mut().expect("summary");
        (summary.completed, summary.failures) = (0, BTreeMap::from([(ErrorKind::HttpStatus, 1)]));
        let said = nothing_succeeded(&study).expect("an answer");
        assert!(
            said.contains(&format!("{} http status", last * 10 + 1)),
            "{said}"
        );
    }
}
