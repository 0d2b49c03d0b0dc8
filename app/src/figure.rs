//! Plotly's figure of a [`Chart`]: typed by the `plotly` crate, handed over as JSON. What follows the SLO is not in it
//! ([`crate::figure_svg::over`]).

mod palette; // colours and type of the page
mod parts; // the parts of plotly's figure that a chart here needs

use plotly::common::{Anchor, DashType, Fill as Filled, HoverInfo, Mode, Position};
use plotly::layout::{AxisType, DragMode, HoverMode};

pub use palette::Palette;
use palette::translucent;
use parts::{Annotation, Font, Layout, Margin, Marker, PlotlyAxis, Stroke, Title, Trace};

use crate::axis::Axis;
use crate::browser::write_json;
use crate::chart::{Chart, Fill, Knot, Label, Line, Mark, Place, labels};

/// Room around the plot, in pixels: left, top, right, bottom. The style sheet gives the picture the same.
pub const MARGIN: [usize; 4] = [60, 28, 20, 52];

/// What plotly takes, as JSON text: data, layout, configuration.
pub fn figure(chart: &Chart, palette: &Palette) -> String {
    let (data, layout) = (traces(chart, palette).join(","), layout(chart, palette));
    format!(r#"{{"data":[{data}],"layout":{layout},"config":{CONFIGURATION}}}"#)
}

/// No logo, no bar of buttons: drag to zoom, double click to see all again, which the page does itself: it knows all.
const CONFIGURATION: &str = r#"{"displaylogo":false,"displayModeBar":false,"responsive":false,"scrollZoom":false,"doubleClick":false}"#;

fn traces(chart: &Chart, palette: &Palette) -> Vec<String> {
    let bands = chart.lines.iter().filter_map(|line| band(line, palette));
    let curves = chart.lines.iter().flat_map(|line| curve(line, palette));
    bands
        .chain(curves)
        .map(|trace| write_json(&trace))
        .collect()
}

/// The interval around a curve, at 15 %. Where a mark has no upper end the band ends at its value, and its hover says so.
fn band(line: &Line, palette: &Palette) -> Option<Trace> {
    let mut around = line.knots();
    around.retain(|knot| knot.lo.is_some());
    if around.len() < 2 {
        return None;
    }
    let up = |knot: &Knot| (knot.x, knot.hi.unwrap_or(knot.y));
    let down = |knot: &Knot| (knot.x, knot.lo.unwrap_or(knot.y));
    let around = around.iter().map(up).chain(around.iter().rev().map(down));
    let (x, y) = around.unzip();
    let colour = translucent(&palette.of(line.colour), 0.15);
    Some(Trace {
        fill: Some(Filled::ToSelf),
        fillcolor: Some(colour),
        line: Some(Stroke::default()),
        hoverinfo: Some(HoverInfo::Skip),
        ..Trace::new(Mode::Lines, x, y)
    })
}

/// The curve and, of each other kind of mark, one trace.
fn curve(line: &Line, palette: &Palette) -> Vec<Trace> {
    let colour = palette.of(line.colour);
    let knots = line.knots();
    let mut traces = Vec::new();
    if !knots.is_empty() {
        traces.push(path(line, &knots, &colour));
    }
    for (symbol, fill) in SYMBOLS {
        let alike: Vec<&Mark> = line
            .marks
            .iter()
            .filter(|mark| mark.place == Place::Value && mark.fill == fill)
            .collect();
        if !alike.is_empty() {
            traces.push(Trace {
                marker: Some(Marker {
                    symbol,
                    size: 9,
                    color: colour.clone(),
                }),
                ..hovering(Mode::Markers, &alike, line)
            });
        }
    }
    let signs: Vec<&Mark> = line
        .marks
        .iter()
        .filter(|mark| sign(mark).is_some())
        .collect();
    if !signs.is_empty() {
        let glyphs = signs.iter().filter_map(|mark| sign(mark)).collect();
        let places = signs.iter().map(|mark| match mark.place {
            Place::Value | Place::RightEdge => Position::MiddleCenter,
            Place::Above | Place::Infinite => Position::BottomCenter,
        });
        traces.push(Trace {
            text: Some(glyphs),
            textposition: Some(places.collect()),
            textfont: Some(Font::new(16, &colour)),
            ..hovering(Mode::Text, &signs, line)
        });
    }
    traces
}

/// Each kind of mark with its symbol.
const SYMBOLS: [(&str, Fill); 2] = [("circle", Fill::Solid), ("circle-open", Fill::Hollow)];

/// Marks that stand as a letter: those without a value, and half-filled circles, which plotly does not have.
fn sign(mark: &Mark) -> Option<&'static str> {
    mark.glyph().or((mark.fill == Fill::Half).then_some("◐"))
}

