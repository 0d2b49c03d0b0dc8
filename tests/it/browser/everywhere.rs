//! What every page does: words and marks are explained to pointer, keyboard and finger; moments are the reader's; a studio that is away is
//! said; what was typed outlives a reload; paper gets a report; without a script a page is whole.

use serde_json::json;
use tests::browser::Browser;
use tests::process::StudioProcess;
use tests::samples::{configuration, small_study};

use super::{fill, press, without_complaints};

/// A studio with one finished study of two configurations, and the study.
async fn with_study(data: &std::path::Path) -> anyhow::Result<(StudioProcess, serde_json::Value)> {
    let studio = StudioProcess::start(data, &[])?;
    let mut spec = small_study();
    spec.configurations = vec![
        configuration("off", &[("enable-prefix-caching", "off")]),
        configuration("on", &[("enable-prefix-caching", "on")]),
    ];
    let id = studio.launch(&spec).await?;
    let study = studio.finished(&id).await?;
    Ok((studio, study))
}

fn page_of(studio: &StudioProcess, study: &serde_json::Value) -> String {
    let id = study["id"].as_str().unwrap_or_default();
    format!("{}/studies/{id}", studio.url)
}

/// Presses a key where the focus is.
async fn key(browser: &Browser, key: &str, code: u32) -> anyhow::Result<()> {
    for kind in ["rawKeyDown", "keyUp"] {
        let event = json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code});
        let cdp = browser.driver.cdp();
        cdp.send_raw("Input.dispatchKeyEvent", event).await?;
    }
    Ok(())
}

const OPEN: &str =
    "const tip = document.getElementById('tip'); const is_open = tip?.matches(':popover-open')";

#[tokio::test(flavor = "multi_thread")]
async fn a_word_is_explained_on_focus_and_goes_with_escape() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let (studio, study) = with_study(data.path()).await?;
    let browser = Browser::open(1440, 900).await?;
    browser.goto(&page_of(&studio, &study)).await?;
    let focus = "document.querySelector('.points a.term[href$=\"#ttft\"]').focus(); return true";
    browser.until("a word to focus", focus).await?;
    let told = format!(
        "{OPEN}; return is_open && tip.textContent.includes('Time to first token')
            && document.activeElement.getAttribute('aria-describedby') === 'tip'
            && !!tip.querySelector('a[href*=\"/docs/glossary#ttft\"]')"
    );
    browser.until("its meaning", &told).await?;
    let violations = browser.accessibility_violations().await?;
    anyhow::ensure!(violations.is_empty(), "axe: {violations:#?}");
    key(&browser, "Escape", 27).await?;
    let gone = format!(
        "{OPEN}; return !is_open && document.activeElement.matches('.term') && !document.activeElement.hasAttribute('aria-describedby')"
    );
    browser
        .until("it to go, and the focus to stay", &gone)
        .await?;
    without_complaints(&browser).await?;
    browser.close().await
}

#[tokio::test(flavor = "multi_thread")]
async fn marks_are_reached_by_tab_and_arrows_and_words_by_finger() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let (studio, study) = with_study(data.path()).await?;
    let browser = Browser::open(1440, 900).await?;
    browser.goto(&page_of(&studio, &study)).await?;
    // The last thing before the first number that says more than it shows.
    let before = "document.querySelector('.points tbody a').focus(); return true";
    browser.until("the first row", before).await?;
    key(&browser, "Tab", 9).await?;
    let first = format!(
        "{OPEN}; return is_open && document.activeElement.dataset.stop !== undefined && /95 %|n = |of \\d/.test(tip.textContent)"
    );
    browser.until("what the first mark says", &first).await?;
    let mark = "window.before = document.activeElement; return true";
    browser.until("a mark", mark).await?;
    key(&browser, "ArrowRight", 39).await?;
    let next = format!(
        "{OPEN}; return is_open && document.activeElement !== window.before && document.querySelectorAll('.points [data-stop]').length === 1"
    );
    browser.until("the next one", &next).await?;
    by_finger(&browser).await?;
    without_complaints(&browser).await?;
    browser.close().await
}

