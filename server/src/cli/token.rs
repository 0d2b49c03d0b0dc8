//! `goodput token rotate`

use clap::{Args, Subcommand};

use super::{BAD_ARGUMENTS, DONE, Ended, FAILED, Failure};
use crate::cli::say::{sayln, warnln};
use crate::config::StoreArgs;
use crate::serving::rotate_token;

#[derive(Args)]
pub(super) struct TokenArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Make a new access token; the one before opens nothing any more
    Rotate(StoreArgs),
}

pub(super) async fn token(
    TokenArgs {
        what: What::Rotate(store),
    }: TokenArgs,
) -> Ended {
    let store = store
        .try_into()
        .map_err(|error: crate::config::ConfigError| Failure::new(BAD_ARGUMENTS, error))?;
    let token = rotate_token(&store)
        .await
        .map_err(|error| Failure::new(FAILED, error))?;
    sayln!("{}", token.reveal());
    warnln!(
        "Printed this once; only its hash is kept. A studio that runs takes it up within five seconds."
    );
    Ok(DONE)
}