/// The line itself.
fn path(line: &Line, knots: &[Knot], colour: &str) -> Trace {
    let (x, y) = knots.iter().map(|knot| (knot.x, knot.y)).unzip();
    let stroke = Stroke {
        color: Some(colour.to_owned()),
        width: 2.0,
        dash: Some(dash(line.colour)),
    };
    Trace {
        line: Some(stroke),
        hoverinfo: Some(HoverInfo::Skip),
        ..Trace::new(Mode::Lines, x, y)
    }
}

/// In place of an infinite load: JSON has none.
const UNBOUND: f64 = 1e9;

/// Marks that say what they are under the pointer, and to whoever steps from one to the next.
fn hovering(mode: Mode, marks: &[&Mark], line: &Line) -> Trace {
    let texts = marks.iter().map(|mark| wrapped(&line.name, &mark.hover));
    Trace {
        name: Some(line.name.clone()),
        legendgroup: Some(line.colour.to_string()),
        customdata: Some(marks.iter().map(|mark| mark.load().min(UNBOUND)).collect()),
        ids: Some(marks.iter().map(|mark| mark.id.to_string()).collect()),
        hovertext: Some(texts.collect()),
        hoverinfo: Some(HoverInfo::Text),
        cliponaxis: Some(false),
        ..Trace::of(mode, marks)
    }
}

/// A hover's line, broken where its parts end.
fn wrapped(name: &str, hover: &str) -> String {
    let parts: Vec<String> = hover.split("; ").map(escaped).collect();
    format!("<b>{}</b><br>{}", escaped(name), parts.join("<br>"))
}

/// Plotly reads some HTML in texts: names are people's, so nothing of theirs may be read as such.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// A second sign beside the colour.
pub fn dash(index: usize) -> DashType {
    match index % 4 {
        0 => DashType::Solid,
        1 => DashType::Dash,
        2 => DashType::DashDot,
        _ => DashType::Dot,
    }
}

fn layout(chart: &Chart, palette: &Palette) -> String {
    let names = labels(chart);
    let names = names.iter().map(|label| name(chart, label, palette));
    write_json(&Layout {
        margin: margin(),
        paper_bgcolor: "rgba(0,0,0,0)",
        plot_bgcolor: "rgba(0,0,0,0)",
        font: Font {
            family: Some(palette.font.clone()),
            ..Font::new(12, &palette.text)
        },
        showlegend: false,
        hovermode: HoverMode::Closest,
        dragmode: DragMode::Zoom,
        xaxis: PlotlyAxis {
            title: Some(Title {
                text: chart.x.title.clone(),
                font: Font::new(12, &palette.muted),
            }),
            ..axis(&chart.x, palette)
        },
        yaxis: axis(&chart.y, palette),
        annotations: [upright_title(chart, palette)]
            .into_iter()
            .chain(names)
            .collect(),
    })
}

fn margin() -> Margin {
    let [l, t, r, b] = MARGIN;
    Margin {
        l,
        r,
        t,
        b,
        autoexpand: false,
    }
}

/// The vertical axis's title, lying above it.
fn upright_title(chart: &Chart, palette: &Palette) -> Annotation {
    Annotation {
        text: chart.y.title.clone(),
        x: 0.0,
        y: 1.0,
        xref: Some("paper"),
        yref: Some("paper"),
        xanchor: Anchor::Left,
        yanchor: Anchor::Bottom,
        xshift: 8.0 - MARGIN[0] as f64,
        yshift: 6.0,
        borderpad: None,
        bgcolor: None,
        showarrow: false,
        font: Font::new(12, &palette.muted),
    }
}

