//! Questions that studies are most often begun with, as studies whose defaults are good science.

use super::{Adaptive, ConfigurationSpec, EngineSpec, PointLength, StudySpec, Turn};
use crate::knobs::KnobValue;
use crate::units::Level;

/// A question, and the study that answers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// One knob at two values, so short that it says little and shows everything.
    Quick,
    /// Prefix caching on and off, from half an arrival a second to all at once, on the simulator.
    Exercise,
    /// One configuration, rates chosen by what the points show.
    Ceiling,
    /// The same requests on two engines.
    Engines,
    /// Two configurations that differ in one knob.
    Knob,
    /// One configuration at three rates, each measured five times, to be held against earlier runs.
    Regression,
}

impl Preset {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 6] = [
        Self::Quick,
        Self::Ceiling,
        Self::Knob,
        Self::Engines,
        Self::Regression,
        Self::Exercise,
    ];

    /// Its name in an address.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Exercise => "exercise",
            Self::Ceiling => "ceiling",
            Self::Engines => "engines",
            Self::Knob => "knob",
            Self::Regression => "regression",
        }
    }

    /// The preset of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|preset| preset.name() == name)
    }

    /// What it is called where it is chosen.
    pub fn title(self) -> &'static str {
        match self {
            Self::Quick => "A quick look",
            Self::Exercise => "Goodput exercise",
            Self::Ceiling => "Find the ceiling",
            Self::Engines => "Compare engines",
            Self::Knob => "Flip one knob",
            Self::Regression => "Check for a regression",
        }
    }

    /// The question it answers.
    pub fn question(self) -> &'static str {
        match self {
            Self::Quick => "What does one knob do? Few rates, short points: about two minutes.",
            Self::Exercise => {
                "What does prefix caching bring? On the simulator, without any engine."
            }
            Self::Ceiling => {
                "Up to which request rate is the SLO kept? The sweep chooses its rates."
            }
            Self::Engines => "Which engine keeps the SLO further, on the very same requests?",
            Self::Knob => "What does one setting change, everything else being the same?",
            Self::Regression => {
                "Is it as fast as the last time? Few rates, each measured five times."
            }
        }
    }

    /// The study, on the first of these engines (the simulator where there is none), without a name.
    pub fn study(self, engines: &[EngineSpec]) -> StudySpec {
        let exercise = StudySpec::goodput_exercise();
        if self == Self::Exercise {
            return exercise;
        }
        let engine = engines.first().cloned().unwrap_or(exercise.engine.clone());
        let mut study = StudySpec {
            name: String::new(),
            configurations: vec![as_it_is(&engine)],
            engine,
            ..exercise
        };
        match self {
            Self::Ceiling => find_ceiling(&mut study),
            Self::Engines => add_engine(&mut study, engines.get(1)),
            Self::Knob => add_variant(&mut study, PLACES),
            Self::Quick => look_quickly(&mut study),
            Self::Regression => measure_again(&mut study),
            Self::Exercise => {}
        }
        study
    }
}

fn as_it_is(engine: &EngineSpec) -> ConfigurationSpec {
    let name = match engine {
        EngineSpec::Simulator { preset } => preset.clone(),
        EngineSpec::Endpoint(endpoint) => endpoint.model.clone(),
        EngineSpec::Managed { name } => name.clone(),
    };
    ConfigurationSpec {
        name,
        ..ConfigurationSpec::default()
    }
}

fn find_ceiling(study: &mut StudySpec) {
    study.adaptive = "find 1-64 in 30 min".parse::<Adaptive>().ok();
    // Fewer decide hardly any rate that is close to the ceiling.
    study.length.max_requests = 4000;
    study.levels = Vec::new();
}

/// Rates on both sides of where most engines end, as few requests as give a p95 an upper end.
fn look_quickly(study: &mut StudySpec) {
    add_variant(study, FAR_APART);
    study.levels = ["2", "6", "12", "24"]
        .iter()
        .filter_map(|rate| rate.parse().ok())
        .collect();
    study.length = PointLength {
        min_requests: 100,
        max_requests: 300,
        seconds: 8,
    };
}

/// The second engine: another of those that are there.
fn add_engine(study: &mut StudySpec, other: Option<&EngineSpec>) {
    let Some(other) = other else {
        // Nothing to set beside it but itself with a knob turned.
        return add_variant(study, PLACES);
    };
    let turn = match other {
        EngineSpec::Endpoint(endpoint) => Turn::OtherEndpoint(endpoint.clone()),
        EngineSpec::Managed { name } => Turn::Managed { name: name.clone() },
        EngineSpec::Simulator { .. } => return add_variant(study, PLACES),
    };
    study.configurations.push(ConfigurationSpec {
        turn,
        ..as_it_is(other)
    });
}

/// Places for sequences on the simulator, before and after the turn.
const PLACES: [i64; 2] = [32, 128];
/// The same so far apart that few requests show it.
const FAR_APART: [i64; 2] = [8, 64];

/// A variant: on the simulator with a knob turned; elsewhere the knob is for the person to choose.
fn add_variant(study: &mut StudySpec, places: [i64; 2]) {
    let mut variant = ConfigurationSpec {
        name: "variant 1".to_owned(),
        ..ConfigurationSpec::default()
    };
    let knob = "max-num-seqs";
    let named = |value: i64| ConfigurationSpec {
        name: format!("{knob} {value}"),
        knobs: [(knob.to_owned(), KnobValue::Whole(value))].into(),
        ..ConfigurationSpec::default()
    };
    match &study.engine {
        EngineSpec::Simulator { .. } => study.configurations = places.map(named).into(),
        EngineSpec::Endpoint(_) => {
            variant.turn = Turn::Pause {
                instruction: "restart the engine with the knob turned".to_owned(),
            }
        }
        EngineSpec::Managed { .. } => {}
    }
    if study.configurations.len() == 1 {
        study.configurations.push(variant);
    }
}

fn measure_again(study: &mut StudySpec) {
    let kept = study
        .levels
        .iter()
        .copied()
        .filter(|level| level.rate().is_some());
    let kept: Vec<Level> = kept.collect();
    // A low, a middle and a high rate: three operating points have a history each.
    study.levels = [1, 3, 5]
        .iter()
        .filter_map(|at| kept.get(*at).copied())
        .collect();
    study.repeats = 5;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::{Api, Endpoint};

    fn endpoint(model: &str) -> EngineSpec {
        let url = format!("http://127.0.0.1/{model}");
        EngineSpec::Endpoint(Endpoint::new(url, Api::default(), model))
    }

    #[test]
    fn each_can_run_as_it_is_on_the_simulator() {
        for preset in Preset::ALL {
            let mut study = preset.study(&[]);
            study.name = preset.title().to_owned();
            assert_eq!(study.check(), [], "{preset:?}");
            assert_eq!(Preset::of_name(preset.name()), Some(preset));
        }
    }

    #[test]
    fn two_engines_get_the_same_requests() {
        let both = [endpoint("a"), endpoint("b")];
        let study = Preset::Engines.study(&both);
        assert_eq!(study.engine, both[0]);
        let turns: Vec<&Turn> = study.configurations.iter().map(|it| &it.turn).collect();
        assert!(
            matches!(turns[..], [Turn::AsIs, Turn::OtherEndpoint(_)]),
            "{turns:?}"
        );
    }

    #[test]
    fn a_regression_is_sought_at_rates_measured_five_times() {
        let study = Preset::Regression.study(&[]);
        assert_eq!((study.levels.len(), study.repeats), (3, 5));
        assert_eq!(study.configurations.len(), 1);
    }
}
