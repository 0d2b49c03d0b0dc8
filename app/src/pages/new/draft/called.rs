//! Names of configurations that nobody typed: they follow the knobs.

use super::{ConfigurationDraft, Draft};

/// The baseline of an engine that somebody else started, where no knob is stated.
pub(super) const AS_IT_RUNS: &str = "as it runs";
/// What a configuration that was added is called, with a number, until a knob is turned.
const VARIANT: &str = "variant";

impl Draft {
    /// What each configuration would be called by the knobs it states: `max-num-seqs 64`.
    pub fn called(&self) -> Vec<String> {
        let all = self.configurations.iter().enumerate();
        all.map(|(index, it)| self.by_knobs(it).unwrap_or_else(|| of_none(index)))
            .collect()
    }

    /// The draft with names that follow the knobs: of a configuration whose knobs called it otherwise before, and whose name
    /// was that, or one that says nothing. `None` where no name changes.
    pub fn following(&self, before: &[String]) -> Option<Self> {
        let mut followed = self.clone();
        let named = self.called().into_iter().zip(before);
        for (configuration, (now, before)) in followed.configurations.iter_mut().zip(named) {
            let made = configuration.name == *before || says_nothing(&configuration.name);
            if made && now != *before {
                configuration.name = now;
            }
        }
        (followed != *self).then_some(followed)
    }

    fn by_knobs(&self, configuration: &ConfigurationDraft) -> Option<String> {
        let told = |(name, value): (&str, &str)| format!("{name} {}", value.trim());
        let knobs: Vec<String> = match self.engine_of(configuration) {
            Some(engine) => configuration.typed(engine).map(told).collect(),
            None => configuration.declared().map(told).collect(),
        };
        (!knobs.is_empty()).then(|| knobs.join(", "))
    }
}

impl ConfigurationDraft {
    /// Knobs that are declared, one `name=value` a line; those without a value are left out.
    fn declared(&self) -> impl Iterator<Item = (&str, &str)> {
        let pairs = self.declared.lines().filter_map(|it| it.split_once('='));
        let plain = pairs.map(|(name, value)| (name.trim().trim_start_matches("--"), value));
        plain.filter(|(_, value)| !value.trim().is_empty())
    }
}

fn of_none(index: usize) -> String {
    match index {
        0 => AS_IT_RUNS.to_owned(),
        _ => format!("{VARIANT} {index}"),
    }
}

/// Whether a name is one that is given where there is nothing to be named after.
fn says_nothing(name: &str) -> bool {
    let numbered = |rest: &str| rest.trim_start().bytes().all(|it| it.is_ascii_digit());
    name == AS_IT_RUNS || name.strip_prefix(VARIANT).is_some_and(numbered)
}

#[cfg(test)]
mod tests {
    use measure::study::{Preset, StudySpec};

    use super::*;

    fn draft() -> Draft {
        Draft::from(&Preset::Knob.study(&[]))
    }

    fn names(draft: &Draft) -> Vec<&str> {
        let all = draft.configurations.iter();
        all.map(|it| it.name.as_str()).collect()
    }

    /// The draft after a change, as the page has it.
    fn changed(before: &Draft, change: impl FnOnce(&mut Draft)) -> Draft {
        let mut after = before.clone();
        change(&mut after);
        after.following(&before.called()).unwrap_or(after)
    }

    #[test]
    fn a_name_made_from_a_knob_follows_it() {
        let draft = changed(&draft(), |it| {
            it.configurations[1].set_knob("", "max-num-seqs", "64".into())
        });
        assert_eq!(names(&draft), ["max-num-seqs 32", "max-num-seqs 64"]);
    }

    #[test]
    fn a_name_that_somebody_typed_stays() {
        let typed = changed(&draft(), |it| it.configurations[1].name = "wide".into());
        let draft = changed(&typed, |it| {
            it.configurations[1].set_knob("", "max-num-seqs", "64".into())
        });
        assert_eq!(names(&draft), ["max-num-seqs 32", "wide"]);
        let exercise = Draft::from(&StudySpec::goodput_exercise());
        let told = changed(&exercise, |it| {
            it.configurations[0].set_knob("", "max-num-seqs", "8".into())
        });
        assert_eq!(names(&told), names(&exercise));
    }

    #[test]
    fn another_engine_takes_the_names_of_knobs_away_and_gives_them_back() {
        let elsewhere = changed(&draft(), |it| it.take_engine("endpoint".into()));
        assert_eq!(names(&elsewhere), ["as it runs", "variant 1"]);
        let back = changed(&elsewhere, |it| it.take_engine("simulator".into()));
        assert_eq!(names(&back), ["max-num-seqs 32", "max-num-seqs 128"]);
    }

    #[test]
    fn a_variant_is_called_by_what_is_declared_of_it() {
        let elsewhere = changed(&draft(), |it| it.take_engine("endpoint".into()));
        let told = changed(&elsewhere, |it| {
            it.configurations[1].declared = "--block-size=16\nempty=".into()
        });
        assert_eq!(names(&told), ["as it runs", "block-size 16"]);
    }

    #[test]
    fn a_copy_of_the_baseline_is_called_once_its_knob_is_turned() {
        let added = changed(&draft(), |it| it.configurations.push(it.next_variant()));
        assert_eq!(names(&added)[2], "variant 1");
        let turned = changed(&added, |it| {
            it.configurations[2].set_knob("", "max-num-seqs", "8".into())
        });
        assert_eq!(names(&turned)[2], "max-num-seqs 8");
        assert_eq!(turned.following(&turned.called()), None);
    }
}
