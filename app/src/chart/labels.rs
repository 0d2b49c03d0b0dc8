//! Where the names of lines stand: at their ends, and never over each other.

use measure::order::by_number;

use super::{Chart, Knot, Line};

/// How far a name's middle stands from its line's end, in pixels.
const AWAY: i32 = 13;
/// How far the middles of two names must stand apart, in pixels.
const APART: i32 = 17;
/// Ends closer than this part of an axis may have names that meet.
const NEAR: [f64; 2] = [0.4, 0.2];
/// Below this part of the axis names rise: under them are the numbers of the other axis.
const LOW: f64 = 0.4;
/// More names than this hide what they name; the legend has them all.
const MOST: usize = 6;
/// A name further from its line's end than this could be another's; the legend has it, too.
const FAR: i32 = AWAY + 3 * APART;

/// How much of the width the promise's words take at its right end, and how far above the line their middle is, in pixels.
const PROMISE_LONG: f64 = 0.35;
const PROMISE_OVER: f64 = 8.0;
/// How high the lowest plot is, in pixels.
const LOWEST: f64 = 160.0;

/// More letters of a name cover the curves; the legend has all of them.
const LETTERS: usize = 26;
/// A line that ends further to the left has its name to the right, where the line is not and the chart does not end.
const LEFT: f64 = 0.4;

/// A line's name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Label<'a> {
    /// Whose name it is.
    pub line: &'a Line,
    /// The line's end, beside which it stands, to the left unless it begins there.
    pub end: Knot,
    /// How far above the end its middle is, in pixels.
    pub rise: i32,
    /// Whether it stands to the right of the end.
    pub begins: bool,
}

impl Label<'_> {
    /// The name, shortened where it is long.
    pub fn name(&self) -> String {
        let name = &self.line.name;
        match name.char_indices().nth(LETTERS) {
            Some((end, _)) => format!("{}…", name[..end].trim_end()),
            None => name.clone(),
        }
    }
}

/// The names of all lines that have an end. What falls has its name below, what rises above it; low down all are above.
/// None where there are too many, and of many that end together only as many as stand close by.
pub fn labels(chart: &Chart) -> Vec<Label<'_>> {
    let label = |line| label(line, chart);
    // Where a line runs takes working out; of too many none is shown.
    let ends = chart.lines.iter().filter_map(label).take(MOST + 1);
    let ends: Vec<Label<'_>> = ends.collect();
    if MOST < ends.len() {
        return Vec::new();
    }
    let is_low = |label: &Label<'_>| chart.y.fraction(label.end.y) < LOW;
    let (low, high): (Vec<_>, Vec<_>) = ends.into_iter().partition(is_low);
    let mut placed = stacked(chart, high, -1);
    placed.extend(stacked(chart, low, 1));
    if let Some(limit) = &chart.over.limit {
        let words = chart.y.fraction(limit.value);
        placed.iter_mut().for_each(|it| keep_off(chart, words, it));
    }
    placed.retain(|label| label.rise.abs() <= FAR);
    placed
}

/// Moves a name away from what stands over the promise's right end.
fn keep_off(chart: &Chart, promise: f64, label: &mut Label<'_>) {
    if chart.x.fraction(label.end.x) < 1.0 - PROMISE_LONG {
        return;
    }
    let above = (chart.y.fraction(label.end.y) - promise) * LOWEST;
    let away = above + f64::from(label.rise) - PROMISE_OVER;
    if away.abs() < f64::from(APART) {
        let apart = f64::from(APART);
        label.rise += if above < 0.0 {
            -(apart + away).ceil() as i32
        } else {
            (apart - away).ceil() as i32
        };
    }
}

/// Puts names one after another, each as far from those before as it must be: downwards (-1) from the uppermost, or upwards
/// (1) from the lowest.
fn stacked<'a>(chart: &Chart, mut ends: Vec<Label<'a>>, way: i32) -> Vec<Label<'a>> {
    by_number(&mut ends, |label| f64::from(way) * label.end.y);
    let first = |label: &Label<'a>| if 0 < way { AWAY } else { label.rise };
    let are_near = |a: &Label<'a>, b: &Label<'a>| near(chart, a.end, b.end);
    let rises = stack(&ends, way, first, are_near);
    for (label, rise) in ends.iter_mut().zip(rises) {
        label.rise = rise;
    }
    ends
}

/// How far above its own end each name stands, in pixels: the first place it may have, or further, away from those before it that
/// are near.
fn stack<T>(
    ends: &[T],
    way: i32,
    first: impl Fn(&T) -> i32,
    near: impl Fn(&T, &T) -> bool,
) -> Vec<i32> {
    let mut rises: Vec<i32> = Vec::new();
    for this in ends {
        let before = ends.iter().zip(&rises).filter(|it| near(it.0, this));
        let rise = before.fold(first(this), |rise, (_, other)| {
            way * (way * rise).max(way * other + APART)
        });
        rises.push(rise);
    }
    rises
}

/// The row of each name where lines end at one edge: as many others as it has to keep off. `ends` are heights as parts of the axis,
/// the outermost first.
pub fn rows_at_an_edge(ends: &[f64]) -> Vec<i32> {
    let rises = stack(ends, 1, |_| AWAY, |a, b| (a - b).abs() < NEAR[1]);
    let rises = rises.into_iter();
    rises.map(|it| (it - AWAY) / APART).collect()
}

