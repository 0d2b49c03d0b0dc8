//! What a probe's requests say of the promise, and what they are worth.

use crate::slo::Judgement;

/// How many standard errors of its own a sample's worth is lowered by.
const NOISE: f64 = 2.0;

/// Requests of one rate under an SLO.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Requests that were scheduled.
    pub scheduled: u32,
    /// How many of them were good.
    pub good: u32,
    /// How many independent requests they are worth, as for the interval of attainment.
    pub effective: f64,
}

impl From<&Judgement> for Evidence {
    fn from(judgement: &Judgement) -> Self {
        Self {
            scheduled: judgement.scheduled,
            good: judgement.good,
            effective: judgement.attainment.map_or(0.0, |it| it.effective),
        }
    }
}

impl Evidence {
    /// The share of good requests.
    pub fn share(&self) -> f64 {
        f64::from(self.good) / f64::from(self.scheduled.max(1))
    }

    /// What the requests are surely worth: the memory of a sample worth m is known to about one part in the root of m.
    /// Independent ones are worth their number.
    pub fn worth(&self) -> f64 {
        if f64::from(self.scheduled) <= self.effective {
            return self.effective;
        }
        self.effective / (1.0 + NOISE / self.effective.max(1.0).sqrt())
    }

    /// Several runs at one rate as one. Runs that lie further apart than their requests explain are worth less: by the
    /// ratio of the spread seen to the spread expected (Birge, 1932), never more. What a run without a miss was worth for
    /// having stayed far from its bounds it is not worth beside one that reached them.
    pub fn pooled(runs: &[Self]) -> Self {
        let most = Self::most_each(runs);
        let mut all = Self {
            scheduled: runs.iter().map(|run| run.scheduled).sum(),
            good: runs.iter().map(|run| run.good).sum(),
            effective: runs.iter().map(|run| run.within(most)).sum(),
        };
        let (share, free) = (all.share(), runs.len() as f64 - 1.0);
        let variance = share * (1.0 - share);
        if 0.0 < free && 0.0 < variance {
            let apart = |run: &Self| run.within(most) * (run.share() - share).powi(2) / variance;
            all.effective /= (runs.iter().map(apart).sum::<f64>() / free).max(1.0);
        }
        all
    }

    /// What one request is worth at most: as much as where some were missed.
    fn most_each(runs: &[Self]) -> f64 {
        let missed = || runs.iter().filter(|run| run.good < run.scheduled);
        let scheduled: u32 = missed().map(|run| run.scheduled).sum();
        if scheduled == 0 {
            return 1.0;
        }
        missed().map(|run| run.effective).sum::<f64>() / f64::from(scheduled)
    }

    /// What it is worth where a request is worth at most so much.
    fn within(&self, most: f64) -> f64 {
        if self.good < self.scheduled {
            return self.effective;
        }
        self.effective.min(most * f64::from(self.scheduled))
    }
}
