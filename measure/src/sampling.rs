//! Portable seeded draws: a seed means the same numbers for ever (golden tests hold it to that).
//!
//! One uniform draw a value (inverse transform), so the same seed at two rates gives the same shape, scaled.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};

/// A stream of draws.
pub struct Draws(Xoshiro256PlusPlus);

impl Draws {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Uniform in [0, 1) with 53 bits.
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in 0..n; `n` must be above 0.
    pub fn below(&mut self, n: usize) -> usize {
        ((self.uniform() * n as f64) as usize).min(n - 1)
    }

    /// Exponential with the given rate: -ln(1 - u) / rate.
    pub fn exponential(&mut self, rate: f64) -> f64 {
        -(-self.uniform()).ln_1p() / rate
    }

    /// Standard normal by the inverse of its distribution function.
    pub fn normal(&mut self) -> f64 {
        crate::quantile::normal_quantile(self.uniform().max(f64::MIN_POSITIVE))
    }
}

/// A seed derived from a seed and a path of numbers (SplitMix64 over each), so that every point and every purpose
/// within it draws from a stream of its own.
pub fn derive(seed: u64, path: &[u64]) -> u64 {
    path.iter().fold(seed, |state, step| {
        let mut z = state.wrapping_add(step.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    })
}
