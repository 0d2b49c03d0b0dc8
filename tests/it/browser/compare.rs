//! Configurations side by side, as a person uses the page: three settings found, pinned, zoomed, seen from wide and narrow, and shared.

use tests::browser::Browser;
use tests::process::StudioProcess;
use tests::samples::{configuration, small_study};

use super::screens::check;
use super::{fill, press, without_complaints};

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_compared_from_any_width_in_both_themes() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let studio = StudioProcess::start(data.path(), &[])?;
    let (study, ids) = three(&studio).await?;
    let all: Vec<String> = ids.iter().map(|id| format!("c={id}")).collect();
    let all = all.join("&");
    for width in [1440, 390, 3000] {
        let browser = Browser::open(width, 900).await?;
        for theme in ["light", "dark"] {
            for page in [
                format!("compare?{all}"),
                format!("compare?{all}&view=small&find=small"),
                format!("compare?{all}&view=knob&p=p42"),
                format!("studies/{study}/share?y=tpot"),
            ] {
                let page = format!("{}/{page}", studio.url);
                let checked = check(&browser, theme, &page).await;
                checked.map_err(|why| why.context(format!("{page} {width} px {theme}")))?;
            }
        }
        browser.close().await?;
    }
    use_it(&studio, &ids).await?;
    share_it(&studio, &study).await
}

async fn three(studio: &StudioProcess) -> anyhow::Result<(String, Vec<String>)> {
    let mut spec = small_study();
    let setting = |value: &str| configuration(&format!("seqs {value}"), &[("max-num-seqs", value)]);
    spec.configurations = ["1", "4", "64"].map(setting).to_vec();
    let id = studio.launch(&spec).await?;
    let study = studio.finished(&id).await?;
    let ids = study["configurations"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let ids = ids
        .iter()
        .filter_map(|it| it["id"].as_str())
        .map(str::to_owned);
    Ok((id, ids.collect()))
}

/// From two to three by a search, another baseline, a zoom by dragging; each is in the address.
async fn use_it(studio: &StudioProcess, ids: &[String]) -> anyhow::Result<()> {
    let browser = Browser::open(1440, 900).await?;
    let two = format!("{}/compare?c={}&c={}", studio.url, ids[0], ids[1]);
    browser.goto(&two).await?;
    let open =
        "document.querySelectorAll('details').forEach(it => { it.open = true; }); return true";
    browser.until("what is folded", open).await?;
    fill(&browser, "find", "small").await?;
    press(&browser, "Search").await?;
    browser
        .find("a[aria-label='Add seqs 64 of small']")
        .await?
        .click()
        .await?;
    browser.shows("against seqs 4 against seqs 64").await?;
    browser
        .find("a[aria-label='make it the baseline: seqs 4']")
        .await?
        .click()
        .await?;
    let pinned = format!("return location.search.includes('baseline={}')", ids[1]);
    browser
        .until("the baseline in the address", &pinned)
        .await?;
    drag(&browser).await?;
    let zoomed = "return /[?&]zoom=[0-9.]+%2C[0-9.]+/.test(location.search)";
    browser.until("the zoom in the address", zoomed).await?;
    browser.driver.back().await?;
    browser
        .until("the way back", "return !location.search.includes('zoom')")
        .await?;
    without_complaints(&browser).await?;
    browser.close().await
}

async fn drag(browser: &Browser) -> anyhow::Result<()> {
    let drag = "const area = document.querySelector('[data-zoom]');
        if (!area) return false;
        const box = area.getBoundingClientRect(), y = box.top + box.height / 2;
        const at = (type, share) => area.dispatchEvent(new PointerEvent(type,
            { bubbles: true, button: 0, pointerId: 1, clientX: box.left + share * box.width, clientY: y }));
        area.setPointerCapture = () => {};
        at('pointerdown', 0.1); at('pointermove', 0.4); at('pointerup', 0.6);
        return true";
    browser.until("the chart", drag).await
}

/// A link that shows figures alone; its frame stands in a page of somebody else's.
async fn share_it(studio: &StudioProcess, study: &str) -> anyhow::Result<()> {
    let browser = Browser::open(1440, 900).await?;
    let page = format!("{}/studies/{study}/share", studio.url);
    browser.goto(&page).await?;
    browser.find("#scope-aggregates").await?.click().await?;
    press(&browser, "Make a link").await?;
    let made = "return document.getElementById('share-link').value.includes('/s/')";
    browser.until("a link", made).await?;
    browser.shows("works until").await?;
    let value = "return document.getElementById('share-html').value.match(/src=\"([^\"]+)\"/)[1]";
    let frame = browser.driver.execute(value, Vec::new()).await?;
    let frame: String = frame.convert()?;
    for theme in ["light", "dark"] {
        let media =
            serde_json::json!({"features": [{"name": "prefers-color-scheme", "value": theme}]});
        browser
            .driver
            .cdp()
            .send_raw("Emulation.setEmulatedMedia", media)
            .await?;
        browser.driver.goto(&frame).await?;
        browser.shows("All of it in Goodput Studio").await?;
        let violations = browser.accessibility_violations().await?;
        anyhow::ensure!(violations.is_empty(), "{theme}: {violations:#?}");
    }
    browser.goto(&page).await?;
    press(&browser, "Revoke").await?;
    browser.shows("revoked").await?;
    without_complaints(&browser).await?;
    browser.close().await
}
