//! Quantities over time as pictures, one below the other on one axis of time: that of the point's requests.

use std::ops::Range;

use measure::evidence::{Between, Series, Track};
use measure::units::three_digits;

use crate::axis::Axis;
use crate::figure_svg::series_colour;
use crate::requests::drawing::{Frame, HIGH, WIDE, line, on_time, short};
use crate::ui::html::{Html, heads, html, table};

/// Rows of a table; all moments stand in the JSON.
const ROWS: usize = 30;
/// How lines differ where colours do not.
const DASHES: [&str; 4] = ["", "7 4", "7 3 2 3", "2 3"];

/// Series that are drawn together: a name, a unit, and what their keys begin with.
const GROUPS: [(&str, &[&str]); 9] = [
    (
        "Requests at the engine",
        &["in_flight", "running", "waiting"],
    ),
    ("Shares", &["kv_usage", "hit_rate", "accepted"]),
    ("Queue time", &["queue_time"]),
    ("Prefill time", &["prefill_time"]),
    ("Preemptions", &["preemptions"]),
    ("Requests ended", &["finished"]),
    ("Tokens", &["output_tokens", "prompt_tokens"]),
    ("Tokens a step", &["iteration_tokens"]),
    ("Cores of the client's host", &["own", "others", "steal"]),
];

/// A series with its moments on the axis, and one on each side of them.
struct Line<'a> {
    at_ms: &'a [i64],
    series: &'a Series,
    shown: Range<usize>,
}

/// What is known of a series at one of its moments.
#[derive(Clone, Copy)]
enum Known {
    /// A value, exact or near enough.
    Value(f64),
    /// Bounds that are far apart: a value between them would be made up.
    Bounds(f64, f64),
    /// It lies in the last bucket, which has no end.
    Above(f64),
}

impl Line<'_> {
    fn at(&self, index: usize) -> Option<Known> {
        let of = |values: &[Option<f64>]| values.get(index).copied().flatten();
        let value = of(&self.series.values)?;
        let hi = of(&self.series.hi);
        let wide = of(&self.series.lo).filter(|lo| !Between { lo: *lo, value, hi }.tells());
        Some(match (wide, hi) {
            (Some(lo), Some(hi)) => Known::Bounds(lo, hi),
            (Some(lo), None) => Known::Above(lo),
            (None, _) => Known::Value(value),
        })
    }

    /// The bounds between which it lay at all moments, where nothing else is known of it: a picture would be a block.
    fn block(&self) -> Option<(f64, f64)> {
        let mut known = self.moments().filter_map(|(_, known)| match known? {
            Known::Bounds(lo, hi) => Some(Some((lo, hi))),
            Known::Value(_) | Known::Above(_) => Some(None),
        });
        let first = known.next()??;
        known.all(|next| next == Some(first)).then_some(first)
    }

    fn moments(&self) -> impl Iterator<Item = (i64, Option<Known>)> {
        let all = self.at_ms.iter().enumerate();
        let shown = all.skip(self.shown.start).take(self.shown.len());
        shown.map(|(index, at)| (*at, self.at(index)))
    }

    /// How high it went, in words.
    fn highest(&self) -> String {
        let most = self.most();
        let known = self.moments().filter_map(|(_, known)| known);
        let endless = known
            .filter(|it| matches!(it, Known::Above(lo) if most <= *lo))
            .count();
        let words = if 0 < endless { "above" } else { "at most" };
        format!("{words} {}", plain(most))
    }

    /// The most that it reached; where only bounds are known, what it surely did not exceed.
    fn most(&self) -> f64 {
        let known = self.moments().filter_map(|(_, known)| known);
        let tops = known.map(|known| match known {
            Known::Value(top) | Known::Bounds(_, top) | Known::Above(top) => top,
        });
        tops.fold(0.0, f64::max)
    }
}

/// A few series drawn together, and how high each went in words.
pub(super) struct Small {
    /// The picture with its legend and its table.
    pub(super) figure: Html,
    /// `running at most 4`, of each.
    pub(super) said: Vec<String>,
}

/// The series with these keys on an axis between two moments in milliseconds; nothing where the engine told none of them.
pub(super) fn small(
    all: &[Track],
    (from, to): (f64, f64),
    (name, keys): (&str, &[&str]),
) -> Option<Small> {
    let told = lines(all, (from, to)).into_iter().filter(|line| {
        let known = line.moments().any(|(_, known)| known.is_some());
        known && keys.contains(&line.series.key.as_str())
    });
    let told: Vec<Line<'_>> = told.collect();
    let together: Vec<&Line<'_>> = told.iter().collect();
    let axis = Axis::over("time".into(), [], false).zoomed(from / 1e3, to / 1e3);
    let said = |line: &Line<'_>| {
        let unit = match line.series.unit.as_str() {
            "" => String::new(),
            unit => format!("\u{202f}{unit}"),
        };
        format!("{} {}{unit}", line.series.label, line.highest())
    };
    (!told.is_empty()).then(|| Small {
        figure: chart(name, &together, &axis),
        said: told.iter().map(said).collect(),
    })
}

