//! The parts of plotly's figure that a chart here needs, by plotly's own names.
//!
//! The crate's traces, axes and layout have hundreds of fields, each with its code in the browser; what stands in the
//! fields here is the crate's.

use plotly::common::{Fill, Font, HoverInfo, Line, Mode, Position, Title};
use plotly::layout::{Annotation, AxisType, DragMode, HoverMode, Margin, Shape};
use serde::{Serialize, Serializer};

use crate::chart::Mark;

/// All around the traces.
#[derive(Serialize)]
pub struct Layout {
    /// What a person zoomed into stays until the axes change their meaning.
    pub uirevision: String,
    pub margin: Margin,
    pub paper_bgcolor: &'static str,
    pub plot_bgcolor: &'static str,
    pub font: Font,
    pub showlegend: bool,
    pub hovermode: HoverMode,
    pub dragmode: DragMode,
    pub xaxis: PlotlyAxis,
    pub yaxis: PlotlyAxis,
    pub annotations: Vec<Annotation>,
    pub shapes: Vec<Shape>,
}

/// An axis.
#[derive(Serialize)]
pub struct PlotlyAxis {
    #[serde(rename = "type")]
    pub kind: AxisType,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Title>,
    pub range: [f64; 2],
    pub gridcolor: String,
    pub zeroline: bool,
    pub automargin: bool,
    pub tickfont: Font,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tickvals: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ticktext: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tickformat: Option<&'static str>,
}

/// A trace of kind `scatter`.
#[derive(Serialize)]
pub struct Trace {
    #[serde(rename = "type")]
    pub kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub showlegend: bool,
    pub mode: Mode,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ids: Option<Vec<String>>,
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<Vec<&'static str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub textposition: Option<Vec<Position>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub textfont: Option<Font>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hovertext: Option<Hover>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hoverinfo: Option<HoverInfo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marker: Option<Marker>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<Line>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fill: Option<Fill>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fillcolor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cliponaxis: Option<bool>,
}

impl Trace {
    /// A trace of these points and nothing else.
    pub fn new(mode: Mode, x: Vec<f64>, y: Vec<f64>) -> Self {
        Self {
            kind: "scatter",
            name: None,
            showlegend: false,
            mode,
            ids: None,
            x,
            y,
            text: None,
            textposition: None,
            textfont: None,
            hovertext: None,
            hoverinfo: None,
            marker: None,
            line: None,
            fill: None,
            fillcolor: None,
            cliponaxis: None,
        }
    }

    /// A trace through marks.
    pub fn of(mode: Mode, marks: &[&Mark]) -> Self {
        let (x, y) = marks.iter().map(|mark| (mark.x, mark.y)).unzip();
        Self::new(mode, x, y)
    }
}

/// What is said under the pointer: the same everywhere, or of each point its own.
pub enum Hover {
    One(String),
    Each(Vec<String>),
}

impl Serialize for Hover {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(text) => text.serialize(serializer),
            Self::Each(texts) => texts.serialize(serializer),
        }
    }
}

/// A point's sign.
#[derive(Serialize)]
pub struct Marker {
    pub symbol: &'static str,
    pub size: usize,
    pub color: String,
}
