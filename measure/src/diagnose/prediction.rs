//! What must happen when a knob is turned, and whether it did.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::said::Cause;
use crate::certificate::Certificate;
use crate::compare::Difference;
use crate::quantile::{Estimate, Sample};
use crate::request::RequestRecord;
use crate::summary::Summary;
use crate::units::{Nanos, three_digits};

/// A figure that a prediction is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// TTFT, median.
    TtftP50,
    /// TTFT, 99th percentile.
    TtftP99,
    /// TTFT of the requests with a prompt of up to so many tokens, 99th percentile.
    ShortTtftP99 {
        /// Tokens of the prompt.
        up_to: u32,
    },
    /// TPOT, median.
    TpotP50,
    /// TPOT, 99th percentile.
    TpotP99,
    /// How late the client sent, 99th percentile.
    LagP99,
    /// How late the client's own clock ticks came, 99th percentile.
    PollLagP99,
}

impl Figure {
    /// Its name for people.
    pub fn words(self) -> String {
        match self {
            Self::TtftP50 => "TTFT p50".to_owned(),
            Self::TtftP99 => "TTFT p99".to_owned(),
            Self::ShortTtftP99 { up_to } => {
                format!("TTFT p99 of the requests with up to {up_to} prompt tokens")
            }
            Self::TpotP50 => "TPOT p50".to_owned(),
            Self::TpotP99 => "TPOT p99".to_owned(),
            Self::LagP99 => "p99 of how late the client sends".to_owned(),
            Self::PollLagP99 => "p99 of how late the client's clock ticks come".to_owned(),
        }
    }
}

/// How it must change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// To at most 1 - this share of what it was.
    FallsBy(f64),
    /// To at least 1 + this share of what it was.
    RisesBy(f64),
    /// To at most this.
    Below(Nanos),
}

/// What must happen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// To which figure.
    pub figure: Figure,
    /// What.
    pub change: Change,
}

impl Prediction {
    /// In a sentence.
    pub fn sentence(&self) -> String {
        let percent = |share: f64| three_digits(100.0 * share);
        let change = match self.change {
            Change::FallsBy(share) => format!("falls by at least {} %", percent(share)),
            Change::RisesBy(share) => format!("rises by at least {} %", percent(share)),
            Change::Below(bound) => format!("is at most {bound}"),
        };
        format!("{} {change}.", self.figure.words())
    }
}

/// A point's figures, as predictions take them.
#[derive(Clone, Copy)]
pub struct Measured<'a> {
    /// Its requests.
    pub records: &'a [RequestRecord],
    /// Their summary.
    pub summary: &'a Summary,
    /// Whether its client was innocent.
    pub client: &'a Certificate,
}

impl Measured<'_> {
    /// A figure with its interval; none where it has no value, or an infinite one.
    pub fn of(&self, figure: Figure) -> Option<Estimate> {
        let alone = |value: Option<Nanos>| {
            value.map(|it| Estimate {
                value: Some(it),
                lo: None,
                hi: None,
            })
        };
        match figure {
            Figure::TtftP50 => self.summary.ttft.p50,
            Figure::TtftP99 => self.summary.ttft.p99,
            Figure::ShortTtftP99 { up_to } => self.short_ttft(up_to),
            Figure::TpotP50 => self.summary.tpot.p50,
            Figure::TpotP99 => self.summary.tpot.p99,
            Figure::LagP99 => alone(self.client.lag_p99),
            Figure::PollLagP99 => alone(self.client.client.poll_lag_p99),
        }
    }

    fn short_ttft(&self, up_to: u32) -> Option<Estimate> {
        let tokens =
            |it: &RequestRecord| it.prompt_tokens.unwrap_or(it.input_tokens_planned) <= up_to;
        let mut short: Vec<&RequestRecord> = self.records.iter().filter(|it| tokens(it)).collect();
        short.sort_by_key(|it| it.scheduled);
        let ttft = |it: &&RequestRecord| match it.is_ok() {
            true => it.ttft().map(|it| it.0 as f64),
            false => Some(f64::INFINITY),
        };
        let sample = Sample::new(short.iter().filter_map(ttft).collect());
        Some(sample.estimate(99.0)?.0)
    }
}

