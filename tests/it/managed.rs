//! Studies on engines that the studio starts itself: with their knobs, in turns, and through everything that goes wrong with
//! a process. The engine is a real one: a process, a port, a log.

mod fails; // what goes wrong
mod orphans; // who dies first

use std::path::Path;

use measure::study::{EngineSpec, StudySpec};
use serde_json::Value;
use tests::process::{StudioProcess, goodput};
use tests::samples::{configuration, small_study};

/// `studio.toml` with one engine, and more lines for its launch.
fn toml(command: &str, more: &str) -> String {
    format!(
        "[[engine]]\nname = \"sim\"\nmodel = \"simulated-tiny\"\nhardware = \"this machine\"\n\n[engine.launch]\nengine = \"simulator\"\ncommand = {command}\nstop_timeout_s = 2\n{more}\n"
    )
}

/// The simulator as a program of its own.
const SIMULATOR: &str = r#"["{goodput}", "sim", "--preset", "tiny", "--port", "{port}"]"#;

fn studio(data: &Path, toml: &str) -> anyhow::Result<StudioProcess> {
    std::fs::write(data.join("studio.toml"), toml)?;
    StudioProcess::start(data, &[])
}

/// Two configurations that differ in one knob.
fn study() -> StudySpec {
    let mut spec = small_study();
    spec.engine = EngineSpec::Managed { name: "sim".into() };
    spec.configurations = vec![
        configuration("few", &[("max-num-seqs", "2")]),
        configuration("many", &[("max-num-seqs", "64")]),
    ];
    spec
}

async fn get(studio: &StudioProcess, path: &str) -> anyhow::Result<Value> {
    let answer = reqwest::get(format!("{}{path}", studio.url)).await?;
    Ok(answer.error_for_status()?.json().await?)
}

async fn starts(studio: &StudioProcess, id: &str) -> anyhow::Result<Vec<Value>> {
    let starts = get(studio, &format!("/api/v1/studies/{id}/starts")).await?;
    Ok(starts.as_array().cloned().unwrap_or_default())
}

async fn log(studio: &StudioProcess, start: &Value) -> anyhow::Result<String> {
    let id = start["id"].as_str().unwrap_or_default();
    let answer = reqwest::get(format!("{}/api/v1/starts/{id}/log", studio.url)).await?;
    Ok(answer.error_for_status()?.text().await?)
}

/// A text of each point of a study that has it: `state`, `problem`.
fn of_points<'a>(study: &'a Value, field: &str) -> Vec<&'a str> {
    let points = study["points"].as_array().into_iter().flatten();
    points.filter_map(|point| point[field].as_str()).collect()
}

/// The states of a study's points.
fn states(study: &Value) -> Vec<&str> {
    of_points(study, "state")
}

