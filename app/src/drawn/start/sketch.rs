//! A study's curves as small as they stand on its card: the same lines, colours and promise as on its page.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::axis::Axis;
use crate::chart::{CeilingMark, Chart, Line};
use crate::figure_svg::series_colour;
use crate::pages::main_chart;
use crate::studio::StudyView;
use crate::ui::html::{Html, html};
use crate::url_state::ViewState;

/// Width and height of the picture in its own unit.
const SIZE: (f64, f64) = (1000.0, 320.0);
/// Points of a line at most; of longer ones every so many.
const MOST: usize = 40;

/// Curves, ready to be drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sketch {
    /// What it shows, in words.
    title: String,
    lines: Vec<SketchLine>,
    /// Height of what was promised.
    limit: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SketchLine {
    /// Its place in the order of colours.
    colour: u8,
    points: Vec<(u16, u16)>,
    /// Where its ceiling lies.
    ceiling: Option<u16>,
}

/// A study's curves: the metric that was promised first over output tokens.
pub fn sketch(study: &StudyView) -> Sketch {
    let promised = study.spec.slo.bounds.first();
    let state = ViewState {
        metric: promised.map_or(ViewState::default().metric, |bound| bound.metric),
        ..ViewState::default()
    };
    let chart = main_chart(study, &study.spec.slo, &state);
    let lines = chart.lines.iter().map(|it| line(&chart, it));
    let lines: Vec<SketchLine> = lines.filter(|it| !it.points.is_empty()).collect();
    if lines.is_empty() {
        return Sketch::default();
    }
    let limit = chart.over.limit.as_ref();
    Sketch {
        lines,
        limit: limit.map(|it| down(&chart.y, it.value)),
        title: chart.title,
    }
}

fn line(chart: &Chart, line: &Line) -> SketchLine {
    let knots = line.knots();
    let every = knots.len().div_ceil(MOST).max(1);
    let points = knots.iter().step_by(every);
    let points = points.map(|knot| (across(&chart.x, knot.x), down(&chart.y, knot.y)));
    let of = |it: &&CeilingMark| it.colour == line.colour;
    let ceiling = chart.over.ceilings.iter().find(of).and_then(|it| it.at);
    SketchLine {
        colour: (line.colour % 8) as u8,
        points: points.collect(),
        ceiling: ceiling.map(|at| across(&chart.x, at)),
    }
}

fn across(axis: &Axis, value: f64) -> u16 {
    (axis.fraction(value).clamp(0.0, 1.0) * SIZE.0).round() as u16
}

fn down(axis: &Axis, value: f64) -> u16 {
    ((1.0 - axis.fraction(value).clamp(0.0, 1.0)) * SIZE.1).round() as u16
}

/// The picture; nothing where there is no curve yet.
pub fn draw(sketch: &Sketch) -> Option<Html> {
    if sketch.lines.is_empty() {
        return None;
    }
    let limit = sketch
        .limit
        .map(|y| html!(r#"<path class="promise" d="M0 {}H1000"/>"#, u32::from(y)));
    let lines: Html = sketch.lines.iter().map(draw_line).collect();
    Some(html!(
        r#"<svg class="sketch" viewBox="-12 -12 1024 344" preserveAspectRatio="none" role="img" aria-label="{}">{}{}</svg>"#,
        sketch.title,
        limit,
        lines
    ))
}

fn draw_line(line: &SketchLine) -> Html {
    let mut path = String::new();
    for (index, (x, y)) in line.points.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(path, "{}{x} {y}", if index == 0 { 'M' } else { 'L' });
    }
    let alone = line.points.len() == 1;
    if alone {
        path.push_str("h1");
    }
    let colour = series_colour(usize::from(line.colour));
    let dash = ["", "8 5", "8 4 2 4", "2 4"][usize::from(line.colour % 4)];
    let dash = if alone { "" } else { dash };
    let ceiling = line.ceiling.map(|x| {
        html!(
            r#"<path class="ceiling" d="M{} 270V320" style="stroke:{}"/>"#,
            u32::from(x),
            colour
        )
    });
    html!(
        r#"<path d="{}" style="stroke:{}" stroke-dasharray="{}"{}/>{}"#,
        path,
        colour,
        dash,
        alone.then(|| Html::literal(r#" class="alone""#)),
        ceiling
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn a_card_has_a_line_a_configuration_and_the_promise() {
        let sketch = sketch(&fixture::study());
        let kept = serde_json::to_string(&sketch).expect("JSON");
        let read: Sketch = serde_json::from_str(&kept).expect("the same");
        assert_eq!(read, sketch);
        let svg = draw(&sketch).expect("a picture").into_string();
        assert_eq!(svg.matches("<path d=").count(), 2, "{svg}");
        assert!(svg.contains("var(--series-1)") && svg.contains("var(--series-2)"));
        assert!(svg.contains("promise"), "{svg}");
    }

    #[test]
    fn nothing_measured_is_no_picture() {
        let mut study = fixture::study();
        study.points.clear();
        assert_eq!(draw(&sketch(&study)), None);
    }
}
