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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_seed_means_the_same_draws_for_ever() {
        let mut draws = Draws::new(42);
        let uniform: Vec<String> = (0..4).map(|_| format!("{:.12}", draws.uniform())).collect();
        insta::assert_snapshot!(uniform.join(" "), @"0.814305145123 0.318821040062 0.983894168177 0.701135598135");
        insta::assert_snapshot!(format!("{:.9} {:.9} {}", draws.exponential(2.0), draws.normal(), draws.below(100)), @"0.788738304 0.222656233 12");
        insta::assert_snapshot!(format!("{} {}", derive(42, &[0, 0]), derive(42, &[3, 1])), @"6332618229526065668 8857862703798441688");
    }

    #[test]
    fn draws_are_spread_evenly() {
        let mut draws = Draws::new(1);
        let mut tenths = [0; 10];
        (0..100_000).for_each(|_| tenths[draws.below(10)] += 1);
        assert!(
            tenths.iter().all(|count| (9_600..10_400).contains(count)),
            "{tenths:?}"
        );
    }

    #[test]
    fn normal_draws_have_mean_and_spread() {
        let mut draws = Draws::new(1);
        let values: Vec<f64> = (0..100_000).map(|_| draws.normal()).collect();
        let mean = values.iter().sum::<f64>() / 1e5;
        let variance = values.iter().map(|x| x * x).sum::<f64>() / 1e5;
        assert!(
            mean.abs() < 0.02 && (variance - 1.0).abs() < 0.02,
            "{mean} {variance}"
        );
    }

    #[test]
    fn a_path_is_not_its_reverse_or_its_prefix() {
        let paths: [&[u64]; 5] = [&[], &[0], &[0, 0], &[0, 1], &[1, 0]];
        let seeds: BTreeSet<u64> = paths.iter().map(|path| derive(42, path)).collect();
        assert_eq!(seeds.len(), paths.len());
    }

    proptest! {
        #[test]
        fn derived_seeds_do_not_collide_on_a_grid(seed: u64) {
            let seeds: BTreeSet<u64> = (0..40).flat_map(|a| (0..40).map(move |b| derive(seed, &[a, b]))).collect();
            prop_assert_eq!(seeds.len(), 1600);
        }

        #[test]
        fn draws_stay_in_range(seed: u64, n in 1usize..1000) {
            let mut draws = Draws::new(seed);
            let uniform = draws.uniform();
            prop_assert!((0.0..1.0).contains(&uniform));
            prop_assert!(draws.below(n) < n);
            let gap = draws.exponential(3.0);
            prop_assert!(0.0 <= gap && gap.is_finite() && draws.normal().is_finite());
        }
    }
}
