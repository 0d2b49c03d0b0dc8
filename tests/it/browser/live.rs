//! A study that runs, seen by two at once: one wide, one narrow. They skip, pause, go on, look at the engine's log and are told of the end.

use measure::arrival::Arrival;
use measure::study::{EngineSpec, PointLength, StudySpec};
use tests::browser::Browser;
use tests::process::StudioProcess;
use tests::samples::small_study;
use thirtyfour::Key;

use super::engines::studio;
use super::{press, without_complaints};

/// Two points that take a minute each unless somebody ends them, and a short one.
fn long() -> StudySpec {
    let levels = ["2", "2.5", "100"];
    StudySpec {
        levels: levels.map(|level| level.parse().expect("a level")).to_vec(),
        arrival: Arrival::Constant,
        length: PointLength {
            min_requests: 120,
            max_requests: 120,
            seconds: 1,
        },
        ..small_study()
    }
}

/// A study's page in a browser of its own.
async fn viewer(studio: &StudioProcess, id: &str, width: u32) -> anyhow::Result<Browser> {
    let browser = Browser::open(width, 900).await?;
    browser
        .goto(&format!("{}/studies/{id}", studio.url))
        .await?;
    Ok(browser)
}

async fn title_begins(browser: &Browser, words: &str) -> anyhow::Result<()> {
    let words = serde_json::to_string(words)?;
    let script = format!("return document.title.startsWith({words})");
    browser.until("the page's title", &script).await
}

/// Nothing to complain of: no console message, nothing that axe finds, nothing wider than the page.
async fn is_sound(browser: &Browser) -> anyhow::Result<()> {
    let found = browser.accessibility_violations().await?;
    anyhow::ensure!(found.is_empty(), "axe: {found:#?}");
    let fits = "return document.documentElement.scrollWidth <= innerWidth";
    browser
        .until("a page no wider than its window", fits)
        .await?;
    without_complaints(browser).await
}

/// Opens what skipping costs, and reads it.
async fn ask_to_skip(browser: &Browser) -> anyhow::Result<()> {
    press(browser, "Skip this point").await?;
    let costs = "const costs = document.querySelector('.costs');
        return !costs.hidden && /keeps \\d+ of 120 requests; the point will be marked skipped/.test(costs.textContent)";
    browser.until("what skipping costs", costs).await
}

#[tokio::test(flavor = "multi_thread")]
async fn two_who_look_steer_one_study() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let studio = studio(data.path())?;
    let spec = StudySpec {
        engine: EngineSpec::Managed { name: "sim".into() },
        ..long()
    };
    let id = studio.launch(&spec).await?;
    let wide = viewer(&studio, &id, 1440).await?;
    let narrow = viewer(&studio, &id, 390).await?;
    for viewer in [&wide, &narrow] {
        title_begins(viewer, "0/3 · small").await?;
        for words in ["0 of 3 points done", "in flight", "of 120", "about "] {
            viewer.shows(words).await?;
        }
    }
    reads_the_log(&wide).await?;
    refuses_to_tell(&wide).await?;
    pauses_by_keyboard(&narrow).await?;
    wide.shows("Do not pause").await?;
    is_sound(&wide).await?;
    is_sound(&narrow).await?;
    both_skip(&studio, &id, (&wide, &narrow)).await?;
    goes_on_to_the_end(&studio, &id, (&wide, &narrow)).await?;
    for viewer in [wide, narrow] {
        is_sound(&viewer).await?;
        viewer.close().await?;
    }
    Ok(())
}

async fn reads_the_log(browser: &Browser) -> anyhow::Result<()> {
    browser.find(".engine-log summary").await?.click().await?;
    let said = "return document.querySelector('.tail pre').textContent.includes('127.0.0.1')";
    browser.until("what the engine says", said).await
}

