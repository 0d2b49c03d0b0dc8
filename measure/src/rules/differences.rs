//! What a tool says of a point beside what the studio says, and why they differ.

use serde::{Deserialize, Serialize};

use super::reasons::{Has, because, why};
use super::{Percentiles, Reading, Tool, read};
use crate::quantile::Distribution;
use crate::request::RequestRecord;
use crate::slo::{Judgement, Slo};
use crate::summary::Summary;
use crate::units::{Nanos, three_digits};

/// One figure, or p50, p95 and p99. Infinite where failures weigh on a percentile; `None` where there is no value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Figures {
    /// One figure.
    One(Option<f64>),
    /// p50, p95 and p99.
    Three(Percentiles),
}

impl Figures {
    /// Each of them, in order.
    pub fn values(&self) -> &[Option<f64>] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Three(values) => values,
        }
    }

    /// `181 / 365 / unbounded`, with a dash for what has no value.
    pub fn text(&self) -> String {
        let each = |value: &Option<f64>| match value {
            Some(value) if value.is_infinite() => "unbounded".to_owned(),
            // A count is no measurement: it has all its digits.
            Some(value) if value.fract() == 0.0 && value.abs() < 1e9 => format!("{value:.0}"),
            Some(value) => three_digits(*value),
            None => "–".to_owned(),
        };
        let all: Vec<String> = self.values().iter().map(each).collect();
        all.join(" / ")
    }

    /// Equal but for how floating point numbers are rounded.
    fn agree(&self, other: &Self) -> bool {
        let near = |pair: (&Option<f64>, &Option<f64>)| match pair {
            (Some(a), Some(b)) => {
                let far = (a - b).abs();
                a == b || far.is_finite() && far <= 1e-9 * a.abs().max(b.abs())
            }
            (a, b) => a == b,
        };
        self.values().iter().zip(other.values()).all(near)
    }
}

/// A metric by both rules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// What the studio calls it.
    pub metric: String,
    /// ms, req/s, tok/s, % or nothing.
    pub unit: String,
    /// By the studio's rules; an infinite percentile is `null` in JSON.
    pub ours: Figures,
    /// By the tool's.
    pub theirs: Figures,
    /// Whether they agree.
    pub same: bool,
    /// What the tool does otherwise; empty where they agree.
    pub why: String,
}

impl Row {
    /// Whether they agree to the digits that are written.
    pub fn reads_the_same(&self) -> bool {
        self.same || self.ours.text() == self.theirs.text()
    }
}

/// A point under one tool's rules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// The tool, as it is typed.
    pub tool: String,
    /// What it is called, and in which version.
    pub title: String,
    /// Metric by metric.
    pub rows: Vec<Row>,
}

impl Table {
    /// Of a point's records (warm-up left out), of which `summary` is made, with the SLO and how the point stands to it.
    pub fn of(
        tool: Tool,
        (records, began): (&[RequestRecord], Nanos),
        summary: &Summary,
        promise: Option<(&Slo, &Judgement)>,
    ) -> Self {
        let reading = read(tool, records, promise.map(|(slo, _)| slo), began);
        Self {
            tool: tool.name().to_owned(),
            title: tool.title().to_owned(),
            rows: differences(tool, summary, promise.map(|(_, it)| it), &reading),
        }
    }
}

/// Everything a tool says of a point, metric by metric. `judgement` is the point's under the SLO that the tool was given.
pub fn differences(
    tool: Tool,
    summary: &Summary,
    judgement: Option<&Judgement>,
    theirs: &Reading,
) -> Vec<Row> {
    let one = |number: u32| Figures::One(Some(f64::from(number)));
    let percent = |share: f64| share * 100.0;
    let share = judgement.and_then(|it| it.attainment);
    let rows = [
        (What::Ttft, ours(&summary.ttft), Figures::Three(theirs.ttft)),
        (What::Tpot, ours(&summary.tpot), Figures::Three(theirs.tpot)),
        (What::Itl, ours(&summary.itl), Figures::Three(theirs.itl)),
        (What::E2e, ours(&summary.e2e), Figures::Three(theirs.e2e)),
        (
            What::Completed,
            one(summary.completed),
            one(theirs.completed),
        ),
        (
            What::Requests,
            Figures::One(summary.completed_per_s),
            Figures::One(theirs.requests_per_s),
        ),
        (
            What::Tokens,
            Figures::One(summary.output_tokens_per_s),
            Figures::One(theirs.output_tokens_per_s),
        ),
        (
            What::Good,
            Figures::One(judgement.and_then(|it| it.good_requests_per_s)),
            Figures::One(theirs.good_requests_per_s),
        ),
        (
            What::Attainment,
            Figures::One(share.map(|share| percent(share.value))),
            Figures::One(theirs.attainment.map(percent)),
        ),
    ];
    let promised = |what: What| judgement.is_some() || !what.is_of_promise();
    let rows = rows.into_iter().filter(|(what, ..)| promised(*what));
    let has = Has::of(summary);
    rows.map(|(what, ours, theirs)| row((tool, what), ours, theirs, has))
        .collect()
}

fn row((tool, what): (Tool, What), ours: Figures, theirs: Figures, has: Has) -> Row {
    let same = ours.agree(&theirs);
    let (metric, unit) = what.name();
    Row {
        metric: metric.to_owned(),
        unit: unit.to_owned(),
        ours,
        theirs,
        same,
        why: if same {
            String::new()
        } else {
            because(why(tool, what), has)
        },
    }
}

/// Milliseconds; a percentile on which failures weigh is infinite.
fn ours(of: &Distribution) -> Figures {
    let value = |value: Option<Nanos>| value.map_or(f64::INFINITY, Nanos::as_millis_f64);
    Figures::Three([of.p50, of.p95, of.p99].map(|it| it.map(|it| value(it.value))))
}

/// What a row is of.
#[derive(Clone, Copy)]
pub(super) enum What {
    Ttft,
    Tpot,
    Itl,
    E2e,
    Completed,
    Requests,
    Tokens,
    Good,
    Attainment,
}

impl What {
    fn name(self) -> (&'static str, &'static str) {
        match self {
            Self::Ttft => ("TTFT", "ms"),
            Self::Tpot => ("TPOT", "ms"),
            Self::Itl => ("ITL", "ms"),
            Self::E2e => ("E2E", "ms"),
            Self::Completed => ("Completed", ""),
            Self::Requests => ("Requests", "req/s"),
            Self::Tokens => ("Output", "tok/s"),
            Self::Good => ("Goodput", "req/s"),
            Self::Attainment => ("Attainment", "%"),
        }
    }

    fn is_of_promise(self) -> bool {
        matches!(self, Self::Good | Self::Attainment)
    }
}
