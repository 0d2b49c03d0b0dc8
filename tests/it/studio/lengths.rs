//! Prompts of studies have the tokens meant, counted once for all configurations, whatever engine is there later.

use std::path::Path;

use anyhow::Context;
use app::studio::{PointState, Studio, StudyState, StudyView};
use load::tokens::Counter;
use measure::study::{ConfigurationSpec, EngineSpec, StudySpec, Turn};
use measure::workload::{Lengths, Workload};
use server::studio::LocalStudio;
use tests::counting::{Counts, Engine, TEMPLATE, tokens};
use tests::databases::{Place, on_each_database, on_sqlite};
use tests::samples::{configuration, small_study};

use super::run::states;
use super::{ME, finished, invalid_fields, until, until_state};

/// Output tokens by which prompts that are measured are known from others.
const OUTPUT: u32 = 9;

/// Each engine a configuration; prompts of 60 tokens.
fn study(engines: &[&Engine]) -> StudySpec {
    let configurations = engines.iter().enumerate().map(|(index, engine)| {
        let turn = match index {
            0 => Turn::AsIs,
            _ => Turn::OtherEndpoint(engine.endpoint.clone()),
        };
        ConfigurationSpec {
            turn,
            ..configuration(&format!("engine {index}"), &[])
        }
    });
    StudySpec {
        engine: EngineSpec::Endpoint(engines[0].endpoint.clone()),
        workload: Workload::Synthetic {
            input: Lengths::Fixed { tokens: 60 },
            output: Lengths::Fixed { tokens: OUTPUT },
        },
        configurations: configurations.collect(),
        warmup: 0,
        ..small_study()
    }
}

async fn add(studio: &impl Studio, engines: &[&Engine]) -> anyhow::Result<()> {
    for (index, engine) in engines.iter().enumerate() {
        studio
            .save_engine(&ME, format!("engine {index}"), engine.endpoint.clone())
            .await?;
    }
    Ok(())
}

fn fact<'a>(view: &'a StudyView, configuration: usize, name: &str) -> Option<&'a str> {
    let facts = &view.configurations[configuration].facts;
    facts.get(name).map(|fact| fact.value.as_str())
}

async fn planned(studio: &LocalStudio, view: &StudyView) -> anyhow::Result<Vec<u32>> {
    let mut planned = Vec::new();
    for point in &view.points {
        let records = studio.records_parquet(point.id).await?;
        let records = server::records::from_parquet(records.into())?;
        planned.extend(records.iter().map(|record| record.input_tokens_planned));
    }
    Ok(planned)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_first_engine_counted_holds_for_all() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let first = Engine::start(Counts::Letters(3)).await?;
        let other = Engine::start(Counts::Letters(5)).await?;
        let quiet = Engine::start(Counts::Quietly(4)).await?;
        let engines = [&first, &other, &quiet];
        add(&*studio, &engines).await?;
        let view = finished(&studio, study(&engines)).await?;
        let prompts = first.prompts(OUTPUT.into());
        assert_eq!(prompts.len(), 20);
        assert!(prompts.iter().all(|it| tokens(it, 3) == 60), "{prompts:?}");
        for later in [&other, &quiet] {
            assert_eq!(later.prompts(OUTPUT.into()), prompts);
        }
        assert_eq!(planned(&studio, &view).await?, [60; 60]);
        for index in 0..3 {
            let (source, template) = ("input lengths", "seen:template tokens");
            assert_eq!(
                fact(&view, index, source),
                Some("counted by the engine's /tokenize")
            );
            // An engine that only tells its usage has its template's share estimated by words.
            let expected = TEMPLATE.to_string();
            let told = fact(&view, index, template);
            assert!(index == 2 || told == Some(&*expected), "{told:?}");
        }
        for point in view.points.iter().filter(|it| it.configuration == 0) {
            let notes = point.notes.join(" ");
            let counted = 10 * (60 + TEMPLATE);
            let compared = format!(
                "600 input tokens were meant, the engine counted {counted}, its template included."
            );
            for part in ["counted by the engine's /tokenize", &compared] {
                assert!(notes.contains(part), "{part}: {notes}");
            }
        }
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_study_that_goes_on_sends_what_it_would_have_sent() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let first = Engine::start(Counts::Letters(3)).await?;
        let quiet = Engine::start(Counts::Quietly(4)).await?;
        let mut spec = study(&[&first, &quiet]);
        add(&*studio, &[&first, &quiet]).await?;
        spec.levels = ["40", "5"].map(|it| it.parse().expect("a level")).to_vec();
        studio.start_supervisor().await?;
        let id = studio.launch(&ME, spec).await?;
        let third_runs = |view: &StudyView| states(view)[2] != PointState::Planned;
        until(&studio, id, third_runs).await?;
        studio.shutdown().await;
        drop(studio);
        let before = quiet.prompts(OUTPUT.into());
        let studio = place.studio().await?;
        studio.start_supervisor().await?;
        if studio.study(&ME, id).await?.state != StudyState::Queued {
            studio.resume(&ME, id).await?;
        }
        let view = until_state(&studio, id, StudyState::Finished).await?;
        let mut after = quiet.prompts(OUTPUT.into());
        for sent in before {
            let place = after
                .binary_search(&sent)
                .ok()
                .context("sent again, the same")?;
            after.remove(place);
        }
        after.dedup();
        assert_eq!(first.prompts(OUTPUT.into()), after);
        assert_eq!(
            fact(&view, 1, "input lengths"),
            fact(&view, 0, "input lengths")
        );
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_that_only_tells_its_usage_calibrates_an_estimate() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let quiet = Engine::start(Counts::Quietly(4)).await?;
        let quieter = Engine::start(Counts::Quietly(2)).await?;
        let engines = [&quiet, &quieter];
        add(&*studio, &engines).await?;
        let view = finished(&studio, study(&engines)).await?;
        let prompts = quiet.prompts(OUTPUT.into());
        assert_eq!(quieter.prompts(OUTPUT.into()), prompts);
        let all: usize = prompts.iter().map(|it| tokens(it, 4)).sum();
        let mean = all as f64 / prompts.len() as f64;
        assert!((54.0..66.0).contains(&mean), "{mean}");
        let words = "estimated from words, calibrated by the engine's usage";
        assert_eq!(fact(&view, 1, "input lengths"), Some(words));
        Ok(())
    })
    .await;
}

