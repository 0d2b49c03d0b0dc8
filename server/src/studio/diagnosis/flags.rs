//! What each engine calls a knob, and what to set it to first.

use measure::diagnose::Turn;

/// What to set a flag to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aim {
    /// This, whatever it is now.
    To(&'static str),
    /// Four times what it is now; this where nobody knows.
    Fourfold(u64),
    /// It depends on what is there.
    Depends,
}

/// A flag of one engine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flag {
    engine: &'static str,
    turn: Turn,
    /// Its name in the catalogue.
    pub name: &'static str,
    aim: Aim,
}

/// Turns that are settings of engines.
pub(super) const TURNS: [Turn; 8] = [
    Turn::StopDrafting,
    Turn::ReusePrefixes,
    Turn::GrowKvCache,
    Turn::RaiseTokenBudget,
    Turn::RaiseConcurrentSequences,
    Turn::CapLongPrompts,
    Turn::RecordGraphs,
    Turn::PlanAhead,
];

const fn flag(engine: &'static str, turn: Turn, name: &'static str, aim: Aim) -> Flag {
    Flag {
        engine,
        turn,
        name,
        aim,
    }
}

const ON: Aim = Aim::To("on");
const OFF: Aim = Aim::To("off");

/// The flags; where an engine has none for a turn, it is advised in words alone.
const FLAGS: [Flag; 44] = [
    flag(
        "vllm",
        Turn::StopDrafting,
        "speculative-config",
        Aim::Depends,
    ),
    flag("vllm", Turn::ReusePrefixes, "enable-prefix-caching", ON),
    flag(
        "vllm",
        Turn::GrowKvCache,
        "gpu-memory-utilization",
        Aim::To("0.95"),
    ),
    flag(
        "vllm",
        Turn::RaiseTokenBudget,
        "max-num-batched-tokens",
        Aim::Fourfold(8192),
    ),
    flag(
        "vllm",
        Turn::RaiseConcurrentSequences,
        "max-num-seqs",
        Aim::Fourfold(1024),
    ),
    flag(
        "vllm",
        Turn::CapLongPrompts,
        "long-prefill-token-threshold",
        Aim::To("512"),
    ),
    flag("vllm", Turn::RecordGraphs, "enforce-eager", OFF),
    flag("vllm", Turn::PlanAhead, "async-scheduling", ON),
    flag(
        "simulator",
        Turn::StopDrafting,
        "num-speculative-tokens",
        Aim::To("0"),
    ),
    flag(
        "simulator",
        Turn::ReusePrefixes,
        "enable-prefix-caching",
        ON,
    ),
    flag(
        "simulator",
        Turn::GrowKvCache,
        "num-gpu-blocks-override",
        Aim::To("0"),
    ),
    flag(
        "simulator",
        Turn::RaiseTokenBudget,
        "max-num-batched-tokens",
        Aim::Fourfold(8192),
    ),
    flag(
        "simulator",
        Turn::RaiseConcurrentSequences,
        "max-num-seqs",
        Aim::Fourfold(256),
    ),
    flag(
        "simulator",
        Turn::CapLongPrompts,
        "long-prefill-token-threshold",
        Aim::To("128"),
    ),
    flag("simulator", Turn::RecordGraphs, "enforce-eager", OFF),
    flag("simulator", Turn::PlanAhead, "async-scheduling", ON),
    flag(
        "sglang",
        Turn::StopDrafting,
        "speculative-algorithm",
        Aim::Depends,
    ),
    flag("sglang", Turn::ReusePrefixes, "disable-radix-cache", OFF),
    flag(
        "sglang",
        Turn::GrowKvCache,
        "mem-fraction-static",
        Aim::To("0.9"),
    ),
    flag(
        "sglang",
        Turn::RaiseTokenBudget,
        "chunked-prefill-size",
        Aim::Fourfold(8192),
    ),
    flag(
        "sglang",
        Turn::RaiseConcurrentSequences,
        "max-running-requests",
        Aim::Fourfold(1024),
    ),
    flag(
        "sglang",
        Turn::CapLongPrompts,
        "chunked-prefill-size",
        Aim::To("1024"),
    ),
    flag("sglang", Turn::RecordGraphs, "disable-cuda-graph", OFF),
    flag("sglang", Turn::PlanAhead, "disable-overlap-schedule", OFF),
    flag("llamacpp", Turn::StopDrafting, "spec-type", Aim::To("none")),
    flag("llamacpp", Turn::ReusePrefixes, "cache-prompt", ON),
    flag(
        "llamacpp",
        Turn::GrowKvCache,
        "ctx-size",
        Aim::Fourfold(32768),
    ),
    flag(
        "llamacpp",
        Turn::RaiseTokenBudget,
        "ubatch-size",
        Aim::Fourfold(2048),
    ),
    flag(
        "llamacpp",
        Turn::RaiseConcurrentSequences,
        "parallel",
        Aim::Fourfold(16),
    ),
    flag(
        "llamacpp",
        Turn::CapLongPrompts,
        "batch-size",
        Aim::To("512"),
    ),
    flag("tgi", Turn::StopDrafting, "speculate", Aim::To("0")),
    flag(
        "tgi",
        Turn::GrowKvCache,
        "cuda-memory-fraction",
        Aim::To("1.0"),
    ),
    flag(
        "tgi",
        Turn::RaiseTokenBudget,
        "max-batch-prefill-tokens",
        Aim::Fourfold(16384),
    ),
    flag(
        "tgi",
        Turn::RaiseConcurrentSequences,
        "max-batch-size",
        Aim::Fourfold(256),
    ),
    flag("tgi", Turn::RecordGraphs, "cuda-graphs", Aim::Depends),
    flag("lmdeploy", Turn::ReusePrefixes, "enable-prefix-caching", ON),
    flag(
        "lmdeploy",
        Turn::GrowKvCache,
        "cache-max-entry-count",
        Aim::To("0.9"),
    ),
    flag(
        "lmdeploy",
        Turn::RaiseConcurrentSequences,
        "max-batch-size",
        Aim::Fourfold(512),
    ),
    flag(
        "lmdeploy",
        Turn::RaiseTokenBudget,
        "max-prefill-token-num",
        Aim::Fourfold(16384),
    ),
    flag("lmdeploy", Turn::RecordGraphs, "eager-mode", OFF),
    flag(
        "ollama",
        Turn::RaiseConcurrentSequences,
        "num-parallel",
        Aim::Fourfold(4),
    ),
    flag(
        "tensorrt-llm",
        Turn::RaiseConcurrentSequences,
        "max_batch_size",
        Aim::Fourfold(2048),
    ),
    flag(
        "tensorrt-llm",
        Turn::RaiseTokenBudget,
        "max_num_tokens",
        Aim::Fourfold(16384),
    ),
    flag(
        "tensorrt-llm",
        Turn::GrowKvCache,
        "kv_cache_free_gpu_memory_fraction",
        Aim::To("0.95"),
    ),
];

