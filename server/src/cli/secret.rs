//! `goodput secret set | list | remove`

use std::io::{self, BufRead, IsTerminal, Read, Write};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use url::Url;

use super::{BAD_ARGUMENTS, DONE, Ended, FAILED, Failure};
use crate::cli::say::{sayln, warn_of, warnln};
use crate::config::{ConfigError, StoreArgs, StoreConfig};
use crate::secrets::{SecretError, Secrets};

/// Most bytes read of a value: more than one has.
const MOST: u64 = 64 << 10;

#[derive(Args)]
pub(super) struct SecretArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Keep an API key, read from standard input or asked for without echo, for one engine
    Set {
        /// What it is called, in capitals: VLLM
        name: String,
        /// URL of the engine that may receive it; scheme, host and port count, and no other gets it
        #[arg(long = "for", value_name = "URL")]
        url: Url,
        #[command(flatten)]
        place: Place,
    },
    /// Print the names of the secrets that are kept, and the engines that may receive them
    List {
        #[command(flatten)]
        place: Place,
    },
    /// Forget a secret
    Remove {
        /// What it is called
        name: String,
        #[command(flatten)]
        place: Place,
    },
}

#[derive(Args)]
struct Place {
    /// The studio's folder [default: goodput in the user's data folder]
    #[arg(long, env = "GOODPUT_DATA_DIR", value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

impl Place {
    fn secrets(self) -> Result<Secrets, Failure> {
        let store = StoreArgs {
            data_dir: self.data_dir,
            ..StoreArgs::default()
        };
        let store = StoreConfig::try_from(store);
        let store = store.map_err(|error: ConfigError| Failure::new(BAD_ARGUMENTS, error))?;
        Ok(Secrets::of(&store.data_dir))
    }
}

pub(super) fn secret(SecretArgs { what }: SecretArgs) -> Ended {
    match what {
        What::Set { name, url, place } => {
            let value = value(&name).map_err(|error| Failure::new(FAILED, error))?;
            let secrets = place.secrets()?;
            let before = secrets.bound(&name);
            secrets.set(&name, &url, &value).map_err(failed)?;
            if let Some(before) = before {
                warnln!("It replaces the one that was kept for {before}.");
            }
            warnln!(
                "Kept. Engines name it as their stored secret {name}; nothing shows its value."
            );
        }
        What::List { place } => {
            let secrets = place.secrets()?;
            let names = secrets.names().map_err(failed)?;
            if names.is_empty() {
                warnln!("No secret is kept; store one with: goodput secret set NAME --for URL");
            }
            for name in names {
                let bound = secrets.bound(&name);
                sayln!(
                    "{name}  for {}",
                    bound.as_deref().unwrap_or("nothing: damaged")
                );
            }
        }
        What::Remove { name, place } => place.secrets()?.remove(&name).map_err(failed)?,
    }
    Ok(DONE)
}

fn failed(error: SecretError) -> Failure {
    let status = match &error {
        SecretError::Io(_) => FAILED,
        _ => BAD_ARGUMENTS,
    };
    Failure::new(status, error)
}

/// The value: what a person types without seeing it, or what comes in by a pipe. Never an argument, which every process
/// of the machine could read.
fn value(name: &str) -> io::Result<String> {
    let input = io::stdin();
    let mut text = String::new();
    if !input.is_terminal() {
        input.lock().take(MOST).read_to_string(&mut text)?;
    } else {
        warn_of!("API key of {name}: ");
        io::stderr().flush()?;
        unseen(&input, || {
            input.lock().take(MOST).read_line(&mut text).map(drop)
        })?;
        warnln!();
    }
    Ok(text.trim().to_owned())
}

/// Reads while the terminal does not show what is typed.
fn unseen(terminal: &io::Stdin, read: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let before = tcgetattr(terminal)?;
    let mut silent = before.clone();
    silent.local_modes.remove(LocalModes::ECHO);
    tcsetattr(terminal, OptionalActions::Flush, &silent)?;
    let typed = read();
    tcsetattr(terminal, OptionalActions::Flush, &before)?;
    typed
}
