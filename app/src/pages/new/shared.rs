//! Lists that several parts of the form show: engines, secrets, data sets, named SLOs.
//!
//! They come with the page and are fetched again after a change. They are signals rather than resources, because a
//! resource read outside its `Suspense` may be ready in the browser when it was not on the server, and then the page
//! that wakes up is not the page that was sent.

use std::future::Future;

use leptos::prelude::*;

use crate::api;
use crate::studio::{DatasetRow, EngineRow, NamedSlo, StudioError};

/// A list that the form shows.
pub struct Shared<T: Send + Sync + 'static> {
    rows: RwSignal<Vec<T>>,
    fetch: Callback<RwSignal<Vec<T>>>,
}

impl<T: Send + Sync + 'static> Clone for Shared<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Send + Sync + 'static> Copy for Shared<T> {}

impl<T: Clone + Send + Sync + 'static> Shared<T> {
    /// A list that starts with `rows`.
    fn new<Answer>(rows: Vec<T>, list: impl Fn() -> Answer + Copy + Send + Sync + 'static) -> Self
    where
        Answer: Future<Output = Result<Vec<T>, StudioError>> + 'static,
    {
        let fetch = move |rows: RwSignal<Vec<T>>| {
            leptos::task::spawn_local(async move {
                // What cannot be fetched stays as it was; the next look may tell.
                if let Ok(fresh) = list().await {
                    rows.try_set(fresh);
                }
            });
        };
        Self {
            rows: RwSignal::new(rows),
            fetch: Callback::new(fetch),
        }
    }

    /// The rows.
    pub fn get(self) -> Vec<T> {
        self.rows.get()
    }

    /// The rows as they are now, for whoever does not follow them.
    pub fn get_untracked(self) -> Vec<T> {
        self.rows.get_untracked()
    }

    /// Fetches the list again.
    pub fn refresh(self) {
        self.fetch.run(self.rows);
    }
}

/// Engines that were added.
pub type Engines = Shared<EngineRow>;
/// Names of stored secrets.
pub type Secrets = Shared<String>;
/// Files on the server that workloads name.
pub type Datasets = Shared<DatasetRow>;
/// Named SLOs.
pub type NamedSlos = Shared<NamedSlo>;

/// Engines, to be shown.
pub fn engines(rows: Vec<EngineRow>) -> Engines {
    Shared::new(rows, api::list_engines)
}

/// Names of stored secrets, to be shown; none before they are fetched.
pub fn secrets() -> Secrets {
    Shared::new(Vec::new(), api::list_secrets)
}

/// Data sets, to be shown.
pub fn datasets(rows: Vec<DatasetRow>) -> Datasets {
    Shared::new(rows, api::list_datasets)
}

/// Named SLOs, to be shown.
pub fn slos(rows: Vec<NamedSlo>) -> NamedSlos {
    Shared::new(rows, api::list_slos)
}