fn put_tokenizer(place: &Place, change: impl Fn(String) -> String) -> anyhow::Result<()> {
    let at = Path::new(env!("CARGO_MANIFEST_DIR")).join("../load/src/tokens/tests/tokenizer.json");
    let text = change(std::fs::read_to_string(at)?);
    Ok(std::fs::write(
        place.data_dir.join("datasets/mine.json"),
        text,
    )?)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tokenizer_of_the_studios_own_counts_before_the_engine_does() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let engine = Engine::start(Counts::Letters(3)).await?;
        add(&*studio, &[&engine]).await?;
        let spec = StudySpec {
            tokenizer: Some("mine.json".into()),
            ..study(&[&engine])
        };
        let refused = studio.launch(&ME, spec.clone()).await;
        assert_eq!(invalid_fields(refused), ["tokenizer"]);
        put_tokenizer(place, |_| "{}".into())?;
        let refused = studio.launch(&ME, spec.clone()).await;
        assert_eq!(invalid_fields(refused), ["tokenizer"]);
        put_tokenizer(place, |text| text)?;
        let view = finished(&studio, spec).await?;
        let counter = Counter::local(&place.data_dir.join("datasets/mine.json"))?;
        let counts = counter.count(&engine.prompts(OUTPUT.into()))?;
        assert_eq!(counts, [60; 20]);
        let words = fact(&view, 0, "input lengths");
        assert_eq!(words, Some("counted by the tokenizer given"));
        let digest = fact(&view, 0, "tokenizer").context("told")?;
        assert!(digest.starts_with("SHA-256 "), "{digest}");
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_tokenizer_of_the_same_name_ends_the_study() {
    on_sqlite(&async |place: &Place| {
        let studio = place.studio().await?;
        let engine = Engine::start(Counts::Letters(3)).await?;
        add(&*studio, &[&engine]).await?;
        put_tokenizer(place, |text| text)?;
        let spec = StudySpec {
            tokenizer: Some("mine.json".into()),
            ..study(&[&engine])
        };
        let id = studio.launch(&ME, spec).await?;
        put_tokenizer(place, |text| text + " ")?;
        studio.start_supervisor().await?;
        let failed = until(&studio, id, |_| false).await.err().context("fails")?;
        let failed = failed.to_string();
        assert!(failed.contains("another than at the launch"), "{failed}");
        put_tokenizer(place, |text| text)?;
        studio.resume(&ME, id).await?;
        until_state(&studio, id, StudyState::Finished).await?;
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_due_in_the_ramp_in_is_recorded_but_not_counted() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let spec = StudySpec {
            ramp_in_ms: 200,
            levels: ["20", "inf"]
                .map(|it| it.parse().expect("a level"))
                .to_vec(),
            ..small_study()
        };
        let view = finished(&studio, spec).await?;
        for (point, all_counted) in view.points.iter().zip([false, true]) {
            let summary = point.summary.as_ref().context("a summary")?;
            let records = studio.records_parquet(point.id).await?;
            let records = server::records::from_parquet(records.into())?;
            let scores = measure::score::decode(&studio.scores(point.id).await?)?;
            assert_eq!(records.len(), 10);
            assert_eq!(scores.len(), summary.scheduled as usize);
            let counted = records.iter().filter(|it| 200_000_000 <= it.scheduled.0);
            let expected = if all_counted { 10 } else { counted.count() };
            assert_eq!(scores.len(), expected, "{}", point.level);
            let said = point.notes.iter().any(|it| it.contains("Figures are of"));
            assert_eq!(said, !all_counted);
        }
        let mut short = small_study();
        (short.ramp_in_ms, short.levels) = (400, vec!["40".parse()?]);
        assert_eq!(
            invalid_fields(studio.launch(&ME, short).await),
            ["ramp_in_ms"]
        );
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_that_counts_other_prompts_than_were_sent_is_told_of() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let cuts = Engine::start(Counts::Quietly(1000)).await?;
        add(&*studio, &[&cuts]).await?;
        let view = finished(&studio, study(&[&cuts])).await?;
        // Counts that hardly grow with the words calibrate nothing.
        assert_eq!(
            fact(&view, 0, "input lengths"),
            Some("estimated from words")
        );
        for point in &view.points {
            let summary = point.summary.as_ref().context("a summary")?;
            let remarks = summary.remarks.join(" ");
            assert!(
                remarks.contains("prompts arrived as 12 tokens where 60"),
                "{remarks}"
            );
        }
        Ok(())
    })
    .await;
}