/// The flag of an engine, by the name of its catalogue.
pub(super) fn of(engine: &str, turn: Turn) -> Option<&'static Flag> {
    FLAGS
        .iter()
        .find(|it| it.engine == engine && it.turn == turn)
}

impl Flag {
    /// What to set it to, given what it is.
    pub fn to(&self, now: Option<&str>) -> Option<String> {
        match self.aim {
            Aim::To(value) => Some(value.to_owned()),
            Aim::Fourfold(unknown) => {
                let now: Option<u64> = now.and_then(|it| it.parse().ok()).filter(|it| 0 < *it);
                Some(now.map_or(unknown, |it| it.saturating_mul(4)).to_string())
            }
            Aim::Depends => None,
        }
    }

    /// Whether a switch stands as it should.
    pub fn is_made(&self, now: &str) -> bool {
        match self.aim {
            Aim::To("on") => matches!(now, "on" | "true" | "True"),
            Aim::To("off") => matches!(now, "off" | "false" | "False"),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use load::catalogue::catalogue;
    use measure::knobs::KnobValue;

    use super::*;

    #[test]
    fn every_flag_stands_in_its_catalogue_and_takes_its_value() {
        for flag in &FLAGS {
            let knob = catalogue(flag.engine).and_then(|it| it.knob(flag.name));
            let Some(knob) = knob else {
                panic!("{flag:?} stands in no catalogue");
            };
            if let Some(value) = flag.to(None) {
                let checked = knob.check(&KnobValue::from(value.as_str()));
                assert_eq!(checked, Ok(()), "{flag:?}");
            }
        }
    }

    #[test]
    fn a_number_grows_from_what_it_is_and_a_switch_is_set() {
        let seqs = of("vllm", Turn::RaiseConcurrentSequences).expect("a flag");
        assert_eq!(seqs.to(Some("16")).as_deref(), Some("64"));
        assert_eq!(seqs.to(Some("auto")).as_deref(), Some("1024"));
        let eager = of("vllm", Turn::RecordGraphs).expect("a flag");
        assert!(eager.is_made("False") && !eager.is_made("on"));
        assert_eq!(eager.to(Some("on")).as_deref(), Some("off"));
        assert_eq!(of("vllm", Turn::MoveClient).map(|it| it.name), None);
    }
}
