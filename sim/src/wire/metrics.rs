//! `GET /metrics`: Prometheus text with vLLM's names, and a few of the simulator's own.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;

use super::Served;
use crate::config::{BLOCK_SIZE, Config};
use crate::stats::{Histogram, Stats};

pub(super) async fn metrics(State(served): State<Arc<Served>>) -> impl IntoResponse {
    let mut stats = served.engine.stats();
    stats.rejected = served.rejected.load(Ordering::Relaxed);
    (
        [(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")],
        render(&stats, &served.config),
    )
}

/// What `GET /metrics` says of an engine that has counted this.
pub fn render(stats: &Stats, config: &Config) -> String {
    let mut page = Page {
        text: String::with_capacity(32 * 1024),
        labels: format!(r#"engine="0",model_name="{}""#, config.model),
    };
    gauges(&mut page, stats);
    counters(&mut page, stats);
    by_kind(&mut page, stats);
    for (name, help, histogram) in times(stats).into_iter().chain(sizes(stats)) {
        page.histogram(name, help, histogram);
    }
    if 0 < config.num_speculative_tokens {
        guesses(&mut page, stats, config.num_speculative_tokens as usize);
    }
    page.cache_config(config);
    own(&mut page, stats);
    page.text
}

fn gauges(page: &mut Page, stats: &Stats) {
    let (running, waiting) = (stats.running as f64, stats.waiting as f64);
    page.gauge(
        "vllm:num_requests_running",
        "Number of requests in model execution batches.",
        running,
    );
    page.gauge(
        "vllm:num_requests_waiting",
        "Number of requests waiting to be processed.",
        waiting,
    );
    page.family(
        "vllm:num_requests_waiting_by_reason",
        "Number of waiting requests by reason.",
        "gauge",
        "reason",
        &[("capacity", waiting), ("deferred", 0.0)],
    );
    page.gauge(
        "vllm:kv_cache_usage_perc",
        "KV-cache usage. 1 means 100 percent usage.",
        stats.kv_usage,
    );
}

fn counters(page: &mut Page, stats: &Stats) {
    let counts = stats.counts;
    let counters = [
        (
            "vllm:num_preemptions_total",
            "Cumulative number of preemption from the engine.",
            counts.preemptions,
        ),
        (
            "vllm:prefix_cache_queries_total",
            "Prefix cache queries, in terms of number of queried tokens.",
            counts.cache_queries,
        ),
        (
            "vllm:prefix_cache_hits_total",
            "Prefix cache hits, in terms of number of cached tokens.",
            counts.cache_hits,
        ),
        (
            "vllm:prompt_tokens_total",
            "Number of prefill tokens processed.",
            stats.prompt_tokens,
        ),
        (
            "vllm:prompt_tokens_cached_total",
            "Number of cached prompt tokens.",
            stats.prompt_tokens_cached,
        ),
        (
            "vllm:generation_tokens_total",
            "Number of generation tokens processed.",
            stats.generation_tokens,
        ),
    ];
    for (name, help, value) in counters {
        page.counter(name, help, value as f64);
    }
}

/// Counters that carry a kind in a label.
fn by_kind(page: &mut Page, stats: &Stats) {
    let cached = stats.prompt_tokens_cached;
    page.family(
        "vllm:prompt_tokens_by_source_total",
        "Number of prompt tokens by source.",
        "counter",
        "source",
        &[
            ("local_compute", (stats.prompt_tokens - cached) as f64),
            ("local_cache_hit", cached as f64),
            ("external_kv_transfer", 0.0),
        ],
    );
    page.family(
        "vllm:request_success_total",
        "Count of successfully processed requests.",
        "counter",
        "finished_reason",
        &[
            ("stop", 0.0),
            ("length", stats.finished as f64),
            ("abort", stats.aborted as f64),
            ("error", 0.0),
            ("repetition", 0.0),
        ],
    );
    page.family(
        "vllm:admission_rejections_total",
        "Number of admission attempts rejected by a queue limit, by reason.",
        "counter",
        "reason",
        &[
            ("max_num_queued_reqs", stats.rejected as f64),
            ("max_num_queued_tokens", 0.0),
        ],
    );
}

type Named<'a> = (&'static str, &'static str, &'a Histogram);

fn times(stats: &Stats) -> [Named<'_>; 8] {
    [
        (
            "vllm:time_to_first_token_seconds",
            "Histogram of time to first token in seconds.",
            &stats.ttft,
        ),
        (
            "vllm:inter_token_latency_seconds",
            "Histogram of inter-token latency in seconds.",
            &stats.itl,
        ),
        (
            "vllm:request_time_per_output_token_seconds",
            "Histogram of time_per_output_token_seconds per request.",
            &stats.tpot,
        ),
        (
            "vllm:e2e_request_latency_seconds",
            "Histogram of e2e request latency in seconds.",
            &stats.e2e,
        ),
        (
            "vllm:request_queue_time_seconds",
            "Histogram of time spent in WAITING phase for request.",
            &stats.queue,
        ),
        (
            "vllm:request_inference_time_seconds",
            "Histogram of time spent in RUNNING phase for request.",
            &stats.inference,
        ),
        (
            "vllm:request_prefill_time_seconds",
            "Histogram of time spent in PREFILL phase for request.",
            &stats.prefill,
        ),
        (
            "vllm:request_decode_time_seconds",
            "Histogram of time spent in DECODE phase for request.",
            &stats.decode,
        ),
    ]
}

fn sizes(stats: &Stats) -> [Named<'_>; 6] {
    [
        (
            "vllm:iteration_tokens_total",
            "Histogram of number of tokens per engine_step.",
            &stats.step_tokens,
        ),
        (
            "vllm:request_prompt_tokens",
            "Number of prefill tokens processed.",
            &stats.request_prompt,
        ),
        (
            "vllm:request_generation_tokens",
            "Number of generation tokens processed.",
            &stats.request_answer,
        ),
        (
            "vllm:request_params_max_tokens",
            "Histogram of the max_tokens request parameter.",
            &stats.request_asked,
        ),
        (
            "vllm:request_prefill_kv_computed_tokens",
            "Histogram of new KV tokens computed during prefill (excluding cached tokens).",
            &stats.request_computed,
        ),
        (
            "vllm:request_num_preemptions",
            "Histogram of the number of times a request was preempted.",
            &stats.request_preemptions,
        ),
    ]
}

/// What became of guesses; vLLM has these only with speculation.
fn guesses(page: &mut Page, stats: &Stats, positions: usize) {
    let guesses = &stats.guesses;
    let counters = [
        (
            "vllm:spec_decode_num_drafts_total",
            "Number of spec decoding drafts.",
            guesses.drafts,
        ),
        (
            "vllm:spec_decode_num_draft_tokens_total",
            "Number of draft tokens.",
            guesses.tokens,
        ),
        (
            "vllm:spec_decode_num_accepted_tokens_total",
            "Number of accepted tokens.",
            guesses.accepted,
        ),
    ];
    for (name, help, value) in counters {
        page.counter(name, help, value as f64);
    }
    let name = "vllm:spec_decode_num_accepted_tokens_per_pos_total";
    page.head(name, "Accepted tokens per draft position.", "counter");
    for (position, count) in guesses.accepted_at.iter().take(positions).enumerate() {
        page.line(name, &format!(r#"position="{position}","#), *count as f64);
    }
}

/// What no real engine has: how well the simulator keeps its time.
fn own(page: &mut Page, stats: &Stats) {
    page.counter(
        "goodput_sim:steps_total",
        "Simulated steps.",
        stats.steps as f64,
    );
    page.counter(
        "goodput_sim:late_seconds_total",
        "Time by which tokens left later than simulated.",
        stats.late.as_secs_f64(),
    );
    page.gauge(
        "goodput_sim:late_seconds_max",
        "The longest such delay.",
        stats.late_max.as_secs_f64(),
    );
}

struct Page {
    text: String,
    labels: String,
}

// Writing to a String cannot fail.
impl Page {
    fn head(&mut self, name: &str, help: &str, kind: &str) {
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn line(&mut self, name: &str, more_labels: &str, value: f64) {
        let _ = writeln!(
            self.text,
            "{name}{{{more_labels}{}}} {value:?}",
            self.labels
        );
    }

    fn gauge(&mut self, name: &str, help: &str, value: f64) {
        self.head(name, help, "gauge");
        self.line(name, "", value);
    }

    fn counter(&mut self, name: &str, help: &str, value: f64) {
        self.head(name, help, "counter");
        self.line(name, "", value);
    }

    /// One line for each value of `label`.
    fn family(&mut self, name: &str, help: &str, kind: &str, label: &str, lines: &[(&str, f64)]) {
        self.head(name, help, kind);
        for (which, value) in lines {
            self.line(name, &format!(r#"{label}="{which}","#), *value);
        }
    }

    fn histogram(&mut self, name: &str, help: &str, histogram: &Histogram) {
        self.head(name, help, "histogram");
        let bucket = format!("{name}_bucket");
        let mut below = 0;
        for (bound, count) in histogram.bounds.iter().zip(&histogram.counts) {
            below += count;
            self.line(&bucket, &format!(r#"le="{bound:?}","#), below as f64);
        }
        self.line(&bucket, r#"le="+Inf","#, histogram.count() as f64);
        self.line(&format!("{name}_count"), "", histogram.count() as f64);
        self.line(&format!("{name}_sum"), "", histogram.sum);
    }

    fn cache_config(&mut self, config: &Config) {
        let name = "vllm:cache_config_info";
        self.head(name, "Information of the LLMEngine CacheConfig", "gauge");
        let caching = if config.enable_prefix_caching {
            "True"
        } else {
            "False"
        };
        let labels = format!(
            r#"block_size="{BLOCK_SIZE}",enable_prefix_caching="{caching}",gpu_memory_utilization="{}",kv_cache_size_tokens="{}",num_gpu_blocks="{}","#,
            config.gpu_memory_utilization,
            config.kv_blocks as usize * BLOCK_SIZE,
            config.kv_blocks
        );
        self.line(name, &labels, 1.0);
    }
}
