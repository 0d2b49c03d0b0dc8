//! What a chart shows, before anybody draws it: axes, lines, marks, the SLO line, ceilings.
//!
//! [`crate::figure`] makes plotly's figure of it, [`crate::figure_svg`] a picture that needs no script, and the table
//! under the chart reads the same value.

mod knots; // where a curve runs
mod labels; // names of lines, beside their ends
mod marks; // from points to marks
mod wording; // hover texts, titles, notes

use measure::certificate::Innocence;
use measure::curve::Ceiling;
use measure::slo::{Metric, Slo};
use measure::summary::Capacity;
use measure::units::{Level, Nanos};
use uuid::Uuid;

use crate::axis::Axis;
use crate::studio::PointView;
use crate::ui::format;
use crate::url_state::{Across, Percentile};
use crate::words;

pub use knots::Knot;
pub use labels::{Label, labels, rows_at_an_edge};
use marks::{ceiling_mark, limit, line, offered_rates};
pub use wording::level_words;
use wording::{Notes, across_title, title, upward_title};

/// What the vertical axis shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Upward {
    /// A latency at a percentile.
    Latency(Metric, Percentile),
    /// Share of requests that were good, in percent.
    Attainment,
    /// Tokens of good requests per second.
    Goodput,
}

/// The axes of a chart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axes {
    /// Vertical.
    pub upward: Upward,
    /// Horizontal.
    pub across: Across,
    /// Both logarithmic.
    pub log: bool,
}

impl Axes {
    /// The percentile of whatever is shown as one.
    fn percentile(self) -> Percentile {
        match self.upward {
            Upward::Latency(_, percentile) => percentile,
            Upward::Attainment | Upward::Goodput => Percentile::P50,
        }
    }
}

/// One configuration, as a chart takes it.
#[derive(Clone, Debug)]
pub struct Series<'a> {
    /// Its name on the page.
    pub name: &'a str,
    /// Its place in the order of colours.
    pub colour: usize,
    /// Its points; those without numbers are left out.
    pub points: Vec<&'a PointView>,
    /// Its ceiling by attainment.
    pub ceiling: Option<Ceiling>,
    /// How many GPUs it has, where its hardware says so.
    pub gpus: Option<u32>,
}

/// Where a mark stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At its value.
    Value,
    /// At the top: it has a direction and no value.
    Above,
    /// At the top: failures make its percentile infinite.
    Infinite,
    /// At the right edge: everything at once is another experiment.
    RightEdge,
}

/// How a mark is filled: what its certificate says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// clean
    Solid,
    /// suspect
    Half,
    /// void
    Hollow,
}

/// One point in the picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// The point.
    pub id: Uuid,
    /// Its level.
    pub level: Level,
    /// Horizontal value; at the right edge, the edge.
    pub x: f64,
    /// Vertical value; above and infinite, the top.
    pub y: f64,
    /// Lower end of the vertical value's interval.
    pub lo: Option<f64>,
    /// Upper end of it.
    pub hi: Option<f64>,
    /// Where it stands.
    pub place: Place,
    /// How it is filled.
    pub fill: Fill,
    /// One line for a hover.
    pub hover: String,
}

impl Mark {
    /// The sign that stands for it where it has no value of its own, or is no part of the curve.
    pub fn glyph(&self) -> Option<&'static str> {
        match (self.place, self.fill) {
            (Place::Value, _) => None,
            (Place::Above, Fill::Hollow) => Some("⇡"),
            (Place::Above, _) => Some("↑"),
            (Place::Infinite, _) => Some("∞"),
            (Place::RightEdge, Fill::Hollow) => Some("◇"),
            (Place::RightEdge, _) => Some("◆"),
        }
    }

    /// Whether the curve runs through it.
    pub fn is_joined(&self) -> bool {
        self.place == Place::Value && self.fill != Fill::Hollow
    }
}

/// Where a curve breaks the SLO, on the horizontal axis.
#[derive(Clone, Debug, PartialEq)]
pub struct CeilingMark {
    /// The value, where there is one to mark.
    pub at: Option<f64>,
    /// The interval; open ends reach the edge.
    pub from: f64,
    /// See `from`.
    pub to: f64,
    /// In words.
    pub text: String,
    /// In as few words as stand beside it.
    pub label: String,
    /// The configuration's place in the order of colours.
    pub colour: usize,
}

/// One configuration's curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The configuration's name.
    pub name: String,
    /// Its place in the order of colours.
    pub colour: usize,
    /// Its marks, by rising load; the joined ones make the curve.
    pub marks: Vec<Mark>,
}

/// A horizontal line: what was promised.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// On the vertical axis.
    pub value: f64,
    /// In words.
    pub text: String,
}

/// What lies over the curves and follows the SLO: drawn anew while its line is dragged, when the curves stay as they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Over {
    /// What was promised, where the axis shows a promised metric.
    pub limit: Option<Limit>,
    /// Where each curve breaks the SLO, in the order of the configurations; those that do not are left out.
    pub ceilings: Vec<CeilingMark>,
}

/// A chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// What it shows, in words.
    pub title: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// The curves, in the order of the configurations.
    pub lines: Vec<Line>,
    /// What lies over the curves.
    pub over: Over,
    /// What a reader must know to read it.
    pub notes: Vec<String>,
}

impl Chart {
    /// The same, of a part of the horizontal axis, and of the vertical one.
    pub fn zoomed(self, part: Option<(f64, f64)>, up: Option<(f64, f64)>) -> Self {
        self.zoomed_across(part).zoomed_up(up)
    }

