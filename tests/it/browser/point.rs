//! A point's requests: a window by pointer and by keyboard, in the address and back, rows as they come into sight, one request opened.

use std::path::Path;

use app::studio::{Actor, Studio};
use server::config::StoreConfig;
use server::store::Store;
use server::studio::{LocalStudio, Settings};
use tests::browser::Browser;
use tests::measured::give;
use tests::process::StudioProcess;
use tests::samples::{held_up, small_study};

use super::screens::check;
use super::without_complaints;

/// A study whose points have a thousand requests each; its page and that of its first point, below the studio's address.
async fn prepared(data: &Path) -> anyhow::Result<[String; 2]> {
    let store = StoreConfig::in_folder(data.to_owned());
    let settings = Settings {
        database: store.database.clone(),
        data_dir: data.to_owned(),
        resume_interrupted: false,
        registry: Default::default(),
        may_start_engines: false,
        exporters: Vec::new(),
    };
    let studio = LocalStudio::open(settings).await?;
    let study = studio.launch(&Actor::Owner, small_study()).await?;
    give(&Store::open(&store.database).await?, study, |_| held_up()).await?;
    let point = studio.study(&Actor::Owner, study).await?.points[0].id;
    studio.shutdown().await;
    let study = format!("studies/{study}");
    Ok([study.clone(), format!("{study}/points/{point}")])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_is_chosen_kept_in_the_address_and_taken_back() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let [study, _] = prepared(data.path()).await?;
    let studio = StudioProcess::start(data.path(), &[])?;
    let browser = Browser::open(1440, 900).await?;
    from_the_study(&browser, &format!("{}/{study}", studio.url)).await?;
    by_pointer(&browser).await?;
    by_keyboard(&browser).await?;
    rows_as_they_come(&browser).await?;
    one_request(&browser).await?;
    without_complaints(&browser).await?;
    browser.close().await
}

/// The tried SLO goes along.
async fn from_the_study(browser: &Browser, study: &str) -> anyhow::Result<()> {
    let slo = "ttft%3Ap95%3C100ms%20attain%3E%3D90%25";
    browser.goto(&format!("{study}?slo={slo}")).await?;
    // Rows are drawn anew once every request is judged, so a link that was found may be gone: found and pressed at once.
    let press = "const link = document.querySelector(\"table.points a[href*='/points/']\");
        if (!link) return false; link.focus(); link.click(); return true";
    browser.until("a point to open", press).await?;
    let there =
        "return location.pathname.includes('/points/') && location.search.includes('slo=ttft')";
    browser
        .until("the point's page with the tried SLO", there)
        .await?;
    browser.awake().await?;
    browser.shows("All 1,000 requests").await?;
    browser.shows("by the tried SLO (TTFT p95 ≤ 100 ms").await
}

/// Drags over the middle fifth of the whole point, and back again.
async fn by_pointer(browser: &Browser) -> anyhow::Result<()> {
    let lane = browser.find(".on-time.whole").await?;
    lane.scroll_into_view().await?;
    let wide = lane.rect().await?.width;
    let chain = browser.driver.action_chain();
    let fifth = (wide / 5.0) as i64;
    chain
        .move_to_element_center(&lane)
        .move_by_offset(-fifth / 2, 0)
        .click_and_hold()
        .move_by_offset(fifth, 0)
        .release()
        .perform()
        .await?;
    let there = "const [from, to] = ['from', 'to'].map(it => Number(new URLSearchParams(location.search).get(it)));
        return Math.abs(from - 20) < 0.2 && Math.abs(to - 30) < 0.2";
    browser.until("the window in the address", there).await?;
    browser.shows("In the window").await?;
    browser.shows("The stored judgement stays as it is").await?;
    browser.driver.back().await?;
    browser
        .until("no window", "return !location.search.includes('from=')")
        .await?;
    browser.shows("All 1,000 requests").await?;
    browser.driver.forward().await?;
    browser.shows("In the window").await
}

/// An arrow moves an end by a hundredth; the other end stays, and so does the focus.
async fn by_keyboard(browser: &Browser) -> anyhow::Result<()> {
    let before = number(browser, "#grip-from").await?;
    browser
        .find("#grip-from")
        .await?
        .send_keys("\u{e014}")
        .await?;
    let moved = format!(
        "return Math.abs(Number(new URLSearchParams(location.search).get('from')) - {before} - 0.5) < 0.01"
    );
    browser.until("a later beginning", &moved).await?;
    let held = "return document.activeElement.id === 'grip-from' && !document.querySelector('[aria-busy]')";
    browser.until("the focus where it was", held).await?;
    browser
        .find("a[data-window]:last-of-type")
        .await?
        .click()
        .await?;
    browser.shows("All 1,000 requests").await
}

async fn number(browser: &Browser, css: &str) -> anyhow::Result<f64> {
    let held = browser.find(css).await?;
    let text = held.attr("aria-valuenow").await?.unwrap_or_default();
    Ok(text.parse()?)
}

/// Only what is near is in the page.
async fn rows_as_they_come(browser: &Browser) -> anyhow::Result<()> {
    let few = "return document.querySelectorAll('.rows li').length <= 200";
    browser.until("few rows at first", few).await?;
    let scroll = "document.getElementById('rows').scrollTop = 24 * 850; return true";
    browser.until("rows to scroll", scroll).await?;
    let there = "return [...document.querySelectorAll('.rows li')].some(it => it.textContent.trim().startsWith('850 '))";
    browser.until("the rows there", there).await?;
    let gone = "return ![...document.querySelectorAll('.rows li')].some(it => it.textContent.trim().startsWith('1 '))";
    browser.until("the first rows to make room", gone).await
}

async fn one_request(browser: &Browser) -> anyhow::Result<()> {
    let press = "const link = [...document.querySelectorAll('.rows a')].find(it => it.textContent.trim().startsWith('861 '));
        if (!link) return false; link.click(); return true";
    browser.until("a row to open", press).await?;
    browser.shows("Request 861 of 1000").await?;
    browser.shows("5000 tokens by the engine").await?;
    browser.find("a[rel=next]").await?.click().await?;
    browser.shows("Request 862 of 1000").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_points_requests_are_calm_wide_and_narrow_light_and_dark() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let [_, point] = prepared(data.path()).await?;
    let studio = StudioProcess::start(data.path(), &[])?;
    for width in [1440, 390] {
        let browser = Browser::open(width, 900).await?;
        for theme in ["light", "dark"] {
            for below in ["?from=10&to=20", "/requests/11"] {
                let page = format!("{}/{point}{below}", studio.url);
                let checked = check(&browser, theme, &page).await;
                checked.map_err(|why| why.context(format!("{below} {width} px {theme}")))?;
            }
        }
        browser.close().await?;
    }
    Ok(())
}
