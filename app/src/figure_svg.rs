//! The picture of a [`Chart`] that needs no script: what the server sends, and what lies over the curves wherever they are drawn.
//!
//! Places are percentages, so the picture fits any width without its letters shrinking. Its colours are the page's own
//! custom properties, so it follows the theme.

mod beside; // words beside ceilings

use std::fmt::Write;

use beside::Beside;

use crate::axis::Axis;
use crate::chart::{CeilingMark, Chart, Fill, Knot, Line, Mark, Over, Place, labels};

/// Okabe and Ito's colours in the order of the configurations, for where the page does not say.
pub const SERIES: [&str; 8] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b97f00", "#2e93cc", "#9a8d00", "#17171c",
];

/// A configuration's colour as the page's style sheet names it.
pub fn series_colour(index: usize) -> String {
    format!("var(--series-{})", index % SERIES.len() + 1)
}

/// How lines differ where colours do not. Colours come again after eight, with other dashes.
pub fn dash(index: usize) -> &'static str {
    ["", "8 5", "8 4 2 4", "2 4"][(index + index / SERIES.len()) % 4]
}

/// The picture, filling the element it stands in. The room for axis labels lies outside of it. A small one names its lines
/// only where there are few.
pub fn picture(chart: &Chart, large: bool) -> String {
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="100%" height="100%" overflow="visible" role="img" aria-label="{}" font-size="12">"#,
        escaped(&chart.title)
    );
    grid(&mut svg, chart);
    curves(&mut svg, chart);
    for line in &chart.lines {
        let seen = line.marks.iter().filter(|it| is_seen(chart, it.x, it.y));
        seen.for_each(|one| mark(&mut svg, chart, line, one));
    }
    if are_named(chart, large) {
        names(&mut svg, chart);
    }
    svg.push_str("</svg>");
    svg
}

/// Whether its lines have their names beside them.
fn are_named(chart: &Chart, large: bool) -> bool {
    large || chart.lines.len() <= FEW
}

/// The picture with what lies over its curves.
pub fn whole(chart: &Chart) -> String {
    let mut svg = picture(chart, true);
    svg.truncate(svg.len() - "</svg>".len());
    svg + &over(&chart.over, chart, true) + "</svg>"
}

/// Whether a place lies on the part of the axes that is shown.
fn is_seen(chart: &Chart, x: f64, y: f64) -> bool {
    let on = |axis: &Axis, value| (-0.001..=1.001).contains(&axis.fraction(value));
    on(&chart.x, x) && on(&chart.y, y)
}

/// Writing to a string cannot fail.
fn put(svg: &mut String, piece: std::fmt::Arguments<'_>) {
    let _ = svg.write_fmt(piece);
}

fn across(chart: &Chart, x: f64) -> f64 {
    along(&chart.x, x)
}

/// Percent from the left.
fn along(axis: &Axis, x: f64) -> f64 {
    rounded(axis.fraction(x) * 100.0)
}

fn down(chart: &Chart, y: f64) -> f64 {
    rounded((1.0 - chart.y.fraction(y)) * 100.0)
}

fn rounded(percent: f64) -> f64 {
    (percent * 100.0).round() / 100.0
}

