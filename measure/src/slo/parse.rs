//! Reading an SLO. Every error points at the word that is wrong.

use std::str::FromStr;

use crate::decimal;
use crate::units::Nanos;

use super::{Bound, Metric, Slo, SloError};

/// The share of requests that must be good where the text names none.
pub const DEFAULT_ATTAINMENT: f64 = 0.95;
/// The loosest bound: a day.
const LOOSEST: Nanos = Nanos(86_400_000_000_000);

impl FromStr for Slo {
    type Err = SloError;

    /// Reads bounds separated by blanks or commas: `ttft:p95<500ms tpot<50ms e2el:3000 error_rate<1% attain>=95%`.
    fn from_str(text: &str) -> Result<Self, SloError> {
        let mut reader = Reader { text, at: 0 };
        let mut slo = Self {
            bounds: Vec::new(),
            error_rate: None,
            attainment: DEFAULT_ATTAINMENT,
        };
        let mut attainment = None;
        while reader.skip_to_clause() {
            let name = reader.name()?;
            match name.text.to_ascii_lowercase().as_str() {
                "attain" | "attainment" => {
                    set_once(&mut attainment, reader.attainment()?, name, "attainment")?
                }
                "error_rate" | "errors" => set_once(
                    &mut slo.error_rate,
                    reader.error_rate()?,
                    name,
                    "error_rate",
                )?,
                other => {
                    let metric = Metric::from_name(other).ok_or_else(|| name.unknown())?;
                    if slo.bounds.iter().any(|bound| bound.metric == metric) {
                        return Err(
                            name.wrong(format!("{metric} is bound twice; keep one bound a metric"))
                        );
                    }
                    slo.bounds.push(reader.bound(metric)?);
                }
            }
        }
        if slo.bounds.is_empty() && slo.error_rate.is_none() {
            return Err(reader
                .end()
                .wrong("an SLO needs at least one bound, such as ttft:p95<500ms"));
        }
        slo.attainment = attainment.unwrap_or(DEFAULT_ATTAINMENT);
        Ok(slo)
    }
}

fn set_once(
    slot: &mut Option<f64>,
    value: f64,
    word: Word<'_>,
    what: &str,
) -> Result<(), SloError> {
    if slot.replace(value).is_some() {
        return Err(word.wrong(format!("{what} is given twice; keep one")));
    }
    Ok(())
}

/// A stretch of the text, for errors to point at.
#[derive(Clone, Copy)]
struct Word<'a> {
    at: usize,
    text: &'a str,
}

impl Word<'_> {
    fn wrong(self, message: impl Into<String>) -> SloError {
        SloError {
            at: self.at,
            word: self.text.to_owned(),
            message: message.into(),
        }
    }

    fn unknown(self) -> SloError {
        let known = Metric::ALL.map(Metric::name).join(", ");
        self.wrong(format!(
            "unknown name; known are {known}, error_rate and attain"
        ))
    }
}

