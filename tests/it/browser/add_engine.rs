//! The dialog that adds an engine: what it says is never older than what stands in it, and its folded part opens by keyboard.

use std::time::Duration;

use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};
use tests::browser::Browser;
use tests::process::StudioProcess;
use tests::served::serve;

use super::{fill, press};

/// An engine that takes its time to list its models.
async fn slow_engine() -> anyhow::Result<String> {
    let models = || async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        Json::<Value>(json!({ "data": [{ "id": "slow-model", "owned_by": "vllm" }] }))
    };
    let router = Router::new().route("/v1/models", get(models));
    let url = serve(router).await?;
    Ok(url)
}

const SAYS: &str = "const says = words => document.querySelector('dialog[open]').innerText.includes(words);
    const add = [...document.querySelectorAll('dialog[open] button')].find(it => it.innerText === 'Add engine');";

#[tokio::test(flavor = "multi_thread")]
async fn the_dialog_that_adds_an_engine_forgets_what_is_mended() -> anyhow::Result<()> {
    let engine = slow_engine().await?;
    let data = tempfile::tempdir()?;
    let studio = StudioProcess::start(data.path(), &[])?;
    let browser = Browser::open(1440, 900).await?;
    browser.goto(&format!("{}/studies/new", studio.url)).await?;
    let choose =
        "document.querySelector('[name=\"engine.kind\"][value=endpoint]').click(); return true";
    browser.until("the choice of engine", choose).await?;
    press(&browser, "Add an engine…").await?;
    press(&browser, "Add engine").await?;
    browser.shows("give it a name").await?;
    fill(&browser, "add.url", &engine).await?;
    let mended = format!("{SAYS} return !says('give it a name')");
    browser.until("the old words to go", &mended).await?;
    press(&browser, "Probe").await?;
    let waits = format!("{SAYS} return add.disabled");
    browser.until("Add to wait for the probe", &waits).await?;
    let probed = format!("{SAYS} return !add.disabled && says('vLLM') && !says('give it a name')");
    browser.until("the probe to end", &probed).await?;
    let unfold = "const summary = document.querySelector('dialog[open] summary');
        summary.focus(); return document.activeElement === summary";
    browser
        .until("the folded part to be reached", unfold)
        .await?;
    let summary = browser.find("dialog[open] summary").await?;
    summary.send_keys("\u{e007}").await?;
    let open = "return document.querySelector('dialog[open] details').open";
    browser.until("the folded part to open", open).await?;
    fill(&browser, "add.connection.proxy", "http://me:secret@proxy").await?;
    press(&browser, "Add engine").await?;
    let refused = "return document.getElementById('add.connection.proxy-error').innerText.includes('password')";
    browser.until("the proxy to be refused", refused).await?;
    fill(&browser, "add.connection.proxy", "").await?;
    press(&browser, "Add engine").await?;
    let chosen = "return !document.querySelector('dialog[open]')
        && document.getElementById('engine').value.includes('slow-model')";
    browser.until("the engine to be chosen", chosen).await?;
    // The browser notes refusals by itself.
    let mut complaints = browser.complaints().await?;
    complaints.retain(|it| !it.contains("status of 422"));
    anyhow::ensure!(complaints.is_empty(), "the console says: {complaints:#?}");
    browser.close().await
}