/// Whether a prediction came true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Came {
    /// It did.
    True,
    /// It did not.
    False,
    /// The figure has no value on one side.
    CannotTell,
}

/// What became of a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Whether it came true, by the values.
    pub came: Came,
    /// Whether the 95 % intervals of both values say the same, whatever lies within them; one may lack the end that would. Of pairs, whether
    /// the interval of their difference does.
    pub sure: bool,
    /// The paired difference, where that judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paired: Option<Difference>,
    /// The value before.
    pub before: Option<Nanos>,
    /// The value afterwards.
    pub after: Option<Nanos>,
    /// What it had to reach.
    pub bound: Option<Nanos>,
}

impl Outcome {
    /// Whether it came true, by the intervals: cannot tell where they reach over the bound.
    pub fn verdict(&self) -> Came {
        if self.sure {
            self.came
        } else {
            Came::CannotTell
        }
    }
}

impl Change {
    /// What a value must reach that was this before.
    fn bound(self, before: Option<Nanos>) -> Option<Nanos> {
        let times = |factor: f64| Some(Nanos((before?.0 as f64 * factor).round() as u64));
        match self {
            Self::FallsBy(share) => times(1.0 - share),
            Self::RisesBy(share) => times(1.0 + share),
            Self::Below(bound) => Some(bound),
        }
    }

    /// Whether a value reaches a bound; none where either is not known.
    fn reaches(self, value: Option<Nanos>, bound: Option<Nanos>) -> Option<bool> {
        let (value, bound) = (value?, bound?);
        Some(match self {
            Self::RisesBy(_) => bound <= value,
            Self::FallsBy(_) | Self::Below(_) => value <= bound,
        })
    }

    /// The ends of the intervals before and afterwards that speak most against an answer.
    fn worst(self, came: bool, was: Estimate, is: Estimate) -> (Option<Nanos>, Option<Nanos>) {
        let rises = matches!(self, Self::RisesBy(_));
        if came == rises {
            (was.hi, is.lo)
        } else {
            (was.lo, is.hi)
        }
    }
}

/// Did it come true? Both points must be of the same load, but for what was turned.
pub fn check_prediction(prediction: &Prediction, before: Measured, after: Measured) -> Outcome {
    let Prediction { figure, change } = *prediction;
    let nothing = Estimate {
        value: None,
        lo: None,
        hi: None,
    };
    let [was, is] = [before, after].map(|it| it.of(figure).unwrap_or(nothing));
    let bound = change.bound(was.value);
    let came = change.reaches(is.value, bound);
    let sure = came.is_some_and(|came| {
        let (was, is) = change.worst(came, was, is);
        change.reaches(is, change.bound(was)) == Some(came)
    });
    Outcome {
        came: match came {
            Some(true) => Came::True,
            Some(false) => Came::False,
            None => Came::CannotTell,
        },
        sure,
        paired: None,
        before: was.value,
        after: is.value,
        bound,
    }
}

/// How a rule's predictions have fared that somebody tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// All of them.
    pub said: u32,
    /// Those that came true, by the intervals.
    pub came_true: u32,
    /// Those that did not.
    pub did_not: u32,
    /// Those of which nobody can tell.
    pub cannot_tell: u32,
    /// Those whose study has not ended.
    pub open: u32,
}

