//! Portable seeded draws: a seed means the same numbers for ever (golden tests hold it to that).
//!
//! One uniform draw a value (inverse transform), so the same seed at two rates gives the same shape, scaled. Gamma alone
//! takes as many as it needs, and the same ones at every rate.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};

/// A stream of draws.
#[derive(Clone)]
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

    /// Gamma with mean and variance `shape`, which must be above 0 (Marsaglia and Tsang, 2000: a cubed normal, accepted
    /// or drawn anew; below a shape of 1 that of `shape + 1`, shrunk by a power of a uniform draw).
    pub fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            let above = self.gamma(shape + 1.0);
            return above * (1.0 - self.uniform()).powf(1.0 / shape);
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let (x, u) = (self.normal(), 1.0 - self.uniform());
            let v = (1.0 + c * x).powi(3);
            if 0.0 < v && u.ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v;
            }
        }
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
    fn gamma_draws_have_mean_and_variance_of_their_shape_and_are_the_same_for_ever() {
        for shape in [0.05, 0.5, 1.0, 2.5, 40.0] {
            let mut draws = Draws::new(1);
            let values: Vec<f64> = (0..100_000).map(|_| draws.gamma(shape)).collect();
            let mean = values.iter().sum::<f64>() / 1e5;
            let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1e5;
            let (off, spread) = (mean / shape - 1.0, variance / shape - 1.0);
            assert!(
                off.abs() < 0.03 && spread.abs() < 0.08,
                "{shape}: {mean} {variance}"
            );
        }
        let mut draws = Draws::new(42);
        let drawn: Vec<String> = [0.5, 1.0, 4.0]
            .iter()
            .map(|shape| format!("{:.9}", draws.gamma(*shape)))
            .collect();
        insta::assert_snapshot!(drawn.join(" "), @"0.000628517 1.196983113 4.109759663");
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
