//! A server that is killed in mid-study, as by `kill -9`: a process of its own, so that nothing of it can linger.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::bail;
use app::studio::{PointState, Studio, StudyState};
use server::store::Database;
use tests::databases::{Place, on_each_database};

use super::run::{slow_study, states};
use super::{ME, until_state};

const DATABASE: &str = "GOODPUT_TEST_CHILD_DATABASE";
const DATA_DIR: &str = "GOODPUT_TEST_CHILD_DATA_DIR";

/// Not a test: the server that is going to be killed. It runs only as a child of the test below.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "the child process of another test"]
async fn child() -> anyhow::Result<()> {
    let Ok(database) = std::env::var(DATABASE) else {
        return Ok(());
    };
    let place = Place {
        database: match database.strip_prefix("sqlite:") {
            Some(file) => Database::Sqlite(file.into()),
            None => Database::Postgres(database),
        },
        data_dir: PathBuf::from(std::env::var(DATA_DIR)?),
    };
    let studio = place.studio().await?;
    studio.start_supervisor().await?;
    // Nobody waits for longer.
    tokio::time::sleep(Duration::from_secs(120)).await;
    Ok(())
}

fn start_child(place: &Place) -> anyhow::Result<Child> {
    let database = match &place.database {
        Database::Sqlite(file) => format!("sqlite:{}", file.display()),
        Database::Postgres(url) => url.clone(),
    };
    let mut child = Command::new(std::env::current_exe()?);
    child
        .args(["--exact", "studio::kill::child", "--ignored"])
        .env(DATABASE, database)
        .env(DATA_DIR, &place.data_dir);
    Ok(child.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?)
}

async fn until_second_point(place: &Place, study: uuid::Uuid) -> anyhow::Result<()> {
    let store = place.store().await?;
    for _ in 0..600 {
        let points = store.points(study).await?;
        if points[0].state == PointState::Finished && points[1].state == PointState::Running {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    bail!("the second point does not begin")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_server_loses_no_finished_point() {
    on_each_database(async |place| {
        let studio = place.studio().await?;
        let id = studio.launch(&ME, slow_study()).await?;
        studio.shutdown().await;
        drop(studio);
        let mut child = start_child(place)?;
        let begun = until_second_point(place, id).await;
        child.kill()?;
        child.wait()?;
        begun?;

        let studio = place.studio().await?;
        assert_eq!(
            studio.study(&ME, id).await?.state,
            StudyState::Running,
            "nobody could say otherwise"
        );
        studio.start_supervisor().await?;
        let view = studio.study(&ME, id).await?;
        assert_eq!(view.state, StudyState::Interrupted);
        assert_eq!(
            states(&view),
            [PointState::Finished, PointState::Interrupted]
        );
        studio.resume(&ME, id).await?;
        let resumed = until_state(&studio, id, StudyState::Finished).await?;
        assert_eq!(
            resumed.points[0], view.points[0],
            "it was not measured again"
        );
        assert_eq!(
            resumed.points[1].summary.as_ref().map(|it| it.scheduled),
            Some(10)
        );
        Ok(())
    })
    .await;
}
