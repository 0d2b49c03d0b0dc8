//! The text that Prometheus reads, line by line: names, labels, values. Comments, timestamps and exemplars are passed over.
//!
//! Strict within a line and forgiving between them: a line that is no sample is counted and left out, so that one odd
//! metric does not hide the others.

use std::borrow::Cow;

/// One line of a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample<'a> {
    /// Its name.
    pub name: &'a str,
    /// What stands between the braces.
    labels: &'a str,
    /// Its value.
    pub value: f64,
}

/// A line that is no sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// The samples of a page, in order.
pub fn samples(page: &str) -> impl Iterator<Item = Result<Sample<'_>, Malformed>> {
    let lines = page.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| sample(line).ok_or(Malformed))
}

fn sample(line: &str) -> Option<Sample<'_>> {
    let (name, rest) = line.split_at(line.find(|c| !is_name(c)).unwrap_or(line.len()));
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let rest = rest.trim_start();
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(inside) => inside.split_at(end_of_labels(inside)?),
        None => ("", rest),
    };
    let rest = rest.strip_prefix('}').unwrap_or(rest);
    let mut words = rest.split_ascii_whitespace();
    let value = words.next()?.parse().ok()?;
    // After the value: nothing, a moment, or an exemplar.
    let after = words
        .next()
        .is_none_or(|word| word == "#" || word.parse::<f64>().is_ok());
    after.then_some(Sample {
        name,
        labels,
        value,
    })
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '.')
}

/// Where the closing brace stands; every label before it is whole.
fn end_of_labels(inside: &str) -> Option<usize> {
    let mut labels = Labels(inside);
    loop {
        let rest = labels.0.trim_start_matches([' ', ',']);
        if rest.starts_with('}') {
            return Some(inside.len() - rest.len());
        }
        labels.next()?;
    }
}

impl<'a> Sample<'a> {
    /// Its labels, in order.
    pub fn labels(&self) -> impl Iterator<Item = (&'a str, Cow<'a, str>)> + use<'a> {
        Labels(self.labels)
    }

    /// One of its labels.
    pub fn label(&self, name: &str) -> Option<Cow<'a, str>> {
        let mut all = self.labels();
        all.find_map(|(key, value)| (key == name).then_some(value))
    }
}

/// What is left to read of a sample's labels.
struct Labels<'a>(&'a str);

impl<'a> Iterator for Labels<'a> {
    type Item = (&'a str, Cow<'a, str>);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.0.trim_start_matches([' ', ',']);
        let (name, rest) = rest.split_once('=')?;
        let name = name.trim_end();
        if name.is_empty() || !name.chars().all(is_name) {
            return None;
        }
        let rest = rest.trim_start().strip_prefix('"')?;
        let end = end_of_value(rest)?;
        self.0 = &rest[end + 1..];
        Some((name, unescaped(&rest[..end])))
    }
}

/// Where a quoted value ends.
fn end_of_value(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (place, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(place),
            _ => {}
        }
    }
    None
}

fn unescaped(value: &str) -> Cow<'_, str> {
    if !value.contains('\\') {
        return Cow::Borrowed(value);
    }
    let mut text = String::with_capacity(value.len());
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        text.push(match letter {
            '\\' => match letters.next() {
                Some('n') => '\n',
                Some(other) => other,
                None => break,
            },
            other => other,
        });
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Shown<'a> = (&'a str, Vec<(&'a str, String)>, f64);

    #[track_caller]
    fn check(line: &str, expected: Option<Shown<'_>>) {
        let mut found = samples(line);
        let one = found.next();
        assert!(found.next().is_none());
        let shown = one.and_then(Result::ok).map(|sample| {
            let labels = sample
                .labels()
                .map(|(name, value)| (name, value.into_owned()));
            (sample.name, labels.collect(), sample.value)
        });
        assert_eq!(shown, expected, "{line}");
    }

    fn labels<'a>(all: &[(&'a str, &str)]) -> Vec<(&'a str, String)> {
        let owned = all.iter().map(|(name, value)| (*name, (*value).to_owned()));
        owned.collect()
    }

    #[test]
    fn lines_of_every_kind_are_read() {
        check("up 1", Some(("up", vec![], 1.0)));
        check(
            "  a:b_total{}  1.5e3 1700000000",
            Some(("a:b_total", vec![], 1500.0)),
        );
        check(
            r#"x{le="+Inf",n="a,b}c"} 3"#,
            Some(("x", labels(&[("le", "+Inf"), ("n", "a,b}c")]), 3.0)),
        );
        check(
            r#"x { a = "1" , b="say \"hi\"\\\n", } -Inf"#,
            Some((
                "x",
                labels(&[("a", "1"), ("b", "say \"hi\"\\\n")]),
                f64::NEG_INFINITY,
            )),
        );
        check(
            r#"x_bucket{le="1"} 3 # {trace_id="abc"} 0.7 1700.5"#,
            Some(("x_bucket", labels(&[("le", "1")]), 3.0)),
        );
    }

    #[test]
    fn lines_that_are_no_samples_are_not_read() {
        for line in [
            "up",
            "up one",
            "up 1 two",
            "1up 1",
            r#"x{a="1} 3"#,
            r#"x{a=1} 3"#,
            r#"x{="1"} 3"#,
            r#"x{a="1"#,
            r#"x{a b="1"} 3"#,
            "{} 3",
            "<html>",
            "é 1",
        ] {
            check(line, None);
        }
    }

    #[test]
    fn comments_and_empty_lines_are_passed_over() {
        let page = "# HELP x y\n\n# TYPE x gauge\nx NaN\n# EOF\n";
        let all: Vec<_> = samples(page).collect();
        assert_eq!(all.len(), 1);
        assert!(all[0].is_ok_and(|sample| sample.value.is_nan()));
    }
}
