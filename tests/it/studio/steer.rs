//! What a person does with a study that runs: skip its present point, hold it, go on; and what others who look see of it.

use std::time::Duration;

use anyhow::Context;
use app::studio::{EngineLog, Hold, LiveEvent, PointState, Studio, StudioError, StudyState};
use futures_util::StreamExt;
use measure::arrival::Arrival;
use measure::study::{Adaptive, PointLength, StudySpec};
use measure::units::Rate;
use server::studio::LocalStudio;
use sqlx::Connection;
use tests::databases::{Place, on_each_database, on_sqlite};
use tests::edge::OnEdge;
use tests::samples::small_study;
use uuid::Uuid;

use super::run::states;
use super::{ME, until, until_state};

/// A first point that takes a minute unless somebody ends it, and a short one.
fn long_then_short() -> StudySpec {
    let level = |text: &str| text.parse().expect("a level");
    StudySpec {
        levels: vec![level("2"), level("100")],
        arrival: Arrival::Constant,
        length: PointLength {
            min_requests: 120,
            max_requests: 120,
            seconds: 1,
        },
        ..small_study()
    }
}

/// A study whose first point is under load and has sent something; the point's id.
async fn under_load(studio: &LocalStudio, spec: StudySpec) -> anyhow::Result<(Uuid, Uuid)> {
    studio.start_supervisor().await?;
    let id = studio.launch(&ME, spec).await?;
    let view = until(studio, id, |view| {
        let seen = view.underway.as_ref();
        seen.is_some_and(|(_, progress)| 0 < progress.sent)
    })
    .await?;
    assert_eq!(states(&view)[0], PointState::Running);
    Ok((id, view.points[0].id))
}

