//! The same way against a real engine: add it by its URL, probe it, load it, and see what it counted.
//!
//! Functional only: nothing is said about speed, which belongs to the machine.

use super::{fill, press, without_complaints};
use anyhow::Context;
use measure::request::{RequestRecord, TokenSource};
use serde_json::Value;
use server::records::from_parquet;
use tests::browser::Browser;
use tests::process::StudioProcess;

#[tokio::test(flavor = "multi_thread")]
async fn llama_cpp_is_probed_loaded_and_counted_by_its_usage() -> anyhow::Result<()> {
    let Ok(engine) = std::env::var("GOODPUT_TEST_LLAMACPP") else {
        eprintln!("SKIPPED: GOODPUT_TEST_LLAMACPP names no engine; `cargo xtask test` starts one");
        return Ok(());
    };
    let data = tempfile::tempdir()?;
    let studio = StudioProcess::start(data.path(), &[])?;
    let browser = Browser::open(1440, 900).await?;
    browser.goto(&format!("{}/studies/new", studio.url)).await?;
    add(&browser, &engine).await?;
    let id = launch(&browser).await?;
    let study = studio.finished(&id).await?;
    counted_by_usage(&studio, &study).await?;
    drawn(&browser).await?;
    without_complaints(&browser).await?;
    browser.close().await
}

/// The dialog finds out by itself what answers there.
async fn add(browser: &Browser, engine: &str) -> anyhow::Result<()> {
    let choose =
        "document.querySelector('[name=\"engine.kind\"][value=endpoint]').click(); return true";
    browser.until("the choice of engine", choose).await?;
    press(browser, "Add an engine…").await?;
    fill(browser, "add.url", engine).await?;
    press(browser, "Probe").await?;
    // The name of a dialect is there before; the model only once the engine has told it.
    browser.shows("gemma-3-270m").await?;
    press(browser, "Add engine").await?;
    let chosen = "return !document.querySelector('dialog[open]')
        && document.getElementById('engine').value.includes('llama.cpp')";
    browser.until("the engine to be chosen", chosen).await
}

/// A small sweep that the smallest machine gets through; returns the study's id.
async fn launch(browser: &Browser) -> anyhow::Result<String> {
    for (id, value) in [
        ("name", "A real engine"),
        ("workload.scale", "0.05"),
        ("workload.max_turns", "1"),
        ("levels", "1 4"),
        ("length.min_requests", "6"),
        ("length.max_requests", "6"),
        ("length.seconds", "3"),
        ("warmup", "2"),
        ("slo", "ttft:p95<60s tpot:p95<10s attain>=50%"),
    ] {
        fill(browser, id, value).await?;
    }
    browser.shows("TTFT p95 ≤ 60 s").await?;
    press(browser, "Launch").await?;
    let there = "return /^\\/studies\\/[0-9a-f-]{36}$/.test(location.pathname)";
    browser.until("the study's page", there).await?;
    let url = browser.driver.current_url().await?;
    let id = url.path_segments().and_then(|mut parts| parts.next_back());
    Ok(id.context("no id in the address")?.to_owned())
}

/// Every request succeeded, and its tokens are those that the engine itself counted.
async fn counted_by_usage(studio: &StudioProcess, study: &Value) -> anyhow::Result<()> {
    let points = study["points"].as_array().context("no points")?;
    anyhow::ensure!(points.len() == 2, "two rates were asked for: {points:#?}");
    for point in points {
        let summary = &point["summary"];
        anyhow::ensure!(summary["failed"] == 0, "some failed: {summary:#}");
        anyhow::ensure!(summary["output_unknown"] == 0, "uncounted: {summary:#}");
        anyhow::ensure!(summary["output_tokens"].as_u64() > Some(0), "{summary:#}");
        let id = point["id"].as_str().context("no id")?;
        let records = from_parquet(studio.records(id).await?)?;
        let by_usage = |record: &RequestRecord| record.token_source == TokenSource::Usage;
        anyhow::ensure!(records.iter().all(by_usage), "{records:#?}");
    }
    Ok(())
}

async fn drawn(browser: &Browser) -> anyhow::Result<()> {
    let finished = "return [...document.querySelectorAll('.badge')].some(it => it.textContent.trim() === 'finished')";
    browser.until("the page to say so", finished).await?;
    let curve = "const plot = document.querySelector('.main-chart .js-plotly-plot');
        return (plot?.data ?? []).some(trace => (trace.x ?? []).length === 2)";
    browser.until("a curve of two points", curve).await?;
    let text = browser.text().await?;
    anyhow::ensure!(
        !text.contains("simulated"),
        "a real engine is badged as simulated"
    );
    Ok(())
}
