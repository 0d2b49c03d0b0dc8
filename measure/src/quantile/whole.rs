//! What a series of latencies remembers as a whole, and whether its memory grows with its level.
//!
//! A queue that holds more takes longer to empty: a calm stretch of it is short of latency *and* of memory, so what a calm
//! sample says of its own uncertainty is too little. There latencies are remembered for longer than their logarithms are;
//! where ups and downs last equally long at every level the two are the same.

use super::Memory;

/// By so much (a difference of logarithms) the memory of latencies exceeds that of their logarithms where it counts as
/// growing with the level in full.
const FULLY: f64 = 0.36;
/// The explained part of the variance from which values begin to grow and last as the waits do, and how much more it is where
/// they fully do.
const BEGINS: f64 = 0.062;
const WHOLLY: f64 = 0.022;

/// The memory of a whole series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Whole {
    /// That of the logarithms, in values.
    pub logs: f64,
    /// Whether memory grows with the level: 0 not at all, 1 as in a queue.
    pub grows: f64,
    /// Which part of the series one memory of the logarithms takes.
    pub part: f64,
}

impl Whole {
    /// Of finite values in order of arrival.
    pub fn of(values: &[f64]) -> Self {
        let logs: Vec<f64> = values.iter().map(|value| value.max(1.0).ln()).collect();
        let logs = Memory::of(&logs).time;
        let grows = (Memory::of(values).time / logs).ln();
        Self {
            logs,
            grows: (grows / FULLY).clamp(0.0, 1.0),
            part: logs / values.len() as f64,
        }
    }

    /// The same of values of which a part goes by others, the waits of the same requests: as those, from a small part on.
    pub fn beside(&self, waits: &Self, explained: f64) -> Self {
        let as_those = ((explained - BEGINS) / WHOLLY).clamp(0.0, 1.0);
        Self {
            grows: self.grows.max(as_those * waits.grows),
            part: self.part.max(as_those * waits.part),
            ..*self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::processes::Process;

    /// How far memory grows with the level, the median of 21 runs.
    fn typical(process: Process) -> f64 {
        let of = |seed| {
            let run = process.run(1000, seed);
            let ttft = run.iter().map(|it| it.ttft.map_or(0.0, |it| it.0 as f64));
            Whole::of(&ttft.collect::<Vec<f64>>()).grows
        };
        let mut all: Vec<f64> = (0..21).map(of).collect();
        all.sort_unstable_by(f64::total_cmp);
        all[10]
    }

    #[test]
    fn a_queue_s_memory_grows_with_its_level_and_an_autoregression_s_does_not() {
        let grows = [Process::OneByOne(0.8), Process::Slots(4, 0.7)].map(typical);
        let does_not = [0.0, 0.5, 0.9].map(|phi| typical(Process::Autoregressive(phi)));
        assert_eq!(grows, [1.0, 1.0]);
        assert!(does_not.iter().all(|it| *it < 0.2), "{does_not:?}");
    }

    #[test]
    fn nothing_and_zeros_are_no_trouble() {
        for values in [&[][..], &[0.0; 50], &[7.0; 50]] {
            let whole = Whole::of(values);
            assert!(whole.logs == 1.0 && whole.grows == 0.0);
        }
    }

    #[test]
    fn paces_grow_as_waits_do_where_they_go_by_them() {
        let of = |grows, part| Whole {
            logs: 1.0,
            grows,
            part,
        };
        let (own, waits) = (of(0.0, 0.01), of(1.0, 0.05));
        assert_eq!(own.beside(&waits, 0.0), own);
        assert_eq!(own.beside(&waits, 1.0), waits);
    }
}
