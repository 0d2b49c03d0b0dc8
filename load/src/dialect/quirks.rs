//! What an endpoint's requests may say: engines differ in the fields that they know, and some refuse the others.

use measure::study::Api;
use serde::ser::{Serialize, SerializeMap, Serializer};

/// The fields that an endpoint is sent beside model and prompt. The default suits engines that ignore what they do not
/// know; a probe finds out what an endpoint refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quirks {
    /// How the number of tokens is limited.
    pub limit: Limit,
    /// Say `ignore_eos`: to the full length, so that the work is the same whatever the engine makes of it.
    pub ignore_eos: bool,
    /// Say `min_tokens`, where that is how an engine goes to the full length.
    pub min_tokens: bool,
    /// Ask for usage (`stream_options`).
    pub usage: bool,
    /// Ask for usage in every event, which tells how many tokens each carried.
    pub continuous_usage: bool,
    /// Say `temperature`: 0, greedy.
    pub temperature: bool,
    /// Say `seed`.
    pub seed: bool,
}

/// The field that limits the number of output tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Limit {
    /// `max_tokens`, which nearly every engine knows.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`, all that newer models of OpenAI and Azure take.
    MaxCompletionTokens,
}

impl Default for Quirks {
    fn default() -> Self {
        Self {
            limit: Limit::MaxTokens,
            ignore_eos: true,
            min_tokens: false,
            usage: true,
            continuous_usage: false,
            temperature: true,
            seed: true,
        }
    }
}

impl Quirks {
    /// What of this a dialect has no field for and which is not there by itself; `None` where it can say everything.
    pub fn unsayable(self, api: Api) -> Option<&'static str> {
        let openai = matches!(api, Api::OpenAiChat | Api::OpenAiCompletions);
        let min_tokens = openai || api == Api::SglangGenerate;
        match () {
            () if self.min_tokens && !min_tokens => Some("min_tokens"),
            () if self.continuous_usage && !openai => Some("continuous_usage_stats"),
            () => None,
        }
    }

    /// These without the field that a refusal names; `None` when it names none that is sent.
    pub fn without(self, refusal: &str) -> Option<Self> {
        let by_completion = self.limit == Limit::MaxCompletionTokens;
        // The first that is named: a refusal of `max_tokens` names its better too.
        let fields = [
            (!by_completion, "max_tokens"),
            (by_completion, "max_completion_tokens"),
            (self.continuous_usage, "continuous_usage_stats"),
            (self.usage, "stream_options"),
            (self.usage, "include_usage"),
            (self.ignore_eos, "ignore_eos"),
            (self.min_tokens, "min_tokens"),
            (self.temperature, "temperature"),
            (self.seed, "seed"),
        ];
        let mut sent = fields.iter().filter(|(sent, _)| *sent);
        let (_, field) = sent.find(|(_, field)| names(refusal, field))?;
        let mut less = self;
        match *field {
            "max_tokens" => less.limit = Limit::MaxCompletionTokens,
            "max_completion_tokens" => less.limit = Limit::MaxTokens,
            "continuous_usage_stats" => less.continuous_usage = false,
            "ignore_eos" => less.ignore_eos = false,
            "min_tokens" => less.min_tokens = false,
            "temperature" => less.temperature = false,
            "seed" => less.seed = false,
            _ => (less.usage, less.continuous_usage) = (false, false),
        }
        Some(less)
    }
}

/// Whether a text has a field's name as a word.
fn names(text: &str, field: &str) -> bool {
    let of_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(field).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + field.len()..].chars().next();
        !before.is_some_and(of_word) && !after.is_some_and(of_word)
    })
}

/// The OpenAI-shaped part of a body that all requests of an endpoint have in common, but for its limit.
pub(super) struct Wish {
    pub max_tokens: u32,
    pub quirks: Quirks,
}

impl Serialize for Wish {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { max_tokens, quirks } = self;
        let mut map = serializer.serialize_map(None)?;
        let limit = match quirks.limit {
            Limit::MaxTokens => "max_tokens",
            Limit::MaxCompletionTokens => "max_completion_tokens",
        };
        map.serialize_entry(limit, max_tokens)?;
        if quirks.min_tokens {
            map.serialize_entry("min_tokens", max_tokens)?;
        }
        if quirks.temperature {
            map.serialize_entry("temperature", &0.0)?;
        }
        if quirks.seed {
            map.serialize_entry("seed", &0)?;
        }
        if quirks.ignore_eos {
            map.serialize_entry("ignore_eos", &true)?;
        }
        map.serialize_entry("stream", &true)?;
        if quirks.usage {
            map.serialize_entry("stream_options", &StreamOptions(quirks.continuous_usage))?;
        }
        map.end()
    }
}

/// Whether usage is wanted in every event.
struct StreamOptions(bool);

impl Serialize for StreamOptions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("include_usage", &true)?;
        if self.0 {
            map.serialize_entry("continuous_usage_stats", &true)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: Quirks, refusal: &str, expected: Option<Quirks>) {
        assert_eq!(before.without(refusal), expected, "{refusal}");
    }

    #[test]
    fn the_field_that_a_refusal_names_is_left_out() {
        let all = Quirks::default();
        let completion = Quirks {
            limit: Limit::MaxCompletionTokens,
            ..all
        };
        let use_instead = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
        check(all, use_instead, Some(completion));
        check(completion, "unknown field max_completion_tokens", Some(all));
        check(
            all,
            "Unrecognized request argument supplied: ignore_eos",
            Some(Quirks {
                ignore_eos: false,
                ..all
            }),
        );
        for refusal in [
            r#"{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"]}]}"#,
            "include_usage is not supported",
        ] {
            let less = Quirks {
                usage: false,
                ..all
            };
            check(all, refusal, Some(less));
        }
        check(
            all,
            "Unsupported value: 'temperature' does not support 0 with this model.",
            Some(Quirks {
                temperature: false,
                ..all
            }),
        );
    }

    #[test]
    fn a_refusal_that_names_nothing_that_is_sent_changes_nothing() {
        let all = Quirks::default();
        for refusal in [
            "the model is overloaded",
            "min_tokens must be less",
            "seeding failed: max_tokens_per_day",
            "",
        ] {
            check(all, refusal, None);
        }
    }
}
