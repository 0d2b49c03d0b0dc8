//! The parts of plotly's figure that a chart here needs, by plotly's own names.
//!
//! The crate's traces, axes and layout have hundreds of fields, each with its code in the browser; of what may stand in the
//! fields here, the words are the crate's. Tests hold both against each other.

use plotly::common::{Anchor, DashType, Fill, HoverInfo, Mode, Position};
use plotly::layout::{AxisType, DragMode, HoverMode};
use serde::Serialize;

use crate::chart::Mark;

/// All around the traces.
#[derive(Serialize)]
pub struct Layout {
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
    /// The configuration's place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub legendgroup: Option<String>,
    /// How hard the engine was driven, point by point.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub customdata: Option<Vec<f64>>,
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
    pub hovertext: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hoverinfo: Option<HoverInfo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marker: Option<Marker>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<Stroke>,
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
            legendgroup: None,
            customdata: None,
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

/// How letters look.
#[derive(Serialize)]
pub struct Font {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    pub size: usize,
    pub color: String,
}

impl Font {
    /// Letters of the page's family.
    pub fn new(size: usize, color: &str) -> Self {
        Self {
            family: None,
            size,
            color: color.to_owned(),
        }
    }
}

/// How a line looks.
#[derive(Default, Serialize)]
pub struct Stroke {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
    pub width: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dash: Option<DashType>,
}

/// An axis's name.
#[derive(Serialize)]
pub struct Title {
    pub text: String,
    pub font: Font,
}

/// Room around the plot.
#[derive(Serialize)]
pub struct Margin {
    pub l: usize,
    pub r: usize,
    pub t: usize,
    pub b: usize,
    pub autoexpand: bool,
}

/// Words within the plot.
#[derive(Serialize)]
pub struct Annotation {
    pub text: String,
    pub x: f64,
    pub y: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xref: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub yref: Option<&'static str>,
    pub xanchor: Anchor,
    pub yanchor: Anchor,
    pub xshift: f64,
    pub yshift: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub borderpad: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bgcolor: Option<String>,
    pub showarrow: bool,
    pub font: Font,
}

/// A point's sign.
#[derive(Serialize)]
pub struct Marker {
    pub symbol: &'static str,
    pub size: usize,
    pub color: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, to_value};

    #[track_caller]
    fn check(ours: impl Serialize, of_the_crate: impl Serialize) {
        let json = |value: Result<Value, _>| value.expect("json");
        assert_eq!(json(to_value(ours)), json(to_value(of_the_crate)));
    }

    #[test]
    fn fields_are_named_as_the_crate_names_them() {
        use plotly::{common, layout};
        let font = || Font {
            family: Some("serif".into()),
            ..Font::new(12, "red")
        };
        let its_font = || common::Font::new().family("serif").size(12).color("red");
        check(font(), its_font());
        check(
            Title {
                text: "a".into(),
                font: font(),
            },
            common::Title::with_text("a").font(its_font()),
        );
        let stroke = || Stroke {
            color: Some("blue".into()),
            width: 1.5,
            dash: Some(DashType::DashDot),
        };
        check(
            stroke(),
            common::Line::new()
                .color("blue")
                .width(1.5)
                .dash(DashType::DashDot),
        );
        check(
            Margin {
                l: 1,
                r: 2,
                t: 3,
                b: 4,
                autoexpand: false,
            },
            layout::Margin::new()
                .left(1)
                .right(2)
                .top(3)
                .bottom(4)
                .auto_expand(false),
        );
    }

    #[test]
    fn words_are_named_as_the_crate_names_them() {
        use plotly::{common, layout};
        check(
            Annotation {
                text: "a".into(),
                x: 1.0,
                y: 2.0,
                xref: Some("paper"),
                yref: Some("paper"),
                xanchor: Anchor::Left,
                yanchor: Anchor::Bottom,
                xshift: 3.0,
                yshift: 4.0,
                borderpad: Some(0.0),
                bgcolor: Some("white".into()),
                showarrow: false,
                font: Font::new(12, "red"),
            },
            layout::Annotation::new()
                .text("a")
                .x(1.0)
                .y(2.0)
                .x_ref("paper")
                .y_ref("paper")
                .x_anchor(Anchor::Left)
                .y_anchor(Anchor::Bottom)
                .x_shift(3.0)
                .y_shift(4.0)
                .border_pad(0.0)
                .background_color("white")
                .show_arrow(false)
                .font(common::Font::new().size(12).color("red")),
        );
    }
}
