//! The picture of a [`Chart`] that needs no script: what the server sends.
//!
//! Places are percentages, so the picture fits any width without its letters shrinking. Its colours are the page's own
//! custom properties, so it follows the theme.

use std::fmt::Write;

use crate::chart::{CeilingMark, Chart, Fill, Label, Line, Mark, Place, labels};
use crate::figure::ceiling_heights;

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

/// The picture, filling the element it stands in. The room for axis labels lies outside of it.
pub fn picture(chart: &Chart) -> String {
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="100%" height="100%" overflow="visible" role="img" aria-label="{}" font-size="12">"#,
        escaped(&chart.title)
    );
    grid(&mut svg, chart);
    curves(&mut svg, chart);
    promise(&mut svg, chart);
    for (index, line) in chart.lines.iter().enumerate() {
        if let Some(mark) = &line.ceiling {
            ceiling(&mut svg, chart, index, line, mark);
        }
        let seen = line.marks.iter().filter(|it| is_seen(chart, it));
        seen.for_each(|one| mark(&mut svg, chart, line, one));
    }
    names(&mut svg, chart);
    svg.push_str("</svg>");
    svg
}

/// Whether a mark lies on the part of the axis that is shown.
fn is_seen(chart: &Chart, mark: &Mark) -> bool {
    (-0.001..=1.001).contains(&chart.x.fraction(mark.x))
}

/// Writing to a string cannot fail.
fn put(svg: &mut String, piece: std::fmt::Arguments<'_>) {
    let _ = svg.write_fmt(piece);
}

fn across(chart: &Chart, x: f64) -> f64 {
    rounded(chart.x.fraction(x) * 100.0)
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
        let joined: Vec<&Mark> = line.joined().collect();
        let up = joined
            .iter()
            .map(|mark| (mark.x, mark.hi.unwrap_or(mark.y)));
        let low = joined
            .iter()
            .rev()
            .map(|mark| (mark.x, mark.lo.unwrap_or(mark.y)));
        let band = corners(chart, up.chain(low));
        let path = corners(chart, joined.iter().map(|mark| (mark.x, mark.y)));
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

/// The promise as a dashed line; what lies beyond it is dimmed. Its value stands at the line's handle.
fn promise(svg: &mut String, chart: &Chart) {
    let Some(limit) = &chart.limit else { return };
    let y = down(chart, limit.value).clamp(0.0, 100.0);
    put(
        svg,
        format_args!(r#"<rect width="100%" height="{y}%" style="fill:var(--bg);opacity:.45"/>"#),
    );
    put(
        svg,
        format_args!(
            r#"<line x1="0" x2="100%" y1="{y}%" y2="{y}%" stroke-dasharray="6 4" style="stroke:var(--accent);stroke-width:1.5"/>"#
        ),
    );
}

fn ceiling(svg: &mut String, chart: &Chart, index: usize, line: &Line, mark: &CeilingMark) {
    let [low, middle, high] =
        ceiling_heights(chart, index).map(|fraction| rounded((1.0 - fraction) * 100.0));
    let colour = series_colour(line.colour);
    let (from, to) = (across(chart, mark.from), across(chart, mark.to));
    put(
        svg,
        format_args!(
            r#"<g style="stroke:{colour};stroke-width:2"><title>{}</title>"#,
            escaped(&mark.text)
        ),
    );
    put(
        svg,
        format_args!(r#"<line x1="{from}%" x2="{to}%" y1="{middle}%" y2="{middle}%"/>"#),
    );
    for end in [from, to] {
        put(
            svg,
            format_args!(r#"<line x1="{end}%" x2="{end}%" y1="{low}%" y2="{high}%"/>"#),
        );
    }
    if let Some(at) = mark.at {
        let at = across(chart, at);
        put(
            svg,
            format_args!(r#"<line x1="{at}%" x2="{at}%" y1="{middle}%" y2="100%"/>"#),
        );
    }
    svg.push_str("</g>");
}

fn mark(svg: &mut String, chart: &Chart, line: &Line, mark: &Mark) {
    let (x, y) = (across(chart, mark.x), down(chart, mark.y));
    let colour = series_colour(line.colour);
    put(
        svg,
        format_args!(
            r#"<svg x="{x}%" y="{y}%" overflow="visible"><title>{}: {}</title>"#,
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
    for Label { line, end, rise } in all.filter(|it| is_seen(chart, it.end)) {
        let (x, y) = (across(chart, end.x), down(chart, end.y));
        let (colour, name) = (series_colour(line.colour), escaped(&line.name));
        let shift = 4 - rise;
        put(
            svg,
            format_args!(
                r#"<text x="{x}%" y="{y}%" dx="-8" dy="{shift}" text-anchor="end" style="fill:{colour};paint-order:stroke;stroke:var(--bg);stroke-width:4px">{name}</text>"#
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
        let svg = picture(&main_chart(&study, &study.spec.slo, &ViewState::default()));
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
        insta::assert_snapshot!(
            picture(&main_chart(&study, &study.spec.slo, &ViewState::default()))
                .replace("><", ">\n<")
        );
    }
}
