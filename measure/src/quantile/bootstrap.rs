//! Moving blocks: resampling that keeps neighbours together, so that their dependence is kept too.

use crate::sampling::Draws;

use super::Indicator;

/// Draws starts of blocks over `len` items in order of arrival.
pub struct Blocks {
    draws: Draws,
    len: usize,
    block: usize,
}

impl Blocks {
    /// Blocks long enough for what `dependence` (one answer an item, in order) shows: twice its correlation time, at
    /// least the cube root of the number of items, at most a fifth of them.
    pub fn new(seed: u64, dependence: &Indicator) -> Self {
        let len = dependence.len();
        let time = len as f64 / dependence.effective().max(1.0);
        let block = (2.0 * time).max((len as f64).cbrt()).ceil() as usize;
        Self {
            draws: Draws::new(seed),
            len,
            block: block.clamp(1, (len / 5).max(1)),
        }
    }

    /// One resample: ranges `start..end` that together hold as many items as there are.
    pub fn resample(&mut self) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        let (len, block) = (self.len, self.block);
        (0..len).step_by(block).map(move |done| {
            let size = block.min(len - done);
            let start = self.draws.below(len - size + 1);
            start..start + size
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resample_holds_as_many_items_as_there_are() {
        for len in [1, 2, 7, 64, 1000] {
            let mut blocks = Blocks::new(1, &(0..len).map(|i| i % 3 == 0).collect());
            let total: usize = blocks.resample().map(|range| range.len()).sum();
            assert_eq!(total, len);
            assert!(blocks.resample().all(|range| range.end <= len));
        }
    }

    #[test]
    fn blocks_grow_with_dependence() {
        let of = |run: usize| {
            Blocks::new(1, &(0..1000).map(|i| (i / run).is_multiple_of(2)).collect()).block
        };
        assert_eq!(of(1), 10);
        assert!(20 < of(25), "{}", of(25));
    }
}
