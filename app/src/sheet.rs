//! Charts as files: a picture with the studio's facts in it, and what is plotted as rows. Studies and comparisons make them alike.

mod rows; // what is plotted, as CSV
mod svg; // the picture

pub use rows::{Source, csv, record};
pub use svg::{open_note, plain_colours, svg, within};

use measure::certificate::Innocence;

use crate::chart::Chart;
use crate::pages::main_chart;
use crate::studio::{PointView, StudyView};
use crate::ui::format;
use crate::url_state::ViewState;
use crate::words;

/// How wide a picture is, in pixels.
pub const WIDTH: f64 = 1200.0;
/// Between the edge of the picture and what stands in it.
pub const MARGIN: f64 = 40.0;
/// Letters that fit into a line of facts, also of a font as wide as that of pictures in pixels.
const LETTERS: usize = 120;
/// Letters of the heading's larger font that fit.
const HEADING: usize = 62;
/// Lines of a heading at most; more are cut.
const HEADINGS: usize = 3;
/// Lines of a legend's entry or a fact at most.
const MOST: usize = 12;
/// Between the lines of a heading.
pub const HEADING_LINE: f64 = 32.0;
/// Letters of a legend's entry that fit beside another entry.
const HALF: usize = 58;
/// Between the lines of a legend's entry.
const LINE: f64 = 20.0;

/// A picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// Its heading.
    pub title: String,
    /// What must be known beside the chart: badges, SLO.
    pub facts: Vec<String>,
    /// Each configuration's colour, with its name and its figures.
    pub legend: Vec<(usize, String)>,
    /// The charts; more than one stand side by side.
    pub panels: Vec<Panel>,
}

/// A line of a legend.
#[derive(Clone, Debug, PartialEq)]
pub struct LegendLine {
    /// Its left end, in pixels.
    pub left: f64,
    /// The height of its middle, in pixels from the top.
    pub y: f64,
    /// The colour's place, at the first line of an entry.
    pub colour: Option<usize>,
    /// What it says.
    pub text: String,
}

/// A chart of a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Its heading, where there are several.
    pub title: String,
    /// What it shows.
    pub chart: Chart,
    /// The colour's place that is drawn in grey.
    pub grey: Option<usize>,
    /// Intervals that stand for themselves.
    pub whiskers: Vec<Whisker>,
    /// A thin line that leads the eye from mark to mark.
    pub trail: Vec<(f64, f64)>,
}

/// An interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Whisker {
    /// Its place in the order of colours.
    pub colour: usize,
    /// Horizontal value.
    pub x: f64,
    /// Lower end.
    pub lo: f64,
    /// Upper end.
    pub hi: f64,
}

impl Panel {
    /// A chart that stands alone.
    pub fn alone(chart: Chart) -> Self {
        Self {
            title: String::new(),
            chart,
            grey: None,
            whiskers: Vec::new(),
            trail: Vec::new(),
        }
    }
}

/// Where something stands: left, top, width, height.
pub type Place = [f64; 4];

impl Sheet {
    /// The lines of the heading.
    pub fn heading(&self) -> Vec<String> {
        cut(wrapped(&self.title, HEADING), HEADINGS)
    }

    /// How far a heading of several lines pushes down what follows, in pixels.
    pub fn pushed(&self) -> f64 {
        HEADING_LINE * (self.heading().len() - 1) as f64
    }

    /// The lines of facts, none longer than the picture is wide.
    pub fn lines(&self) -> Vec<String> {
        let facts = self.facts.iter();
        facts
            .flat_map(|it| cut(wrapped(it, LETTERS), MOST))
            .collect()
    }

    /// Where the legend begins, in pixels from the top.
    fn legend_top(&self) -> f64 {
        92.0 + self.pushed() + LINE * self.lines().len() as f64
    }

    /// The legend line by line: two entries in a row where all are short, else one below the other, broken where they are long.
    pub fn legend_lines(&self) -> Vec<LegendLine> {
        let top = self.legend_top();
        let short = self.legend.iter().all(|(_, it)| it.chars().count() <= HALF);
        let half = (WIDTH - 2.0 * MARGIN) / 2.0;
        let (mut lines, mut below) = (Vec::new(), top);
        for (index, (colour, text)) in self.legend.iter().enumerate() {
            let (left, y) = match short {
                true => (
                    MARGIN + half * (index % 2) as f64,
                    top + 22.0 * (index / 2) as f64,
                ),
                false => (MARGIN, below),
            };
            let pieces = cut(wrapped(text, LETTERS), MOST);
            below = below.max(y) + LINE * pieces.len() as f64 + 2.0;
            let pieces = pieces.into_iter().enumerate();
            lines.extend(pieces.map(|(line, text)| LegendLine {
                left,
                y: y + LINE * line as f64,
                colour: (line == 0).then_some(*colour),
                text,
            }));
        }
        lines
    }

