//! A point's requests, and the part of them that a window holds: those that were sent in it.

use std::borrow::Cow;
use std::sync::OnceLock;

use measure::evidence::Track;
use measure::request::RequestRecord;
use measure::score::Score;
use measure::slo::{Good, Judgement, Slo, judge};
use measure::steady::{self, Steady};
use measure::summary::{Discipline, Failures, Summary, summarize};
use measure::units::Nanos;
use uuid::Uuid;

use super::distributions::Values;
use super::view::{View, seconds};
use crate::ui::format;

/// What a point's requests come with.
#[derive(Clone, Debug)]
pub struct Given {
    /// Its study.
    pub study: Uuid,
    /// The point.
    pub point: Uuid,
    /// The study's SLO.
    pub slo: Slo,
    /// How the requests came.
    pub discipline: Discipline,
    /// The part of the point that its stored figures are of, by when requests were due, both ends included.
    pub counted: Option<(Nanos, Nanos)>,
    /// The point's figures under the study's SLO, as they are stored.
    pub stored: Option<(Summary, Judgement)>,
    /// What was seen beside the requests, over time.
    pub tracks: Vec<Track>,
}

/// A point with all its requests, in the order in which they were due.
#[derive(Debug)]
pub struct Requests {
    /// Its study.
    pub study: Uuid,
    /// The point.
    pub point: Uuid,
    /// One record a request.
    pub records: Vec<RequestRecord>,
    /// What remains of each.
    pub scores: Vec<Score>,
    /// When each token-bearing event arrived, in nanoseconds, request after request; read from the records once.
    arrivals: Vec<u64>,
    /// Where those of each request end.
    ends: Vec<usize>,
    /// Stored figures.
    pub stored: Option<(Summary, Judgement)>,
    /// What was seen beside them.
    pub tracks: Vec<Track>,
    /// Ramp, steady part and drain.
    pub steady: Option<Steady>,
    /// Gaps of all that the stored figures are of, once somebody looked at them.
    pub(super) gaps: OnceLock<Values>,
    slo: Slo,
    discipline: Discipline,
    counted: Option<(Nanos, Nanos)>,
    end: Nanos,
}

impl Requests {
    /// Requests in the order in which they were due.
    pub fn new(given: Given, records: Vec<RequestRecord>) -> Self {
        let scores: Vec<Score> = records.iter().map(Score::from).collect();
        let (arrivals, ends) = arrivals(&records);
        let last = |it: &RequestRecord| it.end.or(it.sent).unwrap_or(it.scheduled);
        let end = records.iter().map(last).max().unwrap_or_default();
        Self {
            study: given.study,
            point: given.point,
            stored: given.stored,
            tracks: given.tracks,
            steady: steady::find(&scores),
            slo: given.slo,
            discipline: given.discipline,
            counted: given.counted,
            end: end.max(Nanos::from_millis(1)),
            gaps: OnceLock::new(),
            records,
            scores,
            arrivals,
            ends,
        }
    }

    /// When each token-bearing event of a request arrived, in nanoseconds.
    pub fn arrivals(&self, place: usize) -> &[u64] {
        let end = self.ends.get(place).copied().unwrap_or_default();
        let first = place.checked_sub(1).and_then(|it| self.ends.get(it));
        let first = first.copied().unwrap_or_default();
        self.arrivals.get(first..end).unwrap_or_default()
    }

    /// Another part that the stored figures are of.
    #[cfg(test)]
    pub fn count(&mut self, counted: Option<(Nanos, Nanos)>) {
        self.counted = counted;
    }

    /// When the last of them ended.
    pub fn end(&self) -> Nanos {
        self.end
    }

    /// The page's path.
    pub fn path(&self) -> String {
        format!("/studies/{}/points/{}", self.study, self.point)
    }

    /// The steady part as a window that holds its requests by when they were sent.
    pub fn steady_window(&self) -> Option<(Nanos, Nanos)> {
        let window = self.steady?.window?;
        let due = self.scores.iter().filter(|it| window.holds(it.scheduled));
        let sent = due.filter_map(|it| it.sent).max()?;
        // To the millisecond, outwards.
        let from = Nanos::from_millis(window.from.0 / 1_000_000);
        let to = Nanos::from_millis(window.to.max(sent).0 / 1_000_000 + 1);
        Some((from, to))
    }

    /// What a view shows.
    pub fn part<'a>(&'a self, view: &'a View) -> Part<'a> {
        let windowed = view.from.is_some() || view.to.is_some();
        // A window that begins after everything is empty, and its axis still has two ends.
        let from = view.from.unwrap_or_default();
        let to = view.to.unwrap_or(self.end);
        let to = to.max(from + Nanos::from_millis(1));
        let within = |it: &RequestRecord| {
            let at = it.sent.unwrap_or(it.scheduled);
            from <= at && (at < to || view.to.is_none())
        };
        let counts = |it: &RequestRecord| {
            self.counted
                .is_none_or(|(from, to)| from <= it.scheduled && it.scheduled <= to)
        };
        let belongs = |it: &RequestRecord| if windowed { within(it) } else { counts(it) };
        let all = self.records.iter().enumerate();
        Part {
            of: self,
            view,
            slo: view.slo.as_ref().unwrap_or(&self.slo),
            axis: (from, to),
            windowed,
            inside: all.filter(|it| belongs(it.1)).map(|it| it.0).collect(),
        }
    }
}

