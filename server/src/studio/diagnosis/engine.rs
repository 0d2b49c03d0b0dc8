//! What is known of the engine of a point.

use app::diagnosis::FlagView;
use load::catalogue::catalogues;
use measure::diagnose::{Theory, Turn};
use measure::knobs::{Facts, Source};
use measure::study::EngineSpec;
use sim::hardware::{Stated, Statement};
use uuid::Uuid;

use super::super::views::Model;
use super::flags::{self, Flag};
use crate::store::StoredPoint;

/// Flags by which engines share a model among devices.
const SHARDS: [&str; 4] = ["tensor-parallel-size", "tp_size", "num-shard", "tp"];

/// Flags by which several engines stand behind one address.
const REPLICAS: [&str; 4] = ["data-parallel-size", "dp_size", "dp", "data_parallel_size"];

/// What is known of an engine.
pub struct Engine {
    facts: Facts,
    /// The name of its catalogue.
    catalogue: Option<&'static str>,
    /// What the hardware allows, and where that is from; the simulator's prices are its own.
    hardware: Option<(Theory, Option<String>)>,
}

impl Engine {
    /// The engine of a stored point.
    pub fn of(model: &Model, point: &StoredPoint) -> Self {
        let mut configurations = model.configurations.iter();
        let stored = configurations.find(|it| it.ordinal == point.configuration);
        let facts = stored.map(|it| it.facts.clone()).unwrap_or_default();
        if let EngineSpec::Simulator { preset } = &model.study.spec.engine {
            let knobs = model.spec_of(point.configuration).knobs;
            let config = sim::Config::preset(preset, &knobs).ok();
            return Self {
                facts,
                catalogue: Some("simulator"),
                hardware: config.map(|it| (it.cost.theory(), None)),
            };
        }
        Self::told(facts)
    }

    /// An engine of which these facts are known, its name under `engine` among them.
    pub fn told(facts: Facts) -> Self {
        let stated = stated(&facts);
        Self {
            catalogue: catalogue_of(&facts),
            hardware: stated.map(|it| (it.theory, Some(it.sentence))),
            facts,
        }
    }

    /// What the hardware allows, where anybody states which it is.
    pub fn theory(&self) -> Option<Theory> {
        self.hardware.as_ref().map(|(theory, _)| *theory)
    }

    /// Where that is from, in a sentence; none of the simulator.
    pub fn hardware(&self) -> Option<String> {
        self.hardware.as_ref()?.1.clone()
    }

    /// A flag's value, where it is known.
    fn value(&self, flag: &Flag) -> Option<&str> {
        known(&self.facts, &format!("knob:{}", flag.name))
    }

    /// Switches that stand as a turn would set them.
    pub fn made(&self) -> Vec<Turn> {
        let all = flags::TURNS.into_iter();
        let is_made = |turn: &Turn| {
            let flag = self.catalogue.and_then(|it| flags::of(it, *turn));
            flag.is_some_and(|flag| self.value(flag).is_some_and(|value| flag.is_made(value)))
        };
        all.filter(is_made).collect()
    }

    /// The most requests that it runs at once; none where that is not known, or where several engines share an address.
    pub fn slots(&self) -> Option<u32> {
        let flag = flags::of(self.catalogue?, Turn::RaiseConcurrentSequences)?;
        let several =
            |it: &&str| known(&self.facts, &format!("knob:{it}")).is_some_and(|it| it != "1");
        let all: u32 = self.value(flag)?.parse().ok()?;
        (0 < all && !REPLICAS.iter().any(several)).then_some(all)
    }

    /// What this engine calls a turn, without a study to try it.
    pub fn flag(&self, turn: Turn) -> Option<FlagView> {
        let flag = flags::of(self.catalogue?, turn)?;
        let now = self.value(flag);
        Some(FlagView {
            name: flag.name.to_owned(),
            now: now.map(str::to_owned),
            value: flag.to(now),
            link: None,
        })
    }

