//! Engines that the studio starts: their knobs in the form, each start on the study's page, and the page that lists them.

use std::path::Path;

use measure::study::{EngineSpec, OnFailure, StudySpec};
use tests::browser::Browser;
use tests::process::StudioProcess;
use tests::samples::{configuration, small_study};

use super::{fill, press, without_complaints};

/// `studio.toml` with the simulator as an engine of its own.
pub const TOML: &str = r#"
[[engine]]
name = "sim"
model = "simulated-tiny"
hardware = "this machine"
tags = ["lab"]

[engine.launch]
engine = "simulator"
command = ["{goodput}", "sim", "--preset", "tiny", "--port", "{port}"]
env = { SOME_TOKEN = "not-to-be-shown" }
base_knobs = { max-num-seqs = 32 }
stop_timeout_s = 2
free_flags = true
"#;

/// A studio whose `studio.toml` has that engine.
pub fn studio(data: &Path) -> anyhow::Result<StudioProcess> {
    std::fs::write(data.join("studio.toml"), TOML)?;
    StudioProcess::start(data, &[])
}

/// A study whose second configuration has a flag that its engine does not know.
pub fn half_wrong() -> StudySpec {
    let mut spec = small_study();
    spec.engine = EngineSpec::Managed { name: "sim".into() };
    spec.configurations = vec![
        configuration("few", &[("max-num-seqs", "2")]),
        configuration("wrong", &[("max-num-seqs", "2"), ("no-such-flag", "4")]),
    ];
    spec.on_failure = OnFailure::Continue;
    spec
}

/// What stands in a control.
async fn value(browser: &Browser, id: &str, expected: &str) -> anyhow::Result<()> {
    let (id, quoted) = (serde_json::to_string(id)?, serde_json::to_string(expected)?);
    let script = format!("return document.getElementById({id})?.value === {quoted}");
    browser
        .until(&format!("{id} to be {expected}"), &script)
        .await
}

/// What is said to be wrong at a control.
async fn wrong(browser: &Browser, id: &str, words: &str) -> anyhow::Result<()> {
    let line = serde_json::to_string(&format!("{id}-error"))?;
    let words = serde_json::to_string(words)?;
    let script = format!(
        "const line = document.getElementById({line});
         return !line.hidden && line.textContent.includes({words})"
    );
    browser.until(&format!("{words} at {id}"), &script).await
}

/// The control of a knob, by configuration.
fn knob(index: usize, name: &str) -> String {
    format!("configurations[{index}].knobs.{name}")
}

#[tokio::test(flavor = "multi_thread")]
async fn knobs_are_typed_by_the_catalogue_and_nothing_typed_is_lost() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let studio = studio(data.path())?;
    let browser = Browser::open(1440, 900).await?;
    browser.goto(&format!("{}/studies/new", studio.url)).await?;
    choose(&browser).await?;
    controls(&browser).await?;
    two_knobs(&browser).await?;
    // A reload gives everything back.
    browser.goto(&format!("{}/studies/new", studio.url)).await?;
    kept(&browser).await?;
    // The server's own refusal stands at the field, and what was typed stays.
    fill(&browser, &knob(1, "max-num-seqs"), "many").await?;
    press(&browser, "Launch").await?;
    wrong(&browser, &knob(1, "max-num-seqs"), "whole number").await?;
    value(&browser, &knob(1, "max-num-seqs"), "many").await?;
    value(&browser, &knob(1, "gpu-memory-utilization"), "0.8").await?;
    fill(&browser, &knob(1, "max-num-seqs"), "2").await?;
    let mended =
        "return document.getElementById('configurations[1].knobs.max-num-seqs-error').hidden";
    browser.until("the field to be mended", mended).await?;
    launched(&browser, &studio).await?;
    let mut complaints = browser.complaints().await?;
    complaints.retain(|it| !it.contains("status of 422"));
    anyhow::ensure!(complaints.is_empty(), "the console says: {complaints:#?}");
    browser.close().await
}

/// The engine of `studio.toml`, with how it is started.
async fn choose(browser: &Browser) -> anyhow::Result<()> {
    let kind =
        "document.querySelector('[name=\"engine.kind\"][value=endpoint]').click(); return true";
    browser.until("the choice of engine", kind).await?;
    let open = "for (const it of document.querySelectorAll('details.section')) it.open = true; return true";
    browser.until("the sections", open).await?;
    fill(browser, "engine", "sim").await?;
    browser.shows("sim --preset tiny --port {port}").await?;
    browser.shows("runs on this machine").await?;
    fill(browser, "engine.hardware", "2 cores of the test").await
}