fn conflict<T: std::fmt::Debug>(outcome: Result<T, StudioError>) -> String {
    match outcome {
        Err(StudioError::Conflict { message }) => message,
        other => panic!("expected a conflict, got {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_skipped_point_keeps_what_it_recorded_and_counts_nowhere() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let (id, point) = under_load(&studio, long_then_short()).await?;
        // Two who press at once skip one point.
        let (one, two) = tokio::join!(studio.skip(&ME, point), studio.skip(&ME, point));
        one?;
        two?;
        let view = until_state(&studio, id, StudyState::Finished).await?;
        assert_eq!(states(&view), [PointState::Skipped, PointState::Finished]);
        studio.skip(&ME, point).await?;
        let skipped = &view.points[0];
        assert_eq!(
            (&skipped.summary, &skipped.judgement, &skipped.certificate),
            (&None, &None, &None)
        );
        let problem = skipped.problem.as_deref().context("a reason")?;
        assert!(
            problem.starts_with("Skipped by a person when ")
                && problem.contains(" of 120 requests"),
            "{problem}"
        );
        let records = studio.records_parquet(point).await?;
        let records = server::records::from_parquet(records.into())?;
        assert!(
            !records.is_empty() && records.len() < 120,
            "{}",
            records.len()
        );
        // The scores of all points, as the page reads them, are of the measured one alone.
        let scores = studio.study_scores(id, None).await?;
        let whole = measure::score::frames(&scores)?.into_iter();
        let whole: Vec<Uuid> = whole.map(|(id, _)| Uuid::from_u128(id)).collect();
        assert_eq!(whole, [view.points[1].id]);
        let whole = conflict(studio.skip(&ME, view.points[1].id).await);
        assert!(whole.contains("is finished"), "{whole}");
        assert!(studio.skip(&ME, Uuid::nil()).await.is_err());
        assert!(
            studio.resume(&ME, id).await.is_err(),
            "nothing is left to measure"
        );
        studio.shutdown().await;
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_that_a_person_skips_a_point_of_ends_and_says_so() {
    on_sqlite(&async |place: &Place| {
        let studio = place.studio().await?;
        let rate = |per_second: f64| Rate::try_from(per_second);
        let spec = StudySpec {
            levels: Vec::new(),
            adaptive: Some(Adaptive {
                from: rate(2.0)?,
                to: rate(64.0)?,
                minutes: 10,
                width: 0.3,
            }),
            length: PointLength {
                min_requests: 200,
                max_requests: 800,
                seconds: 60,
            },
            ..small_study()
        };
        let (id, point) = under_load(&studio, spec).await?;
        let most = studio
            .study(&ME, id)
            .await?
            .remaining_ms
            .context("a limit")?;
        assert!(most <= 600_000, "{most}");
        studio.skip(&ME, point).await?;
        let view = until_state(&studio, id, StudyState::Finished).await?;
        assert_eq!(states(&view), [PointState::Skipped]);
        let ended = view.configurations[0].search_ended.as_deref();
        assert!(
            ended.is_some_and(|it| it.contains("a person skipped")),
            "{ended:?}"
        );
        assert_eq!(view.configurations[0].ceiling, None);
        studio.shutdown().await;
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_study_holds_after_its_point_and_goes_on() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let (id, point) = under_load(&studio, long_then_short()).await?;
        studio.pause(&ME, id).await?;
        studio.pause(&ME, id).await?;
        let view = studio.study(&ME, id).await?;
        assert_eq!((view.state, view.hold), (StudyState::Running, Hold::Asked));
        studio.proceed(&ME, id).await?;
        assert_eq!(studio.study(&ME, id).await?.hold, Hold::None, "taken back");
        studio.pause(&ME, id).await?;
        studio.skip(&ME, point).await?;
        let view = until_state(&studio, id, StudyState::Waiting).await?;
        assert_eq!(view.hold, Hold::Paused);
        assert_eq!(states(&view), [PointState::Skipped, PointState::Planned]);
        let problem = view.problem.context("what it waits for")?;
        assert!(
            problem.starts_with("Paused by a person after 1 of 2 points.")
                && problem.contains("reserved"),
            "{problem}"
        );
        studio.pause(&ME, id).await?;
        conflict(studio.skip(&ME, view.points[1].id).await);
        studio.proceed(&ME, id).await?;
        let view = until_state(&studio, id, StudyState::Finished).await?;
        assert_eq!(
            (view.hold, view.points[1].state),
            (Hold::None, PointState::Finished)
        );
        conflict(studio.pause(&ME, id).await);
        conflict(studio.proceed(&ME, id).await);
        studio.shutdown().await;
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pause_outlives_its_server_and_ends_with_a_stop() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let (id, point) = under_load(&studio, long_then_short()).await?;
        studio.pause(&ME, id).await?;
        studio.skip(&ME, point).await?;
        until_state(&studio, id, StudyState::Waiting).await?;
        studio.shutdown().await;
        drop(studio);
        let settings = server::studio::Settings {
            resume_interrupted: true,
            ..place.settings()
        };
        let studio = LocalStudio::open(settings).await?;
        studio.start_supervisor().await?;
        let view = until_state(&studio, id, StudyState::Waiting).await?;
        assert_eq!(view.hold, Hold::Paused);
        assert_eq!(states(&view), [PointState::Skipped, PointState::Planned]);
        studio.stop(&ME, id).await?;
        let view = until_state(&studio, id, StudyState::Stopped).await?;
        assert_eq!(view.hold, Hold::None);
        // Whoever resumes it wants it to go on; what was skipped stays so.
        studio.resume(&ME, id).await?;
        let view = until_state(&studio, id, StudyState::Finished).await?;
        assert_eq!(states(&view), [PointState::Skipped, PointState::Finished]);
        studio.shutdown().await;
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_comes_late_sees_what_all_others_see() {
    on_sqlite(&async |place: &Place| {
        let studio = place.studio().await?;
        let (id, point) = under_load(&studio, long_then_short()).await?;
        let last = studio.study(&ME, id).await?.last_event;
        let mut late = Box::pin(studio.live().subscribe(id, last));
        let (number, first) = late.next().await.context("an event")?;
        let LiveEvent::Progress {
            point: of,
            progress,
            ..
        } = first
        else {
            panic!("expected progress, got {first:?}");
        };
        assert_eq!((number, of), (None, point));
        assert!(0 < progress.sent && progress.scheduled == 120);
        let mut others = [1, 2].map(|_| Box::pin(studio.live().subscribe(id, last)));
        studio.skip(&ME, point).await?;
        let mut heard = Vec::new();
        for viewer in &mut others {
            let mut numbered = Vec::new();
            while let Some((number, event)) =
                tokio::time::timeout(Duration::from_secs(30), viewer.next()).await?
            {
                let ends = matches!(
                    &event,
                    LiveEvent::State {
                        state: StudyState::Finished,
                        ..
                    }
                );
                let point = match event {
                    LiveEvent::Point { point, .. } => Some((point.id, point.state)),
                    _ => None,
                };
                numbered.extend(number.map(|it| (it, point)));
                if ends {
                    break;
                }
            }
            heard.push(numbered);
        }
        assert_eq!(heard[0], heard[1], "each hears every point, in order");
        assert_eq!(studio.study(&ME, id).await?.underway, None);
        studio.shutdown().await;
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_server_on_the_database_can_skip() {
    on_each_database(async |place| {
        let one = place.studio().await?;
        let elsewhere = tempfile::tempdir()?;
        let settings = server::studio::Settings {
            data_dir: elsewhere.path().to_owned(),
            ..place.settings()
        };
        let other = LocalStudio::open(settings).await?;
        let (id, point) = under_load(&one, long_then_short()).await?;
        other.skip(&ME, point).await?;
        let view = until_state(&one, id, StudyState::Finished).await?;
        assert_eq!(states(&view), [PointState::Skipped, PointState::Finished]);
        assert!(matches!(
            other.engine_log(&ME, id).await?,
            EngineLog::None(why) if why.contains("simulated")
        ));
        Ok(())
    })
    .await;
}

/// Over the interface: the calls, what a shared link and a file show of it, and why there is no log.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_steer_it_too_and_nobody_else_sees_a_skipped_points_requests() -> anyhow::Result<()>
{
    let (here, there) = (OnEdge::open().await?, OnEdge::open().await?);
    let (id, point) = under_load(&here.studio, long_then_short()).await?;
    let nothing = serde_json::Value::Null;
    let post = async |path: String| here.json("POST", &path, &nothing).await.status;
    let study = format!("/api/v1/studies/{id}");
    assert_eq!(post(format!("{study}/pause")).await, 202);
    assert_eq!(here.get(&study).await.json()["hold"], "asked");
    let log = here.get(&format!("{study}/log")).await;
    assert!(log.status == 404 && log.text().contains("simulated engine"));
    assert_eq!(post(format!("/api/v1/points/{point}/skip")).await, 202);
    until_state(&here.studio, id, StudyState::Waiting).await?;
    assert_eq!(here.get(&study).await.json()["hold"], "paused");
    let again = post(format!("/api/v1/points/{point}/skip")).await;
    let nobody = post(format!("/api/v1/points/{}/skip", Uuid::nil())).await;
    assert_eq!((again, nobody), (202, 404));
    assert_eq!(post(format!("{study}/proceed")).await, 202);
    until_state(&here.studio, id, StudyState::Finished).await?;
    assert_eq!(post(format!("{study}/pause")).await, 409);
    let page = here.get(&format!("/studies/{id}/points/{point}")).await;
    assert!(
        page.text().contains("Skipped by a person when"),
        "{}",
        page.text()
    );
    shows_what_was_recorded(
        &here,
        &format!("/studies/{id}/points/{point}"),
        &page.text(),
    )
    .await?;
    let bundle = here.get(&format!("{study}/bundle?everything=true")).await;
    assert_eq!(bundle.status, 200, "{}", bundle.text());
    let open = "/api/v1/bundles?file=small.goodput";
    let opened = there.send("POST", open, &[], bundle.body).await;
    assert_eq!(opened.status, 201, "{}", opened.text());
    let shown = there.get(&study).await.json();
    assert_eq!(shown["points"].as_array().map(Vec::len), Some(1));
    let origin = shown["imported"].as_str().unwrap_or_default().to_owned();
    assert!(
        origin.contains("one point was skipped by a person"),
        "{origin}"
    );
    let share = here
        .json("POST", &format!("{study}/shares"), &serde_json::json!({}))
        .await;
    let link = share.json()["path"].as_str().unwrap_or_default().to_owned();
    let seen = here.get(&link).await.text();
    assert!(seen.contains("1 point was skipped by a person"), "{seen}");
    Ok(())
}

/// The page of a point that was skipped: its requests over time up to then, each with its own page; where nothing is stored, that.
async fn shows_what_was_recorded(edge: &OnEdge, point: &str, page: &str) -> anyhow::Result<()> {
    for part in [
        "recorded up to the skip",
        "Over time",
        "In flight",
        "requests",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let first = edge.get(&format!("{point}/requests/1")).await;
    assert_eq!(first.status, 200, "{}", first.text());
    let window = edge.get(&format!("{point}/requests?from=0&to=1")).await;
    assert_eq!(window.status, 200, "{}", window.text());
    Ok(())
}

/// A point that was skipped and of which nothing is stored says that.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_skipped_point_without_requests_says_that_nothing_was_kept() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let (id, point) = under_load(&edge.studio, long_then_short()).await?;
    edge.studio.skip(&ME, point).await?;
    until_state(&edge.studio, id, StudyState::Finished).await?;
    let file = edge.dir.path().join("data/goodput.db");
    let mut store =
        sqlx::SqliteConnection::connect(&format!("sqlite://{}", file.display())).await?;
    let forget = sqlx::query("DELETE FROM point_data WHERE point = $1");
    let forgotten = forget.bind(point).execute(&mut store).await?;
    assert_eq!(forgotten.rows_affected(), 1);
    let page = edge.get(&format!("/studies/{id}/points/{point}")).await;
    assert!(
        page.text().contains("Nothing was kept of this point"),
        "{}",
        page.text()
    );
    assert!(!page.text().contains("Over time"));
    Ok(())
}