/// The arrivals of all records, and where those of each end.
fn arrivals(records: &[RequestRecord]) -> (Vec<u64>, Vec<usize>) {
    let mut all = Vec::with_capacity(records.iter().map(|it| it.chunks.len()).sum());
    let mut ends = Vec::with_capacity(records.len());
    for record in records {
        all.extend(record.chunks.arrivals().map(|it| it.0));
        ends.push(all.len());
    }
    (all, ends)
}

/// Gaps between arrivals.
pub(super) fn gaps(arrivals: &[u64]) -> impl Iterator<Item = u64> + '_ {
    let pairs = arrivals.iter().zip(arrivals.iter().skip(1));
    pairs.map(|(before, now)| now.saturating_sub(*before))
}

/// Requests of a window, or those that the stored figures are of.
#[derive(Debug)]
pub struct Part<'a> {
    /// All of the point.
    pub of: &'a Requests,
    /// The address.
    pub view: &'a View,
    /// What they are judged by.
    pub slo: &'a Slo,
    /// The ends of the time axis.
    pub axis: (Nanos, Nanos),
    /// Whether it is a window at all.
    pub windowed: bool,
    /// Places of its requests among all, rising.
    pub inside: Vec<usize>,
}

impl<'a> Part<'a> {
    /// Its requests.
    pub fn records(&self) -> impl Iterator<Item = &'a RequestRecord> + Clone + '_ {
        let all = &self.of.records;
        self.inside.iter().filter_map(|place| all.get(*place))
    }

    /// The same with what remains of each.
    pub fn scored(&self) -> impl Iterator<Item = (usize, &'a RequestRecord, &'a Score)> + '_ {
        let of = self.of;
        self.inside
            .iter()
            .filter_map(|place| Some((*place, of.records.get(*place)?, of.scores.get(*place)?)))
    }

    /// Its figures: without a window the stored ones, which are worked out in the same way from the same requests.
    pub fn summary(&self) -> Summary {
        match &self.of.stored {
            Some((summary, _)) if !self.windowed => summary.clone(),
            _ => self.summarized(),
        }
    }

    fn summarized(&self) -> Summary {
        summarize(&self.slice(), self.of.discipline, Failures::AsInfinity)
    }

    /// Its requests as `measure` takes them.
    fn slice(&self) -> Cow<'a, [RequestRecord]> {
        let (first, last) = (self.inside.first(), self.inside.last());
        if let (Some(first), Some(last)) = (first, last)
            && last - first + 1 == self.inside.len()
        {
            return Cow::Borrowed(self.of.records.get(*first..=*last).unwrap_or_default());
        }
        Cow::Owned(self.records().cloned().collect())
    }

    /// Its requests under the SLO.
    pub fn judgement(&self, summary: &Summary) -> Judgement {
        let scores: Vec<Score> = self.scored().map(|it| *it.2).collect();
        judge(&scores, summary, self.slo)
    }

    /// How one request fared.
    pub fn fared(&self, score: &Score) -> Fared {
        match (score.is_ok(), self.slo.judge_request(score)) {
            (false, _) => Fared::Failed,
            (_, Good::Yes) => Fared::Kept,
            (_, Good::No) => Fared::Broke,
            (_, Good::Undetermined) => Fared::CannotTell,
        }
    }

    /// `0 s to 42 s`.
    pub fn span_words(&self) -> String {
        let (from, to) = self.axis;
        format!("{} s to {} s", seconds(from), seconds(to))
    }

    /// `In the window 10 s to 42 s: 120 of 500 requests`, as every figure says.
    pub fn words(&self) -> String {
        let count = |it: usize| format::count(it as u64);
        let (inside, all) = (self.inside.len(), self.of.records.len());
        if self.windowed {
            return format!(
                "In the window {}: {} of {} requests",
                self.span_words(),
                count(inside),
                count(all)
            );
        }
        if inside == all {
            return format!("All {} requests", count(all));
        }
        format!(
            "{} of {} requests: the ramp-in is left out",
            count(inside),
            count(all)
        )
    }
}

/// How a request fared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fared {
    /// It kept the SLO.
    Kept,
    /// It succeeded and broke a bound.
    Broke,
    /// It succeeded, and lacks a value that a bound needs.
    CannotTell,
    /// It failed.
    Failed,
}

impl Fared {
    /// All, in the order of a legend.
    pub const ALL: [Self; 4] = [Self::Kept, Self::Broke, Self::CannotTell, Self::Failed];

    /// In attributes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Broke => "broke",
            Self::CannotTell => "open",
            Self::Failed => "failed",
        }
    }

    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Kept => "kept the SLO",
            Self::Broke => "broke a bound",
            Self::CannotTell => "cannot tell",
            Self::Failed => "failed",
        }
    }

    /// What stands for it where colours do not.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Kept => "✓",
            Self::Broke => "!",
            Self::CannotTell => "?",
            Self::Failed => "×",
        }
    }
}
