//! Lines of equal share over the plane of two bounds, as a picture of percentages: it fits any width.

use std::fmt::Write;

use measure::units::Nanos;

use super::Map;
use crate::axis::Axis;
use crate::chart::rows_at_an_edge;
use crate::ui::format;
use crate::ui::html::{Html, html};

/// Shares that a line is drawn for, where the sample can tell them, and the SLO's own.
const SHARES: [f64; 5] = [0.5, 0.75, 0.9, 0.95, 0.99];
/// How far two labels along the top must stand apart, in percent of the width: that of a phone's plot.
const APART: f64 = 17.0;
/// How long a share is with the room around it, in pixels.
const LONG: i32 = 46;
/// Into so many parts the horizontal axis is cut.
const PARTS: u32 = 72;

impl Map<'_> {
    /// The plot: the lines, and over them the present SLO, which the page's script keeps in its place.
    pub(super) fn drawn(&self) -> Html {
        let range = |axis: &Axis| format!("{},{}", axis.bottom(), axis.top());
        html!(
            r#"<div class="plot plane-plot"><div class="picture">{}</div><div class="overlay"></div><div class="plane" data-x="{}" data-y="{}"{}><i class="at-x"></i><i class="at-y"></i><b></b></div></div>"#,
            Html::script(self.picture()),
            range(&self.ttft),
            range(&self.tpot),
            self.place()
        )
    }

    /// Where the present SLO lies before any script runs.
    fn place(&self) -> Html {
        let at = |axis: &Axis, bound: Option<Nanos>| {
            let share = bound.map_or(2.0, |it| axis.fraction(it.as_millis_f64()));
            format!("{:.4}", share.clamp(0.0, 1.0))
        };
        use measure::slo::Metric::{Tpot, Ttft};
        html!(
            r#" style="--x:{};--y:{}""#,
            at(&self.ttft, self.bound(Ttft)),
            at(&self.tpot, self.bound(Tpot))
        )
    }

    fn picture(&self) -> String {
        let mut svg = format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="100%" height="100%" overflow="visible" role="img" aria-label="{}" font-size="12">"#,
            html!(
                "Share of good requests of {} over bounds on TTFT and TPOT",
                self.heading()
            )
            .into_string()
        );
        let lines: Vec<(f64, Vec<[f64; 2]>)> = self
            .shares()
            .into_iter()
            .map(|share| (share, self.line(share)))
            .filter(|(_, line)| 1 < line.len())
            .collect();
        svg.push_str(&grid(&self.ttft, &self.tpot));
        svg.push_str(
            r#"<svg width="100%" height="100%" viewBox="0 0 100 100" preserveAspectRatio="none">"#,
        );
        for (share, line) in &lines {
            svg.push_str(&region(line, *share == self.slo.attainment));
        }
        svg.push_str("</svg>");
        svg.push_str(&self.labels(&lines));
        svg + "</svg>"
    }

    /// The share of each line, where it leaves the plot: those that are furthest apart along its top, the others at its right end.
    fn labels(&self, lines: &[(f64, Vec<[f64; 2]>)]) -> String {
        let mut svg = String::new();
        let mut free = f64::NEG_INFINITY;
        let mut rest = Vec::new();
        for (share, line) in lines {
            let [Some([left, top]), Some([_, end])] = [line.first(), line.last()] else {
                continue;
            };
            let is_target = *share == self.slo.attainment;
            if *top <= 0.0 && free <= *left && *left <= 100.0 - APART && !is_target {
                svg.push_str(&label_above(*left, *share));
                free = left + APART;
            } else {
                rest.push((1.0 - end / 100.0, *share));
            }
        }
        // The largest share's line is the shortest: its label is the one furthest out.
        rest.sort_by(|a, b| b.0.total_cmp(&a.0));
        let heights: Vec<f64> = rest.iter().map(|it| it.0).collect();
        for ((height, share), row) in rest.into_iter().zip(rows_at_an_edge(&heights)) {
            svg.push_str(&label((1.0 - height) * 100.0, row, share));
        }
        svg
    }

    /// Shares by rising size. A share that leaves out less than one request of the sample is none that it can tell.
    fn shares(&self) -> Vec<f64> {
        let count = self.plane.scheduled() as f64;
        let mut shares: Vec<f64> = SHARES.to_vec();
        shares.push(self.slo.attainment);
        shares.retain(|share| *share == self.slo.attainment || 1.0 <= count * (1.0 - share));
        shares.sort_by(f64::total_cmp);
        shares.dedup();
        shares
    }

    /// Where exactly this share is good, from left to right, in percent of the plot from its left and its top.
    fn line(&self, share: f64) -> Vec<[f64; 2]> {
        let nanos = |millis: f64| Nanos((millis * 1e6) as u64);
        let columns = (0..=PARTS).map(|part| f64::from(part) / f64::from(PARTS));
        let mut line: Vec<[f64; 2]> = columns
            .filter_map(|at| {
                let tpot = self.plane.least_tpot(nanos(self.ttft.at(at)), share)?;
                let up = self.tpot.fraction(tpot.as_millis_f64());
                (up <= 1.0).then_some([at * 100.0, (1.0 - up.max(0.0)) * 100.0])
            })
            .collect();
        // Left of its first place no bound on TPOT gets there.
        if let Some([x, _]) = line.first().copied() {
            line.insert(0, [x, 0.0]);
        }
        line
    }
}

