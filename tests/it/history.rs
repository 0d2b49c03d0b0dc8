//! Earlier runs of the same: what they say of a new one, and who belongs to them.

mod simulated; // on the simulator, over the wire
mod told; // over HTTP, on the command line, on the page

use app::history::{FigureHistory, HistoryView, Outcome};
use app::studio::{Actor, Studio, StudyEdit};
use measure::slo::Metric;
use server::bundle::{self, Scope, Worked};
use server::store::Store;
use server::studio::LocalStudio;
use tests::databases::on_each_database;
use tests::series::{Day, measured, watched_study};
use uuid::Uuid;

const ME: Actor = Actor::Owner;

/// What runs of the same differ by, in milliseconds.
const NOISE: [i64; 8] = [0, 1, -1, 2, -2, 1, 0, -1];

/// A run a day from a day on, around a time to first token.
async fn days(store: &Store, from: i64, count: usize, ttft_ms: i64) -> anyhow::Result<Vec<Uuid>> {
    let mut all = Vec::new();
    for (day, noise) in (from..).zip(NOISE.into_iter().cycle().take(count)) {
        all.push(one(store, day, ttft_ms + noise).await?);
    }
    Ok(all)
}

async fn one(store: &Store, day: i64, ttft_ms: i64) -> anyhow::Result<Uuid> {
    let on = Day {
        day,
        ttft_ms: ttft_ms.unsigned_abs(),
        version: if day < 10 { "0.31.0" } else { "0.32.0" },
    };
    measured(store, &watched_study(), on).await
}

async fn history(studio: &LocalStudio, study: Uuid) -> anyhow::Result<HistoryView> {
    Ok(studio.history(&ME, study, Default::default()).await?)
}

