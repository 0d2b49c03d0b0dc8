//! Which settings an engine has: flag, type, range, default, and what each does to the curve. Data, a file an engine in
//! `catalogue/`, each with a version of its own.
//!
//! A study gives values; here they are checked and become arguments. Nothing that a study says becomes a part of an
//! argument that it was not meant for.

mod render; // from values to arguments
mod value; // is it one of those allowed

use std::sync::OnceLock;

use measure::knobs::{KnobError, KnobSpec, KnobValue, simulator_knobs};
use serde::{Deserialize, Serialize};

use crate::launch::Flag;
pub use render::Flags;

/// The settings of one engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    /// By which it is named: `vllm`.
    pub engine: String,
    /// As people write it: `vLLM`.
    pub title: String,
    /// Of this list; it rises with every change.
    pub version: u32,
    /// The engine's version that it was checked against; `None` where it never was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<String>,
    /// The path that says whether the engine is well.
    pub health: String,
    /// How its prefix cache is reset between points; `None` where only a restart does that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_reset: Option<String>,
    /// Flag and value are one argument, `--flag=value`.
    pub joined: bool,
    /// How its switches are written.
    pub switch: SwitchStyle,
    /// Every knob is a value of this one flag: `--knob name=value`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<String>,
    /// The settings.
    #[serde(rename(deserialize = "knob"))]
    pub knobs: Vec<Knob>,
}

/// How an engine writes switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SwitchStyle {
    /// `--flag` and `--no-flag`.
    Negatable,
    /// `--flag`, or nothing.
    Set,
    /// As a value: on and off.
    Value,
}

/// One setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Knob {
    /// The flag without its dashes.
    pub name: String,
    /// What values it takes.
    pub kind: Kind,
    /// Smallest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// Largest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// The words of a choice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// The form of a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Pattern>,
    /// What the engine takes where nothing is set, in words where it depends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// What it does to the curve.
    pub about: String,
    /// The engine's version that first had it, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Its other names, with their dashes, as commands may hold them: `-np`.
    #[serde(default, skip_serializing)]
    pub aliases: Vec<String>,
    /// The environment variable that it is, where it is no flag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<String>,
    /// How this switch is written, where that differs from the engine's others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch: Option<SwitchStyle>,
}

/// What values a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// On or off.
    Switch,
    /// A whole number.
    Whole,
    /// A number.
    Fraction,
    /// One of a few words.
    Choice,
    /// Any text without blanks.
    Text,
    /// A JSON object.
    Json,
}

/// The form of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// A number of bytes, with or without K, M, G or T.
    Size,
}

const FILES: &[&str] = &[
    include_str!("../catalogue/vllm.toml"),
    include_str!("../catalogue/sglang.toml"),
    include_str!("../catalogue/llamacpp.toml"),
    include_str!("../catalogue/tensorrt-llm.toml"),
    include_str!("../catalogue/tgi.toml"),
    include_str!("../catalogue/lmdeploy.toml"),
    include_str!("../catalogue/ollama.toml"),
    include_str!("../catalogue/simulator.toml"),
];

/// Every catalogue.
pub fn catalogues() -> &'static [Catalogue] {
    static ALL: OnceLock<Vec<Catalogue>> = OnceLock::new();
    // A test reads every file: what cannot be read is not shipped.
    ALL.get_or_init(|| FILES.iter().filter_map(|text| read(text).ok()).collect())
}

/// The catalogue of an engine, by its name here.
pub fn catalogue(engine: &str) -> Option<&'static Catalogue> {
    catalogues().iter().find(|it| it.engine == engine)
}

fn read(text: &str) -> Result<Catalogue, toml::de::Error> {
    let mut catalogue: Catalogue = toml::from_str(text)?;
    if catalogue.engine == "simulator" {
        catalogue.knobs = simulator_knobs().into_iter().map(Knob::from).collect();
    }
    Ok(catalogue)
}

impl From<KnobSpec> for Knob {
    fn from(spec: KnobSpec) -> Self {
        let kind = match spec.default {
            KnobValue::Switch(_) => Kind::Switch,
            KnobValue::Whole(_) => Kind::Whole,
            KnobValue::Fraction(_) => Kind::Fraction,
            KnobValue::Word(_) => Kind::Text,
        };
        let number = |value: i64| (kind != Kind::Switch).then_some(value as f64);
        Self {
            name: spec.name.to_owned(),
            kind,
            min: number(spec.min),
            max: number(spec.max),
            choices: Vec::new(),
            pattern: None,
            default: Some(spec.default.to_string()),
            about: spec.about.to_owned(),
            since: None,
            aliases: Vec::new(),
            env: None,
            switch: None,
        }
    }
}

