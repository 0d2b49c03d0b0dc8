//! Two shares of requests against each other, session by session.

use super::dependence::{Spread, of_sum};
use super::student::as_normal;

/// Requests of a session that are of a kind, and all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Tally {
    pub hits: u32,
    pub all: u32,
}

/// One side: a tally a session, run after run in order of arrival.
pub(super) struct Tallies<'a> {
    pub sessions: Vec<Tally>,
    /// Sessions of each run.
    pub runs: &'a [usize],
}

/// Candidate - baseline in shares, and how far it swings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ShareDifference {
    pub value: f64,
    pub spread: Spread,
}

impl ShareDifference {
    /// How many normal standard errors it is away from nothing.
    pub fn z(&self) -> f64 {
        as_normal(
            self.value / self.spread.variance.sqrt(),
            self.spread.freedom,
        )
    }
}

impl Tallies<'_> {
    pub fn share(&self) -> f64 {
        let sum = |of: fn(&Tally) -> u32| {
            let of = self.sessions.iter().map(of);
            f64::from(of.sum::<u32>())
        };
        sum(|tally| tally.hits) / sum(|tally| tally.all).max(1.0)
    }

    /// What each session adds to this side's share around its mean (sessions may have unequal many requests).
    fn parts(&self) -> impl Iterator<Item = f64> + '_ {
        let share = self.share();
        let all: u32 = self.sessions.iter().map(|tally| tally.all).sum();
        let all = f64::from(all.max(1));
        self.sessions
            .iter()
            .map(move |tally| (f64::from(tally.hits) - share * f64::from(tally.all)) / all)
    }

    /// A session may always have gone the other way: shares of all or none are not perfectly sure (Agresti and Caffo 2000).
    fn floor(&self) -> Spread {
        let sessions = (self.sessions.len() as f64).max(1.0);
        Spread {
            variance: 1.0 / (sessions * sessions),
            freedom: sessions,
        }
    }
}

/// Paired: session by session on both sides. What pairs share cancels out.
pub(super) fn paired(baseline: &Tallies<'_>, candidate: &Tallies<'_>) -> ShareDifference {
    let parts: Vec<f64> = candidate
        .parts()
        .zip(baseline.parts())
        .map(|(b, a)| b - a)
        .collect();
    let mut spread = of_sum(&parts, baseline.runs);
    // As for the parts, twice: once for each side (Bonett and Price 2012).
    spread.variance += 2.0 * baseline.floor().variance;
    ShareDifference {
        value: candidate.share() - baseline.share(),
        spread,
    }
}

/// Two samples of their own.
pub(super) fn unpaired(baseline: &Tallies<'_>, candidate: &Tallies<'_>) -> ShareDifference {
    let side = |side: &Tallies<'_>| {
        let mut spread = of_sum(&side.parts().collect::<Vec<_>>(), side.runs);
        spread.variance += side.floor().variance;
        spread
    };
    ShareDifference {
        value: candidate.share() - baseline.share(),
        spread: side(baseline).plus(side(candidate)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tallies<'a>(hits: &[u32], runs: &'a [usize]) -> Tallies<'a> {
        let sessions = hits.iter().map(|hits| Tally {
            hits: *hits,
            all: 1,
        });
        Tallies {
            sessions: sessions.collect(),
            runs,
        }
    }

    #[test]
    fn pairs_that_do_not_change_leave_the_rule_of_three() {
        let runs = [100];
        let all = tallies(&[1; 100], &runs);
        let found = paired(&all, &all);
        assert_eq!(found.value, 0.0);
        // 1.96 * sqrt(2) / 100: near the 3.7 / 100 of the rule of three for 2.5 % on each side.
        assert!((found.spread.variance.sqrt() - 0.01414).abs() < 1e-4);
    }

    #[test]
    fn discordant_pairs_give_mc_nemar() {
        // 30 turn good, 10 turn bad, 60 stay: variance (40 / 100 - 0.2 ^ 2) / 100, scattered so that nothing hangs together.
        let runs = [100];
        let place = |i: usize| i * 37 % 100;
        let before: Vec<u32> = (0..100).map(|i| u32::from(30 <= place(i))).collect();
        let after: Vec<u32> = (0..100)
            .map(|i| u32::from(!(30..40).contains(&place(i))))
            .collect();
        let found = paired(&tallies(&before, &runs), &tallies(&after, &runs));
        assert!((found.value - 0.2).abs() < 1e-12);
        let variance = 0.36 / 100.0 + 2e-4;
        let ratio = found.spread.variance / variance;
        assert!((0.95..1.4).contains(&ratio), "{ratio}");
        assert!(2.5 < found.z());
    }

    #[test]
    fn two_samples_add_their_variances() {
        let runs = [200];
        let scattered = |most: usize| -> Vec<u32> {
            (0..200)
                .map(|i| u32::from(i * 73 % 200 < most))
                .collect()
        };
        let found = unpaired(&tallies(&scattered(100), &runs), &tallies(&scattered(150), &runs));
        assert!((found.value - 0.25).abs() < 1e-12);
        let variance = (0.25 + 0.1875) / 200.0;
        let ratio = found.spread.variance / variance;
        assert!((0.95..1.5).contains(&ratio), "{ratio}");
    }
}