/// A knob that the studio turned is the one difference.
async fn one_variable(studio: &StudioProcess, done: &Value) -> anyhow::Result<()> {
    let compared: Vec<&str> = done["configurations"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|it| it["id"].as_str())
        .collect();
    let compared = get(
        studio,
        &format!("/api/v1/compare?c={}", compared.join("&c=")),
    )
    .await?;
    assert_eq!(
        compared["pairs"][0]["comparability"]["kind"], "one_variable",
        "{compared:#}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn each_configuration_gets_its_engine_with_its_knobs() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let studio = studio(data.path(), &toml(SIMULATOR, ""))?;
    let id = studio.launch(&study()).await?;
    let done = studio.finished(&id).await?;
    assert_eq!(states(&done), ["finished"; 4]);
    for (index, seqs) in [(0, "2"), (1, "64")] {
        let facts = &done["configurations"][index]["facts"];
        assert_eq!(facts["knob:max-num-seqs"]["value"], seqs);
        assert_eq!(facts["dialect"]["value"], "openai.chat");
        let launch = &done["configurations"][0]["facts"]["launch"];
        assert!(
            facts["launch"] == *launch && launch["source"] == "engine",
            "{facts}"
        );
        assert_eq!(
            facts["hardware"],
            serde_json::json!({"value": "none: simulated", "source": "engine"})
        );
        assert!(
            facts["seen:start-up"]["value"]
                .as_str()
                .is_some_and(|it| it.ends_with(" s")),
            "{facts}"
        );
        assert_eq!(
            facts["seen:cache reset"]["value"],
            "by the engine, before each point"
        );
    }
    // It starts at once, so that points take turns: A, B B, A.
    let starts = starts(&studio, &id).await?;
    let turns: Vec<_> = starts
        .iter()
        .map(|it| it["configuration"].as_i64())
        .collect();
    assert_eq!(turns, [Some(0), Some(1), Some(0)]);
    for start in &starts {
        assert!(
            start["startup_ms"].as_i64().is_some_and(|it| 0 < it) && start["ended_ms"].is_i64(),
            "{start}"
        );
        assert!(
            start["ending"]
                .as_str()
                .is_some_and(|it| it.contains("stopped within")),
            "{start}"
        );
        assert!(
            start["command"]
                .as_array()
                .is_some_and(|it| it.contains(&"--knob".into())),
            "{start}"
        );
        assert!(log(&studio, start).await?.contains("Simulated engine tiny"));
    }
    let rows = get(&studio, "/api/v1/studies").await?;
    assert_eq!(
        rows[0]["simulated"], true,
        "a simulator is one also where it is started as an engine"
    );
    one_variable(&studio, &done).await
}

#[tokio::test(flavor = "multi_thread")]
async fn engines_and_their_knobs_are_listed() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    let studio = studio(data.path(), &toml(SIMULATOR, ""))?;
    let engines = get(&studio, "/api/v1/engines").await?;
    assert_eq!(
        (&engines[0]["name"], &engines[0]["managed"]),
        (&"sim".into(), &"simulator".into())
    );
    let vllm = get(&studio, "/api/v1/catalogue/vllm").await?;
    let knobs = vllm["knobs"].as_array().cloned().unwrap_or_default();
    let seqs = knobs
        .iter()
        .find(|it| it["name"] == "max-num-seqs")
        .cloned()
        .unwrap_or_default();
    assert_eq!(
        (&seqs["kind"], &seqs["min"]),
        (&"whole".into(), &1.0.into())
    );
    assert!(get(&studio, "/api/v1/catalogue/none").await.is_err());
    let id = engines[0]["id"].as_str().unwrap_or_default();
    let client = reqwest::Client::new();
    let url = format!("{}/api/v1/engines/{id}", studio.url);
    let json = http::header::CONTENT_TYPE;
    let kept = client
        .delete(url)
        .header(json, "application/json")
        .send()
        .await?;
    assert_eq!(kept.status(), 409);
    Ok(())
}

#[test]
fn a_mistake_in_the_file_ends_the_start_with_its_line() -> anyhow::Result<()> {
    let data = tempfile::tempdir()?;
    std::fs::write(
        data.path().join("studio.toml"),
        toml(SIMULATOR, "helth = \"/health\""),
    )?;
    let ended = std::process::Command::new(goodput())
        .args(["serve", "--bind", "127.0.0.1:0", "--data-dir"])
        .arg(data.path())
        .output()?;
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(
        !ended.status.success() && said.contains("studio.toml, line 10: unknown field `helth`"),
        "{said}"
    );
    Ok(())
}

/// The real engine of `cargo xtask engine llama.cpp`, where it is installed.
mod llama {
    use std::path::PathBuf;
    use std::process::Command;

    use measure::knobs::KnobValue;
    use measure::study::{OnFailure, StudySpec};
    use measure::workload::{Lengths, Workload};
    use tests::process::workspace;

    use super::*;

    fn installed() -> Option<PathBuf> {
        let folder = workspace()
            .join("target/engines/llama.cpp")
            .canonicalize()
            .ok()?;
        let server = folder.join("bin/llama-server");
        if !server.exists() {
            eprintln!("llama.cpp is not installed: cargo xtask engine llama.cpp");
        }
        server.exists().then_some(folder)
    }

