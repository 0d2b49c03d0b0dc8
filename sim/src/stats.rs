//! What the engine counts, when vLLM counts it, for the names that vLLM gives it.
//!
//! Tokens of a prompt count when its first token is out; the times of a request when it ends; an abort ends none of them.

use measure::units::Nanos;

use crate::config::Config;
use crate::engine::Emitted;
use crate::scheduler::Counts;
use crate::sequence::Sequence;

/// Upper ends of vLLM's buckets for times to the first token, in seconds.
const TTFT_BOUNDS: &[f64] = &[
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0,
    20.0, 40.0, 80.0, 160.0, 640.0, 2560.0,
];
/// The same for gaps between tokens, and for their mean in a request.
const ITL_BOUNDS: &[f64] = &[
    0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0,
    40.0, 80.0,
];
/// The same for whole requests and their parts.
const REQUEST_BOUNDS: &[f64] = &[
    0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 120.0, 240.0,
    480.0, 960.0, 1920.0, 7680.0,
];
/// The same for tokens of a step.
const STEP_BOUNDS: &[f64] = &[
    1.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0, 8192.0, 16384.0,
];
/// The same for tokens of a request, up to the model's context.
const TOKEN_BOUNDS: &[f64] = &[
    1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1e3, 2e3, 5e3, 10e3, 20e3, 50e3, 100e3,
];
/// The same for preemptions of a request.
const PREEMPTION_BOUNDS: &[f64] = &[1.0, 2.0, 3.0, 4.0, 5.0, 10.0, 20.0];

/// Most tokens guessed ahead whose acceptance is counted by position.
const POSITIONS: usize = 16;

/// Counts of values up to each bound, the sum and the number of all.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// Upper ends of the buckets, rising.
    pub bounds: &'static [f64],
    /// Values in each bucket, not cumulated; one more than bounds, for those above all.
    pub counts: Vec<u64>,
    /// Sum of all values.
    pub sum: f64,
}

impl Histogram {
    fn new(bounds: &'static [f64]) -> Self {
        Self {
            bounds,
            counts: vec![0; bounds.len() + 1],
            sum: 0.0,
        }
    }

    /// Adds a span, in seconds.
    pub fn observe(&mut self, span: Nanos) {
        self.add(span.as_secs_f64());
    }

    /// Adds a value.
    pub fn add(&mut self, value: f64) {
        self.counts[self.bounds.partition_point(|bound| *bound < value)] += 1;
        self.sum += value;
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// What became of guesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Guesses {
    /// Decodes that verified any.
    pub drafts: u64,
    /// Tokens guessed.
    pub tokens: u64,
    /// Of those, right.
    pub accepted: u64,
    /// Right ones by their place in the draft.
    pub accepted_at: [u64; POSITIONS],
}

/// Everything `/metrics` shows of the engine.
#[derive(Clone, Debug, PartialEq)]
pub struct Stats {
    /// Sequences in the current step's running set.
    pub running: u64,
    /// Sequences in the queue.
    pub waiting: u64,
    /// Share of KV blocks in use.
    pub kv_usage: f64,
    /// What the scheduler counts.
    pub counts: Counts,
    /// Prompt tokens of sequences that got their first token.
    pub prompt_tokens: u64,
    /// Of those, found in the prefix cache.
    pub prompt_tokens_cached: u64,
    /// Tokens of answers.
    pub generation_tokens: u64,
    /// Sequences that ended at their length.
    pub finished: u64,
    /// Sequences whose client left.
    pub aborted: u64,
    /// Requests that were turned away because the queue was full.
    pub rejected: u64,
    /// Steps done.
    pub steps: u64,
    /// What became of guesses.
    pub guesses: Guesses,
    /// Arrival to first token.
    pub ttft: Histogram,
    /// Gap between the outputs of a sequence.
    pub itl: Histogram,
    /// Arrival to last token.
    pub e2e: Histogram,
    /// Arrival to the first step.
    pub queue: Histogram,
    /// First step to first token.
    pub prefill: Histogram,
    /// First token to last token.
    pub decode: Histogram,
    /// First step to last token.
    pub inference: Histogram,
    /// Mean time of a token after the first, by request.
    pub tpot: Histogram,
    /// Tokens of the prompts whose first token a step gave, and of answers, by step.
    pub step_tokens: Histogram,
    /// Prompt tokens by request.
    pub request_prompt: Histogram,
    /// Prompt tokens computed by request: not those found in the prefix cache.
    pub request_computed: Histogram,
    /// Answer tokens by request.
    pub request_answer: Histogram,
    /// Answer tokens asked for by request.
    pub request_asked: Histogram,
    /// Preemptions by request.
    pub request_preemptions: Histogram,
    /// Lateness of the simulator itself: how long after its time each step's tokens were handed out, summed.
    pub late: Nanos,
    /// The worst of it.
    pub late_max: Nanos,
}

impl Stats {
    /// Nothing counted yet.
    pub fn new(config: &Config) -> Self {
        let context = f64::from(config.max_model_len);
        let within = TOKEN_BOUNDS.partition_point(|bound| *bound <= context);
        let tokens = || Histogram::new(&TOKEN_BOUNDS[..within]);
        let request = || Histogram::new(REQUEST_BOUNDS);
        Self {
            running: 0,
            waiting: 0,
            kv_usage: 0.0,
            counts: Counts::default(),
            prompt_tokens: 0,
            prompt_tokens_cached: 0,
            generation_tokens: 0,
            finished: 0,
            aborted: 0,
            rejected: 0,
            steps: 0,
            guesses: Guesses::default(),
            ttft: Histogram::new(TTFT_BOUNDS),
            itl: Histogram::new(ITL_BOUNDS),
            e2e: request(),
            queue: request(),
            prefill: request(),
            decode: request(),
            inference: request(),
            tpot: Histogram::new(ITL_BOUNDS),
            step_tokens: Histogram::new(STEP_BOUNDS),
            request_prompt: tokens(),
            request_computed: tokens(),
            request_answer: tokens(),
            request_asked: tokens(),
            request_preemptions: Histogram::new(PREEMPTION_BOUNDS),
            late: Nanos::ZERO,
            late_max: Nanos::ZERO,
        }
    }

