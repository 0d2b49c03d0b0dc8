//! `cargo xtask fuzz`: gives all that reads an engine's bytes such as nobody would send.
//!
//! The targets are a workspace of their own in `fuzz`, built with coverage by the same compiler. What they learn is kept
//! under `target-fuzz`; a small beginning of it is in the repository.

use crate::command::{cargo, run as run_command};
use crate::paths;
use crate::step::step;
use anyhow::{Context, bail};
use std::fs;
use std::process::Command;

/// What `cargo xtask fuzz` may be told.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Seconds for each target
    #[arg(long, default_value_t = 600)]
    seconds: u32,
    /// Which targets [default: all]
    targets: Vec<String>,
}

/// Builds the targets and runs them, one after the other, as politely as can be.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let known = targets()?;
    let wanted = match &options.targets[..] {
        [] => known.clone(),
        named => named.to_vec(),
    };
    if let Some(strange) = wanted.iter().find(|name| !known.contains(name)) {
        bail!("no target {strange}; there are {}", known.join(", "));
    }
    step("build the fuzz targets", build)?;
    for target in &wanted {
        step(&format!("fuzz {target}, {} s", options.seconds), || {
            fuzz(target, options.seconds)
        })?;
    }
    Ok(())
}

/// The names of the targets, sorted.
fn targets() -> anyhow::Result<Vec<String>> {
    let folder = paths::at("fuzz/targets");
    let files = fs::read_dir(&folder).with_context(|| format!("no targets in {folder:?}"))?;
    let stem = |file: fs::DirEntry| Some(file.path().file_stem()?.to_str()?.to_owned());
    let mut names: Vec<String> = files.flatten().filter_map(stem).collect();
    names.sort();
    Ok(names)
}

/// What the targets are built for. It is named so that their flags leave build scripts alone.
fn platform() -> String {
    format!("{}-unknown-linux-gnu", std::env::consts::ARCH)
}

fn build() -> anyhow::Result<()> {
    // In their folder, whose own configuration has the flags for coverage.
    let mut command = cargo();
    command.current_dir(paths::at("fuzz"));
    command.args(["build", "--release", "--target", &platform()]);
    run_command(command.arg("--target-dir").arg(paths::at("target-fuzz")))
}

fn fuzz(target: &str, seconds: u32) -> anyhow::Result<()> {
    let learned = paths::at("target-fuzz/corpus").join(target);
    let findings = paths::at("target-fuzz/findings").join(target);
    fs::create_dir_all(&learned)?;
    fs::create_dir_all(&findings)?;
    let program = paths::at("target-fuzz")
        .join(platform())
        .join("release")
        .join(target);
    let mut command = Command::new("nice");
    command.args(["-n", "19"]).arg(program);
    command.args([
        "-max_len=8192",
        "-timeout=10",
        "-rss_limit_mb=1024",
        "-close_fd_mask=1",
    ]);
    command.arg(format!("-max_total_time={seconds}"));
    command.arg(format!("-dict={}", paths::at("fuzz/json.dict").display()));
    command.arg(format!("-artifact_prefix={}/", findings.display()));
    command.arg(learned);
    let beginning = paths::at("fuzz/corpus").join(target);
    if beginning.is_dir() {
        command.arg(beginning);
    }
    run_command(&mut command).with_context(|| format!("a finding lies in {}", findings.display()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_dialect_and_reader_has_a_target() {
        let targets = super::targets().expect("targets");
        let expected = [
            "llamacpp_completion",
            "metrics",
            "ndjson",
            "ollama_chat",
            "openai_chat",
            "openai_completions",
            "openai_responses",
            "sglang_generate",
            "sse",
            "tgi_generate_stream",
            "triton_generate_stream",
        ];
        assert_eq!(targets, expected);
    }
}
