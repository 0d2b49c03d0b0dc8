//! A server killed in the middle of a study (SIGKILL, no goodbye) loses nothing that was finished.

use serde_json::Value;
use tests::process::StudioProcess;
use tests::samples::small_study;

/// The finished points of a study, with all their numbers.
fn finished(study: &Value) -> Vec<Value> {
    let points = study["points"].as_array().cloned().unwrap_or_default();
    points
        .into_iter()
        .filter(|point| point["state"] == "finished")
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_keeps_finished_points_and_resumes_the_rest() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let mut spec = small_study();
    spec.levels = ["20", "10", "5"]
        .map(|level| level.parse().expect("a level"))
        .to_vec();
    let studio = StudioProcess::start(data.path(), &[])?;
    let id = studio.launch(&spec).await?;
    let before = finished(
        &studio
            .until(&id, |study| !finished(study).is_empty())
            .await?,
    );
    studio.kill()?;

    let studio = StudioProcess::start(data.path(), &[])?;
    let after = studio.study(&id).await?;
    assert_eq!(after["state"], "interrupted");
    assert_eq!(finished(&after)[..before.len()], before[..]);
    studio.ask(&id, "resume").await?;
    let done = studio.finished(&id).await?;
    assert_eq!(finished(&done).len(), 3);
    assert_eq!(finished(&done)[..before.len()], before[..]);
    Ok(())
}
