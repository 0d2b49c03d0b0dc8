//! From data sheets to prices: what a model on a device costs, and how many KV blocks fit beside it.

use crate::config::BLOCK_SIZE;
use crate::cost::Cost;

mod stated; // where somebody says which hardware it is

pub use stated::{Stated, Statement};

/// A model's shape, from its published configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// All parameters.
    pub params: f64,
    /// Whether the output head is the input embedding, so that no step can leave it unread.
    pub tied: bool,
    /// Layers.
    pub layers: f64,
    /// Width of the stream between layers.
    pub hidden: f64,
    /// Heads of keys and values.
    pub kv_heads: f64,
    /// Width of a head.
    pub head: f64,
    /// Entries of the vocabulary.
    pub vocabulary: f64,
    /// Bytes of a weight.
    pub weight_bytes: f64,
}

/// Bytes of an activation, key or value: 16 bits.
const VALUE_BYTES: f64 = 2.0;

impl Model {
    /// Bytes of all weights.
    pub fn bytes(&self) -> f64 {
        self.params * self.weight_bytes
    }

    /// Parameters that every token is multiplied with: all but an input embedding of its own, of which a token reads one row.
    pub fn active_params(&self) -> f64 {
        let embedding = if self.tied { 0.0 } else { self.head_params() };
        self.params - embedding
    }

    /// Parameters of a draft head as in EAGLE: one layer, and the output head that it shares.
    pub fn draft_params(&self) -> f64 {
        (self.active_params() - self.head_params()) / self.layers + self.head_params()
    }

    fn head_params(&self) -> f64 {
        self.vocabulary * self.hidden
    }

    /// Bytes of the keys and values of one token.
    pub fn kv_token_bytes(&self) -> f64 {
        2.0 * self.layers * self.kv_heads * self.head * VALUE_BYTES
    }

    /// Multiplications and additions for one pair of a query and a key, in all heads and layers: scores, then values.
    pub fn pair_flops(&self) -> f64 {
        4.0 * self.hidden * self.layers
    }
}

/// One device, or several of a kind that share a model by tensor parallelism.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Device {
    /// How many share the model.
    pub count: f64,
    /// Bytes of memory of each.
    pub memory: f64,
    /// Bytes of it taken by the runtime, activations and recorded graphs.
    pub reserved: f64,
    /// Bytes per second of each, as the data sheet says.
    pub bandwidth: f64,
    /// Dense operations per second of each in the model's type, as the data sheet says.
    pub flops: f64,
    /// Share of the bandwidth that is reached.
    pub bandwidth_share: f64,
    /// Share of the operations that is reached.
    pub flops_share: f64,
    /// Bytes per second between devices, in one direction; without effect for one device.
    pub link: f64,
    /// Nanoseconds until a reduction of nothing is done.
    pub reduce_latency_ns: f64,
    /// Nanoseconds to launch one layer's kernels one by one.
    pub layer_launch_ns: f64,
    /// As [`Cost::gap_ns`].
    pub gap_ns: f64,
    /// As [`Cost::host_ns`].
    pub host_ns: f64,
    /// As [`Cost::host_sequence_ns`].
    pub host_sequence_ns: f64,
}

/// What memory holds, on each device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    /// All bytes.
    pub total: f64,
    /// Bytes of weights.
    pub weights: f64,
    /// Bytes of everything else that is not KV cache.
    pub reserved: f64,
    /// Bytes of a token's keys and values.
    pub kv_token: f64,
}

impl Memory {
    /// KV blocks that fit where the engine may take this share of the memory; zero where not even the weights do.
    pub fn kv_blocks(&self, utilization: f64) -> u32 {
        let left = self.total * utilization - self.weights - self.reserved;
        (left / (self.kv_token * BLOCK_SIZE as f64)).max(0.0) as u32
    }
}

/// What a model takes of the memory of each of these devices.
pub fn memory(model: &Model, device: &Device) -> Memory {
    Memory {
        total: device.memory,
        weights: model.bytes() / device.count,
        reserved: device.reserved,
        kv_token: model.kv_token_bytes() / device.count,
    }
}

/// The prices of a step of this model on these devices.
pub fn prices(model: &Model, device: &Device) -> Cost {
    let read =
        |bytes: f64| 1e9 * bytes / device.count / (device.bandwidth * device.bandwidth_share);
    let compute = |flops: f64| 1e9 * flops / device.count / (device.flops * device.flops_share);
    let (reduce_ns, reduce_token_ns) = reduction(model, device);
    Cost {
        weights_ns: read(model.active_params() * model.weight_bytes),
        token_ns: compute(2.0 * model.active_params()),
        attention_pair_ns: compute(model.pair_flops()),
        kv_token_ns: read(model.kv_token_bytes()),
        reduce_ns,
        reduce_token_ns,
        eager_launch_ns: device.layer_launch_ns * model.layers,
        eager: false,
        gap_ns: device.gap_ns,
        host_ns: device.host_ns,
        host_sequence_ns: device.host_sequence_ns,
        async_scheduling: true,
        draft_ns: read(model.draft_params() * model.weight_bytes),
        draft_token_ns: compute(2.0 * model.draft_params()),
    }
}

/// Latency of a step's all-reduces, two a layer, and the time of one token's bytes in them, by the ring's bound: each device
/// sends and receives 2 (n - 1) / n of what is summed.
fn reduction(model: &Model, device: &Device) -> (f64, f64) {
    if device.count <= 1.0 {
        return (0.0, 0.0);
    }
    let reductions = 2.0 * model.layers;
    let bytes = model.hidden * VALUE_BYTES * 2.0 * (device.count - 1.0) / device.count;
    let token = 1e9 * bytes / (device.link * device.bandwidth_share);
    (reductions * device.reduce_latency_ns, reductions * token)
}

#[cfg(test)]
mod tests;
