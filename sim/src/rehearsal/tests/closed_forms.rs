//! The engine against closed forms, within 5 %: queueing theory, and arithmetic on data sheets that shares nothing with the
//! engine's own prices.

use measure::sampling::Draws;

use super::{config, rehearse, single};
use crate::rehearsal::{Outcome, Session};
use measure::units::Nanos;

#[track_caller]
fn check(what: &str, simulated: f64, closed_form: f64) {
    assert!(
        (simulated / closed_form - 1.0).abs() < 0.05,
        "{what}: {simulated} simulated, {closed_form} by the closed form"
    );
}

fn last(outcomes: &[Outcome]) -> f64 {
    outcomes
        .iter()
        .map(|one| one.last.as_secs_f64())
        .fold(0.0, f64::max)
}

/// M/D/1: with Poisson arrivals and one server of fixed time the mean wait is rho * service / (2 * (1 - rho)).
#[track_caller]
fn check_md1(load: f64, answer: u32) {
    let config = config("tiny", &[("max-num-seqs", "1")]);
    let service = last(&rehearse(&config, &[single(Nanos::ZERO, 1, 32, answer)]));
    let (count, mut draws, mut at) = (60_000 / answer, Draws::new(5), 0.0);
    let sessions: Vec<Session> = (0..count)
        .map(|_| {
            at += draws.exponential(load / service);
            single(Nanos::from_secs_f64(at), 1, 32, answer)
        })
        .collect();
    let waits = rehearse(&config, &sessions)
        .iter()
        .map(|one| one.last.since(one.arrived).as_secs_f64() - service)
        .sum::<f64>();
    check(
        "mean wait",
        waits / f64::from(count),
        load * service / (2.0 * (1.0 - load)),
    );
}

#[test]
fn one_place_with_poisson_arrivals_waits_as_md1() {
    check_md1(0.3, 1);
    check_md1(0.5, 1);
    check_md1(0.7, 1);
    check_md1(0.7, 2);
    check_md1(0.8, 1);
}

/// Tokens a second of so many sequences that decode together, by the data sheets: every step reads all weights but the input
/// embedding, and every sequence's cache, at four fifths of the bandwidth; between steps lie 0.3 ms.
#[track_caller]
fn check_decode(preset: &str, sequences: u32, weights: f64, kv_token: f64, bandwidth: f64) {
    let places = sequences.to_string();
    let config = config(preset, &[("max-num-seqs", &places)]);
    let (prompt, answer) = (16, 400);
    let sessions: Vec<Session> = (0..sequences)
        .map(|salt| single(Nanos::ZERO, salt, prompt, answer))
        .collect();
    let rate = f64::from(sequences * answer) / last(&rehearse(&config, &sessions));
    let context = f64::from(prompt + answer / 2);
    let bytes = weights + f64::from(sequences) * context * kv_token;
    let step = 0.3e-3 + bytes / (0.8 * bandwidth);
    check(preset, rate, f64::from(sequences) / step);
}

#[test]
fn saturated_decodes_read_memory_at_its_bandwidth() {
    let (weights, kv) = (2.0 * (8.03e9 - 128_256.0 * 4096.0), 131_072.0);
    check_decode("llama-8b-h100", 1, weights, kv, 3.35e12);
    check_decode("llama-8b-h100", 64, weights, kv, 3.35e12);
    check_decode("llama-8b-h200", 128, weights, kv, 4.8e12);
    check_decode("llama-8b-a100", 64, weights, kv, 2.039e12);
    check_decode("llama-8b-l4", 16, weights, kv, 0.3e12);
}

/// Times to the first token of prompts that arrive together, by the data sheet: the last of them waits for the products of
/// all tokens with all weights, and for attention, at half of the operations.
#[track_caller]
fn check_prefill(preset: &str, prompts: u32, tokens: u32, flops: f64) {
    let config = config(preset, &[]);
    let sessions: Vec<Session> = (0..prompts)
        .map(|salt| single(Nanos::ZERO, salt, tokens, 1))
        .collect();
    let outcomes = rehearse(&config, &sessions);
    let latest = outcomes
        .iter()
        .map(|one| one.ttft().as_secs_f64())
        .fold(0.0, f64::max);
    let (prompts, tokens) = (f64::from(prompts), f64::from(tokens));
    let products = 2.0 * (8.03e9 - 128_256.0 * 4096.0) * prompts * tokens;
    let attention = 4.0 * 4096.0 * 32.0 * prompts * tokens * tokens / 2.0;
    let steps = (prompts * tokens / 2048.0).ceil();
    let seconds = (products + attention) / (0.5 * flops) + 0.3e-3 * steps;
    check(preset, latest, seconds);
}

#[test]
fn prefills_multiply_at_the_device_s_rate() {
    check_prefill("llama-8b-h100", 1, 2000, 989e12);
    check_prefill("llama-8b-h100", 32, 1000, 989e12);
    check_prefill("llama-8b-h200", 20, 4000, 989e12);
    check_prefill("llama-8b-a100", 1, 8000, 312e12);
    check_prefill("llama-8b-l4", 8, 512, 121e12);
}

/// TTFT under Poisson arrivals of prompts alone, one at a time: service is the prefill, the wait M/D/1's.
#[test]
fn a_queue_of_prefills_waits_as_md1_too() {
    let config = config("llama-8b-h100", &[("max-num-seqs", "1")]);
    let service = 2.0 * (8.03e9 - 128_256.0 * 4096.0) * 1000.0 / (0.5 * 989e12)
        + 4.0 * 4096.0 * 32.0 * 1000.0 * 1000.0 / 2.0 / (0.5 * 989e12)
        + 0.3e-3;
    let (load, count, mut draws, mut at) = (0.6, 30_000, Draws::new(11), 0.0);
    let sessions: Vec<Session> = (0..count)
        .map(|_| {
            at += draws.exponential(load / service);
            single(Nanos::from_secs_f64(at), 1, 1000, 1)
        })
        .collect();
    let outcomes = rehearse(&config, &sessions);
    let sum: f64 = outcomes.iter().map(|one| one.ttft().as_secs_f64()).sum();
    let mean = sum / f64::from(count);
    check(
        "mean TTFT",
        mean,
        service + load * service / (2.0 * (1.0 - load)),
    );
}
