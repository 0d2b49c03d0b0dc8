//! What engines report of themselves, as facts of one spelling.
//!
//! A knob is called as its flag, with dashes: `knob:max-num-seqs`. What follows from the knobs and the machine, such as the
//! size of the KV cache, is `seen:`: shown, and no setting. Fields are those that vLLM 0.32, SGLang 0.5, llama.cpp b10434,
//! Ollama and TGI 3 answer with.

use measure::knobs::{Fact, Facts, Source};
use serde_json::Value;

use super::text;
use crate::scrape::text::samples;

/// A fact's name, and where its value stands in an answer.
type Place = (&'static str, &'static str);

/// `/v1/models` of any engine, its first model.
const MODEL: [Place; 5] = [
    ("context length", "/max_model_len"),
    ("knob:max-concurrent-requests", "/max_concurrent_requests"),
    ("quantization", "/meta/ftype"),
    ("parameters", "/meta/n_params"),
    ("seen:model bytes", "/meta/size"),
];

/// llama.cpp's `/props`. Its context is shared out among its slots: what each of them has follows from both knobs.
const PROPS: [Place; 2] = [
    ("seen:context length", "/default_generation_settings/n_ctx"),
    ("knob:parallel", "/total_slots"),
];

/// SGLang's `/server_info`.
const SGLANG: [Place; 24] = [
    ("knob:max-running-requests", "/max_running_requests"),
    ("knob:disable-radix-cache", "/disable_radix_cache"),
    ("knob:chunked-prefill-size", "/chunked_prefill_size"),
    ("knob:max-prefill-tokens", "/max_prefill_tokens"),
    ("knob:schedule-policy", "/schedule_policy"),
    (
        "knob:schedule-conservativeness",
        "/schedule_conservativeness",
    ),
    ("knob:mem-fraction-static", "/mem_fraction_static"),
    ("knob:page-size", "/page_size"),
    ("knob:kv-cache-dtype", "/kv_cache_dtype"),
    ("knob:tp", "/tp_size"),
    ("knob:dp", "/dp_size"),
    ("knob:pp", "/pp_size"),
    ("knob:ep", "/ep_size"),
    ("knob:attention-backend", "/attention_backend"),
    ("knob:disable-cuda-graph", "/disable_cuda_graph"),
    ("knob:cuda-graph-max-bs", "/cuda_graph_max_bs"),
    ("knob:disable-overlap-schedule", "/disable_overlap_schedule"),
    ("knob:speculative-algorithm", "/speculative_algorithm"),
    ("knob:speculative-num-steps", "/speculative_num_steps"),
    ("dtype", "/dtype"),
    ("quantization", "/quantization"),
    ("weights", "/load_format"),
    ("device", "/device"),
    ("seen:kv cache tokens", "/max_total_num_tokens"),
];

/// vLLM's `/server_info?config_format=json`, in development mode.
const VLLM: [Place; 22] = [
    ("knob:max-num-seqs", "/scheduler_config/max_num_seqs"),
    (
        "knob:max-num-batched-tokens",
        "/scheduler_config/max_num_batched_tokens",
    ),
    (
        "knob:enable-chunked-prefill",
        "/scheduler_config/enable_chunked_prefill",
    ),
    ("knob:scheduling-policy", "/scheduler_config/policy"),
    (
        "knob:async-scheduling",
        "/scheduler_config/async_scheduling",
    ),
    ("knob:stream-interval", "/scheduler_config/stream_interval"),
    ("knob:block-size", "/cache_config/block_size"),
    (
        "knob:gpu-memory-utilization",
        "/cache_config/gpu_memory_utilization",
    ),
    ("knob:kv-cache-dtype", "/cache_config/cache_dtype"),
    (
        "knob:enable-prefix-caching",
        "/cache_config/enable_prefix_caching",
    ),
    (
        "knob:tensor-parallel-size",
        "/parallel_config/tensor_parallel_size",
    ),
    (
        "knob:pipeline-parallel-size",
        "/parallel_config/pipeline_parallel_size",
    ),
    (
        "knob:data-parallel-size",
        "/parallel_config/data_parallel_size",
    ),
    ("knob:enforce-eager", "/model_config/enforce_eager"),
    (
        "knob:speculative-config.method",
        "/speculative_config/method",
    ),
    (
        "knob:speculative-config.num_speculative_tokens",
        "/speculative_config/num_speculative_tokens",
    ),
    ("dtype", "/model_config/dtype"),
    ("quantization", "/model_config/quantization"),
    ("weights", "/load_config/load_format"),
    ("revision", "/model_config/revision"),
    ("device", "/device_config/device"),
    ("seen:kv cache tokens", "/cache_config/kv_cache_size_tokens"),
];

/// TGI's `/info`.
const TGI: [Place; 8] = [
    ("dtype", "/model_dtype"),
    ("revision", "/model_sha"),
    ("device", "/model_device_type"),
    ("build", "/docker_label"),
    ("knob:max-input-tokens", "/max_input_tokens"),
    ("knob:max-batch-prefill-tokens", "/max_batch_prefill_tokens"),
    ("knob:waiting-served-ratio", "/waiting_served_ratio"),
    ("seen:max batch total tokens", "/max_batch_total_tokens"),
];

