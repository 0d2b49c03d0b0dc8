//! What must happen when a knob is turned, and whether it did.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::said::Cause;
use super::turn::Turn;
use crate::certificate::Certificate;
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
    /// Whether the interval of the value afterwards says the same; it may lack the end that would.
    pub sure: bool,
    /// The value before.
    pub before: Option<Nanos>,
    /// The value afterwards.
    pub after: Option<Nanos>,
    /// What it had to reach.
    pub bound: Option<Nanos>,
}

/// Did it come true? Both points must be of the same load, but for what was turned.
pub fn check_prediction(prediction: &Prediction, before: Measured, after: Measured) -> Outcome {
    let (was, is) = (before.of(prediction.figure), after.of(prediction.figure));
    let was = was.and_then(|it| it.value);
    let times = |factor: f64| was.map(|it| Nanos((it.0 as f64 * factor).round() as u64));
    let (bound, rises) = match prediction.change {
        Change::FallsBy(share) => (times(1.0 - share), false),
        Change::RisesBy(share) => (times(1.0 + share), true),
        Change::Below(bound) => (Some(bound), false),
    };
    let came = |value: Option<Nanos>| {
        let (value, bound) = (value?, bound?);
        Some(if rises {
            bound <= value
        } else {
            value <= bound
        })
    };
    let by_value = came(is.and_then(|it| it.value));
    // The end of the interval that lies nearest to the bound must be on the same side.
    let nearest = is.and_then(|it| match by_value {
        Some(true) if rises => it.lo,
        Some(true) => it.hi,
        _ if rises => it.hi,
        _ => it.lo,
    });
    Outcome {
        came: match by_value {
            Some(true) => Came::True,
            Some(false) => Came::False,
            None => Came::CannotTell,
        },
        sure: by_value.is_some() && came(nearest) == by_value,
        before: was,
        after: is.and_then(|it| it.value),
        bound,
    }
}

/// A prediction that was tried: what the store keeps of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Which rule made it.
    pub cause: Cause,
    /// What was turned.
    pub turn: Turn,
    /// What had to happen.
    pub prediction: Prediction,
    /// What did.
    pub outcome: Outcome,
}

/// How a rule's predictions have fared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Those that came true.
    pub came_true: u32,
    /// Those that did not.
    pub did_not: u32,
    /// Those of which nobody can tell.
    pub cannot_tell: u32,
}

impl Tally {
    /// Rule by rule.
    pub fn by_cause(records: &[Record]) -> BTreeMap<Cause, Self> {
        let mut all: BTreeMap<Cause, Self> = BTreeMap::new();
        for record in records {
            let tally = all.entry(record.cause).or_default();
            match record.outcome.came {
                Came::True => tally.came_true += 1,
                Came::False => tally.did_not += 1,
                Came::CannotTell => tally.cannot_tell += 1,
            }
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
    fn a_rule_s_record_counts_what_became_of_its_predictions() {
        let record = |cause, came| Record {
            cause,
            turn: Turn::GrowKvCache,
            prediction: Prediction {
                figure: Figure::TpotP99,
                change: Change::FallsBy(0.15),
            },
            outcome: Outcome {
                came,
                sure: false,
                before: None,
                after: None,
                bound: None,
            },
        };
        let records = [
            record(Cause::KvBound, Came::True),
            record(Cause::KvBound, Came::False),
            record(Cause::KvBound, Came::True),
            record(Cause::KvPressure, Came::CannotTell),
        ];
        let tally = Tally::by_cause(&records);
        let of = |cause: Cause| {
            let it = tally[&cause];
            (it.came_true, it.did_not, it.cannot_tell)
        };
        assert_eq!(of(Cause::KvBound), (2, 1, 0));
        assert_eq!(of(Cause::KvPressure), (0, 0, 1));
    }
}