/// A browser without a person to ask refuses; the page says so, and the next try, which is allowed, counts.
async fn refuses_to_tell(browser: &Browser) -> anyhow::Result<()> {
    press(browser, "Tell me when it is done").await?;
    browser.shows("refuses notifications").await?;
    let allowed = "window.Notification = class {
            constructor(title) { window.told = title; }
            static requestPermission() { return Promise.resolve('granted'); }
        };
        return true";
    browser.until("a browser that allows", allowed).await?;
    press(browser, "Tell me when it is done").await?;
    let pressed = "return [...document.querySelectorAll('button[aria-pressed=true]')].some(it => it.textContent.includes('Tell me'))";
    browser.until("the button to be pressed", pressed).await?;
    without_complaints(browser).await
}

async fn pauses_by_keyboard(browser: &Browser) -> anyhow::Result<()> {
    let focus = "const all = [...document.querySelectorAll('.steer button')];
        const found = all.find(it => it.textContent.trim() === 'Pause after this point');
        found?.focus();
        return document.activeElement === found";
    browser.until("the button to pause", focus).await?;
    let active = browser.driver.active_element().await?;
    active.send_keys(Key::Enter).await?;
    browser.shows("Pauses after this point.").await?;
    let kept = "return document.activeElement.textContent.trim() === 'Do not pause'";
    browser.until("focus to stay", kept).await
}

/// Both press at once: one point is skipped, and the study holds.
async fn both_skip(
    studio: &StudioProcess,
    id: &str,
    (wide, narrow): (&Browser, &Browser),
) -> anyhow::Result<()> {
    ask_to_skip(wide).await?;
    ask_to_skip(narrow).await?;
    let (one, two) = tokio::join!(press(wide, "Skip it"), press(narrow, "Skip it"));
    // Who comes second may find that the point is gone already.
    one.or(two)?;
    for viewer in [wide, narrow] {
        viewer
            .shows("Paused by a person after 1 of 3 points. Its engine keeps running and holds its GPU")
            .await?;
        title_begins(viewer, "Paused 1/3 · small").await?;
    }
    let states = |study: &serde_json::Value| {
        let points = study["points"].as_array().cloned().unwrap_or_default();
        let states = points
            .iter()
            .map(|it| it["state"].as_str().map(str::to_owned));
        states.flatten().collect::<Vec<_>>()
    };
    let study = studio.study(id).await?;
    anyhow::ensure!(
        states(&study) == ["skipped", "planned", "planned"],
        "{study:#}"
    );
    // Whoever comes later, or reloads, sees the same.
    wide.driver.refresh().await?;
    wide.awake().await?;
    wide.shows("Paused by a person after 1 of 3 points.")
        .await?;
    is_sound(wide).await?;
    is_sound(narrow).await
}

async fn goes_on_to_the_end(
    studio: &StudioProcess,
    id: &str,
    (wide, narrow): (&Browser, &Browser),
) -> anyhow::Result<()> {
    // What was fetched before the reload is gone with it: the other one is told of the end.
    refuses_to_tell(narrow).await?;
    press(wide, "Continue").await?;
    title_begins(narrow, "1/3 · small").await?;
    ask_to_skip(narrow).await?;
    press(narrow, "Skip it").await?;
    studio.finished(id).await?;
    for viewer in [wide, narrow] {
        viewer.shows("2 points were skipped by a person").await?;
        title_begins(viewer, "small").await?;
    }
    let told = "return window.told === 'small: finished'";
    narrow.until("the notification", told).await?;
    let rows = "const rows = [...document.querySelectorAll('table.points tbody tr')].map(it => it.textContent);
        return rows.filter(it => /skipped.*when \\d+ of 120 requests had been sent/.test(it)).length === 2";
    narrow.until("two skipped rows", rows).await
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_show_their_first_words_while_they_happen() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let studio = StudioProcess::start(data.path(), &[])?;
    let spec = StudySpec {
        idle_timeout_ms: 1,
        warmup: 0,
        ..long()
    };
    let id = studio.launch(&spec).await?;
    let viewer = viewer(&studio, &id, 390).await?;
    viewer.shows("Failures of this point").await?;
    viewer.shows("stall timeout").await?;
    let first = "const said = document.querySelector('.failing .said')?.textContent ?? '';
        return said.length > 3 && said !== 'nothing was said'";
    viewer.until("the first message", first).await?;
    viewer.find(".engine-log summary").await?.click().await?;
    viewer.shows("keeps no log").await?;
    is_sound(&viewer).await?;
    studio.ask(&id, "stop").await?;
    viewer.close().await
}