impl Tally {
    /// Rule by rule; a prediction without an outcome is open.
    pub fn by_cause(
        tried: impl IntoIterator<Item = (Cause, Option<Outcome>)>,
    ) -> BTreeMap<Cause, Self> {
        let mut all: BTreeMap<Cause, Self> = BTreeMap::new();
        for (cause, outcome) in tried {
            let tally = all.entry(cause).or_default();
            tally.said += 1;
            *match outcome.map(|it| it.verdict()) {
                Some(Came::True) => &mut tally.came_true,
                Some(Came::False) => &mut tally.did_not,
                Some(Came::CannotTell) => &mut tally.cannot_tell,
                None => &mut tally.open,
            } += 1;
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::{ClientEvidence, certify};
    use crate::summary::{Discipline, Failures, summarize};
    use crate::testing::{answered, ms};

    fn outcome(figure: Figure, change: Change, before: f64, after: f64) -> Outcome {
        let point = |ttft: f64| -> Vec<RequestRecord> {
            let one = |index| answered(index, 50.0 * f64::from(index), ttft, &[10.0; 5]);
            (0..400).map(one).collect()
        };
        let (before, after) = (point(before), point(after));
        let [one, other] =
            [&before, &after].map(|it| summarize(it, Discipline::OpenLoop, Failures::AsInfinity));
        let [was, is] = [&before, &after].map(|it| certify(it, ClientEvidence::default()));
        let prediction = Prediction { figure, change };
        let before = Measured {
            records: &before,
            summary: &one,
            client: &was,
        };
        let after = Measured {
            records: &after,
            summary: &other,
            client: &is,
        };
        check_prediction(&prediction, before, after)
    }

    #[track_caller]
    fn check(change: Change, before: f64, after: f64, came: Came) {
        let outcome = outcome(Figure::TtftP50, change, before, after);
        assert_eq!((outcome.came, outcome.sure), (came, true), "{outcome:?}");
    }

    #[test]
    fn a_prediction_comes_true_at_its_bound() {
        check(Change::FallsBy(0.5), 200.0, 100.0, Came::True);
        check(Change::FallsBy(0.5), 200.0, 101.0, Came::False);
        check(Change::RisesBy(0.1), 200.0, 220.0, Came::True);
        check(Change::RisesBy(0.1), 200.0, 219.0, Came::False);
        check(Change::Below(ms(150.0)), 200.0, 150.0, Came::True);
        check(Change::Below(ms(150.0)), 10.0, 151.0, Came::False);
    }

    #[test]
    fn a_figure_without_a_value_tells_nothing() {
        let of = |figure| outcome(figure, Change::FallsBy(0.5), 200.0, 100.0);
        assert_eq!(of(Figure::PollLagP99).came, Came::CannotTell);
        // Prompts of ten tokens.
        assert_eq!(of(Figure::ShortTtftP99 { up_to: 9 }).came, Came::CannotTell);
        assert_eq!(of(Figure::ShortTtftP99 { up_to: 10 }).came, Came::True);
    }

    #[test]
    fn what_the_intervals_leave_open_is_not_told() {
        // Every other request takes twice as long: the median lies between both, and so does its interval.
        let spread = |ttft: f64| -> Vec<RequestRecord> {
            let one = |index: u32| {
                let times = 1.0 + f64::from(index % 2);
                answered(index, 50.0 * f64::from(index), ttft * times, &[10.0; 5])
            };
            (0..400).map(one).collect()
        };
        let of = |before: f64, after: f64| {
            let points = [spread(before), spread(after)];
            let [was, is] = [&points[0], &points[1]].map(|it| {
                (
                    it,
                    summarize(it, Discipline::OpenLoop, Failures::AsInfinity),
                )
            });
            let client = certify(&points[0], ClientEvidence::default());
            let [was, is] = [&was, &is].map(|(records, summary)| Measured {
                records,
                summary,
                client: &client,
            });
            let prediction = Prediction {
                figure: Figure::TtftP50,
                change: Change::FallsBy(0.5),
            };
            check_prediction(&prediction, was, is)
        };
        let close = of(200.0, 99.0);
        assert_eq!(
            (close.came, close.verdict()),
            (Came::True, Came::CannotTell)
        );
        assert_eq!(of(200.0, 49.0).verdict(), Came::True);
        assert_eq!(of(200.0, 201.0).verdict(), Came::False);
    }

    #[test]
    fn a_rule_s_record_counts_what_became_of_its_predictions() {
        let outcome = |came, sure| Outcome {
            came,
            sure,
            paired: None,
            before: None,
            after: None,
            bound: None,
        };
        let tally = Tally::by_cause([
            (Cause::KvBound, Some(outcome(Came::True, true))),
            (Cause::KvBound, Some(outcome(Came::False, true))),
            (Cause::KvBound, Some(outcome(Came::True, false))),
            (Cause::KvPressure, None),
        ]);
        let of = |cause: Cause| {
            let it = tally[&cause];
            (it.said, it.came_true, it.did_not, it.cannot_tell, it.open)
        };
        assert_eq!(of(Cause::KvBound), (3, 1, 1, 1, 0));
        assert_eq!(of(Cause::KvPressure), (1, 0, 0, 0, 1));
    }
}
