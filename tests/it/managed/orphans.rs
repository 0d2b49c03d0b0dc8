//! Who dies first: no engine outlives its studio, however that ends; and who may have engines started at all.

use std::time::{Duration, Instant};

use tests::process::StudioProcess;

use super::{SIMULATOR, starts, states, study, toml};

/// Processes whose command line holds a text.
fn running(text: &str) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let with = |pid: &u32| {
        let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.replace('\0', " ").contains(text)
    };
    pids.filter(with).collect()
}

fn until_gone(text: &str) -> bool {
    let until = Instant::now() + Duration::from_secs(15);
    while !running(text).is_empty() {
        if until < Instant::now() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    true
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_does_not_outlive_a_studio_that_is_killed() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let port = load::launch::free_port()?;
    let studio = super::studio(data.path(), &toml(SIMULATOR, &format!("port = {port}")))?;
    let mut spec = study();
    (
        spec.length.min_requests,
        spec.length.max_requests,
        spec.length.seconds,
    ) = (200, 200, 30);
    spec.levels = vec!["5".parse()?];
    let id = studio.launch(&spec).await?;
    studio
        .until(&id, |study| states(study).contains(&"running"))
        .await?;
    let text = format!("sim --preset tiny --port {port}");
    assert_eq!(running(&text).len(), 2, "the guard and the engine");
    // SIGKILL: no goodbye.
    studio.kill()?;
    assert!(until_gone(&text), "{:?}", running(&text));
    // And the port is free for the next studio.
    let studio = StudioProcess::start(data.path(), &[])?;
    let before = studio.study(&id).await?;
    assert_eq!(before["state"], "interrupted");
    assert_eq!(starts(&studio, &id).await?.len(), 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_has_only_a_token_starts_no_engine() -> anyhow::Result<()> {
    for (line, allowed) in [("", false), ("token_may_start_engines = true\n", true)] {
        let data = tempfile::tempdir()?;
        std::fs::write(
            data.path().join("studio.toml"),
            format!("{line}{}", toml(SIMULATOR, "")),
        )?;
        let token = data.path().join("token");
        std::fs::write(&token, "a-token-of-the-administrator")?;
        let token = token.display().to_string();
        let studio = StudioProcess::start(data.path(), &["--token-file", &token])?;
        let answer = reqwest::Client::new()
            .post(format!("{}/api/v1/studies", studio.url))
            .bearer_auth("a-token-of-the-administrator")
            .json(&study())
            .send()
            .await?;
        let (status, said) = (answer.status(), answer.text().await?);
        assert_eq!(status.is_success(), allowed, "{said}");
        assert!(
            allowed || said.contains("token_may_start_engines"),
            "{said}"
        );
        let page = reqwest::Client::new()
            .get(format!("{}/engines", studio.url))
            .bearer_auth("a-token-of-the-administrator")
            .send()
            .await?;
        let page = page.error_for_status()?.text().await?;
        assert_eq!(page.contains("You may not have engines started"), !allowed);
    }
    Ok(())
}
