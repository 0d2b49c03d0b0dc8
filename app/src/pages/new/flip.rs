//! One knob of another study, flipped: what a diagnosis advises.

use measure::study::{ConfigurationSpec, StudySpec};

/// Leaves one configuration and adds another that differs in one knob: `0:max-num-seqs=64`. Anything else changes nothing.
pub(super) fn flip(spec: &mut StudySpec, text: &str) {
    let place = text.split_once(':');
    let knob = place.and_then(|(_, knob)| knob.split_once('='));
    let index: Option<usize> = place.and_then(|(index, _)| index.parse().ok());
    let baseline = index.and_then(|it| spec.configurations.get(it)).cloned();
    let (Some((name, value)), Some(baseline)) = (knob, baseline) else {
        return;
    };
    let mut flipped = ConfigurationSpec {
        name: format!("{name} {value}"),
        ..baseline.clone()
    };
    flipped.knobs.insert(name.to_owned(), value.into());
    spec.configurations = vec![baseline, flipped];
}

#[cfg(test)]
mod tests {
    use measure::knobs::KnobValue;

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
    fn what_cannot_be_read_changes_nothing() {
        let before = StudySpec::goodput_exercise().configurations;
        for text in ["", "0", "99:a=b", "x:a=b", "0:a"] {
            assert_eq!(flipped(text), before, "{text:?}");
        }
    }
}
