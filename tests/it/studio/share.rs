//! Links: unguessable, revocable, and silent about engines and people.

use app::studio::{NewComparison, ShareScope, Studio, StudioError, StudyEdit};
use measure::study::{EngineSpec, Turn};
use server::store::now_ms;
use tests::databases::on_each_database;
use tests::samples::{configuration, small_study};

use super::{ME, finished, run};

fn token(path: Option<String>) -> String {
    path.and_then(|path| path.strip_prefix("/s/").map(str::to_owned))
        .expect("a path")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_shows_numbers_until_it_is_revoked() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let view = finished(&studio, small_study()).await?;
        let share = studio
            .share(&ME, view.id, None, ShareScope::Requests)
            .await?;
        let token = token(share.path);
        assert_eq!(token.len(), 64);
        let shared = studio.shared(&token).await?;
        assert_eq!(shared.points, view.points);
        let point = view.points[0].id;
        assert_eq!(
            studio.shared_scores(&token, point).await?,
            studio.scores(point).await?
        );
        let listed = studio.shares(&ME, view.id).await?;
        assert_eq!(
            (listed.len(), listed[0].path.clone(), listed[0].revoked),
            (1, None, false)
        );
        studio.revoke(&ME, share.id).await?;
        assert!(matches!(
            studio.shared(&token).await,
            Err(StudioError::NotFound { .. })
        ));
        assert!(studio.shared_scores(&token, point).await.is_err());
        assert!(studio.shares(&ME, view.id).await?[0].revoked);
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_gives_only_its_own_studys_scores() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let one = finished(&studio, small_study()).await?;
        let other = studio.launch(&ME, small_study()).await?;
        let token = token(
            studio
                .share(&ME, other, None, ShareScope::Requests)
                .await?
                .path,
        );
        assert!(
            studio
                .shared_scores(&token, one.points[0].id)
                .await
                .is_err()
        );
        assert!(studio.shared("0").await.is_err());
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_expires_and_dies_with_its_study() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let id = studio.launch(&ME, small_study()).await?;
        assert_eq!(
            super::invalid_fields(studio.share(&ME, id, Some(1), ShareScope::Requests).await),
            ["expires_ms"]
        );
        let short = studio
            .share(&ME, id, Some(now_ms() + 150), ShareScope::Requests)
            .await?;
        let long = token(
            studio
                .share(&ME, id, None, ShareScope::Requests)
                .await?
                .path,
        );
        let short = token(short.path);
        assert!(studio.shared(&short).await.is_ok());
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        assert!(studio.shared(&short).await.is_err());
        studio.delete(&ME, id).await?;
        assert!(studio.shared(&long).await.is_err());
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_names_no_engine_and_no_person() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let mut endpoint = run::endpoint("http://127.0.0.1:9");
        endpoint.model = "/home/secret/models/m.gguf".into();
        endpoint.headers.insert("x-team".into(), "secret".into());
        studio
            .save_engine(&ME, "secret".into(), endpoint.clone())
            .await?;
        let mut spec = small_study();
        spec.name =
            "/home/secret/models/m.gguf at 127.0.0.1: kv-connector http://secret.internal:9000"
                .into();
        spec.engine = EngineSpec::Endpoint(endpoint.clone());
        spec.factorial = true;
        spec.configurations.push(configuration("other", &[]));
        spec.configurations.push(configuration("pause", &[]));
        spec.configurations[1].turn = Turn::OtherEndpoint(endpoint);
        spec.configurations[2].turn = Turn::Pause {
            instruction: "ssh secret".into(),
        };
        spec.configurations[0]
            .knobs
            .insert("adapter".into(), "/mnt/secret/lora".into());
        for (name, value) in [
            ("kv-connector", "http://secret.internal:9000"),
            ("host", "secret"),
            ("cmd", "--host secret.corp"),
            ("max-num-seqs", "64"),
            ("schedule-policy", "lpm"),
        ] {
            let knobs = &mut spec.configurations[0].knobs;
            knobs.insert(name.into(), value.into());
        }
        let id = studio.launch(&ME, spec).await?;
        let note = StudyEdit {
            note: Some("secret".into()),
            tags: Some(vec!["secret".into()]),
            ..Default::default()
        };
        studio.edit(&ME, id, note).await?;
        let token = token(
            studio
                .share(&ME, id, None, ShareScope::Requests)
                .await?
                .path,
        );
        let text = serde_json::to_string(&studio.shared(&token).await?)?;
        assert!(
            !text.contains("secret") && !text.contains("127.0.0.1"),
            "{text}"
        );
        assert!(
            text.contains("\"m.gguf at hidden: kv-connector hidden\""),
            "{text}"
        );
        assert!(text.contains("lpm") && text.contains("64"), "{text}");
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_to_a_comparison_outlives_its_studies_one_by_one() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let mut ids = Vec::new();
        let mut studies = Vec::new();
        for _ in 0..3 {
            let view = finished(&studio, small_study()).await?;
            ids.push(view.configurations[0].id);
            studies.push(view.id);
        }
        let comparison = NewComparison {
            configurations: ids.clone(),
            ..NewComparison::default()
        };
        let share = studio.share_comparison(&ME, comparison).await?;
        let path = share.path.unwrap_or_default();
        let token = path.trim_start_matches("/s/").trim_end_matches("/compare");
        for study in &studies {
            let listed = studio.shares(&ME, *study).await?;
            assert_eq!(listed.len(), 1);
            assert_eq!((listed[0].id, &listed[0].configurations), (share.id, &ids));
        }
        assert!(studio.shared(token).await.is_err(), "no study's page");
        let compared = studio.shared_compare(token, Vec::new(), None).await?;
        assert_eq!(compared.configurations.len(), 3);
        let store = place.store().await?;
        studio.delete(&ME, studies[0]).await?;
        store.purge_deleted(now_ms() + 1).await?;
        let link = studio.comparable(token).await?;
        assert_eq!((&link.ids, &link.gone), (&ids, &vec![ids[0]]));
        let compared = studio.shared_compare(token, Vec::new(), None).await?;
        assert_eq!(compared.configurations.len(), 2);
        assert_eq!(studio.shares(&ME, studies[1]).await?.len(), 1);
        for study in &studies[1..] {
            studio.delete(&ME, *study).await?;
        }
        let few = studio.comparable(token).await.err();
        assert!(few.is_some_and(|why| why.to_string().contains("comparison any more")));
        // Of nothing that is left, nothing is kept.
        store.purge_deleted(now_ms() + 1).await?;
        assert!(!store.revoke_share(share.id).await?);
        Ok(())
    })
    .await;
}
