//! A picture's frame: grid, labels, and the one place where values become places.

use std::fmt::Write;

use crate::axis::Axis;
use crate::ui::html::{Html, html};

/// Units of a picture's inside, across and down. It is stretched to the room there is.
pub const WIDE: f64 = 1000.0;
/// Likewise down.
pub const HIGH: f64 = 300.0;

/// A picture with its two axes.
pub struct Frame<'a> {
    /// What it shows, in words, for those who do not see it.
    pub title: &'a str,
    /// The axis across.
    pub x: &'a Axis,
    /// The axis up, where there is one.
    pub y: Option<&'a Axis>,
    /// Pixels of its inside.
    pub height: u32,
}

impl Frame<'_> {
    /// The whole picture: `data` stands in units of the inside, `over` in percent of it.
    pub fn draw(&self, data: Html, over: Html) -> Html {
        let height = self.height.to_string();
        html!(
            r#"<svg class="frame" width="100%" height="{}" role="img" aria-label="{}" font-size="11" overflow="visible"><svg y="8" width="100%" height="{}" overflow="visible">{}</svg><svg y="8" width="100%" height="{}" viewBox="0 0 1000 300" preserveAspectRatio="none">{}</svg><svg y="8" width="100%" height="{}" overflow="visible">{}</svg></svg>"#,
            (self.height + 28).to_string(),
            self.title,
            height,
            self.grid(),
            height,
            data,
            height,
            over
        )
    }

    fn grid(&self) -> Html {
        let ticks = self.y.map(Axis::ticks).unwrap_or_default();
        let up = ticks.into_iter().map(|(value, label)| {
            let at = percent(1.0 - self.y.map_or(0.0, |y| y.fraction(value)));
            html!(
                r#"<line x1="0" x2="100%" y1="{}" y2="{}" style="stroke:var(--line)"/><text x="0" y="{}" dx="-8" dy="4" text-anchor="end" style="fill:var(--muted)">{}</text>"#,
                at,
                at,
                at,
                label
            )
        });
        let across = self.x.ticks().into_iter().map(|(value, label)| {
            html!(
                r#"<text x="{}" y="100%" dy="16" text-anchor="middle" style="fill:var(--muted)">{}</text>"#,
                percent(self.x.fraction(value)),
                label
            )
        });
        let base = Html::literal(
            r#"<line x1="0" x2="100%" y1="100%" y2="100%" style="stroke:var(--line-strong)"/>"#,
        );
        up.chain(across).chain([base]).collect()
    }
}

/// Part of the way as a percentage: `12.34%`.
pub fn percent(fraction: f64) -> String {
    format!("{:.2}%", fraction * 100.0)
}

/// A number with at most one decimal: pictures have no finer places.
pub fn short(value: f64) -> String {
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" {
        "0".into()
    } else {
        text.to_owned()
    }
}

/// A path through places in units of the inside, from corner to corner.
pub fn line(corners: impl IntoIterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    for (x, y) in corners {
        let head = if path.is_empty() { 'M' } else { 'L' };
        // Writing to a string cannot fail.
        let _ = write!(path, "{head}{} {}", short(x), short(y));
    }
    path
}

/// Where a bound of the SLO lies, with its value: upright at a place across. One beyond the picture is named at its edge.
pub fn bound_across(fraction: f64, words: &str) -> Html {
    if 1.0 < fraction {
        return html!(
            r#"<text x="100%" y="60%" dx="-2" text-anchor="end" class="halo" style="fill:var(--accent)">{} →</text>"#,
            words
        );
    }
    let (at, side, away) = (percent(fraction), fraction < 0.75, "4");
    html!(
        r#"<line x1="{}" x2="{}" y1="0" y2="100%" stroke-dasharray="5 4" style="stroke:var(--accent);stroke-width:1.5"/><text x="{}" y="70%" dx="{}" text-anchor="{}" class="halo" style="fill:var(--accent)">{}</text>"#,
        at,
        at,
        at,
        if side { away } else { "-4" },
        if side { "start" } else { "end" },
        words
    )
}

/// The same, lying at a place up (0 is the bottom).
pub fn bound_up(fraction: f64, words: &str) -> Html {
    if 1.0 < fraction {
        return html!(
            r#"<text x="100%" y="10" dx="-2" text-anchor="end" class="halo" style="fill:var(--accent)">{} ↑</text>"#,
            words
        );
    }
    let at = percent(1.0 - fraction);
    html!(
        r#"<line x1="0" x2="100%" y1="{}" y2="{}" stroke-dasharray="5 4" style="stroke:var(--accent);stroke-width:1.5"/><text x="100%" y="{}" dx="-2" dy="-4" text-anchor="end" class="halo" style="fill:var(--accent)">{}</text>"#,
        at,
        at,
        at,
        words
    )
}

/// A figure: its caption, its picture, its numbers as a table.
pub fn figure(name: &str, words: Html, picture: Html, table: Html) -> Html {
    html!(
        r#"<figure class="stack tight time-lane"><figcaption><strong>{}.</strong> {}</figcaption><div class="lane-plot">{}</div><details class="as-text"><summary>As a table<span class="sr-only">: {}</span></summary><div class="scroll-x" tabindex="0" role="region" aria-label="{} as a table">{}</div></details></figure>"#,
        name,
        words,
        picture,
        name,
        name,
        table
    )
}

/// The same on the axis of time: windows are chosen on it.
pub fn on_time(name: &str, words: Html, picture: Html, table: Html) -> Html {
    let picture = html!(r#"<div class="on-time">{}</div>"#, picture);
    figure(name, words, picture, table)
}