/// The first touch tells, the second one leads to the glossary.
async fn by_finger(browser: &Browser) -> anyhow::Result<()> {
    let touch = "const word = document.querySelector('.points a.term[href$=\"#e2e\"]');
        word.dispatchEvent(new PointerEvent('click', {pointerType: 'touch', bubbles: true, cancelable: true})); return true";
    browser.until("a touch", touch).await?;
    let told = format!("{OPEN}; return is_open && tip.textContent.includes('End to end latency')");
    browser.until("its meaning", &told).await?;
    let again = touch.replace("word.dispatchEvent", "if (word) word.dispatchEvent");
    browser.until("a second touch", &again).await?;
    browser.shows("The words of the pages.").await?;
    let there = "return location.pathname === '/docs/glossary' && location.hash === '#e2e'";
    browser.until("the glossary", there).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pointer_may_go_into_what_it_is_told() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let (studio, study) = with_study(data.path()).await?;
    let browser = Browser::open(1440, 900).await?;
    browser.goto(&page_of(&studio, &study)).await?;
    let word = browser.find(".points a.term[href$='#tpot']").await?;
    word.scroll_into_view().await?;
    let chain = browser.driver.action_chain();
    chain.move_to_element_center(&word).perform().await?;
    let told =
        format!("{OPEN}; return is_open && tip.textContent.includes('Time per output token')");
    browser.until("its meaning", &told).await?;
    let tip = browser.find("#tip").await?;
    let chain = browser.driver.action_chain();
    chain.move_to_element_center(&tip).perform().await?;
    tokio::time::sleep(std::time::Duration::from_millis(800)).await;
    browser.until("it to stay", &told).await?;
    browser.close().await
}

#[tokio::test(flavor = "multi_thread")]
async fn moments_are_the_readers_and_nothing_moves_for_it() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let (studio, study) = with_study(data.path()).await?;
    studio
        .share(study["id"].as_str().unwrap_or_default())
        .await?;
    let browser = Browser::open(1440, 900).await?;
    let zone = json!({"timezoneId": "Asia/Kolkata"});
    let cdp = browser.driver.cdp();
    cdp.send_raw("Emulation.setTimezoneOverride", zone).await?;
    let watch = "window.movers = []; new PerformanceObserver(seen => { for (const it of seen.getEntries()) { window.moved = (window.moved ?? 0) + it.value;
            window.movers.push(...it.sources.map(of => `${of.node?.className || of.node?.nodeName || 'gone'} at ${Math.round(it.startTime)} ms`)); } })
        .observe({type: 'layout-shift', buffered: true});";
    cdp.send_raw(
        "Page.addScriptToEvaluateOnNewDocument",
        json!({"source": watch}),
    )
    .await?;
    browser
        .goto(&format!("{}/share", page_of(&studio, &study)))
        .await?;
    // Half an hour off every whole zone: minutes tell whether it was turned.
    let turned = "const it = document.querySelector('#links time[data-utc]'); if (!it) return false;
        const utc = new Date(it.dateTime), there = new Date(utc.getTime() + 5.5 * 3600000).toISOString();
        return it.textContent === there.slice(0, 16).replace('T', ' ') && it.title === it.dateTime.slice(0, 16).replace('T', ' ') + ' UTC'";
    browser.until("the moment there", turned).await?;
    let moved = browser
        .driver
        .execute(
            "return JSON.stringify([window.moved ?? 0, window.movers])",
            Vec::new(),
        )
        .await?;
    let said: String = serde_json::from_value(moved.json().clone())?;
    let (moved, movers): (f64, serde_json::Value) = serde_json::from_str(&said)?;
    anyhow::ensure!(moved == 0.0, "moved by {moved}: {movers}");
    without_complaints(&browser).await?;
    browser.close().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_studio_that_is_away_is_said_and_asked_again() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let (studio, study) = with_study(data.path()).await?;
    let browser = Browser::open(1440, 900).await?;
    browser.goto(&studio.url).await?;
    let port = studio.url.rsplit(':').next().unwrap_or_default().to_owned();
    studio.kill()?;
    let search = "const field = document.querySelector('#filters [name=q]'); field.value = 'nothing has this name';
        field.dispatchEvent(new Event('input', {bubbles: true})); return true";
    browser.until("a search", search).await?;
    browser.shows("The studio cannot be reached.").await?;
    // What was shown stays.
    browser
        .find(&format!(
            "#study-{}",
            study["id"].as_str().unwrap_or_default()
        ))
        .await?;
    let studio = StudioProcess::start_at(data.path(), &port)?;
    browser.shows("The studio is back.").await?;
    browser
        .shows("No study with “nothing has this name”")
        .await?;
    let quiet = "return document.getElementById('connection').textContent === ''";
    browser.until("the line to go", quiet).await?;
    slow(&browser).await?;
    browser.close().await?;
    drop(studio);
    Ok(())
}

