//! What a person has typed so far: every field as text, so that nothing typed is ever lost.
//!
//! [`super::read`] turns a draft into a [`StudySpec`], or says what is wrong at which field.

mod called; // names that follow knobs
mod endpoint; // an engine that runs, and how it is reached
mod places; // every text by its place
mod shown; // what several fields of a study become
mod workload; // a workload as the form shows it

pub use endpoint::{EndpointDraft, named};
pub use shown::HARDWARE;
use shown::{hardware, rates, same};
pub use workload::{LengthsDraft, WorkloadDraft};

use std::collections::BTreeMap;
use std::fmt;

use measure::knobs::AUTHOR;
use measure::study::{Api, ConfigurationSpec, EngineSpec, OnFailure, PointLength, StudySpec, Turn};
use measure::workload::DataKind;

/// A study to be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// Its name; empty stands for one made from the rest.
    pub name: String,
    /// `simulator` or `endpoint`.
    pub engine: String,
    /// The simulator's preset.
    pub preset: String,
    /// The engine, unless it is the simulator.
    pub endpoint: EndpointDraft,
    /// The workload.
    pub workload: WorkloadDraft,
    /// The arrival process as it is written: `poisson`, `gamma=0.5`.
    pub arrival: String,
    /// Levels, separated by blanks or commas.
    pub levels: String,
    /// Fewest requests of a point.
    pub min_requests: String,
    /// Most requests of a point.
    pub max_requests: String,
    /// Seconds of a point between the two.
    pub seconds: String,
    /// Warm-up requests.
    pub warmup: String,
    /// The seed.
    pub seed: String,
    /// Repeats of each level.
    pub repeats: String,
    /// Seconds of silence after which a stream has failed.
    pub idle_timeout: String,
    /// Seconds of waiting after the last arrival.
    pub drain: String,
    /// Seconds left out at the beginning of each point.
    pub ramp_in: String,
    /// The tokenizer's file; empty for none.
    pub tokenizer: String,
    /// `continue`, or empty where the study stops.
    pub on_failure: String,
    /// `on` where configurations may differ in several knobs.
    pub factorial: String,
    /// Who measures it; empty where nobody says.
    pub author: String,
    /// The SLO's text.
    pub slo: String,
    /// The configurations, baseline first.
    pub configurations: Vec<ConfigurationDraft>,
}

/// A configuration to be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConfigurationDraft {
    /// Its name.
    pub name: String,
    /// Knobs with a control of their own, each engine's apart: see [`ConfigurationDraft::knob`].
    pub knobs: BTreeMap<String, String>,
    /// Knobs declared of an engine that the studio does not start, and flags that the catalogue of one that it does start
    /// does not know: one `name=value` a line.
    pub declared: String,
    /// What else is declared of the engine beside its hardware, one `name=value` a line.
    pub facts: String,
    /// `as_is`, `other_endpoint` or `pause`.
    pub way: String,
    /// The other endpoint.
    pub other: EndpointDraft,
    /// What the person is asked to do.
    pub instruction: String,
}

