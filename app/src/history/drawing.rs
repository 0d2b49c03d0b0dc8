//! A series of runs as a picture: its levels, the baseline with its band, where it changed, and the new run at its end.

use super::words::value;
use super::{EarlierRun, FigureHistory, Outcome};
use crate::ui::html::{Html, html};
use crate::ui::time;

/// Room above and below the values, as a share of what they span.
const ROOM: f64 = 0.12;

/// The picture. Runs are equally far apart: they come in bursts and after weeks.
pub(super) fn picture(figure: &FigureHistory, title: &str, unit: &str) -> Html {
    let places = figure.runs.len() + usize::from(figure.value.is_some());
    let axis = Axis::of(figure, places);
    let end = |it: f64| value(figure.metric, it, unit);
    html!(
        r#"<svg class="run-series" width="100%" height="148" role="img" aria-label="{}" font-size="11" overflow="visible"><svg y="16" width="100%" height="104" overflow="visible">{}{}{}{}{}</svg><text x="0" y="8" style="fill:var(--muted)">{}</text><text x="0" y="136" style="fill:var(--muted)">{}</text>{}</svg>"#,
        title,
        grid(),
        band(figure, &axis),
        changes(figure, &axis),
        dots(figure, &axis),
        new(figure, &axis),
        end(axis.top),
        end(axis.bottom),
        moments(figure),
    )
}

/// Where values and places lie, in percent of the picture.
struct Axis {
    bottom: f64,
    top: f64,
    places: usize,
}

impl Axis {
    fn of(figure: &FigureHistory, places: usize) -> Self {
        let all = figure.runs.iter().map(|it| it.value).chain(figure.value);
        let (lo, hi) = all.fold((f64::INFINITY, 0.0_f64), |(lo, hi), it| {
            (lo.min(it), hi.max(it))
        });
        let (lo, hi) = if lo.is_finite() { (lo, hi) } else { (0.0, 1.0) };
        // A band far wider than its runs would press them flat: it is cut off.
        let (lo, hi) = figure.baseline.map_or((lo, hi), |band| {
            (lo.min(band.lo.max(lo / 2.0)), hi.max(band.hi.min(hi * 2.0)))
        });
        let room = ((hi - lo) * ROOM).max(hi * 0.01);
        Self {
            bottom: (lo - room).max(0.0),
            top: hi + room,
            places,
        }
    }

    fn down(&self, value: f64) -> f64 {
        let up = (value - self.bottom) / (self.top - self.bottom);
        (1.0 - up.clamp(0.0, 1.0)) * 100.0
    }

    fn across(&self, place: f64) -> f64 {
        (place + 0.5) / self.places.max(1) as f64 * 100.0
    }
}

fn percent(at: f64) -> String {
    format!("{at:.2}%")
}

fn grid() -> Html {
    html!(
        r#"<line x1="0" x2="100%" y1="0" y2="0" style="stroke:var(--line)"/><line x1="0" x2="100%" y1="100%" y2="100%" style="stroke:var(--line)"/>"#
    )
}

/// The first run of the baseline.
fn first(figure: &FigureHistory) -> usize {
    let counts = |it: &EarlierRun| it.counts;
    figure.runs.iter().position(counts).unwrap_or(0)
}

/// Over the runs that it rests on, and the new one.
fn band(figure: &FigureHistory, axis: &Axis) -> Option<Html> {
    let baseline = figure.baseline?;
    let from = axis.across(first(figure) as f64 - 0.5);
    let (top, bottom) = (axis.down(baseline.hi), axis.down(baseline.lo));
    Some(html!(
        r#"<rect x="{}" y="{}" width="{}" height="{}" style="fill:var(--series-1);opacity:.14"/><line x1="{}" x2="100%" y1="{}" y2="{}" style="stroke:var(--series-1);stroke-width:1.5"/>"#,
        percent(from),
        percent(top),
        percent(100.0 - from),
        percent(bottom - top),
        percent(from),
        percent(axis.down(baseline.value)),
        percent(axis.down(baseline.value)),
    ))
}

fn changes(figure: &FigureHistory, axis: &Axis) -> Html {
    let begins = figure.runs.iter().enumerate().filter(|(_, it)| it.changed);
    begins
        .map(|(index, _)| {
            let at = axis.across(index as f64 - 0.5);
            // Near the end the word stands before its line.
            let (side, away) = if at < 70.0 { ("start", "4") } else { ("end", "-4") };
            let at = percent(at);
            html!(
                r#"<line x1="{}" x2="{}" y1="0" y2="100%" stroke-dasharray="4 3" style="stroke:var(--warn);stroke-width:1.5"/><text x="{}" y="0" dx="{}" dy="12" text-anchor="{}" style="fill:var(--warn)">changed</text>"#,
                at,
                at,
                at,
                away,
                side
            )
        })
        .collect()
}

fn dots(figure: &FigureHistory, axis: &Axis) -> Html {
    let dot = |(index, run): (usize, &EarlierRun)| {
        let colour = if run.counts {
            "var(--series-1)"
        } else {
            "var(--line-strong)"
        };
        html!(
            r#"<circle cx="{}" cy="{}" r="3" style="fill:{}"/>"#,
            percent(axis.across(index as f64)),
            percent(axis.down(run.value)),
            colour
        )
    };
    figure.runs.iter().enumerate().map(dot).collect()
}

/// The new run: a square, filled where it fails.
fn new(figure: &FigureHistory, axis: &Axis) -> Option<Html> {
    let value = figure.value?;
    let style = match figure.outcome {
        Outcome::Fail => "fill:var(--bad);stroke:var(--bad)",
        Outcome::Pass => "fill:var(--bg);stroke:var(--good)",
        Outcome::Indeterminate | Outcome::LeftOut => "fill:var(--bg);stroke:var(--text)",
    };
    Some(html!(
        r#"<rect x="{}" y="{}" width="10" height="10" transform="translate(-5 -5)" style="{};stroke-width:2"/>"#,
        percent(axis.across(figure.runs.len() as f64)),
        percent(axis.down(value)),
        style
    ))
}

fn moments(figure: &FigureHistory) -> Option<Html> {
    let first = figure.runs.first()?;
    Some(html!(
        r#"<text x="100%" y="136" text-anchor="end" style="fill:var(--muted)">{} to {}</text>"#,
        time::day(first.at_ms),
        time::day(figure.at_ms)
    ))
}
