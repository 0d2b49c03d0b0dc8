//! The store, on both databases: what it keeps, what it refuses, who gets what.

use anyhow::Context;
use app::studio::{Hold, LiveEvent, PointState, StudyFilter, StudyState};
use load::tokens::Counted;
use load::{LengthSource, Made};
use measure::arrival::{Arrival, discipline};
use measure::certificate::certify;
use measure::evidence::{Evidence, Seen};
use measure::score::{Score, encode};
use measure::slo::judge;
use measure::study::StudySpec;
use measure::summary::{Failures, summarize};
use server::records::to_parquet;
use server::store::{
    BeginPoint, Database, EndStudy, FinishPoint, NewStudy, OpenError, Store, StoreError,
    StoredPoint, StudyChange, Wishes, now_ms,
};
use sqlx::Connection;
use tests::databases::on_each_database;
use tests::samples::{records, small_study};
use uuid::Uuid;

async fn insert(store: &Store, spec: &StudySpec, engine: &str) -> anyhow::Result<Uuid> {
    let study = NewStudy {
        id: Uuid::now_v7(),
        spec,
        plan: &spec.plan(),
        engine,
        search: &spec.name.to_lowercase(),
        simulated: true,
        engines: &[engine.to_owned()],
        dataset_sha256: Some("ab12"),
        tokenizer_sha256: Some("cd34"),
    };
    store.insert_study(&study).await?;
    Ok(study.id)
}

fn an_event(state: StudyState) -> LiveEvent {
    LiveEvent::State {
        state,
        problem: None,
        remaining_ms: None,
        hold: Hold::None,
    }
}

async fn begin(store: &Store, study: Uuid, point: &StoredPoint) -> Result<u64, StoreError> {
    let event = an_event(StudyState::Running);
    let begin = BeginPoint {
        study,
        point: point.id,
        started_ms: now_ms(),
        event: &event,
    };
    store.begin_point(&begin).await
}

async fn finish(store: &Store, study: Uuid, point: &StoredPoint) -> Result<u64, StoreError> {
    let records = records(20, 30);
    let scores: Vec<Score> = records.iter().map(Score::from).collect();
    let summary = summarize(
        &records,
        discipline(Arrival::Poisson, point.level),
        Failures::AsInfinity,
    );
    let made = Made {
        template_tokens: Some(7),
        ..Made::default()
    };
    let finish = FinishPoint {
        study,
        configuration: point.configuration,
        point: point.id,
        started_ms: now_ms(),
        summary: &summary,
        certificate: &certify(&records, Default::default()),
        judgement: &judge(&scores, &summary, &small_study().slo),
        made: &made,
        scores: &encode(&scores),
        records: &to_parquet(&records).expect("written"),
        evidence: Some(&Evidence::of(&Seen::default(), &records, &[], None)),
        metrics: Some(b"pages"),
        ceilings: &(None, None),
        event: &an_event(StudyState::Running),
    };
    store.finish_point(&finish).await
}

async fn end(store: &Store, study: Uuid, state: StudyState) -> anyhow::Result<()> {
    let events = [an_event(state)];
    let end = EndStudy {
        study,
        state,
        problem: None,
        events: &events,
    };
    store.end_study(&end).await?;
    Ok(())
}

