//! Ceilings against the values of one knob: of three and more settings, everything else alike.

use measure::curve::Ceiling;
use measure::decimal;
use measure::knobs::{Comparability, Fact, Source};
use measure::units::Level;

use super::state::short;
use super::{CompareState, listed, name_of, unit};
use crate::axis::Axis;
use crate::chart::{Chart, Fill, Line, Mark, Over, Place};
use crate::sheet::{Panel, Whisker, record};
use crate::studio::{CompareView, PairComparison};
use crate::ui::format;
use crate::ui::html::{Html, heads, html, table};

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

/// The one knob by which all compared configurations differ, with its value in each, the baseline's first. Names are people's words;
/// this is what was set.
pub fn one_knob(compared: &CompareView) -> Option<(&str, Vec<&str>)> {
    let first = compared.pairs.first()?;
    let (name, baseline, _) = turned(first)?;
    let mut values = vec![baseline];
    for pair in &compared.pairs {
        let (of, from, to) = turned(pair)?;
        (of == name && from == baseline).then(|| values.push(to))?;
    }
    Some((name, values))
}

/// The knob that a pair differs by, its value in the baseline and in the candidate, where both are known.
fn turned(pair: &PairComparison) -> Option<(&str, &str, &str)> {
    let Comparability::OneVariable { differing, .. } = &pair.comparability else {
        return None;
    };
    let name = differing.name.strip_prefix("knob:")?;
    let (from, to) = (differing.baseline.as_ref()?, differing.candidate.as_ref()?);
    (!differing.is_one_sided()).then_some((name, from.value.as_str(), to.value.as_str()))
}

/// As much of a setting as a heading holds: a chat template is one, too.
pub fn shortened(value: &str) -> String {
    match value.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", value[..end].trim_end()),
        None => value.to_owned(),
    }
}

