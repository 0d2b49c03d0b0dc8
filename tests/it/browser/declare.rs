//! What an engine does not tell: asked for once its study has ended, and kept as declared.

use measure::study::EngineSpec;
use tests::browser::Browser;
use tests::counting::{Counts, Engine};
use tests::process::StudioProcess;
use tests::samples::small_study;

use super::{fill, press, without_complaints};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_unknown_can_be_typed_in_and_is_marked() -> anyhow::Result<()> {
    let engine = Engine::start(Counts::Letters(4)).await?;
    let data = tempfile::tempdir()?;
    let studio = StudioProcess::start(data.path(), &[])?;
    studio.add_engine("counted", &engine.endpoint).await?;
    let mut spec = small_study();
    spec.engine = EngineSpec::Endpoint(engine.endpoint.clone());
    let id = studio.launch(&spec).await?;
    studio.finished(&id).await?;
    let browser = Browser::open(1440, 900).await?;
    browser
        .goto(&format!("{}/studies/{id}", studio.url))
        .await?;
    press(&browser, "Declare").await?;
    browser.shows("Nothing was typed in.").await?;
    fill(&browser, "declare-hardware", "1x L4").await?;
    press(&browser, "Declare").await?;
    browser.shows("1x L4 (declared)").await?;
    let asked = "return !document.getElementById('declare-hardware') && !!document.getElementById('declare-quantization')";
    browser
        .until("what is known to be asked no more", asked)
        .await?;
    let study = studio.study(&id).await?;
    let fact = &study["configurations"][0]["facts"]["hardware"];
    assert_eq!(
        (&fact["value"], &fact["source"]),
        (&"1x L4".into(), &"declared".into())
    );
    without_complaints(&browser).await?;
    browser.close().await
}
