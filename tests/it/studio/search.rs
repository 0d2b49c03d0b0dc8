//! An adaptive sweep from its first point to its stop.

use app::studio::{Studio, StudyState};
use measure::arrival::Arrival;
use measure::curve::Ceiling;
use measure::study::{Adaptive, PointLength, StudySpec};
use measure::units::Rate;
use tests::databases::{on_each_database, on_sqlite};
use tests::samples::{configuration, small_study};

use super::{ME, finished, until_state};

/// Rates that the simulator keeps with ease.
fn search(from: f64, to: f64, slo: &str) -> StudySpec {
    let rate = |per_second| Rate::try_from(per_second).expect("a rate");
    StudySpec {
        levels: Vec::new(),
        adaptive: Some(Adaptive {
            from: rate(from),
            to: rate(to),
            minutes: 2,
            width: 0.3,
        }),
        length: PointLength {
            min_requests: 20,
            max_requests: 800,
            seconds: 1,
        },
        arrival: Arrival::Constant,
        slo: slo.parse().expect("an SLO"),
        ..small_study()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn points_follow_from_points_until_a_limit_is_kept() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let mut spec = search(100.0, 400.0, "ttft:p95<10s attain>=50%");
        spec.configurations = vec![configuration("one", &[]), configuration("two", &[])];
        let view = finished(&studio, spec).await?;
        for (index, configuration) in (0u32..).zip(&view.configurations) {
            let of = || view.points.iter().filter(|it| it.configuration == index);
            let rates: Vec<f64> = of().filter_map(|it| it.level.rate()).collect();
            assert_eq!(rates, [200.0, 400.0]);
            assert!(matches!(configuration.ceiling, Some(Ceiling::AtLeast { lo }) if (lo / 400.0 - 1.0).abs() < 0.02));
            let ended = configuration.search_ended.as_deref().unwrap_or_default();
            assert!(ended.starts_with("The highest rate allowed keeps the promise"), "{ended}");
            assert!(of().all(|it| it.summary.as_ref().is_some_and(|it| it.scheduled == 200)));
        }
        assert!(view.remaining_ms.is_none());
        studio.shutdown().await;
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_promise_that_nothing_keeps_ends_at_the_lowest_rate() {
    on_sqlite(&async |place: &tests::databases::Place| {
        let studio = place.studio().await?;
        let view = finished(&studio, search(50.0, 200.0, "ttft:p95<1us attain>=95%")).await?;
        let configuration = &view.configurations[0];
        assert!(matches!(configuration.ceiling, Some(Ceiling::NoneKept { hi }) if (hi / 50.0 - 1.0).abs() < 0.02), "{:?}", configuration.ceiling);
        assert!(configuration.search_ended.as_deref().is_some_and(|it| it.contains("lowest rate")));
        studio.shutdown().await;
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_search_goes_on_where_it_was() {
    on_sqlite(&async |place: &tests::databases::Place| {
        let studio = place.studio().await?;
        studio.start_supervisor().await?;
        // Half a minute a point: stopped in the first.
        let id = studio
            .launch(&ME, search(4.0, 16.0, "ttft:p95<10s attain>=50%"))
            .await?;
        let running = super::until(&studio, id, |view| {
            view.points.iter().any(|it| it.started_ms.is_some())
        });
        running.await?;
        studio.stop(&ME, id).await?;
        let view = until_state(&studio, id, StudyState::Stopped).await?;
        assert_eq!(view.points.len(), 1);
        assert_eq!(view.configurations[0].search_ended, None);
        studio.resume(&ME, id).await?;
        let view = super::until(&studio, id, |view| view.state == StudyState::Running).await?;
        assert_eq!(view.points.len(), 1, "measured anew, not planned anew");
        assert!(view.remaining_ms.is_some_and(|left| left <= 120_000));
        studio.stop(&ME, id).await?;
        until_state(&studio, id, StudyState::Stopped).await?;
        studio.shutdown().await;
        Ok(())
    })
    .await;
}
