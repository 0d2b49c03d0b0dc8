//! `goodput serve`

use super::{BAD_ARGUMENTS, DONE, Ended, FAILED, Failure, asked_to_end};
use crate::cli::say::{sayln, warnln};
use crate::config::ServeArgs;
use crate::serving::Serving;

pub(super) async fn serve(args: ServeArgs) -> Ended {
    let token = std::env::var("GOODPUT_TOKEN").ok();
    let config = args
        .check(token)
        .map_err(|error| Failure::new(BAD_ARGUMENTS, error))?;
    let serving = Serving::start(&config)
        .await
        .map_err(|error| Failure::new(FAILED, error))?;
    sayln!("Goodput Studio listens on {}", serving.url());
    sayln!("Studies are kept in {}", config.store.data_dir.display());
    greet(&serving);
    asked_to_end().await;
    warnln!("Ending: finished points are kept, a study that runs can be resumed.");
    serving.shutdown().await;
    Ok(DONE)
}

/// How to get in.
fn greet(serving: &Serving) {
    if let Some(token) = &serving.new_token {
        sayln!("Access token, printed this once: {}", token.reveal());
        sayln!("Open {}/?token={}", serving.url(), token.reveal());
    } else if serving.needs_token {
        sayln!("Open it with its access token; `goodput token rotate` makes a new one.");
    }
    sayln!("Ctrl-C ends it.");
}
