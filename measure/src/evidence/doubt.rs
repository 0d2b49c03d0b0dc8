//! What keeps the counts of a metrics page from being those of a point: whose page it is, and since when it was read.

use super::quantity::Quantity;
use super::reading::{Readings, Whose};
use crate::request::{RequestRecord, TokenSource};
use crate::units::three_digits;

/// Counters that fall again and again are those of several engines behind one address.
pub(super) const MANY_RESETS: u32 = 3;
/// An engine that counted less than this share of what it answered did not count it on this page.
pub(super) const COUNTED: f64 = 0.9;

/// Why counts are not believed, in words that follow "cannot tell,".
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    /// It is another engine's page, an old one, or several engines' in turn: nothing on it is of this point.
    NotOurs(String),
    /// It was first read when the point ran: there is more than was counted, never less.
    Late(String),
    /// It began anew, or is another's for a while: there may be less than was counted.
    Anew(String),
}

impl Doubt {
    /// Of the looks at a page, against the requests that were answered meanwhile.
    pub fn of(readings: &Readings, records: &[RequestRecord]) -> Option<Self> {
        let resets = resets(readings);
        if MANY_RESETS <= resets {
            let text = "several engines answer its /metrics in turn";
            return Some(Self::NotOurs(text.to_owned()));
        }
        late(readings)
            .map(Self::Late)
            .or_else(|| fewer(readings, records).map(Self::NotOurs))
            .or_else(|| {
                let text = "counters on its /metrics fell while the point ran";
                (0 < resets).then(|| Self::Anew(text.to_owned()))
            })
    }
}

/// How often the page's counters fell.
pub(super) fn resets(readings: &Readings) -> u32 {
    let counters = [
        Quantity::Finished,
        Quantity::OutputTokens,
        Quantity::PromptTokens,
    ];
    let resets = counters.map(|it| readings.counter(it, Whose::Ours).resets);
    resets.into_iter().max().unwrap_or(0)
}

fn late(readings: &Readings) -> Option<String> {
    let at_ms = readings.readings.first()?.at_ms;
    (0 < at_ms).then(|| {
        let seconds = three_digits(at_ms as f64 / 1e3);
        format!("its /metrics was first read {seconds} s after the point had begun")
    })
}

/// Fewer than were answered: requests, or where these are not counted output tokens by the answers' own usage.
fn fewer(readings: &Readings, records: &[RequestRecord]) -> Option<String> {
    let grown = |quantity| {
        let growth = readings.counter(quantity, Whose::Ours);
        growth.grown(0, readings.last())
    };
    let answered = || records.iter().filter(|record| record.is_ok());
    let by_engine = |it: &&RequestRecord| {
        matches!(
            it.token_source,
            TokenSource::Usage | TokenSource::EngineFinal
        )
    };
    let tokens = || {
        let told = answered().filter(by_engine);
        told.filter_map(|it| it.output_tokens).map(u64::from).sum()
    };
    let (counted, had, what) = match grown(Quantity::Finished) {
        Some(counted) => (counted, answered().count() as u64, "requests"),
        None => (grown(Quantity::OutputTokens)?, tokens(), "output tokens"),
    };
    (counted < COUNTED * had as f64).then(|| {
        format!(
            "its /metrics counted {counted:.0} {what} where {had} were answered: it is an old page, or another engine's"
        )
    })
}

#[cfg(test)]
mod tests;
