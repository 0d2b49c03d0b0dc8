//! Two shares of requests against each other, session by session.

use super::dependence::{Spread, of_sum};
use super::noise::FEWEST_REPEATS;
use super::student::as_normal;

/// A series that is worth fewer independent sessions cannot even tell how few: its correlation time comes out too short.
const LEAST_WORTH: f64 = 30.0;

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

impl Spread {
    /// Why not, where its sessions are worth too few.
    pub fn judgeable(self) -> Result<(), String> {
        if self.worth < LEAST_WORTH {
            return Err(format!(
                "Its sessions hang together so long that they are worth {}; at least {LEAST_WORTH} are needed, or {FEWEST_REPEATS} repeats.",
                self.worth as u32
            ));
        }
        Ok(())
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
}

/// Paired: session by session on both sides. What pairs share cancels out.
pub(super) fn paired(baseline: &Tallies<'_>, candidate: &Tallies<'_>) -> ShareDifference {
    let parts: Vec<f64> = candidate
        .parts()
        .zip(baseline.parts())
        .map(|(b, a)| b - a)
        .collect();
    let mut spread = of_sum(&parts, baseline.runs);
    spread.variance = unsure(spread.variance, 1.0, baseline);
    ShareDifference {
        value: candidate.share() - baseline.share(),
        spread,
    }
}

/// A session may always have gone the other way: one more counts, half of it on each side, which makes k sessions that all
/// changed one way as sure as the sign test does. Where hardly any changed, no less than the rule of three for 2.5 %.
fn unsure(variance: f64, of: f64, side: &Tallies<'_>) -> f64 {
    const THREE: f64 = 3.689 / 1.96;
    let one = of / (side.sessions.len() as f64).max(1.0).powi(2);
    (variance + one).max(THREE * THREE * one)
}

/// Two samples of their own.
pub(super) fn unpaired(baseline: &Tallies<'_>, candidate: &Tallies<'_>) -> ShareDifference {
    let side = |side: &Tallies<'_>| {
        let mut spread = of_sum(&side.parts().collect::<Vec<_>>(), side.runs);
        spread.variance = unsure(spread.variance, 0.5, side);
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
        assert!((1.96 * found.spread.variance.sqrt() - 0.0369).abs() < 1e-4);
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
        let variance = 0.36 / 100.0 + 1e-4;
        let ratio = found.spread.variance / variance;
        assert!((0.95..1.4).contains(&ratio), "{ratio}");
        assert!(2.5 < found.z());
    }

    #[test]
    fn nine_changes_one_way_are_as_sure_as_the_sign_test_makes_them() {
        let runs = [300];
        let hits = |most: usize| -> Vec<u32> {
            (0..300).map(|i| u32::from(i * 91 % 300 < most)).collect()
        };
        let z = paired(&tallies(&hits(0), &runs), &tallies(&hits(9), &runs)).z();
        // 2 / 2^9 is 2.89 standard errors.
        assert!((2.7..2.95).contains(&z), "{z}");
    }

    #[test]
    fn two_samples_add_their_variances() {
        let runs = [200];
        let scattered = |most: usize| -> Vec<u32> {
            (0..200).map(|i| u32::from(i * 73 % 200 < most)).collect()
        };
        let found = unpaired(
            &tallies(&scattered(100), &runs),
            &tallies(&scattered(150), &runs),
        );
        assert!((found.value - 0.25).abs() < 1e-12);
        let variance = (0.25 + 0.1875) / 200.0;
        let ratio = found.spread.variance / variance;
        assert!((0.95..1.5).contains(&ratio), "{ratio}");
    }
}
