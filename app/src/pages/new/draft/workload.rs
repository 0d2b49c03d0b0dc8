//! A workload as the form shows it. One that it has no fields for is kept as it is.

use super::*;

impl From<&Workload> for WorkloadDraft {
    fn from(workload: &Workload) -> Self {
        let rest = Self::default();
        if !has_fields(workload) {
            return Self {
                kind: "given".into(),
                given: Some(workload.clone()),
                ..rest
            };
        }
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
                output_tokens: _,
                answers: _,
                repeats: _,
            } => Self {
                kind: "share_gpt_file".into(),
                file: file.clone(),
                max_turns: max_turns.to_string(),
                think: seconds(*think_ms),
                min_prompt: filter.min_prompt.to_string(),
                min_output: filter.min_output.to_string(),
                max_prompt: filter.max_prompt.to_string(),
                max_total: filter.max_total.to_string(),
                ..rest
            },
            Workload::Synthetic { input, output } => Self {
                kind: "synthetic".into(),
                input: input.into(),
                output: output.into(),
                ..rest
            },
            Workload::PromptFile { .. } | Workload::SharedPrefix { .. } | Workload::Trace(_) => {
                rest
            }
        }
    }
}

/// Whether the form has a field for every part of it.
fn has_fields(workload: &Workload) -> bool {
    let plain =
        |lengths: &Lengths| !matches!(lengths, Lengths::Normal { .. } | Lengths::Table { .. });
    match workload {
        Workload::ShareGptShaped { .. } => !workload.has_real_answers(),
        Workload::ShareGptFile {
            output_tokens,
            repeats,
            ..
        } => !workload.has_real_answers() && output_tokens.is_none() && !repeats,
        Workload::Synthetic { input, output } => plain(input) && plain(output),
        Workload::PromptFile { .. } | Workload::SharedPrefix { .. } | Workload::Trace(_) => false,
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
