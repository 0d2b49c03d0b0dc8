//! The page of studies: found while typing, chosen in an order, deleted and brought back, files that are dropped, and a running study that
//! moves.

use measure::study::StudySpec;
use tests::browser::Browser;
use tests::process::StudioProcess;
use tests::samples::{configuration, small_study};
use thirtyfour::By;

use super::screens::check;
use super::{fill, press, without_complaints};

fn named(name: &str) -> StudySpec {
    StudySpec {
        name: name.into(),
        configurations: vec![
            configuration("off", &[]),
            configuration("on", &[("enable-prefix-caching", "on")]),
        ],
        ..small_study()
    }
}

async fn with_two(folder: &std::path::Path) -> anyhow::Result<StudioProcess> {
    let studio = StudioProcess::start(folder, &[])?;
    for name in ["first of two", "second of two"] {
        let id = studio.launch(&named(name)).await?;
        studio.finished(&id).await?;
    }
    Ok(studio)
}

async fn cards(browser: &Browser, count: usize) -> anyhow::Result<()> {
    let script = format!("return document.querySelectorAll('ul.studies > li').length === {count}");
    browser.until(&format!("{count} cards"), &script).await
}

#[tokio::test(flavor = "multi_thread")]
async fn studies_are_found_chosen_deleted_and_brought_back() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let studio = with_two(data.path()).await?;
    let browser = Browser::open(1440, 900).await?;
    browser.goto(&studio.url).await?;
    cards(&browser, 2).await?;
    browser.find("li.study svg.sketch").await?;
    found(&browser).await?;
    chosen(&browser).await?;
    browser.goto(&studio.url).await?;
    press(&browser, "Delete").await?;
    browser.shows("Deleted “second of two”.").await?;
    cards(&browser, 1).await?;
    press(&browser, "Undo").await?;
    cards(&browser, 2).await?;
    without_complaints(&browser).await?;
    browser.close().await
}

/// The list follows typing, and the address follows the list; a filter is an address of its own, and the way back leads to it.
async fn found(browser: &Browser) -> anyhow::Result<()> {
    browser
        .driver
        .find(By::Css("[name=q]"))
        .await?
        .send_keys("first")
        .await?;
    cards(browser, 1).await?;
    browser
        .until("the address", "return location.search === '?q=first'")
        .await?;
    browser.find("#filters summary").await?.click().await?;
    fill(browser, "by-state", "failed").await?;
    press(browser, "Apply").await?;
    browser.shows("No study with “first”, state failed").await?;
    browser.driver.back().await?;
    browser
        .until("the way back", "return location.search === '?q=first'")
        .await?;
    cards(browser, 1).await?;
    browser
        .driver
        .find(By::Css("[name=q]"))
        .await?
        .clear()
        .await?;
    browser
        .driver
        .find(By::Css("[name=q]"))
        .await?
        .send_keys(" ")
        .await?;
    cards(browser, 2).await
}

/// The first chosen is the baseline, wherever it stands.
async fn chosen(browser: &Browser) -> anyhow::Result<()> {
    let choose = "const all = [...document.querySelectorAll('input[name=c]')];
        all[3].click(); all[0].click();
        window.expected = '?c=' + all[3].value + '&c=' + all[0].value;
        return document.querySelector('.compare-bar p').textContent === '2 chosen; the first is the baseline.'";
    browser.until("two chosen", choose).await?;
    let expected = browser
        .driver
        .execute("return window.expected", Vec::new())
        .await?;
    let expected = expected.json().as_str().unwrap_or_default().to_owned();
    browser
        .find(".compare-bar button.primary")
        .await?
        .click()
        .await?;
    let there =
        format!("return location.pathname === '/compare' && location.search === '{expected}'");
    browser.until("the comparison", &there).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_study_moves_and_a_dropped_file_opens() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let studio = StudioProcess::start(data.path(), &[])?;
    let browser = Browser::open(1440, 900).await?;
    studio.launch(&named("moving")).await?;
    browser.goto(&studio.url).await?;
    browser.shows("moving").await?;
    let ended = "return document.querySelector('li.study')?.dataset.state === 'finished'
        && document.querySelector('li.study svg.sketch') !== null";
    browser
        .until("the card of the finished study", ended)
        .await?;
    let drop = "const files = new DataTransfer();
        files.items.add(new File(['no bundle'], 'wrong.goodput'));
        document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: files, bubbles: true, cancelable: true}));
        return true";
    browser.until("the drop", drop).await?;
    browser
        .shows("wrong.goodput: this is no study bundle")
        .await?;
    browser.close().await
}

#[tokio::test(flavor = "multi_thread")]
async fn cards_stand_in_columns_and_fit_every_width() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let studio = with_two(data.path()).await?;
    let page = format!("{}/?q=two&state=finished", studio.url);
    for width in [390, 1440, 3000] {
        let browser = Browser::open(width, 900).await?;
        for theme in ["light", "dark"] {
            for page in [&page, &studio.url] {
                check(&browser, theme, page).await?;
            }
        }
        let columns = "return getComputedStyle(document.querySelector('ul.studies')).gridTemplateColumns.split(' ').length";
        let columns = browser.driver.execute(columns, Vec::new()).await?;
        let columns = columns.json().as_u64().unwrap_or_default();
        let expected = match width {
            390 => 1..=1,
            1440 => 3..=4,
            _ => 7..=9,
        };
        anyhow::ensure!(
            expected.contains(&columns),
            "{columns} columns at {width} px"
        );
        browser.close().await?;
    }
    Ok(())
}