/// Ollama's `/api/show`.
const OLLAMA: [Place; 4] = [
    ("quantization", "/details/quantization_level"),
    ("parameters", "/details/parameter_size"),
    ("model family", "/details/family"),
    ("weights", "/details/format"),
];

/// Labels of vLLM's metric `cache_config_info`, where nothing else tells.
const CACHE: [Place; 6] = [
    ("knob:block-size", "block_size"),
    ("knob:gpu-memory-utilization", "gpu_memory_utilization"),
    ("knob:kv-cache-dtype", "cache_dtype"),
    ("knob:enable-prefix-caching", "enable_prefix_caching"),
    ("seen:kv cache tokens", "kv_cache_size_tokens"),
    ("seen:kv cache blocks", "num_gpu_blocks"),
];

/// The answers that hold facts, each where there was one.
#[derive(Default)]
pub(super) struct Reports<'a> {
    pub model: Option<&'a Value>,
    pub props: Option<&'a Value>,
    pub sglang: Option<&'a Value>,
    pub vllm: Option<&'a Value>,
    pub tgi: Option<&'a Value>,
    pub ollama: Option<&'a Value>,
    pub metrics: &'a str,
}

impl Reports<'_> {
    /// Everything they say, the first word on each matter counting.
    pub(super) fn facts(&self) -> Facts {
        let places: [(Option<&Value>, &[Place]); 6] = [
            (self.model, &MODEL),
            (self.props, &PROPS),
            (self.sglang, &SGLANG),
            (self.vllm.and_then(|all| all.get("vllm_config")), &VLLM),
            (self.tgi, &TGI),
            (self.ollama, &OLLAMA),
        ];
        let mut facts = Facts::new();
        for (answer, places) in places {
            let told = places.iter().filter_map(|(name, place)| {
                let value = text(answer?.pointer(place)?)?;
                Some((*name, value))
            });
            told.for_each(|(name, value)| tell(&mut facts, name, value));
        }
        let cache = samples(self.metrics)
            .flatten()
            .find(|sample| sample.name.ends_with("cache_config_info"));
        let told = CACHE.iter().filter_map(|(name, label)| {
            let value = cache?.label(label)?.into_owned();
            Some((*name, text(&Value::String(value))?))
        });
        told.for_each(|(name, value)| tell(&mut facts, name, value));
        facts
    }
}

/// Notes a fact unless it is known. Engines write `torch.bfloat16` and `None`.
fn tell(facts: &mut Facts, name: &str, value: String) {
    let value = value.trim_start_matches("torch.").to_owned();
    if !matches!(value.as_str(), "" | "None" | "null") {
        facts.entry(name.to_owned()).or_insert(Fact {
            value,
            source: Source::Engine,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(reports: Reports<'_>, expected: &[(&str, &str)]) {
        let facts = reports.facts();
        for (name, value) in expected {
            let fact = facts.get(*name).map(|fact| fact.value.as_str());
            assert_eq!(fact, Some(*value), "{name}: {facts:?}");
        }
        assert_eq!(facts.len(), expected.len(), "{facts:?}");
    }

    #[test]
    fn vllm_tells_its_configuration_in_development_mode() {
        let info = json!({ "vllm_config": {
            "model_config": { "dtype": "torch.bfloat16", "quantization": null, "enforce_eager": false },
            "cache_config": { "block_size": 128, "kv_cache_size_tokens": 524_288 },
            "scheduler_config": { "max_num_seqs": 128, "policy": "fcfs" },
        } });
        let expected = [
            ("dtype", "bfloat16"),
            ("knob:enforce-eager", "false"),
            ("knob:block-size", "128"),
            ("seen:kv cache tokens", "524288"),
            ("knob:max-num-seqs", "128"),
            ("knob:scheduling-policy", "fcfs"),
        ];
        let vllm = Some(&info);
        check(
            Reports {
                vllm,
                ..Reports::default()
            },
            &expected,
        );
    }

    #[test]
    fn vllm_tells_of_its_cache_in_a_metric() {
        let metrics = "# TYPE vllm:cache_config_info gauge\n\
            vllm:cache_config_info{user_specified_block_size=\"False\",block_size=\"128\",cache_dtype=\"auto\",kv_cache_size_tokens=\"None\",num_gpu_blocks=\"1024\"} 1.0\n";
        let expected = [
            ("knob:block-size", "128"),
            ("knob:kv-cache-dtype", "auto"),
            ("seen:kv cache blocks", "1024"),
        ];
        check(
            Reports {
                metrics,
                ..Reports::default()
            },
            &expected,
        );
    }

    #[test]
    fn what_comes_first_counts_and_what_is_no_scalar_is_left_out() {
        let model = json!({ "max_model_len": 2048, "meta": { "ftype": "Q4_K - Medium", "n_params": 268_098_176 } });
        let sglang = json!({ "quantization": "fp8", "tp_size": 2, "dtype": ["odd"] });
        let reports = Reports {
            model: Some(&model),
            sglang: Some(&sglang),
            ..Reports::default()
        };
        let expected = [
            ("context length", "2048"),
            ("quantization", "Q4_K - Medium"),
            ("parameters", "268098176"),
            ("knob:tp", "2"),
        ];
        check(reports, &expected);
    }
}
