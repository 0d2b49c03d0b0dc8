//! Is it a workload at all: every number within what can be sent.

use super::{Lengths, ShareGptFilter, Trace, Workload, WorkloadError};

/// Most tokens of one prompt or one answer.
pub const MAX_TOKENS: u32 = 1_000_000;
/// Most turns of a session.
const MAX_TURNS: u32 = 100;
/// Most values of a table of lengths.
const MAX_TABLE: usize = 10_000;
/// Most families of prefixes.
const MAX_FAMILIES: u32 = 100_000;
/// Longest pause between turns.
const MAX_THINK_MS: u64 = 600_000;

impl Workload {
    /// Checks every number; the first error.
    pub fn check(&self) -> Result<(), WorkloadError> {
        match self {
            Self::ShareGptShaped {
                scale,
                max_turns,
                think_ms,
                max_context,
                answers: _,
            } => {
                let scaled = 0.0 < *scale && *scale <= 1.0;
                ensure(scaled, "scale", || {
                    format!("must be above 0 and at most 1, got {scale}")
                })?;
                check_turns(*max_turns, *think_ms)?;
                check_tokens(*max_context, "max_context", 16)
            }
            Self::ShareGptFile {
                file,
                max_turns,
                think_ms,
                filter,
                output_tokens,
                answers: _,
                repeats: _,
            } => {
                check_file(file, "a ShareGPT file")?;
                check_turns(*max_turns, *think_ms)?;
                if let Some(tokens) = output_tokens {
                    check_tokens(*tokens, "output_tokens", 1)?;
                }
                check_filter(filter)
            }
            Self::PromptFile {
                file,
                output,
                repeats: _,
            } => {
                check_file(file, "a JSONL file of prompts")?;
                output.as_ref().map_or(Ok(()), |it| it.check("output"))
            }
            Self::SharedPrefix {
                families,
                prefix_tokens,
                share,
                input,
                output,
            } => {
                check_families(*families, *share)?;
                check_tokens(*prefix_tokens, "prefix_tokens", 1)?;
                input.check("input")?;
                output.check("output")
            }
            Self::Trace(trace) => trace.check(),
            Self::Synthetic { input, output } => {
                input.check("input")?;
                output.check("output")
            }
        }
    }
}

impl Trace {
    fn check(&self) -> Result<(), WorkloadError> {
        check_file(&self.file, "a trace")?;
        ensure(self.length_ms != Some(0), "length_ms", || {
            "must be at least 1, or left out for the whole rest".to_owned()
        })?;
        match self.max_context {
            Some(tokens) => check_tokens(tokens, "max_context", 2),
            None => Ok(()),
        }
    }
}

impl Lengths {
    fn check(&self, field: &'static str) -> Result<(), WorkloadError> {
        match *self {
            Self::Fixed { tokens } => check_tokens(tokens, field, 1),
            Self::Normal {
                mean,
                deviation,
                max,
            } => {
                check_tokens(mean, field, 1)?;
                check_tokens(max, field, 1)?;
                ensure(mean <= max, field, || {
                    format!("the mean ({mean}) must not exceed the most tokens ({max})")
                })?;
                let spread = (0.0..=f64::from(MAX_TOKENS)).contains(&deviation);
                ensure(spread, field, || {
                    format!("the deviation must lie between 0 and {MAX_TOKENS}, got {deviation}")
                })
            }
            Self::Table { ref values } => {
                let counted = (1..=MAX_TABLE).contains(&values.len());
                ensure(counted, field, || {
                    format!("a table has 1 to {MAX_TABLE} lengths, got {}", values.len())
                })?;
                let mut values = values.iter();
                values.try_for_each(|tokens| check_tokens(*tokens, field, 1))
            }
            Self::Uniform { min, max } => {
                check_tokens(min, field, 1)?;
                check_tokens(max, field, 1)?;
                ensure(min <= max, field, || {
                    format!("the fewest tokens ({min}) must not exceed the most ({max})")
                })
            }
            Self::LogNormal { median, sigma, max } => {
                check_tokens(median, field, 1)?;
                check_tokens(max, field, 1)?;
                ensure(median <= max, field, || {
                    format!("the median ({median}) must not exceed the most tokens ({max})")
                })?;
                let spread = (0.0..=5.0).contains(&sigma);
                ensure(spread, field, || {
                    format!("sigma must lie between 0 and 5, got {sigma}")
                })
            }
        }
    }
}

fn check_file(file: &str, what: &str) -> Result<(), WorkloadError> {
    ensure(!file.trim().is_empty(), "file", || format!("name {what}"))
}

fn check_families(families: u32, share: f64) -> Result<(), WorkloadError> {
    let counted = (1..=MAX_FAMILIES).contains(&families);
    ensure(counted, "families", || {
        format!("must be 1 to {MAX_FAMILIES}, got {families}")
    })?;
    ensure((0.0..=1.0).contains(&share), "share", || {
        format!("must lie between 0 and 1, got {share}")
    })
}

fn check_turns(max_turns: u32, think_ms: u64) -> Result<(), WorkloadError> {
    let turns = (1..=MAX_TURNS).contains(&max_turns);
    ensure(turns, "max_turns", || {
        format!("must be 1 to {MAX_TURNS}, got {max_turns}")
    })?;
    ensure(think_ms <= MAX_THINK_MS, "think_ms", || {
        format!("must be at most {MAX_THINK_MS}, got {think_ms}")
    })
}

fn check_tokens(tokens: u32, field: &'static str, least: u32) -> Result<(), WorkloadError> {
    let fits = (least..=MAX_TOKENS).contains(&tokens);
    ensure(fits, field, || {
        format!("must be {least} to {MAX_TOKENS} tokens, got {tokens}")
    })
}

fn check_filter(filter: &ShareGptFilter) -> Result<(), WorkloadError> {
    let ShareGptFilter {
        min_prompt,
        min_output,
        max_prompt,
        max_total,
    } = *filter;
    ensure(min_prompt <= max_prompt, "filter.max_prompt", || {
        format!("must be at least min_prompt ({min_prompt})")
    })?;
    let room = min_prompt.saturating_add(min_output);
    ensure(room <= max_total, "filter.max_total", || {
        format!("must be at least min_prompt + min_output ({room})")
    })
}

fn ensure(
    holds: bool,
    field: &'static str,
    message: impl Fn() -> String,
) -> Result<(), WorkloadError> {
    if holds {
        Ok(())
    } else {
        Err(WorkloadError {
            field,
            message: message(),
        })
    }
}
