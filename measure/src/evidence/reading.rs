//! What was read, page by page, and each quantity as it went.

use super::buckets::Buckets;
use super::quantity::Quantity;

/// Numbers beyond it are of no engine and no GPU: tokens of thirty years, a thousand times over.
pub(super) const MOST: f64 = 1e15;
/// Most tokens of a block of a prefix cache.
const MOST_BLOCK: f64 = 4096.0;

/// A value, or values by size.
#[derive(Clone, Debug, PartialEq)]
pub enum Amount {
    /// One number.
    Number(f64),
    /// A histogram.
    Buckets(Buckets),
}

/// What one source tells of one quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// What.
    pub quantity: Quantity,
    /// Who: a place in [`Readings::sources`].
    pub source: u32,
    /// How much.
    pub amount: Amount,
}

/// One look.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// When, in milliseconds from the point's start; negative before.
    pub at_ms: i64,
    /// What was there.
    pub values: Vec<Value>,
}

/// Somebody who tells of itself: an engine of several behind a page, a GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// Its labels.
    pub name: String,
    /// Whether it serves the model under test, or does not say whose it is.
    pub ours: bool,
}

/// Whose values count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// Those of the model under test.
    Ours,
    /// Those of the other models on the page.
    Others,
    /// One source's.
    One(u32),
}

/// All looks at one page, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Readings {
    /// Whose values these are.
    pub sources: Vec<Source>,
    /// Look by look.
    pub readings: Vec<Reading>,
}

/// What a counter grew by since the first look.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Growth<T> {
    /// One a reading; empty where the quantity was never told.
    pub since_first: Vec<T>,
    /// How often it fell: each time the engine started anew.
    pub resets: u32,
}

impl Growth<f64> {
    /// What it grew by between two looks.
    pub fn grown(&self, from: usize, to: usize) -> Option<f64> {
        Some(self.since_first.get(to)? - self.since_first.get(from)?)
    }
}

impl Growth<Buckets> {
    /// The values that came between two looks.
    pub fn came(&self, from: usize, to: usize) -> Option<Buckets> {
        self.since_first.get(to)?.since(self.since_first.get(from)?)
    }
}

impl Readings {
    fn is_of(&self, source: u32, whose: Whose) -> bool {
        let ours = self.sources.get(source as usize).is_none_or(|it| it.ours);
        match whose {
            Whose::Ours => ours,
            Whose::Others => !ours,
            Whose::One(one) => one == source,
        }
    }

