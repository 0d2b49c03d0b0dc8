//! Presets and knobs: what the simulated engine is.
//!
//! Knobs carry vLLM's names (`measure::knobs::simulator_knobs` lists them with their ranges and defaults). A preset is the rest:
//! the model's name, its context, its memory and the prices of a step.

use measure::knobs::{KnobSpec, KnobValue, Knobs, simulator_knobs};

use crate::cost::Cost;
use crate::preset::{PRESETS, Preset};

/// Tokens in one KV block.
pub const BLOCK_SIZE: usize = 16;

/// Most tokens of prompt and answer together, in every preset.
const CONTEXT: u32 = 8192;

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
    /// Most tokens of one prompt in a step where others wait or run; zero sets no limit.
    pub long_prefill_token_threshold: u32,
    /// Whether KV blocks of prompts that begin alike are reused.
    pub enable_prefix_caching: bool,
    /// Whether long prefills are cut into pieces.
    pub enable_chunked_prefill: bool,
    /// Share of the memory that the engine takes.
    pub gpu_memory_utilization: f64,
    /// KV blocks set by hand; zero where they follow from the memory.
    pub num_gpu_blocks_override: u32,
    /// Tokens guessed ahead of each sequence.
    pub num_speculative_tokens: u32,
    /// The chance that a guess is right, each on its own.
    pub synthetic_acceptance_rate: f64,
    /// Prices of a step, with and without recorded graphs and asynchronous scheduling as the knobs say.
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
    /// Not even one sequence could ever be served to its end.
    #[error(
        "the KV cache would hold {tokens} tokens, but one sequence may have {context}: raise gpu-memory-utilization or \
         num-gpu-blocks-override"
    )]
    ContextDoesNotFit {
        /// What the KV cache would hold.
        tokens: usize,
        /// The preset's context.
        context: u32,
    },
}

impl Config {
    /// The preset with these knobs turned.
    pub fn preset(name: &str, knobs: &Knobs) -> Result<Self, ConfigError> {
        let preset = Preset::find(name).ok_or_else(|| ConfigError::UnknownPreset {
            name: name.to_owned(),
        })?;
        let known = simulator_knobs();
        for knob in knobs.keys() {
            if !known.iter().any(|spec| spec.name == knob) {
                let names: Vec<&str> = known.iter().map(|spec| spec.name).collect();
                return Err(ConfigError::UnknownKnob {
                    knob: knob.clone(),
                    known: names.join(", "),
                });
            }
        }
        known
            .iter()
            .try_fold(base(&preset), |config, spec| {
                config.with(spec, knobs.get(spec.name))
            })?
            .with_whole_prefills(knobs)?
            .with_memory(&preset)
    }

    /// This configuration with one knob set, or at its default.
    fn with(mut self, spec: &KnobSpec, value: Option<&KnobValue>) -> Result<Self, ConfigError> {
        let value = value.unwrap_or(&spec.default);
        match spec.name {
            "enable-prefix-caching" => self.enable_prefix_caching = switch(spec, value)?,
            "enable-chunked-prefill" => self.enable_chunked_prefill = switch(spec, value)?,
            "max-num-seqs" => self.max_num_seqs = whole(spec, value)?,
            "max-num-batched-tokens" => self.max_num_batched_tokens = whole(spec, value)?,
            "long-prefill-token-threshold" => {
                self.long_prefill_token_threshold = whole(spec, value)?;
            }
            "gpu-memory-utilization" => self.gpu_memory_utilization = share(spec, value)?,
            "num-gpu-blocks-override" => self.num_gpu_blocks_override = whole(spec, value)?,
            "enforce-eager" => self.cost.eager = switch(spec, value)?,
            "async-scheduling" => self.cost.async_scheduling = switch(spec, value)?,
            "num-speculative-tokens" => self.num_speculative_tokens = whole(spec, value)?,
            "synthetic-acceptance-rate" => self.synthetic_acceptance_rate = share(spec, value)?,
            // A knob that measure lists and this engine lacks has no effect here.
            _ => {}
        }
        Ok(self)
    }

