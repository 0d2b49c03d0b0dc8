//! Where a curve runs: one place a level, in the middle of its repeats.

use measure::quantile::median;

use super::{Line, Mark};

/// One place that a curve runs through.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knot {
    /// Horizontal value.
    pub x: f64,
    /// Vertical value.
    pub y: f64,
    /// Lower end of the vertical value's interval.
    pub lo: Option<f64>,
    /// Upper end of it.
    pub hi: Option<f64>,
}

impl Line {
    /// The places that the curve runs through, by rising load. Where a level was repeated, each value is the median of its
    /// repeats', and an end of the interval is there only where each repeat has it.
    pub fn knots(&self) -> Vec<Knot> {
        let joined: Vec<&Mark> = self.marks.iter().filter(|mark| mark.is_joined()).collect();
        let alike = joined.chunk_by(|before, after| before.level == after.level);
        alike.map(knot).collect()
    }
}

fn knot(repeats: &[&Mark]) -> Knot {
    let middle = |of: fn(&Mark) -> Option<f64>| {
        let values: Option<Vec<f64>> = repeats.iter().map(|mark| of(mark)).collect();
        values.and_then(median)
    };
    let [x, y] =
        [middle(|mark| Some(mark.x)), middle(|mark| Some(mark.y))].map(Option::unwrap_or_default);
    Knot {
        x,
        y,
        lo: middle(|mark| mark.lo),
        hi: middle(|mark| mark.hi),
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture;
    use crate::pages::main_chart;
    use crate::url_state::ViewState;

    #[test]
    fn repeats_of_a_rate_are_one_place_of_the_curve() {
        let study = fixture::study();
        let mut chart = main_chart(&study, &study.spec.slo, &ViewState::default());
        let line = &mut chart.lines[0];
        let before = line.knots();
        // The second rate three times: its value in the middle, one far above, one below.
        let (mut above, mut below) = (line.marks[1].clone(), line.marks[1].clone());
        (above.y, above.hi) = (5000.0, None);
        (below.y, below.x) = (1.0, 1.0);
        line.marks.splice(1..1, [above, below]);
        let after = line.knots();
        assert_eq!(after.len(), before.len());
        assert_eq!((after[1].x, after[1].y), (before[1].x, before[1].y));
        assert_eq!((after[1].lo, after[1].hi), (before[1].lo, None));
    }
}