    /// The same with the way to a study that turns it alone.
    pub fn flag_at(&self, turn: Turn, study: Uuid, point: &StoredPoint) -> Option<FlagView> {
        let flag = self.flag(turn)?;
        let link = flag.value.as_ref().map(|value| {
            let (id, configuration, name) = (point.id, point.configuration, &flag.name);
            format!("/studies/new?from={study}.{id}&flip={configuration}:{name}={value}")
        });
        Some(FlagView { link, ..flag })
    }
}

/// A fact's value, where anybody knows it.
fn known<'a>(facts: &'a Facts, name: &str) -> Option<&'a str> {
    let fact = facts.get(name)?;
    (fact.source != Source::Unknown).then_some(fact.value.as_str())
}

/// What hardware and model allow, where both are stated, by an engine or a person, and are among those whose figures are known here.
fn stated(facts: &Facts) -> Option<Stated> {
    let shards = SHARDS.iter();
    let shards = shards.filter_map(|it| known(facts, &format!("knob:{it}")));
    Statement {
        hardware: known(facts, "hardware")?,
        model: known(facts, "model")?,
        quantization: known(facts, "quantization")?,
        shards: shards.filter_map(|it| it.parse().ok()).next(),
    }
    .follow()
}

/// The catalogue of an engine, by what it calls itself.
fn catalogue_of(facts: &Facts) -> Option<&'static str> {
    let engine = &facts.get("engine")?.value;
    let mut all = catalogues().iter();
    let named = all.find(|it| it.title.eq_ignore_ascii_case(engine) || it.engine == *engine);
    named.map(|it| it.engine.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::knobs::Fact;

    fn engine(facts: &[(&str, &str)]) -> Engine {
        let fact = |(name, value): &(&str, &str)| {
            let fact = Fact {
                value: (*value).to_owned(),
                source: Source::Declared,
            };
            ((*name).to_owned(), fact)
        };
        Engine::told(facts.iter().map(fact).collect())
    }

    const KNOWN: [(&str, &str); 4] = [
        ("engine", "vLLM"),
        ("hardware", "1x H100"),
        ("model", "meta-llama/Llama-3.1-8B-Instruct"),
        ("quantization", "bf16"),
    ];

    #[test]
    fn the_shortest_step_is_known_where_hardware_and_model_are_stated() {
        let known = engine(&KNOWN);
        let step = known.theory().expect("all is stated").step;
        assert_eq!((step.as_secs_f64() * 1e4).round(), 59.0);
        let sentence = known.hardware().expect("a sentence");
        assert!(sentence.contains("H100 SXM"), "{sentence}");
        for left_out in ["hardware", "model", "quantization"] {
            let rest = KNOWN.into_iter().filter(|(name, _)| *name != left_out);
            let engine = engine(&rest.collect::<Vec<_>>());
            assert_eq!((engine.theory(), engine.hardware()), (None, None));
        }
    }

    #[test]
    fn a_flag_is_the_engines_own_and_has_no_way_to_a_study_by_itself() {
        let mut facts = KNOWN.to_vec();
        facts.push(("knob:max-num-seqs", "4"));
        facts.push(("knob:enforce-eager", "off"));
        let engine = engine(&facts);
        let flag = engine
            .flag(Turn::RaiseConcurrentSequences)
            .expect("vLLM has one");
        assert_eq!(
            (
                flag.name.as_str(),
                flag.now.as_deref(),
                flag.value.as_deref()
            ),
            ("max-num-seqs", Some("4"), Some("16"))
        );
        assert_eq!(flag.link, None);
        assert_eq!(engine.slots(), Some(4));
        assert_eq!(engine.made(), [Turn::RecordGraphs]);
    }

    #[test]
    fn devices_that_share_a_model_are_counted_by_the_engines_own_flag() {
        let with = |shards: Option<(&'static str, &'static str)>| {
            let mut facts = vec![
                ("engine", "vLLM"),
                ("hardware", "4x H100"),
                ("model", "Llama-3.1-70B"),
                ("quantization", "none"),
            ];
            facts.extend(shards);
            engine(&facts).theory().is_some()
        };
        assert!(!with(None));
        assert!(with(Some(("knob:tensor-parallel-size", "4"))));
    }
}
