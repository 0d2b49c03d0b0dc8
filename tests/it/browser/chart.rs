//! The study's charts: their axes, one point marked in all of them, keys, zoom as a link, and the map of bounds.

use tests::browser::Browser;
use tests::process::StudioProcess;
use tests::samples::two_configurations;
use thirtyfour::{Key, TypingData};

/// A small study of two configurations, open in a browser.
struct Open {
    browser: Browser,
    page: String,
    _studio: StudioProcess,
    _data: tempfile::TempDir,
}

impl Open {
    async fn start(width: u32) -> anyhow::Result<Self> {
        let data = tempfile::tempdir()?;
        let studio = StudioProcess::start(data.path(), &[])?;
        let id = studio
            .launch(&two_configurations(&[("max-num-seqs", "2")]))
            .await?;
        studio.finished(&id).await?;
        Ok(Self {
            browser: Browser::open(width, 1000).await?,
            page: format!("{}/studies/{id}", studio.url),
            _studio: studio,
            _data: data,
        })
    }

    async fn goto(&self, query: &str) -> anyhow::Result<()> {
        self.browser.goto(&format!("{}{query}", self.page)).await?;
        let drawn = "return document.querySelector('.main-chart .plot.awake') !== null";
        self.browser.until("the chart to be drawn", drawn).await
    }

    /// A key, as a keyboard sends it to whatever has the focus.
    async fn key(&self, key: impl Into<TypingData>) -> anyhow::Result<()> {
        let chain = self.browser.driver.action_chain();
        Ok(chain.send_keys(key).perform().await?)
    }

    async fn holds(&self, what: &str, script: &str) -> anyhow::Result<()> {
        self.browser.until(what, &format!("return {script}")).await
    }
}

const SAID: &str = "document.querySelector('.readout').textContent";

#[tokio::test(flavor = "multi_thread")]
async fn every_axis_has_its_words_and_what_is_missing_is_said() -> anyhow::Result<()> {
    let open = Open::start(1440).await?;
    for (query, shows) in [
        ("?x=user&y=stall", "stall p95 (ms)"),
        ("?y=ttfa&p=p50&scale=log", "No thinking was seen"),
        ("?x=gpu", "nobody says how many GPUs they have"),
        ("?y=scheduled_e2e", "E2E from schedule p95 (ms)"),
    ] {
        open.browser.goto(&format!("{}{query}", open.page)).await?;
        open.browser.shows(shows).await?;
    }
    let menu = "[...document.querySelectorAll('#axis-x option, #axis-y option')].map(it => it.value).join() === 'ttft,ttfa,tpot,itl,stall,e2e,tok,offered,completed,gpu,user'";
    open.holds("all axes in the menus", menu).await?;
    counted(&open).await?;
    super::without_complaints(&open.browser).await?;
    open.browser.close().await
}

