//! The threads that make the load. Each has a runtime, connections and timers of its own and shares nothing on the hot
//! path: what a thread reads, that thread has sent.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot};

use crate::connect::Target;
use crate::pool::Pool;
use crate::timer::Timer;

/// What a thread has for itself.
pub(crate) struct Local {
    pub pool: Rc<Pool>,
    pub timer: Rc<Timer>,
}

type Task = Pin<Box<dyn Future<Output = ()>>>;
type Job = Box<dyn FnOnce(Rc<Local>) -> Task + Send>;

/// A running thread. It ends when this is dropped, with all that runs on it.
pub(crate) struct Shard(mpsc::Sender<Job>);

/// Jobs handed to a thread and not yet begun; a point hands it three.
const JOBS: usize = 16;
/// More threads than this have never been of use: the engine is the bottleneck long before.
const MOST: usize = 8;

/// One thread a core.
pub(crate) fn start_all(target: &Target) -> io::Result<Arc<[Shard]>> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    (0..cores.min(MOST))
        .map(|_| Shard::start(target.clone()))
        .collect()
}

impl Shard {
    fn start(target: Target) -> io::Result<Self> {
        let (hand_over, jobs) = mpsc::channel(JOBS);
        let runtime = || {
            Builder::new_current_thread()
                .enable_all()
                .build_local(Default::default())
        };
        let (tell, told) = std::sync::mpsc::sync_channel(1);
        let work = move || match runtime() {
            Ok(runtime) => runtime.block_on(work(target, jobs, &tell)),
            Err(error) => drop(tell.send(Err(error))),
        };
        std::thread::Builder::new()
            .name("goodput-load".into())
            .spawn(work)?;
        told.recv()
            .unwrap_or_else(|_| Err(io::Error::other("a load thread ended at once")))?;
        Ok(Self(hand_over))
    }

    /// Runs a job on the thread; its result, or nothing when the thread has ended.
    pub(crate) fn run<T, F>(
        &self,
        job: impl FnOnce(Rc<Local>) -> F + Send + 'static,
    ) -> oneshot::Receiver<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + 'static,
    {
        let (tell, told) = oneshot::channel();
        let job: Job = Box::new(move |local| {
            let running = job(local);
            Box::pin(async move { drop(tell.send(running.await)) })
        });
        // A thread that is gone drops the sender, which the receiver sees.
        let _ = self.0.try_send(job);
        told
    }
}

async fn work(
    target: Target,
    mut jobs: mpsc::Receiver<Job>,
    tell: &std::sync::mpsc::SyncSender<io::Result<()>>,
) {
    let timer = match Timer::start() {
        Ok(timer) => timer,
        Err(error) => return drop(tell.send(Err(error))),
    };
    let pool = Rc::new(Pool::new(target));
    let local = Rc::new(Local { pool, timer });
    let _ = tell.send(Ok(()));
    while let Some(job) = jobs.recv().await {
        tokio::task::spawn_local(job(Rc::clone(&local)));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn target() -> Target {
        Target {
            addresses: Vec::new(),
            tls: None,
            tunnel: None,
            http2: false,
            connect_timeout: Duration::from_secs(1),
            kernel_time: true,
            breaks_off: Arc::default(),
            room: None,
        }
    }

    #[tokio::test]
    async fn a_job_s_result_comes_back() {
        let shard = Shard::start(target()).expect("a thread");
        assert_eq!(shard.run(|_| async { 7 }).await, Ok(7));
    }

    #[tokio::test]
    async fn dropping_it_ends_what_runs_on_it() {
        let shard = Shard::start(target()).expect("a thread");
        let endless = shard.run(|_| std::future::pending::<()>());
        drop(shard);
        assert!(endless.await.is_err());
    }
}
