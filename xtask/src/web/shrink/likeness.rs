//! Which functions are alike: those that share short runs of bytes which few others have.

use std::cmp::Reverse;
use std::collections::HashMap;

/// How many bytes are compared as one.
const RUN: usize = 6;
/// A run that more functions have than this tells little, and takes long to follow.
const COMMON: usize = 500;
/// How many of the last functions the next one should be like.
const BACK: usize = 8;
/// Keeps the smallest functions, alike to all, from coming first.
const SMALL: usize = 60;

/// An order of all bodies in which each is followed by the most similar one of those that are left, and where none is
/// similar, by the largest.
pub fn chain(bodies: &[&[u8]]) -> Vec<usize> {
    let runs = Runs::of(bodies);
    let mut largest: Vec<usize> = (0..bodies.len()).collect();
    largest.sort_by_key(|body| Reverse(bodies[*body].len()));
    let mut largest = largest.into_iter();
    let mut taken = vec![false; bodies.len()];
    let mut order = Vec::with_capacity(bodies.len());
    let mut shared = Shared::none(bodies.len());
    while let Some(next) = shared
        .most_like(bodies, &taken)
        .or_else(|| largest.find(|body| !taken[*body]))
    {
        taken[next] = true;
        shared.join(&runs, next);
        if let Some(left_behind) = order.len().checked_sub(BACK) {
            shared.leave(&runs, order[left_behind]);
        }
        order.push(next);
    }
    order
}

/// How many runs each body has in common with the last ones of the chain.
struct Shared {
    counts: Vec<usize>,
    /// Bodies that have any in common, in no order.
    some: Vec<usize>,
    /// Where a body stands among those.
    place: Vec<usize>,
}

impl Shared {
    fn none(bodies: usize) -> Self {
        Self {
            counts: vec![0; bodies],
            some: Vec::new(),
            place: vec![0; bodies],
        }
    }

    fn join(&mut self, runs: &Runs, body: usize) {
        for other in runs.neighbours(body) {
            if self.counts[other] == 0 {
                self.place[other] = self.some.len();
                self.some.push(other);
            }
            self.counts[other] += 1;
        }
    }

    fn leave(&mut self, runs: &Runs, body: usize) {
        for other in runs.neighbours(body) {
            self.counts[other] -= 1;
            if self.counts[other] == 0 {
                let place = self.place[other];
                self.some.swap_remove(place);
                if let Some(moved) = self.some.get(place) {
                    self.place[*moved] = place;
                }
            }
        }
    }

    /// The body that shares most for its size; the first of equals.
    fn most_like(&self, bodies: &[&[u8]], taken: &[bool]) -> Option<usize> {
        // Whole numbers, so that the order is the same on every machine.
        let score = |body: &usize| {
            let share = self.counts[*body] * 1_000_000 / (bodies[*body].len() + SMALL);
            (share, Reverse(*body))
        };
        let left = self.some.iter().filter(|body| !taken[**body]);
        let (_, Reverse(body)) = left.map(score).max()?;
        Some(body)
    }
}

/// The runs that tell functions apart: by body, and who has them.
struct Runs {
    of: Vec<Vec<u32>>,
    with: Vec<Vec<usize>>,
}

impl Runs {
    fn of(bodies: &[&[u8]]) -> Self {
        let mut numbers: HashMap<&[u8], u32> = HashMap::new();
        let mut with: Vec<Vec<usize>> = Vec::new();
        for (body, bytes) in bodies.iter().enumerate() {
            for run in bytes.windows(RUN) {
                let number = *numbers.entry(run).or_insert(with.len() as u32) as usize;
                if number == with.len() {
                    with.push(Vec::new());
                }
                if with[number].last() != Some(&body) {
                    with[number].push(body);
                }
            }
        }
        let mut of = vec![Vec::new(); bodies.len()];
        for (number, having) in with.iter().enumerate() {
            if (2..=COMMON).contains(&having.len()) {
                having.iter().for_each(|body| of[*body].push(number as u32));
            }
        }
        Self { of, with }
    }

    /// Whoever has a run of this body, once for each run.
    fn neighbours(&self, body: usize) -> impl Iterator<Item = usize> {
        let runs = self.of[body].iter();
        runs.flat_map(|run| self.with[*run as usize].iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::chain;

    #[test]
    fn what_is_alike_stands_together_and_nothing_is_lost() {
        let (cat, dog): (Vec<u8>, Vec<u8>) = ((0..90).collect(), (100..180).collect());
        let bodies = [&cat[..], &dog[..], &cat[..60], &dog[2..], b"x"];
        assert_eq!(chain(&bodies), [0, 2, 1, 3, 4]);
    }

    #[test]
    fn no_body_no_order() {
        assert_eq!(chain(&[]), Vec::<usize>::new());
    }
}
