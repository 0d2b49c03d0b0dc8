//! Studies from the queue to their end, and what interrupts them.

use std::time::Duration;

use anyhow::Context;
use app::studio::{LiveEvent, PointState, Studio, StudioError, StudyState, StudyView};
use futures_util::StreamExt;
use measure::curve::Ceiling;
use measure::knobs::Source;
use measure::study::{Api, Endpoint, EngineSpec, StudySpec, Turn};
use measure::summary::Capacity;
use server::studio::LocalStudio;
use tests::databases::{Place, on_each_database, on_sqlite};
use tests::samples::{configuration, small_study};

use super::{ME, finished, until, until_state};

pub fn endpoint(url: &str) -> Endpoint {
    Endpoint::new(url, Api::OpenAiChat, "sim-tiny")
}

/// A simulator that stands for a real engine at a URL.
fn engine() -> anyhow::Result<(sim::Running, Endpoint)> {
    let running = sim::start(sim::Config::preset("tiny", &Default::default())?)?;
    let endpoint = Endpoint {
        model: running.model.clone(),
        ..endpoint(&running.url)
    };
    Ok((running, endpoint))
}

/// Points long enough to be caught in the middle.
pub fn slow_study() -> StudySpec {
    let mut spec = small_study();
    spec.levels = ["5", "6"]
        .map(|level| level.parse().expect("a level"))
        .to_vec();
    spec
}