    /// Where what stands above the charts ends.
    fn legend_end(&self) -> f64 {
        let lines = self.legend_lines();
        let top = self.legend_top();
        lines.iter().map(|it| it.y + 22.0).fold(top, f64::max)
    }

    /// Each chart's plot, without the room for its labels.
    pub fn plots(&self) -> Vec<Place> {
        let columns = match self.panels.len() {
            0 | 1 => 1,
            2 | 4 => 2,
            _ => 3,
        };
        let (wide, high) = (
            (WIDTH - 2.0 * MARGIN) / columns as f64,
            self.height_of_one(),
        );
        // Headings of several stand above them.
        let heading = if columns == 1 { 0.0 } else { 26.0 };
        let top = self.legend_end() + 34.0 + heading;
        let place = |index: usize| {
            let (column, row) = ((index % columns) as f64, (index / columns) as f64);
            [
                MARGIN + wide * column + 60.0,
                top + (high + 110.0) * row,
                wide - 80.0,
                high,
            ]
        };
        (0..self.panels.len()).map(place).collect()
    }

    fn height_of_one(&self) -> f64 {
        if self.panels.len() < 2 { 440.0 } else { 220.0 }
    }

    /// How high the picture is.
    pub fn height(&self) -> f64 {
        let ends = self.plots().into_iter().map(|[_, top, _, high]| top + high);
        ends.fold(140.0, f64::max) + 90.0
    }
}

/// A study as its address shows it.
pub fn of_study(study: &StudyView, state: &ViewState) -> Sheet {
    let mut badges = vec![crate::ui::badge::study_word(study.state).word];
    badges.extend(
        study
            .is_simulated()
            .then_some("simulated: not measured on a real engine"),
    );
    badges.extend(study.is_insecure().then_some("insecure"));
    badges.extend((!study.imported.is_empty()).then_some("imported"));
    let legend = (0_u32..).zip(&study.configurations);
    let legend = legend.filter(|(index, _)| !state.hidden.contains(index));
    let unit = words::rate_unit(&study.spec);
    Sheet {
        title: study.spec.name.clone(),
        facts: vec![badges.join(", "), format!("SLO: {}", study.spec.slo)],
        legend: legend
            .map(|(index, one)| {
                let points = study.points.iter();
                let points: Vec<&PointView> =
                    points.filter(|it| it.configuration == index).collect();
                let ceiling = one.ceiling.as_ref();
                let ceiling = ceiling.map_or("not judged".into(), |it| words::with_unit(it, unit));
                (index as usize, legend_of(&one.spec.name, &ceiling, &points))
            })
            .collect(),
        panels: vec![Panel::alone(main_chart(study, &study.spec.slo, state))],
    }
}

/// `caching on: 11.4 req/s (10.6–12.1); n = 60–500; client clean`
pub fn legend_of(name: &str, ceiling: &str, points: &[&PointView]) -> String {
    let mut parts = vec![format!("{name}: {ceiling}")];
    parts.extend(requests(points).map(|it| format!("n = {it}")));
    parts.extend(client(points).map(|it| format!("client {it}")));
    parts.join("; ")
}

/// How many requests its points have: `500`, or `60–500`.
fn requests(points: &[&PointView]) -> Option<String> {
    let counts = points.iter().filter_map(|it| it.summary.as_ref());
    let counts = counts.map(|it| u64::from(it.scheduled));
    let (least, most) = (counts.clone().min()?, counts.max()?);
    Some(if least == most {
        format::count(least)
    } else {
        format!("{}–{}", format::count(least), format::count(most))
    })
}

/// What the client is said to be, and at how many points.
fn client(points: &[&PointView]) -> Option<String> {
    let all: Vec<Innocence> = points
        .iter()
        .filter_map(|it| it.certificate.as_ref())
        .map(|it| it.innocence)
        .collect();
    let count = |of: Innocence| all.iter().filter(|it| **it == of).count();
    let (word, number) = match (count(Innocence::Void), count(Innocence::Suspect)) {
        _ if all.is_empty() => return None,
        (0, 0) => return Some("clean".into()),
        (0, suspect) => ("suspect", suspect),
        (void, _) => ("void", void),
    };
    Some(format!("{word} at {number} of {} points", all.len()))
}

/// So many lines at most; the last says that there were more.
fn cut(mut lines: Vec<String>, most: usize) -> Vec<String> {
    if most < lines.len() {
        lines.truncate(most);
        let last = lines.last_mut().into_iter();
        last.for_each(|it| it.push_str(" …"));
    }
    lines
}

/// Places that a text takes: letters of Chinese, Japanese and Korean are as wide as two.
fn places(text: &str) -> usize {
    let wide = |letter: char| '\u{1100}' <= letter && !('\u{2000}'..'\u{2e80}').contains(&letter);
    text.chars().map(|it| 1 + usize::from(wide(it))).sum()
}

