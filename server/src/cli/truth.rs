//! `goodput truth`: the server that load generators are judged by. For `cargo xtask bench` and `goodput calibrate`, so it
//! stands in no help.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use sim::truth::{Config, Faults};

use super::{BAD_ARGUMENTS, DONE, Ended, FAILED, Failure, asked_to_end};
use crate::cli::say::sayln;

#[derive(Args)]
pub(super) struct TruthArgs {
    /// Where to listen; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// From the request's end to its first token
    #[arg(long, default_value_t = 50.0)]
    ttft_ms: f64,
    /// From one token's deadline to the next
    #[arg(long, default_value_t = 10.0)]
    itl_ms: f64,
    /// Each span times a lognormal of mean 1 with this sigma
    #[arg(long, default_value_t = 0.0)]
    jitter: f64,
    /// Tokens in an event
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    chunk_tokens: u32,
    /// No waiting between tokens
    #[arg(long)]
    blast: bool,
    /// Share of requests in which something goes wrong on purpose
    #[arg(long, default_value_t = 0.0)]
    faults: f64,
    /// Faults and jitter follow from it
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where a JSON line is written for each request
    #[arg(long)]
    log: Option<PathBuf>,
    /// End when the standard input does: with whoever started it, however that ends
    #[arg(long, hide = true)]
    with_parent: bool,
}

impl TruthArgs {
    fn config(&self) -> Result<Config, String> {
        if !(0.0..=1.0).contains(&self.faults) {
            return Err(format!(
                "--faults is a share from 0 to 1, got {}",
                self.faults
            ));
        }
        if !(0.0..=3.0).contains(&self.jitter) {
            return Err(format!(
                "--jitter is a sigma from 0 to 3, got {}",
                self.jitter
            ));
        }
        Ok(Config {
            ttft_ns: nanos("--ttft-ms", self.ttft_ms)?,
            itl_ns: nanos("--itl-ms", self.itl_ms)?,
            jitter: self.jitter,
            chunk_tokens: self.chunk_tokens,
            blast: self.blast,
            faults: Faults {
                share: self.faults,
                kinds: Vec::new(),
            },
            seed: self.seed,
        })
    }
}

fn nanos(name: &str, ms: f64) -> Result<u64, String> {
    if (0.0..=3_600_000.0).contains(&ms) {
        Ok((ms * 1e6).round() as u64)
    } else {
        Err(format!(
            "{name} is a span of milliseconds up to an hour, got {ms}"
        ))
    }
}

pub(super) async fn tell(args: TruthArgs) -> Ended {
    let config = args
        .config()
        .map_err(|error| Failure::new(BAD_ARGUMENTS, error))?;
    let cannot = |error: std::io::Error| {
        let listen = args.listen;
        Failure::new(
            FAILED,
            format!(
                "cannot serve the truth on {listen}: {error}; choose another address with --listen, or log file with --log"
            ),
        )
    };
    let server = sim::truth::start(config, args.listen, args.log.clone()).map_err(cannot)?;
    sayln!("Truth server on {}", server.url);
    tokio::select! {
        () = asked_to_end() => {}
        () = parent_gone(), if args.with_parent => {}
    }
    drop(server);
    Ok(DONE)
}

/// Resolves at the end of the standard input. A thread of its own reads, since a read cannot be given up.
async fn parent_gone() {
    let (tell, told) = tokio::sync::oneshot::channel::<()>();
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        drop(tell);
    });
    let _ = told.await;
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: TruthArgs,
    }

    #[test]
    fn spans_and_shares_have_bounds() {
        #[track_caller]
        fn check(args: &[&str], said: Option<&str>) {
            let line = Line::try_parse_from([&["truth"], args].concat()).expect("arguments");
            let error = line.args.config().err();
            assert_eq!(
                error.is_some(),
                said.is_some_and(|said| error.as_ref().is_some_and(|error| error.contains(said))),
                "{error:?}"
            );
        }
        check(&["--ttft-ms", "0", "--faults", "1"], None);
        check(&["--ttft-ms=-1"], Some("--ttft-ms"));
        check(&["--itl-ms", "NaN"], Some("--itl-ms"));
        check(&["--faults", "1.5"], Some("--faults"));
    }
}
