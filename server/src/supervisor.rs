//! placeholder
use std::path::{Path, PathBuf};
use std::sync::Arc;

use measure::study::StudySpec;
use uuid::Uuid;

use crate::live::LiveHub;
use crate::store::{Store, StoreError};

pub struct Supervisor {
    store: Store,
    live: Arc<LiveHub>,
    worker: Uuid,
    data_dir: PathBuf,
    resume: bool,
}

impl Supervisor {
    pub fn new(
        store: Store,
        live: Arc<LiveHub>,
        worker: Uuid,
        data_dir: PathBuf,
        resume: bool,
    ) -> Arc<Self> {
        Arc::new(Self {
            store,
            live,
            worker,
            data_dir,
            resume,
        })
    }
    pub async fn start(self: &Arc<Self>) -> Result<(), StoreError> {
        Ok(())
    }
    pub fn wake(&self) {}
    pub fn stop_study(&self, _: Uuid) {}
    pub fn wake_study(&self, _: Uuid) {}
    pub async fn shutdown(&self) {}
}

pub(crate) fn plan_first_point(_spec: &StudySpec, _data_dir: &Path) -> Result<(), String> {
    Ok(())
}
