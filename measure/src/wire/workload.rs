//! What people send of workloads: a field that does not belong to its kind is refused.

use serde::Deserialize;

use super::{Misread, need, no_stray};
use crate::workload::{Answers, Lengths, ShareGptFilter, Trace, TraceFormat, Workload};

/// [`Lengths`] as they are read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LengthsText {
    kind: String,
    tokens: Option<u32>,
    min: Option<u32>,
    max: Option<u32>,
    mean: Option<u32>,
    deviation: Option<f64>,
    median: Option<u32>,
    sigma: Option<f64>,
    values: Option<Vec<u32>>,
}

impl TryFrom<LengthsText> for Lengths {
    type Error = Misread;
    fn try_from(text: LengthsText) -> Result<Self, Misread> {
        let kind = text.kind.as_str();
        let of_a_most = one_of(kind, &["uniform", "normal", "log_normal"]);
        let fields = [
            ("tokens", text.tokens.is_some(), "fixed"),
            ("min", text.min.is_some(), "uniform"),
            ("mean", text.mean.is_some(), "normal"),
            ("deviation", text.deviation.is_some(), "normal"),
            ("median", text.median.is_some(), "log_normal"),
            ("sigma", text.sigma.is_some(), "log_normal"),
            ("values", text.values.is_some(), "table"),
            ("max", text.max.is_some(), of_a_most),
        ];
        no_stray(kind, &fields)?;
        Ok(match kind {
            "fixed" => Self::Fixed {
                tokens: need(text.tokens, "tokens")?,
            },
            "uniform" => Self::Uniform {
                min: need(text.min, "min")?,
                max: need(text.max, "max")?,
            },
            "normal" => Self::Normal {
                mean: need(text.mean, "mean")?,
                deviation: need(text.deviation, "deviation")?,
                max: need(text.max, "max")?,
            },
            "log_normal" => Self::LogNormal {
                median: need(text.median, "median")?,
                sigma: need(text.sigma, "sigma")?,
                max: need(text.max, "max")?,
            },
            "table" => Self::Table {
                values: need(text.values, "values")?,
            },
            _ => return Err(Misread::Unknown(text.kind)),
        })
    }
}

/// A [`Workload`] as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorkloadText {
    kind: String,
    scale: Option<f64>,
    file: Option<String>,
    max_turns: Option<u32>,
    think_ms: Option<u64>,
    max_context: Option<u32>,
    filter: Option<ShareGptFilter>,
    output_tokens: Option<u32>,
    answers: Option<Answers>,
    repeats: Option<bool>,
    input: Option<Lengths>,
    output: Option<Lengths>,
    families: Option<u32>,
    prefix_tokens: Option<u32>,
    share: Option<f64>,
    format: Option<TraceFormat>,
    start_ms: Option<u64>,
    length_ms: Option<u64>,
}

impl WorkloadText {
    /// Each field with the kind it belongs to: this one, where it is one of several.
    fn check(&self) -> Result<(), Misread> {
        let kind = self.kind.as_str();
        let of = |kinds: &[&'static str]| one_of(kind, kinds);
        let sharegpt = of(&["share_gpt_shaped", "share_gpt_file"]);
        let file = of(&["share_gpt_file", "prompt_file", "trace"]);
        let made_up = of(&["synthetic", "shared_prefix"]);
        let context = of(&["share_gpt_shaped", "trace"]);
        let rows = of(&["share_gpt_file", "prompt_file"]);
        let output = of(&["synthetic", "shared_prefix", "prompt_file"]);
        let fields = [
            ("scale", self.scale.is_some(), "share_gpt_shaped"),
            ("file", self.file.is_some(), file),
            ("max_turns", self.max_turns.is_some(), sharegpt),
            ("think_ms", self.think_ms.is_some(), sharegpt),
            ("max_context", self.max_context.is_some(), context),
            ("filter", self.filter.is_some(), "share_gpt_file"),
            (
                "output_tokens",
                self.output_tokens.is_some(),
                "share_gpt_file",
            ),
            ("answers", self.answers.is_some(), sharegpt),
            ("repeats", self.repeats.is_some(), rows),
            ("input", self.input.is_some(), made_up),
            ("output", self.output.is_some(), output),
            ("families", self.families.is_some(), "shared_prefix"),
            (
                "prefix_tokens",
                self.prefix_tokens.is_some(),
                "shared_prefix",
            ),
            ("share", self.share.is_some(), "shared_prefix"),
            ("format", self.format.is_some(), "trace"),
            ("start_ms", self.start_ms.is_some(), "trace"),
            ("length_ms", self.length_ms.is_some(), "trace"),
        ];
        no_stray(kind, &fields)
    }
}

impl TryFrom<WorkloadText> for Workload {
    type Error = Misread;
    fn try_from(text: WorkloadText) -> Result<Self, Misread> {
        text.check()?;
        Ok(match text.kind.as_str() {
            "share_gpt_shaped" => Self::ShareGptShaped {
                scale: need(text.scale, "scale")?,
                max_turns: need(text.max_turns, "max_turns")?,
                think_ms: need(text.think_ms, "think_ms")?,
                max_context: need(text.max_context, "max_context")?,
                answers: text.answers.unwrap_or_default(),
            },
            "share_gpt_file" => Self::ShareGptFile {
                file: need(text.file, "file")?,
                max_turns: need(text.max_turns, "max_turns")?,
                think_ms: need(text.think_ms, "think_ms")?,
                filter: need(text.filter, "filter")?,
                output_tokens: text.output_tokens,
                answers: text.answers.unwrap_or_default(),
                repeats: text.repeats.unwrap_or_default(),
            },
            "prompt_file" => Self::PromptFile {
                file: need(text.file, "file")?,
                output: text.output,
                repeats: text.repeats.unwrap_or_default(),
            },
            "synthetic" => Self::Synthetic {
                input: need(text.input, "input")?,
                output: need(text.output, "output")?,
            },
            "shared_prefix" => Self::SharedPrefix {
                families: need(text.families, "families")?,
                prefix_tokens: need(text.prefix_tokens, "prefix_tokens")?,
                share: need(text.share, "share")?,
                input: need(text.input, "input")?,
                output: need(text.output, "output")?,
            },
            "trace" => Self::Trace(Trace {
                file: need(text.file, "file")?,
                format: need(text.format, "format")?,
                start_ms: text.start_ms.unwrap_or_default(),
                length_ms: text.length_ms,
                max_context: text.max_context,
            }),
            _ => return Err(Misread::Unknown(text.kind)),
        })
    }
}

/// The kind that a field of several kinds belongs to: this one if it is among them.
fn one_of(kind: &str, kinds: &[&'static str]) -> &'static str {
    let here = kinds.iter().find(|it| **it == kind);
    here.or(kinds.first()).copied().unwrap_or_default()
}