    /// The values of a quantity, look by look.
    fn told(
        &self,
        quantity: Quantity,
        whose: Whose,
    ) -> impl Iterator<Item = Vec<(u32, &Amount)>> + '_ {
        self.readings.iter().map(move |reading| {
            let values = reading.values.iter();
            let mine = values.filter(|it| it.quantity == quantity && self.is_of(it.source, whose));
            mine.map(|it| (it.source, &it.amount)).collect()
        })
    }

    /// A gauge, look by look.
    pub fn gauge(&self, quantity: Quantity, whose: Whose) -> Vec<Option<f64>> {
        let join = |values: Vec<(u32, &Amount)>| {
            let numbers = values.into_iter().filter_map(|(_, amount)| match amount {
                Amount::Number(number) if number.abs() <= MOST => Some(*number),
                _ => None,
            });
            numbers.reduce(|one, other| {
                if quantity.adds_up() {
                    one + other
                } else {
                    one.max(other)
                }
            })
        };
        self.told(quantity, whose).map(join).collect()
    }

    /// A counter's growth. A source that appears later began at nothing; one that falls began anew.
    pub fn counter(&self, quantity: Quantity, whose: Whose) -> Growth<f64> {
        let number = |amount: &Amount| match amount {
            Amount::Number(number) if number.abs() <= MOST => Some(*number),
            _ => None,
        };
        let grown = |now: &f64, before: &f64| (before <= now).then_some(now - before);
        self.growth(quantity, whose, number, grown, |all, more| *all += more)
    }

    /// A histogram's growth.
    pub fn histogram(&self, quantity: Quantity, whose: Whose) -> Growth<Buckets> {
        let buckets = |amount: &Amount| match amount {
            Amount::Buckets(buckets) => Some(buckets.clone()),
            Amount::Number(_) => None,
        };
        self.growth(quantity, whose, buckets, Buckets::since, Buckets::add)
    }

    fn growth<T: Clone + Default>(
        &self,
        quantity: Quantity,
        whose: Whose,
        read: impl Fn(&Amount) -> Option<T>,
        grown: impl Fn(&T, &T) -> Option<T>,
        add: impl Fn(&mut T, T),
    ) -> Growth<T> {
        let mut last: Vec<Option<T>> = vec![None; self.sources.len()];
        let (mut total, mut growth, mut seen) = (T::default(), Growth::default(), false);
        for (look, values) in self.told(quantity, whose).enumerate() {
            let mut reset = false;
            for (source, amount) in values {
                let (Some(now), Some(last)) = (read(amount), last.get_mut(source as usize)) else {
                    continue;
                };
                seen = true;
                match last.as_ref().map(|before| grown(&now, before)) {
                    Some(Some(more)) => add(&mut total, more),
                    Some(None) => {
                        reset = true;
                        add(&mut total, now.clone());
                    }
                    None if 0 < look => add(&mut total, now.clone()),
                    None => {}
                }
                *last = Some(now);
            }
            growth.resets += u32::from(reset);
            growth.since_first.push(total.clone());
        }
        if seen { growth } else { Growth::default() }
    }

    /// The last look that was taken by then; the first one where there is none.
    pub fn look_at(&self, at_ms: i64) -> usize {
        let after = self.readings.partition_point(|look| look.at_ms <= at_ms);
        after.saturating_sub(1)
    }

    /// The last look.
    pub fn last(&self) -> usize {
        self.readings.len().saturating_sub(1)
    }

    /// The last value that was told of a constant.
    pub fn constant(&self, quantity: Quantity) -> Option<f64> {
        let told = self.gauge(quantity, Whose::Ours);
        told.into_iter().flatten().next_back()
    }

    /// The block of the prefix cache in tokens; none where it is not told, or is no block.
    pub fn block(&self) -> Option<u32> {
        let told = self.constant(Quantity::BlockSize);
        let is_block = |block: &f64| (1.0..=MOST_BLOCK).contains(block);
        told.filter(is_block).map(|block| block as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two engines, of which the second serves another model.
    fn readings(looks: &[&[(u32, f64)]], quantity: Quantity) -> Readings {
        let sources = [true, false].map(|ours| Source {
            name: String::new(),
            ours,
        });
        let reading = |(index, values): (usize, &&[(u32, f64)])| Reading {
            at_ms: 1000 * index as i64 - 500,
            values: values
                .iter()
                .map(|(source, number)| Value {
                    quantity,
                    source: *source,
                    amount: Amount::Number(*number),
                })
                .collect(),
        };
        Readings {
            sources: sources.into(),
            readings: looks.iter().enumerate().map(reading).collect(),
        }
    }

    #[track_caller]
    fn check(looks: &[&[(u32, f64)]], whose: Whose, expected: &[f64], resets: u32) {
        let growth = readings(looks, Quantity::Finished).counter(Quantity::Finished, whose);
        assert_eq!((&growth.since_first[..], growth.resets), (expected, resets));
    }

    #[test]
    fn a_counter_grows_and_starts_anew() {
        let looks: &[&[(u32, f64)]] = &[&[(0, 5.0)], &[(0, 7.0)], &[(0, 1.0)], &[], &[(0, 4.0)]];
        check(looks, Whose::Ours, &[0.0, 2.0, 3.0, 3.0, 6.0], 1);
    }

    #[test]
    fn sources_are_told_apart_and_one_that_appears_began_at_nothing() {
        let looks: &[&[(u32, f64)]] = &[&[(0, 5.0)], &[(0, 6.0), (1, 3.0)], &[(1, 4.0), (0, 6.0)]];
        check(looks, Whose::Ours, &[0.0, 1.0, 1.0], 0);
        check(looks, Whose::Others, &[0.0, 3.0, 4.0], 0);
        check(looks, Whose::One(1), &[0.0, 3.0, 4.0], 0);
    }

    #[test]
    fn what_was_never_told_has_no_growth() {
        let growth = readings(&[&[(0, 5.0)]], Quantity::Finished);
        let growth = growth.counter(Quantity::Preemptions, Whose::Ours);
        assert_eq!(growth, Growth::default());
        assert_eq!(growth.grown(0, 0), None);
    }

    #[test]
    fn requests_add_up_and_of_shares_the_highest_counts() {
        let looks: &[&[(u32, f64)]] = &[&[(0, 0.5), (0, 0.75)], &[(0, f64::NAN)]];
        for (quantity, expected) in [(Quantity::Running, 1.25), (Quantity::KvUsage, 0.75)] {
            let told = readings(looks, quantity).gauge(quantity, Whose::Ours);
            assert_eq!(told, [Some(expected), None]);
        }
    }

    #[test]
    fn numbers_of_no_engine_and_blocks_of_no_cache_are_left_out() {
        for odd in [1e308, f64::INFINITY, f64::NAN, -1e16] {
            let told = readings(&[&[(0, odd)]], Quantity::Finished);
            let growth = told.counter(Quantity::Finished, Whose::Ours);
            assert_eq!(growth, Growth::default(), "{odd}");
            assert_eq!(told.constant(Quantity::Finished), None, "{odd}");
        }
        for (told, block) in [
            (16.0, Some(16)),
            (4096.0, Some(4096)),
            (4097.0, None),
            (0.0, None),
            (-16.0, None),
            (f64::INFINITY, None),
        ] {
            let readings = readings(&[&[(0, told)]], Quantity::BlockSize);
            assert_eq!(readings.block(), block, "{told}");
        }
    }

    #[test]
    fn a_moment_has_the_look_before_it() {
        let readings = readings(&[&[], &[], &[]], Quantity::Running);
        for (at_ms, look) in [(-900, 0), (-500, 0), (499, 0), (500, 1), (9000, 2)] {
            assert_eq!(readings.look_at(at_ms), look, "{at_ms}");
        }
    }
}
