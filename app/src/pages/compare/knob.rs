//! Ceilings against the values of one knob: of three and more settings, everything else alike.

use measure::curve::Ceiling;
use measure::decimal;
use measure::knobs::{Comparability, Fact, Source};
use measure::units::Level;

use super::{CompareState, name_of, unit};
use crate::axis::Axis;
use crate::chart::{Chart, Fill, Line, Mark, Place};
use crate::sheet::Panel;
use crate::studio::CompareView;
use crate::ui::format;

/// Fewer settings are no axis.
const LEAST: usize = 3;

/// A knob with the compared configurations that differ in it alone, by its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Knob {
    /// Its name.
    pub name: String,
    /// Index of the configuration, and its value.
    pub settings: Vec<(usize, f64)>,
}

/// The knobs that make an axis: numbers, of three settings at least.
pub fn knobs(compared: &CompareView) -> Vec<Knob> {
    let mut found: Vec<Knob> = Vec::new();
    for pair in &compared.pairs {
        let Comparability::OneVariable { differing, beside } = &pair.comparability else {
            continue;
        };
        let Some(name) = differing.name.strip_prefix("knob:") else {
            continue;
        };
        let both = number(&differing.baseline).zip(number(&differing.candidate));
        let Some((baseline, value)) = both.filter(|_| beside.is_empty()) else {
            continue;
        };
        let setting = (pair.candidate as usize, value);
        match found.iter_mut().find(|it| it.name == name) {
            Some(knob) => knob.settings.push(setting),
            None => found.push(Knob {
                name: name.to_owned(),
                settings: vec![(0, baseline), setting],
            }),
        }
    }
    found.retain(|it| LEAST <= it.settings.len());
    for knob in &mut found {
        knob.settings.sort_by(|one, two| one.1.total_cmp(&two.1));
    }
    found
}

fn number(fact: &Option<Fact>) -> Option<f64> {
    let fact = fact.as_ref().filter(|it| it.source != Source::Unknown)?;
    decimal::parse(&fact.value).filter(|it| it.is_finite())
}

/// The knob on the axis: the one that is asked for, else the first.
pub fn chosen(state: &CompareState, compared: &CompareView) -> Option<Knob> {
    let mut all = knobs(compared);
    let wanted = state.knob.as_ref();
    let place = all.iter().position(|it| Some(&it.name) == wanted);
    (!all.is_empty()).then(|| all.swap_remove(place.unwrap_or_default()))
}

/// Its chart.
pub fn panel(compared: &CompareView, knob: &Knob) -> Panel {
    let (mut marks, mut whiskers) = (Vec::new(), Vec::new());
    for (index, value) in &knob.settings {
        let one = &compared.configurations[*index];
        let Some(ceiling) = &one.configuration.ceiling else {
            continue;
        };
        let (mark, ends) = stands(ceiling);
        whiskers.extend(ends.map(|(lo, hi)| (*value, lo, hi)));
        marks.extend(mark.map(|(at, place)| Mark {
            id: one.configuration.id,
            level: Level::Inf,
            x: *value,
            y: at,
            lo: None,
            hi: None,
            place,
            fill: Fill::Solid,
            hover: hover(compared, *index, *value),
        }));
    }
    Panel {
        title: String::new(),
        chart: chart(knob, marks, &whiskers, unit(compared)),
        grey: None,
        whiskers,
    }
}

fn chart(knob: &Knob, mut marks: Vec<Mark>, whiskers: &[(f64, f64, f64)], unit: &str) -> Chart {
    let values = knob.settings.iter().map(|(_, value)| *value);
    let (least, most) = (
        values.clone().fold(f64::INFINITY, f64::min),
        values.clone().fold(0.0, f64::max),
    );
    let x = Axis::over(knob.name.clone(), values, 0.0 < least && least * 8.0 <= most);
    let ends = whiskers.iter().map(|(.., hi)| *hi);
    let y = Axis::over(
        format!("goodput ceiling ({unit})"),
        marks.iter().map(|it| it.y).chain(ends),
        false,
    );
    let above = marks.iter_mut().filter(|it| it.place == Place::Above);
    let mut open = false;
    for mark in above {
        open = true;
        mark.y = y.top();
    }
    let note = "↑ at least the highest rate tried: its value is in the table.";
    Chart {
        title: format!("Goodput ceiling against {}", knob.name),
        x,
        y,
        lines: vec![Line {
            name: String::new(),
            colour: 0,
            marks,
            ceiling: None,
        }],
        limit: None,
        notes: open.then(|| note.to_owned()).into_iter().collect(),
    }
}

fn hover(compared: &CompareView, index: usize, value: f64) -> String {
    let ceiling = compared.configurations[index].configuration.ceiling.as_ref();
    format!(
        "{}: {} at {}",
        name_of(compared, index),
        ceiling.map_or("not judged".into(), format::ceiling),
        format::number(value)
    )
}

/// A mark's height, where there is one, and the whisker's ends.
type Stands = (Option<(f64, Place)>, Option<(f64, f64)>);

/// Where a ceiling stands: its value or a direction, and its interval.
fn stands(ceiling: &Ceiling) -> Stands {
    match *ceiling {
        Ceiling::Bracket { value, lo, hi } => (Some((value, Place::Value)), Some((lo, hi))),
        Ceiling::AtLeast { lo } => (Some((lo, Place::Above)), None),
        Ceiling::NoneKept { hi } => (None, Some((0.0, hi))),
        Ceiling::Unresolved {
            lo: Some(lo),
            hi: Some(hi),
        } if lo < hi => (None, Some((lo, hi))),
        Ceiling::Unresolved { .. } | Ceiling::Ramped => (None, None),
    }
}
