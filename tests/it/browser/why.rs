//! Why, beside the curve: what is wrong, the one knob, and whether what was foretold came true.

use std::path::Path;

use app::studio::{Actor, Studio};
use server::config::StoreConfig;
use server::store::Store;
use server::studio::{LocalStudio, Settings};
use tests::browser::Browser;
use tests::measured::give;
use tests::process::StudioProcess;
use tests::samples::{configuration, held_up, records, small_study};
use thirtyfour::By;
use uuid::Uuid;

use super::without_complaints;

const KNOB: &str = "long-prefill-token-threshold";

/// A study that is held up by long prompts, and one that tries what its diagnosis foretold: their pages below the studio's address.
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
    let store = Store::open(&store.database).await?;
    let slow = studio.launch(&Actor::Owner, small_study()).await?;
    give(&store, slow, |_| held_up()).await?;
    let view = studio.study(&Actor::Owner, slow).await?;
    let mut spec = small_study();
    spec.name = "does it help".into();
    spec.configurations
        .push(configuration("capped at 128", &[(KNOB, "128")]));
    let trying = studio.launch_trying(spec, view.points[0].id).await?;
    give(&store, trying, |point| match point.configuration {
        0 => held_up(),
        _ => records(1000, 20),
    })
    .await?;
    studio.shutdown().await;
    Ok([slow, trying].map(|id: Uuid| format!("studies/{id}")))
}

#[tokio::test(flavor = "multi_thread")]
async fn why_stands_beside_the_curve_and_leads_to_a_study_of_one_knob() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let [slow, trying] = prepared(data.path()).await?;
    let studio = StudioProcess::start(data.path(), &[])?;
    for width in [1440, 390] {
        let browser = Browser::open(width, 900).await?;
        for theme in ["light", "dark"] {
            browser.goto(&format!("{}/{slow}", studio.url)).await?;
            calm(&browser, theme, "Long prefills.").await?;
            browser.goto(&format!("{}/{trying}", studio.url)).await?;
            calm(&browser, theme, "Did the prediction come true?").await?;
        }
        browser.close().await?;
    }
    let browser = Browser::open(1440, 900).await?;
    browser.goto(&format!("{}/{trying}", studio.url)).await?;
    browser.shows("it had to be at most").await?;
    browser.shows("How the rules have fared here").await?;
    browser.goto(&format!("{}/{slow}", studio.url)).await?;
    let way = browser.find(".why a.button").await?;
    way.scroll_into_view().await?;
    way.click().await?;
    browser.shows("New study").await?;
    browser.awake().await?;
    let flipped = format!("return document.body.innerHTML.includes('{KNOB} 128')");
    browser.until("the flipped knob", &flipped).await?;
    without_complaints(&browser).await?;
    browser.close().await
}

/// The panel says so, fits its window, and neither axe nor the console complains.
async fn calm(browser: &Browser, theme: &str, says: &str) -> anyhow::Result<()> {
    let media = serde_json::json!({"features": [{"name": "prefers-color-scheme", "value": theme}]});
    let cdp = browser.driver.cdp();
    cdp.send_raw("Emulation.setEmulatedMedia", media).await?;
    browser.shows(says).await?;
    let open = "for (const it of document.querySelectorAll('details')) it.open = true; return true";
    browser.until("everything to be unfolded", open).await?;
    let fits =
        "return document.documentElement.scrollWidth <= document.documentElement.clientWidth";
    browser.until("the page to fit its window", fits).await?;
    let panels = browser.driver.find_all(By::Css(".why h3")).await?;
    anyhow::ensure!(!panels.is_empty(), "no configuration in the panel");
    let violations = browser.accessibility_violations().await?;
    anyhow::ensure!(violations.is_empty(), "axe: {violations:#?}");
    without_complaints(browser).await
}
