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
/// What the slowest of twenty frames may take.
const SLOW_MS: f64 = 50.0;
/// How long a page may take from the address to its first curve.
const USABLE_MS: f64 = 1500.0;
/// Whatever is looked at several times counts at its best.
const ROUNDS: usize = 5;

/// Moves the SLO line by one step of the keyboard, so many times, there and back; for each the time from the key until
/// everything is judged anew and the page's words and ceilings say so. What the frame after it then takes is the other list.
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
            await new Promise(over => setTimeout(over, 400));
            const began = performance.now();
            const key = step % 2 ? 'ArrowDown' : 'ArrowUp';
            handle.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
            await settled();
            judged.push(performance.now() - began);
            drawn.push(await frame());
        }
        done([judged, drawn]);
    })();";

/// So many frames, in each of which something is done; of each the time from its beginning to the task after it: script, style,
/// layout and paint. `act` is called with the frame's number.
const FRAMES: &str = "
    const frames = (count, act) => new Promise(done => {
        const times = [];
        const next = () => requestAnimationFrame(() => {
            const began = performance.now();
            const channel = new MessageChannel();
            channel.port1.onmessage = () => {
                times.push(performance.now() - began);
                times.length < count ? next() : done(times);
            };
            act(times.length);
            channel.port2.postMessage(null);
        });
        next();
    });";

/// Drags the SLO line with a pointer, down and up again, a step a frame, and lets it go; the frames of the drag, and those of
/// the second after it, in which all that waited is drawn.
const DRAG: &str = "
    const [count, done] = arguments;
    const handle = document.querySelector('.limit.handle');
    handle.scrollIntoView({block: 'center'});
    const area = handle.parentElement.getBoundingClientRect();
    const send = (kind, clientY) => handle.dispatchEvent(new PointerEvent(kind, {clientY, pointerId: 1, bubbles: true}));
    const at = frame => area.top + area.height * (0.15 + 0.7 * Math.abs(1 - 2 * frame / count));
    send('pointerdown', at(0));
    frames(count, frame => send('pointermove', at(frame))).then(times => {
        send('pointerup', at(count));
        frames(60, () => {}).then(after => done([times, after]));
    });";

/// Scrolls the page down and up again.
const SCROLL: &str = "
    const [count, done] = arguments;
    const most = document.documentElement.scrollHeight - innerHeight;
    frames(count, frame => scrollTo(0, most * (1 - Math.abs(1 - 2 * frame / count))))
        .then(times => { scrollTo(0, 0); done([times]); });";

/// A page with as many rows and marks, on which a frame moves one line and writes one text: what such a page costs whoever made
/// it.
const REFERENCE_PAGE: &str = "
    const [curves, points, count, done] = arguments;
    const mark = at => `<circle cx='${at % 97}%' cy='${at % 89}%' r='4.5'/>`;
    const all = [...Array(curves * points).keys()];
    document.body.innerHTML = `<p id='said'></p><div style='height:400px'><svg width='100%' height='100%'>${all.map(mark).join('')}<line id='line' x2='100%' stroke='red'/></svg></div>
        <table>${all.map(at => `<tr>${'<td>12.3 ms</td>'.repeat(16)}</tr>`).join('')}</table>`;
    const line = document.getElementById('line'), said = document.getElementById('said');
    frames(count, frame => {
        line.setAttribute('y1', `${frame % 100}%`);
        line.setAttribute('y2', `${frame % 100}%`);
        said.textContent = `at frame ${frame}`;
    }).then(times => done([times]));";

/// Writes down when the first curve could be used: the live chart is drawn and the page awake.
const WATCH: &str = "
    new MutationObserver((changes, observer) => {
        if (document.querySelector('.plot.awake') && document.documentElement.dataset.hydrated === 'true') {
            observer.disconnect();
            requestAnimationFrame(() => { window.usable = performance.now(); });
        }
    }).observe(document, {subtree: true, childList: true, attributes: true});";

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

const SLO: &str = "?slo=ttft:p95%3C300ms%20tpot:p95%3C25ms%20attain%3E=95%25";

/// A stored study and the studio that shows it.
struct Shown {
    _studio: StudioProcess,
    page: String,
    _data: tempfile::TempDir,
}

impl Shown {
    async fn start(size: Size) -> anyhow::Result<Self> {
        let data = tempfile::tempdir()?;
        let study = store_in(data.path(), size).await?;
        let studio = StudioProcess::start(data.path(), &[])?;
        let page = format!("{}/studies/{study}", studio.url);
        Ok(Self {
            _studio: studio,
            page,
            _data: data,
        })
    }