    /// As in vLLM, whole prefills raise the default budget of a step to a whole context.
    fn with_whole_prefills(mut self, knobs: &Knobs) -> Result<Self, ConfigError> {
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

    /// The KV cache gets what is left of the memory, or what was set by hand.
    fn with_memory(mut self, preset: &Preset) -> Result<Self, ConfigError> {
        self.kv_blocks = match self.num_gpu_blocks_override {
            0 => preset.memory.kv_blocks(self.gpu_memory_utilization),
            blocks => blocks,
        };
        let (tokens, context) = (self.kv_blocks as usize * BLOCK_SIZE, self.max_model_len);
        if tokens < context as usize {
            return Err(ConfigError::ContextDoesNotFit { tokens, context });
        }
        Ok(self)
    }

    /// The knobs in force, by name.
    pub fn knobs(&self) -> Knobs {
        let switch = KnobValue::Switch;
        let whole = |number: u32| KnobValue::Whole(number.into());
        let share = KnobValue::Fraction;
        [
            ("enable-prefix-caching", switch(self.enable_prefix_caching)),
            (
                "enable-chunked-prefill",
                switch(self.enable_chunked_prefill),
            ),
            ("max-num-seqs", whole(self.max_num_seqs)),
            ("max-num-batched-tokens", whole(self.max_num_batched_tokens)),
            (
                "long-prefill-token-threshold",
                whole(self.long_prefill_token_threshold),
            ),
            ("gpu-memory-utilization", share(self.gpu_memory_utilization)),
            (
                "num-gpu-blocks-override",
                whole(self.num_gpu_blocks_override),
            ),
            ("enforce-eager", switch(self.cost.eager)),
            ("async-scheduling", switch(self.cost.async_scheduling)),
            ("num-speculative-tokens", whole(self.num_speculative_tokens)),
            (
                "synthetic-acceptance-rate",
                share(self.synthetic_acceptance_rate),
            ),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }
}

fn refuse(spec: &KnobSpec, allowed: String, got: &KnobValue) -> ConfigError {
    ConfigError::BadValue {
        knob: spec.name,
        allowed,
        got: got.clone(),
    }
}

fn switch(spec: &KnobSpec, value: &KnobValue) -> Result<bool, ConfigError> {
    match value {
        KnobValue::Switch(on) => Ok(*on),
        other => Err(refuse(spec, "on or off".into(), other)),
    }
}

fn whole(spec: &KnobSpec, value: &KnobValue) -> Result<u32, ConfigError> {
    let allowed = || format!("a whole number from {} to {}", spec.min, spec.max);
    match value {
        KnobValue::Whole(number) if (spec.min..=spec.max).contains(number) => {
            u32::try_from(*number).map_err(|_| refuse(spec, allowed(), value))
        }
        _ => Err(refuse(spec, allowed(), value)),
    }
}

fn share(spec: &KnobSpec, value: &KnobValue) -> Result<f64, ConfigError> {
    match value {
        KnobValue::Whole(number @ 0..=1) => Ok(*number as f64),
        KnobValue::Fraction(share) if (0.0..=1.0).contains(share) => Ok(*share),
        other => Err(refuse(spec, "a number from 0 to 1".into(), other)),
    }
}

/// A preset before its knobs are set.
fn base(preset: &Preset) -> Config {
    Config {
        preset: preset.name,
        model: format!("simulated-{}", preset.name),
        max_model_len: CONTEXT,
        kv_blocks: 0,
        max_num_seqs: 0,
        max_num_batched_tokens: 0,
        long_prefill_token_threshold: 0,
        enable_prefix_caching: false,
        enable_chunked_prefill: true,
        gpu_memory_utilization: 0.0,
        num_gpu_blocks_override: 0,
        num_speculative_tokens: 0,
        synthetic_acceptance_rate: 0.0,
        cost: preset.cost,
        default_chat_tokens: 128,
        max_queued: 20_000,
    }
}

#[cfg(test)]
mod tests;
