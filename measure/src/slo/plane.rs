//! The plane of TTFT and TPOT: which requests of a point keep each pair of bounds, whatever else their SLO promises.

use crate::score::Score;
use crate::units::Nanos;

use super::judge::{exempt, value};
use super::{Bound, Good, Metric, Slo};

/// An SLO with these bounds on TTFT and TPOT in place of its own; all others stay. Where it had one, its percentile stays.
pub fn with_pair(slo: &Slo, ttft: Nanos, tpot: Nanos) -> Slo {
    let pair = [(Metric::Ttft, ttft), (Metric::Tpot, tpot)];
    let mut bounds: Vec<Bound> = Vec::new();
    for (metric, at_most) in pair {
        let known = slo.bounds.iter().find(|bound| bound.metric == metric);
        bounds.push(Bound {
            metric,
            percentile: known.and_then(|bound| bound.percentile),
            at_most,
        });
    }
    bounds.extend(others(slo));
    Slo {
        bounds,
        ..slo.clone()
    }
}

fn others(slo: &Slo) -> impl Iterator<Item = Bound> {
    let others = slo.bounds.iter().copied();
    others.filter(|bound| !matches!(bound.metric, Metric::Ttft | Metric::Tpot))
}

/// The requests of a point that keep all of an SLO but for its bounds on TTFT and TPOT, with both values.
#[derive(Clone, Debug, PartialEq)]
pub struct Plane {
    /// By rising TTFT. TPOT is zero where no bound on it applies: every bound keeps it.
    kept: Vec<[Nanos; 2]>,
    scheduled: usize,
}

impl Plane {
    /// Of a point's requests under an SLO.
    pub fn of(scores: &[Score], slo: &Slo) -> Self {
        let rest = Slo {
            bounds: others(slo).collect(),
            ..slo.clone()
        };
        let pair = |score: &Score| {
            let of = |metric| match value(score, metric) {
                None if exempt(score, metric) => Some(Nanos(0)),
                found => found,
            };
            let is_good = rest.judge_request(score) == Good::Yes;
            Some([of(Metric::Ttft)?, of(Metric::Tpot)?]).filter(|_| is_good)
        };
        let mut kept: Vec<[Nanos; 2]> = scores.iter().filter_map(pair).collect();
        kept.sort_unstable();
        Self {
            kept,
            scheduled: scores.len(),
        }
    }

    /// Requests that were scheduled.
    pub fn scheduled(&self) -> usize {
        self.scheduled
    }

    /// The value below which this share of those requests lies that could be good at all; `None` where there are none.
    /// `share` is from 0 to 1.
    pub fn spread(&self, metric: Metric, share: f64) -> Option<Nanos> {
        let column = usize::from(metric != Metric::Ttft);
        let mut values: Vec<Nanos> = self.kept.iter().map(|pair| pair[column]).collect();
        values.sort_unstable();
        let last = values.len().checked_sub(1)?;
        values.get((share * last as f64).round() as usize).copied()
    }

    /// How many requests keep both bounds.
    pub fn good(&self, ttft: Nanos, tpot: Nanos) -> usize {
        let within = self.within(ttft).iter();
        within.filter(|pair| pair[1] <= tpot).count()
    }

    /// The tightest bound on TPOT under which this share of all requests is good, given a bound on TTFT. `None` where no
    /// bound on TPOT gets there.
    pub fn least_tpot(&self, ttft: Nanos, share: f64) -> Option<Nanos> {
        let within = self.within(ttft).iter();
        least(within.map(|pair| pair[1]).collect(), self.wanted(share))
    }

    /// The same the other way round.
    pub fn least_ttft(&self, tpot: Nanos, share: f64) -> Option<Nanos> {
        let within = self.kept.iter().filter(|pair| pair[1] <= tpot);
        least(within.map(|pair| pair[0]).collect(), self.wanted(share))
    }

    fn within(&self, ttft: Nanos) -> &[[Nanos; 2]] {
        let end = self.kept.partition_point(|pair| pair[0] <= ttft);
        &self.kept[..end]
    }

    /// So many requests are a share of all, at least.
    fn wanted(&self, share: f64) -> usize {
        (share * self.scheduled as f64 - 1e-9).ceil().max(1.0) as usize
    }
}

fn least(mut values: Vec<Nanos>, wanted: usize) -> Option<Nanos> {
    let place = wanted.checked_sub(1).filter(|it| *it < values.len())?;
    let (_, found, _) = values.select_nth_unstable(place);
    Some(*found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{ErrorKind, Outcome};

    fn score(index: u32) -> Score {
        let millis = |millis: u32| Some(Nanos::from_millis(u64::from(millis)));
        Score {
            session: index,
            turn: 0,
            scheduled: Nanos::from_millis(u64::from(index) * 100),
            sent: millis(index * 100),
            ttft: millis(40 + index * 7 % 200),
            ttfa: None,
            e2e: millis(1000 + index % 700),
            tpot: millis(5 + index * 13 % 50).filter(|_| !index.is_multiple_of(11)),
            itl_p95: None,
            stall: None,
            n: Some(if index.is_multiple_of(22) { 1 } else { 20 }),
            outcome: if index.is_multiple_of(17) {
                Outcome::Error(ErrorKind::Truncated)
            } else {
                Outcome::Ok
            },
        }
    }

    fn scores() -> Vec<Score> {
        (0..500).map(score).collect()
    }

    const SLO: &str = "ttft:p95<100ms e2e<1600ms attain>=90%";

    #[test]
    fn each_pair_is_judged_as_its_slo_judges_each_request() {
        let slo: Slo = SLO.parse().expect("slo");
        let (scores, plane) = (scores(), Plane::of(&scores(), &slo));
        for (ttft, tpot) in [(50, 20), (100, 40), (240, 60), (1, 1), (120, 5)] {
            let [ttft, tpot] = [ttft, tpot].map(Nanos::from_millis);
            let pair = with_pair(&slo, ttft, tpot);
            let good = scores
                .iter()
                .filter(|score| pair.judge_request(score) == Good::Yes);
            assert_eq!(plane.good(ttft, tpot), good.count(), "{ttft} {tpot}");
        }
    }

    #[test]
    fn a_pair_keeps_percentiles_and_all_other_bounds() {
        let slo: Slo = SLO.parse().expect("slo");
        let pair = with_pair(&slo, Nanos::from_millis(70), Nanos::from_millis(9));
        assert_eq!(
            pair.to_string(),
            "ttft:p95<70ms tpot<9ms e2e<1600ms attain>=90%"
        );
    }

    #[test]
    fn the_tightest_bound_is_the_first_that_gets_there() {
        let plane = Plane::of(&scores(), &SLO.parse().expect("slo"));
        let ttft = Nanos::from_millis(150);
        let tpot = plane.least_tpot(ttft, 0.25).expect("a bound");
        assert!(125 <= plane.good(ttft, tpot));
        assert!(plane.good(ttft, Nanos(tpot.0 - 1)) < 125);
        let back = plane.least_ttft(tpot, 0.25).expect("a bound");
        assert!(back <= ttft && 125 <= plane.good(back, tpot));
        assert_eq!(plane.least_tpot(ttft, 0.99), None, "failures count");
    }
}
