//! Requests beside one another: who streamed while another waited.
//!
//! Work is bounded: of many requests [`PROBES`] are looked at, evenly spread.

use super::sorted::{Sorted, share};
use crate::request::RequestRecord;

/// Most requests looked at one by one.
const PROBES: usize = 2000;
/// How far back in order of sending a stream is sought that went on meanwhile.
const BACK: usize = 256;

/// An answered request; times in seconds from the point's start.
pub(super) struct Stream<'a> {
    pub record: &'a RequestRecord,
    pub sent: f64,
    pub first: f64,
    pub last: f64,
    /// Tokens of its prompt.
    pub prompt: f64,
}

impl<'a> Stream<'a> {
    fn of(record: &'a RequestRecord) -> Option<Self> {
        let sent = record.sent?.as_secs_f64();
        let prompt = record.prompt_tokens.unwrap_or(record.input_tokens_planned);
        record.is_ok().then_some(Self {
            record,
            sent,
            first: sent + record.ttft()?.as_secs_f64(),
            last: sent + record.e2e()?.as_secs_f64(),
            prompt: f64::from(prompt),
        })
    }

    pub fn ttft(&self) -> f64 {
        self.first - self.sent
    }

    /// Events after `from` and up to `to`.
    fn events(&self, from: f64, to: f64) -> usize {
        let times = self.record.chunks.iter();
        let times = times.map(|it| it.arrived().as_secs_f64());
        times.filter(|at| from < *at && *at <= to).count()
    }
}

/// All answered requests, by the moment they were sent.
pub(super) struct Streams<'a>(pub Vec<Stream<'a>>);

impl<'a> Streams<'a> {
    pub fn of(records: &'a [RequestRecord]) -> Self {
        let mut all: Vec<Stream<'a>> = records.iter().filter_map(Stream::of).collect();
        all.sort_by(|one, other| one.sent.total_cmp(&other.sent));
        Self(all)
    }

    /// Some of them, evenly spread, by place.
    fn probes(&self) -> impl Iterator<Item = usize> {
        (0..self.0.len()).step_by(self.0.len().div_ceil(PROBES).max(1))
    }

    /// Events of a stream that went on from before `from` until after `to`, meanwhile.
    fn meanwhile(&self, but: usize, from: f64, to: f64) -> Option<usize> {
        let before = self.0.partition_point(|it| it.sent <= from);
        let near = self.0[before.saturating_sub(BACK)..before].iter().enumerate();
        let offset = before.saturating_sub(BACK);
        let other = near
            .rev()
            .find(|(place, it)| offset + place != but && it.first <= from && to <= it.last)?;
        Some(other.1.events(from, to))
    }

    /// How many tokens of its prompt the engine computed in a step, request by request: prompt over the steps, which are the
    /// events of a stream that went on meanwhile. A share of the requests has none beside it.
    pub fn pieces(&self) -> Sorted {
        let one = |place: usize| {
            let it = &self.0[place];
            let steps = self.meanwhile(place, it.sent, it.first)?;
            Some(it.prompt / steps.max(1) as f64)
        };
        Sorted::of(self.probes().filter_map(one))
    }

    /// Share of the requests whose stream stood still while another went on by at least `events` events.
    pub fn paused_alone(&self, events: usize) -> Option<f64> {
        let is_alone = |place: &usize| {
            let it = &self.0[*place];
            longest_gap(it.record)
                .and_then(|(from, to)| self.meanwhile(*place, from, to))
                .is_some_and(|meanwhile| events <= meanwhile)
        };
        share(self.probes().filter(is_alone).count(), self.probes().count())
    }

    /// Share of those that `pick` picks which waited for their first token while a prompt of at least `long` tokens, theirs or
    /// another's, was waited for too.
    pub fn beside_long(&self, long: f64, pick: impl Fn(&Stream) -> bool) -> Option<f64> {
        let long = self.0.iter().filter(|it| long <= it.prompt);
        let mut spans: Vec<(f64, f64)> = Vec::new();
        for it in long {
            match spans.last_mut() {
                Some((_, end)) if it.sent <= *end => *end = end.max(it.first),
                _ => spans.push((it.sent, it.first)),
            }
        }
        let is_beside = |it: &&Stream| {
            let next = spans.partition_point(|(_, end)| *end < it.sent);
            spans.get(next).is_some_and(|(from, _)| *from <= it.first)
        };
        let picked = || self.0.iter().filter(|it| pick(it));
        share(picked().filter(is_beside).count(), picked().count())
    }

    /// How many were in flight when each was sent, in order of sending.
    pub fn found(&self) -> Vec<f64> {
        let ends = Sorted::of(self.0.iter().map(|it| it.last));
        let sent = self.0.iter().enumerate();
        sent.map(|(before, it)| before as f64 - ends.up_to(it.sent) as f64)
            .collect()
    }

    /// Requests whose answer streamed at a moment.
    pub fn streaming(&self) -> Streaming {
        Streaming {
            firsts: Sorted::of(self.0.iter().map(|it| it.first)),
            lasts: Sorted::of(self.0.iter().map(|it| it.last)),
            sent: Sorted::of(self.0.iter().map(|it| it.sent)),
        }
    }
}

/// The gap of a request that was longest, from when to when.
fn longest_gap(record: &RequestRecord) -> Option<(f64, f64)> {
    let later = record.chunks.iter().skip(1);
    let pairs = record.chunks.iter().zip(later);
    let spans = pairs.map(|(one, next)| (one.arrived().as_secs_f64(), next.arrived().as_secs_f64()));
    spans.max_by(|(a, b), (c, d)| (b - a).total_cmp(&(d - c)))
}

/// How many streamed, and how many waited for their first token, over time.
pub(super) struct Streaming {
    firsts: Sorted,
    lasts: Sorted,
    sent: Sorted,
}

impl Streaming {
    /// How many streamed.
    pub fn at(&self, at: f64) -> f64 {
        self.firsts.up_to(at) as f64 - self.lasts.up_to(at) as f64
    }

    /// How many waited for their first token.
    pub fn waiting(&self, at: f64) -> f64 {
        self.sent.up_to(at) as f64 - self.firsts.up_to(at) as f64
    }
}
