//! The value beside each ceiling, as far as no other words stand there. The legend has them all.

use std::fmt::Write;

use super::{along, escaped, rounded, series_colour};
use crate::axis::Axis;
use crate::chart::{CeilingMark, Chart, Label};

/// How wide and how high a plot is at least where it is not on a phone, in pixels, and how long the words are that stand at
/// the promise's right end.
const PLOT: [f64; 3] = [620.0, 320.0, 140.0];
/// How far the middles of two lines of words must stand apart, in pixels.
const APART: f64 = 13.0;

/// The words that stand within a plot so far.
pub(super) struct Beside {
    width: f64,
    height: f64,
    taken: Vec<Words>,
}

/// Where words stand, in percent of the plot: from left to right, and their middle from the top.
struct Words {
    rightwards: bool,
    from: f64,
    to: f64,
    middle: f64,
}

impl Beside {
    /// None but those of the promise, at this fraction of the axis, and the names of lines.
    pub(super) fn new(promise: Option<f64>, chart: &Chart, names: &[Label<'_>]) -> Self {
        let [width, height, long] = PLOT;
        let words = |base: f64| Words {
            rightwards: false,
            from: 100.0 - long / width * 100.0,
            to: 100.0,
            middle: (1.0 - base) * 100.0,
        };
        let name = |label: &Label<'_>| {
            let end = along(&chart.x, label.end.x);
            let long = (7.0 * label.name().chars().count() as f64 + 8.0) / width * 100.0;
            let rise = f64::from(label.rise) / height;
            let (from, to) = if label.begins {
                (end, end + long)
            } else {
                (end - long, end)
            };
            Words {
                rightwards: label.begins,
                from,
                to,
                middle: (1.0 - chart.y.fraction(label.end.y) - rise) * 100.0,
            }
        };
        let names = names.iter().map(name);
        Self {
            width,
            height,
            taken: promise.map(words).into_iter().chain(names).collect(),
        }
    }

    /// Writes a ceiling's value beside the end that has more room, or beside the other, or under the bar, or not at all.
    pub(super) fn put(&mut self, svg: &mut String, axis: &Axis, height: f64, mark: &CeilingMark) {
        let (from, to) = (along(axis, mark.from), along(axis, mark.to));
        let long = (6.5 * mark.label.chars().count() as f64 + 10.0) / self.width * 100.0;
        let line = APART / self.height * 100.0;
        let words = |(rightwards, down): (bool, f64)| Words {
            rightwards,
            from: if rightwards { to } else { from - long },
            to: if rightwards { to + long } else { from },
            middle: rounded((1.0 - height) * 100.0 + down),
        };
        let (usual, under) = (to < 70.0, 1.5 * line);
        let places = [(usual, 0.0), (!usual, 0.0), (usual, under), (!usual, under)];
        let mut tried = places.map(words).into_iter();
        let Some(found) = tried.find(|it| self.has_room(it, line)) else {
            return;
        };
        let (end, shift, anchor) = if found.rightwards {
            (to, 6, "start")
        } else {
            (from, -6, "end")
        };
        // Writing to a string cannot fail.
        let _ = write!(
            svg,
            r#"<text x="{end}%" y="{}%" dx="{shift}" dy="4" text-anchor="{anchor}" style="fill:{};paint-order:stroke;stroke:var(--bg);stroke-width:3px">{}</text>"#,
            found.middle,
            series_colour(mark.colour),
            escaped(&mark.label)
        );
        self.taken.push(found);
    }

    fn has_room(&self, words: &Words, line: f64) -> bool {
        let inside = 0.0 <= words.from && words.to <= 100.0 && words.middle <= 100.0;
        inside
            && self.taken.iter().all(|it| {
                let apart = line <= (it.middle - words.middle).abs();
                apart || it.to <= words.from || words.to <= it.from
            })
    }
}

#[cfg(test)]
mod tests {
    use crate::chart::Over;
    use crate::figure_svg::over;
    use crate::fixture;
    use crate::pages::main_chart;
    use crate::url_state::ViewState;

    #[test]
    fn words_beside_ceilings_give_way_to_names() {
        let study = fixture::study();
        let mut chart = main_chart(&study, &study.spec.slo, &ViewState::default());
        let ceilings = vec![chart.over.ceilings[0].clone()];
        let said = |chart: &crate::chart::Chart| {
            let limit = None;
            let ceilings = ceilings.clone();
            over(&Over { limit, ceilings }, chart, true).contains("<text")
        };
        // The one line ends at the ceiling's foot, right of it, and its name lies before the bar.
        chart.lines.truncate(1);
        chart.lines[0].marks.retain(crate::chart::Mark::is_joined);
        let right = chart.x.fraction(ceilings[0].to) + 0.16;
        for mark in &mut chart.lines[0].marks {
            (mark.x, mark.y) = (chart.x.at(right), chart.y.at(0.0));
        }
        chart.lines[0].name = "a name as long as the plot of a phone is wide".into();
        assert!(!said(&chart));
        chart.lines.clear();
        assert!(said(&chart));
    }

    #[test]
    fn words_beside_ceilings_stand_on_no_others() {
        let study = fixture::study();
        let chart = main_chart(&study, &study.spec.slo, &ViewState::default());
        let words = |count: usize| {
            let (mark, limit) = (chart.over.ceilings[0].clone(), chart.over.limit.clone());
            // Names of lines would stand there as well.
            let mut chart = chart.clone();
            chart.lines.clear();
            let ceilings = vec![mark; count];
            let drawn = over(&Over { limit, ceilings }, &chart, true);
            drawn.matches("<text").count()
        };
        assert_eq!((words(1), words(2)), (1, 2));
        // Of many the legend alone has the values.
        assert_eq!((words(7), words(50)), (0, 0));
    }

    #[test]
    fn a_small_picture_has_bars_without_words() {
        let study = fixture::study();
        let mut chart = main_chart(&study, &study.spec.slo, &ViewState::default());
        chart.lines.clear();
        let drawn = over(&chart.over, &chart, false);
        assert!(drawn.contains(r#"class="ceiling""#) && !drawn.contains("<text"));
    }
}
