//! Pictures of the pages for the documentation, of studies of real engines: `cargo xtask screens`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use tests::browser::Browser;
use tests::process::{StudioProcess, goodput, workspace};

/// Whose curve fills the pictures of a study.
const SHOWN: &str = "vllm-max-num-seqs";
/// Windows and themes of the pictures.
const VIEWS: [(u32, u32, &str); 3] = [
    (1440, 1000, "light"),
    (1440, 1000, "dark"),
    (390, 844, "light"),
];

#[tokio::test(flavor = "multi_thread")]
#[ignore = "writes docs/screens: cargo xtask screens"]
async fn pictures_of_every_page() -> anyhow::Result<()> {
    let folder =
        PathBuf::from(std::env::var("GOODPUT_SCREENS").context("GOODPUT_SCREENS is not set")?);
    let data = tempfile::tempdir()?;
    open_examples(data.path())?;
    let studio = StudioProcess::start(data.path(), &[])?;
    let pages = pages(&studio).await?;
    for (width, height, theme) in VIEWS {
        let browser = Browser::open(width, height).await?;
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": theme}]});
        let cdp = browser.driver.cdp();
        cdp.send_raw("Emulation.setEmulatedMedia", media).await?;
        for (name, page) in &pages {
            browser.goto(&format!("{}{page}", studio.url)).await?;
            settled(&browser).await?;
            let file = folder.join(format!("{name}-{width}-{theme}.png"));
            browser.driver.screenshot(&file).await?;
        }
        browser.close().await?;
    }
    Ok(())
}

/// Opens each example in a studio's folder.
fn open_examples(data: &Path) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(workspace().join("examples"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "goodput") {
            let mut import = Command::new(goodput());
            import.arg("import").arg(&path).arg("--data-dir").arg(data);
            ensure!(
                import.status()?.success(),
                "{} does not open",
                path.display()
            );
        }
    }
    Ok(())
}

/// Waits until charts are drawn and what comes later has come.
async fn settled(browser: &Browser) -> anyhow::Result<()> {
    let drawn = "const asked = [...document.querySelectorAll('[data-later]')];
        return asked.every(it => it.childElementCount) && document.fonts.status === 'loaded'";
    browser.until("everything on the page", drawn).await?;
    tokio::time::sleep(std::time::Duration::from_millis(1500)).await;
    Ok(())
}

/// A name and an address for each picture.
async fn pages(studio: &StudioProcess) -> anyhow::Result<Vec<(&'static str, String)>> {
    let study = shown(studio).await?;
    let id = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let own = id(&study["id"]);
    let configurations = study["configurations"]
        .as_array()
        .context("configurations")?;
    let chosen: Vec<String> = configurations
        .iter()
        .map(|it| format!("c={}", id(&it["id"])))
        .collect();
    let point = study["points"]
        .as_array()
        .and_then(|all| all.last())
        .context("a point")?;
    Ok(vec![
        ("start", "/".to_owned()),
        ("new", "/studies/new?preset=ceiling".to_owned()),
        ("study", format!("/studies/{own}")),
        (
            "point",
            format!("/studies/{own}/points/{}", id(&point["id"])),
        ),
        ("compare", format!("/compare?{}", chosen.join("&"))),
        ("history", format!("/studies/{own}/history")),
        ("engines", "/engines".to_owned()),
    ])
}

/// The study that the pictures show.
async fn shown(studio: &StudioProcess) -> anyhow::Result<Value> {
    let spec = std::fs::read(workspace().join(format!("examples/{SHOWN}.json")))?;
    let spec: Value = serde_json::from_slice(&spec)?;
    let rows = studio.json("/api/v1/studies").await?;
    let rows = rows.as_array().context("a list of studies")?;
    let row = rows.iter().find(|row| row["name"] == spec["name"]);
    let id = row.and_then(|row| row["id"].as_str());
    studio.study(id.context("the example's study")?).await
}
