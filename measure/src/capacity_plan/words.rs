//! A plan in sentences.

use super::{Cost, Need, Plan, Range, Replicas};
use crate::curve::Ceiling;
use crate::units::three_digits;

/// The ceiling stands, but what arrivals bring is not known.
pub(super) const NO_POINT: &str = "no point at a rate is there to say what an arrival brings";

/// Why a ceiling is nothing to plan with.
pub(super) fn why_not(ceiling: &Ceiling) -> String {
    match ceiling {
        Ceiling::NoneKept { hi } => format!(
            "no rate tried kept the SLO, not even {}: no number of replicas is known to keep it",
            three_digits(*hi)
        ),
        Ceiling::Ramped => {
            "cannot tell: the rate went from one to another within each point; measure at steady rates".into()
        }
        Ceiling::Unresolved { lo: Some(lo), hi: Some(hi) } => format!(
            "cannot tell: {} surely keeps the SLO and {} surely breaks it; repeat the points between",
            three_digits(*lo),
            three_digits(*hi)
        ),
        _ => "cannot tell: no rate surely keeps the SLO; measure lower rates, or more requests at each".into(),
    }
}

impl Range {
    /// `3.20 (2.90 to 3.60)`, or `at least 2.90`.
    pub fn text(&self) -> String {
        match (self.value, self.hi) {
            (Some(value), Some(hi)) => format!(
                "{} ({} to {})",
                three_digits(value),
                three_digits(self.lo),
                three_digits(hi)
            ),
            _ => format!("at least {}", three_digits(self.lo)),
        }
    }
}

impl Cost {
    /// `1.70 (1.50 to 1.90)`, or `at most 1.90`.
    pub fn text(&self) -> String {
        match (self.least, self.value) {
            (Some(least), Some(value)) => format!(
                "{} ({} to {})",
                three_digits(value),
                three_digits(least),
                three_digits(self.most)
            ),
            _ => format!("at most {}", three_digits(self.most)),
        }
    }
}

impl Replicas {
    fn text(&self) -> String {
        let replicas = match self.planned {
            1 => "1 replica".to_owned(),
            several => format!("{several} replicas"),
        };
        let others = match (self.by_value, self.least) {
            (Some(value), Some(least)) if (value, least) != (self.planned, self.planned) => {
                format!(
                    ", by the rate that surely keeps the SLO; {value} by the ceiling's value, and fewer than {least} surely break it"
                )
            }
            (None, None) => ", or fewer: no rate tried broke the SLO for sure".to_owned(),
            _ => ", at either end of the ceiling".to_owned(),
        };
        replicas + &others
    }
}

impl Plan {
    /// All of it; `unit` is that of the study's rates.
    pub fn sentences(&self, need: &Need, unit: &str) -> Vec<String> {
        let headroom = three_digits(need.headroom * 100.0);
        let mut sentences = vec![format!(
            "One replica takes {} {unit} under the SLO.",
            self.rate.text()
        )];
        let tokens = self
            .good_tokens_per_gpu
            .map(|tokens| format!("{} good tok/s", tokens.text()));
        let each = match need.gpus {
            1 => "It gives",
            _ => "Each GPU:",
        };
        sentences.push(format!(
            "{each} {} req/s, {}.",
            self.requests_per_gpu.text(),
            tokens
                .as_deref()
                .unwrap_or("tokens unknown: nobody counted those of good requests")
        ));
        if let (Some(demand), Some(replicas)) = (need.demand, self.replicas) {
            sentences.push(format!(
                "{} {unit} with {headroom} % head-room: {}.",
                three_digits(demand),
                replicas.text()
            ));
        }
        if let Some(cost) = self.million_good_tokens {
            sentences.push(format!(
                "A million good tokens cost {}, each replica at the ceiling less {headroom} %.",
                cost.text()
            ));
        }
        if let Some(hour) = self.hour {
            sentences.push(format!(
                "The replicas of this plan cost {} an hour.",
                three_digits(hour)
            ));
        }
        sentences
    }
}
