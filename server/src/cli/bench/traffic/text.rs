//! Lengths, sources and windows as they are typed.

use measure::workload::{Lengths, MAX_TOKENS, TraceFormat};

use super::LONGEST;

/// Where requests come from.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Source {
    Synthetic,
    SharedPrefix,
    ShareGptShaped,
    ShareGptFile(String),
    Prompts(String),
    Trace(TraceFormat, String),
}

pub(super) fn parse_source(text: &str) -> Result<Source, String> {
    let (kind, file) = text.split_once(':').unwrap_or((text, ""));
    let trace = |format| Ok(Source::Trace(format, file.to_owned()));
    match (kind, file.is_empty()) {
        ("synthetic", true) => Ok(Source::Synthetic),
        ("shared-prefix", true) => Ok(Source::SharedPrefix),
        ("sharegpt-shaped", true) => Ok(Source::ShareGptShaped),
        ("sharegpt", false) => Ok(Source::ShareGptFile(file.to_owned())),
        ("prompts", false) => Ok(Source::Prompts(file.to_owned())),
        ("azure", false) => trace(TraceFormat::Azure),
        ("mooncake", false) => trace(TraceFormat::Mooncake),
        ("burstgpt", false) => trace(TraceFormat::BurstGpt),
        ("trace", false) => trace(TraceFormat::Jsonl),
        _ => Err("must be synthetic, shared-prefix, sharegpt-shaped, sharegpt:FILE, prompts:FILE, azure:FILE, mooncake:FILE, burstgpt:FILE or trace:FILE".into()),
    }
}

/// `128`, `uniform:10:20`, `normal:200:50:1000`, `lognormal:200:0.7`, `table:FILE`
pub(super) fn parse_lengths(text: &str) -> Result<Lengths, String> {
    let (kind, rest) = text.split_once(':').unwrap_or(("fixed", text));
    if kind == "table" {
        return table(rest);
    }
    let numbers: Option<Vec<f64>> = rest
        .split(':')
        .map(|part| part.trim().parse().ok())
        .collect();
    let whole = |number: f64| {
        let fits = number.fract() == 0.0 && (0.0..=f64::from(MAX_TOKENS)).contains(&number);
        fits.then_some(number as u32)
    };
    let lengths = match (kind, numbers.as_deref()) {
        ("fixed", Some([tokens])) => whole(*tokens).map(|tokens| Lengths::Fixed { tokens }),
        ("uniform", Some([min, max])) => {
            let ends = whole(*min).zip(whole(*max));
            ends.map(|(min, max)| Lengths::Uniform { min, max })
        }
        ("normal", Some([mean, deviation, rest @ ..])) if rest.len() <= 1 => {
            let most = rest.first().map_or(Some(LONGEST), |max| whole(*max));
            whole(*mean).zip(most).map(|(mean, max)| Lengths::Normal {
                mean,
                deviation: *deviation,
                max,
            })
        }
        ("lognormal", Some([median, sigma, rest @ ..])) if rest.len() <= 1 => {
            let most = rest.first().map_or(Some(LONGEST), |max| whole(*max));
            whole(*median)
                .zip(most)
                .map(|(median, max)| Lengths::LogNormal {
                    median,
                    sigma: *sigma,
                    max,
                })
        }
        _ => None,
    };
    lengths.ok_or_else(|| {
        format!("must be N, uniform:MIN:MAX, normal:MEAN:DEVIATION[:MAX], lognormal:MEDIAN:SIGMA[:MAX] or table:FILE, got {text:?}")
    })
}

/// A file of lengths, one a line.
fn table(file: &str) -> Result<Lengths, String> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| format!("the table {file:?} cannot be read ({error})"))?;
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let values = lines.map(|(number, line)| {
        line.trim().parse::<u32>().map_err(|_| {
            let number = number + 1;
            format!("the table {file:?}, line {number}: {line:?} is no length; write one whole number a line")
        })
    });
    let values = values.collect::<Result<_, _>>()?;
    Ok(Lengths::Table { values })
}

/// `60` or `60:300`, in seconds; as milliseconds.
pub(super) fn parse_window(text: &str) -> Result<(u64, Option<u64>), String> {
    let (start, length) = match text.split_once(':') {
        Some((start, length)) => (start, Some(length)),
        None => (text, None),
    };
    let millis = |text: &str| {
        let seconds = text.trim().parse::<f64>().ok();
        let seconds = seconds.filter(|it| 0.0 <= *it && *it <= 1e9);
        seconds
            .map(|seconds| (seconds * 1000.0).round() as u64)
            .ok_or_else(|| format!("must be START or START:LENGTH in seconds, got {text:?}"))
    };
    Ok((millis(start)?, length.map(millis).transpose()?))
}