/// What begins at the send is counted as sent or as scheduled, which a change of the latency keeps; what begins later has no such choice.
async fn counted(open: &Open) -> anyhow::Result<()> {
    let choose = |id: &str, value: &str| {
        format!(
            "const it = document.getElementById('{id}'); it.value = '{value}'; it.dispatchEvent(new Event('change', {{bubbles: true}})); return true"
        )
    };
    let from = "document.getElementById('axis-from')";
    open.goto("?y=e2e").await?;
    open.holds(
        "the choice",
        &format!("{from}.value === 'as sent' && {from}.checkVisibility()"),
    )
    .await?;
    for (id, value, query, offered) in [
        ("axis-from", "as scheduled", "?y=scheduled_e2e", true),
        ("axis-y", "ttfa", "?y=scheduled_ttfa", true),
        ("axis-y", "ttft", "?y=scheduled_ttft", true),
        ("axis-from", "as sent", "", true),
        ("axis-y", "tpot", "?y=tpot", false),
    ] {
        open.browser.until(value, &choose(id, value)).await?;
        let so = format!("location.search === '{query}' && {from}.checkVisibility() === {offered}");
        open.holds(query, &so).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_step_along_curves_and_mark_the_point_in_every_chart() -> anyhow::Result<()> {
    let open = Open::start(1440).await?;
    open.goto("").await?;
    open.holds("the hint", &format!("{SAID}.includes('Enter opens')"))
        .await?;
    // The first arrow leads into the chart.
    open.key(Key::Right + "").await?;
    open.holds(
        "the first point",
        &format!("{SAID}.startsWith('baseline; 20.0 req/s')"),
    )
    .await?;
    let marked = "document.querySelectorAll('.cross:not([hidden])').length === 3 && document.querySelector('.readout').getAttribute('aria-live') === 'polite'";
    open.holds("the point marked in all three charts", marked)
        .await?;
    open.key(Key::Right + "").await?;
    open.holds(
        "the next",
        &format!("{SAID}.startsWith('baseline; 40.0 req/s')"),
    )
    .await?;
    open.key(Key::Down + "").await?;
    open.holds(
        "the other curve",
        &format!("{SAID}.startsWith('other; 40.0 req/s')"),
    )
    .await?;
    let violations = open.browser.accessibility_violations().await?;
    anyhow::ensure!(violations.is_empty(), "{violations:#?}");
    open.key(Key::Enter + "").await?;
    open.browser.shows("other at 40.0 req/s").await?;
    let there = "/\\/points\\/[0-9a-f-]{36}$/.test(location.pathname)";
    open.holds("the point's page", there).await?;
    super::without_complaints(&open.browser).await?;
    open.browser.close().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pointer_over_a_small_chart_marks_the_same_point_in_the_large_one() -> anyhow::Result<()>
{
    let open = Open::start(1440).await?;
    open.goto("").await?;
    let mark = open.browser.find(".small-chart [data-point]").await?;
    mark.scroll_into_view().await?;
    let chain = open.browser.driver.action_chain();
    chain.move_to_element_center(&mark).perform().await?;
    let marked = "!document.querySelector('.main-chart .cross').hidden && document.querySelectorAll('.cross:not([hidden])').length === 3";
    open.holds("the point marked in all charts", marked).await?;
    open.browser.close().await
}

#[tokio::test(flavor = "multi_thread")]
async fn letters_are_keys_only_where_nobody_types() -> anyhow::Result<()> {
    let open = Open::start(390).await?;
    open.goto("").await?;
    open.key("s").await?;
    open.holds(
        "the SLO's first field",
        "document.activeElement.id === 'bound-ttft'",
    )
    .await?;
    open.key("s").await?;
    open.key("?").await?;
    let typed = "document.activeElement.value.endsWith('s?') && !document.querySelector('#keys:popover-open')";
    open.holds("what was typed", typed).await?;
    open.holds("no field", "document.activeElement.blur() ?? true")
        .await?;
    open.key("?").await?;
    open.holds(
        "the keys",
        "document.querySelector('#keys:popover-open') !== null",
    )
    .await?;
    let violations = open.browser.accessibility_violations().await?;
    anyhow::ensure!(violations.is_empty(), "{violations:#?}");
    open.key(Key::Escape + "").await?;
    open.holds(
        "the keys to be closed",
        "document.querySelector('#keys:popover-open') === null",
    )
    .await?;
    open.key("/").await?;
    open.holds(
        "the search of the start page",
        "location.pathname === '/' && document.activeElement.type === 'search'",
    )
    .await?;
    open.holds("no field", "document.activeElement.blur() ?? true")
        .await?;
    open.key("?").await?;
    open.browser.shows("Searches the studies").await?;
    super::without_complaints(&open.browser).await?;
    open.browser.close().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_zoom_is_in_the_link_and_a_double_click_takes_it_out() -> anyhow::Result<()> {
    let open = Open::start(1440).await?;
    open.goto("?y=tpot").await?;
    let entries = open
        .browser
        .driver
        .execute("return history.length", vec![])
        .await?;
    let canvas = open.browser.find(".main-chart .canvas").await?;
    let chain = open.browser.driver.action_chain();
    chain
        .move_to_element_with_offset(&canvas, -150, -60)
        .click_and_hold()
        .move_by_offset(250, 150)
        .release()
        .perform()
        .await?;
    open.holds(
        "the zoom in the address",
        "/^\\?y=tpot&zoom=[0-9.]+,[0-9.]+&up=[0-9.]+,[0-9.]+$/.test(location.search)",
    )
    .await?;
    let query = open
        .browser
        .driver
        .execute("return location.search", vec![])
        .await?;
    let query = query.json().as_str().unwrap_or_default().to_owned();
    let shown = "JSON.stringify([...document.querySelector('.main-chart .canvas').layout.xaxis.range, ...document.querySelector('.main-chart .canvas').layout.yaxis.range])";
    let numbers: Vec<&str> = query
        .split(['=', '&', ','])
        .filter(|it| it.parse::<f64>().is_ok())
        .collect();
    let same = format!("{shown} === '[{}]'", numbers.join(","));
    open.holds("the chart to show that", &same).await?;
    open.browser.driver.refresh().await?;
    open.holds(
        "the same after a reload",
        &format!("document.querySelector('.main-chart .plot.awake') !== null && {same}"),
    )
    .await?;
    let after = open
        .browser
        .driver
        .execute("return history.length", vec![])
        .await?;
    anyhow::ensure!(
        entries.json() == after.json(),
        "a zoom is no step of the history"
    );
    open.browser.shows("Show all of the axes").await?;
    let canvas = open.browser.find(".main-chart .canvas").await?;
    let chain = open.browser.driver.action_chain();
    chain
        .move_to_element_with_offset(&canvas, -100, 0)
        .double_click()
        .perform()
        .await?;
    open.holds("all of the axes", "location.search === '?y=tpot' && document.querySelector('.main-chart .canvas').layout.xaxis.range[0] === 0").await?;
    super::without_complaints(&open.browser).await?;
    open.browser.close().await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_map_shows_pairs_of_bounds_and_tries_the_one_that_is_pointed_at() -> anyhow::Result<()>
{
    let open = Open::start(1440).await?;
    open.goto("").await?;
    open.browser.find(".iso").await?.scroll_into_view().await?;
    open.browser
        .shows("Each line joins the pairs of bounds")
        .await?;
    open.browser.find(".iso .plane").await?;
    let choose = "const menu = document.querySelector('.iso select'); menu.selectedIndex = menu.options.length - 1;
        menu.dispatchEvent(new Event('change', {bubbles: true})); return true";
    open.browser.until("another point", choose).await?;
    open.holds(
        "the point in the address",
        "/[?&]map=3/.test(location.search)",
    )
    .await?;
    open.browser.shows("other at 40.0 req/s").await?;
    let plane = open.browser.find(".iso .plane").await?;
    plane.scroll_into_view().await?;
    let chain = open.browser.driver.action_chain();
    chain
        .move_to_element_center(&plane)
        .click()
        .perform()
        .await?;
    open.holds(
        "another SLO in the address",
        "/slo=ttft%3Ap95%3C[0-9.]+m?s%20tpot%3Ap95%3C[0-9.]+m?u?s/.test(location.search)",
    )
    .await?;
    open.browser.shows("Tried, not the study's own SLO").await?;
    let near =
        "Math.abs(document.querySelector('.plane').style.getPropertyValue('--x') - 0.5) < 0.05";
    open.holds("the mark to be there", near).await?;
    let violations = open.browser.accessibility_violations().await?;
    anyhow::ensure!(violations.is_empty(), "{violations:#?}");
    super::without_complaints(&open.browser).await?;
    open.browser.close().await
}
