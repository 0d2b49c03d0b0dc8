//! What browsers hear while a study runs. A slow browser misses snapshots, never a point: numbered events are in the
//! store, and a reader that fell behind, or comes back, takes what it missed from there.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use app::studio::{LiveEvent, Progress, StudyState};
use futures_util::Stream;
use tokio::sync::broadcast::{self, error::RecvError};
use tracing::error;
use uuid::Uuid;

use crate::store::Store;

/// Events a reader may lie behind before it is sent to the store.
const BEHIND: usize = 64;

/// Another server may run the study: so often a silent reader looks into the store.
const LOOK: Duration = Duration::from_secs(5);

/// An event and its number; progress has none.
pub type Numbered = (Option<u64>, LiveEvent);

/// Passes events on to whoever listens.
pub struct LiveHub {
    store: Store,
    channels: Mutex<HashMap<Uuid, broadcast::Sender<Numbered>>>,
    /// The latest progress of each study that is measured here, for whoever comes in between.
    latest: Mutex<HashMap<Uuid, LiveEvent>>,
}

impl LiveHub {
    /// A hub over a store.
    pub fn new(store: Store) -> Self {
        Self {
            store,
            channels: Mutex::default(),
            latest: Mutex::default(),
        }
    }

    /// The point under load as it was seen last, while it is under load.
    pub fn underway(&self, study: Uuid) -> Option<(Uuid, Progress)> {
        match self.latest(study)? {
            LiveEvent::Progress {
                point, progress, ..
            } => Some((point, progress)),
            _ => None,
        }
    }

    fn latest(&self, study: Uuid) -> Option<LiveEvent> {
        let latest = self.latest.lock();
        let latest = latest.unwrap_or_else(PoisonError::into_inner);
        latest.get(&study).cloned()
    }

    /// Progress is kept until its point, or its study, is another.
    fn keep_latest(&self, study: Uuid, event: &LiveEvent) {
        let latest = self.latest.lock();
        let mut latest = latest.unwrap_or_else(PoisonError::into_inner);
        match event {
            LiveEvent::Progress { .. } => drop(latest.insert(study, event.clone())),
            LiveEvent::Point { .. } => drop(latest.remove(&study)),
            LiveEvent::State { state, .. } if *state != StudyState::Running => {
                latest.remove(&study);
            }
            LiveEvent::State { .. } | LiveEvent::Facts { .. } => {}
        }
    }

    /// Tells listeners of a study. Numbered events must be in the store already.
    pub fn announce(&self, study: Uuid, number: Option<u64>, event: LiveEvent) {
        self.keep_latest(study, &event);
        let mut channels = self.channels.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(sender) = channels.get(&study) else {
            return;
        };
        if sender.send((number, event)).is_err() {
            channels.remove(&study);
        }
    }

    /// Events of a study after a number: first the missed ones, then those to come.
    pub fn subscribe(
        &self,
        study: Uuid,
        after: u64,
    ) -> impl Stream<Item = Numbered> + Send + use<> {
        let mut channels = self.channels.lock().unwrap_or_else(PoisonError::into_inner);
        channels.retain(|_, sender| 0 < sender.receiver_count());
        let receiver = channels
            .entry(study)
            .or_insert_with(|| broadcast::channel(BEHIND).0)
            .subscribe();
        let feed = Feed {
            store: self.store.clone(),
            study,
            receiver,
            seen: after,
            missed: VecDeque::new(),
            behind: true,
            latest: self.latest(study),
        };
        futures_util::stream::unfold(feed, |mut feed| async move {
            feed.next().await.map(|event| (event, feed))
        })
    }

    /// Ends all streams: the server closes.
    pub fn close(&self) {
        self.channels
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }
}

/// One listener.
struct Feed {
    store: Store,
    study: Uuid,
    receiver: broadcast::Receiver<Numbered>,
    /// The last number passed on.
    seen: u64,
    missed: VecDeque<(u64, LiveEvent)>,
    /// The store may hold events after `seen`.
    behind: bool,
    /// Progress from before it listened, told once it has caught up.
    latest: Option<LiveEvent>,
}

impl Feed {
    async fn next(&mut self) -> Option<Numbered> {
        loop {
            if self.behind {
                self.catch_up().await?;
            }
            if let Some((number, event)) = self.missed.pop_front() {
                self.seen = number;
                self.behind = self.missed.is_empty();
                return Some((Some(number), event));
            }
            if let Some(latest) = self.latest.take() {
                return Some((None, latest));
            }
            match tokio::time::timeout(LOOK, self.receiver.recv()).await {
                Ok(Ok((None, event))) => return Some((None, event)),
                Ok(Ok((Some(number), _))) if number <= self.seen => {}
                Ok(Ok((Some(number), event))) if number == self.seen + 1 => {
                    self.seen = number;
                    return Some((Some(number), event));
                }
                Ok(Ok((Some(_), _)) | Err(RecvError::Lagged(_))) | Err(_) => self.behind = true,
                Ok(Err(RecvError::Closed)) => return None,
            }
        }
    }

    /// Reads a page of missed events; `None` ends the stream, and its reader will come again.
    async fn catch_up(&mut self) -> Option<()> {
        match self.store.events_after(self.study, self.seen).await {
            Ok(missed) => {
                self.missed = missed.into();
                self.behind = false;
                Some(())
            }
            Err(cause) => {
                error!(study = %self.study, cause = &cause as &dyn std::error::Error, "cannot read missed events");
                None
            }
        }
    }
}