/// Milliseconds as the seconds that a form shows: `1.5`.
fn seconds(millis: u64) -> String {
    let text = format!("{}.{:03}", millis / 1000, millis % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl From<&StudySpec> for Draft {
    fn from(spec: &StudySpec) -> Self {
        let StudySpec {
            name,
            engine,
            workload,
            arrival,
            levels,
            adaptive,
            length,
            warmup,
            seed,
            slo,
            configurations,
            repeats,
            idle_timeout_ms,
            drain_ms,
            ramp_in_ms,
            tokenizer,
            on_failure,
            factorial,
        } = spec;
        let PointLength {
            min_requests,
            max_requests,
            seconds: point_seconds,
        } = length;
        let (kind, preset, mut endpoint) = engine_parts(engine);
        if kind == "endpoint" {
            endpoint.hardware = hardware(configurations);
        }
        let mut draft = Self {
            name: name.clone(),
            engine: kind.into(),
            preset,
            endpoint,
            workload: workload.into(),
            arrival: arrival.to_string(),
            levels: rates(levels, adaptive.as_ref()),
            min_requests: min_requests.to_string(),
            max_requests: max_requests.to_string(),
            seconds: point_seconds.to_string(),
            warmup: warmup.to_string(),
            seed: seed.0.to_string(),
            repeats: repeats.to_string(),
            idle_timeout: seconds(*idle_timeout_ms),
            drain: seconds(*drain_ms),
            ramp_in: seconds(*ramp_in_ms),
            tokenizer: tokenizer.clone().unwrap_or_default(),
            on_failure: match on_failure {
                OnFailure::Stop => String::new(),
                OnFailure::Continue => "continue".into(),
            },
            factorial: if *factorial { "on" } else { "" }.into(),
            author: same(configurations.iter(), AUTHOR),
            slo: slo.to_string(),
            configurations: Vec::new(),
        };
        let all = configurations.iter();
        draft.configurations = all.map(|it| ConfigurationDraft::of(it, &draft)).collect();
        draft
    }
}

fn engine_parts(engine: &EngineSpec) -> (&'static str, String, EndpointDraft) {
    let fresh = EndpointDraft {
        api: Api::default().name().into(),
        ..EndpointDraft::default()
    };
    match engine {
        EngineSpec::Simulator { preset } => ("simulator", preset.clone(), fresh),
        EngineSpec::Endpoint(endpoint) => ("endpoint", "small-fast".into(), endpoint.into()),
        EngineSpec::Managed { name } => (
            "endpoint",
            "small-fast".into(),
            EndpointDraft::managed(name),
        ),
    }
}

impl ConfigurationDraft {
    /// As it was stated, for a draft whose engine is known.
    fn of(spec: &ConfigurationSpec, study: &Draft) -> Self {
        let ConfigurationSpec {
            name,
            knobs,
            turn,
            declared,
        } = spec;
        let mut draft = Self {
            name: name.clone(),
            way: "as_is".into(),
            ..Self::default()
        };
        match turn {
            Turn::AsIs => {}
            Turn::OtherEndpoint(endpoint) => {
                (draft.way, draft.other) = ("other_endpoint".into(), endpoint.into())
            }
            Turn::Managed { name } => {
                (draft.way, draft.other) = ("other_endpoint".into(), EndpointDraft::managed(name))
            }
            Turn::Pause { instruction } => {
                (draft.way, draft.instruction) = ("pause".into(), instruction.clone())
            }
        }
        if draft.way == "other_endpoint" {
            draft.other.hardware = declared.get(HARDWARE).cloned().unwrap_or_default();
        }
        let same = study.endpoint_of(&draft).hardware.clone();
        let rest = declared.iter();
        let rest = rest.filter(|(fact, value)| match fact.as_str() {
            HARDWARE => **value != same,
            AUTHOR => **value != study.author,
            _ => true,
        });
        draft.facts = lines(rest);
        let knobs = knobs.iter().map(|(knob, value)| (knob, value.to_string()));
        match study.engine_of(&draft).map(str::to_owned) {
            Some(engine) => knobs.for_each(|(knob, value)| draft.set_knob(&engine, knob, value)),
            None => draft.declared = lines(knobs),
        }
        draft
    }

    /// The value of an engine's knob as it was typed; empty stands for the default. Each engine has its own: what was
    /// typed for one comes back when it is chosen again, and never reaches another.
    pub fn knob(&self, engine: &str, knob: &str) -> String {
        let typed = self.knobs.get(&knob_key(engine, knob));
        typed.cloned().unwrap_or_default()
    }

    /// Types the value of an engine's knob.
    pub fn set_knob(&mut self, engine: &str, knob: &str, value: String) {
        self.knobs.insert(knob_key(engine, knob), value);
    }

    /// The knobs of an engine that have a value.
    pub fn typed<'a>(&'a self, engine: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let own = move |key: &'a str| key.strip_prefix(engine)?.strip_prefix(APART);
        let knobs = self.knobs.iter();
        let typed = knobs.filter(|(_, value)| !value.trim().is_empty());
        typed.filter_map(move |(key, value)| Some((own(key)?, value.as_str())))
    }
}

/// Between an engine's name and a knob's.
const APART: char = '\t';

fn knob_key(engine: &str, knob: &str) -> String {
    format!("{engine}{APART}{knob}")
}

/// One `name=value` a line.
fn lines<N: fmt::Display, V: fmt::Display>(pairs: impl IntoIterator<Item = (N, V)>) -> String {
    let lines = pairs.into_iter();
    let lines: Vec<String> = lines
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    lines.join("\n")
}

impl Draft {
    /// Puts another kind of engine under load. The exercise flips a knob of the simulator; an engine that somebody else
    /// started runs as it is, so there its two configurations make room for one.
    pub fn take_engine(&mut self, kind: String) {
        let exercise = Self::from(&StudySpec::goodput_exercise()).configurations;
        let alone = vec![ConfigurationDraft {
            name: called::AS_IT_RUNS.into(),
            way: "as_is".into(),
            ..ConfigurationDraft::default()
        }];
        let (from, to) = if kind == "endpoint" {
            (exercise, alone)
        } else {
            (alone, exercise)
        };
        if self.configurations == from {
            self.configurations = to;
        }
        self.engine = kind;
    }

    /// Shows every text of the draft, with its place. Knobs with controls are apart: their names are not fixed.
    pub fn each_text(&mut self, show: &mut dyn FnMut(&str, &mut String)) {
        let Self {
            name,
            engine,
            preset,
            endpoint,
            workload,
            arrival,
            levels,
            min_requests,
            max_requests,
            seconds,
            warmup,
            seed,
            repeats,
            idle_timeout,
            drain,
            ramp_in,
            tokenizer,
            on_failure,
            factorial,
            author,
            slo,
            configurations,
        } = self;
        let texts = [
            ("name", name),
            ("engine", engine),
            ("preset", preset),
            ("arrival", arrival),
            ("levels", levels),
            ("min_requests", min_requests),
            ("max_requests", max_requests),
            ("seconds", seconds),
            ("warmup", warmup),
            ("seed", seed),
            ("repeats", repeats),
            ("idle_timeout", idle_timeout),
            ("drain", drain),
            ("ramp_in", ramp_in),
            ("on_failure", on_failure),
            ("factorial", factorial),
            ("tokenizer", tokenizer),
            ("author", author),
            ("slo", slo),
        ];
        for (place, text) in texts {
            show(place, text);
        }
        endpoint.each_text("endpoint", show);
        workload.each_text(show);
        for (index, configuration) in configurations.iter_mut().enumerate() {
            configuration.each_text(&format!("configurations[{index}]"), show);
        }
    }

    /// Puts a file where one of its kind belongs.
    pub fn take_file(&mut self, file: String, kind: Option<DataKind>) {
        let taken = match kind {
            Some(DataKind::Tokenizer) => return self.tokenizer = file,
            Some(DataKind::ShareGpt) => "share_gpt_file",
            Some(DataKind::Prompts) => "prompt_file",
            Some(_) => "trace",
            None => return,
        };
        self.workload.kind = taken.into();
        self.workload.file = file;
        if let Some(format) = kind.and_then(DataKind::trace) {
            self.workload.format = format.name().into();
        }
    }

    /// Whether the built-in simulator is the engine.
    pub fn is_simulated(&self) -> bool {
        self.engine != "endpoint"
    }

    /// The endpoint that a configuration runs on, unless that is the simulator.
    pub fn endpoint_of<'a>(&'a self, configuration: &'a ConfigurationDraft) -> &'a EndpointDraft {
        if configuration.way == "other_endpoint" {
            &configuration.other
        } else {
            &self.endpoint
        }
    }

    /// Whose knobs a configuration has: an engine's that the studio starts, by its name; the simulator's, which is empty;
    /// none where they can only be declared.
    pub fn engine_of<'a>(&'a self, configuration: &'a ConfigurationDraft) -> Option<&'a str> {
        if self.is_simulated() {
            return Some("");
        }
        self.endpoint_of(configuration).managed_name()
    }

    /// Whether the studio starts the engine itself.
    pub fn is_managed(&self) -> bool {
        !self.is_simulated() && self.endpoint.managed_name().is_some()
    }

    /// A configuration to add: the baseline's values under a name that is free. An engine that somebody else started
    /// changes only while the study pauses.
    pub fn next_variant(&self) -> ConfigurationDraft {
        let base = self.configurations.first().cloned().unwrap_or_default();
        let taken = |name: &str| self.configurations.iter().any(|it| it.name == name);
        let name = (1..)
            .map(|number| format!("variant {number}"))
            .find(|name| !taken(name))
            .unwrap_or_default();
        let way = if self.is_simulated() || self.is_managed() {
            base.way
        } else {
            "pause".into()
        };
        ConfigurationDraft { name, way, ..base }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_show_as_seconds() {
        for (millis, expected) in [(0, "0"), (1500, "1.5"), (30_000, "30"), (7, "0.007")] {
            assert_eq!(seconds(millis), expected);
        }
    }

    #[test]
    fn the_exercises_knob_makes_room_for_an_engine_that_runs() {
        let exercise = Draft::from(&StudySpec::goodput_exercise());
        let mut draft = exercise.clone();
        draft.take_engine("endpoint".into());
        assert_eq!(draft.configurations.len(), 1);
        assert_eq!(draft.next_variant().way, "pause");
        draft.take_engine("simulator".into());
        assert_eq!(draft, exercise, "and comes back");
        draft.configurations[0].name = "mine".into();
        draft.take_engine("endpoint".into());
        assert_eq!(draft.configurations[0].name, "mine", "what was typed stays");
    }

    #[test]
    fn a_file_goes_where_it_belongs() {
        let mut draft = Draft::from(&StudySpec::goodput_exercise());
        for (kind, expected) in [
            (DataKind::ShareGpt, "share_gpt_file"),
            (DataKind::Prompts, "prompt_file"),
            (DataKind::BurstGpt, "trace"),
        ] {
            draft.take_file("a".into(), Some(kind));
            assert_eq!(
                (&*draft.workload.kind, &*draft.workload.file),
                (expected, "a")
            );
        }
        assert_eq!(draft.workload.format, "burst_gpt");
        draft.take_file("t".into(), Some(DataKind::Tokenizer));
        assert_eq!((&*draft.workload.file, &*draft.tokenizer), ("a", "t"));
    }

    #[test]
    fn a_new_variant_gets_a_free_name() {
        let named = |name: &str| ConfigurationDraft {
            name: name.into(),
            ..ConfigurationDraft::default()
        };
        let draft = Draft {
            configurations: vec![named("baseline"), named("variant 1")],
            ..Draft::default()
        };
        assert_eq!(draft.next_variant().name, "variant 2");
    }
}
