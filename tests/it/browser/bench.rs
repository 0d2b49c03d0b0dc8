//! What pages cost the browser's one thread on a large study: rows of `cargo xtask bench --browser`.

use std::path::Path;

use anyhow::Context;
use server::store::{Database, Store};
use tests::browser::Browser;
use tests::large::{Size, store_large};
use tests::process::StudioProcess;
use uuid::Uuid;

/// How long a frame lasts at 60 Hz.
const FRAME_MS: f64 = 16.0;

/// Moves the SLO line by one step of the keyboard, so many times, there and back; for each the time from the key until
/// everything is judged anew and the page's words, tables and small charts say so. What the large chart then takes to draw
/// itself in the next frame is the other list: the time from that frame's beginning to the task after it.
const STEPS: &str = "
    const [steps, done] = arguments;
    const handle = document.querySelector('.limit.handle');
    const judged = [], drawn = [];
    const settled = async () => { for (let tick = 0; tick < 50; tick++) await null; };
    const frame = () => new Promise(over => requestAnimationFrame(began => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => over(performance.now() - began);
        channel.port2.postMessage(null);
    }));
    (async () => {
        for (let step = 0; step < steps; step++) {
            await new Promise(over => setTimeout(over, 150));
            const began = performance.now();
            const key = step % 2 ? 'ArrowDown' : 'ArrowUp';
            handle.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
            await settled();
            judged.push(performance.now() - began);
            drawn.push(await frame());
        }
        done([judged, drawn]);
    })();";

/// The same count of requests judged by a bare loop over numbers, for a measure of the machine.
const REFERENCE: &str = "
    const [requests, rounds] = arguments;
    const ttft = new Float64Array(requests), tpot = new Float64Array(requests);
    for (let i = 0; i < requests; i++) { ttft[i] = (i * 7919) % 600; tpot[i] = (i * 104729) % 50; }
    const times = [];
    for (let round = 0; round < rounds; round++) {
        const began = performance.now();
        let good = 0;
        for (let i = 0; i < requests; i++) if (ttft[i] <= 300 + round && tpot[i] <= 25) good++;
        times.push(performance.now() - began);
        window.kept = good;
    }
    return [times];";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a bench: cargo xtask bench --browser"]
async fn statistics_browser_another_slo_over_200_000_requests() -> anyhow::Result<()> {
    let size = Size {
        configurations: 10,
        levels: 10,
        requests: 2000,
    };
    let data = tempfile::tempdir()?;
    let study = store_in(data.path(), size).await?;
    let studio = StudioProcess::start(data.path(), &[])?;
    let browser = Browser::open(1440, 900).await?;
    let page = format!(
        "{}/studies/{study}?slo=ttft:p95%3C300ms%20tpot:p95%3C25ms%20attain%3E=95%25",
        studio.url
    );
    browser.goto(&page).await?;
    let read = "return performance.getEntriesByType('resource').filter(it => it.name.endsWith('/scores') && it.responseEnd).length >= 100 && document.querySelector('.plot.awake .limit.handle') !== null";
    browser.until("the scores of every point", read).await?;
    let whole = size.configurations * size.levels * size.requests as usize;
    let reference = times(&browser, REFERENCE, &[whole.into(), 20.into()], false).await?;
    let steps = times(&browser, STEPS, &[20.into()], true).await?;
    let [judged, drawn] = &steps[..] else {
        anyhow::bail!("two lists")
    };
    row(
        "another SLO over 10 x 10 points of 2,000 requests: judged and said, ms",
        judged,
        Some(FRAME_MS),
    );
    row(
        "another SLO over 10 x 10 points of 2,000 requests: the frame that draws it, ms",
        drawn,
        None,
    );
    row("as many requests in a bare loop, ms", &reference[0], None);
    browser.close().await
}

async fn store_in(folder: &Path, size: Size) -> anyhow::Result<Uuid> {
    let store = Store::open(&Database::Sqlite(folder.join("goodput.db"))).await?;
    let study = store_large(&store, size).await?;
    store.close().await;
    Ok(study)
}

async fn times(
    browser: &Browser,
    script: &str,
    arguments: &[serde_json::Value],
    later: bool,
) -> anyhow::Result<Vec<Vec<f64>>> {
    let driver = &browser.driver;
    let said = if later {
        driver.execute_async(script, arguments.to_vec()).await?
    } else {
        driver.execute(script, arguments.to_vec()).await?
    };
    said.convert().context("no times")
}

/// One row: median and largest.
fn row(name: &str, times: &[f64], most: Option<f64>) {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (median, largest) = (sorted[sorted.len() / 2], sorted[sorted.len() - 1]);
    let (bar, kept) = match most {
        Some(most) => (format!("median at most {most}"), median <= most),
        None => ("none".to_owned(), true),
    };
    let kept = if kept { "kept" } else { "missed" };
    println!(
        "statistics | {name} | {} | median {median:.1}, most {largest:.1} | {bar} | {kept}",
        times.len()
    );
}
