//! Where the names of lines stand: at their ends, and never over each other.

use measure::order::by_number;

use super::{Chart, Line, Mark};

/// How far a name's middle stands from its line's end, in pixels.
const AWAY: i32 = 13;
/// How far the middles of two names must stand apart, in pixels.
const APART: i32 = 17;
/// Ends closer than this part of an axis may have names that meet.
const NEAR: [f64; 2] = [0.3, 0.2];

/// A line's name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Label<'a> {
    /// Whose name it is.
    pub line: &'a Line,
    /// The line's end, beside which it stands, to the left.
    pub end: &'a Mark,
    /// How far above the end its middle is, in pixels.
    pub rise: i32,
}

/// The names of all lines that have an end, the uppermost first. What falls has its name below, what rises above it.
pub fn labels(chart: &Chart) -> Vec<Label<'_>> {
    let mut ends: Vec<Label<'_>> = chart.lines.iter().filter_map(label).collect();
    by_number(&mut ends, |label| -label.end.y);
    for next in 1..ends.len() {
        let (above, this) = (ends[next - 1], &mut ends[next]);
        if near(chart, above.end, this.end) {
            this.rise = this.rise.min(above.rise - APART);
        }
    }
    ends
}

fn label(line: &Line) -> Option<Label<'_>> {
    let mut marks = line.joined();
    let end = marks.next_back()?;
    let falls = marks.next_back().is_some_and(|before| end.y < before.y);
    let rise = if falls { -AWAY } else { AWAY };
    Some(Label { line, end, rise })
}

fn near(chart: &Chart, a: &Mark, b: &Mark) -> bool {
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
            line.marks.retain(Mark::is_joined);
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
        check([[600.0, 10.0], [0.0, 500.0]], [(on, 13), (off, -13)]);
    }

    #[test]
    fn names_of_lines_that_end_together_are_stacked() {
        let (off, on) = ("prefix caching off", "prefix caching on");
        check([[0.0, 100.0], [0.0, 101.0]], [(on, 13), (off, -4)]);
        check([[300.0, 100.0], [300.0, 101.0]], [(on, -13), (off, -30)]);
    }
}
