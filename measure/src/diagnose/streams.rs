//! Requests beside one another: who streamed while another waited.
//!
//! Work is bounded: of many requests [`PROBES`] are looked at one by one, evenly spread.

use super::sorted::{Sorted, share};
use crate::request::RequestRecord;
use crate::units::Nanos;

/// Most requests looked at one by one.
pub(super) const PROBES: usize = 2000;
/// How far back in order of sending a stream is sought that went on meanwhile.
const BACK: usize = 256;
/// A gap is a pause from so many of its stream's median gaps on.
const PAUSE: f64 = 5.0;
/// Events of another stream during a pause, so that it was not the engine that paused.
const WENT_ON: usize = 4;

/// An answered request; times in seconds from the point's start, as the client sees them.
pub(super) struct Stream<'a> {
    pub record: &'a RequestRecord,
    /// When an answer could have been here at the earliest: sent, and the way there and back.
    pub asked: f64,
    pub first: f64,
    pub last: f64,
    /// Tokens of its prompt.
    pub prompt: f64,
}

impl<'a> Stream<'a> {
    fn of(record: &'a RequestRecord, path: f64) -> Option<Self> {
        let sent = record.sent?.as_secs_f64();
        let first = sent + record.ttft()?.as_secs_f64();
        let prompt = record.prompt_tokens.unwrap_or(record.input_tokens_planned);
        record.is_ok().then_some(Self {
            record,
            asked: (sent + path).min(first),
            first,
            last: sent + record.e2e()?.as_secs_f64(),
            prompt: f64::from(prompt),
        })
    }

    /// TTFT without the way to the engine and back.
    pub fn ttft(&self) -> f64 {
        self.first - self.asked
    }

    /// Each event's moment.
    pub fn events(&self) -> impl Iterator<Item = f64> {
        let chunks = self.record.chunks.iter();
        chunks.map(|it| it.arrived().as_secs_f64())
    }

    /// The longest gap between its events, from when to when, where it is a pause.
    fn pause(&self) -> Option<(f64, f64)> {
        let moments: Vec<f64> = self.events().collect();
        let pairs = moments.windows(2).map(|it| (it[0], it[1]));
        let longest = pairs.max_by(|(a, b), (c, d)| (b - a).total_cmp(&(d - c)))?;
        let usual = Sorted::of(self.record.gaps().map(Nanos::as_secs_f64)).at(50.0)?;
        (PAUSE * usual <= longest.1 - longest.0).then_some(longest)
    }
}

/// All answered requests, by the moment they were asked.
pub(super) struct Streams<'a>(pub Vec<Stream<'a>>);

impl<'a> Streams<'a> {
    /// Of records in any order; `path` is the way there and back, in seconds.
    pub fn of(records: &'a [RequestRecord], path: f64) -> Self {
        let all = records.iter().filter_map(|it| Stream::of(it, path));
        let mut all: Vec<Stream<'a>> = all.collect();
        all.sort_by(|one, other| one.asked.total_cmp(&other.asked));
        Self(all)
    }

    /// Some of them, evenly spread, by place.
    fn probes(&self) -> impl Iterator<Item = usize> {
        (0..self.0.len()).step_by(self.0.len().div_ceil(PROBES).max(1))
    }

    /// How many events a stream had in this time that went on from before it until after it.
    fn meanwhile(&self, but: usize, from: f64, to: f64) -> Option<usize> {
        let before = self.0.partition_point(|it| it.asked <= from);
        let mut near = (before.saturating_sub(BACK)..before).rev();
        let went_on = |it: &Stream| it.first <= from && to <= it.last;
        let other = near.find(|place| *place != but && went_on(&self.0[*place]))?;
        let within = |at: &f64| from < *at && *at <= to;
        Some(self.0[other].events().filter(within).count())
    }

    /// How many tokens of its prompt the engine computed in a step, request by request: the prompt over the steps until its
    /// first token, which are the events of a stream that went on meanwhile. Those with none beside them have no value.
    pub fn pieces(&self) -> Sorted {
        let one = |place: usize| {
            let it = &self.0[place];
            let steps = self.meanwhile(place, it.asked, it.first)?;
            Some(it.prompt / steps.max(1) as f64)
        };
        Sorted::of(self.probes().filter_map(one))
    }

    /// Share of the requests whose stream paused while another went on.
    pub fn paused_alone(&self) -> Option<f64> {
        let is_alone = |place: &usize| {
            let pause = self.0[*place].pause();
            let meanwhile = pause.and_then(|(from, to)| self.meanwhile(*place, from, to));
            meanwhile.is_some_and(|events| WENT_ON <= events)
        };
        share(
            self.probes().filter(is_alone).count(),
            self.probes().count(),
        )
    }

    /// The times in which a prompt of at least `long` tokens waited for its first token.
    pub fn long_waits(&self, long: f64) -> Spans {
        let mut spans: Vec<(f64, f64)> = Vec::new();
        for it in self.0.iter().filter(|it| long <= it.prompt) {
            match spans.last_mut() {
                Some((_, end)) if it.asked <= *end => *end = end.max(it.first),
                _ => spans.push((it.asked, it.first)),
            }
        }
        Spans(spans)
    }

    /// How many were in flight when each was asked, in that order.
    pub fn found(&self) -> Vec<f64> {
        let ends = Sorted::of(self.0.iter().map(|it| it.last));
        let asked = self.0.iter().enumerate();
        asked
            .map(|(before, it)| before as f64 - ends.up_to(it.asked) as f64)
            .collect()
    }

    /// How many streamed and waited, over time.
    pub fn over_time(&self) -> OverTime {
        OverTime {
            asked: Sorted::of(self.0.iter().map(|it| it.asked)),
            firsts: Sorted::of(self.0.iter().map(|it| it.first)),
            lasts: Sorted::of(self.0.iter().map(|it| it.last)),
        }
    }
}

/// Spans of time, in order, apart from each other.
pub(super) struct Spans(Vec<(f64, f64)>);

impl Spans {
    /// Whether a request waited for its first token in one of them.
    pub fn touch(&self, it: &Stream) -> bool {
        let next = self.0.partition_point(|(_, end)| *end < it.asked);
        self.0.get(next).is_some_and(|(from, _)| *from <= it.first)
    }
}

/// Moments at which requests were asked, began and ended.
pub(super) struct OverTime {
    asked: Sorted,
    firsts: Sorted,
    lasts: Sorted,
}

impl OverTime {
    /// How many streamed.
    pub fn streamed(&self, at: f64) -> f64 {
        self.firsts.up_to(at) as f64 - self.lasts.up_to(at) as f64
    }

    /// How many waited for their first token.
    pub fn waited(&self, at: f64) -> f64 {
        self.asked.up_to(at) as f64 - self.firsts.up_to(at) as f64
    }
}
