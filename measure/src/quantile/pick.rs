//! Values at given ranks among very many, without copying or sorting them: digit by digit from the top, one walk a digit.

use std::collections::{BTreeMap, BTreeSet};

/// Bits of a digit: its counts stay within the processor's cache.
const DIGIT: u32 = 14;

/// The values that are not infinite.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Finite {
    pub count: usize,
    pub most: u64,
}

/// Values that begin alike, and which of them are sought.
#[derive(Default)]
struct Alike {
    /// Rank among all, rank among these.
    sought: Vec<(usize, usize)>,
    counts: Vec<u32>,
}

/// The values at these ranks. `walk` hands on all values, finite or not, in any order but always the same. A rank beyond
/// the finite ones has none.
pub(super) fn pick(
    ranks: BTreeSet<usize>,
    finite: Finite,
    walk: impl Fn(&mut dyn FnMut(u64)),
) -> BTreeMap<usize, u64> {
    let ranks = ranks.into_iter().filter(|rank| *rank < finite.count);
    let all = Alike {
        sought: ranks.map(|rank| (rank, rank)).collect(),
        counts: Vec::new(),
    };
    let mut bits = u64::BITS - finite.most.leading_zeros();
    let mut alike = BTreeMap::from([(0, all)]);
    while 0 < bits {
        let digit = bits.min(DIGIT);
        count(&mut alike, finite.most, (bits, digit), &walk);
        bits -= digit;
        alike = narrowed(alike, digit);
    }
    let found = alike
        .into_iter()
        .flat_map(|(value, alike)| alike.sought.into_iter().map(move |(rank, _)| (rank, value)));
    found.collect()
}

/// Counts the next digit of the values that begin as those sought.
fn count(
    alike: &mut BTreeMap<u64, Alike>,
    most: u64,
    (bits, digit): (u32, u32),
    walk: impl Fn(&mut dyn FnMut(u64)),
) {
    let mut groups: Vec<(u64, &mut Vec<u32>)> = alike
        .iter_mut()
        .map(|(begin, alike)| {
            alike.counts = vec![0; 1 << digit];
            (*begin, &mut alike.counts)
        })
        .collect();
    walk(&mut |value| {
        if most < value {
            return;
        }
        let begin = value.checked_shr(bits).unwrap_or(0);
        if let Some((_, counts)) = groups.iter_mut().find(|(of, _)| *of == begin) {
            counts[(value >> (bits - digit)) as usize & ((1 << digit) - 1)] += 1;
        }
    });
}

/// Those that begin alike by one digit more.
fn narrowed(alike: BTreeMap<u64, Alike>, digit: u32) -> BTreeMap<u64, Alike> {
    let mut next: BTreeMap<u64, Alike> = BTreeMap::new();
    for (begin, Alike { sought, counts }) in alike {
        let (mut place, mut before) = (0, 0);
        // Ranks are in order, so the counts are walked through once.
        for (rank, among) in sought {
            while before + counts[place] as usize <= among {
                before += counts[place] as usize;
                place += 1;
            }
            let begin = begin << digit | place as u64;
            let group = next.entry(begin).or_default();
            group.sought.push((rank, among - before));
        }
    }
    next
}