/// An answer that takes long is said, and no longer once it has come.
async fn slow(browser: &Browser) -> anyhow::Result<()> {
    let network = |latency: u32| json!({"offline": false, "latency": latency, "downloadThroughput": -1, "uploadThroughput": -1});
    let cdp = browser.driver.cdp();
    cdp.send_raw("Network.enable", json!({})).await?;
    cdp.send_raw("Network.emulateNetworkConditions", network(8000))
        .await?;
    let search = "const field = document.querySelector('#filters [name=q]'); field.value = 'small';
        field.dispatchEvent(new Event('input', {bubbles: true})); return true";
    browser.until("a search", search).await?;
    browser.shows("The studio takes long to answer.").await?;
    browser.shows("1 study with “small”").await?;
    let quiet = "return document.getElementById('connection').textContent === ''";
    browser.until("the line to go", quiet).await?;
    cdp.send_raw("Network.emulateNetworkConditions", network(0))
        .await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_typed_outlives_a_reload_and_not_its_sending() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let (studio, study) = with_study(data.path()).await?;
    let browser = Browser::open(1440, 900).await?;
    let page = page_of(&studio, &study);
    browser.goto(&page).await?;
    fill(&browser, "declare-author", "Ada").await?;
    browser.goto(&page).await?;
    let kept = "return document.getElementById('declare-author').value === 'Ada'";
    browser.until("what was declared", kept).await?;
    press(&browser, "Declare").await?;
    browser.shows("Ada (declared)").await?;
    browser.goto(&page).await?;
    let gone = "return !document.getElementById('declare-author') && !Object.keys(sessionStorage).some(it => it.startsWith('typed:'))";
    browser.until("nothing to be kept any more", gone).await?;
    browser.goto(&format!("{page}/share")).await?;
    let choose = "document.getElementById('scope-all').click(); return true";
    browser.until("a choice", choose).await?;
    browser.goto(&format!("{page}/share")).await?;
    let chosen = "return document.getElementById('scope-all').checked";
    browser.until("the choice", chosen).await?;
    adding_an_engine(&browser, &studio.url).await?;
    without_complaints(&browser).await?;
    browser.close().await
}

/// The dialog's fields stand there again once it is opened; dismissed, they are forgotten.
async fn adding_an_engine(browser: &Browser, url: &str) -> anyhow::Result<()> {
    let new = format!("{url}/studies/new");
    let open = "document.querySelector('[name=\"engine.kind\"][value=endpoint]').click();
        const button = [...document.querySelectorAll('button')].find(it => /Add an engine/.test(it.textContent)); button?.click();
        return !!document.querySelector('dialog[open] [id=\"add.url\"]')";
    browser.goto(&new).await?;
    browser.until("the dialog", open).await?;
    fill(browser, "add.url", "http://127.0.0.1:9").await?;
    browser.goto(&new).await?;
    browser.until("the dialog again", open).await?;
    let there = "return document.getElementById('add.url').value === 'http://127.0.0.1:9'";
    browser.until("the URL", there).await?;
    browser
        .until(
            "it to close",
            "document.querySelector('dialog[open]').close(); return true",
        )
        .await?;
    let gone = "return !(sessionStorage.getItem('typed:/studies/new') ?? '').includes('add.url')";
    browser.until("it to be forgotten", gone).await
}

