use super::*;

const VLLM: &str = include_str!("../../../tests/recorded/metrics/vllm.txt");
const VLLM_BUSY: &str = include_str!("../../../tests/recorded/metrics/vllm_busy.txt");
const SGLANG: &str = include_str!("../../../tests/recorded/metrics/sglang.txt");

/// llama.cpp's, as it documents it.
const LLAMACPP: &str = "\
# HELP llamacpp:prompt_tokens_total Number of prompt tokens processed.
# TYPE llamacpp:prompt_tokens_total counter
llamacpp:prompt_tokens_total 512
llamacpp:prompt_seconds_total 1.25
llamacpp:tokens_predicted_total 4096
llamacpp:tokens_predicted_seconds_total 40.5
llamacpp:n_decode_total 2100
llamacpp:n_busy_slots_per_decode 1.9
llamacpp:prompt_tokens_seconds 409.6
llamacpp:predicted_tokens_seconds nan
llamacpp:requests_processing 4
llamacpp:requests_deferred 7
";

/// vLLM of 2024, whose engine had other names.
const VLLM_V0: &str = r#"
vllm:num_requests_running{model_name="m"} 3.0
vllm:num_requests_waiting{model_name="m"} 1.0
vllm:gpu_cache_usage_perc{model_name="m"} 0.25
vllm:gpu_prefix_cache_hit_rate{model_name="m"} 0.5
vllm:num_preemptions_total{model_name="m"} 2.0
vllm:time_per_output_token_seconds_bucket{le="0.01",model_name="m"} 5.0
vllm:time_per_output_token_seconds_bucket{le="+Inf",model_name="m"} 6.0
vllm:time_per_output_token_seconds_count{model_name="m"} 6.0
vllm:time_per_output_token_seconds_sum{model_name="m"} 0.5
vllm:spec_decode_draft_acceptance_rate{model_name="m"} 0.7
"#;

const TGI: &str = r#"
# TYPE tgi_queue_size gauge
tgi_queue_size 12
# TYPE tgi_batch_current_size gauge
tgi_batch_current_size 8
# TYPE tgi_request_success counter
tgi_request_success{method="generate_stream"} 21
tgi_request_success{method="generate"} 4
# TYPE tgi_request_queue_duration histogram
tgi_request_queue_duration_bucket{le="0.00015"} 20
tgi_request_queue_duration_bucket{le="0.5"} 24
tgi_request_queue_duration_bucket{le="+Inf"} 25
tgi_request_queue_duration_sum 0.75
tgi_request_queue_duration_count 25
tgi_request_generated_tokens_bucket{le="+Inf"} 25
tgi_request_generated_tokens_sum 2500
tgi_request_generated_tokens_count 25
"#;

const TENSORRT_LLM: &str = r#"
trtllm_request_success_total{engine_type="trtllm",finished_reason="length",model_name="m"} 9.0
trtllm_request_queue_time_seconds_bucket{engine_type="trtllm",le="0.3",model_name="m"} 8.0
trtllm_request_queue_time_seconds_bucket{engine_type="trtllm",le="+Inf",model_name="m"} 9.0
trtllm_request_queue_time_seconds_sum{engine_type="trtllm",model_name="m"} 1.5
trtllm_kv_cache_hit_rate{engine_type="trtllm",model_name="m"} 0.125
trtllm_kv_cache_utilization{engine_type="trtllm",model_name="m"} 0.625
trtllm_kv_cache_tokens_per_block{engine_type="trtllm",model_name="m"} 32.0
"#;

/// A front end, and in front of the page that of a worker whose engine has names of its own.
const DYNAMO: &str = r#"
dynamo_frontend_inflight_requests{model="m"} 12
dynamo_frontend_queued_requests{model="m"} 5
dynamo_frontend_requests_total{endpoint="chat_completions",model="m",request_type="stream",status="success"} 100
dynamo_frontend_output_tokens_total{model="m"} 4500
dynamo_frontend_input_sequence_tokens_sum{model="m"} 9000
dynamo_frontend_model_kv_cache_block_size{model="m"} 64
"#;

