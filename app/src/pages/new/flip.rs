//! One knob of another study, flipped: what a diagnosis advises.

use measure::study::{ConfigurationSpec, EngineSpec, StudySpec, Turn};
use measure::units::Level;

/// Leaves one configuration and adds another that differs in one knob: `0:max-num-seqs=64`. Anything else changes nothing;
/// whether it was one.
pub(super) fn flip(spec: &mut StudySpec, text: &str) -> bool {
    let place = text.split_once(':');
    let knob = place.and_then(|(_, knob)| knob.split_once('='));
    let index: Option<usize> = place.and_then(|(index, _)| index.parse().ok());
    let baseline = index.and_then(|it| spec.configurations.get(it)).cloned();
    let (Some((name, value)), Some(baseline)) = (knob, baseline) else {
        return false;
    };
    let mut flipped = ConfigurationSpec {
        name: format!("{name} {value}"),
        turn: turn(spec, &baseline, name, value),
        ..baseline.clone()
    };
    flipped.knobs.insert(name.to_owned(), value.into());
    spec.configurations = vec![baseline, flipped];
    spec.name = called(&spec.name, name);
    true
}

/// A study's name with the knob that it flips now: `small-fast: max-num-seqs (again)` becomes `small-fast: enable-prefix-caching`.
fn called(name: &str, knob: &str) -> String {
    let name = name.trim_end_matches(" (again)");
    let stem = name.rsplit_once(": ").map_or(name, |(stem, _)| stem);
    match stem {
        "" => String::new(),
        stem => format!("{stem}: {knob}"),
    }
}

/// How the flipped knob comes about: an engine that somebody else started has to be started anew by them.
fn turn(spec: &StudySpec, baseline: &ConfigurationSpec, name: &str, value: &str) -> Turn {
    match (&spec.engine, &baseline.turn) {
        (EngineSpec::Endpoint(_), Turn::AsIs) => Turn::Pause {
            instruction: format!("restart the engine with {name} = {value}"),
        },
        (_, turn) => turn.clone(),
    }
}

/// Measures the levels that another study measured, where that study chose them itself: what is said of one of them can then be tried.
pub(super) fn fix_levels(spec: &mut StudySpec, measured: impl Iterator<Item = Level>) {
    if spec.adaptive.take().is_some() {
        let mut levels: Vec<Level> = measured.collect();
        let rate = |level: &Level| level.rate().unwrap_or(f64::INFINITY);
        levels.sort_by(|a, b| rate(a).total_cmp(&rate(b)));
        levels.dedup();
        spec.levels = levels;
    }
}

#[cfg(test)]
mod tests {
    use measure::knobs::KnobValue;
    use measure::study::{Adaptive, Api, Endpoint};

    use super::*;

    fn flipped(text: &str) -> Vec<ConfigurationSpec> {
        let mut spec = StudySpec::goodput_exercise();
        flip(&mut spec, text);
        spec.configurations
    }

    #[test]
    fn one_knob_differs_and_everything_else_stays() {
        let both = flipped("0:max-num-seqs=64");
        assert_eq!(both.len(), 2);
        assert_eq!(both[1].name, "max-num-seqs 64");
        assert_eq!(both[1].knobs["max-num-seqs"], KnobValue::Whole(64));
        let mut same = both[1].clone();
        same.knobs = both[0].knobs.clone();
        same.name = both[0].name.clone();
        assert_eq!(same, both[0]);
    }

    #[test]
    fn a_study_is_called_after_the_knob_that_it_flips() {
        for (before, after) in [
            ("small-fast: max-num-seqs (again)", "small-fast: block-size"),
            ("a study (again)", "a study: block-size"),
            ("", ""),
        ] {
            assert_eq!(called(before, "block-size"), after);
        }
    }

    #[test]
    fn an_engine_that_somebody_else_started_waits_for_them() {
        let mut spec = StudySpec::goodput_exercise();
        let endpoint = Endpoint::new("http://127.0.0.1:8000", Api::default(), "m");
        spec.engine = EngineSpec::Endpoint(endpoint);
        flip(&mut spec, "0:max-num-seqs=64");
        let Turn::Pause { instruction } = &spec.configurations[1].turn else {
            panic!("{:?}", spec.configurations[1].turn);
        };
        assert_eq!(instruction, "restart the engine with max-num-seqs = 64");
        assert_eq!(spec.configurations[0].turn, Turn::AsIs);
    }

    #[test]
    fn levels_that_a_study_chose_itself_are_measured_again() {
        let level = |rate: &str| rate.parse::<Level>().expect("a level");
        let mut spec = StudySpec::goodput_exercise();
        let before = spec.levels.clone();
        fix_levels(&mut spec, [level("3")].into_iter());
        assert_eq!(spec.levels, before, "fixed ones stay");
        let adaptive: Adaptive = "find 1-64 in 20 min".parse().expect("a sweep");
        spec.adaptive = Some(adaptive);
        fix_levels(&mut spec, ["8", "2", "8"].map(level).into_iter());
        assert_eq!(
            (spec.adaptive, spec.levels),
            (None, vec![level("2"), level("8")])
        );
    }

    #[test]
    fn what_cannot_be_read_changes_nothing() {
        let before = StudySpec::goodput_exercise().configurations;
        for text in ["", "0", "99:a=b", "x:a=b", "0:a"] {
            assert_eq!(flipped(text), before, "{text:?}");
        }
    }
}
