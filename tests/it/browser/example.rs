//! A new user without any engine: one click on the start page, and there is a study to look at; then a bundle from a file.

use thirtyfour::By;

use super::without_complaints;
use tests::browser::Browser;
use tests::process::{StudioProcess, workspace};

#[tokio::test(flavor = "multi_thread")]
async fn one_click_opens_an_example() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let studio = StudioProcess::start(data.path(), &[])?;
    let browser = Browser::open(1440, 900).await?;
    browser.goto(&studio.url).await?;
    browser.shows("Example studies").await?;
    let violations = browser.accessibility_violations().await?;
    anyhow::ensure!(violations.is_empty(), "axe: {violations:#?}");
    let example = "button[formaction^='/examples/']";
    browser.find(example).await?.click().await?;
    is_open(&browser).await?;
    browser.goto(&studio.url).await?;
    let listed = "return document.querySelectorAll('ul.studies > li').length === 1";
    browser.until("the study in the list", listed).await?;
    without_complaints(&browser).await?;
    browser.close().await
}

/// The study's page, awake, with its curve, its badge and where it came from.
async fn is_open(browser: &Browser) -> anyhow::Result<()> {
    let there = "return /^\\/studies\\/[0-9a-f-]{36}$/.test(location.pathname)";
    browser.until("the study's page", there).await?;
    browser.awake().await?;
    browser.shows("Imported from").await?;
    let drawn = "const plot = document.querySelector('.main-chart .js-plotly-plot');
        return (plot?.data ?? []).some(trace => (trace.x ?? []).length > 0)";
    browser.until("a curve", drawn).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bundle_is_opened_from_a_file() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let studio = StudioProcess::start(data.path(), &[])?;
    let browser = Browser::open(1440, 900).await?;
    browser.goto(&studio.url).await?;
    let wrong = data.path().join("wrong.goodput");
    std::fs::write(&wrong, "no bundle")?;
    let field = browser.driver.find(By::Css("input[type=file]")).await?;
    field.send_keys(wrong.display().to_string()).await?;
    browser.shows("this is no study bundle").await?;
    let examples = std::fs::read_dir(workspace().join("examples"))?;
    let mut paths = examples.filter_map(|it| it.ok().map(|it| it.path()));
    let bundle = paths.find(|it| it.extension().is_some_and(|end| end == "goodput"));
    let bundle = bundle.map(|it| it.canonicalize()).transpose()?;
    let bundle = bundle.unwrap_or_default();
    let field = browser.driver.find(By::Css("input[type=file]")).await?;
    field.send_keys(bundle.display().to_string()).await?;
    is_open(&browser).await?;
    browser.close().await
}