/// Each kind of knob has its own control, with its default.
async fn controls(browser: &Browser) -> anyhow::Result<()> {
    for (name, script) in [
        (
            "max-num-seqs",
            "it.inputMode === 'numeric' && it.placeholder === 'default (32, by studio.toml)'",
        ),
        (
            "gpu-memory-utilization",
            "it.inputMode === 'decimal' && it.placeholder === 'default (0.9)'",
        ),
        (
            "enable-prefix-caching",
            "[...it.options].map(o => o.value).join() === ',on,off'",
        ),
    ] {
        let id = serde_json::to_string(&knob(0, name))?;
        let script = format!("const it = document.getElementById({id}); return {script}");
        browser.until(name, &script).await?;
    }
    Ok(())
}

/// A second knob is an error until the person says that it is meant.
async fn two_knobs(browser: &Browser) -> anyhow::Result<()> {
    press(browser, "Add a variant").await?;
    fill(browser, &knob(1, "max-num-seqs"), "2").await?;
    fill(browser, &knob(1, "gpu-memory-utilization"), "0.8").await?;
    fill(browser, "levels", "20").await?;
    fill(browser, "length.min_requests", "10").await?;
    fill(browser, "length.max_requests", "10").await?;
    fill(browser, "length.seconds", "1").await?;
    fill(browser, "workload.scale", "0.05").await?;
    browser.shows("or choose factorial").await?;
    fill(browser, "factorial", "on").await?;
    let taken = "return !document.body.innerText.includes('or choose factorial')";
    browser.until("the choice to be taken", taken).await?;
    fill(browser, "on_failure", "continue").await
}

async fn kept(browser: &Browser) -> anyhow::Result<()> {
    for (id, expected) in [
        ("engine", "sim"),
        ("engine.hardware", "2 cores of the test"),
        (&knob(1, "max-num-seqs"), "2"),
        (&knob(1, "gpu-memory-utilization"), "0.8"),
        (&knob(0, "max-num-seqs"), ""),
        ("factorial", "on"),
        ("on_failure", "continue"),
    ] {
        value(browser, id, expected).await?;
    }
    Ok(())
}

/// The study runs, its facts say who declared the hardware, its starts are folded away.
async fn launched(browser: &Browser, studio: &StudioProcess) -> anyhow::Result<()> {
    press(browser, "Launch").await?;
    let there = "return /^\\/studies\\/[0-9a-f-]{36}$/.test(location.pathname)";
    browser.until("the study's page", there).await?;
    let url = browser.driver.current_url().await?;
    let id = url.path().rsplit('/').next().unwrap_or_default().to_owned();
    let done = studio.finished(&id).await?;
    assert_eq!(
        (&done["spec"]["factorial"], &done["spec"]["on_failure"]),
        (&true.into(), &"continue".into())
    );
    let stated = &done["spec"]["configurations"][1];
    assert_eq!(stated["declared"]["hardware"], "2 cores of the test");
    assert_eq!(
        (
            &stated["knobs"]["max-num-seqs"],
            &stated["knobs"]["gpu-memory-utilization"]
        ),
        (&2.into(), &0.8.into())
    );
    let folded = "const it = document.querySelector('details.starts');
        return it && !it.open && it.innerText.includes('all with a first token')";
    browser.until("the starts, folded away", folded).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_failed_stands_open_with_its_reason_and_its_log() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let studio = studio(data.path())?;
    let id = studio.launch(&half_wrong()).await?;
    studio
        .until(&id, |study| study["state"] == "failed")
        .await?;
    let browser = Browser::open(1440, 900).await?;
    let page = format!("{}/studies/{id}", studio.url);
    let html = reqwest::get(&page).await?.text().await?;
    anyhow::ensure!(html.contains("did not start:"), "drawn by the server");
    browser.goto(&page).await?;
    let open = "const it = document.querySelector('details.starts');
        return it?.open && it.innerText.includes('does not know --no-such-flag') && it.querySelectorAll('tbody tr').length > 2";
    browser.until("the reason", open).await?;
    let log = browser.find("details.starts .notice a").await?;
    let log = log.prop("href").await?.unwrap_or_default();
    let log = reqwest::get(log).await?.error_for_status()?.text().await?;
    anyhow::ensure!(log.contains("no-such-flag"), "{log}");
    without_complaints(&browser).await?;
    browser.close().await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_engines_of_the_file_are_listed_without_a_secret() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let studio = studio(data.path())?;
    let browser = Browser::open(1440, 900).await?;
    browser.goto(&studio.url).await?;
    press(&browser, "Engines").await?;
    for words in [
        "sim",
        "simulated-tiny",
        "this machine (declared)",
        "lab",
        "SOME_TOKEN",
        "max-num-seqs=32",
    ] {
        browser.shows(words).await?;
    }
    let text = reqwest::get(format!("{}/engines", studio.url))
        .await?
        .text()
        .await?;
    anyhow::ensure!(
        !text.contains("not-to-be-shown"),
        "a variable's value is shown"
    );
    without_complaints(&browser).await?;
    browser.close().await
}
