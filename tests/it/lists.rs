//! Studies in lists: cards that follow what changes, filters that find, pages that work without a script.

use app::studio::{Actor, ShareScope, Studio, StudyEdit, StudyFilter, StudyRow};
use server::studio::LocalStudio;
use tests::databases::on_each_database;
use tests::edge::{Answer, OnEdge};
use tests::large::{Size, store_large};
use tests::many::store_many;
use tests::samples::small_study;
use uuid::Uuid;

const ME: &Actor = &Actor::Owner;

/// What a browser says of a form of ours.
const FORM: &[(&str, &str)] = &[
    ("content-type", "application/x-www-form-urlencoded"),
    ("sec-fetch-site", "same-origin"),
    ("origin", "null"),
];

const SMALL: Size = Size {
    configurations: 2,
    levels: 3,
    requests: 30,
};

async fn found(studio: &LocalStudio, filter: StudyFilter) -> anyhow::Result<Vec<StudyRow>> {
    Ok(studio.studies(ME, filter).await?)
}

fn tagged(tag: &str) -> StudyFilter {
    StudyFilter {
        tag: tag.to_owned(),
        ..StudyFilter::default()
    }
}

async fn tag(studio: &LocalStudio, id: Uuid, tags: &[&str]) -> anyhow::Result<()> {
    let edit = StudyEdit {
        tags: Some(tags.iter().map(|tag| (*tag).to_owned()).collect()),
        ..StudyEdit::default()
    };
    Ok(studio.edit(ME, id, edit).await?)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cards_follow_what_changes() {
    on_each_database(async |place| {
        let store = place.store().await?;
        let study = store_large(&store, SMALL).await?;
        let studio = place.studio().await?;
        let rows = found(&studio, StudyFilter::default()).await?;
        assert_eq!((rows[0].points_finished, rows[0].points), (6, 6));
        assert_eq!(rows[0].configurations.len(), 2);
        assert!(rows[0].simulated && !rows[0].toy);
        assert_ne!(rows[0].sketch, Default::default(), "it has its curves");
        assert!(found(&studio, tagged("a")).await?.is_empty());
        tag(&studio, study, &["a", "b"]).await?;
        assert_eq!(found(&studio, tagged("a")).await?.len(), 1);
        tag(&studio, study, &["b"]).await?;
        assert!(found(&studio, tagged("a")).await?.is_empty());
        assert_eq!(store.facet_count("tag", "a").await?, 0);
        assert_eq!(store.facet_count("tag", "b").await?, 1);
        studio.delete(ME, study).await?;
        assert!(found(&studio, tagged("b")).await?.is_empty());
        assert_eq!(
            (
                store.study_count().await?,
                store.facet_count("tag", "b").await?
            ),
            (0, 0)
        );
        studio.undelete(ME, study).await?;
        assert_eq!(found(&studio, tagged("b")).await?.len(), 1);
        assert_eq!(store.study_count().await?, 1);
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn filters_find_among_many_and_pages_have_no_gaps() {
    on_each_database(async |place| {
        store_many(place, 400).await?;
        let studio = place.studio().await?;
        let mut filter = StudyFilter {
            limit: 60,
            ..StudyFilter::default()
        };
        let mut seen = Vec::new();
        loop {
            let page = found(&studio, filter.clone()).await?;
            let Some(last) = page.last() else { break };
            filter.before_ms = Some(last.created_ms);
            seen.extend(page.iter().map(|row| row.created_ms));
        }
        assert_eq!(seen.len(), 400);
        assert!(seen.is_sorted_by(|one, next| next < one), "newest first");
        assert_eq!(found(&studio, tagged("rare")).await?.len(), 3);
        let engine = StudyFilter {
            engine: "vLLM 0.7.0,".into(),
            search: "LLAMA-0b".into(),
            ..tagged("nightly")
        };
        let rows = found(&studio, engine).await?;
        let fits = |row: &StudyRow| row.engine == "vLLM 0.7.0, llama-0b";
        assert!(!rows.is_empty() && rows.iter().all(fits), "{rows:#?}");
        Ok(())
    })
    .await;
}

async fn press(edge: &OnEdge, path: &str) -> Answer {
    edge.send("POST", path, FORM, "").await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deleting_says_which_links_it_ends_and_can_be_taken_back_without_a_script()
-> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let study = edge.finished(small_study()).await?.id;
    for _ in 0..2 {
        edge.studio
            .share(ME, study, None, ShareScope::default())
            .await?;
    }
    let revoked = edge
        .studio
        .share(ME, study, None, ShareScope::default())
        .await?;
    edge.studio.revoke(ME, revoked.id).await?;
    let gone = press(&edge, &format!("/studies/{study}/delete")).await;
    assert_eq!(
        (gone.status, gone.header("location").to_owned()),
        (303, format!("/?deleted={study}"))
    );
    let page = edge.get(gone.header("location")).await.text();
    assert!(
        page.contains("Deleted “small”. Its 2 share links no longer work."),
        "{page}"
    );
    let back = press(&edge, &format!("/studies/{study}/undelete")).await;
    assert_eq!((back.status, back.header("location")), (303, "/"));
    let page = edge.get(&format!("/?deleted={study}")).await.text();
    assert!(page.contains(&format!("id=\"study-{study}\"")) && !page.contains("Deleted “"));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_forms_of_ours_are_taken_and_only_where_there_are_some() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let id = Uuid::now_v7();
    let path = format!("/studies/{id}/delete");
    let status = async |headers: &[(&str, &str)], path: &str| {
        edge.send("POST", path, headers, "").await.status
    };
    assert_eq!(status(FORM, &path).await, 404, "ours, of no study");
    assert_eq!(status(&FORM[..1], &path).await, 415, "nobody vouches");
    let foreign = [FORM[0], ("sec-fetch-site", "cross-site"), FORM[2]];
    assert_eq!(status(&foreign, &path).await, 403);
    assert_eq!(status(FORM, "/api/v1/studies").await, 415);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_leaves_out_what_is_empty_and_keeps_the_rest() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    edge.finished(small_study()).await?;
    let long = edge.get("/?q=sm+all&engine=&state=finished&from=").await;
    assert_eq!(
        (long.status, long.header("location")),
        (303, "/?q=sm%20all&state=finished")
    );
    let page = edge
        .get("/?q=small&state=finished&from=2020-01-01")
        .await
        .text();
    for part in [
        "1 study with “small”, state finished, from 2020-01-01.",
        "<svg class=\"sketch\"",
        "value=\"small\"",
        "simulator tiny (1)",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    let none = edge.get("/list?q=small&state=failed").await.text();
    assert!(
        none.contains("No study with “small”, state failed"),
        "{none}"
    );
    let empty = edge.get("/?to=2020-01-01").await.text();
    assert!(empty.contains("Show all studies"));
    Ok(())
}
