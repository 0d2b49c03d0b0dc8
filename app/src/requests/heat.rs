//! Gaps between tokens over time: how many of which length, as shades.

use measure::slo::Metric;
use measure::units::Nanos;

use super::axis::Scale;
use super::distributions::{bound_of, percentile};
use super::drawing::{Frame, HIGH, WIDE, bound_up, on_time, short};
use super::part::Part;
use super::view::seconds;
use crate::ui::format;
use crate::ui::html::{Html, heads, html, table};
use crate::words;

/// Columns and rows of the picture.
const COLUMNS: usize = 120;
const ROWS: usize = 24;
/// Shades, each for more than the one before.
const SHADES: usize = 5;
/// Parts of the time in the table.
const PARTS: usize = 8;

/// Hands on the gaps that ended within the time shown: when, and how long. Those of failed requests are no ITL.
fn each_gap(part: &Part<'_>, mut on: impl FnMut(u64, u64)) {
    let (from, to) = (part.axis.0.0, part.axis.1.0);
    for (place, record) in part.of.records.iter().enumerate() {
        let arrivals = part.of.arrivals(place);
        let last = arrivals.last().copied().unwrap_or_default();
        if !record.is_ok() || last < from || to < record.scheduled.0 || record.is_single_burst() {
            continue;
        }
        // They rise but for what the kernel stamped late.
        for (before, now) in arrivals.iter().zip(arrivals.iter().skip(1)) {
            if from <= *now && *now <= to {
                on(*now, now.saturating_sub(*before));
            }
        }
    }
}

/// What is seen of the gaps without keeping each.
#[derive(Default)]
struct Seen {
    count: usize,
    longest: u64,
    shortest: Option<u64>,
    /// The shortest that is none at all left out.
    positive: Option<u64>,
}

impl Seen {
    fn of(part: &Part<'_>) -> Self {
        let mut seen = Self::default();
        let least = |old: Option<u64>, gap: u64| Some(old.map_or(gap, |it| it.min(gap)));
        each_gap(part, |_, gap| {
            seen.count += 1;
            seen.longest = seen.longest.max(gap);
            seen.shortest = least(seen.shortest, gap);
            if 0 < gap {
                seen.positive = least(seen.positive, gap);
            }
        });
        seen
    }

    /// An axis that holds them all.
    fn scale(&self) -> Scale {
        let ends = [self.shortest, self.positive, Some(self.longest)];
        Scale::of_latencies(ends.into_iter().flatten())
    }
}

/// The picture.
pub fn heat(part: &Part<'_>) -> Html {
    let seen = Seen::of(part);
    if seen.count == 0 {
        return html!(
            r#"<p class="muted">No gap between tokens ended in this time, so there is no ITL to draw.</p>"#
        );
    }
    let x = Scale::time(part);
    let y = seen.scale();
    let (counts, parts) = counted(part, &x, &y);
    let most = counts.iter().copied().max().unwrap_or(1);
    let bound = bound_of(part.slo, Metric::Itl);
    let line = bound.map(|at_most| {
        bound_up(
            y.fraction(at_most.0).max(0.0),
            &format!("ITL ≤ {}", words::threshold(at_most)),
        )
    });
    let longest = Nanos(seen.longest);
    let title = format!(
        "Gaps between tokens from {}: {} gaps, the longest {}",
        part.span_words(),
        format::count(seen.count as u64),
        longest
    );
    let frame = Frame {
        title: &title,
        x: &x.axis,
        y: Some(&y.axis),
        height: 150,
    };
    let caption = html!(
        "of requests that succeeded, in {}: {} gaps, the longest {}. {}",
        y.words(),
        format::count(seen.count as u64),
        longest.to_string(),
        legend(most)
    );
    let picture = frame.draw(shades(&counts, most), line.unwrap_or_default());
    on_time("ITL over time", caption, picture, rows(part, parts))
}

/// How many gaps lie in each cell, column by column, and the gaps of each part of the time.
fn counted(part: &Part<'_>, x: &Scale, y: &Scale) -> (Vec<u32>, Vec<Vec<u64>>) {
    let (mut counts, mut parts) = (vec![0; COLUMNS * ROWS], vec![Vec::new(); PARTS]);
    let first = x.fraction(0);
    let per = x.fraction(1_000_000_000) - first;
    let (from, length) = (part.axis.0.0, length(part));
    // Where each row but the first begins: a logarithm for each of a million gaps takes long.
    let rows: Vec<u64> = (1..ROWS)
        .map(|row| (y.axis.at(row as f64 / ROWS as f64) * y.per) as u64)
        .collect();
    each_gap(part, |end, gap| {
        let across = first + end as f64 / 1e9 * per;
        let column = ((across * COLUMNS as f64).max(0.0) as usize).min(COLUMNS - 1);
        let row = rows.partition_point(|begins| *begins <= gap);
        if let Some(count) = counts.get_mut(column * ROWS + row) {
            *count += 1;
        }
        let place = ((end - from) / length).min(PARTS as u64 - 1) as usize;
        if let Some(part) = parts.get_mut(place) {
            part.push(gap);
        }
    });
    (counts, parts)
}

