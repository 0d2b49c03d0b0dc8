//! The whole way of one study: define the SLO, launch, watch, reload the deep link, compare, share, open the share in a
//! browser that was never here.

use super::{fill, press, without_complaints};
use tests::browser::Browser;
use tests::process::StudioProcess;

#[tokio::test(flavor = "multi_thread")]
async fn from_a_promise_to_a_shared_link() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let studio = StudioProcess::start(data.path(), &[])?;
    let browser = Browser::open(1440, 900).await?;
    define(&browser, &studio.url).await?;
    let study = launch(&browser).await?;
    watch(&browser).await?;
    reload(&browser, &study).await?;
    compare(&browser).await?;
    let link = share(&browser, &study).await?;
    without_complaints(&browser).await?;
    browser.close().await?;
    visit_as_a_stranger(&studio.url, &link).await
}

/// A small study of one knob on the fast simulator, typed into the form.
async fn define(browser: &Browser, url: &str) -> anyhow::Result<()> {
    browser
        .goto(&format!("{url}/studies/new?exercise=1"))
        .await?;
    for (id, value) in [
        ("name", "Journey of one knob"),
        ("engine.preset", "tiny"),
        ("levels", "20 80 inf"),
        ("length.min_requests", "60"),
        ("length.max_requests", "80"),
        ("length.seconds", "2"),
        ("slo", "ttft:p95<300ms tpot:p95<40ms attain>=90%"),
    ] {
        fill(browser, id, value).await?;
    }
    browser.shows("TTFT p95 ≤ 300 ms").await
}

/// Launches and returns the study's deep link.
async fn launch(browser: &Browser) -> anyhow::Result<String> {
    browser
        .find("section.plan button.primary")
        .await?
        .click()
        .await?;
    let there = "return /^\\/studies\\/[0-9a-f-]{36}$/.test(location.pathname)";
    browser.until("the study's page", there).await?;
    Ok(browser.driver.current_url().await?.to_string())
}

/// The page follows by itself until the study is finished; plotly has drawn both curves.
async fn watch(browser: &Browser) -> anyhow::Result<()> {
    browser.shows("Journey of one knob").await?;
    let finished = "return [...document.querySelectorAll('.badge')].some(it => it.textContent.trim() === 'finished')";
    browser.until("the study to finish", finished).await?;
    both_curves(browser).await
}

async fn both_curves(browser: &Browser) -> anyhow::Result<()> {
    let drawn = "const plot = document.querySelector('.main-chart .js-plotly-plot');
        const curves = new Set((plot?.data ?? []).map(trace => trace.legendgroup));
        const said = document.querySelector('.main-chart').textContent;
        return curves.has('0') && curves.has('1') && said.includes('prefix caching off') && said.includes('prefix caching on')";
    browser.until("both curves", drawn).await
}

async fn reload(browser: &Browser, study: &str) -> anyhow::Result<()> {
    browser.goto(study).await?;
    both_curves(browser).await?;
    let rows = "return document.querySelectorAll('table.points tbody tr').length === 6";
    browser.until("six points in the table", rows).await
}

async fn compare(browser: &Browser) -> anyhow::Result<()> {
    press(browser, "Compare configurations").await?;
    browser
        .until("the comparison", "return location.pathname === '/compare'")
        .await?;
    browser.shows("enable-prefix-caching").await?;
    browser.shows("prefix caching on").await
}

async fn share(browser: &Browser, study: &str) -> anyhow::Result<String> {
    browser.goto(study).await?;
    press(browser, "Share").await?;
    press(browser, "Make a link").await?;
    let made = "return document.getElementById('share-link')?.value.includes('/s/')";
    browser.until("the link", made).await?;
    let field = browser.find("#share-link").await?;
    let link = field.prop("value").await?.unwrap_or_default();
    anyhow::ensure!(link.contains("/s/"), "the link is {link:?}");
    Ok(link)
}

/// The shared page says it all before any script runs, hides where the engine is, and wakes up without complaint.
async fn visit_as_a_stranger(url: &str, link: &str) -> anyhow::Result<()> {
    let link = if link.starts_with("http") {
        link.to_owned()
    } else {
        format!("{url}{link}")
    };
    let html = reqwest::get(&link)
        .await?
        .error_for_status()?
        .text()
        .await?;
    for needed in [
        "<title>",
        "og:image",
        "og:description",
        "Journey of one knob",
        "simulated",
        "<table",
        "<svg",
    ] {
        anyhow::ensure!(html.contains(needed), "the shared page lacks {needed:?}");
    }
    let stranger = Browser::open(1440, 900).await?;
    stranger.goto(&link).await?;
    stranger.shows("Journey of one knob").await?;
    both_curves(&stranger).await?;
    without_complaints(&stranger).await?;
    stranger.close().await
}
