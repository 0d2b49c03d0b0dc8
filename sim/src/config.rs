//! Presets and knobs: what the simulated engine is.
//!
//! Knobs carry vLLM's names (`measure::knobs::simulator_knobs` lists them with their ranges and defaults). A preset is the rest:
//! the model's name, its context, its KV cache and the prices of a step.

use measure::knobs::{KnobSpec, KnobValue, Knobs, simulator_knobs};

use crate::cost::Cost;

/// Names that [`Config::preset`] knows, the default of demos first.
pub const PRESETS: &[&str] = &["small-fast", "llama-8b-h100", "tiny"];

/// Tokens in one KV block.
pub const BLOCK_SIZE: usize = 16;

/// A simulated engine, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The preset it was made from.
    pub preset: &'static str,
    /// The model's name on the wire: `simulated-small-fast`.
    pub model: String,
    /// Most tokens of prompt and answer together.
    pub max_model_len: u32,
    /// Blocks of the KV cache; at least one whole context.
    pub kv_blocks: u32,
    /// Most sequences in one step.
    pub max_num_seqs: u32,
    /// Most tokens in one step.
    pub max_num_batched_tokens: u32,
    /// Whether KV blocks of prompts that begin alike are reused.
    pub enable_prefix_caching: bool,
    /// Whether long prefills are cut into pieces.
    pub enable_chunked_prefill: bool,
    /// Prices of a step.
    pub cost: Cost,
    /// Answer length of a chat that asks for none.
    pub default_chat_tokens: u32,
    /// Most sequences waiting or running; more are refused as vLLM refuses a full queue.
    pub max_queued: u32,
}

/// What is wrong with a preset or a knob.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// No such preset.
    #[error("unknown preset {name:?}; the simulator knows {}", PRESETS.join(", "))]
    UnknownPreset {
        /// The name asked for.
        name: String,
    },
    /// No such knob.
    #[error("unknown knob {knob:?}; the simulator knows {known}")]
    UnknownKnob {
        /// The knob given.
        knob: String,
        /// All knobs.
        known: String,
    },
    /// A value outside what the knob allows.
    #[error("{knob} must be {allowed}, got {got}")]
    BadValue {
        /// The knob.
        knob: &'static str,
        /// What it allows.
        allowed: String,
        /// What was given.
        got: KnobValue,
    },
    /// A whole prompt would not fit into a step.
    #[error(
        "max-num-batched-tokens is {batched}, but without enable-chunked-prefill a whole prompt must fit into one step: \
         set it to at least {context}, or turn enable-chunked-prefill on"
    )]
    WholePrefillsDoNotFit {
        /// The value given.
        batched: u32,
        /// The preset's context.
        context: u32,
    },
}

impl Config {
    /// The preset with these knobs turned.
    pub fn preset(name: &str, knobs: &Knobs) -> Result<Self, ConfigError> {
        let base = base(name).ok_or_else(|| ConfigError::UnknownPreset {
            name: name.to_owned(),
        })?;
        let known = simulator_knobs();
        for knob in knobs.keys() {
            if !known.iter().any(|spec| spec.name == knob) {
                let known = known
                    .iter()
                    .map(|spec| spec.name)
                    .collect::<Vec<_>>()
                    .join(", ");
                return Err(ConfigError::UnknownKnob {
                    knob: knob.clone(),
                    known,
                });
            }
        }
        known
            .iter()
            .try_fold(base, |config, spec| config.with(spec, knobs.get(spec.name)))?
            .settled(knobs)
    }

    /// This configuration with one knob set, or at its default.
    fn with(mut self, spec: &KnobSpec, value: Option<&KnobValue>) -> Result<Self, ConfigError> {
        let value = value.unwrap_or(&spec.default);
        match spec.name {
            "enable-prefix-caching" => self.enable_prefix_caching = switch(spec, value)?,
            "enable-chunked-prefill" => self.enable_chunked_prefill = switch(spec, value)?,
            "max-num-seqs" => self.max_num_seqs = whole(spec, value)?,
            "max-num-batched-tokens" => self.max_num_batched_tokens = whole(spec, value)?,
            // A knob that measure lists and this engine lacks has no effect here.
            _ => {}
        }
        Ok(self)
    }

