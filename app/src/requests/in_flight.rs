//! Requests in flight over time, and those of them that wait for their first token.

use measure::request::RequestRecord;
use measure::units::Nanos;

use super::axis::Scale;
use super::drawing::{Frame, HIGH, WIDE, line, on_time};
use super::part::Part;
use super::view::seconds;
use crate::axis::Axis;
use crate::ui::html::{Html, heads, html, table};

/// Columns of the picture where there are more steps than places for them.
const COLUMNS: usize = 500;
/// Rows of the table.
const ROWS: u64 = 10;

/// How many there are at a time: a level from each moment on.
pub struct Levels(Vec<(u64, i32)>);

impl Levels {
    /// From intervals, half open: one that ends as another begins is gone.
    pub fn of(intervals: impl Iterator<Item = (Nanos, Nanos)>) -> Self {
        let ends = intervals.filter(|(from, to)| from < to);
        let mut steps: Vec<(u64, i32)> = ends
            .flat_map(|(from, to)| [(from.0, 1), (to.0, -1)])
            .collect();
        steps.sort_unstable();
        let mut now = 0;
        for (_, step) in &mut steps {
            now += *step;
            *step = now;
        }
        // Of several steps at one moment the last is what counts.
        steps.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1 = later.1;
            }
            same
        });
        Self(steps)
    }

    /// Between being sent and the end.
    pub fn in_flight(records: &[RequestRecord]) -> Self {
        Self::of(records.iter().filter_map(|it| Some((it.sent?, it.end?))))
    }

    /// Between being sent and the first token, or the end where none came.
    pub fn waiting(records: &[RequestRecord]) -> Self {
        Self::of(records.iter().filter_map(|it| {
            let first = it.chunks.first().map(|chunk| chunk.arrived());
            Some((it.sent?, first.or(it.end)?))
        }))
    }

    /// At a moment.
    pub fn at(&self, moment: u64) -> i32 {
        let after = self.0.partition_point(|(at, _)| *at <= moment);
        after.checked_sub(1).map_or(0, |last| self.0[last].1)
    }

    /// The lowest and the highest from a moment up to another.
    pub fn between(&self, from: u64, to: u64) -> (i32, i32) {
        let first = self.at(from);
        let steps = self.within(from, to).iter();
        steps.fold((first, first), |(least, most), (_, level)| {
            (least.min(*level), most.max(*level))
        })
    }

    fn within(&self, from: u64, to: u64) -> &[(u64, i32)] {
        let first = self.0.partition_point(|(at, _)| *at <= from);
        let last = self.0.partition_point(|(at, _)| *at < to);
        self.0.get(first..last.max(first)).unwrap_or_default()
    }

    /// The outline as a path: every step where there is room, else the highest and the lowest of each column.
    fn path(&self, x: &Scale, y: &Axis, (from, to): (u64, u64)) -> String {
        let across = |at: u64| x.fraction(at) * WIDE;
        let down = |level: i32| (1.0 - y.fraction(f64::from(level))) * HIGH;
        let steps = self.within(from, to);
        if steps.len() <= COLUMNS {
            let mut level = self.at(from);
            let mut corners = vec![(0.0, down(level))];
            for (at, next) in steps {
                corners.push((across(*at), down(level)));
                level = *next;
                corners.push((across(*at), down(level)));
            }
            corners.push((WIDE, down(level)));
            return line(corners);
        }
        let column = |index: usize| along((from, to), index as u64, COLUMNS as u64);
        let corners = (0..COLUMNS).flat_map(|index| {
            let (least, most) = self.between(column(index), column(index + 1));
            let at = across(column(index));
            [(at, down(most)), (at, down(least))]
        });
        line(corners)
    }
}