/// Which way a comparison points.
#[derive(Clone, Copy, PartialEq)]
enum Comparison {
    AtMost,
    AtLeast,
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        self.skip(char::is_whitespace);
    }

    fn skip(&mut self, skipped: impl Fn(char) -> bool) {
        self.at = self.text.len() - self.rest().trim_start_matches(skipped).len();
    }

    /// Moves to the next clause; false at the end of the text.
    fn skip_to_clause(&mut self) -> bool {
        self.skip(|c| c.is_whitespace() || c == ',' || c == ';');
        !self.rest().is_empty()
    }

    /// Takes the longest stretch of such characters; may be empty.
    fn take(&mut self, taken: impl Fn(char) -> bool) -> Word<'a> {
        let rest = self.rest();
        let length = rest.find(|c| !taken(c)).unwrap_or(rest.len());
        let word = Word {
            at: self.at,
            text: &rest[..length],
        };
        self.at += length;
        word
    }

    /// What stands here up to the next blank, to show in an error.
    fn here(&self) -> Word<'a> {
        let rest = self.rest();
        let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
        Word {
            at: self.at,
            text: &rest[..length],
        }
    }

    fn end(&self) -> Word<'a> {
        Word {
            at: self.text.len(),
            text: "",
        }
    }

    fn name(&mut self) -> Result<Word<'a>, SloError> {
        let name = self.take(|c| c.is_alphanumeric() || c == '_' || c == '-');
        if name.text.is_empty() {
            return Err(self.here().wrong("expected the name of a metric"));
        }
        Ok(name)
    }

    /// `:p95<500ms`, `<500ms`, `:500`.
    fn bound(&mut self, metric: Metric) -> Result<Bound, SloError> {
        self.skip_blanks();
        let colon = self.accept(":");
        self.skip_blanks();
        let percentile = self.percentile()?;
        self.skip_blanks();
        let at_colon = colon && percentile.is_none();
        match self.comparison() {
            Some((Comparison::AtMost, _)) => {}
            Some((Comparison::AtLeast, word)) => {
                return Err(word.wrong(format!("{metric} is bound from above; write <")));
            }
            None if at_colon => {}
            None => {
                return Err(self.here().wrong(format!(
                    "expected < and a time after {metric}, such as {metric}<500ms"
                )));
            }
        }
        Ok(Bound {
            metric,
            percentile,
            at_most: self.time()?,
        })
    }

    fn accept(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    fn percentile(&mut self) -> Result<Option<f64>, SloError> {
        if !self.rest().starts_with(['p', 'P']) {
            return Ok(None);
        }
        let word = self.take(|c| c.is_alphanumeric() || c == '.');
        let number = decimal::parse(&word.text[1..]).filter(|p| 0.0 < *p && *p < 100.0);
        number.map(Some).ok_or_else(|| {
            word.wrong("a percentile lies between p0 and p100, such as p95 or p99.9")
        })
    }

    fn comparison(&mut self) -> Option<(Comparison, Word<'a>)> {
        let word = Word {
            at: self.at,
            ..self.here()
        };
        for (text, comparison) in [
            ("<=", Comparison::AtMost),
            ("<", Comparison::AtMost),
            ("≤", Comparison::AtMost),
            (">=", Comparison::AtLeast),
            (">", Comparison::AtLeast),
            ("≥", Comparison::AtLeast),
        ] {
            if self.accept(text) {
                return Some((comparison, word));
            }
        }
        None
    }

    /// A number and the letters that follow it, blanks between them allowed.
    fn quantity(&mut self) -> Result<(Word<'a>, f64, &'a str), SloError> {
        self.skip_blanks();
        let start = self.at;
        let number = self.take(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | '+'));
        let value = decimal::parse(number.text).ok_or_else(|| {
            let word = if number.text.is_empty() {
                self.here()
            } else {
                number
            };
            word.wrong("expected a number")
        })?;
        if number.text.starts_with('-') {
            return Err(number.wrong("must not be negative"));
        }
        let after = self.at;
        self.skip_blanks();
        let unit = self.unit();
        if unit.is_empty() {
            self.at = after;
        }
        Ok((
            Word {
                at: start,
                text: self.text[start..self.at].trim_end(),
            },
            value,
            unit,
        ))
    }

    /// A unit, or nothing where the next word is another clause.
    fn unit(&mut self) -> &'a str {
        let glued = !self.text[..self.at].ends_with(char::is_whitespace);
        let before = self.at;
        let word = self
            .take(|c| c.is_alphabetic() || c == '%' || c == '_')
            .text;
        if glued || word == "%" || nanos_per(word).is_some() {
            return word;
        }
        self.at = before;
        ""
    }

    fn time(&mut self) -> Result<Nanos, SloError> {
        let (word, value, unit) = self.quantity()?;
        let scale = if unit.is_empty() {
            Some(1e6)
        } else {
            nanos_per(unit)
        };
        let scale = scale.ok_or_else(|| word.wrong("unknown unit; known are s, ms and us"))?;
        let nanos = (value * scale).round();
        if !(1.0..=LOOSEST.0 as f64).contains(&nanos) {
            return Err(word.wrong("a bound lies between 1 ns and 24 h"));
        }
        Ok(Nanos(nanos as u64))
    }

    fn attainment(&mut self) -> Result<f64, SloError> {
        let (word, share) = self.share(
            "attain",
            Comparison::AtLeast,
            "attain is bound from below; write >=",
        )?;
        if share == 0.0 {
            return Err(word.wrong("must be above zero"));
        }
        Ok(share)
    }

    fn error_rate(&mut self) -> Result<f64, SloError> {
        self.share(
            "error_rate",
            Comparison::AtMost,
            "error_rate is bound from above; write <",
        )
        .map(|(_, share)| share)
    }

    /// `>=95%`, `:95%`, `>=0.95`.
    fn share(
        &mut self,
        name: &str,
        wanted: Comparison,
        other_way: &str,
    ) -> Result<(Word<'a>, f64), SloError> {
        self.skip_blanks();
        match self.comparison() {
            Some((comparison, _)) if comparison == wanted => {}
            Some((_, word)) => return Err(word.wrong(other_way)),
            None if self.accept(":") => {}
            None => {
                return Err(self
                    .here()
                    .wrong(format!("expected a share after {name}, such as 95%")));
            }
        }
        let (word, value, unit) = self.quantity()?;
        match unit {
            "%" if value <= 100.0 => Ok((word, value / 100.0)),
            // 1 could mean 1 % or all.
            "" if value < 1.0 => Ok((word, value)),
            "%" | "" => Err(word.wrong("a share lies between 0% and 100%; write it with %")),
            _ => Err(word.wrong("expected a share, such as 95%")),
        }
    }
}

/// Nanoseconds in a unit, by its name.
fn nanos_per(unit: &str) -> Option<f64> {
    match unit.to_ascii_lowercase().as_str() {
        "s" | "sec" | "second" | "seconds" => Some(1e9),
        "ms" | "millisecond" | "milliseconds" => Some(1e6),
        "us" | "µs" | "μs" | "microsecond" | "microseconds" => Some(1e3),
        _ => None,
    }
}
