//! Where secrets stand in a text, whole or begun.

use std::ops::Range;

/// The text with each secret hidden.
pub(super) fn hidden(text: &str, secrets: &[String]) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut from = 0;
    for span in spans(text, secrets) {
        shown.push_str(&text[from..span.start]);
        shown.push_str("[secret]");
        from = span.end;
    }
    shown + &text[from..]
}

/// Where the end of a text begins that may be the beginning of a secret; never in the middle of one. The text's length
/// where there is no such end.
pub(super) fn unfinished(text: &str, secrets: &[String]) -> usize {
    let longest = secrets.iter().map(String::len).max().unwrap_or(0);
    let first = text.len().saturating_sub(longest);
    let begins = |at: &usize| {
        let end = &text[*at..];
        let is_begun = |it: &String| end.len() < it.len() && it.starts_with(end);
        secrets.iter().any(is_begun)
    };
    let mut places = (first..text.len()).filter(|at| text.is_char_boundary(*at));
    let at = places.find(begins).unwrap_or(text.len());
    let inside = |span: &Range<usize>| span.start < at && at < span.end;
    let cut = spans(text, secrets).into_iter().find(inside);
    cut.map_or(at, |span| span.start)
}

/// Where secrets stand, in order; those that overlap as one.
fn spans(text: &str, secrets: &[String]) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = secrets.iter().flat_map(|it| places(text, it)).collect();
    all.sort_by_key(|span| span.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for span in all {
        match merged.last_mut() {
            Some(last) if span.start < last.end => last.end = last.end.max(span.end),
            _ => merged.push(span),
        }
    }
    merged
}

/// Every place of a secret, also such that overlap.
fn places(text: &str, secret: &str) -> Vec<Range<usize>> {
    let step = secret.chars().next().map_or(1, char::len_utf8);
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(secret)) {
        found.push(from + at..from + at + secret.len());
        from += at + step;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(all: &[&str]) -> Vec<String> {
        all.iter().map(|it| (*it).to_owned()).collect()
    }

    #[test]
    fn one_that_begins_like_another_leaves_nothing_of_it() {
        let both = secrets(&["abcd", "abcdefgh", "ghij"]);
        for (text, expected) in [
            ("x abcdefgh y", "x [secret] y"),
            ("abcdefghij!", "[secret]!"),
            ("abcdabcd", "[secret][secret]"),
            ("abc", "abc"),
        ] {
            assert_eq!(hidden(text, &both), expected);
        }
    }

    #[test]
    fn a_beginning_at_the_end_is_found() {
        let both = secrets(&["abcd", "abcdefgh", "cdéx"]);
        for (text, expected) in [
            ("xyz", 3),
            ("xyz a", 4),
            ("x abcd", 2),
            ("x abcdefg", 2),
            ("x abcdefgh", 10),
            // The end begins one secret and is the end of another: both stay whole.
            ("x abcdé", 2),
        ] {
            assert_eq!(unfinished(text, &both), expected, "{text}");
        }
    }
}
