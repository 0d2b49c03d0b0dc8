//! The presets: two made up, the others from published figures.
//!
//! docs/simulator.md names the source of each number and works one preset out by hand. None of them was measured.

use crate::cost::Cost;
use crate::hardware::{Device, Memory, Model, memory, prices};

/// Names that [`Preset::find`] knows, the default of demos first.
pub const PRESETS: &[&str] = &[
    "small-fast",
    "llama-8b-h100",
    "llama-8b-h200",
    "llama-8b-a100",
    "llama-8b-l4",
    "llama-70b-4xh100",
    "llama-1b-laptop",
    "tiny",
];

/// A simulated model on a simulated device, before its knobs are set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// Prices of a step.
    pub cost: Cost,
    /// What its memory holds.
    pub memory: Memory,
    /// Model and device that the prices were worked out from; `None` for those made up.
    pub made_of: Option<(Model, Device)>,
}

impl Preset {
    /// The preset of this name.
    pub fn find(name: &str) -> Option<Self> {
        let name = *PRESETS.iter().find(|known| **known == name)?;
        let (model, device) = match name {
            "llama-8b-h100" => (LLAMA_8B, H100),
            "llama-8b-h200" => (LLAMA_8B, H200),
            "llama-8b-a100" => (LLAMA_8B, A100),
            "llama-8b-l4" => (LLAMA_8B, L4),
            "llama-70b-4xh100" => (LLAMA_70B, FOUR_H100),
            "llama-1b-laptop" => (LLAMA_1B_4BIT, LAPTOP),
            "tiny" => return Some(Self::made_up(name, TINY)),
            _ => return Some(Self::made_up(name, SMALL_FAST)),
        };
        Some(Self {
            name,
            cost: prices(&model, &device),
            memory: memory(&model, &device),
            made_of: Some((model, device)),
        })
    }

    fn made_up(name: &'static str, cost: Cost) -> Self {
        Self {
            name,
            cost,
            memory: MADE_UP_MEMORY,
            made_of: None,
        }
    }
}

/// A small model on a small device, quick enough that a whole study takes minutes: decodes nearly free up to some fifty
/// sequences, and prompts dear (12,500 tokens/s), so that most of a multi-turn chat's cost is prefill, and reusing
/// prefixes shows.
const SMALL_FAST: Cost = Cost {
    weights_ns: 4.2e6,
    token_ns: 80e3,
    attention_pair_ns: 5.0,
    kv_token_ns: 20.0,
    reduce_ns: 0.0,
    reduce_token_ns: 0.0,
    eager_launch_ns: 9e6,
    eager: false,
    gap_ns: 0.3e6,
    host_ns: 0.5e6,
    host_sequence_ns: 20e3,
    async_scheduling: true,
    draft_ns: 0.3e6,
    draft_token_ns: 4e3,
};

/// As fast as tests like it: a token every 0.2 ms or so.
const TINY: Cost = Cost {
    weights_ns: 150e3,
    token_ns: 1e3,
    attention_pair_ns: 0.0,
    kv_token_ns: 1.0,
    reduce_ns: 0.0,
    reduce_token_ns: 0.0,
    eager_launch_ns: 400e3,
    eager: false,
    gap_ns: 50e3,
    host_ns: 50e3,
    host_sequence_ns: 2e3,
    async_scheduling: true,
    draft_ns: 20e3,
    draft_token_ns: 100.0,
};

const GIB: f64 = (1u64 << 30) as f64;

/// At a utilization of 0.9 these leave 2 GiB for KV of 32 KiB a token: 4,096 blocks, 64 sequences of 1,024 tokens.
const MADE_UP_MEMORY: Memory = Memory {
    total: 8.0 * GIB,
    weights: 4.9499 * GIB,
    reserved: 0.25 * GIB,
    kv_token: 32.0 * 1024.0,
};

/// Llama 3.1 8B in bfloat16.
pub(crate) const LLAMA_8B: Model = Model {
    params: 8.03e9,
    tied: false,
    layers: 32.0,
    hidden: 4096.0,
    kv_heads: 8.0,
    head: 128.0,
    vocabulary: 128_256.0,
    weight_bytes: 2.0,
};

/// Llama 3.1 70B in bfloat16.
pub(crate) const LLAMA_70B: Model = Model {
    params: 70.6e9,
    layers: 80.0,
    hidden: 8192.0,
    ..LLAMA_8B
};

/// Llama 3.2 1B in bfloat16.
pub(crate) const LLAMA_1B: Model = Model {
    params: 1.24e9,
    tied: true,
    layers: 16.0,
    hidden: 2048.0,
    head: 64.0,
    ..LLAMA_8B
};

/// The same with weights of four bits and a half (blocks of 32 with a scale of 16 bits).
const LLAMA_1B_4BIT: Model = Model {
    weight_bytes: 4.5 / 8.0,
    ..LLAMA_1B
};

/// NVIDIA H100 SXM, 80 GB.
pub(crate) const H100: Device = Device {
    count: 1.0,
    memory: 80e9,
    reserved: 1.5e9,
    bandwidth: 3.35e12,
    flops: 989e12,
    bandwidth_share: 0.8,
    flops_share: 0.5,
    link: 450e9,
    reduce_latency_ns: 10e3,
    layer_launch_ns: 250e3,
    gap_ns: 0.3e6,
    host_ns: 1e6,
    host_sequence_ns: 15e3,
};

/// NVIDIA H200 SXM, 141 GB.
pub(crate) const H200: Device = Device {
    memory: 141e9,
    bandwidth: 4.8e12,
    ..H100
};

/// NVIDIA A100 SXM, 80 GB.
pub(crate) const A100: Device = Device {
    bandwidth: 2.039e12,
    flops: 312e12,
    link: 300e9,
    ..H100
};

/// NVIDIA L4, 24 GB.
pub(crate) const L4: Device = Device {
    memory: 24e9,
    bandwidth: 300e9,
    flops: 121e12,
    ..H100
};

/// Four of them that share a model.
const FOUR_H100: Device = Device { count: 4.0, ..H100 };

/// Eight cores with AVX2 at 3.5 GHz and two channels of DDR5-5600.
const LAPTOP: Device = Device {
    memory: 16e9,
    reserved: 8e9,
    bandwidth: 89.6e9,
    flops: 896e9,
    bandwidth_share: 0.7,
    layer_launch_ns: 50e3,
    gap_ns: 0.1e6,
    host_ns: 0.2e6,
    ..H100
};