/// A long line as several of so many places at most. A word that is longer is broken.
fn wrapped(text: &str, letters: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ').flat_map(|word| broken(word, letters)) {
        let last = lines.last().map_or(0, |it| places(it));
        if 0 < last && letters < last + 1 + places(&word) {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&word);
        }
    }
    lines
}

fn broken(word: &str, letters: usize) -> Vec<String> {
    if places(word) <= letters {
        return vec![word.to_owned()];
    }
    // Half as many fit in any script.
    let all: Vec<char> = word.chars().collect();
    let pieces = all.chunks((letters / 2).max(1));
    pieces.map(|it| it.iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn a_long_title_pushes_down_what_follows_and_none_of_it_is_lost() {
        let short = of_study(&fixture::study(), &ViewState::default());
        let title = ["a-word-of-eighty-letters".repeat(4), "and more".into()].join(" ");
        let long = Sheet {
            title: title.clone(),
            ..short.clone()
        };
        assert_eq!(short.pushed(), 0.0);
        assert_eq!(
            long.heading().concat().replace(' ', ""),
            title.replace(' ', "")
        );
        assert!(long.heading().iter().all(|it| it.len() <= HEADING));
        let more = HEADING_LINE * (long.heading().len() - 1) as f64;
        assert!(0.0 < more);
        assert_eq!(long.height(), short.height() + more);
        let top = |sheet: &Sheet| sheet.legend_lines()[0].y;
        assert_eq!(top(&long), top(&short) + more);
    }

    #[test]
    fn what_has_no_end_is_cut() {
        let endless = Sheet {
            title: "endless ".repeat(10_000),
            legend: vec![(0, "endless".repeat(10_000))],
            ..of_study(&fixture::study(), &ViewState::default())
        };
        assert_eq!(endless.heading().len(), HEADINGS);
        assert!(endless.heading().concat().ends_with('…'));
        assert_eq!(endless.legend_lines().len(), MOST);
    }

    #[test]
    fn wide_letters_take_two_places() {
        let lines = wrapped(&"吞吐量".repeat(30), 62);
        assert!(
            lines.iter().all(|it| places(it) <= 62) && lines.len() == 3,
            "{lines:?}"
        );
    }

    #[test]
    fn a_sheet_carries_slo_badges_and_counts() {
        let study = fixture::study();
        let sheet = of_study(&study, &ViewState::default());
        assert!(
            sheet.facts.iter().any(|it| it.starts_with("SLO: ttft")),
            "{sheet:?}"
        );
        assert!(
            sheet.facts.iter().any(|it| it.contains("simulated")),
            "{sheet:?}"
        );
        assert!(sheet.legend[0].1.contains("n = "), "{:?}", sheet.legend);
        assert!(sheet.legend[0].1.contains("11.4"), "{:?}", sheet.legend);
    }

    #[test]
    fn charts_never_lie_over_each_other() {
        let study = fixture::study();
        let mut sheet = of_study(&study, &ViewState::default());
        for count in 1..=12 {
            sheet.panels = vec![sheet.panels[0].clone(); count];
            let places = sheet.plots();
            for (index, [left, top, wide, high]) in places.iter().enumerate() {
                assert!(0.0 <= *left && left + wide <= WIDTH && top + high < sheet.height());
                let meets = |[l, t, w, h]: &Place| {
                    *l < left + wide && *left < l + w && *t < top + high && *top < t + h
                };
                assert!(!places[index + 1..].iter().any(meets), "{count}");
            }
        }
    }

    #[test]
    fn a_legend_says_all_of_it_and_no_entry_lies_over_another() {
        let study = fixture::study();
        let mut sheet = of_study(&study, &ViewState::default());
        let entry = |name: &str| {
            format!(
                "{name}: {}; client suspect at 4 of 4 points",
                "x".repeat(60)
            )
        };
        sheet.legend = vec![(0, entry("one")), (1, entry(&"two ".repeat(30)))];
        let lines = sheet.legend_lines();
        let text: Vec<&str> = lines.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(
            text.join(" ")
                .matches("client suspect at 4 of 4 points")
                .count(),
            2
        );
        assert!(
            lines.windows(2).all(|it| it[0].y + 15.0 < it[1].y),
            "{lines:?}"
        );
        assert!(lines.iter().all(|it| it.text.chars().count() <= LETTERS));
        assert!(lines.iter().all(|it| it.y < sheet.plots()[0][1] - 30.0));
        sheet.legend = vec![(0, "one".into()), (1, "two".into())];
        let both = sheet.legend_lines();
        assert!(
            both[0].y == both[1].y && both[0].left + 500.0 < both[1].left,
            "{both:?}"
        );
    }

    #[test]
    fn long_lines_are_broken_between_words() {
        let lines = wrapped(&"abc ".repeat(100), LETTERS);
        assert!(
            lines.iter().all(|it| it.chars().count() <= LETTERS),
            "{lines:?}"
        );
        assert_eq!(lines.join(" ").split_whitespace().count(), 100);
    }
}
