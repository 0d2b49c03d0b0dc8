//! `goodput import`: opens a study that somebody exported, or one that comes with the studio.

use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use clap::Args;

use super::export::{config, open};
use super::{BAD_ARGUMENTS, DONE, Ended, FAILED, Failure};
use crate::bundle::{
    Checked, Example, MOST_PACKED, Opened, Unpacked, check, examples, import, name_of, unpack,
};
use crate::cli::say::{say, sayln, warnln};
use crate::config::StoreArgs;

#[derive(Args)]
pub(super) struct ImportArgs {
    /// The bundle: a .goodput file
    #[arg(required_unless_present_any = ["example", "examples"], value_name = "FILE")]
    file: Option<PathBuf>,
    /// Open a study that comes with the studio
    #[arg(long, value_name = "NAME", conflicts_with = "file")]
    example: Option<String>,
    /// List the studies that come with the studio
    #[arg(long, conflicts_with_all = ["file", "example"])]
    examples: bool,
    /// Open nothing: work every figure out anew from the requests in the bundle, and say whether they are the same
    #[arg(long, conflicts_with = "examples")]
    check: bool,
    #[command(flatten)]
    store: StoreArgs,
}

pub(super) async fn import_study(args: ImportArgs) -> Ended {
    let ImportArgs {
        file,
        example,
        examples: list,
        check,
        store,
    } = args;
    if list {
        return list_examples();
    }
    if check {
        let folder = std::env::temp_dir();
        let (unpacked, _) = read(file.as_deref(), example.as_deref(), &folder)?;
        return work_out(&unpacked);
    }
    let config = config(store)?;
    std::fs::create_dir_all(&config.data_dir).map_err(|cause| {
        let text = format!("cannot make {}: {cause}", config.data_dir.display());
        Failure::new(FAILED, text)
    })?;
    let (unpacked, name) = read(file.as_deref(), example.as_deref(), &config.data_dir)?;
    let store = open(&config).await?;
    let opened = import(&store, unpacked, &name).await;
    store.close().await;
    let Opened {
        id,
        name,
        already_here,
    } = opened.map_err(|error| Failure::new(FAILED, error))?;
    sayln!("/studies/{id}");
    let said = if already_here {
        "is here already, and stays as it is"
    } else {
        "is in the studio"
    };
    warnln!(
        "{name} {said}: `goodput serve` shows it at /studies/{id}. Data in {}.",
        config.data_dir.display()
    );
    Ok(DONE)
}

/// What was named, unpacked, and what it is called.
fn read(
    file: Option<&Path>,
    example: Option<&str>,
    folder: &Path,
) -> Result<(Unpacked, String), Failure> {
    let failed = |error| Failure::new(FAILED, error);
    if let Some(name) = example {
        let example = Example::find(name).ok_or_else(|| no_example(name))?;
        let bytes = example.bytes().map_err(failed)?;
        let unpacked = unpack(Cursor::new(bytes), folder).map_err(failed)?;
        return Ok((unpacked, example.file()));
    }
    let path = file.unwrap_or(Path::new(""));
    let bundle = File::open(path).map_err(|cause| {
        let text = format!("cannot read {}: {cause}", path.display());
        Failure::new(FAILED, text)
    })?;
    let unpacked = unpack(bundle.take(MOST_PACKED), folder).map_err(failed)?;
    Ok((unpacked, name_of(path)))
}

fn no_example(name: &str) -> Failure {
    let known: Vec<&str> = examples().iter().map(|it| it.name.as_str()).collect();
    let text = format!("no such example {name:?}; there are {}", known.join(", "));
    Failure::new(BAD_ARGUMENTS, text)
}

fn list_examples() -> Ended {
    let line = |example: &Example| {
        let study = &example.manifest.study;
        let simulated = if study.simulated { ", simulated" } else { "" };
        let points = example.manifest.points.len();
        format!(
            "{}\t{} ({}{simulated}, {points} points)\n",
            example.name, study.name, study.engine
        )
    };
    let lines: String = examples().iter().map(line).collect();
    say!("{lines}");
    warnln!("Open one with: goodput import --example NAME");
    Ok(DONE)
}

fn work_out(unpacked: &Unpacked) -> Ended {
    let checked = check(unpacked).map_err(|error| Failure::new(FAILED, error))?;
    let Checked {
        points,
        differences,
    } = checked;
    if differences.is_empty() {
        sayln!("The figures of all {points} points follow from the requests in the bundle.");
        return Ok(DONE);
    }
    for difference in differences {
        sayln!("{difference}");
    }
    Ok(FAILED)
}
