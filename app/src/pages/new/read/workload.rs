//! Reads the workload part of a draft.

use measure::workload::Answers;

use super::*;

impl Reader {
    pub(super) fn workload(&mut self, draft: &WorkloadDraft) -> Option<Workload> {
        match draft.kind.as_str() {
            "share_gpt_shaped" => self.shaped(draft),
            "share_gpt_file" => self.file(draft),
            "given" => match &draft.given {
                Some(workload) => Some(workload.clone()),
                None => self.refuse("workload.kind", "choose one of these kinds anew"),
            },
            _ => {
                let input = self.lengths("workload.input", &draft.input);
                let output = self.lengths("workload.output", &draft.output);
                Some(Workload::Synthetic {
                    input: input?,
                    output: output?,
                })
            }
        }
    }

    pub(super) fn shaped(&mut self, draft: &WorkloadDraft) -> Option<Workload> {
        let scale = self.number(
            "workload.scale",
            &draft.scale,
            "a number above 0 and at most 1",
        );
        let max_turns = self.whole("workload.max_turns", &draft.max_turns);
        let think_ms = self.millis("workload.think_ms", &draft.think);
        let max_context = self.whole("workload.max_context", &draft.max_context);
        Some(Workload::ShareGptShaped {
            scale: scale?,
            max_turns: max_turns?,
            think_ms: think_ms?,
            max_context: max_context?,
            answers: Answers::DataSet,
        })
    }

    pub(super) fn file(&mut self, draft: &WorkloadDraft) -> Option<Workload> {
        let file = draft.file.trim().to_owned();
        if file.is_empty() {
            self.refuse::<()>("workload.file", "choose a file, or upload one");
        }
        let max_turns = self.whole("workload.max_turns", &draft.max_turns);
        let think_ms = self.millis("workload.think_ms", &draft.think);
        let filter = self.filter(draft);
        Some(Workload::ShareGptFile {
            file,
            max_turns: max_turns?,
            think_ms: think_ms?,
            filter: filter?,
            output_tokens: None,
            answers: Answers::DataSet,
            repeats: false,
        })
    }

    pub(super) fn filter(&mut self, draft: &WorkloadDraft) -> Option<ShareGptFilter> {
        let min_prompt = self.whole("workload.filter.min_prompt", &draft.min_prompt);
        let min_output = self.whole("workload.filter.min_output", &draft.min_output);
        let max_prompt = self.whole("workload.filter.max_prompt", &draft.max_prompt);
        let max_total = self.whole("workload.filter.max_total", &draft.max_total);
        Some(ShareGptFilter {
            min_prompt: min_prompt?,
            min_output: min_output?,
            max_prompt: max_prompt?,
            max_total: max_total?,
        })
    }

    pub(super) fn lengths(&mut self, field: &str, draft: &LengthsDraft) -> Option<Lengths> {
        let LengthsDraft {
            kind,
            tokens,
            min,
            max,
            median,
            sigma,
        } = draft;
        match kind.as_str() {
            "fixed" => Some(Lengths::Fixed {
                tokens: self.whole(&format!("{field}.tokens"), tokens)?,
            }),
            "uniform" => {
                let (min, max) = (
                    self.whole(&format!("{field}.min"), min),
                    self.whole(&format!("{field}.max"), max),
                );
                Some(Lengths::Uniform {
                    min: min?,
                    max: max?,
                })
            }
            _ => {
                let median = self.whole(&format!("{field}.median"), median);
                let sigma = self.number(&format!("{field}.sigma"), sigma, "a number of 0 or more");
                let max = self.whole(&format!("{field}.max"), max);
                Some(Lengths::LogNormal {
                    median: median?,
                    sigma: sigma?,
                    max: max?,
                })
            }
        }
    }
}
