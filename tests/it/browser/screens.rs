//! Every page in both themes, wide and narrow: nothing runs off the side, axe finds nothing, the console is silent.

use super::engines::{half_wrong, studio};
use super::without_complaints;
use tests::browser::Browser;
use tests::process::StudioProcess;
use tests::samples::{configuration, small_study};

#[tokio::test(flavor = "multi_thread")]
async fn every_page_is_calm_wide_and_narrow_light_and_dark() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let studio = studio(data.path())?;
    let pages = pages(&studio).await?;
    for width in [1440, 390, 3000] {
        let browser = Browser::open(width, 900).await?;
        for theme in ["light", "dark"] {
            for page in &pages {
                check(&browser, theme, page)
                    .await
                    .map_err(|why| why.context(format!("{page} {width} px {theme}")))?;
            }
        }
        browser.close().await?;
    }
    Ok(())
}

async fn pages(studio: &StudioProcess) -> anyhow::Result<Vec<String>> {
    let mut spec = small_study();
    spec.configurations = vec![
        configuration("off", &[]),
        configuration("on", &[("enable-prefix-caching", "on")]),
    ];
    let id = studio.launch(&spec).await?;
    let study = studio.finished(&id).await?;
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let (a, b) = (
        text(&study["configurations"][0]["id"]),
        text(&study["configurations"][1]["id"]),
    );
    let point = text(&study["points"][0]["id"]);
    let wrong = studio.launch(&half_wrong()).await?;
    studio
        .until(&wrong, |study| study["state"] == "failed")
        .await?;
    let paths = [
        String::new(),
        "engines".into(),
        "docs".into(),
        "docs/glossary".into(),
        "docs/metrics".into(),
        format!("studies/{id}/history"),
        "studies/new".into(),
        "studies/new?preset=ceiling".into(),
        format!("studies/new?from={wrong}"),
        format!("studies/{wrong}"),
        format!("studies/{id}"),
        format!("studies/{id}/points/{point}"),
        format!("compare?c={a}&c={b}"),
    ];
    Ok(paths.map(|path| format!("{}/{path}", studio.url)).to_vec())
}

pub async fn check(browser: &Browser, theme: &str, page: &str) -> anyhow::Result<()> {
    let media = serde_json::json!({"features": [{"name": "prefers-color-scheme", "value": theme}]});
    browser
        .driver
        .cdp()
        .send_raw("Emulation.setEmulatedMedia", media)
        .await?;
    browser.goto(page).await?;
    // What is folded has to fit as well.
    let open = "for (const it of document.querySelectorAll('details')) it.open = true; return true";
    browser.until("everything to be unfolded", open).await?;
    let fits =
        "return document.documentElement.scrollWidth <= document.documentElement.clientWidth";
    browser.until("the page to fit its window", fits).await?;
    let violations = browser.accessibility_violations().await?;
    anyhow::ensure!(violations.is_empty(), "axe: {violations:#?}");
    without_complaints(browser).await
}
