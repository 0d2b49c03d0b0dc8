//! Studies whose requests come from files: prompts as they stand, traces at the speed of their own arrivals.

use anyhow::Context;
use app::studio::Studio;
use measure::curve::Ceiling;
use measure::study::{EngineSpec, StudySpec};
use measure::summary::Capacity;
use measure::workload::{DataKind, Lengths, Trace, TraceFormat, Workload};
use server::studio::LocalStudio;
use tests::counting::{Counts, Engine, tokens};
use tests::databases::{Place, on_each_database};
use tests::samples::small_study;
use uuid::Uuid;

use super::{ME, finished, invalid_fields};

fn put(place: &Place, file: &str, text: &str) -> anyhow::Result<()> {
    Ok(std::fs::write(
        place.data_dir.join("datasets").join(file),
        text,
    )?)
}

async fn on_engine(studio: &LocalStudio, engine: &Engine) -> anyhow::Result<StudySpec> {
    let endpoint = engine.endpoint.clone();
    studio
        .save_engine(&ME, "engine".into(), endpoint.clone())
        .await?;
    Ok(StudySpec {
        engine: EngineSpec::Endpoint(endpoint),
        warmup: 0,
        ..small_study()
    })
}

/// Scheduled moments in milliseconds, and input tokens as planned, of a point.
async fn sent(studio: &LocalStudio, point: Uuid) -> anyhow::Result<Vec<(u64, u32)>> {
    let records = studio.records_parquet(point).await?;
    let records = server::records::from_parquet(records.into())?;
    let told = records.iter();
    let told = told.map(|it| (it.scheduled.0 / 1_000_000, it.input_tokens_planned));
    Ok(told.collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sweep_over_a_trace_is_one_over_speeds() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let engine = Engine::start(Counts::Letters(3)).await?;
        let rows: String = (0..30)
            .map(|index| format!("{},m,{},7\n", index as f64 * 0.1, 20 + index))
            .collect();
        let head = "Timestamp,Model,Request tokens,Response tokens\n";
        put(place, "burst.csv", &format!("{head}{rows}"))?;
        let files = studio.datasets(&ME).await?;
        assert_eq!(
            (files[0].kind, files[0].rows),
            (Some(DataKind::BurstGpt), Some(30))
        );
        let mut spec = on_engine(&studio, &engine).await?;
        spec.workload = Workload::Trace(Trace {
            file: "burst.csv".into(),
            format: TraceFormat::BurstGpt,
            start_ms: 1000,
            length_ms: Some(1500),
            max_context: None,
        });
        spec.levels = ["x2", "x4"].map(|it| it.parse().expect("a speed")).into();
        (spec.length.max_requests, spec.length.seconds) = (100, 60);
        let view = finished(&studio, spec.clone()).await?;
        for (point, speed) in view.points.iter().zip([2, 4]) {
            let expected: Vec<(u64, u32)> = (0..15)
                .map(|index| (index * 100 / speed, 30 + index as u32))
                .collect();
            assert_eq!(sent(&studio, point.id).await?, expected, "{}", point.level);
            let summary = point.summary.as_ref().context("a summary")?;
            assert_eq!(summary.capacity, Capacity::Unknown);
            let notes = point.notes.join(" ");
            assert!(notes.contains("15 rows used, of 15 usable"), "{notes}");
        }
        let kept = view.configurations[0].ceiling.context("judged")?;
        assert!(!matches!(kept, Ceiling::Ramped), "{kept:?}");
        spec.workload = small_study().workload;
        assert_eq!(
            invalid_fields(studio.launch(&ME, spec).await),
            ["levels[0]", "levels[1]"]
        );
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prompts_of_a_file_are_sent_as_they_stand_and_counted() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let engine = Engine::start(Counts::Letters(3)).await?;
        let lines: String = (0..40)
            .map(|index| {
                format!(
                    "{{\"prompt\": \"{} of birds\"}}\n",
                    "tell ".repeat(index + 1)
                )
            })
            .collect();
        put(place, "birds", &lines)?;
        let mut spec = on_engine(&studio, &engine).await?;
        let prompts = |output| Workload::PromptFile {
            file: "birds".into(),
            output,
            repeats: false,
        };
        spec.workload = prompts(None);
        assert_eq!(
            invalid_fields(studio.launch(&ME, spec.clone()).await),
            ["workload"]
        );
        spec.workload = prompts(Some(Lengths::Fixed { tokens: 9 }));
        let view = finished(&studio, spec).await?;
        let mut counted: Vec<usize> = engine
            .prompts(9)
            .iter()
            .map(|prompt| {
                assert!(prompt.ends_with("tell  of birds"), "{prompt}");
                tokens(prompt, 3)
            })
            .collect();
        let mut planned = Vec::new();
        for point in &view.points {
            planned.extend(
                sent(&studio, point.id)
                    .await?
                    .iter()
                    .map(|it| it.1 as usize),
            );
            let notes = point.notes.join(" ");
            assert!(notes.contains("10 rows used, of 40 usable"), "{notes}");
        }
        counted.sort_unstable();
        planned.sort_unstable();
        assert_eq!(counted, planned);
        Ok(())
    })
    .await;
}
