//! The studies that come with the studio: every one opens, and its figures follow from its requests.

use std::collections::BTreeSet;
use std::path::PathBuf;

use app::studio::{Studio, StudyFilter, StudyState};
use server::bundle::{Example, check, examples, unpack};
use tests::databases::on_each_database;
use tests::edge::OnEdge;
use tests::process::workspace;

use super::{ME, opened};

/// What a browser says of a form of ours.
const FORM: &[(&str, &str)] = &[
    ("content-type", "application/x-www-form-urlencoded"),
    ("sec-fetch-site", "same-origin"),
    ("origin", "null"),
];

/// All of them together stand in the binary.
const MOST_BYTES: u64 = 3_000_000;

fn files() -> anyhow::Result<Vec<PathBuf>> {
    let folder = std::fs::read_dir(workspace().join("examples"))?;
    let paths: Result<Vec<_>, _> = folder.map(|it| it.map(|it| it.path())).collect();
    let is_bundle = |it: &PathBuf| it.extension().is_some_and(|ending| ending == "goodput");
    Ok(paths?.into_iter().filter(is_bundle).collect())
}

#[test]
fn the_figures_of_every_example_follow_from_its_requests() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let files = files()?;
    anyhow::ensure!(!files.is_empty(), "there is none");
    for path in files {
        let unpacked = unpack(std::fs::File::open(&path)?, folder.path())?;
        let checked = check(&unpacked)?;
        anyhow::ensure!(
            checked.differences.is_empty() && 0 < checked.points,
            "{}: {checked:?}",
            path.display()
        );
    }
    Ok(())
}

#[test]
fn the_binary_has_every_example_and_stays_small() -> anyhow::Result<()> {
    let files = files()?;
    let names = files.iter().filter_map(|it| it.file_stem()?.to_str());
    let names: BTreeSet<String> = names.map(str::to_owned).collect();
    let inside: BTreeSet<String> = examples().iter().map(|it| it.name.clone()).collect();
    anyhow::ensure!(inside == names, "{inside:?} are in, {names:?} are there");
    let sizes = files.iter().map(|it| it.metadata().map(|it| it.len()));
    let all: u64 = sizes.sum::<std::io::Result<u64>>()?;
    anyhow::ensure!(all <= MOST_BYTES, "{all} bytes");
    let studies: BTreeSet<_> = examples().iter().map(|it| it.manifest.study.id).collect();
    anyhow::ensure!(studies.len() == files.len(), "two have the same study");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_example_opens_and_shows_its_figures() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let store = place.store().await?;
        let filter = StudyFilter {
            examples: true,
            ..StudyFilter::default()
        };
        let offered = studio.studies(&ME, filter).await?;
        assert_eq!(offered.len(), examples().len());
        for (example, offered) in examples().iter().zip(offered) {
            assert!(Example::find(&offered.id.to_string()).is_some());
            let it = opened(&store, &example.bytes()?, &place.data_dir).await?;
            let view = studio.study(&ME, it.id).await?;
            assert_eq!(view.state, StudyState::Finished);
            assert_eq!(view.is_simulated(), offered.simulated, "{}", offered.name);
            let mut summaries = view.points.iter().filter_map(|it| it.summary.as_ref());
            assert!(
                summaries.all(|it| !it.is_from_before()),
                "what its file lacks is found again from its requests"
            );
            let rows = studio.studies(&ME, StudyFilter::default()).await?;
            let listed = rows.into_iter().find(|row| row.id == it.id);
            let listed = listed.expect("in the list");
            assert!(listed.imported, "and says where it is from");
            assert_ne!(listed.sketch, Default::default(), "with its curves");
            assert_eq!(listed, offered, "offered as it is");
            let headline = view.configurations.iter().map(|it| it.ceiling);
            let offered: Vec<_> = offered.ceilings.into_iter().map(|(_, it)| it).collect();
            assert_eq!(headline.collect::<Vec<_>>(), offered, "the same ceilings");
        }
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_start_page_offers_them_and_a_link_opens_one() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let listed = edge.get("/api/v1/examples").await.json();
    assert_eq!(listed.as_array().map(Vec::len), Some(examples().len()));
    let start = edge.get("/").await.text();
    for example in examples() {
        let study = &example.manifest.study;
        let link = format!("/examples/{}", study.id);
        assert!(
            start.contains(&link) && start.contains(&study.name),
            "{link}"
        );
        let look = edge.get(&link).await;
        assert_eq!((look.status, look.header("location")), (303, "/#examples"));
        let page = format!("/studies/{}", study.id);
        assert_eq!(edge.get(&page).await.status, 404, "looking opens nothing");
        let visit = edge.send("POST", &link, FORM, "").await;
        assert_eq!(visit.status, 303);
        assert_eq!(visit.header("location"), page);
        assert_eq!(edge.get(&link).await.header("location"), page);
        let page = edge.get(visit.header("location")).await;
        let origin = format!("Imported from {}", example.file());
        assert!(page.text().contains(&origin), "{}", page.status);
        let by_name = format!("/api/v1/examples/{}", example.name);
        let again = edge.send("POST", &by_name, &[], "").await;
        assert_eq!(
            (again.status, &again.json()["already_here"]),
            (200, &true.into())
        );
    }
    Ok(())
}
