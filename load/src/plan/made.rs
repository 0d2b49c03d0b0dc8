//! What a point's prompts were made of: told beside its numbers, so that nobody has to guess.

use std::collections::BTreeMap;

use measure::request::RequestRecord;
use measure::units::Nanos;
use serde::{Deserialize, Serialize};

/// Counts of one tokenizer differ by less: words that meet their neighbours otherwise.
const OTHERWISE: f64 = 0.05;
/// Tokens that a template may add without having been measured.
const UNTOLD_TEMPLATE: u64 = 40;

/// How the planned lengths were counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LengthSource {
    /// By a local `tokenizer.json`.
    Tokenizer,
    /// By the engine's own `/tokenize`.
    Engine,
    /// Estimated from words, with a factor that the engine's usage gave.
    CalibratedEstimate,
    /// Estimated from words.
    #[default]
    Estimate,
}

impl LengthSource {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Tokenizer => "counted by the tokenizer given",
            Self::Engine => "counted by the engine's /tokenize",
            Self::CalibratedEstimate => "estimated from words, calibrated by the engine's usage",
            Self::Estimate => "estimated from words",
        }
    }
}

/// The rows of a file: which were used, and why the others were not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rows {
    /// Rows that pass the rules, in the part of the file that was read.
    pub usable: usize,
    /// Different rows that the point uses.
    pub used: usize,
    /// Sessions that use a row for the second time or more: they may hit the prefix cache.
    pub repeats: usize,
    /// Later turns of the used rows that were not used, because sessions are shorter than the conversations.
    pub turns_left_out: usize,
    /// Rows left out, by reason.
    pub dropped: BTreeMap<String, usize>,
}

/// What the prompts were made of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Made {
    /// How the planned lengths were counted.
    pub length_source: LengthSource,
    /// Tokens that the chat template adds to a prompt of one message, where that was measured. Never part of the planned
    /// lengths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template_tokens: Option<u32>,
    /// Rows of the file, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<Rows>,
    /// Whether later turns carry the engine's own answers: never to be paired with another point.
    pub real_answers: bool,
    /// The part of the point in which load is steady, where its beginning or end is left out of the figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady_ns: Option<(Nanos, Nanos)>,
    /// Input tokens of the requests that went well: how many were meant, and how many the engine counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<InputTokens>,
}

/// Input tokens that were meant, and those that the engine counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputTokens {
    /// As planned, without the chat template.
    pub meant: u64,
    /// By the engine's usage, all included.
    pub counted: u64,
    /// Requests of which the engine told.
    pub requests: u64,
}

impl InputTokens {
    /// Of these records; `None` where the engine told of none.
    pub fn of(records: &[RequestRecord]) -> Option<Self> {
        let told = records.iter().filter(|record| record.is_ok());
        let told = told.filter_map(|it| Some((it.input_tokens_planned, it.prompt_tokens?)));
        let none = Self {
            meant: 0,
            counted: 0,
            requests: 0,
        };
        let all = told.fold(none, |sum, (meant, counted)| Self {
            meant: sum.meant + u64::from(meant),
            counted: sum.counted + u64::from(counted),
            requests: sum.requests + 1,
        });
        (0 < all.requests).then_some(all)
    }

    /// What is to be said where lengths that were counted, not guessed, arrive as others. A template adds to every prompt,
    /// and nothing takes away: fewer tokens than meant are another tokenizer's, and so are many more.
    fn disagreement(self, source: LengthSource, template_tokens: Option<u32>) -> Option<String> {
        let exact = matches!(source, LengthSource::Tokenizer | LengthSource::Engine);
        let added = u64::from(template_tokens.unwrap_or(0)) + UNTOLD_TEMPLATE;
        let (meant, counted) = (self.meant as f64, self.counted as f64);
        let most = (self.meant + self.requests * added) as f64 * (1.0 + OTHERWISE);
        let agrees = meant * (1.0 - OTHERWISE) <= counted && counted <= most;
        (exact && !agrees).then(|| {
            let mend = match source {
                LengthSource::Tokenizer => {
                    "the tokenizer given is another model's; give the tokenizer.json of the model that is served"
                }
                _ => "the engine's /tokenize counts otherwise than its usage, or it changes prompts",
            };
            format!(
                "The engine counts {:.0} % of the tokens that were meant: {mend}.",
                counted / meant * 100.0
            )
        })
    }
}

