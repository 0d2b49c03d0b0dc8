//! A workload in one line that names where its lengths come from.

use std::fmt;

use super::{Answers, Lengths, Trace, Workload};

/// `single requests`, or `up to 6 turns`; whose answers the history carries, where they are the engine's.
fn turns(turns: u32, answers: Answers) -> String {
    let turns = match turns {
        1 => "single requests".to_owned(),
        turns => format!("up to {turns} turns"),
    };
    match answers {
        Answers::DataSet => turns,
        Answers::Real => format!("{turns} that carry the engine's own answers"),
    }
}

impl fmt::Display for Workload {
    /// `ShareGPT-shaped sessions, lengths × 0.25, up to 6 turns`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ShareGptShaped {
                scale,
                max_turns,
                answers,
                ..
            } => {
                let turns = turns(*max_turns, *answers);
                write!(f, "ShareGPT-shaped sessions, lengths × {scale}, {turns}")
            }
            Self::ShareGptFile {
                file,
                max_turns,
                output_tokens,
                answers,
                ..
            } => {
                write!(f, "ShareGPT file {file}, {}", turns(*max_turns, *answers))?;
                match output_tokens {
                    Some(tokens) => write!(f, ", output {tokens} tokens each"),
                    None => Ok(()),
                }
            }
            Self::PromptFile { file, output, .. } => {
                write!(f, "prompts of {file}")?;
                match output {
                    Some(output) => write!(f, ", output {output}"),
                    None => Ok(()),
                }
            }
            Self::Synthetic { input, output } => {
                let lengths = format!("input {input}, output {output}");
                write!(f, "synthetic single requests, {lengths}")
            }
            Self::SharedPrefix {
                families,
                prefix_tokens,
                share,
                input,
                output,
            } => {
                let percent = (share * 100.0 * 100.0).round() / 100.0;
                write!(
                    f,
                    "{percent} % of the requests share one of {families} prefixes of {prefix_tokens} tokens, then input {input}, output {output}"
                )
            }
            Self::Trace(trace) => trace.fmt(f),
        }
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} trace {}", self.format.title(), self.file)?;
        let seconds = |millis: u64| millis as f64 / 1000.0;
        match (self.start_ms, self.length_ms) {
            (0, None) => Ok(()),
            (start, None) => write!(f, ", from {} s on", seconds(start)),
            (start, Some(length)) => {
                let end = start.saturating_add(length);
                write!(f, ", from {} s to {} s", seconds(start), seconds(end))
            }
        }
    }
}

impl fmt::Display for Lengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed { tokens: 1 } => f.write_str("1 token each"),
            Self::Fixed { tokens } => write!(f, "{tokens} tokens each"),
            Self::Uniform { min, max } => write!(f, "uniform {min} to {max} tokens"),
            Self::Normal {
                mean,
                deviation,
                max,
            } => write!(
                f,
                "normal around {mean} tokens (deviation {deviation}, at most {max})"
            ),
            Self::LogNormal { median, sigma, max } => {
                write!(
                    f,
                    "log-normal around {median} tokens (sigma {sigma}, at most {max})"
                )
            }
            Self::Table { values } => {
                let (least, most) = (values.iter().min(), values.iter().max());
                let (least, most) = (least.unwrap_or(&0), most.unwrap_or(&0));
                write!(
                    f,
                    "as one of {} observed, {least} to {most} tokens",
                    values.len()
                )
            }
        }
    }
}