/// What a configuration's knob was set to, where its name does not say so: `max-num-seqs 8`.
pub fn unsaid(compared: &CompareView, index: usize) -> Option<String> {
    let mut pairs = compared.pairs.iter();
    let (knob, value) = match index {
        0 => pairs
            .find_map(turned)
            .map(|(knob, baseline, _)| (knob, baseline)),
        _ => pairs
            .find(|it| it.candidate as usize == index)
            .and_then(turned)
            .map(|(knob, _, value)| (knob, value)),
    }?;
    let name = &compared.configurations.get(index)?.configuration.spec.name;
    let mut words = name.split(|c: char| !(c.is_alphanumeric() || "._-+".contains(c)));
    let is_said = words.any(|word| word == value);
    (!is_said).then(|| format!("{knob} {}", shortened(value)))
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

/// What is said of a knob in the address that is no axis here.
pub fn in_vain(state: &CompareState, compared: &CompareView) -> Option<String> {
    let wanted = state.knob.as_ref()?;
    let all = knobs(compared);
    let shown = match all.first() {
        _ if all.iter().any(|it| it.name == *wanted) => return None,
        Some(first) => format!("{} is on the axis", first.name),
        None => "there is none".to_owned(),
    };
    let wanted = short(wanted);
    Some(format!(
        "knob={wanted} is no knob that three of these configurations set to different numbers: {shown}."
    ))
}

/// Its chart: a mark and its whisker a configuration, in the configuration's own colour.
pub fn panel(state: &CompareState, compared: &CompareView, knob: &Knob) -> Panel {
    let (mut lines, mut whiskers, mut dark) = (Vec::new(), Vec::new(), Vec::new());
    for (index, value) in &knob.settings {
        let ceiling = compared.configurations[*index].configuration.ceiling;
        let (mark, ends) = ceiling.as_ref().map_or((None, None), stands);
        if mark.is_none() && ends.is_none() {
            dark.push(name_of(compared, *index));
        }
        let colour = state.colour(compared, *index);
        let x = *value;
        whiskers.extend(ends.map(|(lo, hi)| Whisker { colour, x, lo, hi }));
        let mark = mark.map(|(y, place)| at(compared, *index, (x, y), place));
        lines.push(Line {
            name: String::new(),
            colour,
            marks: mark.into_iter().collect(),
        });
    }
    let ends = whiskers.iter().map(|it| it.hi);
    let unit = unit(compared);
    let chart = chart(knob, lines, (ends.collect(), tried(compared)), unit, &dark);
    Panel {
        trail: trail(&chart),
        whiskers,
        ..Panel::alone(chart)
    }
}

fn at(compared: &CompareView, index: usize, (x, y): (f64, f64), place: Place) -> Mark {
    Mark {
        id: compared.configurations[index].configuration.id,
        level: Level::Inf,
        x,
        y,
        lo: None,
        hi: None,
        place,
        fill: Fill::Solid,
        hover: hover(compared, index, x),
    }
}

/// The rates that were tried.
fn tried(compared: &CompareView) -> Vec<f64> {
    let points = compared.configurations.iter().flat_map(|it| &it.points);
    points.filter_map(|point| point.level.rate()).collect()
}

/// From value to value, in the order of the knob.
fn trail(chart: &Chart) -> Vec<(f64, f64)> {
    let marks = chart.lines.iter().flat_map(|it| &it.marks);
    let marks = marks.filter(|it| it.place == Place::Value);
    marks.map(|it| (it.x, it.y)).collect()
}

fn chart(
    knob: &Knob,
    mut lines: Vec<Line>,
    (ends, tried): (Vec<f64>, Vec<f64>),
    unit: &str,
    dark: &[String],
) -> Chart {
    let values = knob.settings.iter().map(|(_, value)| *value);
    let (least, most) = (
        values.clone().fold(f64::INFINITY, f64::min),
        values.clone().fold(0.0, f64::max),
    );
    let log = 0.0 < least && least * 8.0 <= most;
    let heights = lines.iter().flat_map(|it| &it.marks).map(|it| it.y);
    let title = format!("goodput ceiling ({unit})");
    let ends: Vec<f64> = heights.chain(ends).collect();
    // Where no ceiling is known, the axis is that of the rates that were tried.
    let ends = if ends.is_empty() { tried } else { ends };
    let y = Axis::over(title, ends, false);
    let mut notes = Vec::new();
    let marks = lines.iter_mut().flat_map(|it| &mut it.marks);
    for mark in marks.filter(|it| it.place == Place::Above) {
        mark.y = y.top();
        notes = vec!["↑ at least the highest rate tried: there is no upper end.".to_owned()];
    }
    if !dark.is_empty() {
        notes.push(format!("No ceiling is known of {}.", listed(dark)));
    }
    Chart {
        title: format!("Goodput ceiling against {}", knob.name),
        x: Axis::over(knob.name.clone(), values, log),
        y,
        lines,
        over: Over::default(),
        notes,
    }
}

/// The same as a table.
pub fn numbers(compared: &CompareView, knob: &Knob) -> Html {
    let (name, ceiling) = (
        format!("#{}", knob.name),
        format!("#goodput ceiling ({})", unit(compared)),
    );
    let rows = knob.settings.iter().map(|(index, value)| {
        html!(
            r#"<tr><td>{}</td><td class="num">{}</td><td class="num">{}</td></tr>"#,
            name_of(compared, *index),
            format::number(*value),
            said(compared, *index)
        )
    });
    table(
        "",
        &format!("Goodput ceiling against {}", knob.name),
        heads(["configuration", &name, &ceiling]),
        rows.collect(),
    )
}

/// The same as rows for other programs.
pub fn csv(compared: &CompareView, knob: &Knob) -> String {
    let head = [
        "configuration",
        "study",
        "study_id",
        "knob",
        "value",
        "unit",
        "ceiling",
        "ceiling_lo",
        "ceiling_hi",
        "said",
        "simulated",
        "slo",
    ];
    let mut text = record(&head.map(str::to_owned));
    let number = |it: Option<f64>| it.map_or(String::new(), |it| it.to_string());
    for (index, value) in &knob.settings {
        let one = &compared.configurations[*index];
        let (mark, ends) = one
            .configuration
            .ceiling
            .as_ref()
            .map_or((None, None), stands);
        let at = mark.filter(|(_, place)| *place == Place::Value);
        let at_least = mark.filter(|(_, place)| *place == Place::Above);
        text += &record(&[
            name_of(compared, *index),
            one.study_name.clone(),
            one.study.to_string(),
            knob.name.clone(),
            value.to_string(),
            unit(compared).to_owned(),
            number(at.map(|(y, _)| y)),
            number(ends.map(|(lo, _)| lo).or(at_least.map(|(lo, _)| lo))),
            number(ends.map(|(_, hi)| hi)),
            said(compared, *index),
            one.simulated.to_string(),
            compared.slo.to_string(),
        ]);
    }
    text
}

fn said(compared: &CompareView, index: usize) -> String {
    let ceiling = compared.configurations[index]
        .configuration
        .ceiling
        .as_ref();
    ceiling.map_or("not judged".into(), format::ceiling)
}

fn hover(compared: &CompareView, index: usize, value: f64) -> String {
    format!(
        "{}, {} at {}",
        name_of(compared, index),
        said(compared, index),
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
