//! A workload as the form shows it. One that it has no fields for is kept as it is.

use measure::workload::{Lengths, ShareGptFilter, TraceFormat, Workload};

use super::*;

/// A workload to be: the fields of every kind, so that switching back and forth loses nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadDraft {
    /// `share_gpt_shaped`, `share_gpt_file`, `prompt_file`, `trace`, `synthetic`, or `given` for one that the form has no fields for.
    pub kind: String,
    /// A workload that the form has no fields for: kept as it is.
    pub given: Option<Workload>,
    /// Factor on every length.
    pub scale: String,
    /// Most turns of a session.
    pub max_turns: String,
    /// Seconds of pause before the next turn.
    pub think: String,
    /// Most tokens of context.
    pub max_context: String,
    /// The file.
    pub file: String,
    /// How the trace is written.
    pub format: String,
    /// Seconds of the trace before its part begins.
    pub start: String,
    /// Seconds of the part; empty for all the rest.
    pub length: String,
    /// Most tokens of a request of the trace; empty for any.
    pub most: String,
    /// Output tokens asked for, where the file does not say; empty for what it says.
    pub output_tokens: String,
    /// `yes` where rows may be used again.
    pub repeats: String,
    /// Shortest prompt kept.
    pub min_prompt: String,
    /// Shortest answer kept.
    pub min_output: String,
    /// Longest prompt kept.
    pub max_prompt: String,
    /// Longest prompt and answer together.
    pub max_total: String,
    /// Input lengths.
    pub input: LengthsDraft,
    /// Output lengths.
    pub output: LengthsDraft,
}

/// A length distribution to be.
#[derive(Clone, Debug, PartialEq)]
pub struct LengthsDraft {
    /// `fixed`, `uniform` or `log_normal`.
    pub kind: String,
    /// Tokens, when fixed.
    pub tokens: String,
    /// Fewest, when uniform.
    pub min: String,
    /// Most, when uniform or log-normal.
    pub max: String,
    /// Median, when log-normal.
    pub median: String,
    /// Sigma, when log-normal.
    pub sigma: String,
}

impl LengthsDraft {
    fn around(tokens: u32) -> Self {
        Self {
            kind: "log_normal".into(),
            tokens: tokens.to_string(),
            min: (tokens / 2).to_string(),
            max: (tokens * 4).to_string(),
            median: tokens.to_string(),
            sigma: "0.8".into(),
        }
    }
}

impl Default for LengthsDraft {
    fn default() -> Self {
        Self::around(256)
    }
}

impl Default for WorkloadDraft {
    fn default() -> Self {
        let ShareGptFilter {
            min_prompt,
            min_output,
            max_prompt,
            max_total,
        } = ShareGptFilter::default();
        Self {
            kind: "share_gpt_shaped".into(),
            given: None,
            scale: "1".into(),
            max_turns: "6".into(),
            think: "1".into(),
            max_context: "4096".into(),
            file: String::new(),
            format: TraceFormat::Azure.name().into(),
            start: "0".into(),
            length: String::new(),
            most: String::new(),
            output_tokens: String::new(),
            repeats: String::new(),
            min_prompt: min_prompt.to_string(),
            min_output: min_output.to_string(),
            max_prompt: max_prompt.to_string(),
            max_total: max_total.to_string(),
            input: LengthsDraft::around(512),
            output: LengthsDraft::around(128),
        }
    }
}

impl From<&Workload> for WorkloadDraft {
    fn from(workload: &Workload) -> Self {
        if !has_fields(workload) {
            return Self {
                kind: "given".into(),
                given: Some(workload.clone()),
                ..Self::default()
            };
        }
        match workload {
            Workload::ShareGptShaped { .. } | Workload::ShareGptFile { .. } => {
                Self::conversations(workload)
            }
            _ => Self::single(workload),
        }
    }
}

impl WorkloadDraft {
    /// Sessions of several turns.
    fn conversations(workload: &Workload) -> Self {
        let rest = Self::default();
        match workload {
            Workload::ShareGptShaped {
                scale,
                max_turns,
                think_ms,
                max_context,
                answers: _,
            } => Self {
                kind: "share_gpt_shaped".into(),
                scale: scale.to_string(),
                max_turns: max_turns.to_string(),
                think: seconds(*think_ms),
                max_context: max_context.to_string(),
                ..rest
            },
            Workload::ShareGptFile {
                file,
                max_turns,
                think_ms,
                filter,
                output_tokens,
                answers: _,
                repeats,
            } => Self {
                kind: "share_gpt_file".into(),
                file: file.clone(),
                max_turns: max_turns.to_string(),
                think: seconds(*think_ms),
                min_prompt: filter.min_prompt.to_string(),
                min_output: filter.min_output.to_string(),
                max_prompt: filter.max_prompt.to_string(),
                max_total: filter.max_total.to_string(),
                output_tokens: text(*output_tokens),
                repeats: yes(*repeats),
                ..rest
            },
            _ => rest,
        }
    }

    /// Single requests.
    fn single(workload: &Workload) -> Self {
        let rest = Self::default();
        match workload {
            Workload::Synthetic { input, output } => Self {
                kind: "synthetic".into(),
                input: input.into(),
                output: output.into(),
                ..rest
            },
            Workload::PromptFile {
                file,
                output,
                repeats,
            } => Self {
                kind: "prompt_file".into(),
                file: file.clone(),
                output_tokens: match output {
                    Some(Lengths::Fixed { tokens }) => tokens.to_string(),
                    _ => String::new(),
                },
                repeats: yes(*repeats),
                ..rest
            },
            Workload::Trace(trace) => Self {
                kind: "trace".into(),
                file: trace.file.clone(),
                format: trace.format.name().into(),
                start: seconds(trace.start_ms),
                length: trace.length_ms.map(seconds).unwrap_or_default(),
                most: text(trace.max_context),
                ..rest
            },
            _ => rest,
        }
    }
}

/// A number that need not be there.
fn text(number: Option<u32>) -> String {
    number.map(|it| it.to_string()).unwrap_or_default()
}

fn yes(on: bool) -> String {
    if on { "yes".into() } else { String::new() }
}

/// Whether the form has a field for every part of it.
fn has_fields(workload: &Workload) -> bool {
    let plain =
        |lengths: &Lengths| !matches!(lengths, Lengths::Normal { .. } | Lengths::Table { .. });
    match workload {
        Workload::ShareGptShaped { .. } | Workload::ShareGptFile { .. } => {
            !workload.has_real_answers()
        }
        Workload::PromptFile { output, .. } => {
            matches!(output, None | Some(Lengths::Fixed { .. }))
        }
        Workload::Trace(_) => true,
        Workload::Synthetic { input, output } => plain(input) && plain(output),
        Workload::SharedPrefix { .. } => false,
    }
}

impl From<&Lengths> for LengthsDraft {
    fn from(lengths: &Lengths) -> Self {
        match lengths {
            Lengths::Fixed { tokens } => Self {
                kind: "fixed".into(),
                ..Self::around(*tokens)
            },
            Lengths::Uniform { min, max } => Self {
                kind: "uniform".into(),
                min: min.to_string(),
                max: max.to_string(),
                ..Self::around((min + max) / 2)
            },
            Lengths::LogNormal { median, sigma, max } => Self {
                kind: "log_normal".into(),
                median: median.to_string(),
                sigma: sigma.to_string(),
                max: max.to_string(),
                ..Self::around(*median)
            },
            Lengths::Normal { mean, .. } => Self::around(*mean),
            Lengths::Table { values } => Self::around(values.first().copied().unwrap_or(1)),
        }
    }
}
