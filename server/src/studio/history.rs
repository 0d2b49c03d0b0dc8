//! Runs held against earlier runs of the same: what they say of a new one, and what comparisons learn of the noise between runs.

mod figures; // what a study says at its operating points
mod kept; // runs in the store
mod noise; // for comparisons
mod same; // what makes two runs runs of the same

use app::history::{
    Baseline, ConfigurationHistory, EarlierRun, FigureHistory, HistoryView, Outcome, PointHistory,
};
use app::studio::{StudioError, StudyState};
use app::ui::badge::marks_of;
use measure::decimal;
use measure::history::{
    self, Bar, Entry, FEWEST, Figure, Regression, changes, current, judge_among,
};
use uuid::Uuid;

use kept::catch_up_a_little;
pub(crate) use kept::{catch_up, catch_up_or_log};
pub(super) use noise::{Known, of_side};

use super::views::Model;
use super::{internal, invalid, missing};
use crate::store::{SameRun, Store, StoredConfiguration};
use figures::{Found, Told, found};
use same::{digest, facts, facts_of_ceilings};

/// A figure with the runs that it is held against.
struct Asked {
    found: Found,
    earlier: Vec<SameRun>,
    entries: Vec<Entry>,
}

/// Why a history may say less than it will.
const NOT_ALL_YET: &str = "Runs of earlier studies are still being worked out: some of them may be missing here for a few minutes.";

/// A study against its history.
pub(crate) async fn history(
    store: &Store,
    study: Uuid,
    bar: Bar,
) -> Result<HistoryView, StudioError> {
    catch_up(store).await.map_err(internal)?;
    held(store, study, bar).await
}

/// The same by the runs that are worked out by now, for pages: after a change of rules a store of thousands of studies takes minutes.
/// Where others are lacking it says so, and nothing passes.
pub(crate) async fn history_so_far(
    store: &Store,
    study: Uuid,
    bar: Bar,
) -> Result<HistoryView, StudioError> {
    let lacking = catch_up_a_little(store).await.map_err(internal)?;
    let mut view = held(store, study, bar).await?;
    if lacking {
        view.lacking = true;
        view.outcome = Outcome::of([view.outcome, Outcome::Indeterminate].into_iter());
        // The first line of what cannot be told says it.
        if view.outcome == Outcome::Fail {
            view.why.get_or_insert_with(|| NOT_ALL_YET.to_owned());
        }
    }
    Ok(view)
}

async fn held(store: &Store, study: Uuid, bar: Bar) -> Result<HistoryView, StudioError> {
    let model = Model::load(store, study).await.map_err(internal)?;
    let model = model.filter(|it| it.deleted_ms.is_none());
    let model = model.ok_or_else(|| missing("study"))?;
    let mut configurations = Vec::new();
    // What was measured elsewhere names no machine: nothing here is surely of the same.
    if model.study.imported.is_none() {
        for stored in &model.configurations {
            configurations.push((stored, asked(store, &model, stored).await?));
        }
    }
    Ok(judged(&model, configurations, bar))
}

/// What a run is held to, as people write it.
pub(crate) fn read_bar(allow: &str, blind: &str) -> Result<Bar, StudioError> {
    let bar = Bar::from(read_share("allow", allow)?);
    let blind = read_share("blind", blind)?.unwrap_or(bar.blind);
    Ok(Bar { blind, ..bar })
}

/// A share: `5%`, or `5`.
fn read_share(field: &'static str, text: &str) -> Result<Option<f64>, StudioError> {
    let text = text.trim();
    let number = text.strip_suffix('%').unwrap_or(text).trim_end();
    if number.is_empty() {
        return Ok(None);
    }
    let percent = decimal::parse(number).filter(|it| (0.0..=1000.0).contains(it));
    let percent = percent.ok_or_else(|| {
        let message = format!("{field} takes a number of percent from 0 to 1000, got {text:?}");
        invalid(field, message)
    })?;
    Ok(Some(percent / 100.0))
}

async fn asked(
    store: &Store,
    model: &Model,
    stored: &StoredConfiguration,
) -> Result<Vec<Asked>, StudioError> {
    let facts = facts(model, stored);
    let of_ceilings = facts_of_ceilings(model, &facts);
    let mut all = Vec::new();
    for found in found(model, stored) {
        let facts = match found.figure {
            Figure::Latency(..) => &facts,
            Figure::Ceiling => &of_ceilings,
        };
        let same = digest(facts, found.level, found.figure);
        let earlier = kept::earlier(store, (&same, found.at_ms), &[model.study.id]).await;
        let earlier = earlier.map_err(internal)?;
        let entries = earlier.iter().map(entry).collect();
        all.push(Asked {
            found,
            earlier,
            entries,
        });
    }
    Ok(all)
}

fn entry(run: &SameRun) -> Entry {
    Entry {
        at_ms: run.at_ms,
        value: run.value,
        error: run.error,
    }
}

impl Asked {
    /// Whether it has a value, and runs enough to be judged by.
    fn is_judged(&self) -> bool {
        matches!(self.found.told, Told::Value(..)) && FEWEST <= current(&self.entries).len()
    }

