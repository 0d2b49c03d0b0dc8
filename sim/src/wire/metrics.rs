//! `GET /metrics`: Prometheus text with vLLM's names, and a few of the simulator's own.

use std::fmt::Write;
use std::sync::Arc;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;

use super::Served;
use crate::config::{BLOCK_SIZE, Config};
use crate::stats::{Histogram, Stats};

pub(super) async fn metrics(State(served): State<Arc<Served>>) -> impl IntoResponse {
    let text = render(&served.engine.stats(), &served.config);
    (
        [(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")],
        text,
    )
}

/// The page, for these numbers.
pub(super) fn render(stats: &Stats, config: &Config) -> String {
    let mut page = Page {
        text: String::with_capacity(8192),
        labels: format!(r#"engine="0",model_name="{}""#, config.model),
    };
    let queue = |count: u64| count as f64;
    page.gauge(
        "vllm:num_requests_running",
        "Number of requests in model execution batches.",
        queue(stats.running),
    );
    page.gauge(
        "vllm:num_requests_waiting",
        "Number of requests waiting to be processed.",
        queue(stats.waiting),
    );
    page.gauge(
        "vllm:kv_cache_usage_perc",
        "KV-cache usage. 1 means 100 percent usage.",
        stats.kv_usage,
    );
    counters(&mut page, stats);
    page.histogram(
        "vllm:time_to_first_token_seconds",
        "Histogram of time to first token in seconds.",
        &stats.ttft,
    );
    page.histogram(
        "vllm:inter_token_latency_seconds",
        "Histogram of inter-token latency in seconds.",
        &stats.itl,
    );
    page.histogram(
        "vllm:e2e_request_latency_seconds",
        "Histogram of e2e request latency in seconds.",
        &stats.e2e,
    );
    page.cache_config(config);
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
    page.text
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
    let name = "vllm:request_success_total";
    page.head(name, "Count of successfully processed requests.", "counter");
    for (reason, value) in [
        ("stop", 0),
        ("length", stats.finished),
        ("abort", stats.aborted),
    ] {
        page.line(
            name,
            &format!(r#"finished_reason="{reason}","#),
            value as f64,
        );
    }
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
        let labels = format!(
            r#"block_size="{BLOCK_SIZE}",enable_prefix_caching="{}",num_gpu_blocks="{}","#,
            if config.enable_prefix_caching {
                "True"
            } else {
                "False"
            },
            config.kv_blocks
        );
        self.line(name, &labels, 1.0);
    }
}
