//! The study of the goodput exercise, shortened: its page shows both curves and both ceilings.

use super::without_complaints;
use measure::study::StudySpec;
use tests::browser::Browser;
use tests::process::StudioProcess;

/// The exercise with a tenth of its time; levels, workload, SLO and knob are the same.
fn shortened() -> StudySpec {
    let mut spec = StudySpec::goodput_exercise();
    spec.length.min_requests = 40;
    spec.length.max_requests = 60;
    spec.length.seconds = 2;
    spec.levels
        .retain(|level| level.rate().is_none_or(|rate| 6.0 <= rate));
    spec
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_shows_both_curves_and_both_ceilings() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let studio = StudioProcess::start(data.path(), &[])?;
    let id = studio.launch(&shortened()).await?;
    studio.finished(&id).await?;
    let browser = Browser::open(1440, 900).await?;
    browser
        .goto(&format!("{}/studies/{id}", studio.url))
        .await?;
    let curves = "const plot = document.querySelector('.main-chart .js-plotly-plot');
        return (plot?.data ?? []).filter(trace => (trace.x ?? []).length > 0).length >= 2";
    browser.until("both curves", curves).await?;
    let ceilings = "return document.querySelectorAll('.main-chart .legend-entry').length === 2
        && [...document.querySelectorAll('.main-chart .legend-entry .muted')].every(it => it.textContent.trim() !== '')";
    browser.until("both ceilings", ceilings).await?;
    browser.shows("simulated").await?;
    without_complaints(&browser).await?;
    browser.close().await
}
