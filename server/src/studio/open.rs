//! Making a studio and ending it: data directory, database, supervisor.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use url::Url;
use uuid::Uuid;

use super::LocalStudio;
use super::history::catch_up_or_log;
use super::launch::DATASETS;
use super::{bundles, cards};
use crate::live::LiveHub;
use crate::registry::Registry;
use crate::store::{Database, OpenError, Store, now_ms};
use crate::supervisor::{Parts, Supervisor};

/// What a studio is made of.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where studies are kept.
    pub database: Database,
    /// Where files are kept; one server a directory.
    pub data_dir: PathBuf,
    /// Puts studies that a previous server left behind back in the queue.
    pub resume_interrupted: bool,
    /// Engines that stand in `studio.toml`.
    pub registry: Registry,
    /// Whoever may use this studio may have it start engines, too.
    pub may_start_engines: bool,
    /// DCGM exporters on engines' hosts.
    pub exporters: Vec<Url>,
}

/// Held by the studio that runs on a data directory.
const LOCK: &str = "lock";

/// Deleted studies can be brought back for so long.
const KEPT_DELETED_MS: i64 = 30 * 24 * 3600 * 1000;

impl LocalStudio {
    /// Opens the data directory and the database. Nothing runs before [`LocalStudio::start_supervisor`].
    pub async fn open(settings: Settings) -> Result<Arc<Self>, OpenError> {
        let Settings {
            database,
            data_dir,
            resume_interrupted,
            registry,
            may_start_engines,
            exporters,
        } = settings;
        let registry = Arc::new(registry);
        let lock = lock_data_dir(&data_dir)?;
        let worker = worker_id(&data_dir).map_err(|cause| OpenError::DataDir {
            path: data_dir.clone(),
            cause,
        })?;
        let store = Store::open(&database).await?;
        store
            .purge_deleted(now_ms() - KEPT_DELETED_MS)
            .await
            .map_err(|cause| OpenError::Store { cause })?;
        let live = Arc::new(LiveHub::new(store.clone()));
        let lock = Arc::new(lock);
        let parts = Parts {
            store: store.clone(),
            live: live.clone(),
            worker,
            data_dir: data_dir.clone(),
            registry: registry.clone(),
            may_start_engines,
            resume_interrupted,
            exporters,
            _lock: lock.clone(),
        };
        let supervisor = Supervisor::new(parts);
        Ok(Arc::new(Self {
            store,
            live,
            supervisor,
            data_dir,
            registry,
            kept: Default::default(),
            found_again: Default::default(),
            differences: Default::default(),
            offers: Default::default(),
            may_start_engines,
            _lock: lock,
        }))
    }

    /// Marks what a previous server left behind as interrupted, then measures what is queued, study after study.
    pub async fn start_supervisor(&self) -> Result<(), OpenError> {
        self.supervisor
            .start()
            .await
            .map_err(|cause| OpenError::Store { cause })?;
        // So that whoever looks at the first page need not wait for them.
        let folder = self.data_dir.clone();
        tokio::spawn(async move { bundles::example_rows(&folder).await });
        // Studies of an older program, and of whoever went away right after an end.
        let store = self.store.clone();
        tokio::spawn(async move {
            cards::catch_up(&store).await;
            catch_up_or_log(&store).await;
        });
        Ok(())
    }

    /// Ends what runs (it can be resumed) and closes the database.
    pub async fn shutdown(&self) {
        self.supervisor.shutdown().await;
        self.live.close();
        self.store.close().await;
    }
}

/// A studio that is let go ends what it runs; [`LocalStudio::shutdown`] also waits for it.
impl Drop for LocalStudio {
    fn drop(&mut self) {
        self.supervisor.close();
    }
}

/// Makes the directory and takes it for this process.
fn lock_data_dir(data_dir: &Path) -> Result<File, OpenError> {
    let refuse = |cause| OpenError::DataDir {
        path: data_dir.to_owned(),
        cause,
    };
    std::fs::create_dir_all(data_dir.join(DATASETS)).map_err(refuse)?;
    let lock = File::create(data_dir.join(LOCK)).map_err(refuse)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse {
            path: data_dir.to_owned(),
        }),
        Err(TryLockError::Error(cause)) => Err(refuse(cause)),
    }
}

/// Whether a studio runs on a data directory.
pub(crate) fn is_in_use(data_dir: &Path) -> bool {
    let lock = File::open(data_dir.join(LOCK));
    lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// This server's name among those that share a database; it outlives a restart, so that a server knows its own studies.
fn worker_id(data_dir: &Path) -> std::io::Result<Uuid> {
    let path = data_dir.join("worker");
    if let Some(known) = std::fs::read_to_string(&path)
        .ok()
        .and_then(|text| text.trim().parse().ok())
    {
        return Ok(known);
    }
    let fresh = Uuid::now_v7();
    std::fs::write(&path, fresh.to_string())?;
    Ok(fresh)
}
