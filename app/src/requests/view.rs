//! What the address of a point's page says: a window, another SLO, from which row on.

use measure::decimal;
use measure::slo::Slo;
use measure::units::Nanos;

use crate::url_state::escape;

/// A window of a point, and the SLO that it is judged by.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// The window's beginning, from the point's start.
    pub from: Option<Nanos>,
    /// Its end.
    pub to: Option<Nanos>,
    /// An SLO that is tried in place of the study's.
    pub slo: Option<Slo>,
    /// The first row that is shown, from 0, where there is no script that shows them as they come into sight.
    pub row: usize,
    /// What could not be read, in whole sentences.
    pub wrong: Vec<String>,
}

impl View {
    /// Reads a query through `get`. What cannot be read is said, and is otherwise as in a bare URL.
    pub fn read(get: impl Fn(&str) -> Option<String>) -> Self {
        let given = |key: &str| get(key).filter(|text| !text.trim().is_empty());
        let mut view = Self {
            row: given("row").and_then(|it| it.parse().ok()).unwrap_or(0),
            ..Self::default()
        };
        view.from = given("from").and_then(|it| view.second("from", &it));
        view.to = given("to").and_then(|it| view.second("to", &it));
        if let (Some(from), Some(to)) = (view.from, view.to)
            && to <= from
        {
            view.wrong.push(format!(
                "A window ends after it begins: {} s to {} s is none, so all of the point is shown.",
                seconds(from),
                seconds(to)
            ));
            (view.from, view.to) = (None, None);
        }
        view.slo = given("slo").and_then(|text| match text.parse() {
            Ok(slo) => Some(slo),
            Err(error) => {
                view.wrong
                    .push(format!("The study's own SLO is shown: {error}."));
                None
            }
        });
        view
    }

    fn second(&mut self, name: &str, text: &str) -> Option<Nanos> {
        let read = decimal::parse(text.trim()).filter(|it| it.is_finite() && 0.0 <= *it);
        if read.is_none() {
            self.wrong.push(format!(
                "\"{name}\" is a number of seconds from the point's start, not {text:?}."
            ));
        }
        read.map(Nanos::from_secs_f64)
    }

    /// The query, empty or beginning with `?`; only what differs from a bare URL.
    pub fn query(&self) -> String {
        let window = [("from", self.from), ("to", self.to)];
        let window = window.into_iter();
        let mut pairs: Vec<String> = window
            .filter_map(|(key, at)| Some(format!("{key}={}", seconds(at?))))
            .collect();
        pairs.extend(
            self.slo
                .iter()
                .map(|slo| format!("slo={}", escape(&slo.to_string()))),
        );
        if 0 < self.row {
            pairs.push(format!("row={}", self.row));
        }
        if pairs.is_empty() {
            String::new()
        } else {
            format!("?{}", pairs.join("&"))
        }
    }

    /// The same with another window, from its first row on.
    pub fn within(&self, from: Option<Nanos>, to: Option<Nanos>) -> Self {
        Self {
            from,
            to,
            slo: self.slo.clone(),
            ..Self::default()
        }
    }

    /// The same from another row on.
    pub fn from_row(&self, row: usize) -> Self {
        Self {
            row,
            ..self.clone()
        }
    }
}

/// Seconds to the millisecond, without empty decimals: `12.5`.
pub fn seconds(at: Nanos) -> String {
    let text = format!("{:.3}", at.as_secs_f64());
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &[(&str, &str)]) -> View {
        View::read(|key| {
            let found = query.iter().find(|(name, _)| *name == key);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn a_window_survives_the_address() {
        let view = read(&[("from", "10"), ("to", "42.5"), ("row", "100")]);
        assert_eq!(view.query(), "?from=10&to=42.5&row=100");
        assert_eq!(view.from, Some(Nanos::from_millis(10_000)));
        assert_eq!(read(&[]).query(), "");
        let tried = read(&[("slo", "ttft<200ms attain>=90%")]);
        assert!(
            tried.query().starts_with("?slo=ttft%3C200ms"),
            "{}",
            tried.query()
        );
    }

    #[test]
    fn nonsense_is_said_and_shows_all() {
        for (key, value) in [
            ("from", "-1"),
            ("to", "soon"),
            ("to", "NaN"),
            ("slo", "fast"),
        ] {
            let view = read(&[(key, value)]);
            assert_eq!(view.query(), "", "{key}={value}");
            assert_eq!(view.wrong.len(), 1, "{key}={value}");
        }
        let backwards = read(&[("from", "9"), ("to", "3")]);
        assert_eq!((backwards.from, backwards.to), (None, None));
        assert!(backwards.wrong[0].contains("9 s to 3 s"));
    }
}
