//! Is a value one of those that a setting takes?

use measure::knobs::KnobValue;

use super::{Kind, Knob, Pattern};

/// Longest text of a value.
const LONGEST: usize = 2000;

impl Knob {
    /// Whether the setting takes the value; else what it takes.
    pub fn check(&self, value: &KnobValue) -> Result<(), String> {
        let fits = match (self.kind, value) {
            (Kind::Switch, KnobValue::Switch(_)) => true,
            (Kind::Whole, KnobValue::Whole(number)) => self.holds(*number as f64),
            (Kind::Fraction, KnobValue::Whole(number)) => self.holds(*number as f64),
            (Kind::Fraction, KnobValue::Fraction(number)) => self.holds(*number),
            (Kind::Choice, value) => self.choices.contains(&value.to_string()),
            (Kind::Text, value) => self.is_text(&value.to_string()),
            (Kind::Json, KnobValue::Word(word)) => is_object(word),
            _ => false,
        };
        if fits {
            return Ok(());
        }
        Err(format!(
            "{} must be {}, got {value}",
            self.name,
            self.wanted()
        ))
    }

    fn holds(&self, number: f64) -> bool {
        self.min.is_none_or(|min| min <= number) && self.max.is_none_or(|max| number <= max)
    }

    fn is_text(&self, text: &str) -> bool {
        match self.pattern {
            Some(Pattern::Size) => is_size(text),
            None => is_plain(text),
        }
    }

    fn wanted(&self) -> String {
        let range = match (self.min, self.max) {
            (Some(min), Some(max)) => format!(" from {min} to {max}"),
            _ => String::new(),
        };
        match (self.kind, self.pattern) {
            (Kind::Switch, _) => "on or off".into(),
            (Kind::Whole, _) => format!("a whole number{range}"),
            (Kind::Fraction, _) => format!("a number{range}"),
            (Kind::Choice, _) => format!("one of {}", self.choices.join(", ")),
            (Kind::Text, Some(Pattern::Size)) => "a number of bytes, such as 256M or 4G".into(),
            (Kind::Text, None) => "a word without blanks that does not begin with a dash".into(),
            (Kind::Json, _) => "a JSON object, such as {\"method\": \"ngram\"}".into(),
        }
    }
}

/// Nothing that could be read as another flag, or as more than one argument.
pub(super) fn is_plain(text: &str) -> bool {
    let is_number = text.parse::<f64>().is_ok();
    !text.is_empty()
        && text.len() <= LONGEST
        && (is_number || !text.starts_with('-'))
        && !text.contains(|it: char| it.is_control() || it.is_whitespace())
}

fn is_size(text: &str) -> bool {
    let digits = text.trim_end_matches(['k', 'K', 'm', 'M', 'g', 'G', 't', 'T']);
    let digits_only = !digits.is_empty() && digits.chars().all(|it| it.is_ascii_digit());
    digits_only && text.len() <= digits.len() + 1
}

fn is_object(text: &str) -> bool {
    text.len() <= LONGEST
        && !text.contains(char::is_control)
        && serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::super::catalogue;
    use super::*;

    #[track_caller]
    fn check(engine: &str, name: &str, value: &str, wanted: Option<&str>) {
        let knob = catalogue(engine)
            .and_then(|it| it.knob(name))
            .expect("a knob");
        let said = knob.check(&KnobValue::from(value)).err();
        assert_eq!(said.is_some(), wanted.is_some(), "{name} {value}: {said:?}");
        let (said, wanted) = (said.unwrap_or_default(), wanted.unwrap_or_default());
        assert!(said.contains(wanted), "{name} {value}: {said}");
    }

    #[test]
    fn a_value_is_of_its_type_and_in_its_range() {
        check("vllm", "max-num-seqs", "64", None);
        check("vllm", "max-num-seqs", "0", Some("from 1 to 65536, got 0"));
        check("vllm", "max-num-seqs", "6.5", Some("a whole number"));
        check("vllm", "max-num-seqs", "on", Some("a whole number"));
        check("vllm", "gpu-memory-utilization", "0.9", None);
        check("vllm", "gpu-memory-utilization", "1", None);
        check(
            "vllm",
            "gpu-memory-utilization",
            "1.1",
            Some("from 0.05 to 1"),
        );
        check("vllm", "enable-prefix-caching", "off", None);
        check("vllm", "enable-prefix-caching", "1", Some("on or off"));
        check(
            "vllm",
            "scheduling-policy",
            "lifo",
            Some("one of fcfs, priority"),
        );
        check("llamacpp", "flash-attn", "on", None);
        check("llamacpp", "parallel", "-1", None);
    }

    #[test]
    fn a_text_is_one_argument_and_no_flag() {
        check("vllm", "quantization", "awq", None);
        check("vllm", "quantization", "--trust-remote-code", Some("dash"));
        check(
            "vllm",
            "quantization",
            "awq --host 0.0.0.0",
            Some("without blanks"),
        );
        check("vllm", "quantization", "", Some("without blanks"));
        check("vllm", "kv-cache-memory-bytes", "256M", None);
        check("vllm", "kv-cache-memory-bytes", "1000000", None);
        for bad in ["M", "1MM", "-1M", "1 M", "--x"] {
            check("vllm", "kv-cache-memory-bytes", bad, Some("256M"));
        }
    }

    #[test]
    fn json_is_an_object() {
        check(
            "vllm",
            "speculative-config",
            r#"{"method": "ngram", "num_speculative_tokens": 4}"#,
            None,
        );
        for bad in ["{", "[1]", "--x", "{}\n"] {
            let knob = catalogue("vllm").and_then(|it| it.knob("speculative-config"));
            let said = knob.expect("a knob").check(&KnobValue::Word(bad.into()));
            assert!(said.is_err(), "{bad}");
        }
    }
}