impl Catalogue {
    /// The setting of a name.
    pub fn knob(&self, name: &str) -> Option<&Knob> {
        self.knobs.iter().find(|knob| knob.name == name)
    }

    /// A setting as commands write it, whether it is known or not.
    pub fn flag<'a>(&'a self, name: &'a str) -> Flag<'a> {
        let knob = self.knob(name);
        Flag {
            name,
            aliases: knob.map_or(&[][..], |it| &it.aliases[..]),
            pair: self.pair.as_deref(),
        }
    }

    /// The setting that a name is another spelling of.
    fn spelled(&self, name: &str) -> Option<&Knob> {
        let name = name.replace('_', "-");
        let is_so = |it: &str| it.trim_start_matches('-').replace('_', "-") == name;
        let mut knobs = self.knobs.iter();
        knobs.find(|knob| is_so(&knob.name) || knob.aliases.iter().any(|it| is_so(it)))
    }

    fn unknown(&self, name: &str) -> KnobError {
        KnobError {
            knob: Some(name.to_owned()),
            message: format!(
                "{name:?} is unknown to the catalogue of {}; check its spelling, or allow flags that the catalogue does not know in the engine's launch template",
                self.title
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_can_be_read_and_says_what_each_knob_does() {
        for text in FILES {
            let catalogue = read(text).unwrap_or_else(|error| panic!("{error}"));
            let mut names: Vec<&str> = catalogue.knobs.iter().map(|it| &*it.name).collect();
            names.sort_unstable();
            let all = names.len();
            names.dedup();
            assert!(0 < all && names.len() == all, "{}", catalogue.engine);
            let mut aliases: Vec<&String> =
                catalogue.knobs.iter().flat_map(|it| &it.aliases).collect();
            let all = aliases.len();
            aliases.sort_unstable();
            aliases.dedup();
            let is_flag =
                |it: &&String| it.starts_with('-') && !names.contains(&it.trim_start_matches("--"));
            assert!(
                aliases.len() == all && aliases.iter().all(is_flag),
                "{aliases:?}"
            );
            for knob in &catalogue.knobs {
                knob.check_itself(&catalogue.engine);
            }
        }
        assert_eq!(catalogues().len(), FILES.len());
    }

    impl Knob {
        fn check_itself(&self, engine: &str) {
            let of = format!("{engine}: {}", self.name);
            assert!(12 <= self.about.len() && !self.about.contains('\n'), "{of}");
            let numbers = matches!(self.kind, Kind::Whole | Kind::Fraction);
            assert_eq!(
                self.min.zip(self.max).is_some_and(|(min, max)| min < max),
                numbers,
                "{of}"
            );
            assert_eq!(self.choices.is_empty(), self.kind != Kind::Choice, "{of}");
            let default = self.default.as_deref().unwrap_or_default();
            if default.parse::<f64>().is_ok() || matches!(default, "on" | "off") {
                assert_eq!(self.check(&KnobValue::from(default)), Ok(()), "{of}");
            }
        }
    }

    #[test]
    fn the_engines_people_ask_for_are_there() {
        for (engine, knobs) in [
            (
                "vllm",
                "max-num-seqs max-num-batched-tokens enable-prefix-caching enable-chunked-prefill gpu-memory-utilization tensor-parallel-size block-size kv-cache-dtype quantization speculative-config enforce-eager scheduling-policy async-scheduling",
            ),
            (
                "sglang",
                "chunked-prefill-size max-running-requests schedule-policy mem-fraction-static disable-radix-cache cuda-graph-max-bs speculative-algorithm tp dp",
            ),
            (
                "llamacpp",
                "parallel batch-size ubatch-size cont-batching flash-attn cache-type-k cache-type-v threads kv-unified repack",
            ),
            ("tensorrt-llm", "max_batch_size"),
            ("tgi", "max-batch-prefill-tokens"),
            ("lmdeploy", "session-len"),
            ("ollama", "num-parallel"),
            ("simulator", "max-num-seqs"),
        ] {
            let catalogue = catalogue(engine).expect(engine);
            for knob in knobs.split(' ') {
                assert!(catalogue.knob(knob).is_some(), "{engine}: {knob}");
            }
        }
    }
}