    fn zoomed_up(mut self, part: Option<(f64, f64)>) -> Self {
        let Some((lo, hi)) = part else { return self };
        let lo = if self.y.log && lo <= 0.0 {
            self.y.bottom()
        } else {
            lo
        };
        if hi <= lo {
            return self;
        }
        let marks = self.lines.iter_mut().flat_map(|line| &mut line.marks);
        let above = marks.filter(|it| matches!(it.place, Place::Above | Place::Infinite));
        above.for_each(|it| it.y = hi);
        self.y = self.y.zoomed(lo, hi);
        self
    }

    fn zoomed_across(mut self, part: Option<(f64, f64)>) -> Self {
        let Some((lo, hi)) = part else { return self };
        // A logarithmic axis has no zero.
        let lo = if self.x.log && lo <= 0.0 {
            self.x.bottom()
        } else {
            lo
        };
        if hi <= lo {
            return self;
        }
        for line in &mut self.lines {
            let edge = line
                .marks
                .iter_mut()
                .filter(|it| it.place == Place::RightEdge);
            edge.for_each(|it| it.x = hi);
        }
        self.x = self.x.zoomed(lo, hi);
        self.over = std::mem::take(&mut self.over).within(&self.x);
        self
    }

    /// Whether there is anything to see.
    pub fn is_empty(&self) -> bool {
        self.lines.iter().all(|line| line.marks.is_empty())
    }
}

impl Over {
    /// The same, as far as it lies on this part of the horizontal axis.
    pub fn within(self, x: &Axis) -> Self {
        let ceilings = self.ceilings.into_iter();
        let within = |it| within(it, x.bottom(), x.top());
        Self {
            ceilings: ceilings.filter_map(within).collect(),
            ..self
        }
    }
}

/// A ceiling as far as it lies in a part of the axis.
fn within(mark: CeilingMark, lo: f64, hi: f64) -> Option<CeilingMark> {
    (mark.from <= hi && lo <= mark.to).then(|| CeilingMark {
        at: mark.at.filter(|at| (lo..=hi).contains(at)),
        from: mark.from.max(lo),
        to: mark.to.min(hi),
        ..mark
    })
}

/// What a chart is made by, beside its points.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    /// The SLO in force: it draws the line.
    pub slo: &'a Slo,
    /// The study's own SLO: it sets the range, so that a dragged line does not drag its axis along.
    pub home: &'a Slo,
    /// The axes.
    pub axes: Axes,
    /// What rates count.
    pub unit: &'a str,
}

/// Makes the chart.
pub fn chart(series: &[Series<'_>], rules: Rules<'_>) -> Chart {
    let Rules {
        slo,
        home,
        axes,
        unit,
    } = rules;
    let home = limit(home, axes.upward);
    let mut notes = Notes::default();
    let mut lines: Vec<Line> = series
        .iter()
        .map(|series| line(series, axes, unit, &mut notes))
        .collect();
    let top = home.map(|limit| limit.value);
    // No SLO makes more tokens good than there were: the axis stays where it is while the SLO is dragged.
    let most = axes.upward == Upward::Goodput;
    let tokens = series
        .iter()
        .flat_map(|series| &series.points)
        .filter_map(|point| point.summary.as_ref()?.output_tokens_per_s)
        .filter(|_| most);
    let y = Axis::over(
        upward_title(axes.upward),
        values(&lines, |mark| mark.y).chain(top).chain(tokens),
        axes.log,
    );
    let y = match limit(slo, axes.upward) {
        _ if axes.upward == Upward::Attainment => y.up_to(100.0),
        Some(limit) => y.reaching(limit.value),
        None => y,
    };
    // A ceiling lies at a rate that was offered, whatever its mark's value.
    let offered = if axes.across == Across::Offered {
        offered_rates(series)
    } else {
        Vec::new()
    };
    let x = Axis::over(
        across_title(axes, unit),
        values(&lines, |mark| mark.x).chain(offered),
        axes.log,
    );
    for line in &mut lines {
        settle(line, &x, &y);
    }
    Chart {
        title: title(axes, unit),
        over: over(series, rules, &x),
        x,
        y,
        lines,
        notes: notes.sentences(axes),
    }
}

/// What lies over the curves of these configurations under an SLO, on this horizontal axis.
pub fn over(series: &[Series<'_>], rules: Rules<'_>, x: &Axis) -> Over {
    let Rules {
        slo, axes, unit, ..
    } = rules;
    let ceiling = |series: &Series<'_>| ceiling_mark(&series.ceiling?, series, axes, x, unit);
    Over {
        limit: limit(slo, axes.upward),
        ceilings: series.iter().filter_map(ceiling).collect(),
    }
}

/// Values that the axes must hold: those of marks that stand at their value.
fn values(lines: &[Line], of: impl Fn(&Mark) -> f64) -> impl Iterator<Item = f64> {
    lines
        .iter()
        .flat_map(|line| &line.marks)
        .filter(|mark| mark.place == Place::Value)
        .map(of)
}

/// Puts marks without a value of their own at the edge that says so, and cuts what lies outside.
fn settle(line: &mut Line, x: &Axis, y: &Axis) {
    for mark in &mut line.marks {
        match mark.place {
            Place::Value => {}
            Place::Above | Place::Infinite => mark.y = y.top(),
            Place::RightEdge => mark.x = x.top(),
        }
        mark.x = mark.x.clamp(x.bottom(), x.top());
        mark.y = mark.y.clamp(y.bottom(), y.top());
    }
}

#[cfg(test)]
mod tests;