const DCGM: &str = r#"
# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H100",Hostname="box"} 87
DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-b",device="nvidia1",modelName="NVIDIA H100",Hostname="box"} 0
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H100",Hostname="box"} 1024
DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H100",Hostname="box"} 512.5
DCGM_FI_DEV_SM_CLOCK{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H100",Hostname="box"} 1980
DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H100",Hostname="box"} 5000000
"#;

/// All that a page tells of a quantity: numbers together, of a histogram its count and its sum.
fn told(page: &Page, quantity: Quantity) -> Option<(f64, f64)> {
    let values = page.values.iter().filter(|it| it.quantity == quantity);
    let sizes = values.map(|it| match &it.amount {
        Amount::Number(number) => (*number, 0.0),
        Amount::Buckets(buckets) => (buckets.count(), buckets.sum),
    });
    sizes.reduce(|one, other| (one.0 + other.0, one.1 + other.1))
}

#[track_caller]
fn check(text: &str, engine: &str, expected: &[(Quantity, f64, f64)]) {
    let mut reader = Reader::new("m");
    let page = reader.read(text);
    assert_eq!((page.malformed, reader.engines().as_str()), (0, engine));
    for (quantity, number, sum) in expected {
        let told = told(&page, *quantity);
        assert_eq!(told, Some((*number, *sum)), "{quantity:?}");
    }
}

#[test]
fn a_vllm_page_is_read() {
    check(
        VLLM_BUSY,
        "vLLM",
        &[
            (Quantity::Running, 1.0, 0.0),
            (Quantity::Waiting, 2.0, 0.0),
            (Quantity::KvUsage, 0.000_977_517_106_549_363_7, 0.0),
            (Quantity::PromptTokens, 6.0, 0.0),
            (Quantity::OutputTokens, 6.0, 0.0),
            (Quantity::CacheQueries, 6.0, 0.0),
            (Quantity::CacheHits, 0.0, 0.0),
            (Quantity::Finished, 0.0, 0.0),
            (Quantity::Ttft, 1.0, 0.107_064_008_712_768_55),
            (Quantity::Itl, 5.0, 0.666_861_286_999_846_9),
            (Quantity::IterationTokens, 6.0, 12.0),
            (Quantity::QueueTime, 0.0, 0.0),
            (Quantity::BlockSize, 128.0, 0.0),
        ],
    );
    check(
        VLLM,
        "vLLM",
        &[
            (Quantity::Finished, 6.0, 0.0),
            (Quantity::Preemptions, 1.0, 0.0),
            (Quantity::PromptTokens, 51.0, 0.0),
            (Quantity::OutputTokens, 2239.0, 0.0),
        ],
    );
}

#[test]
fn an_old_vllm_page_is_read() {
    check(
        VLLM_V0,
        "vLLM",
        &[
            (Quantity::Running, 3.0, 0.0),
            (Quantity::KvUsage, 0.25, 0.0),
            (Quantity::HitRate, 0.5, 0.0),
            (Quantity::AcceptRate, 0.7, 0.0),
            (Quantity::Itl, 6.0, 0.5),
        ],
    );
}

#[test]
fn an_sglang_page_is_read() {
    check(
        SGLANG,
        "SGLang",
        &[
            (Quantity::Running, 0.0, 0.0),
            (Quantity::Waiting, 0.0, 0.0),
            (Quantity::KvUsage, 0.0, 0.0),
            (Quantity::Finished, 1.0, 0.0),
            (Quantity::PromptTokens, 9.0, 0.0),
            (Quantity::OutputTokens, 8.0, 0.0),
            (Quantity::CachedTokens, 0.0, 0.0),
            (Quantity::QueueTime, 3.0, 0.005_468_315_000_143_775),
            (Quantity::PrefillTime, 3.0, 0.448_865_727_998_963_85),
            (Quantity::BlockSize, 1.0, 0.0),
        ],
    );
}

#[test]
fn pages_of_other_engines_are_read() {
    check(
        LLAMACPP,
        "llama.cpp",
        &[
            (Quantity::Running, 4.0, 0.0),
            (Quantity::Waiting, 7.0, 0.0),
            (Quantity::PromptTokens, 512.0, 0.0),
            (Quantity::OutputTokens, 4096.0, 0.0),
            (Quantity::PrefillSeconds, 1.25, 0.0),
        ],
    );
    check(
        TGI,
        "TGI",
        &[
            (Quantity::Running, 8.0, 0.0),
            (Quantity::Waiting, 12.0, 0.0),
            (Quantity::Finished, 25.0, 0.0),
            (Quantity::OutputTokens, 2500.0, 0.0),
            (Quantity::QueueTime, 25.0, 0.75),
        ],
    );
    check(
        TENSORRT_LLM,
        "TensorRT-LLM",
        &[
            (Quantity::Finished, 9.0, 0.0),
            (Quantity::KvUsage, 0.625, 0.0),
            (Quantity::HitRate, 0.125, 0.0),
            (Quantity::QueueTime, 9.0, 1.5),
            (Quantity::BlockSize, 32.0, 0.0),
        ],
    );
    check(
        DYNAMO,
        "Dynamo",
        &[
            (Quantity::Running, 12.0, 0.0),
            (Quantity::Waiting, 5.0, 0.0),
            (Quantity::Finished, 100.0, 0.0),
            (Quantity::PromptTokens, 9000.0, 0.0),
            (Quantity::OutputTokens, 4500.0, 0.0),
        ],
    );
}

#[test]
fn a_gpu_exporter_is_read_gpu_by_gpu() {
    check(
        DCGM,
        "DCGM",
        &[
            (Quantity::GpuMemory, 1_073_741_824.0, 0.0),
            (Quantity::GpuPower, 512.5, 0.0),
            (Quantity::GpuClock, 1980.0, 0.0),
            (Quantity::GpuEnergy, 5000.0, 0.0),
        ],
    );
    let mut reader = Reader::default();
    let page = reader.read(DCGM);
    let uses = page
        .values
        .iter()
        .filter(|it| it.quantity == Quantity::GpuUse);
    assert_eq!((uses.count(), reader.into_sources().len()), (2, 2));
}

#[test]
fn an_engine_counts_for_more_than_what_stands_in_front_of_it() {
    let page = Reader::new("m").read(&format!("{DYNAMO}{VLLM_V0}"));
    assert_eq!(told(&page, Quantity::Running), Some((3.0, 0.0)));
    assert_eq!(told(&page, Quantity::OutputTokens), Some((4500.0, 0.0)));
}

#[test]
fn of_two_names_for_one_thing_the_newer_counts() {
    let both = "vllm:kv_cache_usage_perc 0.5\nvllm:gpu_cache_usage_perc 0.5\n";
    let page = Reader::new("m").read(both);
    assert_eq!(told(&page, Quantity::KvUsage), Some((0.5, 0.0)));
}

#[test]
fn a_name_that_comes_later_does_not_take_over() {
    let mut reader = Reader::new("m");
    let old = "vllm:gpu_prefix_cache_hits_total 70\n";
    reader.read(old);
    let page = reader.read(&format!("{old}vllm:prefix_cache_hits_total 70\n"));
    assert_eq!(told(&page, Quantity::CacheHits), Some((70.0, 0.0)));
}

#[test]
fn two_engines_behind_one_page_are_told_apart() {
    let page = r#"
vllm:num_requests_running{engine="0",model_name="m"} 3
vllm:num_requests_running{engine="1",model_name="m"} 4
vllm:num_requests_running{engine="0",model_name="other"} 9
"#;
    let mut reader = Reader::new("m");
    let page = reader.read(page);
    let sources = reader.into_sources();
    let mine = page
        .values
        .iter()
        .filter(|it| sources[it.source as usize].ours);
    assert_eq!((mine.count(), sources.len()), (2, 3));
    // A served name that is no label's leaves all of them ours.
    let mut reader = Reader::new("an alias");
    reader.read(VLLM_V0);
    assert!(reader.into_sources().iter().all(|it| it.ours));
}

#[test]
fn ranks_that_tell_the_same_are_one() {
    let page = r#"
sglang:num_running_reqs{dp_rank="0",tp_rank="0"} 3
sglang:num_running_reqs{dp_rank="0",tp_rank="1"} 3
sglang:num_running_reqs{dp_rank="1",tp_rank="0"} 5
"#;
    let page = Reader::new("m").read(page);
    assert_eq!(told(&page, Quantity::Running), Some((8.0, 0.0)));
}

#[test]
fn what_is_no_metrics_page_has_nothing_and_says_so() {
    let page = Reader::new("m").read("<!doctype html>\n<p>Not found</p>\n");
    assert_eq!((page.values.len(), page.samples, page.malformed), (0, 0, 2));
}
