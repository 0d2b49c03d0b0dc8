//! Another SLO on a study's page: what is none is an error that names its place.

use tests::browser::Browser;
use tests::process::StudioProcess;
use tests::samples::small_study;

use super::fill;

#[tokio::test(flavor = "multi_thread")]
async fn a_number_that_no_slo_has_is_refused_in_words() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let studio = StudioProcess::start(data.path(), &[])?;
    let id = studio.launch(&small_study()).await?;
    studio.finished(&id).await?;
    let browser = Browser::open(1440, 900).await?;
    let page = format!("{}/studies/{id}", studio.url);
    browser.goto(&page).await?;
    for (field, value, says) in [
        ("bound-ttft", "0", "TTFT at most: must be a number above 0"),
        (
            "attainment",
            "120",
            "Requests that must keep it: must be a number above 0 and at most 100 %",
        ),
    ] {
        fill(&browser, field, value).await?;
        browser.shows(says).await?;
        let stays = format!(
            "return document.getElementById('{field}').value === '{value}' && location.search === ''"
        );
        browser
            .until("what was typed to stay, and the SLO too", &stays)
            .await?;
    }
    fill(&browser, "attainment", "90").await?;
    let taken =
        "return location.search.includes('90') && document.getElementById('slo-problem').hidden";
    browser.until("a good number to be taken", taken).await?;
    browser.goto(&format!("{page}?slo=ttft%3C0ms")).await?;
    browser
        .shows("The SLO in the address cannot be read")
        .await?;
    browser.close().await
}
