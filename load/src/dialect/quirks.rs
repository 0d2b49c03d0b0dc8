//! What an endpoint's requests may say: engines differ in the fields that they know, and some refuse the others.

use serde::ser::{Serialize, SerializeMap, Serializer};

/// The fields that an endpoint is sent beside model and prompt. The default suits engines that ignore what they do not
/// know; [`crate::trial`] finds out what an endpoint refuses.
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
    /// These without the field that a refusal names; `None` when it names none that is sent.
    pub fn without(self, refusal: &str) -> Option<Self> {
        let less =
            |sent: bool, named: &str, less: Self| (sent && refusal.contains(named)).then_some(less);
        let completion = Self {
            limit: Limit::MaxCompletionTokens,
            ..self
        };
        let tokens = Self {
            limit: Limit::MaxTokens,
            ..self
        };
        let by_completion = self.limit == Limit::MaxCompletionTokens;
        // The refusal of `max_tokens` names its better, and its better's name is no part of it.
        less(!by_completion, "max_tokens", completion)
            .or(less(by_completion, "max_completion_tokens", tokens))
            .or(less(
                self.continuous_usage,
                "continuous_usage_stats",
                Self {
                    continuous_usage: false,
                    ..self
                },
            ))
            .or(less(
                self.usage,
                "stream_options",
                Self {
                    usage: false,
                    continuous_usage: false,
                    ..self
                },
            ))
            .or(less(
                self.usage,
                "include_usage",
                Self {
                    usage: false,
                    continuous_usage: false,
                    ..self
                },
            ))
            .or(less(
                self.ignore_eos,
                "ignore_eos",
                Self {
                    ignore_eos: false,
                    ..self
                },
            ))
            .or(less(
                self.min_tokens,
                "min_tokens",
                Self {
                    min_tokens: false,
                    ..self
                },
            ))
            .or(less(
                self.temperature,
                "temperature",
                Self {
                    temperature: false,
                    ..self
                },
            ))
            .or(less(
                self.seed,
                "seed",
                Self {
                    seed: false,
                    ..self
                },
            ))
    }
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