#[tokio::test(flavor = "multi_thread")]
async fn paper_gets_a_report() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let (studio, study) = with_study(data.path()).await?;
    let page = page_of(&studio, &study);
    let point = study["points"][0]["id"].as_str().unwrap_or_default();
    let chosen = |at: usize| {
        study["configurations"][at]["id"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let compare = format!("{}/compare?c={}&c={}", studio.url, chosen(0), chosen(1));
    // As wide as a page of A4 between its margins.
    let browser = Browser::open(688, 1000).await?;
    let media =
        json!({"media": "print", "features": [{"name": "prefers-color-scheme", "value": "dark"}]});
    let cdp = browser.driver.cdp();
    for page in [
        page.clone(),
        format!("{page}/points/{point}"),
        compare,
        format!("{page}/history"),
    ] {
        browser.goto(&page).await?;
        cdp.send_raw("Emulation.setEmulatedMedia", media.clone())
            .await?;
        browser.until("a chosen theme and the moment", "document.documentElement.dataset.theme = 'dark'; dispatchEvent(new Event('beforeprint')); return true").await?;
        let light =
            "return getComputedStyle(document.body).backgroundColor === 'rgb(255, 255, 255)'
            && getComputedStyle(document.querySelector('h1')).color === 'rgb(23, 23, 28)'";
        browser.until("paper to be white", light).await?;
        let nothing = "const shown = it => it.checkVisibility({visibilityProperty: true});
            return ![...document.querySelectorAll('button:not(.legend-entry), .site-header, .canvas, #tip')].some(shown)";
        browser.until("nothing to press", nothing).await?;
        let whole = "return [...document.querySelectorAll('main table')].filter(it => it.checkVisibility()).every(it => it.getBoundingClientRect().right <= innerWidth + 1)";
        browser.until("tables to be whole", whole).await?;
        let told = "return document.getElementById('printed').textContent.startsWith(location.href + ' · printed 2')";
        browser.until("where and when", told).await?;
        let pdf = cdp
            .send_raw(
                "Page.printToPDF",
                json!({"printBackground": true, "preferCSSPageSize": true}),
            )
            .await?;
        let pdf = pdf["data"].as_str().unwrap_or_default();
        anyhow::ensure!(
            pdf.starts_with("JVBERi"),
            "{page} is no PDF: {}",
            &pdf[..pdf.len().min(40)]
        );
        cdp.send_raw("Emulation.setEmulatedMedia", json!({"media": "screen"}))
            .await?;
    }
    without_complaints(&browser).await?;
    browser.close().await
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_script_pages_are_whole() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let (studio, study) = with_study(data.path()).await?;
    let page = page_of(&studio, &study);
    let share = studio
        .share(study["id"].as_str().unwrap_or_default())
        .await?;
    let share = format!("{}{share}", studio.url);
    let point = study["points"][0]["id"].as_str().unwrap_or_default();
    let chosen = |at: usize| {
        study["configurations"][at]["id"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let compare = format!("{}/compare?c={}&c={}", studio.url, chosen(0), chosen(1));
    let browser = Browser::open(1440, 900).await?;
    let cdp = browser.driver.cdp();
    cdp.send_raw(
        "Emulation.setScriptExecutionDisabled",
        json!({"value": true}),
    )
    .await?;
    for (page, words) in [
        (studio.url.clone(), vec!["1 study.", "off", "req/s"]),
        (
            page.clone(),
            vec!["keep", "Was the client innocent?", "Points", "Recorded"],
        ),
        (
            share,
            vec!["keep", "Was the client innocent?", "Points", "Recorded"],
        ),
        (
            format!("{page}/points/{point}"),
            vec!["Latencies", "Over time", "Distributions"],
        ),
        (
            compare,
            vec!["What differs", "goodput ceilings", "At equal rate"],
        ),
    ] {
        browser.driver.goto(&page).await?;
        let text = browser.text().await?;
        for word in words {
            anyhow::ensure!(text.contains(word), "{page} lacks {word}: {text}");
        }
        anyhow::ensure!(!text.contains("oading…"), "{page}: {text}");
        browser.driver.find(thirtyfour::By::Css("main svg")).await?;
    }
    browser.close().await
}
