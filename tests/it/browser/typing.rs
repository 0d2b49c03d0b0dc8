//! Typing with real keys: whoever types in a field keeps it, whatever the page builds anew meanwhile.

use anyhow::Context;
use tests::browser::Browser;
use tests::process::StudioProcess;
use thirtyfour::By;

#[tokio::test(flavor = "multi_thread")]
async fn a_field_keeps_the_focus_while_it_is_typed_into() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let studio = StudioProcess::start(data.path(), &[])?;
    let browser = Browser::open(1440, 900).await?;
    browser.goto(&format!("{}/studies/new", studio.url)).await?;
    let open = "for (const it of document.querySelectorAll('details')) it.open = true;
        document.querySelector('[name=\"workload.kind\"][value=synthetic]').click(); return true";
    browser.until("the synthetic workload", open).await?;
    for id in [
        "workload.input.median",
        "workload.output.max",
        "levels",
        "slo",
    ] {
        types(&browser, id).await?;
    }
    browser.close().await
}

/// Each key reaches the field.
async fn types(browser: &Browser, id: &str) -> anyhow::Result<()> {
    let field = browser.find(&format!("[id=\"{id}\"]")).await?;
    field.clear().await?;
    field.click().await?;
    field.send_keys("64").await?;
    let field = browser.driver.find(By::Id(id)).await?;
    let value = field.prop("value").await?.context("no value")?;
    anyhow::ensure!(value.ends_with("64"), "{id} has {value:?} after typing 64");
    Ok(())
}