    /// The page under an SLO that is tried, once every point's scores are read.
    async fn open(&self) -> anyhow::Result<Browser> {
        let browser = Browser::open(1440, 900).await?;
        browser.goto(&format!("{}{SLO}", self.page)).await?;
        let read = "return [...document.querySelectorAll('.panel p')].every(it => it.hidden || !it.textContent.startsWith('Reading')) && document.querySelector('.plot.awake .limit.handle') !== null";
        browser.until("the scores of every point", read).await?;
        Ok(browser)
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a bench: cargo xtask bench --browser"]
async fn statistics_browser_another_slo_over_200_000_requests() -> anyhow::Result<()> {
    let size = Size {
        configurations: 10,
        levels: 10,
        requests: 2000,
    };
    let shown = Shown::start(size).await?;
    let browser = shown.open().await?;
    let whole = size.configurations * size.levels * size.requests as usize;
    let reference = times(&browser, REFERENCE, &[whole.into(), 20.into()], false).await?;
    let steps = times(&browser, STEPS, &[20.into()], true).await?;
    let [judged, drawn] = &steps[..] else {
        anyhow::bail!("two lists")
    };
    let name = "another SLO over 10 x 10 points of 2,000 requests";
    row(
        &format!("{name}: judged and said, ms"),
        judged,
        Some(FRAME_MS),
        None,
    );
    row(
        &format!("{name}: the frame that draws it, ms"),
        drawn,
        None,
        None,
    );
    row(
        "as many requests in a bare loop, ms",
        &reference[0],
        None,
        None,
    );
    browser.close().await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a bench: cargo xtask bench --browser"]
async fn statistics_browser_frames_of_600_000_requests() -> anyhow::Result<()> {
    let size = Size {
        configurations: 10,
        levels: 12,
        requests: 5000,
    };
    let shown = Shown::start(size).await?;
    usable(&shown, "10 x 12 points of 5,000 requests").await?;
    frames(&shown, size, "10 x 12 points of 5,000 requests").await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a bench: cargo xtask bench --browser"]
async fn statistics_browser_frames_of_50_curves() -> anyhow::Result<()> {
    let size = Size {
        configurations: 50,
        levels: 8,
        requests: 200,
    };
    let shown = Shown::start(size).await?;
    frames(&shown, size, "50 x 8 points of 200 requests").await
}

/// From the address to the first curve that can be used, in a browser that has never seen the studio.
async fn usable(shown: &Shown, name: &str) -> anyhow::Result<()> {
    let mut cold = Vec::new();
    // The first of all pays for the server's own start.
    for _ in 0..=ROUNDS {
        let browser = Browser::open(1440, 900).await?;
        let watch = serde_json::json!({ "source": WATCH });
        browser
            .driver
            .cdp()
            .send_raw("Page.addScriptToEvaluateOnNewDocument", watch)
            .await?;
        browser.goto(&shown.page).await?;
        browser
            .until("the first curve", "return window.usable > 0")
            .await?;
        let times = times(&browser, "return [[window.usable]]", &[], false).await?;
        cold.extend(times.concat());
        browser.close().await?;
    }
    row(
        &format!("{name}: from the address to the first curve, cold, ms"),
        &cold[1..],
        Some(USABLE_MS),
        None,
    );
    Ok(())
}

/// Frames of a drag and of scrolling, beside those of a reference page, each the best of five rounds.
async fn frames(shown: &Shown, size: Size, name: &str) -> anyhow::Result<()> {
    let browser = shown.open().await?;
    let drag = best(&browser, DRAG, &[90.into()]).await?;
    let scroll = best(&browser, SCROLL, &[90.into()]).await?;
    browser.driver.goto("data:text/html,<body>").await?;
    let marks = [size.configurations.into(), size.levels.into(), 90.into()];
    let reference = best(&browser, REFERENCE_PAGE, &marks).await?;
    let bars = (Some(FRAME_MS), Some(SLOW_MS));
    row(
        &format!("{name}: a frame of dragging the SLO, ms"),
        &drag[0],
        bars.0,
        bars.1,
    );
    row(
        &format!("{name}: a frame of the second after the SLO was let go, ms"),
        &drag[1],
        None,
        None,
    );
    row(
        &format!("{name}: a frame of scrolling, ms"),
        &scroll[0],
        bars.0,
        bars.1,
    );
    row(
        &format!("{name}: a frame of a bare page of as many marks and rows, ms"),
        &reference[0],
        None,
        None,
    );
    browser.close().await
}

/// The lists of the round whose first has the least median.
async fn best(
    browser: &Browser,
    script: &str,
    arguments: &[serde_json::Value],
) -> anyhow::Result<Vec<Vec<f64>>> {
    let script = format!("{FRAMES}{script}");
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        rounds.push(times(browser, &script, arguments, true).await?);
    }
    let median = |lists: &Vec<Vec<f64>>| lists.first().map_or(f64::MAX, |list| at(list, 0.5));
    rounds.sort_by(|a, b| median(a).total_cmp(&median(b)));
    rounds.into_iter().next().context("no round")
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

/// The value below which this share of them lies.
fn at(times: &[f64], share: f64) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}

/// One row: median, p95 and largest.
pub fn row(name: &str, times: &[f64], median_most: Option<f64>, p95_most: Option<f64>) {
    let [median, p95, largest] = [0.5, 0.95, 1.0].map(|share| at(times, share));
    let within = |value: f64, most: Option<f64>| most.is_none_or(|most| value <= most);
    let kept = within(median, median_most) && within(p95, p95_most);
    let kept = if kept { "kept" } else { "missed" };
    let bars = [("median", median_most), ("p95", p95_most)];
    let bars = bars
        .iter()
        .filter_map(|(name, most)| Some(format!("{name} at most {}", (*most)?)));
    let bar = bars.collect::<Vec<_>>().join(", ");
    let bar = if bar.is_empty() { "none" } else { &bar };
    println!(
        "statistics | {name} | {} | median {median:.1}, p95 {p95:.1}, most {largest:.1} | {bar} | {kept}",
        times.len()
    );
}