    /// Counts a step that is done. One that only computed pieces of prompts has no output to be counted.
    pub(crate) fn count_step(&mut self, tokens_before: u64, emitted: &[Emitted]) {
        self.steps += 1;
        if !emitted.is_empty() {
            let tokens = self.prompt_tokens + self.generation_tokens - tokens_before;
            self.step_tokens.add(tokens as f64);
        }
    }

    /// Counts the guesses a decode verified.
    pub(crate) fn count_guesses(&mut self, tokens: usize, accepted: usize) {
        if tokens == 0 {
            return;
        }
        let guesses = &mut self.guesses;
        guesses.drafts += 1;
        guesses.tokens += tokens as u64;
        guesses.accepted += accepted as u64;
        guesses
            .accepted_at
            .iter_mut()
            .take(accepted)
            .for_each(|count| *count += 1);
    }

    /// Counts a sequence's new tokens.
    pub(crate) fn count_tokens(&mut self, sequence: &mut Sequence, new: &Emitted, ends: Nanos) {
        self.generation_tokens += u64::from(new.count);
        match sequence.last_token.replace(ends) {
            Some(before) => self.itl.observe(ends.since(before)),
            None => {
                sequence.first_token = ends;
                self.prompt_tokens += sequence.prompt_len as u64;
                self.prompt_tokens_cached += u64::from(new.cached);
                self.ttft.observe(ends.since(sequence.arrived));
            }
        }
        if new.finished {
            self.count_request(sequence, ends);
        }
    }

    /// Counts a sequence that has ended.
    fn count_request(&mut self, sequence: &Sequence, ends: Nanos) {
        let (arrived, first) = (sequence.arrived, sequence.first_token);
        let started = sequence.started.unwrap_or(first);
        let answered = sequence.answered();
        let decode = ends.since(first);
        self.finished += 1;
        self.e2e.observe(ends.since(arrived));
        self.queue.observe(started.since(arrived));
        self.prefill.observe(first.since(started));
        self.decode.observe(decode);
        self.inference.observe(ends.since(started));
        let gaps = f64::from((answered - 1).max(1));
        self.tpot.add(decode.as_secs_f64() / gaps);
        let cached = sequence.cached.unwrap_or(0);
        self.request_prompt.add(sequence.prompt_len as f64);
        self.request_computed
            .add((sequence.prompt_len - cached) as f64);
        self.request_answer.add(f64::from(answered));
        self.request_asked.add(f64::from(sequence.max_tokens));
        self.request_preemptions
            .add(f64::from(sequence.preemptions));
    }
}