/// A count to its last digit; anything else with three.
fn plain(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e6 {
        return value.to_string();
    }
    three_digits(value)
}

/// All series with what of them lies between two moments.
fn lines(tracks: &[Track], ends: (f64, f64)) -> Vec<Line<'_>> {
    tracks
        .iter()
        .flat_map(|track| {
            track.series.iter().map(move |series| Line {
                at_ms: &track.at_ms,
                series,
                shown: shown(&track.at_ms, ends),
            })
        })
        .collect()
}

/// All tracks, on an axis between two moments in milliseconds.
pub(crate) fn tracks(tracks: &[Track], ends: (f64, f64)) -> Html {
    let lines = lines(tracks, ends);
    if lines.iter().all(|line| line.shown.is_empty()) {
        return Html::default();
    }
    let (from, to) = ends;
    let axis = Axis::over("time".into(), [], false).zoomed(from / 1e3, to / 1e3);
    let in_group = |keys: &[&str]| -> Vec<&Line<'_>> {
        let of = |line: &&Line<'_>| keys.iter().any(|key| line.series.key.starts_with(key));
        lines.iter().filter(of).collect()
    };
    let groups = GROUPS
        .iter()
        .map(|(name, keys)| ((*name).to_owned(), in_group(keys)));
    let gpus = lines
        .iter()
        .filter(|line| line.series.key.starts_with("gpu"));
    let gpus = gpus.map(|line| (line.series.label.clone(), vec![line]));
    let drawn = groups.chain(gpus).filter(|(_, lines)| !lines.is_empty());
    drawn
        .map(|(name, lines)| chart(&name, &lines, &axis))
        .collect()
}

/// Moments on the axis, and one on each side, so that lines leave it where they go on.
fn shown(at_ms: &[i64], (from, to): (f64, f64)) -> Range<usize> {
    let first = at_ms.partition_point(|at| (*at as f64) < from);
    let last = at_ms.partition_point(|at| (*at as f64) <= to);
    first.saturating_sub(1)..(last + 1).min(at_ms.len())
}