impl Made {
    /// Line by line for people.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = vec![format!("Input lengths {}.", self.length_source.words())];
        if let Some(tokens) = self.template_tokens {
            notes.push(format!(
                "The engine's template adds {} to a prompt.",
                counted(tokens as usize, "token")
            ));
        }
        if let Some(tokens @ InputTokens { meant, counted, .. }) = self.input_tokens {
            notes.push(format!(
                "{meant} input tokens were meant, the engine counted {counted}, its template included."
            ));
            notes.extend(tokens.disagreement(self.length_source, self.template_tokens));
        }
        if let Some(rows) = &self.rows {
            notes.push(format!(
                "{} used, of {} usable in the part of the file that was read.",
                counted(rows.used, "row"),
                rows.usable
            ));
            if 0 < rows.repeats {
                notes.push(format!(
                    "{} for a row that was used before: they may hit the prefix cache.",
                    counted(rows.repeats, "request")
                ));
            }
            if 0 < rows.turns_left_out {
                notes.push(format!(
                    "{} of these conversations left out.",
                    counted(rows.turns_left_out, "later turn")
                ));
            }
            let dropped = rows.dropped.iter();
            notes.extend(
                dropped.map(|(why, count)| format!("{} dropped: {why}.", counted(*count, "row"))),
            );
        }
        if self.real_answers {
            notes.push("Later turns carry the engine's own answers: never to be paired.".into());
        }
        if let Some((from, to)) = self.steady_ns {
            notes.push(format!("Figures are of requests due from {from} to {to}."));
        }
        notes
    }
}

/// `1 row`, `2 rows`.
fn counted(count: usize, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_is_not_as_usual_is_said() {
        assert_eq!(
            Made::default().notes(),
            ["Input lengths estimated from words."]
        );
        let made = Made {
            length_source: LengthSource::Tokenizer,
            template_tokens: Some(7),
            input_tokens: Some(InputTokens {
                meant: 90,
                counted: 97,
                requests: 1,
            }),
            rows: Some(Rows {
                usable: 3,
                used: 3,
                repeats: 7,
                turns_left_out: 2,
                dropped: [("bad_row".to_owned(), 4)].into(),
            }),
            real_answers: true,
            steady_ns: Some((Nanos::from_millis(1000), Nanos::from_millis(2000))),
        };
        let all = made.notes().join(" ");
        for part in [
            "tokenizer given",
            "adds 7 tokens to a prompt",
            "90 input tokens were meant, the engine counted 97",
            "3 rows used, of 3 usable",
            "7 requests for a row",
            "2 later turns of",
            "4 rows dropped: bad_row",
            "own answers",
            "from 1.00 s to 2.00 s",
        ] {
            assert!(all.contains(part), "{part}: {all}");
        }
    }

    #[test]
    fn lengths_of_another_tokenizer_are_told() {
        let told = |source, counted| {
            let tokens = InputTokens {
                meant: 7087,
                counted,
                requests: 20,
            };
            tokens.disagreement(source, Some(0))
        };
        let wrong = told(LengthSource::Tokenizer, 4723).expect("far fewer");
        assert!(
            wrong.contains("67 %") && wrong.contains("another model's"),
            "{wrong}"
        );
        assert!(told(LengthSource::Engine, 12_000).is_some());
        for fair in [7087, 7000, 7107, 7800] {
            assert_eq!(told(LengthSource::Tokenizer, fair), None);
        }
        assert_eq!(told(LengthSource::CalibratedEstimate, 4723), None);
    }
}
