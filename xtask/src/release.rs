//! The release binary with the browser's part inside, for `demo` and `dist`.

use crate::command::{cargo, run};
use crate::needs::Consent;
use crate::{paths, step, web};
use std::path::PathBuf;

/// Builds what the browser gets, then the one binary that holds it.
pub fn build(consent: Consent) -> anyhow::Result<PathBuf> {
    web::run(&web::Options {
        dev: false,
        consent,
    })?;
    step::step(
        "goodput, release build with the browser's part inside",
        || {
            let args = [
                "build",
                "--release",
                "--locked",
                "--package",
                "server",
                "--features",
                "embed",
            ];
            run(cargo().args(args))
        },
    )?;
    Ok(paths::native_target().join("release/goodput"))
}
