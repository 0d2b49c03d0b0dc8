//! Can the study run? Every error, each at its field.

mod configurations; // what is compared

use std::collections::BTreeSet;

use crate::arrival::Arrival;
use crate::units::Level;
use crate::workload::Workload;

use super::adaptive::check_adaptive;
use super::{
    Endpoint, EngineSpec, FieldError, MAX_POINTS, MAX_REPEATS, MAX_REQUESTS, PROBES, StudySpec,
};
use configurations::check_configurations;

/// Longest text of a name or an instruction.
const MAX_NAME: usize = 200;
/// Longest name of a fact.
const MAX_FACT: usize = 40;
/// Most requests in a closed loop at once.
const MAX_STREAMS: u32 = 10_000;
/// Highest rate: beyond it one machine's client is not innocent.
const MAX_RATE: f64 = 100_000.0;
/// Lowest rate: an arrival in a thousand seconds.
const MIN_RATE: f64 = 0.001;
/// Fastest replay of a trace.
const MAX_SPEED: f64 = 10_000.0;
/// Longest study, by its own estimate.
const MAX_HOURS: u64 = 24;
/// Longest point.
const MAX_SECONDS: u32 = 3600;
/// Longest time to wait for a silent stream, or for the last answers.
const MAX_WAIT_MS: u64 = 3_600_000;

/// Errors as they are found.
#[derive(Default)]
pub(super) struct Errors(Vec<FieldError>);

impl Errors {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn unless(&mut self, holds: bool, field: impl Into<String>, message: impl Into<String>) {
        if !holds {
            self.0.push(FieldError {
                field: field.into(),
                message: message.into(),
            });
        }
    }
}

pub(super) fn check(spec: &StudySpec) -> Vec<FieldError> {
    let mut errors = Errors::default();
    check_name(&mut errors, &spec.name, "name");
    match &spec.engine {
        EngineSpec::Endpoint(endpoint) => check_endpoint(&mut errors, endpoint, "engine"),
        EngineSpec::Simulator { preset } => errors.unless(
            !preset.trim().is_empty(),
            "engine.preset",
            "name a preset, such as small-fast",
        ),
        EngineSpec::Managed { name } => check_managed(&mut errors, name, "engine"),
    }
    if let Err(error) = spec.workload.check() {
        errors.unless(false, format!("workload.{}", error.field), error.message);
    }
    check_levels(&mut errors, spec);
    check_length(&mut errors, spec);
    check_ramp_in(&mut errors, spec);
    check_configurations(&mut errors, spec);
    if let Some(adaptive) = spec.adaptive {
        check_adaptive(&mut errors, spec, adaptive);
    }
    check_size(&mut errors, spec);
    errors.0
}

fn check_text(errors: &mut Errors, text: &str, field: &str) {
    errors.unless(is_visible(text), field, "must not be empty");
    errors.unless(
        text.chars().count() <= MAX_NAME,
        field,
        format!("must have at most {MAX_NAME} characters"),
    );
}

fn check_name(errors: &mut Errors, name: &str, field: &str) {
    check_text(errors, name, field);
    errors.unless(
        !steers(name),
        field,
        "must not contain line breaks, marks that turn the direction of text, or other control characters",
    );
}

/// Whether a person sees anything of it: blanks and characters without width are nothing.
pub fn is_visible(text: &str) -> bool {
    let is_nothing = |c: char| {
        c.is_whitespace()
            || c.is_control()
            || matches!(c, '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{206f}' | '\u{feff}' | '\u{3164}' | '\u{2800}')
    };
    !text.chars().all(is_nothing)
}

/// Whether a text has what turns its direction, or ends its line: what stands beside it is read otherwise than it is written.
pub fn steers(text: &str) -> bool {
    let turns = |c: char| matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().any(|c| c.is_control() || turns(c))
}

fn check_endpoint(errors: &mut Errors, endpoint: &Endpoint, field: &str) {
    let host = ["http://", "https://"]
        .iter()
        .find_map(|scheme| endpoint.url.trim().strip_prefix(scheme));
    errors.unless(
        host.is_some(),
        format!("{field}.url"),
        "must begin with http:// or https://",
    );
    let named = host.is_none_or(|host| {
        !host.is_empty() && !host.starts_with('/') && !host.contains(char::is_whitespace)
    });
    errors.unless(
        named,
        format!("{field}.url"),
        "must name a host, such as http://127.0.0.1:8000",
    );
    errors.unless(
        !endpoint.model.trim().is_empty(),
        format!("{field}.model"),
        "name the model; a probe lists them",
    );
    for FieldError {
        field: part,
        message,
    } in endpoint.check_reach()
    {
        errors.unless(false, format!("{field}.{part}"), message);
    }
}

fn check_managed(errors: &mut Errors, name: &str, field: &str) {
    errors.unless(
        is_visible(name),
        format!("{field}.name"),
        "name an engine that the studio starts",
    );
}

fn check_levels(errors: &mut Errors, spec: &StudySpec) {
    let chosen = !spec.levels.is_empty() || spec.adaptive.is_some();
    errors.unless(chosen, "levels", "give at least one rate");
    let mut seen = BTreeSet::new();
    for (index, level) in spec.levels.iter().enumerate() {
        let field = format!("levels[{index}]");
        errors.unless(
            seen.insert(level.to_string()),
            &field,
            format!("{level} stands here twice; use repeats instead"),
        );
        if let Level::Replay(_) = level {
            check_replay(errors, spec, &field);
        }
        if let Some(why) = level_problem(*level) {
            errors.unless(false, &field, why);
        }
    }
    check_ramp(errors, spec);
}

pub(super) fn check_rate(errors: &mut Errors, per_second: f64, field: &str) {
    if let Some(why) = rate_problem(per_second) {
        errors.unless(false, field, why);
    }
}

