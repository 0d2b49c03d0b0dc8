//! How long prompts are in the engine's own tokens: who counts them.

use std::path::PathBuf;

use clap::Args;
use load::dialect::Quirks;
use load::tokens::{Counter, Counting};
use load::{Engine, Wire};
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

impl LengthArgs {
    /// Finds out who can count, as far as the engine may be asked.
    pub(super) async fn counting(
        &self,
        engine: &Engine,
        (reached, quirks): ((&Endpoint, &Wire), Quirks),
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
        Ok(Counting::find(engine, reached, quirks, local).await)
    }
}