/// One picture, its legend, and its table.
fn chart(name: &str, lines: &[&Line<'_>], axis: &Axis) -> Html {
    let unit = lines.first().map_or("", |line| line.series.unit.as_str());
    let most = lines.iter().map(|line| line.most()).fold(0.0, f64::max);
    // A share's axis ends at all of it.
    let top = match unit {
        "%" => 100.0,
        _ if most <= 0.0 => 1.0,
        _ => most,
    };
    let title = if unit.is_empty() {
        name.to_owned()
    } else {
        format!("{name}, {unit}")
    };
    let blocks: Option<Vec<(f64, f64)>> = lines.iter().map(|line| line.block()).collect();
    let table = rows(&title, lines);
    match blocks {
        Some(blocks) => html!(
            r#"<div class="stack tight"><p class="small"><strong>{}.</strong> {}</p><details class="as-text"><summary>As a table<span class="sr-only">: {}</span></summary><div class="scroll-x" tabindex="0" role="region" aria-label="{} as a table">{}</div></details></div>"#,
            title,
            in_words(lines, &blocks),
            title,
            title,
            table
        ),
        None => on_time(
            &title,
            legend(lines),
            picture(&title, lines, axis, top),
            table,
        ),
    }
}

/// Lines of which nothing but one bucket is known, all the time.
fn in_words(lines: &[&Line<'_>], blocks: &[(f64, f64)]) -> Html {
    let one = |(line, (lo, hi)): (&&Line<'_>, &(f64, f64))| {
        let (lo, hi) = (three_digits(*lo), three_digits(*hi));
        format!("{} between {lo} and {hi}", line.series.label)
    };
    let all: Vec<String> = lines.iter().zip(blocks).map(one).collect();
    html!(
        r#"<span>{} throughout.</span> <span class="muted">The engine counts in steps too wide for a picture.</span>"#,
        all.join(", ")
    )
}

/// A piece of each line with its name, and what is known of its highest. Names are in ink: a line's colour is too pale for words.
fn legend(lines: &[&Line<'_>]) -> Html {
    let one = |(index, line): (usize, &&Line<'_>)| {
        html!(
            r#"<svg width="20" height="8" aria-hidden="true"><line x1="0" x2="20" y1="4" y2="4" style="stroke:{};stroke-width:2" stroke-dasharray="{}"/></svg> <span>{}</span> <span class="muted">({})</span> "#,
            series_colour(index),
            DASHES[index % DASHES.len()],
            line.series.label,
            line.highest()
        )
    };
    lines.iter().enumerate().map(one).collect()
}

fn picture(title: &str, lines: &[&Line<'_>], axis: &Axis, top: f64) -> Html {
    let y = Axis::over("value".into(), [], false).zoomed(0.0, top);
    let place = |at: i64, value: f64| {
        let across = axis.fraction(at as f64 / 1e3) * WIDE;
        (across, (1.0 - y.fraction(value).clamp(0.0, 1.0)) * HIGH)
    };
    let values = |(index, line): (usize, &&Line<'_>)| -> Html {
        let values = line.moments().map(|(at, known)| match known {
            Some(Known::Value(value)) => Some((at, value)),
            _ => None,
        });
        let pieces = pieces(values).into_iter();
        pieces.map(|it| polyline(index, it, place)).collect()
    };
    let bands = |(index, line): (usize, &&Line<'_>)| -> Html {
        let bounds = line.moments().map(|(at, known)| match known {
            Some(Known::Bounds(lo, hi)) => Some((at, (lo, hi))),
            _ => None,
        });
        let pieces = pieces(bounds).into_iter();
        pieces.map(|it| band(index, &it, place)).collect()
    };
    let all = lines.iter().enumerate();
    let drawn: Html = all.clone().map(bands).chain(all.map(values)).collect();
    let frame = Frame {
        title: &format!("{title} over time"),
        x: axis,
        y: Some(&y),
        height: 96,
    };
    frame.draw(drawn, Html::default())
}

fn polyline(index: usize, piece: Vec<(i64, f64)>, place: impl Fn(i64, f64) -> (f64, f64)) -> Html {
    // A lone value is a short line.
    let again = (piece.len() == 1).then(|| piece[0]);
    let corners = piece.iter().map(|(at, value)| place(*at, *value));
    let again = again.map(|(at, value)| place(at, value));
    let again = again.map(|(x, y)| (x + 2.0, y));
    html!(
        r#"<path class="series" d="{}" style="stroke:{}" stroke-dasharray="{}"/>"#,
        line(corners.chain(again)),
        series_colour(index),
        DASHES[index % DASHES.len()]
    )
}

fn band(index: usize, piece: &[(i64, (f64, f64))], place: impl Fn(i64, f64) -> (f64, f64)) -> Html {
    let below = piece.iter().map(|(at, (lo, _))| place(*at, *lo));
    let above = piece.iter().rev().map(|(at, (_, hi))| place(*at, *hi));
    let corners: Vec<String> = below
        .chain(above)
        .map(|(x, y)| format!("{},{}", short(x), short(y)))
        .collect();
    html!(
        r#"<polygon points="{}" style="fill:{};opacity:0.15"/>"#,
        corners.join(" "),
        series_colour(index)
    )
}

/// Unbroken pieces of what is known at some moments and not at others.
fn pieces<T>(moments: impl Iterator<Item = Option<(i64, T)>>) -> Vec<Vec<(i64, T)>> {
    let mut pieces = vec![Vec::new()];
    for moment in moments {
        match moment {
            Some(moment) => {
                if let Some(piece) = pieces.last_mut() {
                    piece.push(moment);
                }
            }
            None => pieces.push(Vec::new()),
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// The values at a few moments, each with its bounds where it has some.
fn rows(title: &str, lines: &[&Line<'_>]) -> Html {
    // The client's own line has moments of its own: a table is of the longest line's.
    let Some(longest) = lines.iter().max_by_key(|line| line.shown.len()) else {
        return Html::default();
    };
    let every = longest.shown.len().div_ceil(ROWS).max(1);
    let names = lines.iter().map(|line| format!("#{}", line.series.label));
    let names: Vec<String> = std::iter::once("#s".to_owned()).chain(names).collect();
    let row = |at: &i64| {
        let cells: Html = lines.iter().map(|line| cell(line, *at)).collect();
        let seconds = format!("{:.2}", *at as f64 / 1e3);
        html!(r#"<tr><td class="num">{}</td>{}</tr>"#, seconds, cells)
    };
    let shown = longest.at_ms.get(longest.shown.clone()).unwrap_or_default();
    let body: Html = shown.iter().step_by(every).map(row).collect();
    table("", title, heads(names.iter().map(String::as_str)), body)
}

/// The latest value at a moment.
fn cell(line: &Line<'_>, at: i64) -> Html {
    let look = line.at_ms.partition_point(|moment| *moment <= at);
    let Some((look, known)) = look.checked_sub(1).and_then(|it| Some((it, line.at(it)?))) else {
        return html!(r#"<td class="num">–</td>"#);
    };
    let value = |of: &[Option<f64>]| of.get(look).copied().flatten();
    let bounds = match (value(&line.series.lo), value(&line.series.hi)) {
        (Some(lo), Some(hi)) => format!("{} to {}", three_digits(lo), three_digits(hi)),
        (Some(lo), None) => format!("above {}", three_digits(lo)),
        _ => String::new(),
    };
    let shown = match known {
        Known::Value(value) => three_digits(value),
        Known::Bounds(..) | Known::Above(_) => bounds.clone(),
    };
    html!(r#"<td class="num" title="{}">{}</td>"#, bounds, shown)
}