/// Only a trace has arrivals of its own.
fn check_replay(errors: &mut Errors, spec: &StudySpec, field: &str) {
    errors.unless(
        matches!(spec.workload, Workload::Trace(_)),
        field,
        "only a trace has a speed: give a rate, or take a trace as the workload",
    );
}

/// What is wrong with a level, wherever it comes from.
pub fn level_problem(level: Level) -> Option<String> {
    let (holds, allowed) = match level {
        Level::Rate(rate) => return rate_problem(rate.per_second()),
        Level::Concurrency(streams) => (
            streams <= MAX_STREAMS,
            format!("must be at most {MAX_STREAMS} streams"),
        ),
        Level::Replay(speed) => (
            (MIN_RATE..=MAX_SPEED).contains(&speed.factor()),
            format!("must be {MIN_RATE} to {MAX_SPEED} times the recorded speed"),
        ),
        Level::Inf => return None,
    };
    (!holds).then_some(allowed)
}

fn rate_problem(per_second: f64) -> Option<String> {
    let holds = (MIN_RATE..=MAX_RATE).contains(&per_second);
    (!holds).then(|| format!("must be {MIN_RATE} to {MAX_RATE} per second"))
}

/// A ramp starts from a rate, so that it needs one to go to.
fn check_ramp(errors: &mut Errors, spec: &StudySpec) {
    let (Arrival::LinearRamp { from } | Arrival::ExponentialRamp { from }) = spec.arrival else {
        return;
    };
    errors.unless(
        (MIN_RATE..=MAX_RATE).contains(&from.per_second()),
        "arrival",
        format!("a ramp must start from {MIN_RATE} to {MAX_RATE} per second"),
    );
}

fn check_length(errors: &mut Errors, spec: &StudySpec) {
    let length = spec.length;
    errors.unless(
        1 <= length.min_requests,
        "length.min_requests",
        "must be at least 1; a p95 needs at least 72 for an upper end",
    );
    let ordered = length.min_requests <= length.max_requests;
    errors.unless(
        ordered,
        "length.max_requests",
        format!("must be at least min_requests ({})", length.min_requests),
    );
    errors.unless(
        length.max_requests <= MAX_REQUESTS,
        "length.max_requests",
        format!("must be at most {MAX_REQUESTS}"),
    );
    errors.unless(
        (1..=MAX_SECONDS).contains(&length.seconds),
        "length.seconds",
        format!("must be 1 to {MAX_SECONDS}"),
    );
    errors.unless(
        spec.warmup <= 1000,
        "warmup",
        "must be at most 1000 requests",
    );
    errors.unless(
        (1..=MAX_REPEATS).contains(&spec.repeats),
        "repeats",
        format!("must be 1 to {MAX_REPEATS}"),
    );
    errors.unless(
        (1..=MAX_WAIT_MS).contains(&spec.idle_timeout_ms),
        "idle_timeout_ms",
        "must be 1 ms to 1 h",
    );
    errors.unless(
        spec.drain_ms <= MAX_WAIT_MS,
        "drain_ms",
        "must be at most 1 h",
    );
}

/// Some of every point must come after the ramp-in. At `inf` everything is due at the start, and none is left out.
fn check_ramp_in(errors: &mut Errors, spec: &StudySpec) {
    if spec.ramp_in_ms == 0 {
        return;
    }
    let shorter = spec.ramp_in_ms < u64::from(spec.length.seconds) * 1000;
    errors.unless(
        shorter,
        "ramp_in_ms",
        format!(
            "must be shorter than the {} s of a point",
            spec.length.seconds
        ),
    );
    let sessions =
        f64::from(spec.length.max_requests) / spec.workload.requests_per_session().max(1.0);
    for rate in spec.levels.iter().filter_map(|level| level.rate()) {
        let span = sessions / spec.arrival.mean_rate(rate);
        errors.unless(
            !shorter || (spec.ramp_in_ms as f64) < span * 1000.0,
            "ramp_in_ms",
            format!(
                "at {rate} per second a point of {} requests is over within it; shorten it, or raise the most requests",
                spec.length.max_requests
            ),
        );
    }
}

/// What is wrong with a fact that a person types.
pub fn declared_problem(name: &str, value: &str) -> Option<&'static str> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || " -_".contains(c);
    let named = (1..=MAX_FACT).contains(&name.len()) && name.chars().all(plain);
    if !named {
        return Some("a fact is called by small letters, digits, dashes and blanks, as hardware");
    }
    let line = value.len() <= MAX_NAME && !steers(value);
    let told = line && is_visible(value);
    (!told).then_some("a fact's value is one line of at most 200 characters, as 1x H100 SXM")
}

fn check_size(errors: &mut Errors, spec: &StudySpec) {
    let each = match spec.adaptive {
        Some(_) => PROBES as usize,
        None => spec.levels.len().saturating_mul(spec.repeats as usize),
    };
    let points = each.saturating_mul(spec.configurations.len());
    errors.unless(
        points <= MAX_POINTS,
        "levels",
        format!("{points} points are planned; at most {MAX_POINTS} fit in one study"),
    );
    // Bounds first: the plan of a study without them is longer than memory, or than the clock counts.
    if errors.0.is_empty() {
        check_time(errors, spec);
    }
}

fn check_time(errors: &mut Errors, spec: &StudySpec) {
    let plan = spec.plan();
    let hours = plan
        .iter()
        .map(|it| it.estimated.as_secs_f64())
        .sum::<f64>()
        / 3600.0;
    errors.unless(
        hours <= MAX_HOURS as f64,
        "levels",
        format!("the study would take about {hours:.0} h; at most {MAX_HOURS} h: leave out low rates, or lower requests, repeats or configurations"),
    );
}