pub fn states(view: &StudyView) -> Vec<PointState> {
    view.points.iter().map(|point| point.state).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_small_study_runs_to_its_end() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let mut spec = small_study();
        spec.configurations = vec![
            configuration("off", &[]),
            configuration("on", &[("enable-prefix-caching", "on")]),
        ];
        let view = finished(&studio, spec.clone()).await?;
        assert_eq!(states(&view), [PointState::Finished; 4]);
        for point in &view.points {
            let summary = point.summary.as_ref().context("a summary")?;
            assert_eq!((summary.scheduled, summary.failed), (10, 0));
            assert_eq!(summary.output_tokens, 80);
            assert!(
                point.certificate.is_some()
                    && point.judgement.is_some()
                    && point.started_ms.is_some()
            );
            let scores = measure::score::decode(&studio.scores(point.id).await?)?;
            let records =
                server::records::from_parquet(studio.records_parquet(point.id).await?.into())?;
            assert_eq!((scores.len(), records.len()), (10, 10));
        }
        for (configuration, caching) in view.configurations.iter().zip(["off", "on"]) {
            let fact = &configuration.facts["knob:enable-prefix-caching"];
            assert_eq!(
                (fact.value.as_str(), fact.source),
                (caching, Source::Engine)
            );
            assert_eq!(configuration.cache_cold, Some(true));
            assert!(
                configuration.ceiling.is_some() && configuration.ceiling_by_percentile.is_some()
            );
        }
        let rows = studio.studies(&ME, Default::default()).await?;
        assert_eq!(
            (rows[0].points_finished, rows[0].points, rows[0].simulated),
            (4, 4, true)
        );
        assert!(rows[0].ceilings[0].1.is_some());
        studio.shutdown().await;
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_ceiling_is_claimed_from_ramps() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let ramped = StudySpec {
            arrival: "linear-ramp=10".parse()?,
            ..small_study()
        };
        let view = finished(&studio, ramped).await?;
        let found = &view.configurations[0];
        assert_eq!(
            (found.ceiling, found.ceiling_by_percentile),
            (Some(Ceiling::Ramped), Some(Ceiling::Ramped))
        );
        for point in &view.points {
            let summary = point.summary.as_ref().context("a summary")?;
            assert_eq!(summary.capacity, Capacity::Unknown);
        }
        let rows = studio.studies(&ME, Default::default()).await?;
        assert_eq!(rows[0].ceilings[0].1, Some(Ceiling::Ramped));
        studio.shutdown().await;
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn browsers_hear_everything_in_order_and_what_they_missed() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        studio.start_supervisor().await?;
        let id = studio.launch(&ME, small_study()).await?;
        let ended = |event: &LiveEvent| {
            matches!(
                event,
                LiveEvent::State {
                    state: StudyState::Finished,
                    ..
                }
            )
        };
        let mut live = Box::pin(studio.live().subscribe(id, 0));
        let (mut numbers, mut progress) = (Vec::new(), 0);
        while let Some((number, event)) =
            tokio::time::timeout(Duration::from_secs(30), live.next()).await?
        {
            numbers.extend(number);
            progress += u32::from(matches!(event, LiveEvent::Progress { .. }));
            if ended(&event) {
                break;
            }
        }
        let expected: Vec<u64> = (1..=numbers.len() as u64).collect();
        assert_eq!(numbers, expected);
        assert!(0 < progress);
        let missed: Vec<_> = studio
            .live()
            .subscribe(id, 2)
            .take(numbers.len() - 2)
            .collect()
            .await;
        assert_eq!(
            missed
                .iter()
                .filter_map(|(number, _)| *number)
                .collect::<Vec<_>>(),
            numbers[2..]
        );
        assert!(ended(&missed.last().context("some")?.1));
        assert_eq!(
            studio.study(&ME, id).await?.last_event,
            numbers.len() as u64
        );
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_keeps_finished_points_and_a_resume_does_the_rest_whole() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        studio.start_supervisor().await?;
        let id = studio.launch(&ME, slow_study()).await?;
        let second_runs =
            |view: &StudyView| states(view) == [PointState::Finished, PointState::Running];
        let before = until(&studio, id, second_runs).await?;
        studio.stop(&ME, id).await?;
        let stopped = until_state(&studio, id, StudyState::Stopped).await?;
        assert_eq!(
            states(&stopped),
            [PointState::Finished, PointState::Interrupted]
        );
        assert_eq!(stopped.points[0], before.points[0]);
        assert!(matches!(
            studio.stop(&ME, id).await,
            Err(StudioError::Conflict { .. })
        ));
        studio.resume(&ME, id).await?;
        let view = until_state(&studio, id, StudyState::Finished).await?;
        assert_eq!(
            view.points[0], before.points[0],
            "it was not measured again"
        );
        assert_eq!(
            view.points[1].summary.as_ref().map(|it| it.scheduled),
            Some(10)
        );
        assert!(studio.resume(&ME, id).await.is_err());
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_studies_of_one_engine_follow_each_other() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        studio.start_supervisor().await?;
        let first = studio.launch(&ME, slow_study()).await?;
        let second = studio.launch(&ME, small_study()).await?;
        until_state(&studio, first, StudyState::Running).await?;
        assert_eq!(studio.study(&ME, second).await?.state, StudyState::Queued);
        let one = until_state(&studio, first, StudyState::Finished).await?;
        let two = until_state(&studio, second, StudyState::Finished).await?;
        assert!(one.points[1].started_ms < two.points[0].started_ms);
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_engine_spelt_in_two_ways_gets_one_load_at_a_time() {
    on_sqlite(&async |place: &Place| {
        let studio = place.studio().await?;
        studio.start_supervisor().await?;
        let (_running, plain) = engine()?;
        let mut mapped = plain.clone();
        mapped.url = plain.url.replace("127.0.0.1", "[::ffff:127.0.0.1]");
        assert_ne!(mapped.url, plain.url);
        let mut ids = Vec::new();
        for endpoint in [plain, mapped] {
            studio
                .save_engine(&ME, endpoint.url.clone(), endpoint.clone())
                .await?;
            let mut spec = slow_study();
            spec.engine = EngineSpec::Endpoint(endpoint);
            ids.push(studio.launch(&ME, spec).await?);
        }
        until_state(&studio, ids[0], StudyState::Running).await?;
        assert_eq!(studio.study(&ME, ids[1]).await?.state, StudyState::Queued);
        let one = until_state(&studio, ids[0], StudyState::Finished).await?;
        let two = until_state(&studio, ids[1], StudyState::Finished).await?;
        assert!(one.points[1].started_ms < two.points[0].started_ms);
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shut_down_study_is_interrupted_and_resumes_by_itself_when_asked() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        studio.start_supervisor().await?;
        let id = studio.launch(&ME, slow_study()).await?;
        until(&studio, id, |view| states(view)[0] == PointState::Running).await?;
        studio.shutdown().await;
        drop(studio);
        let settings = server::studio::Settings {
            resume_interrupted: true,
            registry: Default::default(),
            may_start_engines: true,
            ..place.settings()
        };
        let studio = LocalStudio::open(settings).await?;
        assert_eq!(studio.study(&ME, id).await?.state, StudyState::Interrupted);
        studio.start_supervisor().await?;
        until_state(&studio, id, StudyState::Finished).await?;
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_that_is_away_fails_the_study_which_can_resume() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        studio.start_supervisor().await?;
        let (running, endpoint) = engine()?;
        studio
            .save_engine(&ME, "mine".into(), endpoint.clone())
            .await?;
        let mut spec = small_study();
        spec.engine = EngineSpec::Endpoint(endpoint);
        drop(running);
        let id = studio.launch(&ME, spec).await?;
        let view = loop {
            let view = studio.study(&ME, id).await?;
            if view.state == StudyState::Failed {
                break view;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        };
        let problem = view.problem.context("a problem")?;
        assert!(
            problem.contains("does not answer") && problem.contains("resume"),
            "{problem}"
        );
        assert_eq!(states_of(&view.points), [PointState::Planned; 2]);
        studio.resume(&ME, id).await?;
        Ok(())
    })
    .await;
}

fn states_of(points: &[app::studio::PointView]) -> Vec<PointState> {
    points.iter().map(|point| point.state).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_that_dies_leaves_failures_and_then_fails_the_study() {
    on_sqlite(&async |place: &Place| {
        let studio = place.studio().await?;
        studio.start_supervisor().await?;
        let (running, endpoint) = engine()?;
        studio
            .save_engine(&ME, "mine".into(), endpoint.clone())
            .await?;
        let mut spec = slow_study();
        spec.engine = EngineSpec::Endpoint(endpoint);
        let id = studio.launch(&ME, spec).await?;
        until(&studio, id, |view| states(view)[0] == PointState::Running).await?;
        tokio::time::sleep(Duration::from_millis(500)).await;
        tokio::task::block_in_place(|| drop(running));
        let view = loop {
            let view = studio.study(&ME, id).await?;
            if !matches!(view.state, StudyState::Queued | StudyState::Running) {
                break view;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        };
        assert_eq!(view.state, StudyState::Failed);
        assert_eq!(states(&view), [PointState::Finished, PointState::Planned]);
        let summary = view.points[0].summary.as_ref().context("a summary")?;
        assert_eq!(summary.scheduled, 10);
        assert!(0 < summary.failed);
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_model_is_named_with_those_that_are_served() {
    on_sqlite(&async |place: &Place| {
        let studio = place.studio().await?;
        studio.start_supervisor().await?;
        let (_running, mut endpoint) = engine()?;
        let served = std::mem::replace(&mut endpoint.model, "other".into());
        studio
            .save_engine(&ME, "mine".into(), endpoint.clone())
            .await?;
        let mut spec = small_study();
        spec.engine = EngineSpec::Endpoint(endpoint);
        let id = studio.launch(&ME, spec).await?;
        let error = until_state(&studio, id, StudyState::Finished)
            .await
            .expect_err("fails")
            .to_string();
        assert!(
            error.contains("other") && error.contains(&served),
            "{error}"
        );
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_study_waits_for_a_person_who_restarts_the_engine() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        studio.start_supervisor().await?;
        let (_running, endpoint) = engine()?;
        studio
            .save_engine(&ME, "mine".into(), endpoint.clone())
            .await?;
        let mut spec = small_study();
        spec.engine = EngineSpec::Endpoint(endpoint);
        let mut other = configuration("more", &[("max-num-seqs", "64")]);
        other.turn = Turn::Pause {
            instruction: "restart with --max-num-seqs 64".into(),
        };
        spec.configurations.push(other);
        let id = studio.launch(&ME, spec).await?;
        assert!(
            studio.proceed(&ME, id).await.is_err(),
            "it does not wait yet"
        );
        let waiting = until_state(&studio, id, StudyState::Waiting).await?;
        assert_eq!(
            waiting.problem.as_deref(),
            Some("restart with --max-num-seqs 64")
        );
        assert_eq!(
            states(&waiting),
            [
                PointState::Finished,
                PointState::Finished,
                PointState::Planned,
                PointState::Planned
            ]
        );
        studio.proceed(&ME, id).await?;
        let view = until_state(&studio, id, StudyState::Finished).await?;
        assert_eq!(view.problem, None);
        // The engine reports it: what a person declared is confirmed.
        let fact = &view.configurations[1].facts["knob:max-num-seqs"];
        assert_eq!((fact.value.as_str(), fact.source), ("64", Source::Engine));
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_endpoint_stands_for_a_configuration() {
    on_sqlite(&async |place: &Place| {
        let studio = place.studio().await?;
        studio.start_supervisor().await?;
        let (_one, first) = engine()?;
        let (_two, second) = engine()?;
        studio.save_engine(&ME, "one".into(), first.clone()).await?;
        let mut spec = small_study();
        spec.engine = EngineSpec::Endpoint(first);
        let mut other = configuration("second", &[]);
        other.turn = Turn::OtherEndpoint(second.clone());
        spec.configurations.push(other);
        let fields = super::invalid_fields(studio.launch(&ME, spec.clone()).await);
        assert_eq!(fields, ["configurations[1].turn"]);
        studio.save_engine(&ME, "two".into(), second).await?;
        let id = studio.launch(&ME, spec).await?;
        let view = until_state(&studio, id, StudyState::Finished).await?;
        assert_eq!(states(&view), [PointState::Finished; 4]);
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_queued_study_is_stopped_at_once_and_a_wait_can_be_stopped() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let id = studio.launch(&ME, small_study()).await?;
        assert!(studio.study(&ME, id).await?.remaining_ms.is_some());
        studio.stop(&ME, id).await?;
        assert_eq!(studio.study(&ME, id).await?.state, StudyState::Stopped);
        let mut spec = small_study();
        let (_running, endpoint) = engine()?;
        studio
            .save_engine(&ME, "mine".into(), endpoint.clone())
            .await?;
        spec.engine = EngineSpec::Endpoint(endpoint);
        spec.configurations[0].turn = Turn::Pause {
            instruction: "restart it".into(),
        };
        studio.start_supervisor().await?;
        let waiting = studio.launch(&ME, spec).await?;
        until_state(&studio, waiting, StudyState::Waiting).await?;
        studio.stop(&ME, waiting).await?;
        until_state(&studio, waiting, StudyState::Stopped).await?;
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_server_on_the_database_can_watch_and_stop() {
    on_each_database(async |place| {
        let one = place.studio().await?;
        let elsewhere = tempfile::tempdir()?;
        let settings = server::studio::Settings {
            data_dir: elsewhere.path().to_owned(),
            ..place.settings()
        };
        let other = LocalStudio::open(settings).await?;
        one.start_supervisor().await?;
        let id = one.launch(&ME, slow_study()).await?;
        until(&one, id, |view| states(view)[0] == PointState::Running).await?;
        other.start_supervisor().await?;
        assert_eq!(
            other.study(&ME, id).await?.state,
            StudyState::Running,
            "its server lives"
        );
        let mut live = Box::pin(other.live().subscribe(id, 0));
        other.stop(&ME, id).await?;
        let ended = |event: &LiveEvent| {
            matches!(
                event,
                LiveEvent::State {
                    state: StudyState::Stopped,
                    ..
                }
            )
        };
        while let Some((_, event)) =
            tokio::time::timeout(Duration::from_secs(20), live.next()).await?
        {
            if ended(&event) {
                break;
            }
        }
        assert_eq!(one.study(&ME, id).await?.state, StudyState::Stopped);
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_that_was_taken_off_the_list_gets_no_load() {
    on_sqlite(&async |place: &Place| {
        let studio = place.studio().await?;
        let (_running, endpoint) = engine()?;
        let row = studio
            .save_engine(&ME, "mine".into(), endpoint.clone())
            .await?;
        let mut spec = small_study();
        spec.engine = EngineSpec::Endpoint(endpoint);
        let id = studio.launch(&ME, spec).await?;
        studio.delete_engine(&ME, row.id).await?;
        studio.start_supervisor().await?;
        let error = until_state(&studio, id, StudyState::Finished)
            .await
            .expect_err("fails")
            .to_string();
        assert!(error.contains("not among your engines"), "{error}");
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_that_contradicts_what_is_declared_is_not_measured() {
    on_sqlite(&async |place: &Place| {
        let studio = place.studio().await?;
        studio.start_supervisor().await?;
        let (_running, endpoint) = engine()?;
        studio
            .save_engine(&ME, "mine".into(), endpoint.clone())
            .await?;
        let mut spec = small_study();
        spec.engine = EngineSpec::Endpoint(endpoint);
        spec.configurations = vec![configuration("few", &[("max-num-seqs", "7")])];
        let id = studio.launch(&ME, spec).await?;
        let error = until_state(&studio, id, StudyState::Finished)
            .await
            .expect_err("fails")
            .to_string();
        assert!(
            error.contains("max-num-seqs") && error.contains("declares 7"),
            "{error}"
        );
        Ok(())
    })
    .await;
}