fn label<'a>(line: &'a Line, chart: &Chart) -> Option<Label<'a>> {
    let knots = line.knots();
    let (end, before) = knots.split_last()?;
    let falls = before.last().is_some_and(|before| end.y < before.y);
    let rise = if falls { -AWAY } else { AWAY };
    Some(Label {
        line,
        end: *end,
        rise,
        begins: chart.x.fraction(end.x) < LEFT,
    })
}

fn near(chart: &Chart, a: Knot, b: Knot) -> bool {
    let across = chart.x.fraction(a.x) - chart.x.fraction(b.x);
    let up = chart.y.fraction(a.y) - chart.y.fraction(b.y);
    across.abs() < NEAR[0] && up.abs() < NEAR[1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::pages::main_chart;
    use crate::url_state::ViewState;

    /// The study's chart with these heights of both curves' last two marks, and the names' places in pixels above the ends.
    fn rises(heights: [[f64; 2]; 2]) -> Vec<(String, i32)> {
        let study = fixture::study();
        let mut chart = main_chart(&study, &study.spec.slo, &ViewState::default());
        for (line, [before, end]) in chart.lines.iter_mut().zip(heights) {
            line.marks.retain(crate::chart::Mark::is_joined);
            line.marks.truncate(2);
            (line.marks[0].y, line.marks[1].y) = (before, end);
            line.marks[1].x = 1000.0;
        }
        labels(&chart)
            .iter()
            .map(|label| (label.line.name.clone(), label.rise))
            .collect()
    }

    fn check(heights: [[f64; 2]; 2], expected: [(&str, i32); 2]) {
        let expected = expected.map(|(name, rise)| (name.to_owned(), rise));
        assert_eq!(rises(heights), expected, "{heights:?}");
    }

    #[test]
    fn names_stand_where_their_lines_are_not() {
        let (off, on) = ("prefix caching off", "prefix caching on");
        check([[0.0, 10.0], [0.0, 500.0]], [(on, 13), (off, 13)]);
        check([[600.0, 400.0], [0.0, 500.0]], [(on, 13), (off, -13)]);
        // Under what ends low down are the numbers of the other axis.
        check([[600.0, 10.0], [0.0, 500.0]], [(on, 13), (off, 13)]);
    }

    #[test]
    fn names_that_would_stand_far_from_their_lines_are_left_to_the_legend() {
        let study = fixture::study();
        let mut chart = main_chart(&study, &study.spec.slo, &ViewState::default());
        let line = chart.lines[0].clone();
        chart.lines = vec![line; 6];
        let rises: Vec<i32> = labels(&chart).iter().map(|label| label.rise).collect();
        assert_eq!(rises, [13, -4, -21, -38, -55]);
        let line = chart.lines[0].clone();
        chart.lines = vec![line; 10];
        assert_eq!(labels(&chart), []);
    }

    #[test]
    fn long_names_are_cut_and_stand_within_the_chart() {
        let study = fixture::study();
        let mut chart = main_chart(&study, &study.spec.slo, &ViewState::default());
        chart.lines.truncate(1);
        let long = "max-num-seqs 4 (vLLM on a CPU: 4 or 64 sequences at once)";
        chart.lines[0].name = long.into();
        chart.lines[0].marks.retain(crate::chart::Mark::is_joined);
        for (at, begins) in [(0.1, true), (0.9, false)] {
            for mark in &mut chart.lines[0].marks {
                mark.x = chart.x.at(at);
            }
            let label = labels(&chart)[0];
            assert_eq!(label.begins, begins);
            assert_eq!(label.name(), "max-num-seqs 4 (vLLM on a…");
        }
    }

    #[test]
    fn names_keep_off_the_promise_s_words() {
        let study = fixture::study();
        let mut chart = main_chart(&study, &study.spec.slo, &ViewState::default());
        chart.lines.truncate(1);
        chart.lines[0].marks.retain(crate::chart::Mark::is_joined);
        let promise = chart.over.limit.clone().expect("a promise").value;
        let mut rise_at = |y: f64, x: f64| {
            for mark in &mut chart.lines[0].marks {
                (mark.x, mark.y) = (chart.x.at(x), y);
            }
            labels(&chart)[0].rise
        };
        assert_eq!(rise_at(promise * 1.01, 0.5), 13, "there are none");
        assert!(24 <= rise_at(promise * 1.01, 0.99), "over them");
        assert!(rise_at(promise * 0.99, 0.99) <= -8, "under them");
    }

    #[test]
    fn names_at_an_edge_that_would_meet_stand_in_rows_of_their_own() {
        let ends = [0.30, 0.31, 0.33, 0.36, 0.9];
        assert_eq!(rows_at_an_edge(&ends), [0, 1, 2, 3, 0]);
    }

    #[test]
    fn names_of_lines_that_end_together_are_stacked() {
        let (off, on) = ("prefix caching off", "prefix caching on");
        check([[0.0, 500.0], [0.0, 501.0]], [(on, 13), (off, -4)]);
        check([[600.0, 500.0], [600.0, 501.0]], [(on, -13), (off, -30)]);
        check([[300.0, 10.0], [300.0, 11.0]], [(off, 13), (on, 30)]);
    }
}