/// A line's name at its end, on a ground of its own, so that it can be read over what lies behind it.
fn name(chart: &Chart, label: &Label<'_>, palette: &Palette) -> Annotation {
    Annotation {
        text: escaped(&label.name()),
        x: scaled(&chart.x, label.end.x),
        y: scaled(&chart.y, label.end.y),
        xref: None,
        yref: None,
        xanchor: if label.begins {
            Anchor::Left
        } else {
            Anchor::Right
        },
        yanchor: Anchor::Middle,
        xshift: if label.begins { 7.0 } else { -7.0 },
        yshift: f64::from(label.rise),
        borderpad: Some(0.0),
        bgcolor: Some(translucent(&palette.surface, 0.7)),
        showarrow: false,
        font: Font::new(12, &palette.of(label.line.colour)),
    }
}

/// A value as plotly's shapes and annotations want it on this axis.
fn scaled(axis: &Axis, value: f64) -> f64 {
    if axis.log { value.log10() } else { value }
}

fn axis(axis: &Axis, palette: &Palette) -> PlotlyAxis {
    let (values, labels): (Vec<f64>, Vec<String>) = axis.ticks().into_iter().unzip();
    let kind = if axis.log {
        AxisType::Log
    } else {
        AxisType::Linear
    };
    PlotlyAxis {
        kind,
        title: None,
        range: [axis.bottom(), axis.top()].map(|end| scaled(axis, end)),
        gridcolor: palette.line.clone(),
        zeroline: false,
        automargin: false,
        tickfont: Font::new(12, &palette.muted),
        tickvals: axis.log.then_some(values),
        ticktext: axis.log.then_some(labels),
        tickformat: (!axis.log).then_some(",~r"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::pages::main_chart;
    use crate::url_state::ViewState;
    use measure::certificate::Innocence;
    use measure::summary::Capacity;
    use serde_json::Value;

    fn palette() -> Palette {
        Palette {
            text: "rgb(23, 23, 28)".into(),
            muted: "rgb(93, 93, 105)".into(),
            line: "rgb(229, 229, 234)".into(),
            accent: "rgb(74, 63, 209)".into(),
            surface: "#ffffff".into(),
            series: crate::figure_svg::SERIES.map(str::to_owned).to_vec(),
            font: "system-ui".into(),
        }
    }

    fn figure_of(study: &crate::studio::StudyView, state: &ViewState) -> Value {
        serde_json::from_str(&figure(
            &main_chart(study, &study.spec.slo, state),
            &palette(),
        ))
        .expect("a figure is JSON")
    }

    #[test]
    fn a_study_as_plotly_gets_it() {
        let mut study = fixture::study();
        study.points[1].certificate = Some(fixture::certificate(Innocence::Suspect));
        study.points[2].summary.as_mut().expect("summary").capacity = Capacity::Above {
            why: "in flight grows".into(),
        };
        study.points[5].certificate = Some(fixture::certificate(Innocence::Void));
        // Whether serde_json keeps the order of keys depends on what else is built beside it.
        insta::with_settings!({sort_maps => true}, {
            insta::assert_json_snapshot!(figure_of(&study, &ViewState::default()));
        });
    }

    #[test]
    fn logarithmic_axes_have_their_range_in_decades() {
        let figure = figure_of(
            &fixture::study(),
            &ViewState {
                log: true,
                ..ViewState::default()
            },
        );
        let axis = &figure["layout"]["xaxis"];
        assert_eq!(axis["type"], "log");
        let end = axis["range"][1].as_f64().expect("range");
        assert!((3.0..4.0).contains(&end), "{end}");
    }

    #[test]
    fn a_hidden_configuration_is_not_drawn_and_the_other_keeps_its_colour() {
        let figure = figure_of(
            &fixture::study(),
            &ViewState {
                hidden: vec![0],
                ..ViewState::default()
            },
        );
        let text = figure["data"].to_string();
        assert!(
            !text.contains("#0072b2") && text.contains("#d55e00"),
            "{text}"
        );
    }

    #[test]
    fn names_are_text_and_never_markup() {
        assert_eq!(
            wrapped("<b>x</b>", "a & b"),
            "<b>&lt;b&gt;x&lt;/b&gt;</b><br>a &amp; b"
        );
    }
}