    /// The knobs seen together: as in vLLM, whole prefills raise the default budget of a step to a whole context.
    fn settled(mut self, knobs: &Knobs) -> Result<Self, ConfigError> {
        if self.enable_chunked_prefill || self.max_model_len <= self.max_num_batched_tokens {
            return Ok(self);
        }
        let (batched, context) = (self.max_num_batched_tokens, self.max_model_len);
        if knobs.contains_key("max-num-batched-tokens") {
            return Err(ConfigError::WholePrefillsDoNotFit { batched, context });
        }
        self.max_num_batched_tokens = context;
        Ok(self)
    }

    /// The knobs in force, by name.
    pub fn knobs(&self) -> Knobs {
        [
            (
                "enable-prefix-caching",
                KnobValue::Switch(self.enable_prefix_caching),
            ),
            (
                "enable-chunked-prefill",
                KnobValue::Switch(self.enable_chunked_prefill),
            ),
            ("max-num-seqs", KnobValue::Whole(self.max_num_seqs.into())),
            (
                "max-num-batched-tokens",
                KnobValue::Whole(self.max_num_batched_tokens.into()),
            ),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }
}

fn switch(spec: &KnobSpec, value: &KnobValue) -> Result<bool, ConfigError> {
    match value {
        KnobValue::Switch(on) => Ok(*on),
        other => Err(ConfigError::BadValue {
            knob: spec.name,
            allowed: "on or off".into(),
            got: other.clone(),
        }),
    }
}

fn whole(spec: &KnobSpec, value: &KnobValue) -> Result<u32, ConfigError> {
    let refuse = || ConfigError::BadValue {
        knob: spec.name,
        allowed: format!("a whole number from {} to {}", spec.min, spec.max),
        got: value.clone(),
    };
    match value {
        KnobValue::Whole(number) if spec.min <= *number && *number <= spec.max => {
            u32::try_from(*number).map_err(|_| refuse())
        }
        _ => Err(refuse()),
    }
}

/// A preset before its knobs are set.
fn base(name: &str) -> Option<Config> {
    let preset = *PRESETS.iter().find(|known| **known == name)?;
    let (max_model_len, kv_blocks, cost) = match preset {
        "llama-8b-h100" => (8192, LLAMA_8B_H100_BLOCKS, LLAMA_8B_H100),
        "tiny" => (8192, 4096, TINY),
        _ => (8192, SMALL_FAST_BLOCKS, SMALL_FAST),
    };
    Some(Config {
        preset,
        model: format!("simulated-{preset}"),
        max_model_len,
        kv_blocks,
        max_num_seqs: 0,
        max_num_batched_tokens: 0,
        enable_prefix_caching: false,
        enable_chunked_prefill: true,
        cost,
        default_chat_tokens: 128,
        max_queued: 20_000,
    })
}

/// A small model on a small device, quick enough that a whole study takes minutes. The numbers are chosen, not measured: a step of
/// 4.5 ms, decodes nearly free (20 µs a sequence: a small batch is bound by reading the weights), and prompts dear (80 µs a
/// token, 12,500 tokens/s), so that most of a multi-turn chat's cost is prefill, and reusing prefixes shows.
const SMALL_FAST: Cost = Cost {
    base_ns: 4.5e6,
    prefill_token_ns: 80e3,
    attention_pair_ns: 5.0,
    sequence_ns: 20e3,
    kv_token_ns: 20.0,
};
/// 65,536 tokens: 64 sequences of 1,024.
const SMALL_FAST_BLOCKS: u32 = 4096;

/// An 8-billion-parameter Llama in 16 bits on one H100 SXM, by roofline from public figures: 16 GB of weights over
/// 3.35 TB/s (NVIDIA's data sheet) is 4.8 ms, and 1.2 ms for launches and scheduling; a prompt token is 2 FLOP x 8e9 over half of 989
/// TFLOP/s, 32 µs; a pair 4 x 4096 x 32 layers FLOP over the same, 1 ns; a cached token 128 KiB (8 KV heads x 128 x 2 x 2 bytes x 32
/// layers) over 3.35 TB/s, 39 ns; a sequence its row in the products and about 10 µs of sampling, 42 µs. Plausible, never measured.
const LLAMA_8B_H100: Cost = Cost {
    base_ns: 6.0e6,
    prefill_token_ns: 32e3,
    attention_pair_ns: 1.0,
    sequence_ns: 42e3,
    kv_token_ns: 39.0,
};
/// 55 GB of KV at 128 KiB a token (80 GB x 0.9 less weights and activations): 419,424 tokens.
const LLAMA_8B_H100_BLOCKS: u32 = 26_214;

/// As fast as tests like it: a token every 0.2 ms or so.
const TINY: Cost = Cost {
    base_ns: 200e3,
    prefill_token_ns: 1e3,
    attention_pair_ns: 0.0,
    sequence_ns: 5e3,
    kv_token_ns: 1.0,
};

#[cfg(test)]
mod tests {
    use super::*;