/// Whoever asked to be told is told after a reload, too, as long as the browser allows it, until they take it back.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_wants_to_be_told_says_so_once() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let studio = StudioProcess::start(data.path(), &[])?;
    let id = studio.launch(&long()).await?;
    let viewer = viewer(&studio, &id, 390).await?;
    allow(&viewer, &studio.url, true).await?;
    let is = |pressed: bool| {
        format!(
            "return [...document.querySelectorAll('button[aria-pressed={pressed}]')].some(it => it.textContent.includes('Tell me'))"
        )
    };
    viewer.until("not to be asked for", &is(false)).await?;
    press(&viewer, "Tell me when it is done").await?;
    viewer.until("to be asked for", &is(true)).await?;
    reload(&viewer).await?;
    viewer.until("to be kept", &is(true)).await?;
    viewer.shows("This browser tells you").await?;
    is_sound(&viewer).await?;
    allow(&viewer, &studio.url, false).await?;
    reload(&viewer).await?;
    viewer
        .until("to be off where it is not allowed", &is(false))
        .await?;
    allow(&viewer, &studio.url, true).await?;
    reload(&viewer).await?;
    viewer.until("to be on again", &is(true)).await?;
    press(&viewer, "Tell me when it is done").await?;
    viewer.until("to be taken back", &is(false)).await?;
    reload(&viewer).await?;
    viewer.until("to stay taken back", &is(false)).await?;
    studio.ask(&id, "stop").await?;
    viewer.close().await
}

/// What a person would answer the browser.
async fn allow(browser: &Browser, url: &str, allowed: bool) -> anyhow::Result<()> {
    let setting = if allowed { "granted" } else { "denied" };
    let permission = serde_json::json!({
        "origin": url, "permission": { "name": "notifications" }, "setting": setting,
    });
    let cdp = browser.driver.cdp();
    cdp.send_raw("Browser.setPermission", permission).await?;
    Ok(())
}

async fn reload(browser: &Browser) -> anyhow::Result<()> {
    browser.driver.refresh().await?;
    browser.awake().await
}

/// The map of a study that runs knows of each point as it is measured; nothing below it moves, and what is in use stays in use.
#[tokio::test(flavor = "multi_thread")]
async fn the_map_follows_a_study_that_runs() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let studio = StudioProcess::start(data.path(), &[])?;
    let levels = ["30", "40", "50"];
    let spec = StudySpec {
        levels: levels.map(|level| level.parse().expect("a level")).to_vec(),
        length: PointLength {
            min_requests: 100,
            max_requests: 100,
            seconds: 5,
        },
        ..small_study()
    };
    let id = studio.launch(&spec).await?;
    // Held after its first point until somebody has looked at the map.
    studio.ask(&id, "pause").await?;
    studio.until(&id, |it| it["hold"] == "paused").await?;
    let viewer = viewer(&studio, &id, 1440).await?;
    let scroll = "document.querySelector('section.iso').scrollIntoView(); return true";
    viewer.until("the map's place", scroll).await?;
    let holds = |points: usize| {
        format!("return document.querySelectorAll('#map option').length === {points}")
    };
    viewer.until("the first point", &holds(1)).await?;
    let used = "window.section = document.querySelector('section.iso');
        document.querySelector('#map').focus();
        window.least = window.section.offsetHeight;
        return document.activeElement.id === 'map'";
    viewer.until("the menu to be in use", used).await?;
    studio.ask(&id, "proceed").await?;
    studio.finished(&id).await?;
    viewer.until("all points", &holds(3)).await?;
    let kept = "return document.activeElement.id === 'map' && document.querySelector('section.iso') === window.section
        && document.querySelector('.plane') !== null && Math.abs(window.section.offsetHeight - window.least) < 1";
    viewer.until("the menu to be still in use", kept).await?;
    is_sound(&viewer).await?;
    viewer.close().await
}
