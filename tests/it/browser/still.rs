//! Nothing on a study's page moves by itself: what stands beside its curves is in the first answer.

use serde_json::json;
use tests::browser::Browser;
use tests::process::StudioProcess;
use tests::samples::{small_study, two_configurations};
use thirtyfour::Key;

/// Adds up how far things moved that nobody asked to.
const WATCH: &str = "window.moved = window.late = 0; window.movers = []; window.there = Infinity;
    // What arrived last is drawn by the frame after the document's end.
    document.addEventListener('DOMContentLoaded', () => requestAnimationFrame(() => requestAnimationFrame(() => { window.there = performance.now(); })));
    new PerformanceObserver(seen => { for (const it of seen.getEntries()) {
    if (window.there < it.startTime) window.late += it.value;
    window.moved += it.value;
    window.movers.push(...it.sources.map(of => `${of.node?.className || of.node?.nodeName || 'gone'} at ${Math.round(it.startTime)} ms: ${JSON.stringify([of.previousRect, of.currentRect])}`)); } })
    .observe({type: 'layout-shift', buffered: true});";

async fn watched(width: u32) -> anyhow::Result<Browser> {
    let browser = Browser::open(width, 1000).await?;
    let cdp = browser.driver.cdp();
    // As high as all of the page: what moves anywhere is seen.
    let size =
        json!({"width": width, "height": 7000, "deviceScaleFactor": 1, "mobile": width < 400});
    cdp.send_raw("Emulation.setDeviceMetricsOverride", size)
        .await?;
    cdp.send_raw(
        "Page.addScriptToEvaluateOnNewDocument",
        json!({"source": WATCH}),
    )
    .await?;
    Ok(browser)
}

async fn nothing_moved(browser: &Browser) -> anyhow::Result<()> {
    let movers = browser
        .driver
        .execute(
            "return [window.late, window.moved, window.movers]",
            Vec::new(),
        )
        .await?;
    let (late, moved, movers): (f64, f64, Vec<String>) =
        serde_json::from_value(movers.json().clone())?;
    // While a long page arrives, columns of its tables find their width, and the frame with the last of them may be drawn after its end: less than anybody
    // sees.
    anyhow::ensure!(
        late < 0.0003,
        "moved by {late} once it was there: {movers:?}"
    );
    anyhow::ensure!(moved < 0.001, "moved by {moved}: {movers:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_study_s_page_stands_still_from_its_first_answer_on() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let studio = StudioProcess::start(data.path(), &[])?;
    let id = studio
        .launch(&two_configurations(&[("max-num-seqs", "2")]))
        .await?;
    studio.finished(&id).await?;
    let page = format!("{}/studies/{id}", studio.url);
    let first = reqwest::get(&page).await?.text().await?;
    for part in [
        "class=\"card panel why\"",
        "class=\"plot plane-plot\"",
        "class=\"engine-said\"",
    ] {
        anyhow::ensure!(
            first.contains(part),
            "{part} is not in the first answer of the page"
        );
    }
    for width in [390, 1440, 3000] {
        let browser = watched(width).await?;
        browser.goto(&page).await?;
        let drawn = "return document.querySelector('.main-chart .plot.awake') !== null";
        browser.until("the chart to be drawn", drawn).await?;
        // Later parts come within half a second of the page's waking.
        tokio::time::sleep(std::time::Duration::from_secs(2)).await;
        nothing_moved(&browser).await?;
        // Another point's engine takes the place of the one before.
        let focus = "const it = document.querySelector('.main-chart .plot'); it.focus(); return document.activeElement === it";
        browser.until("the chart in focus", focus).await?;
        for key in [Key::Home, Key::End, Key::Down] {
            let chain = browser.driver.action_chain();
            chain.send_keys(key + "").perform().await?;
            tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        }
        tokio::time::sleep(std::time::Duration::from_millis(800)).await;
        nothing_moved(&browser).await?;
        super::without_complaints(&browser).await?;
        browser.close().await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_engine_shown_is_that_of_the_marked_point() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let studio = StudioProcess::start(data.path(), &[])?;
    let id = studio.launch(&small_study()).await?;
    studio.finished(&id).await?;
    let browser = Browser::open(1440, 1000).await?;
    browser
        .goto(&format!("{}/studies/{id}", studio.url))
        .await?;
    let drawn = "return document.querySelector('.main-chart .plot.awake') !== null";
    browser.until("the chart to be drawn", drawn).await?;
    let focus = "const it = document.querySelector('.main-chart .plot'); it.focus(); return document.activeElement === it";
    browser.until("the chart in focus", focus).await?;
    for key in [Key::Home, Key::End] {
        browser
            .driver
            .action_chain()
            .send_keys(key + "")
            .perform()
            .await?;
        // The readout and the panel speak of one point: its level stands in both.
        let same = "const said = document.querySelector('.readout').textContent.split('; ')[1];
            return !!said && document.querySelector('.engine-said a').textContent.endsWith(' at ' + said)";
        browser.until("the marked point's engine", same).await?;
    }
    super::without_complaints(&browser).await?;
    browser.close().await
}