/// A line and all that lies within it, looser bounds on both.
fn region(line: &[[f64; 2]], is_target: bool) -> String {
    let mut corners = String::new();
    for [x, y] in line {
        // Writing to a string cannot fail.
        let _ = write!(corners, "{x:.2},{y:.2} ");
    }
    let (stroke, width) = if is_target {
        ("var(--accent)", "2.5")
    } else {
        ("var(--series-1)", "1.25")
    };
    format!(
        r#"<polygon points="{corners}100,0" style="fill:var(--series-1);opacity:.1"/><polyline points="{corners}" vector-effect="non-scaling-stroke" style="fill:none;stroke:{stroke};stroke-width:{width}"/>"#
    )
}

/// A line's share, on its right end, which lies flat; further in where another share stands there.
fn label(y: f64, row: i32, share: f64) -> String {
    let (text, shift) = (format::percent(share), -6 - row * LONG);
    format!(
        r#"<text x="100%" y="{y:.2}%" dx="{shift}" dy="-4" text-anchor="end" style="{INK}">{text}</text>"#
    )
}

/// The same beside where it leaves the plot's top.
fn label_above(x: f64, share: f64) -> String {
    let text = format::percent(share);
    format!(r#"<text x="{x:.2}%" y="0" dx="5" dy="14" style="{INK}">{text}</text>"#)
}

/// Words over lines.
const INK: &str = "fill:var(--text);paint-order:stroke;stroke:var(--bg);stroke-width:3px";

fn grid(ttft: &Axis, tpot: &Axis) -> String {
    let mut svg = String::new();
    for (value, text) in ttft.ticks() {
        let x = ttft.fraction(value) * 100.0;
        let _ = write!(
            svg,
            r#"<line x1="{x:.2}%" x2="{x:.2}%" y1="0" y2="100%" style="stroke:var(--line)"/><text x="{x:.2}%" y="100%" dy="18" text-anchor="middle" style="fill:var(--muted)">{text}</text>"#
        );
    }
    for (value, text) in tpot.ticks() {
        let y = (1.0 - tpot.fraction(value)) * 100.0;
        let _ = write!(
            svg,
            r#"<line x1="0" x2="100%" y1="{y:.2}%" y2="{y:.2}%" style="stroke:var(--line)"/><text x="0" y="{y:.2}%" dx="-8" dy="4" text-anchor="end" style="fill:var(--muted)">{text}</text>"#
        );
    }
    let _ = write!(
        svg,
        r#"<text x="50%" y="100%" dy="40" text-anchor="middle" style="fill:var(--muted)">{}</text><text x="0" y="0" dx="-52" dy="-10" style="fill:var(--muted)">{}</text>"#,
        ttft.title, tpot.title
    );
    svg
}
