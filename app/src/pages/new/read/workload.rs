//! Reads the workload part of a draft.

use measure::workload::Answers;

use super::*;

impl Reader {
    pub(super) fn workload(&mut self, draft: &WorkloadDraft) -> Option<Workload> {
        match draft.kind.as_str() {
            "share_gpt_shaped" => self.shaped(draft),
            "share_gpt_file" => self.file(draft),
            "prompt_file" => self.prompts(draft),
            "trace" => self.trace(draft),
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
            scale: scale.map(|Decimal(scale)| scale)?,
            max_turns: max_turns?,
            think_ms: think_ms?,
            max_context: max_context?,
            answers: Answers::DataSet,
        })
    }

    pub(super) fn file(&mut self, draft: &WorkloadDraft) -> Option<Workload> {
        let file = self.file_name(draft);
        let max_turns = self.whole("workload.max_turns", &draft.max_turns);
        let think_ms = self.millis("workload.think_ms", &draft.think);
        let filter = self.filter(draft);
        let output_tokens = self.optional("workload.output_tokens", &draft.output_tokens);
        Some(Workload::ShareGptFile {
            file: file?,
            max_turns: max_turns?,
            think_ms: think_ms?,
            filter: filter?,
            output_tokens: output_tokens?,
            answers: Answers::DataSet,
            repeats: !draft.repeats.is_empty(),
        })
    }

    fn file_name(&mut self, draft: &WorkloadDraft) -> Option<String> {
        let file = draft.file.trim().to_owned();
        if file.is_empty() {
            return self.refuse("workload.file", "choose a file, or upload one");
        }
        Some(file)
    }

    /// A whole number, or nothing.
    fn optional(&mut self, field: &str, text: &str) -> Option<Option<u32>> {
        if text.trim().is_empty() {
            return Some(None);
        }
        self.whole(field, text).map(Some)
    }

    fn prompts(&mut self, draft: &WorkloadDraft) -> Option<Workload> {
        let file = self.file_name(draft);
        let tokens = self.optional("workload.output", &draft.output_tokens);
        Some(Workload::PromptFile {
            file: file?,
            output: tokens?.map(|tokens| Lengths::Fixed { tokens }),
            repeats: !draft.repeats.is_empty(),
        })
    }

    fn trace(&mut self, draft: &WorkloadDraft) -> Option<Workload> {
        let file = self.file_name(draft);
        let format = TraceFormat::ALL
            .into_iter()
            .find(|it| it.name() == draft.format);
        let start_ms = self.millis("workload.start_ms", &draft.start);
        let length_ms = if draft.length.trim().is_empty() {
            Some(None)
        } else {
            self.millis("workload.length_ms", &draft.length).map(Some)
        };
        let max_context = self.optional("workload.max_context", &draft.most);
        Some(Workload::Trace(Trace {
            file: file?,
            format: format?,
            start_ms: start_ms?,
            length_ms: length_ms?,
            max_context: max_context?,
        }))
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
                    sigma: sigma.map(|Decimal(sigma)| sigma)?,
                    max: max?,
                })
            }
        }
    }
}
