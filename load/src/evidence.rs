//! What the client sees of itself during a point: evidence for or against its innocence.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use measure::certificate::ClientEvidence;
use measure::units::Nanos;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

/// Between two samples of the poll lag. Often enough for a p99, seldom enough to cost nothing.
const EVERY: Duration = Duration::from_millis(4);
/// Most samples kept: those of an hour.
const MOST: usize = 900_000;

/// Watches the load runtime and the process until it is asked for what it saw.
pub(crate) struct Watch {
    lags: Arc<Mutex<Vec<u32>>>,
    sampler: JoinHandle<()>,
    started: Instant,
    cpu: Duration,
}

impl Watch {
    pub(crate) fn start(load: &Handle) -> Self {
        let lags = Arc::new(Mutex::new(Vec::with_capacity(16_384)));
        let sampler = load.spawn(sample(Arc::clone(&lags)));
        Self {
            lags,
            sampler,
            started: Instant::now(),
            cpu: process_cpu(),
        }
    }

    pub(crate) fn end(self) -> ClientEvidence {
        self.sampler.abort();
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
            cpu_cores: (wall > 0.0).then(|| cpu / wall),
            cores_available: std::thread::available_parallelism()
                .ok()
                .and_then(|cores| u32::try_from(cores.get()).ok()),
        }
    }
}

/// Asks to be woken again and again, and notes how late that happens (the timer's own millisecond included).
async fn sample(lags: Arc<Mutex<Vec<u32>>>) {
    loop {
        let due = Instant::now() + EVERY;
        tokio::time::sleep_until(due.into()).await;
        let lag = u32::try_from(due.elapsed().as_micros()).unwrap_or(u32::MAX);
        // Nobody else takes this lock before the end.
        let Ok(mut lags) = lags.lock() else { return };
        if lags.len() < MOST {
            lags.push(lag);
        }
    }
}

/// CPU time of the whole process so far.
fn process_cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(
        time.tv_sec.unsigned_abs(),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    )
}
