//! A study against earlier runs of the same, as the interface, the command line and the page tell it: drawn by the server.

mod drawing; // a series of runs as a picture
mod page; // the page, and the study page's line
mod words; // in words

use crate::ui::badge::Word;
use measure::history::Change;
use measure::slo::Metric;
use measure::units::Level;
use serde::Serialize;
use uuid::Uuid;

pub use page::{page, panel};
pub use words::{common, figure_name, place, sentence, told, value, written};

/// What came of holding something against its history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// No worse than runs of the same are, or than was allowed.
    Pass,
    /// Worse.
    Fail,
    /// Cannot tell.
    Indeterminate,
    /// There is nothing to judge.
    LeftOut,
}

impl Outcome {
    /// Of several together: one that fails is enough, one that cannot be told leaves all of it open, and so does nothing at all.
    pub fn of(each: impl Iterator<Item = Self>) -> Self {
        let mut passed = false;
        let mut open = false;
        for one in each {
            match one {
                Self::Fail => return Self::Fail,
                Self::Indeterminate => open = true,
                Self::Pass => passed = true,
                Self::LeftOut => {}
            }
        }
        if passed && !open {
            Self::Pass
        } else {
            Self::Indeterminate
        }
    }

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Indeterminate => "indeterminate",
            Self::LeftOut => "not judged",
        }
    }
}

/// A study against its history.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HistoryView {
    /// The study.
    pub study: Uuid,
    /// Its name.
    pub name: String,
    /// Runs on the simulator.
    pub simulated: bool,
    /// What its pages say of its figures: *simulated*, *toy model*.
    #[serde(skip)]
    pub marks: Vec<Word>,
    /// Of rates: `req/s`, or `sessions/s`.
    pub unit: String,
    /// The share by which it may be worse, where that was asked.
    pub allowed: Option<f64>,
    /// Where nothing was allowed: the largest change for the worse that may stay unseen in what passes, as a share.
    pub blind: f64,
    /// Figures that are judged together, each the surer for it.
    pub together: u32,
    /// All operating points together.
    pub outcome: Outcome,
    /// Why nothing is judged, or not all of it.
    pub why: Option<String>,
    /// Earlier runs may be missing, which are still being worked out. Only pages go on without them.
    #[serde(skip)]
    pub lacking: bool,
    /// Baseline first.
    pub configurations: Vec<ConfigurationHistory>,
}

/// One configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConfigurationHistory {
    /// The configuration.
    pub id: Uuid,
    /// What it is called.
    pub name: String,
    /// Its engine's version, where that is known: the one fact in which runs of the same may differ.
    pub version: Option<String>,
    /// Level by level, the whole curve last.
    pub points: Vec<PointHistory>,
}

/// One operating point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PointHistory {
    /// The level; `None` for the whole curve.
    pub level: Option<Level>,
    /// All its figures together.
    pub outcome: Outcome,
    /// What was measured there.
    pub figures: Vec<FigureHistory>,
}

impl PointHistory {
    /// Nothing of it is judged.
    pub fn is_left_out(&self) -> bool {
        let left_out = |it: &FigureHistory| it.outcome == Outcome::LeftOut;
        self.figures.iter().all(left_out)
    }
}

/// One figure against its baseline. Values are nanoseconds for latencies, a rate per second for the ceiling.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FigureHistory {
    /// The latency; `None` for the ceiling.
    pub metric: Option<Metric>,
    /// Its percentile; `None` for the ceiling.
    pub percentile: Option<f64>,
    /// What came of it.
    pub outcome: Outcome,
    /// Why it cannot be told or is not judged, or why it has no value that failed.
    pub why: Option<String>,
    /// The new run's; `None` where it has none.
    pub value: Option<f64>,
    /// Its own standard error over its value: it is written with the digits that this carries, as on the other pages.
    #[serde(skip)]
    pub error: Option<f64>,
    /// When it was measured, in milliseconds since 1970.
    pub at_ms: i64,
    /// What runs since the last change are; `None` without enough of them.
    pub baseline: Option<Baseline>,
    /// The new run over the baseline - 1.
    pub change: Option<Change>,
    /// Surely better than the baseline.
    pub improved: bool,
    /// Runs since the last change.
    pub counted: u32,
    /// Earlier runs of the same, oldest first.
    pub runs: Vec<EarlierRun>,
}

/// What runs of the same are, and between which ends one more of them lies, as surely as all figures together ask for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Baseline {
    /// The centre of the runs since the last change.
    pub value: f64,
    /// The lower end.
    pub lo: f64,
    /// The upper end.
    pub hi: f64,
}

/// An earlier run of the same.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EarlierRun {
    /// Its study.
    pub study: Uuid,
    /// The study's name.
    pub name: String,
    /// When it was measured, in milliseconds since 1970.
    pub at_ms: i64,
    /// Its figure.
    pub value: f64,
    /// Its engine's version, where that is known.
    pub version: Option<String>,
    /// It ran since the last change, and is part of the baseline.
    pub counts: bool,
    /// A new level begins with it.
    pub changed: bool,
}

#[cfg(test)]
mod tests;
