//! The sessions of both sides: paired where both were asked the same at the same moments, else two samples.

use std::collections::BTreeMap;

use crate::score::Score;
use crate::units::{Level, Nanos};

use super::{LevelRuns, Run};

/// Fewer sessions than this say little about the rest.
const FEWEST: usize = 20;
/// At most this share of sessions may be without a partner, or start at another moment.
const MOST_UNLIKE: f64 = 0.1;
/// Starts of one schedule are the same to the nanosecond; this forgives formats that keep less.
const SAME_MOMENT: Nanos = Nanos(1_000_000);

/// The requests of one session.
pub(super) type Session<'a> = Vec<&'a Score>;

/// A level's sessions, run after run in order of arrival.
pub(super) struct Sides<'a> {
    pub baseline: Vec<Vec<Session<'a>>>,
    pub candidate: Vec<Vec<Session<'a>>>,
    /// Whether the n-th session of a run on one side is the n-th on the other.
    pub paired: bool,
}

impl<'a> Sides<'a> {
    /// Pairs what can be paired. `alike`: prompts and schedule are known to be the same. Why not, where there are too few.
    pub fn of(runs: &LevelRuns<'a>, alike: bool) -> Result<Self, String> {
        let pairs = alike.then(|| paired(runs)).flatten();
        let sides = pairs.unwrap_or_else(|| Self {
            baseline: runs.baseline.iter().map(Self::in_order).collect(),
            candidate: runs.candidate.iter().map(Self::in_order).collect(),
            paired: false,
        });
        let fewest = count(&sides.baseline).min(count(&sides.candidate));
        if fewest < FEWEST {
            return Err(format!(
                "{fewest} sessions were measured on both sides; at least {FEWEST} are needed."
            ));
        }
        Ok(sides)
    }

    /// A run's sessions in order of arrival.
    pub fn in_order(run: &Run<'a>) -> Vec<Session<'a>> {
        let mut sessions: Vec<Session<'_>> = by_session(run.scores).into_values().collect();
        sessions.sort_by_key(start);
        sessions
    }

    /// How many pairs there are; 0 for two samples.
    pub fn pairs(&self) -> u32 {
        if self.paired {
            count(&self.baseline) as u32
        } else {
            0
        }
    }
}

pub(super) fn count(runs: &[Vec<Session<'_>>]) -> usize {
    runs.iter().map(Vec::len).sum()
}

/// `None` where a tenth of the sessions or more have no partner that started at the same moment.
fn paired<'a>(runs: &LevelRuns<'a>) -> Option<Sides<'a>> {
    let mut sides = Sides {
        baseline: Vec::new(),
        candidate: Vec::new(),
        paired: true,
    };
    let (mut pairs, mut unlike) = (0, 0);
    for one in &runs.baseline {
        let other = runs.candidate.iter().find(|it| it.repeat == one.repeat);
        let Some(other) = other else { continue };
        let (left, mut right) = (by_session(one.scores), by_session(other.scores));
        let sessions = left.len().max(right.len());
        let mut found: Vec<_> = left
            .into_iter()
            .filter_map(|(id, one)| Some((one, right.remove(&id)?)))
            .filter(|(one, other)| same_start(runs.level, one, other))
            .collect();
        found.sort_by_key(|(one, _)| start(one));
        pairs += found.len();
        unlike += sessions - found.len();
        let (one, other) = found.into_iter().unzip();
        sides.baseline.push(one);
        sides.candidate.push(other);
    }
    let most = MOST_UNLIKE * (pairs + unlike) as f64;
    (0 < pairs && (unlike as f64) < most).then_some(sides)
}

/// In a closed loop a session starts when the one before it is done, which is the engine's doing.
fn same_start(level: Level, one: &Session<'_>, other: &Session<'_>) -> bool {
    let (one, other) = (start(one), start(other));
    !level.is_open() || one.max(other).since(one.min(other)) <= SAME_MOMENT
}

fn start(session: &Session<'_>) -> Nanos {
    let starts = session.iter().map(|score| score.scheduled);
    starts.min().unwrap_or(Nanos::ZERO)
}

fn by_session(scores: &[Score]) -> BTreeMap<u32, Session<'_>> {
    let mut sessions = BTreeMap::<u32, Session<'_>>::new();
    for score in scores {
        sessions.entry(score.session).or_default().push(score);
    }
    sessions
}