/// The picture with both.
pub fn in_flight(part: &Part<'_>) -> Html {
    let (flight, waiting) = (
        Levels::in_flight(&part.of.records),
        Levels::waiting(&part.of.records),
    );
    let (from, to) = (part.axis.0.0, part.axis.1.0);
    let (least, most) = flight.between(from, to);
    let waits = waiting.between(from, to).1;
    let x = Scale::time(part);
    let y = Axis::over("requests".into(), [f64::from(most)], false);
    let drawn = html!(
        r#"<path class="flight" d="{}"/><path class="waits" d="{}"/>"#,
        flight.path(&x, &y, (from, to)),
        waiting.path(&x, &y, (from, to))
    );
    let words = html!(
        r#"<svg width="20" height="8" aria-hidden="true"><path class="flight" d="M0 4H20"/></svg> in flight, {} to {} at a time; <svg width="20" height="8" aria-hidden="true"><path class="waits" d="M0 4H20"/></svg> of them waiting for the first token, at most {}"#,
        least.to_string(),
        most.to_string(),
        waits.to_string()
    );
    let title = format!(
        "Requests in flight from {}: between {least} and {most} at a time, at most {waits} of them waiting for the first token",
        part.span_words()
    );
    let frame = Frame {
        title: &title,
        x: &x.axis,
        y: Some(&y),
        height: 110,
    };
    let picture = frame.draw(drawn, Html::default());
    on_time("In flight", words, picture, rows(&flight, &waiting, part))
}

/// The moment so many parts of all along the way. The longest of ways has no room for a product.
fn along((from, to): (u64, u64), part: u64, all: u64) -> u64 {
    let way = u128::from(to.saturating_sub(from)) * u128::from(part) / u128::from(all);
    from.saturating_add(u64::try_from(way).unwrap_or(u64::MAX))
}

fn rows(flight: &Levels, waiting: &Levels, part: &Part<'_>) -> Html {
    let (from, to) = (part.axis.0.0, part.axis.1.0);
    let moment = |index: u64| along((from, to), index, ROWS);
    let row = |index: u64| {
        let (begin, end) = (moment(index), moment(index + 1));
        let (least, most) = flight.between(begin, end);
        html!(
            r#"<tr><td class="num">{} to {}</td><td class="num">{}</td><td class="num">{}</td><td class="num">{}</td></tr>"#,
            seconds(Nanos(begin)),
            seconds(Nanos(end)),
            least.to_string(),
            most.to_string(),
            waiting.between(begin, end).1.to_string()
        )
    };
    let heads = heads([
        "#seconds",
        "#in flight, at least",
        "#at most",
        "#waiting for the first token, at most",
    ]);
    table(
        "",
        "Requests in flight",
        heads,
        (0..ROWS).map(row).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(intervals: &[(u64, u64)]) -> Levels {
        Levels::of(
            intervals
                .iter()
                .map(|(from, to)| (Nanos(*from), Nanos(*to))),
        )
    }

    #[test]
    fn levels_count_what_overlaps() {
        let levels = levels(&[(10, 20), (15, 30), (20, 25), (40, 40)]);
        for (moment, level) in [(9, 0), (10, 1), (15, 2), (20, 2), (25, 1), (30, 0), (40, 0)] {
            assert_eq!(levels.at(moment), level, "{moment}");
        }
        assert_eq!(levels.between(0, 100), (0, 2));
        assert_eq!(levels.between(16, 20), (2, 2));
        assert_eq!(levels.between(25, 30), (1, 1));
    }

    #[test]
    fn the_longest_time_has_its_columns() {
        let all: Vec<(u64, u64)> = (0..4000).map(|at| (at * 100, at * 100 + 50)).collect();
        let levels = levels(&all);
        let x = Scale::between((Nanos(0), Nanos(u64::MAX)));
        let y = Axis::over(String::new(), [2.0], false);
        let path = levels.path(&x, &y, (0, u64::MAX));
        assert_eq!(path.matches('L').count(), 2 * COLUMNS - 1);
        assert_eq!(along((5, u64::MAX), 500, 500), u64::MAX);
    }

    #[test]
    fn no_peak_is_lost_where_steps_are_more_than_columns() {
        // 4,000 requests after each other, and one moment with a second one beside.
        let mut all: Vec<(u64, u64)> = (0..4000).map(|at| (at * 100, at * 100 + 50)).collect();
        all.push((200_010, 200_020));
        let levels = levels(&all);
        let x = Scale::between((Nanos(0), Nanos(400_000)));
        let y = Axis::over(String::new(), [2.0], false);
        let path = levels.path(&x, &y, (0, 400_000));
        let peak = super::super::drawing::short((1.0 - y.fraction(2.0)) * HIGH);
        assert_eq!(path.matches(&format!(" {peak}L")).count(), 1, "{path}");
        assert_eq!(path.matches('L').count(), 2 * COLUMNS - 1);
    }
}
