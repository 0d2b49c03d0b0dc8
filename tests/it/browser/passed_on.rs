//! What is passed on, as others see it: a comparison behind a link, and a curve in a frame of a page of another site.

use app::url_state::escape;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use serde_json::{Value, json};
use tests::browser::Browser;
use tests::process::{StudioProcess, client};
use tests::samples::{configuration, small_study};

use super::screens::check;
use super::{press, without_complaints};

/// A finished study of two settings of a knob, with their ids.
async fn two(studio: &StudioProcess) -> anyhow::Result<(String, [String; 2])> {
    let mut spec = small_study();
    let setting = |value: &str| configuration(&format!("seqs {value}"), &[("max-num-seqs", value)]);
    spec.configurations = ["2", "64"].map(setting).to_vec();
    let id = studio.launch(&spec).await?;
    let study = studio.finished(&id).await?;
    let name = |index: usize| study["configurations"][index]["id"].as_str();
    let ids = [0, 1].map(|index| name(index).unwrap_or_default().to_owned());
    Ok((id, ids))
}

/// A link's token.
async fn token(studio: &StudioProcess, study: &str, scope: &str) -> anyhow::Result<String> {
    let url = format!("{}/api/v1/studies/{study}/shares", studio.url);
    let made = client().post(url).json(&json!({ "scope": scope }));
    let made: Value = made.send().await?.error_for_status()?.json().await?;
    let path = made["path"].as_str().unwrap_or_default();
    Ok(path.trim_start_matches("/s/").to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_comparison_is_passed_on() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let studio = StudioProcess::start(data.path(), &[])?;
    let (study, [one, two]) = two(&studio).await?;
    let browser = Browser::open(1440, 900).await?;
    // The baseline is the second one, and the promise another.
    let slo = escape("e2e:p95<900ms attain>=90%");
    let page = format!(
        "{}/compare?c={one}&c={two}&baseline={two}&slo={slo}",
        studio.url
    );
    browser.goto(&page).await?;
    browser.shows("max-num-seqs from 64 to 2").await?;
    press(&browser, "Share").await?;
    browser.shows("no other configuration").await?;
    press(&browser, "Make a link").await?;
    let made = "return document.getElementById('share-link').value.includes('/compare?baseline=')";
    browser.until("a link to the comparison", made).await?;
    let link = "return document.getElementById('share-link').value";
    let link: String = browser.driver.execute(link, Vec::new()).await?.convert()?;
    browser.close().await?;
    // A frame of the comparison, and a link to all of its study.
    let frame = link.split("/compare").next().unwrap_or_default();
    let frame = frame.replace("/s/", "/embed/");
    let token = token(&studio, &study, "requests").await?;
    let whole = format!("{}/s/{token}", studio.url);
    for width in [1440, 390] {
        let stranger = Browser::open(width, 900).await?;
        for theme in ["light", "dark"] {
            for page in [&link, &whole] {
                let checked = check(&stranger, theme, page).await;
                checked.map_err(|why| why.context(format!("{page} {width} px {theme}")))?;
                stranger.shows("Turning max-num-seqs from ").await?;
                let alone = "return !document.querySelector('a[href=\"/engines\"]')";
                stranger
                    .until("no way to what is not shared", alone)
                    .await?;
            }
        }
        // What runs nothing never says that it is awake.
        stranger.driver.goto(&frame).await?;
        stranger.shows("Turning max-num-seqs from ").await?;
        stranger.shows("All of it in Goodput Studio").await?;
        stranger.goto(&link).await?;
        stranger.shows("max-num-seqs from 64 to 2").await?;
        stranger
            .shows("judged by e2e:p95<900ms attain>=90%")
            .await?;
        stranger.shows("At equal rate").await?;
        stranger
            .shows("every configuration of this comparison")
            .await?;
        stranger.goto(&whole).await?;
        press(
            &stranger,
            "At equal rate, at equal SLO, and the curves over each other",
        )
        .await?;
        stranger.shows("max-num-seqs from 2 to 64").await?;
        without_complaints(&stranger).await?;
        stranger.close().await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_curve_stands_in_pages_of_other_sites() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let studio = StudioProcess::start(data.path(), &[])?;
    let (study, _) = two(&studio).await?;
    let token = token(&studio, &study, "aggregates").await?;
    let frame = format!("{}/embed/{token}?y=tpot", studio.url);
    let own = format!("{}/s/{token}", studio.url);
    let page = format!(
        r#"<!DOCTYPE html><title>elsewhere</title><iframe id="curve" src="{frame}" width="760" height="520"></iframe><iframe id="whole" src="{own}"></iframe>"#
    );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let port = listener.local_addr()?.port();
    let site = Router::new().route("/", get(move || async move { Html(page) }));
    let serving = tokio::spawn(async move { axum::serve(listener, site).await });
    let browser = Browser::open(1440, 900).await?;
    // The same host on another port, and another host.
    for host in ["127.0.0.1", "localhost"] {
        let elsewhere = format!("http://{host}:{port}/");
        browser.driver.goto(&elsewhere).await?;
        browser.find("#curve").await?.enter_frame().await?;
        browser.shows("All of it in Goodput Studio").await?;
        let drawn = "return document.querySelectorAll('svg polyline').length === 2";
        browser.until("both curves", drawn).await?;
        browser.driver.enter_default_frame().await?;
        // What runs and can be pressed stays out of frames.
        browser.find("#whole").await?.enter_frame().await?;
        let text = browser.text().await.unwrap_or_default();
        anyhow::ensure!(!text.contains("What differs"), "{host}: {text}");
        browser.driver.enter_default_frame().await?;
    }
    serving.abort();
    browser.close().await
}