#[tokio::test]
async fn a_study_comes_back_as_it_was_stated() {
    on_each_database(async |place| {
        let store = place.store().await?;
        let spec = StudySpec::goodput_exercise();
        let id = insert(&store, &spec, "simulator").await?;
        let (study, deleted) = store.study(id).await?.expect("stored");
        assert_eq!(study.dataset_sha256.as_deref(), Some("ab12"));
        assert_eq!(study.tokenizer_sha256.as_deref(), Some("cd34"));
        assert_eq!(
            (study.spec.clone(), study.state, deleted),
            (spec.clone(), StudyState::Queued, None)
        );
        assert_eq!(store.points(id).await?.len(), spec.plan().len());
        assert_eq!(
            store.configurations(id).await?.len(),
            spec.configurations.len()
        );
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn whole_numbers_stay_the_fractions_they_were() {
    on_each_database(async |place| {
        let store = place.store().await?;
        let mut spec = small_study();
        spec.slo = "ttft:p95<500ms attain>=100%".parse()?;
        spec.configurations[0]
            .knobs
            .insert("x".into(), measure::knobs::KnobValue::Fraction(2.0));
        let id = insert(&store, &spec, "simulator").await?;
        assert_eq!(store.study(id).await?.expect("stored").0.spec, spec);
        let point = &store.points(id).await?[0];
        assert_eq!(point.level, spec.levels[0]);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn text_may_hold_nul() {
    on_each_database(async |place| {
        let store = place.store().await?;
        let mut spec = small_study();
        spec.name = "a\0b".into();
        let id = insert(&store, &spec, "simulator").await?;
        let change = StudyChange {
            note: Some("n\0".into()),
            search: "s\0".into(),
            tags: Some(vec!["t\0".into()]),
            name: None,
        };
        store.change_study(id, &change).await?;
        let (study, _) = store.study(id).await?.expect("stored");
        assert_eq!(
            (study.spec.name.as_str(), study.note.as_str()),
            ("a\u{fffd}b", "n\u{fffd}")
        );
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_study_is_claimed_once() {
    on_each_database(async |place| {
        let store = place.store().await?;
        let study = insert(&store, &small_study(), "simulator").await?;
        let (one, two) = tokio::join!(
            store.claim_next(Uuid::now_v7()),
            store.claim_next(Uuid::now_v7())
        );
        let claimed: Vec<Uuid> = [one?, two?]
            .into_iter()
            .flatten()
            .map(|it| it.study)
            .collect();
        assert_eq!(claimed, [study]);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn two_studies_of_one_engine_wait_for_each_other_and_others_pass() {
    on_each_database(async |place| {
        let (store, worker) = (place.store().await?, Uuid::now_v7());
        let first = insert(&store, &small_study(), "a:1").await?;
        let second = insert(&store, &small_study(), "a:1").await?;
        let third = insert(&store, &small_study(), "b:1").await?;
        let mut claimed = Vec::new();
        while let Some(next) = store.claim_next(worker).await? {
            claimed.push(next.study);
        }
        assert_eq!(claimed, [first, third]);
        end(&store, first, StudyState::Finished).await?;
        assert_eq!(
            store.claim_next(worker).await?.map(|it| it.study),
            Some(second)
        );
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_finished_point_never_changes() {
    on_each_database(async |place| {
        let store = place.store().await?;
        let study = insert(&store, &small_study(), "simulator").await?;
        store.claim_next(Uuid::now_v7()).await?;
        let point = store.points(study).await?[0].clone();
        assert!(
            matches!(
                finish(&store, study, &point).await,
                Err(StoreError::OutOfTurn { .. })
            ),
            "not begun"
        );
        begin(&store, study, &point).await?;
        finish(&store, study, &point).await?;
        let stored = store.points(study).await?[0].clone();
        assert!(finish(&store, study, &point).await.is_err());
        assert!(begin(&store, study, &point).await.is_err());
        end(&store, study, StudyState::Interrupted).await?;
        assert_eq!(store.points(study).await?[0], stored);
        assert_eq!(stored.state, PointState::Finished);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_points_data_come_back() {
    on_each_database(async |place| {
        let store = place.store().await?;
        let study = insert(&store, &small_study(), "simulator").await?;
        store.claim_next(Uuid::now_v7()).await?;
        let point = store.points(study).await?[0].clone();
        begin(&store, study, &point).await?;
        finish(&store, study, &point).await?;
        let evidence = store.evidence(point.id).await?.expect("evidence");
        assert_eq!(
            evidence,
            Evidence::of(&Seen::default(), &records(20, 30), &[], None)
        );
        assert_eq!(
            store.metrics(point.id).await?.as_deref(),
            Some(&b"pages"[..])
        );
        let (owner, scores) = store.scores(point.id).await?.expect("scores");
        assert_eq!((owner, measure::score::decode(&scores)?.len()), (study, 20));
        let parquet = store.records(point.id).await?.expect("records");
        assert_eq!(
            server::records::from_parquet(parquet.into())?,
            records(20, 30)
        );
        let all = store.points(study).await?;
        let finished = all.iter().filter(|it| it.finished_ms.is_some());
        assert_eq!((finished.count(), all.len()), (1, 2));
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn an_end_interrupts_what_is_under_load_and_frees_the_engine() {
    on_each_database(async |place| {
        let store = place.store().await?;
        let study = insert(&store, &small_study(), "simulator").await?;
        store.claim_next(Uuid::now_v7()).await?;
        let point = store.points(study).await?[0].clone();
        begin(&store, study, &point).await?;
        end(&store, study, StudyState::Stopped).await?;
        let states: Vec<PointState> = store
            .points(study)
            .await?
            .iter()
            .map(|point| point.state)
            .collect();
        assert_eq!(states, [PointState::Interrupted, PointState::Planned]);
        assert!(
            store
                .move_study(study, StudyState::Stopped, &an_event(StudyState::Queued))
                .await?
                .is_some()
        );
        assert_eq!(
            store.claim_next(Uuid::now_v7()).await?.map(|it| it.study),
            Some(study)
        );
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn what_a_dead_server_left_is_found() {
    on_each_database(async |place| {
        let (store, worker) = (place.store().await?, Uuid::now_v7());
        let study = insert(&store, &small_study(), "simulator").await?;
        store.claim_next(worker).await?;
        let past = now_ms() - 60_000;
        assert!(
            store.abandoned(Uuid::now_v7(), past).await?.is_empty(),
            "its heart beats"
        );
        assert_eq!(
            store.abandoned(worker, past).await?,
            [study],
            "its own server is a new one"
        );
        assert_eq!(
            store.abandoned(Uuid::now_v7(), now_ms() + 1).await?,
            [study],
            "its heart stopped"
        );
        assert_eq!(
            store.heartbeat(study, worker).await?,
            Some(Wishes::default())
        );
        assert_eq!(store.heartbeat(study, Uuid::now_v7()).await?, None);
        store.request_stop(study).await?;
        let wishes = store.heartbeat(study, worker).await?.context("a lease")?;
        assert!(wishes.stop && wishes.skip.is_none());
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn missed_events_are_told_in_order() {
    on_each_database(async |place| {
        let store = place.store().await?;
        let study = insert(&store, &small_study(), "simulator").await?;
        for state in [
            StudyState::Running,
            StudyState::Waiting,
            StudyState::Running,
        ] {
            store.append_event(study, &an_event(state)).await?;
        }
        let missed = store.events_after(study, 1).await?;
        assert_eq!(
            missed,
            [
                (2, an_event(StudyState::Waiting)),
                (3, an_event(StudyState::Running))
            ]
        );
        assert_eq!(store.study(study).await?.expect("stored").0.last_event, 3);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_search_finds_words_in_any_order_and_takes_signs_literally() {
    on_each_database(async |place| {
        let store = place.store().await?;
        let mut spec = small_study();
        for name in ["Größe 50% llama", "other", "under_score"] {
            spec.name = name.into();
            insert(&store, &spec, "simulator").await?;
        }
        for (search, expected) in [
            ("LLAMA größe", 1),
            ("50%", 1),
            ("5%l", 0),
            ("_", 1),
            ("", 3),
            ("llama other", 0),
        ] {
            let filter = StudyFilter {
                search: search.into(),
                ..StudyFilter::default()
            };
            assert_eq!(
                store.studies(&filter, 10).await?.len(),
                expected,
                "{search:?}"
            );
        }
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn pages_of_studies_have_no_gaps() {
    on_each_database(async |place| {
        let store = place.store().await?;
        let mut ids = Vec::new();
        for _ in 0..5 {
            ids.insert(0, insert(&store, &small_study(), "simulator").await?);
        }
        let (mut seen, mut filter) = (Vec::new(), StudyFilter::default());
        loop {
            let page = store.studies(&filter, 2).await?;
            let Some(last) = page.last() else { break };
            filter.before_ms = Some(last.created_ms);
            seen.extend(page.iter().map(|study| study.id));
        }
        assert_eq!(seen, ids);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn the_database_of_a_newer_version_is_refused() {
    on_each_database(async |place| {
        place.store().await?.close().await;
        const NEWER: &str = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) VALUES (9999, 'later', TRUE, '\\x00', 0)";
        match &place.database {
            Database::Sqlite(path) => {
                let mut connection = sqlx::SqliteConnection::connect(&format!("sqlite://{}", path.display())).await?;
                sqlx::query(NEWER).execute(&mut connection).await?;
            }
            Database::Postgres(url) => {
                let mut connection = sqlx::PgConnection::connect(url).await?;
                sqlx::query(NEWER).execute(&mut connection).await?;
            }
        }
        let error = Store::open(&place.database).await.expect_err("refused");
        assert!(matches!(error, OpenError::Newer { migration: 9999, .. }), "{error}");
        assert!(error.to_string().contains("newer version of goodput"), "{error}");
        Ok(())
    })
    .await;
}

/// A migration may be released while a database has one that was written later.
#[tokio::test]
async fn the_latest_migrations_apply_in_whatever_order_they_come() {
    on_each_database(async |place| {
        let folder = match &place.database {
            Database::Sqlite(_) => "sqlite",
            Database::Postgres(_) => "postgres",
        };
        let folder = format!("{}/../migrations/{folder}", env!("CARGO_MANIFEST_DIR"));
        let mut files: Vec<_> = std::fs::read_dir(folder)?
            .map(|file| file.map(|file| file.path()))
            .collect::<Result<_, _>>()?;
        files.sort();
        let before = |file: &std::path::PathBuf, number: &str| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            name.as_ref() < number
        };
        let (old, new): (Vec<_>, Vec<_>) = files.into_iter().partition(|it| before(it, "0004"));
        // From 0012 on they build on columns of these.
        let (mut new, last): (Vec<_>, Vec<_>) = new.into_iter().partition(|it| before(it, "0012"));
        new.reverse();
        for file in old.into_iter().chain(new).chain(last) {
            let text = sqlx::AssertSqlSafe(std::fs::read_to_string(&file)?);
            match &place.database {
                Database::Sqlite(path) => {
                    let url = format!("sqlite://{}?mode=rwc", path.display());
                    let mut connection = sqlx::SqliteConnection::connect(&url).await?;
                    sqlx::raw_sql(text).execute(&mut connection).await?;
                }
                Database::Postgres(url) => {
                    let mut connection = sqlx::PgConnection::connect(url).await?;
                    sqlx::raw_sql(text).execute(&mut connection).await?;
                }
            }
        }
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn a_second_opening_keeps_what_is_there() {
    on_each_database(async |place| {
        let study = insert(&place.store().await?, &small_study(), "simulator").await?;
        assert!(place.store().await?.study(study).await?.is_some());
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn deleted_studies_go_for_good_after_their_time() {
    on_each_database(async |place| {
        let store = place.store().await?;
        let study = insert(&store, &small_study(), "simulator").await?;
        store.set_deleted(study, Some(1000)).await?;
        assert_eq!(store.studies(&StudyFilter::default(), 10).await?, []);
        assert_eq!(store.purge_deleted(1000).await?, 0);
        assert_eq!(store.purge_deleted(1001).await?, 1);
        assert!(store.study(study).await?.is_none());
        assert_eq!(store.points(study).await?, []);
        Ok(())
    })
    .await;
}

#[tokio::test]
async fn settings_are_set_and_forgotten() {
    on_each_database(async |place| {
        let store = place.store().await?;
        store.set_setting("k", Some("1")).await?;
        store.set_setting("k", Some("2")).await?;
        assert_eq!(store.setting("k").await?.as_deref(), Some("2"));
        store.set_setting("k", None).await?;
        assert_eq!(store.setting("k").await?, None);
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_counted_first_is_kept() {
    on_each_database(async |place| {
        let store = place.store().await?;
        let id = insert(&store, &small_study(), "a").await?;
        let counted = |per_word| Counted {
            source: LengthSource::CalibratedEstimate,
            per_word: Some(per_word),
        };
        store.set_counted(id, &counted(1.25)).await?;
        store.set_counted(id, &counted(2.0)).await?;
        let (study, _) = store.study(id).await?.expect("stored");
        assert_eq!(study.counted, Some(counted(1.25)));
        for (place, counts, expected) in [
            ((0, 0), &b"first"[..], &b"first"[..]),
            ((0, 0), b"other", b"first"),
            ((0, 1), b"", b""),
            ((1, 0), b"x", b"x"),
        ] {
            store.keep_prompt_counts(id, place, counts).await?;
            let kept = store.prompt_counts(id, place).await?;
            assert_eq!(kept.as_deref(), Some(expected), "{place:?}");
        }
        assert_eq!(store.prompt_counts(id, (7, 7)).await?, None);
        assert_eq!(store.prompt_counts(Uuid::now_v7(), (0, 0)).await?, None);
        Ok(())
    })
    .await;
}
