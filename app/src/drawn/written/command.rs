//! Points of a study's baseline as lines of `goodput bench`.

use measure::arrival::Arrival;
use measure::study::{Connection, Endpoint, EngineSpec, PlannedPoint, StudySpec};
use measure::units::Level;
use measure::workload::{Answers, Lengths, ShareGptFilter, Trace, TraceFormat, Workload};

/// Most tokens of a context where the command line says nothing of it.
const USUAL_CONTEXT: u32 = 4096;

/// One line a level, or why there is none.
pub fn lines(spec: &StudySpec) -> Result<Vec<String>, &'static str> {
    let EngineSpec::Endpoint(endpoint) = &spec.engine else {
        return Err("the studio starts this engine itself, and goodput bench is given a URL");
    };
    if spec.levels.is_empty() {
        return Err("the sweep chooses its rates as it goes");
    }
    let workload = workload(&spec.workload)?;
    let line = |level: &Level| {
        let parts = [
            engine(endpoint),
            load(spec, *level),
            workload.clone(),
            rest(spec, *level),
        ];
        let words: Vec<String> = parts.concat().iter().map(|word| shell(word)).collect();
        format!("goodput bench {}", words.join(" "))
    };
    Ok(spec.levels.iter().map(line).collect())
}

/// An option with its value: in one word where the value would be taken for an option itself.
fn option(name: &str, value: impl ToString) -> Vec<String> {
    let value = value.to_string();
    if value.starts_with('-') {
        return vec![format!("--{name}={value}")];
    }
    vec![format!("--{name}"), value]
}

fn engine(endpoint: &Endpoint) -> Vec<String> {
    let mut words = [
        option("url", &endpoint.url),
        option("api", endpoint.api.name()),
        option("model", &endpoint.model),
    ]
    .concat();
    let mut key = |name, value: &Option<String>| {
        words.extend(value.iter().flat_map(|value| option(name, value)));
    };
    key("api-key-env", &endpoint.api_key_env);
    key("api-key-secret", &endpoint.api_key_secret);
    let headers = endpoint.headers.iter();
    words.extend(headers.flat_map(|(name, value)| option("header", format!("{name}: {value}"))));
    words.extend(connection(&endpoint.connection));
    words
}

/// How the engine is reached, where that is not as usual.
fn connection(connection: &Connection) -> Vec<String> {
    let flag = |is: bool, name: &str| is.then(|| format!("--{name}"));
    let given =
        |name, value: &Option<String>| value.iter().flat_map(|it| option(name, it)).collect();
    let words: [Vec<String>; 2] = [
        given("ca-file", &connection.ca_file),
        given("proxy", &connection.proxy),
    ];
    let flags = [
        flag(connection.insecure, "insecure"),
        flag(connection.http2, "http2"),
    ];
    words
        .concat()
        .into_iter()
        .chain(flags.into_iter().flatten())
        .collect()
}

fn load(spec: &StudySpec, level: Level) -> Vec<String> {
    let mut words = match level {
        Level::Concurrency(streams) => option("concurrency", streams),
        Level::Replay(speed) => option("speed", speed.factor()),
        Level::Inf => option("rate", "inf"),
        Level::Rate(rate) => option("rate", rate.per_second()),
    };
    if spec.arrival != Arrival::Poisson {
        words.extend(option("arrival", spec.arrival));
    }
    let planned = planned(spec, level).map(|point| point.requests);
    words.extend(option(
        "requests",
        planned.unwrap_or(spec.length.max_requests),
    ));
    words
}

/// The first point that the study plans at a level.
fn planned(spec: &StudySpec, level: Level) -> Option<PlannedPoint> {
    spec.plan().into_iter().find(|point| point.level == level)
}

fn rest(spec: &StudySpec, level: Level) -> Vec<String> {
    let seed = planned(spec, level).map_or(spec.seed, |point| point.seed);
    let mut words = [
        option("seed", seed.0),
        option("warmup", spec.warmup),
        option("idle-timeout-ms", spec.idle_timeout_ms),
        option("drain-ms", spec.drain_ms),
        option("slo", &spec.slo),
    ]
    .concat();
    words.extend(spec.tokenizer.iter().flat_map(|it| option("tokenizer", it)));
    if 0 < spec.ramp_in_ms {
        words.extend(option("ramp-in", spec.ramp_in_ms as f64 / 1000.0));
    }
    words
}