    fn judge(&self, bar: Bar, together: usize) -> FigureHistory {
        let (metric, percentile) = match self.found.figure {
            Figure::Latency(metric, percentile) => (Some(metric), Some(percentile)),
            Figure::Ceiling => (None, None),
        };
        let blank = FigureHistory {
            metric,
            percentile,
            outcome: Outcome::LeftOut,
            why: None,
            value: None,
            error: None,
            at_ms: self.found.at_ms,
            baseline: None,
            change: None,
            improved: false,
            counted: u32::try_from(current(&self.entries).len()).unwrap_or(u32::MAX),
            runs: self.runs(),
        };
        match &self.found.told {
            Told::Nothing(why) => FigureHistory {
                why: Some(why.clone()),
                ..blank
            },
            Told::Beyond(why) => FigureHistory {
                outcome: beyond(&self.entries),
                why: Some(why.clone()),
                ..blank
            },
            Told::Value(value, error) => {
                let new = Entry {
                    at_ms: self.found.at_ms,
                    value: *value,
                    error: *error,
                };
                let of = judge_among(&self.entries, new, self.found.figure, bar, together);
                FigureHistory {
                    error: Some(*error),
                    ..with(blank, *value, of)
                }
            }
        }
    }

    /// The runs, each with whether it counts and whether a new level begins with it.
    fn runs(&self) -> Vec<EarlierRun> {
        let begins = changes(&self.entries);
        let last = begins.last().copied().unwrap_or(0);
        let run = |(index, run): (usize, &SameRun)| EarlierRun {
            study: run.study,
            name: run.name.clone(),
            at_ms: run.at_ms,
            value: run.value,
            version: run.version.clone(),
            counts: last <= index,
            changed: begins.contains(&index),
        };
        self.earlier.iter().enumerate().map(run).collect()
    }
}

/// No value, which is worse than any: where enough runs of the same had one, something got worse.
fn beyond(entries: &[Entry]) -> Outcome {
    if FEWEST <= current(entries).len() {
        Outcome::Fail
    } else {
        Outcome::Indeterminate
    }
}

fn with(blank: FigureHistory, value: f64, of: Regression) -> FigureHistory {
    let (outcome, why) = match of.outcome {
        history::Outcome::Pass => (Outcome::Pass, None),
        history::Outcome::Fail => (Outcome::Fail, None),
        history::Outcome::Indeterminate { why } => (Outcome::Indeterminate, Some(why)),
    };
    // The interval lies around the change as the band lies around the baseline.
    let baseline = of.change.map(|change| {
        let centre = value / (1.0 + change.relative);
        let wide = ((1.0 + change.hi) / (1.0 + change.lo)).sqrt();
        Baseline {
            value: centre,
            lo: centre / wide,
            hi: centre * wide,
        }
    });
    FigureHistory {
        outcome,
        why,
        value: Some(value),
        baseline,
        change: of.change,
        improved: of.improved,
        ..blank
    }
}

fn judged(
    model: &Model,
    configurations: Vec<(&StoredConfiguration, Vec<Asked>)>,
    bar: Bar,
) -> HistoryView {
    let all = configurations.iter().flat_map(|(_, asked)| asked);
    let together = all.filter(|it| it.is_judged()).count();
    let configurations = configurations.into_iter().map(|(stored, asked)| {
        let judged = asked
            .iter()
            .map(|it| (it.found.level, it.judge(bar, together)));
        ConfigurationHistory {
            id: stored.id,
            name: model.spec_of(stored.ordinal).name,
            version: kept::version(stored),
            points: points(judged.collect()),
        }
    });
    let configurations: Vec<ConfigurationHistory> = configurations.collect();
    let outcomes = configurations.iter().flat_map(|it| &it.points);
    let outcome = Outcome::of(outcomes.map(|it| it.outcome));
    HistoryView {
        study: model.study.id,
        name: model.study.spec.name.clone(),
        simulated: model.study.simulated,
        marks: marks_of(&model.view()),
        unit: app::words::rate_unit(&model.study.spec).to_owned(),
        allowed: bar.allowed,
        blind: bar.blind,
        together: u32::try_from(together).unwrap_or(u32::MAX),
        // An open study may still get worse.
        outcome,
        lacking: false,
        why: why(model),
        configurations,
    }
}

/// Why there is nothing to judge, or not all of it yet.
fn why(model: &Model) -> Option<String> {
    if model.study.imported.is_some() {
        return Some(
            "It was measured elsewhere, and a file does not name its machine: no run here is surely of the same."
                .to_owned(),
        );
    }
    match model.study.state {
        StudyState::Queued | StudyState::Running | StudyState::Waiting => Some(
            "The study has not ended; what is said here is of the points measured so far."
                .to_owned(),
        ),
        _ => None,
    }
}

/// Figures by level, in their order.
fn points(judged: Vec<(Option<measure::units::Level>, FigureHistory)>) -> Vec<PointHistory> {
    let mut points: Vec<PointHistory> = Vec::new();
    for (level, figure) in judged {
        match points.last_mut().filter(|it| it.level == level) {
            Some(point) => point.figures.push(figure),
            None => points.push(PointHistory {
                level,
                outcome: Outcome::LeftOut,
                figures: vec![figure],
            }),
        }
    }
    for point in &mut points {
        point.outcome = match Outcome::of(point.figures.iter().map(|it| it.outcome)) {
            // A ceiling without a bracket is no operating point that could not be judged.
            Outcome::Indeterminate if point.is_left_out() && point.level.is_none() => {
                Outcome::LeftOut
            }
            other => other,
        };
    }
    points
}

#[cfg(test)]
mod tests;