/// TTFT p50 at the first level.
fn ttft(view: &HistoryView) -> &FigureHistory {
    let figures = &view.configurations[0].points[0].figures;
    let found = figures
        .iter()
        .find(|it| it.metric == Some(Metric::Ttft) && it.percentile == Some(50.0));
    found.expect("TTFT p50")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slower_run_fails_and_one_of_the_same_passes() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let store = place.store().await?;
        days(&store, 1, 8, 100).await?;
        let same = history(&studio, one(&store, 20, 101).await?).await?;
        assert_eq!(same.outcome, Outcome::Pass, "{same:#?}");
        assert_eq!((ttft(&same).counted, ttft(&same).runs.len()), (8, 8));
        let points = &same.configurations[0].points;
        let levels: Vec<bool> = points.iter().map(|it| it.level.is_some()).collect();
        assert_eq!(levels, [true, true, false], "two rates and the curve");
        assert_eq!(points[2].outcome, Outcome::LeftOut, "no rate broke the SLO");
        assert_eq!(same.together, 4, "medians of two latencies at two rates");
        let id = one(&store, 21, 130).await?;
        let slower = history(&studio, id).await?;
        assert_eq!(slower.outcome, Outcome::Fail);
        let found = ttft(&slower);
        let change = found.change.expect("a change");
        assert!(
            0.2 < change.lo && change.lo < 0.29 && 0.29 < change.hi,
            "{change:?}"
        );
        let baseline = found.baseline.expect("a baseline");
        assert!(baseline.lo < baseline.value && baseline.value < baseline.hi);
        assert!(baseline.hi < found.value.expect("a value"), "{found:?}");
        let allowed = studio.history(&ME, id, Some(0.5).into()).await?;
        assert_eq!(allowed.outcome, Outcome::Pass, "it was allowed");
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn few_runs_tell_nothing_and_say_how_many_would() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let store = place.store().await?;
        days(&store, 1, 4, 100).await?;
        let view = history(&studio, one(&store, 5, 300).await?).await?;
        assert_eq!(view.outcome, Outcome::Indeterminate);
        let why = ttft(&view).why.clone().unwrap_or_default();
        assert!(
            why.starts_with("4 earlier runs of the same") && why.contains("1 more"),
            "{why}"
        );
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_that_lasts_begins_a_new_baseline() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let store = place.store().await?;
        days(&store, 1, 8, 100).await?;
        days(&store, 10, 8, 140).await?;
        let view = history(&studio, one(&store, 30, 140).await?).await?;
        assert_eq!(view.outcome, Outcome::Pass, "{view:#?}");
        let runs = &ttft(&view).runs;
        let changed: Vec<usize> = (0..runs.len()).filter(|it| runs[*it].changed).collect();
        assert_eq!(changed, [8]);
        assert!(runs[..8].iter().all(|it| !it.counts) && runs[8..].iter().all(|it| it.counts));
        assert_eq!(runs[7].version.as_deref(), Some("0.31.0"));
        assert_eq!(
            runs[8].version.as_deref(),
            Some("0.32.0"),
            "another version is the same"
        );
        let back = history(&studio, one(&store, 31, 100).await?).await?;
        assert!(ttft(&back).improved && back.outcome == Outcome::Pass);
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_runs_of_the_same_count() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let store = place.store().await?;
        let earlier = days(&store, 1, 8, 100).await?;
        let new = one(&store, 20, 101).await?;
        let count = async || anyhow::Ok(ttft(&history(&studio, new).await?).runs.len());
        assert_eq!(count().await?, 8);
        let other = |change: fn(&mut measure::study::StudySpec)| {
            let mut spec = watched_study();
            change(&mut spec);
            spec
        };
        let on = Day {
            day: 9,
            ttft_ms: 100,
            version: "0.31.0",
        };
        for spec in [
            other(|it| it.length.seconds = 7),
            other(|it| it.warmup = 3),
            other(|it| {
                let endpoint =
                    measure::study::Endpoint::new("http://gpu8:8000", Default::default(), "m");
                it.engine = measure::study::EngineSpec::Endpoint(endpoint);
            }),
        ] {
            measured(&store, &spec, on).await?;
        }
        assert_eq!(
            count().await?,
            8,
            "another length, another warm-up, another machine"
        );
        let seed = other(|it| it.seed = measure::units::Seed(7));
        measured(&store, &seed, on).await?;
        assert_eq!(count().await?, 9, "another seed is the same workload");
        studio.delete(&ME, earlier[0]).await?;
        assert_eq!(count().await?, 8, "what was deleted counts no more");
        let declared = StudyEdit {
            declared: [("hardware".to_owned(), "1x L4".to_owned())].into(),
            ..StudyEdit::default()
        };
        studio.edit(&ME, earlier[1], declared).await?;
        assert_eq!(count().await?, 7, "it says now that it ran elsewhere");
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_measured_elsewhere_is_in_no_history_and_has_none() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let store = place.store().await?;
        let earlier = days(&store, 1, 6, 100).await?;
        let new = one(&store, 20, 101).await?;
        assert_eq!(ttft(&history(&studio, new).await?).runs.len(), 6);
        let how = (Scope::Everything, Worked::Then);
        let packed = bundle::export(&store, earlier[2], how, &place.data_dir).await?;
        let unpacked = bundle::unpack(packed.file, &place.data_dir)?;
        store.set_deleted(earlier[2], Some(1)).await?;
        assert_eq!(store.purge_deleted(2).await?, 1);
        bundle::import(&store, unpacked, "x.goodput").await?;
        assert_eq!(ttft(&history(&studio, new).await?).runs.len(), 5);
        let elsewhere = history(&studio, earlier[2]).await?;
        assert_eq!(elsewhere.outcome, Outcome::Indeterminate);
        assert!(elsewhere.why.is_some() && elsewhere.configurations.is_empty());
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_of_a_study_that_changed_meanwhile_are_not_kept() {
    on_each_database(async |place| {
        let store = place.store().await?;
        let id = one(&store, 1, 100).await?;
        let lacking = store.studies_without_runs(1, 10).await?;
        let [(study, last_event)] = lacking[..] else {
            panic!("{lacking:?}")
        };
        assert_eq!(study, id);
        assert!(!store.keep_runs((id, last_event - 1), 1, &[]).await?);
        assert_eq!(store.studies_without_runs(1, 10).await?.len(), 1);
        assert!(store.keep_runs((id, last_event), 1, &[]).await?);
        assert!(store.studies_without_runs(1, 10).await?.is_empty());
        assert_eq!(
            store.studies_without_runs(2, 10).await?.len(),
            1,
            "by other rules"
        );
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn comparisons_know_the_noise_of_earlier_runs() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let store = place.store().await?;
        let compared = async |ids: [Uuid; 2]| {
            let mut configurations = Vec::new();
            for id in ids {
                configurations.push(studio.study(&ME, id).await?.configurations[0].id);
            }
            let page = studio.compare(&ME, configurations, None).await?;
            anyhow::Ok(page.pairs[0].clone())
        };
        let quiet = [one(&store, 1, 100).await?, one(&store, 2, 103).await?];
        let before = compared(quiet).await?;
        assert!(
            !before.said.iter().any(|it| it.contains("earlier runs")),
            "{:?}",
            before.said
        );
        let interval = |pair: &app::studio::PairComparison| {
            let of = pair.latencies.iter();
            let mut of = of.filter(|it| it.metric == Metric::Ttft && it.percentile == 50.0);
            let found = of.find_map(|it| it.difference).expect("a difference");
            found.hi - found.lo
        };
        // Runs that differ far more than the requests of two of them tell.
        for (day, ttft_ms) in (3..).zip([80, 120, 95, 110, 85, 130]) {
            one(&store, day, ttft_ms).await?;
        }
        let new = [one(&store, 20, 100).await?, one(&store, 21, 103).await?];
        let after = compared(new).await?;
        let said = after.said.last().cloned().unwrap_or_default();
        assert!(
            said.starts_with("Noise from 8 earlier runs of the same"),
            "{said}"
        );
        assert!(
            2.0 * interval(&before) < interval(&after),
            "{before:?} {after:?}"
        );
        let again = compared(quiet).await?;
        assert_eq!(
            interval(&again),
            interval(&before),
            "later runs change nothing that was said"
        );
        Ok(())
    })
    .await;
}