fn workload(workload: &Workload) -> Result<Vec<String>, &'static str> {
    Ok(match workload {
        Workload::Synthetic { input, output } => {
            [sized("input", input)?, sized("output", output)?].concat()
        }
        Workload::SharedPrefix {
            families,
            prefix_tokens,
            share,
            input,
            output,
        } => [
            option("workload", "shared-prefix"),
            option("families", families),
            option("prefix-tokens", prefix_tokens),
            option("prefix-share", share),
            sized("input", input)?,
            sized("output", output)?,
        ]
        .concat(),
        Workload::ShareGptShaped {
            scale,
            max_turns,
            think_ms,
            max_context,
            answers,
        } => {
            if *scale != 1.0 {
                return Err("lengths scaled down are a study's alone");
            }
            let mut words = sessions("sharegpt-shaped".into(), *max_turns, *think_ms, *answers);
            if *max_context != USUAL_CONTEXT {
                words.extend(option("max-context", max_context));
            }
            words
        }
        Workload::ShareGptFile { .. } | Workload::PromptFile { .. } => of_file(workload)?,
        Workload::Trace(trace) => recorded(trace),
    })
}

/// Rows of a file.
fn of_file(workload: &Workload) -> Result<Vec<String>, &'static str> {
    Ok(match workload {
        Workload::ShareGptFile {
            file,
            max_turns,
            think_ms,
            filter,
            output_tokens,
            answers,
            repeats,
        } => {
            if *filter != ShareGptFilter::default() {
                return Err("a filter of its own is a study's alone");
            }
            let mut words = sessions(format!("sharegpt:{file}"), *max_turns, *think_ms, *answers);
            words.extend(
                output_tokens
                    .iter()
                    .flat_map(|it| option("output-tokens", it)),
            );
            words.extend(again(*repeats));
            words
        }
        Workload::PromptFile {
            file,
            output,
            repeats,
        } => {
            let mut words = option("workload", format!("prompts:{file}"));
            if let Some(output) = output {
                words.extend(sized("output", output)?);
            }
            words.extend(again(*repeats));
            words
        }
        _ => Vec::new(),
    })
}

fn again(repeats: bool) -> Option<String> {
    repeats.then(|| "--allow-repeats".to_owned())
}

fn sessions(source: String, turns: u32, think_ms: u64, answers: Answers) -> Vec<String> {
    let mut words = [option("workload", source), option("turns", turns)].concat();
    if 0 < think_ms {
        words.extend(option("think-ms", think_ms));
    }
    if answers == Answers::Real {
        words.extend(option("answers", "real"));
    }
    words
}

fn recorded(trace: &Trace) -> Vec<String> {
    let format = match trace.format {
        TraceFormat::Azure => "azure",
        TraceFormat::Mooncake => "mooncake",
        TraceFormat::BurstGpt => "burstgpt",
        TraceFormat::Jsonl => "trace",
    };
    let mut words = option("workload", format!("{format}:{}", trace.file));
    let seconds = |millis: u64| millis as f64 / 1000.0;
    let window = match trace.length_ms {
        Some(length) => Some(format!("{}:{}", seconds(trace.start_ms), seconds(length))),
        None => (0 < trace.start_ms).then(|| seconds(trace.start_ms).to_string()),
    };
    words.extend(window.iter().flat_map(|it| option("window", it)));
    words.extend(
        trace
            .max_context
            .iter()
            .flat_map(|it| option("max-context", it)),
    );
    words
}

/// `--input-tokens` or `--output-tokens`.
fn sized(which: &str, lengths: &Lengths) -> Result<Vec<String>, &'static str> {
    let text = match lengths {
        Lengths::Fixed { tokens } => tokens.to_string(),
        Lengths::Uniform { min, max } => format!("uniform:{min}:{max}"),
        Lengths::Normal {
            mean,
            deviation,
            max,
        } => format!("normal:{mean}:{deviation}:{max}"),
        Lengths::LogNormal { median, sigma, max } => format!("lognormal:{median}:{sigma}:{max}"),
        Lengths::Table { .. } => return Err("a table of lengths stands in a file of its own"),
    };
    Ok(option(&format!("{which}-tokens"), text))
}

/// A word as a shell takes it.
fn shell(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,@%+".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stays_one_word_in_a_shell() {
        assert_eq!(shell("sharegpt:a.json"), "sharegpt:a.json");
        assert_eq!(shell("ttft:p95<500ms"), "'ttft:p95<500ms'");
        assert_eq!(shell("it's"), r"'it'\''s'");
    }
}
