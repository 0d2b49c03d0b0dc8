//! What goes wrong with a process: each a failed point with its reason; the study goes on or stops as chosen, and nothing
//! that was finished is lost.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use measure::study::{OnFailure, StudySpec};
use serde_json::Value;
use tests::process::StudioProcess;
use tests::samples::configuration;

use super::{SIMULATOR, of_points, starts, states, studio, study, toml};

/// Runs a study to its end and returns it.
async fn ended(studio: &StudioProcess, spec: &StudySpec) -> anyhow::Result<(String, Value)> {
    let id = studio.launch(spec).await?;
    let ended = studio
        .until(&id, |study| study["state"] == "failed")
        .await?;
    Ok((id, ended))
}

fn problems(study: &Value) -> Vec<&str> {
    of_points(study, "problem")
}

/// The first configuration runs; the second has a flag that the engine does not know.
fn half_wrong(on_failure: OnFailure) -> StudySpec {
    let mut spec = study();
    spec.configurations[1] =
        configuration("wrong", &[("max-num-seqs", "2"), ("no-such-flag", "4")]);
    spec.on_failure = on_failure;
    spec
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_flag_ends_a_study_with_the_reason() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let studio = studio(data.path(), &toml(SIMULATOR, "free_flags = true"))?;
    let (_, failed) = ended(&studio, &half_wrong(OnFailure::Stop)).await?;
    assert_eq!(
        states(&failed),
        ["finished", "planned", "failed", "planned"]
    );
    let problem = problems(&failed)[0];
    for part in [
        "The engine of \"wrong\" did not start",
        "does not know --no-such-flag",
        "exit status 2",
        "Its log ends",
    ] {
        assert!(problem.contains(part), "{part}: {problem}");
    }
    assert!(
        failed["problem"]
            .as_str()
            .is_some_and(|it| it.starts_with(problem) && it.contains("resume"))
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_flag_fails_its_configuration_and_the_study_goes_on() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let studio = studio(data.path(), &toml(SIMULATOR, "free_flags = true"))?;
    let (id, failed) = ended(&studio, &half_wrong(OnFailure::Continue)).await?;
    assert_eq!(
        states(&failed),
        ["finished", "finished", "failed", "failed"]
    );
    assert!(
        failed["problem"]
            .as_str()
            .is_some_and(|it| it.contains("2 of 4 points failed")),
        "{}",
        failed["problem"]
    );
    let starts = starts(&studio, &id).await?;
    let wrong: Vec<_> = starts
        .iter()
        .filter(|it| it["configuration"] == 1)
        .collect();
    assert_eq!(wrong.len(), 1, "what does not start is not started again");
    assert_eq!(wrong[0]["startup_ms"], Value::Null);
    assert!(
        super::log(&studio, wrong[0])
            .await?
            .contains("unexpected argument")
    );
    Ok(())
}

/// A study whose engine never starts: the reason of its first point.
async fn never_starts(toml: &str) -> anyhow::Result<(String, Duration)> {
    let data = tempfile::tempdir()?;
    let studio = studio(data.path(), toml)?;
    let mut spec = study();
    spec.configurations.truncate(1);
    let began = Instant::now();
    let (_, failed) = ended(&studio, &spec).await?;
    assert_eq!(states(&failed), ["failed", "planned"]);
    Ok((problems(&failed)[0].to_owned(), began.elapsed()))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_in_use_is_a_reason() -> anyhow::Result<()> {
    let holder = TcpListener::bind("127.0.0.1:0")?;
    let port = holder.local_addr()?.port();
    let (problem, _) = never_starts(&toml(SIMULATOR, &format!("port = {port}"))).await?;
    assert!(
        problem.contains(&format!("port {port} is in use")),
        "{problem}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_does_not_fit_is_a_reason() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let script = data.path().join("engine.sh");
    let said = "ValueError: No available memory for the cache blocks. Try increasing gpu_memory_utilization";
    std::fs::write(
        &script,
        format!("echo loading weights\necho '{said}' >&2\nexit 1\n"),
    )?;
    let command = format!("[\"sh\", {:?}]", script.display().to_string());
    let (problem, _) = never_starts(&toml(&command, "")).await?;
    assert!(
        problem.contains("KV cache does not fit") && problem.contains(said),
        "{problem}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hang_at_the_start_is_a_reason() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let script = data.path().join("engine.sh");
    std::fs::write(&script, "echo waiting for a lock\nexec sleep 600\n")?;
    let command = format!("[\"sh\", {:?}]", script.display().to_string());
    let (problem, took) = never_starts(&toml(&command, "start_timeout_s = 1")).await?;
    assert!(
        problem.contains("did not answer at /health within 1 s")
            && problem.contains("waiting for a lock"),
        "{problem}"
    );
    assert!(took < Duration::from_secs(30), "{took:?}");
    Ok(())
}

/// The engine's own process: the one that listens, found by the port on its command line.
fn engine_pid(start: &Value) -> Option<u32> {
    let command: Vec<&str> = start["command"]
        .as_array()?
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let wanted = command.join("\0");
    let all = std::fs::read_dir("/proc").ok()?.flatten();
    let mut pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.find(|pid| {
        let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.trim_end_matches('\0') == wanted
    })
}

/// Kills the engine that runs now, while a point is under load.
async fn kill_under_load(studio: &StudioProcess, id: &str) -> anyhow::Result<()> {
    studio
        .until(id, |study| states(study).contains(&"running"))
        .await?;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let starts = starts(studio, id).await?;
    let running = starts.iter().find(|it| it["ended_ms"].is_null());
    let pid = running.and_then(engine_pid).expect("the engine runs");
    std::process::Command::new("kill")
        .args(["-KILL", &pid.to_string()])
        .status()?;
    Ok(())
}

/// Points that take seconds.
fn slow(on_failure: OnFailure) -> StudySpec {
    let mut spec = study();
    spec.configurations.truncate(1);
    spec.levels = ["5", "8"]
        .map(|level| level.parse().expect("a level"))
        .to_vec();
    (
        spec.length.min_requests,
        spec.length.max_requests,
        spec.length.seconds,
    ) = (20, 20, 3);
    spec.on_failure = on_failure;
    spec
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_killed_in_mid_point_fails_the_point_and_is_started_anew() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let studio = studio(data.path(), &toml(SIMULATOR, ""))?;
    let id = studio.launch(&slow(OnFailure::Continue)).await?;
    kill_under_load(&studio, &id).await?;
    let failed = studio
        .until(&id, |study| study["state"] == "failed")
        .await?;
    assert_eq!(states(&failed), ["failed", "finished"]);
    let problem = problems(&failed)[0];
    assert!(
        problem.contains("ended while it was measured (killed by signal 9)"),
        "{problem}"
    );
    assert_eq!(starts(&studio, &id).await?.len(), 2);
    // What failed is measured when the study goes on, and what was finished stays.
    let finished = failed["points"][1].clone();
    studio.ask(&id, "resume").await?;
    let done = studio.finished(&id).await?;
    assert_eq!(states(&done), ["finished", "finished"]);
    assert_eq!(done["points"][1], finished);
    assert!(problems(&done).is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_killed_in_mid_point_ends_the_study_where_that_was_chosen() -> anyhow::Result<()>
{
    let data = tempfile::tempdir()?;
    let studio = studio(data.path(), &toml(SIMULATOR, ""))?;
    let id = studio.launch(&slow(OnFailure::Stop)).await?;
    kill_under_load(&studio, &id).await?;
    let failed = studio
        .until(&id, |study| study["state"] == "failed")
        .await?;
    assert_eq!(states(&failed), ["failed", "planned"]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_study_says_nothing_but_values() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let studio = studio(data.path(), &toml(SIMULATOR, ""))?;
    for (knobs, field, part) in [
        (
            &[("max-num-seqs", "0")][..],
            "configurations[0].knobs.max-num-seqs",
            "from 1 to 4096",
        ),
        (
            &[("no-such-flag", "4")],
            "configurations[0].knobs.no-such-flag",
            "unknown to the catalogue",
        ),
        (
            &[("port", "1")],
            "configurations[0].knobs.port",
            "launch template",
        ),
    ] {
        let mut spec = study();
        spec.configurations = vec![configuration("one", knobs)];
        let refused = studio.launch(&spec).await.expect_err("refused").to_string();
        assert!(
            refused.contains(field) && refused.contains(part),
            "{refused}"
        );
    }
    let mut spec = study();
    spec.engine = measure::study::EngineSpec::Managed {
        name: "other".into(),
    };
    let refused = studio.launch(&spec).await.expect_err("refused").to_string();
    assert!(
        refused.contains("engine.name") && refused.contains("studio.toml has sim"),
        "{refused}"
    );
    Ok(())
}