    fn llama_toml(folder: &Path) -> String {
        let folder = folder.display();
        format!(
            "[[engine]]\nname = \"llama\"\ndialect = \"openai.completions\"\nmodel = \"gemma-3-270m\"\n\n[engine.launch]\nengine = \"llamacpp\"\n\
             command = [\"{folder}/bin/llama-server\", \"-m\", \"{folder}/gemma-3-270m-q4_k_m.gguf\", \"--alias\", \"{{model}}\", \"--host\", \"127.0.0.1\", \"--port\", \"{{port}}\", \"--metrics\"]\n\
             base_knobs = {{ ctx-size = 4096 }}\nstart_timeout_s = 120\n"
        )
    }

    fn llama_study(knobs: [&[(&str, &str)]; 2]) -> StudySpec {
        let mut spec = small_study();
        spec.engine = EngineSpec::Managed {
            name: "llama".into(),
        };
        spec.configurations = vec![
            configuration("one", knobs[0]),
            configuration("two", knobs[1]),
        ];
        spec.workload = Workload::Synthetic {
            input: Lengths::Fixed { tokens: 32 },
            output: Lengths::Fixed { tokens: 16 },
        };
        spec.levels = vec!["c=4".parse().expect("a level")];
        (spec.length.min_requests, spec.length.max_requests) = (12, 12);
        spec.on_failure = OnFailure::Stop;
        (spec.idle_timeout_ms, spec.drain_ms) = (60_000, 60_000);
        spec
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn llama_cpp_is_started_with_one_slot_and_with_four() -> anyhow::Result<()> {
        let Some(folder) = installed() else {
            return Ok(());
        };
        let data = tempfile::tempdir()?;
        let studio = studio(data.path(), &llama_toml(&folder))?;
        let id = studio
            .launch(&llama_study([&[("parallel", "1")], &[("parallel", "4")]]))
            .await?;
        let done = studio.finished(&id).await?;
        assert_eq!(states(&done), ["finished"; 2]);
        for (index, slots) in [(0, "1"), (1, "4")] {
            let facts = &done["configurations"][index]["facts"];
            assert_eq!(facts["engine"]["value"], "llama.cpp");
            assert_eq!(
                (
                    &facts["knob:parallel"]["value"],
                    &facts["knob:parallel"]["source"]
                ),
                (&slots.into(), &"engine".into())
            );
        }
        let starts = starts(&studio, &id).await?;
        assert!(
            log(&studio, &starts[0]).await?.contains("gemma-3-270m"),
            "its log is kept"
        );
        Ok(())
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_model_that_is_not_there_is_a_reason() -> anyhow::Result<()> {
        let Some(folder) = installed() else {
            return Ok(());
        };
        let data = tempfile::tempdir()?;
        let studio = studio(
            data.path(),
            &llama_toml(&folder).replace("q4_k_m.gguf", "gone.gguf"),
        )?;
        let mut spec = llama_study([&[], &[]]);
        spec.configurations.truncate(1);
        let id = studio.launch(&spec).await?;
        let failed = studio
            .until(&id, |study| study["state"] == "failed")
            .await?;
        let problem = failed["problem"].as_str().unwrap_or_default();
        assert!(problem.contains("cannot load the model"), "{problem}");
        Ok(())
    }

    #[test]
    fn every_knob_of_the_catalogue_is_one_of_its_own() {
        let Some(folder) = installed() else { return };
        let help = Command::new(folder.join("bin/llama-server-vulkan"))
            .arg("--help")
            .output()
            .expect("help");
        let help = String::from_utf8_lossy(&help.stdout).into_owned();
        let catalogue = load::catalogue::catalogue("llamacpp").expect("there");
        let words: Vec<&str> = help
            .split(|it: char| it.is_whitespace() || it == ',')
            .collect();
        for knob in &catalogue.knobs {
            let value = if knob.kind == load::catalogue::Kind::Switch {
                "off"
            } else {
                knob.default.as_deref().unwrap_or("1")
            };
            let Ok(flags) =
                catalogue.render(&[(knob.name.clone(), KnobValue::from(value))].into(), false)
            else {
                continue;
            };
            for flag in flags.args.iter().filter(|it| it.starts_with("--")) {
                assert!(words.contains(&flag.as_str()), "{flag}");
            }
        }
    }
}