    fn knobs(pairs: &[(&str, &str)]) -> Knobs {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), KnobValue::from(*value)))
            .collect()
    }

    #[track_caller]
    fn check_error(preset: &str, pairs: &[(&str, &str)], expected: &str) {
        let error = Config::preset(preset, &knobs(pairs)).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn every_preset_stands_with_the_default_knobs() {
        for preset in PRESETS {
            let config = Config::preset(preset, &Knobs::new()).unwrap();
            let defaults: Knobs = simulator_knobs()
                .into_iter()
                .map(|spec| (spec.name.to_owned(), spec.default))
                .collect();
            assert_eq!(config.knobs(), defaults, "{preset}");
            assert!(config.model.starts_with("simulated-"));
            assert!(config.max_model_len as usize <= config.kv_blocks as usize * BLOCK_SIZE);
        }
    }

    #[test]
    fn knobs_turn() {
        let config = Config::preset(
            "tiny",
            &knobs(&[
                ("max-num-seqs", "3"),
                ("max-num-batched-tokens", "16"),
                ("enable-prefix-caching", "on"),
            ]),
        )
        .unwrap();
        assert_eq!(
            (config.max_num_seqs, config.max_num_batched_tokens),
            (3, 16)
        );
        assert!(config.enable_prefix_caching);
    }

    #[test]
    fn errors_name_the_knob_and_the_mend() {
        check_error(
            "big",
            &[],
            "unknown preset \"big\"; the simulator knows small-fast, llama-8b-h100, tiny",
        );
        check_error(
            "tiny",
            &[("max-num-seqs", "0")],
            "max-num-seqs must be a whole number from 1 to 4096, got 0",
        );
        check_error(
            "tiny",
            &[("max-num-seqs", "many")],
            "max-num-seqs must be a whole number from 1 to 4096, got many",
        );
        check_error(
            "tiny",
            &[("enable-prefix-caching", "3")],
            "enable-prefix-caching must be on or off, got 3",
        );
        check_error(
            "tiny",
            &[("block-size", "3")],
            "unknown knob \"block-size\"; the simulator knows enable-prefix-caching, enable-chunked-prefill, max-num-seqs, \
             max-num-batched-tokens",
        );
    }

    #[test]
    fn whole_prefills_need_a_whole_context() {
        check_error(
            "tiny",
            &[
                ("enable-chunked-prefill", "off"),
                ("max-num-batched-tokens", "512"),
            ],
            "max-num-batched-tokens is 512, but without enable-chunked-prefill a whole prompt must fit into one step: set \
             it to at least 8192, or turn enable-chunked-prefill on",
        );
    }

    #[test]
    fn whole_prefills_raise_the_default_budget() {
        let config = Config::preset(
            "llama-8b-h100",
            &knobs(&[("enable-chunked-prefill", "off")]),
        )
        .unwrap();
        assert_eq!(config.max_num_batched_tokens, 8192);
    }
}
