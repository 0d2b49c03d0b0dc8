//! A study's history, in both themes, wide and narrow, with a series behind it.

use tests::browser::Browser;
use tests::process::StudioProcess;
use tests::samples::small_study;

use super::screens::check;

#[tokio::test(flavor = "multi_thread")]
async fn the_history_is_calm_wide_and_narrow_light_and_dark() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let studio = StudioProcess::start(data.path(), &[])?;
    let mut last = String::new();
    for _ in 0..7 {
        last = studio.launch(&small_study()).await?;
        studio.finished(&last).await?;
    }
    let page = format!("{}/studies/{last}/history", studio.url);
    for width in [1440, 390] {
        let browser = Browser::open(width, 900).await?;
        for theme in ["light", "dark"] {
            let checked = check(&browser, theme, &page).await;
            checked.map_err(|why| why.context(format!("{width} px {theme}")))?;
        }
        // Runs that the client disturbed are none.
        let drawn = "const all = [...document.querySelectorAll('svg.run-series')];
            return all.every(it => 100 < it.getBoundingClientRect().width)
                && all.some(it => 3 <= it.querySelectorAll('circle').length)";
        browser.until("pictures of a series", drawn).await?;
        browser.close().await?;
    }
    from_the_studys_page(&studio, &last).await
}

/// The study's page leads there.
async fn from_the_studys_page(studio: &StudioProcess, study: &str) -> anyhow::Result<()> {
    let browser = Browser::open(1440, 900).await?;
    browser
        .goto(&format!("{}/studies/{study}", studio.url))
        .await?;
    browser.find("#history a").await?.click().await?;
    browser.shows("against earlier runs").await?;
    browser.close().await
}
