//! `goodput export`: a study as one file.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use uuid::Uuid;

use super::out::Out;
use super::{BAD_ARGUMENTS, DONE, Ended, FAILED, Failure};
use crate::bundle::{ExportError, Packed, Scope, Worked, export};
use crate::cli::say::{sayln, warnln};
use crate::config::{Database, StoreArgs, StoreConfig};
use crate::store::Store;

#[derive(Args)]
pub(super) struct ExportArgs {
    /// The study: its id, the address of its page, or its name
    study: String,
    /// Where to write it [default: the study's name and .goodput, here]
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Addresses, paths, engines' logs and metrics pages, notes and tags as well; without it, what a shared link shows and
    /// every request's times. Keys are in neither
    #[arg(long)]
    everything: bool,
    /// Works the figures out anew from the requests: what this goodput would have said, where an older one measured
    #[arg(long)]
    anew: bool,
    #[command(flatten)]
    store: StoreArgs,
}

pub(super) async fn export_study(args: ExportArgs) -> Ended {
    let ExportArgs {
        study,
        out,
        everything,
        anew,
        store,
    } = args;
    let config = config(store)?;
    check_there(&config)?;
    let store = open(&config).await?;
    let id = find(&store, &study).await?;
    let scope = if everything {
        Scope::Everything
    } else {
        Scope::Shown
    };
    let worked = if anew { Worked::Anew } else { Worked::Then };
    let packed = export(&store, id, (scope, worked), &config.data_dir).await;
    store.close().await;
    let packed = packed.map_err(failed)?;
    let out = out.unwrap_or_else(|| PathBuf::from(&packed.name));
    write(packed, &out).map_err(|text| Failure::new(FAILED, text))
}

/// Arguments as a checked place.
pub(super) fn config(store: StoreArgs) -> Result<StoreConfig, Failure> {
    StoreConfig::try_from(store).map_err(|error| Failure::new(BAD_ARGUMENTS, error))
}

/// Opens the database; a studio may use it meanwhile.
pub(super) async fn open(config: &StoreConfig) -> Result<Store, Failure> {
    let store = Store::open(&config.database).await;
    store.map_err(|error| Failure::new(FAILED, error))
}

/// Nothing is read from a studio that is made for it.
pub(super) fn check_there(config: &StoreConfig) -> Result<(), Failure> {
    let missing = match &config.database {
        Database::Sqlite(file) => !file.is_file(),
        Database::Postgres(_) => false,
    };
    if missing || !config.data_dir.is_dir() {
        let text = format!(
            "there is no studio in {}; name its folder with --data-dir",
            config.data_dir.display()
        );
        return Err(Failure::new(FAILED, text));
    }
    Ok(())
}

/// A study by its id, by an address that has it, or by its name.
pub(super) async fn find(store: &Store, study: &str) -> Result<Uuid, Failure> {
    let parts = study.split(['/', '?', '#']);
    if let Some(id) = parts.filter_map(|part| part.parse().ok()).next() {
        return Ok(id);
    }
    let named = store.studies_named(study).await;
    let named = named.map_err(|error| Failure::new(FAILED, error))?;
    match named.as_slice() {
        [id] => Ok(*id),
        [] => Err(Failure::new(
            FAILED,
            format!("there is no study {study:?}; its page's address has its id"),
        )),
        _ => Err(Failure::new(
            FAILED,
            format!(
                "several studies are called {study:?}; name the id, which its page's address has"
            ),
        )),
    }
}

fn failed(error: ExportError) -> Failure {
    Failure::new(FAILED, error)
}

fn write(packed: Packed, path: &Path) -> Result<u8, String> {
    let Packed {
        mut file,
        bytes,
        manifest,
        ..
    } = packed;
    let out = Out::check(path, "--out")?;
    let is_standard = out.is_standard();
    out.write(|to| io::copy(&mut file, to).map(drop))?;
    let points = manifest.points.len();
    let points = if points == 1 {
        "one point".to_owned()
    } else {
        format!("{points} points")
    };
    if !is_standard {
        sayln!("{}", path.display());
    }
    warnln!(
        "{}: {points}, {} kB{}",
        manifest.study.name,
        bytes.div_ceil(1000),
        match manifest.scope {
            Scope::Shown =>
                "; addresses, paths, logs and notes are left out (--everything keeps them)",
            Scope::Everything => "; with addresses, paths and logs: look before you pass it on",
        }
    );
    Ok(DONE)
}
