//! How long prompts are in the engine's own tokens: who counts them.

use std::path::PathBuf;

use clap::Args;
use load::dialect::Quirks;
use load::tokens::{Counter, calibrate};
use load::{Engine, Made, Wire};
use measure::study::Endpoint;

use super::{BAD_ARGUMENTS, Failure};

#[derive(Args, Debug)]
pub(super) struct LengthArgs {
    /// The tokenizer.json of the model: prompts then have exactly the tokens meant [default: the engine's /tokenize, else a guess calibrated by its usage]
    #[arg(long, value_name = "FILE")]
    tokenizer: Option<PathBuf>,
    /// Do not ask the engine how long prompts are: a made-up word counts as one token
    #[arg(long)]
    no_calibration: bool,
}

/// Who counts, and what the chat template adds.
#[derive(Default)]
pub(super) struct Counting {
    pub counter: Option<Counter>,
    template_tokens: Option<u32>,
}

impl LengthArgs {
    /// Finds out who can count: the tokenizer, else the engine, else words by a factor that its usage gives. An engine
    /// that tells nothing leaves words as they are; what is wrong with it the run itself will say.
    pub(super) async fn counting(
        &self,
        engine: &Engine,
        ((endpoint, wire), quirks): ((&Endpoint, &Wire), Quirks),
        may_ask: bool,
    ) -> Result<Counting, Failure> {
        let local = self.tokenizer.as_deref().map(Counter::local).transpose();
        let local = local.map_err(|error| Failure::new(BAD_ARGUMENTS, error))?;
        if !may_ask || self.no_calibration {
            return Ok(Counting {
                counter: local,
                template_tokens: None,
            });
        }
        let counter = match local {
            Some(local) => Some(local),
            None => Counter::of_engine(endpoint, wire).await,
        };
        let found = calibrate(engine, endpoint, quirks, counter.as_ref()).await;
        let words = found.map(|found| Counter::Words {
            per_word: found.per_word,
        });
        Ok(Counting {
            counter: counter.or(words),
            template_tokens: found.map(|found| found.template_tokens),
        })
    }
}

impl Counting {
    pub(super) fn tell(&self, made: Made) -> Made {
        Made {
            template_tokens: self.template_tokens,
            ..made
        }
    }
}

/// What prompts were made of, line by line for people.
pub(super) fn notes(made: &Made) -> Vec<String> {
    let mut notes = vec![format!("Input lengths {}.", made.length_source.words())];
    if let Some(tokens) = made.template_tokens {
        notes.push(format!(
            "The chat template adds {tokens} tokens to a prompt."
        ));
    }
    if let Some(rows) = &made.rows {
        notes.push(format!(
            "{} of {} usable rows used.",
            rows.used, rows.usable
        ));
        if 0 < rows.repeats {
            notes.push(format!(
                "{} requests repeat a row that was used before: they may hit the prefix cache.",
                rows.repeats
            ));
        }
        if 0 < rows.turns_left_out {
            notes.push(format!(
                "{} later turns of these conversations were left out.",
                rows.turns_left_out
            ));
        }
        let dropped = rows.dropped.iter();
        notes.extend(dropped.map(|(why, count)| format!("{count} rows dropped: {why}.")));
    }
    if made.real_answers {
        notes.push("Later turns carry the engine's own answers: never to be paired.".into());
    }
    if let Some((from, to)) = made.steady_ns {
        notes.push(format!("Figures are of requests due from {from} to {to}."));
    }
    notes
}

#[cfg(test)]
mod tests {
    use load::{LengthSource, Rows};
    use measure::units::Nanos;

    use super::*;

    #[test]
    fn everything_that_is_not_as_usual_is_said() {
        assert_eq!(
            notes(&Made::default()),
            ["Input lengths estimated from words."]
        );
        let made = Made {
            length_source: LengthSource::Tokenizer,
            template_tokens: Some(7),
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
        let all = notes(&made).join(" ");
        for part in [
            "tokenizer given",
            "adds 7 tokens",
            "3 of 3 usable",
            "7 requests repeat",
            "2 later turns",
            "4 rows dropped: bad_row",
            "own answers",
            "from 1.00 s to 2.00 s",
        ] {
            assert!(all.contains(part), "{part}: {all}");
        }
    }
}
