//! `goodput calibrate`: how much load this host can make before its client becomes part of what is measured.
//!
//! The truth server and the instrument run as processes of their own, as they do when an engine is measured here. Each ladder is climbed
//! until the certificate is no longer clean, or the client's figures are no longer true.

mod ladder; // what is tried
mod trial; // one rung

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use measure::certificate::Calibration;
use measure::units::Nanos;

use super::{DONE, Ended, FAILED, Failure};
use crate::calibration;
use crate::cli::say::sayln;
use crate::config::{StoreArgs, StoreConfig};
use ladder::{CHUNKS, LIGHT, RATES, Rung, STREAMS};
use trial::{Trial, TrialError};

#[derive(Args)]
pub(super) struct CalibrateArgs {
    /// Folder where the result is kept [default: the studio's]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Print the result and keep nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) async fn calibrate(args: CalibrateArgs) -> Ended {
    let store = StoreArgs {
        data_dir: args.data_dir,
        database: None,
        database_file: None,
    };
    let store = StoreConfig::try_from(store).map_err(|error| Failure::new(FAILED, error))?;
    // Everything in it waits for other processes.
    let measured = tokio::task::spawn_blocking(measure)
        .await
        .map_err(|error| Failure::new(FAILED, error))?;
    let calibration = measured.map_err(|error| Failure::new(FAILED, error))?;
    print(&calibration);
    if !args.dry_run {
        keep(&store, calibration)?;
    }
    Ok(DONE)
}

fn measure() -> Result<Calibration, TrialError> {
    sayln!("Calibrating this host, about a minute. Let nothing else run on it.");
    let light = trial::run(&LIGHT)?;
    sayln!("  {LIGHT}: {light}");
    let rate = climb(&RATES)?;
    let streams = climb(&STREAMS)?;
    let chunks = climb(&CHUNKS)?;
    Ok(Calibration {
        rate: rate.and_then(|trial| trial.rate).unwrap_or_default(),
        streams: streams.map_or(0, |trial| trial.streams),
        chunks_per_s: chunks.map_or(0.0, |trial| trial.chunks_per_s),
        ttft_error_p99: light.ttft_error_p99,
        itl_error_p99: light.itl_error_p99,
    })
}

/// Climbs until a rung breaks; the last one that held.
fn climb(ladder: &[Rung]) -> Result<Option<Trial>, TrialError> {
    let mut held = None;
    for rung in ladder {
        let trial = trial::run(rung)?;
        sayln!("  {rung}: {trial}");
        if trial.broken.is_some() {
            break;
        }
        held = Some(trial);
    }
    Ok(held)
}

fn print(calibration: &Calibration) {
    let Calibration {
        rate,
        streams,
        chunks_per_s,
        ttft_error_p99,
        itl_error_p99,
    } = calibration;
    sayln!("This host drives, with a clean certificate and true figures:");
    sayln!("  requests a second      {rate:.0}");
    sayln!("  concurrent streams     {streams}");
    sayln!("  events a second        {chunks_per_s:.0}");
    sayln!("Floor of error, p99: TTFT {ttft_error_p99}, ITL {itl_error_p99}");
}

fn keep(store: &StoreConfig, result: Calibration) -> Result<(), Failure> {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|since| i64::try_from(since.as_millis()).ok())
        .unwrap_or_default();
    let path = calibration::path(&store.data_dir);
    calibration::write(&store.data_dir, result, now).map_err(|cause| {
        let text = format!(
            "cannot write {}: {cause}; make room, or name another folder with --data-dir",
            path.display()
        );
        Failure::new(FAILED, text)
    })?;
    sayln!(
        "Kept in {}; points beyond half of these figures say so.",
        path.display()
    );
    Ok(())
}

/// A difference of two figures, whichever is larger.
fn apart(one: Nanos, other: Nanos) -> Nanos {
    Nanos(one.0.abs_diff(other.0))
}