/// How long a part of the time is.
fn length(part: &Part<'_>) -> u64 {
    let (from, to) = (part.axis.0.0, part.axis.1.0);
    ((to - from) / PARTS as u64).max(1)
}

/// The shade of a number of gaps, 0 for none: each begins at a multiple of the one before, and one gap has the first.
fn shade(count: u32, most: u32) -> usize {
    if count == 0 {
        return 0;
    }
    let share = f64::from(count).ln() / f64::from(most.max(2)).ln();
    1 + ((share * SHADES as f64) as usize).min(SHADES - 1)
}

fn shades(counts: &[u32], most: u32) -> Html {
    let (wide, high) = (WIDE / COLUMNS as f64, HIGH / ROWS as f64);
    let mut paths = vec![String::new(); SHADES + 1];
    for (index, count) in counts.iter().enumerate() {
        let (column, row) = (index / ROWS, index % ROWS);
        if let Some(path) = paths.get_mut(shade(*count, most)).filter(|_| 0 < *count) {
            let (left, top) = (column as f64 * wide, HIGH - (row + 1) as f64 * high);
            path.push_str(&format!(
                "M{} {}h{}v{}h-{}z",
                short(left),
                short(top),
                short(wide),
                short(high),
                short(wide)
            ));
        }
    }
    let drawn = paths.iter().enumerate().filter(|it| !it.1.is_empty());
    drawn
        .map(|(shade, path)| {
            html!(
                r#"<path class="heat" data-shade="{}" d="{}"/>"#,
                shade.to_string(),
                path
            )
        })
        .collect()
}

/// From which number on each shade is.
fn legend(most: u32) -> Html {
    let least = |of: usize| (1..=most).find(|count| shade(*count, most) == of);
    let entry = |of: usize| {
        least(of).map(|count| {
            html!(
                r#"<svg width="12" height="12" aria-hidden="true"><path class="heat" data-shade="{}" d="M0 0h12v12h-12z"/></svg> {} "#,
                of.to_string(),
                if of == SHADES || count == most { format!("{count} and more") } else { count.to_string() }
            )
        })
    };
    let all: Html = (1..=SHADES).filter_map(entry).collect();
    html!(r#"<span class="muted">Gaps in a cell from: {}</span>"#, all)
}

fn rows(part: &Part<'_>, parts: Vec<Vec<u64>>) -> Html {
    let (from, length) = (part.axis.0.0, length(part));
    let row = |(index, mut part): (usize, Vec<u64>)| {
        let count = part.len();
        part.sort_unstable();
        let at = |p: f64| percentile(&part, p).map_or_else(|| "–".to_owned(), |it| it.to_string());
        let begin = from.saturating_add(length.saturating_mul(index as u64));
        html!(
            r#"<tr><td class="num">{} to {}</td><td class="num">{}</td><td class="num">{}</td><td class="num">{}</td><td class="num">{}</td><td class="num">{}</td></tr>"#,
            seconds(Nanos(begin)),
            seconds(Nanos(begin.saturating_add(length))),
            format::count(count as u64),
            at(50.0),
            at(95.0),
            at(99.0),
            at(100.0)
        )
    };
    let heads = heads(["#seconds", "#gaps", "#p50", "#p95", "#p99", "#longest"]);
    table(
        "",
        "Gaps between tokens over time",
        heads,
        parts.into_iter().enumerate().map(row).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::{point, whole};
    use super::*;

    #[test]
    fn every_gap_is_in_a_cell_and_a_lone_one_is_seen() {
        let point = point(20);
        let view = whole();
        let part = point.part(&view);
        let seen = Seen::of(&part);
        assert_eq!(seen.count, 19 * 2, "two of each request that succeeded");
        let (counts, parts) = counted(&part, &Scale::time(&part), &seen.scale());
        assert_eq!(counts.iter().sum::<u32>() as usize, seen.count);
        assert_eq!(parts.iter().map(Vec::len).sum::<usize>(), seen.count);
        let html = heat(&part).into_string();
        assert!(html.contains("38 gaps, the longest 1.00"), "{html}");
        assert!(html.contains(r#"data-shade="1""#), "{html}");
    }

    #[test]
    fn shades_rise_and_one_has_the_first() {
        assert_eq!(
            [0, 1, 10, 100, 1000].map(|it| shade(it, 1000)),
            [0, 1, 2, 4, 5]
        );
        assert_eq!(shade(1, 1), 1);
    }

    #[test]
    fn no_gaps_are_said() {
        let point = point(1);
        let view = View::read(|key| (key == "from").then(|| "50".to_owned()));
        assert!(
            heat(&point.part(&view))
                .into_string()
                .contains("no ITL to draw")
        );
    }

    use super::super::view::View;
}
