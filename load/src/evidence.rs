//! What the client sees of itself during a point: evidence for or against its innocence.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use measure::certificate::ClientEvidence;
use measure::units::Nanos;
use tokio::sync::watch;

use crate::clock::Clock;
use crate::shard::Shard;
use crate::timer::Alarm;

/// Between two samples of the poll lag. Often enough for a p99, seldom enough to cost nothing.
const EVERY: Duration = Duration::from_millis(10);
/// Most samples kept: those of an hour.
const MOST: usize = 900_000;

/// Watches the load threads and the process until it is asked for what it saw.
pub(crate) struct Watch {
    lags: Arc<Mutex<Vec<u32>>>,
    /// Dropping it ends the sampling.
    _going_on: watch::Sender<()>,
    started: Instant,
    cpu: Duration,
}

impl Watch {
    pub(crate) fn start(shards: &[Shard]) -> Self {
        let lags = Arc::new(Mutex::new(Vec::with_capacity(16_384)));
        let (_going_on, over) = watch::channel(());
        for shard in shards {
            let (lags, over) = (Arc::clone(&lags), over.clone());
            drop(shard.run(move |_| sample(lags, over)));
        }
        Self {
            lags,
            _going_on,
            started: Instant::now(),
            cpu: process_cpu(),
        }
    }

    pub(crate) fn end(self, clock: Clock) -> ClientEvidence {
        let wall = self.started.elapsed().as_secs_f64();
        let cpu = process_cpu().saturating_sub(self.cpu).as_secs_f64();
        let mut lags = self
            .lags
            .lock()
            .map(|mut lags| std::mem::take(&mut *lags))
            .unwrap_or_default();
        lags.sort_unstable();
        let micros = |lag: u32| Nanos(u64::from(lag) * 1000);
        ClientEvidence {
            poll_lag_p99: lags
                .get((lags.len() * 99 / 100).min(lags.len().saturating_sub(1)))
                .copied()
                .map(micros),
            poll_lag_max: lags.last().copied().map(micros),
            clock_was_set: clock.wall_was_set(),
            cpu_cores: (wall > 0.0).then(|| cpu / wall),
            cores_available: std::thread::available_parallelism()
                .ok()
                .and_then(|cores| u32::try_from(cores.get()).ok()),
        }
    }
}

/// Asks to be woken again and again, and notes how late that happens.
async fn sample(lags: Arc<Mutex<Vec<u32>>>, mut over: watch::Receiver<()>) {
    let Ok(alarm) = Alarm::new() else { return };
    loop {
        let due = Instant::now() + EVERY;
        tokio::select! {
            _ = over.changed() => return,
            () = alarm.at(due) => {}
        }
        let lag = u32::try_from(due.elapsed().as_micros()).unwrap_or(u32::MAX);
        // A few threads, a few hundred times a second, never a request.
        let Ok(mut lags) = lags.lock() else { return };
        if lags.len() < MOST {
            lags.push(lag);
        }
    }
}

/// CPU time of the whole process so far.
pub(crate) fn process_cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(
        time.tv_sec.unsigned_abs(),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    )
}
