//! A queue that cannot be worked on: said once in the log, and on the page of every study that waits in it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use app::studio::{Hold, LiveEvent, StudyState};
use tracing::{error, info, warn};

use super::Supervisor;
use crate::store::StoreError;

/// Why nothing is taken from the queue, as long as nothing can be.
#[derive(Default)]
pub(super) struct Stuck(Mutex<Option<String>>);

impl Stuck {
    /// Notes how it is; whether that is news.
    fn note(&self, problem: Option<&str>) -> bool {
        let mut held = self.held();
        let is_news = held.as_deref() != problem;
        *held = problem.map(str::to_owned);
        is_news
    }

    /// Why, in words.
    pub fn problem(&self) -> Option<String> {
        self.held().clone()
    }

    fn held(&self) -> MutexGuard<'_, Option<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Supervisor {
    /// Looks at the queue and says, when that is news, that it cannot or that it can again.
    pub(super) async fn look_and_tell(self: &std::sync::Arc<Self>) {
        let looked = self.look().await;
        let problem = looked.as_ref().err().map(words);
        if !self.stuck.note(problem) {
            return;
        }
        match &looked {
            Err(cause) => error!(
                cause = cause as &dyn std::error::Error,
                "cannot look at the queue; trying on"
            ),
            Ok(()) => info!("the queue is worked on again"),
        }
        match self.parts.store.queued().await {
            Ok(waiting) => {
                for study in waiting {
                    // Not numbered: it is not in the store.
                    let event = LiveEvent::State {
                        state: StudyState::Queued,
                        problem: problem.map(str::to_owned),
                        remaining_ms: None,
                        hold: Hold::None,
                    };
                    self.parts.live.announce(study, None, event);
                }
            }
            Err(cause) => warn!(
                cause = &cause as &dyn std::error::Error,
                "cannot tell who waits in the queue"
            ),
        }
    }
}

/// Why a study is not begun, and the mend.
fn words(cause: &StoreError) -> &'static str {
    if cause.is_full() {
        "There is no room left to store what is measured. Free space on the disk of the studio's data directory; the study then starts by itself."
    } else {
        "The studio's database cannot be written, so that no study starts; the studio's log says why. Mend that; the study then starts by itself."
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use app::studio::{Actor, Studio};
    use measure::study::StudySpec;
    use sqlx::{Connection, SqliteConnection};

    use super::*;
    use crate::store::Database;
    use crate::studio::{LocalStudio, Settings};

    #[test]
    fn a_problem_is_news_once() {
        let stuck = Stuck::default();
        assert!(!stuck.note(None));
        assert!(stuck.note(Some("full")));
        assert!(!stuck.note(Some("full")));
        assert_eq!(stuck.problem().as_deref(), Some("full"));
        assert!(stuck.note(Some("gone")));
        assert!(stuck.note(None));
        assert!(!stuck.note(None));
        assert_eq!(stuck.problem(), None);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_study_that_cannot_be_taken_from_the_queue_says_why() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("studio.db");
        let settings = Settings {
            database: Database::Sqlite(file.clone()),
            data_dir: folder.path().to_owned(),
            resume_interrupted: false,
            registry: Default::default(),
            may_start_engines: true,
            exporters: Vec::new(),
        };
        let studio = LocalStudio::open(settings).await.expect("a studio");
        let spec = StudySpec::goodput_exercise();
        let study = studio.launch(&Actor::Owner, spec).await.expect("a study");
        let url = format!("sqlite:{}", file.display());
        let mut beside = SqliteConnection::connect(&url).await.expect("its database");
        sqlx::query(
            "CREATE TRIGGER no_change BEFORE UPDATE ON studies BEGIN SELECT RAISE(ABORT, 'no'); END",
        )
        .execute(&mut beside)
        .await
        .expect("a trigger");
        studio.start_supervisor().await.expect("a supervisor");
        let mut problem = None;
        for _ in 0..200 {
            let view = studio.study(&Actor::Owner, study).await.expect("the study");
            assert_eq!(view.state, StudyState::Queued);
            problem = view.problem;
            if problem.is_some() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let problem = problem.expect("a reason");
        assert!(problem.contains("cannot be written"), "{problem}");
        studio.shutdown().await;
    }
}