fn grid(svg: &mut String, chart: &Chart) {
    for (value, label) in chart.y.ticks() {
        let y = down(chart, value);
        put(
            svg,
            format_args!(
                r#"<line x1="0" x2="100%" y1="{y}%" y2="{y}%" style="stroke:var(--line)"/>"#
            ),
        );
        put(
            svg,
            format_args!(
                r#"<text x="0" y="{y}%" dx="-8" dy="4" text-anchor="end" style="fill:var(--muted)">{label}</text>"#
            ),
        );
    }
    for (value, label) in chart.x.ticks() {
        let x = across(chart, value);
        put(
            svg,
            format_args!(
                r#"<line x1="{x}%" x2="{x}%" y1="0" y2="100%" style="stroke:var(--line)"/>"#
            ),
        );
        put(
            svg,
            format_args!(
                r#"<text x="{x}%" y="100%" dy="18" text-anchor="middle" style="fill:var(--muted)">{label}</text>"#
            ),
        );
    }
    let (x, y) = (escaped(&chart.x.title), escaped(&chart.y.title));
    put(
        svg,
        format_args!(
            r#"<text x="50%" y="100%" dy="40" text-anchor="middle" style="fill:var(--muted)">{x}</text>"#
        ),
    );
    put(
        svg,
        format_args!(r#"<text x="0" y="0" dx="-52" dy="-10" style="fill:var(--muted)">{y}</text>"#),
    );
}

/// Bands and lines, in a picture of their own that stretches while its strokes do not.
fn curves(svg: &mut String, chart: &Chart) {
    svg.push_str(
        r#"<svg width="100%" height="100%" viewBox="0 0 100 100" preserveAspectRatio="none">"#,
    );
    for line in &chart.lines {
        let colour = series_colour(line.colour);
        let knots = line.knots();
        let up = |knot: &Knot| (knot.x, knot.hi.unwrap_or(knot.y));
        let low = |knot: &Knot| (knot.x, knot.lo.unwrap_or(knot.y));
        let around = knots.iter().map(up).chain(knots.iter().rev().map(low));
        let band = corners(chart, around);
        let path = corners(chart, knots.iter().map(|knot| (knot.x, knot.y)));
        let dash = dash(line.colour);
        put(
            svg,
            format_args!(r#"<polygon points="{band}" style="fill:{colour};opacity:.15"/>"#),
        );
        put(
            svg,
            format_args!(
                r#"<polyline points="{path}" vector-effect="non-scaling-stroke" style="fill:none;stroke:{colour};stroke-width:2" stroke-dasharray="{dash}"/>"#
            ),
        );
    }
    svg.push_str("</svg>");
}

fn corners(chart: &Chart, points: impl Iterator<Item = (f64, f64)>) -> String {
    points
        .map(|(x, y)| format!("{},{}", across(chart, x), down(chart, y)))
        .collect::<Vec<_>>()
        .join(" ")
}

/// What lies over the curves, filling the element it stands in: the promise as a dashed line, what lies beyond it dimmed, and
/// the ceilings, in a large picture with their values, away from the names of the chart's lines. The promise's value stands at the
/// line's handle.
pub fn over(over: &Over, chart: &Chart, large: bool) -> String {
    let (x, y) = (&chart.x, &chart.y);
    let mut svg =
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="100%" height="100%" font-size="11">"#
            .to_owned();
    let base = over.limit.as_ref().map(|limit| y.fraction(limit.value));
    if let Some(base) = base {
        promise(&mut svg, rounded((1.0 - base) * 100.0).clamp(0.0, 100.0));
    }
    let count = over.ceilings.len();
    let are_worded = large && count <= FEW_WORDS;
    // Where no value is written, nothing need keep off the names.
    let names = if are_worded {
        labels(chart)
    } else {
        Vec::new()
    };
    let mut words = Beside::new(base, chart, &names);
    let crowded = if large { CROWDED } else { FEW } < count;
    for (index, mark) in over.ceilings.iter().enumerate() {
        let height = ceiling_height(base.unwrap_or(0.03), index, count);
        if crowded {
            tick(&mut svg, x, mark);
            continue;
        }
        ceiling(&mut svg, x, height, mark);
        if are_worded {
            words.put(&mut svg, x, height, mark);
        }
    }
    svg.push_str("</svg>");
    svg
}

/// More ceilings than this would hide what they lie over: each is a tick on the axis then.
const CROWDED: usize = 12;
/// Beside so many ceilings there is room for their values.
const FEW_WORDS: usize = 6;
/// So many lines have room for words in a small picture.
const FEW: usize = 3;

/// The height of a ceiling's bar as a fraction of the axis: below the promise, or above it where there is no room. Bars cover
/// neither the promise nor each other.
fn ceiling_height(base: f64, index: usize, count: usize) -> f64 {
    let steps = (count + 1) as f64;
    let apart = (0.6 / steps).min(0.045);
    let way = if apart * steps < base { -1.0 } else { 1.0 };
    base + way * apart * (index + 1) as f64
}

/// Heights of a ceiling's bar as fractions of the axis: lower end, middle, upper end.
pub fn ceiling_heights(chart: &Chart, index: usize) -> [f64; 3] {
    let base = chart.over.limit.as_ref();
    let base = base.map_or(0.03, |limit| chart.y.fraction(limit.value));
    let middle = ceiling_height(base, index, chart.over.ceilings.len());
    [middle - 0.012, middle, middle + 0.012]
}

fn promise(svg: &mut String, y: f64) {
    put(
        svg,
        format_args!(
            r#"<rect width="100%" height="{y}%" style="fill:var(--bg);opacity:.45"/><line x1="0" x2="100%" y1="{y}%" y2="{y}%" stroke-dasharray="6 4" style="stroke:var(--accent);stroke-width:1.5"/>"#
        ),
    );
}

/// The ceiling: its interval as a bar with ends, its value as an upright down to the axis.
fn ceiling(svg: &mut String, axis: &Axis, height: f64, mark: &CeilingMark) {
    let [low, middle, high] =
        [height - 0.012, height, height + 0.012].map(|it| rounded((1.0 - it) * 100.0));
    let colour = series_colour(mark.colour);
    let (from, to) = (along(axis, mark.from), along(axis, mark.to));
    put(
        svg,
        format_args!(
            r#"<g class="ceiling" style="stroke:{colour};stroke-width:2"><title>{}</title><line x1="{from}%" x2="{to}%" y1="{middle}%" y2="{middle}%"/>"#,
            escaped(&mark.text)
        ),
    );
    for end in [from, to] {
        put(
            svg,
            format_args!(r#"<line x1="{end}%" x2="{end}%" y1="{low}%" y2="{high}%"/>"#),
        );
    }
    if let Some(at) = mark.at {
        let at = along(axis, at);
        put(
            svg,
            format_args!(r#"<line x1="{at}%" x2="{at}%" y1="{middle}%" y2="100%"/>"#),
        );
    }
    svg.push_str("</g>");
}

/// The ceiling's value on the axis; the legend has its interval.
fn tick(svg: &mut String, axis: &Axis, mark: &CeilingMark) {
    let Some(at) = mark.at else { return };
    let (at, colour) = (along(axis, at), series_colour(mark.colour));
    put(
        svg,
        format_args!(
            r#"<g class="ceiling" style="stroke:{colour};stroke-width:2"><title>{}</title><line x1="{at}%" x2="{at}%" y1="95%" y2="100%"/></g>"#,
            escaped(&mark.text)
        ),
    );
}

fn mark(svg: &mut String, chart: &Chart, line: &Line, mark: &Mark) {
    let (x, y) = (across(chart, mark.x), down(chart, mark.y));
    let colour = series_colour(line.colour);
    put(
        svg,
        format_args!(
            r#"<svg x="{x}%" y="{y}%" overflow="visible" data-point="{}" data-line="{}"><title>{}: {}</title>"#,
            mark.id,
            line.colour,
            escaped(&line.name),
            escaped(&mark.hover)
        ),
    );
    match mark.glyph() {
        None => {
            let inside = if mark.fill == Fill::Solid {
                &colour
            } else {
                "var(--bg)"
            };
            put(
                svg,
                format_args!(
                    r#"<circle r="4.5" style="fill:{inside};stroke:{colour};stroke-width:1.5"/>"#
                ),
            );
            if mark.fill == Fill::Half {
                put(
                    svg,
                    format_args!(
                        r#"<path d="M0-4.5A4.5 4.5 0 0 1 0 4.5Z" style="fill:{colour}"/>"#
                    ),
                );
            }
        }
        Some(glyph) => {
            let shift = if mark.place == Place::RightEdge {
                5
            } else {
                14
            };
            put(
                svg,
                format_args!(
                    r#"<text text-anchor="middle" dy="{shift}" font-size="16" style="fill:{colour}">{glyph}</text>"#
                ),
            );
        }
    }
    svg.push_str("</svg>");
}

/// The names of the lines, each with a rim of the ground's colour, so that it can be read over what lies behind it.
fn names(svg: &mut String, chart: &Chart) {
    let all = labels(chart).into_iter();
    for label in all.filter(|it| is_seen(chart, it.end.x, it.end.y)) {
        let (x, y) = (across(chart, label.end.x), down(chart, label.end.y));
        let (colour, name) = (series_colour(label.line.colour), escaped(&label.name()));
        let shift = 4 - label.rise;
        let (away, anchor) = if label.begins {
            (8, "start")
        } else {
            (-8, "end")
        };
        put(
            svg,
            format_args!(
                r#"<text x="{x}%" y="{y}%" dx="{away}" dy="{shift}" text-anchor="{anchor}" style="fill:{colour};paint-order:stroke;stroke:var(--bg);stroke-width:4px">{name}</text>"#
            ),
        );
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::pages::main_chart;
    use crate::url_state::ViewState;

    #[test]
    fn the_picture_has_every_point_and_both_names() {
        let mut study = fixture::study();
        study.configurations[0].spec.name = "a < b".into();
        let svg = picture(
            &main_chart(&study, &study.spec.slo, &ViewState::default()),
            true,
        );
        assert_eq!(
            svg.matches("<circle").count(),
            6,
            "three rates of two configurations"
        );
        assert_eq!(svg.matches('◆').count(), 2, "everything at once, of both");
        assert!(svg.contains("a &lt; b") && !svg.contains("a < b"));
        assert_eq!(svg.matches("<svg").count(), svg.matches("</svg>").count());
    }

    #[test]
    fn a_study_as_a_picture() {
        let study = fixture::study();
        let chart = main_chart(&study, &study.spec.slo, &ViewState::default());
        let both = picture(&chart, true) + &over(&chart.over, &chart, true);
        insta::assert_snapshot!(both.replace("><", ">\n<"));
    }

    #[test]
    fn ceilings_stay_within_the_plot_however_many_there_are() {
        for count in [1, 10, 50] {
            for base in [0.02, 0.2, 0.5, 0.98] {
                for index in 0..count {
                    let height = ceiling_height(base, index, count);
                    // From low down they rise.
                    assert!(
                        0.0 < height && height < 1.15,
                        "{count} {base} {index}: {height}"
                    );
                }
            }
        }
    }
}
