//! Absolute deadlines on a thread of its own.
//!
//! Timers of the async runtime have a resolution of a millisecond, which alone spoils a Poisson process, and relative
//! sleeps lose 10 to 19 % of a rate of 200 per second. The pacer sleeps until deadlines, with a timer slack of a
//! nanosecond, and never spins.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::num::NonZeroU64;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use measure::units::Nanos;
use tokio::sync::{mpsc, oneshot};

use crate::clock::Clock;

/// Wakes somebody at a moment between slots: the next turn of a session.
struct Alarm {
    due: Nanos,
    wake: oneshot::Sender<()>,
}

/// Sets alarms with the pacer.
#[derive(Clone)]
pub(crate) struct Alarms {
    clock: Clock,
    set: SyncSender<Alarm>,
}

impl Alarms {
    /// Resolves at the moment.
    pub(crate) async fn wait(&self, due: Nanos) {
        let (wake, woken) = oneshot::channel();
        let set = self.set.try_send(Alarm { due, wake }).is_ok();
        if !set || woken.await.is_err() {
            // Not in practice: the channel has room for one alarm of every session, and the pacer outlives them.
            tokio::time::sleep(self.clock.until(due).unwrap_or_default()).await;
        }
    }
}

/// A running pacer. It ends when its alarms and the receiver of its slots are dropped, or all is done.
pub(crate) struct Pacer {
    /// The indices of slots whose moment has come, in order.
    pub slots: mpsc::Receiver<usize>,
    pub alarms: Alarms,
    /// For whoever wants to see it end.
    #[cfg_attr(not(test), expect(dead_code, reason = "it ends by itself"))]
    pub thread: JoinHandle<()>,
}

/// Starts the pacer. `starts` must be in order; at most `sleepers` alarms are set at a time.
pub(crate) fn start(clock: Clock, starts: Vec<Nanos>, sleepers: usize) -> std::io::Result<Pacer> {
    // Room for everything: handing over never blocks the pacer, nor setting an alarm a session.
    let (slot, slots) = mpsc::channel(starts.len().max(1));
    let (alarm, alarms) = sync_channel(sleepers.max(1));
    let run = move || run(clock, &starts, &slot, &alarms);
    let thread = std::thread::Builder::new()
        .name("goodput-pacer".into())
        .spawn(run)?;
    Ok(Pacer {
        slots,
        alarms: Alarms { clock, set: alarm },
        thread,
    })
}

fn run(clock: Clock, starts: &[Nanos], slot: &mpsc::Sender<usize>, alarms: &Receiver<Alarm>) {
    // Without it the kernel may add 50 µs to every sleep; where it is refused, that shows as dispatch lag.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    let mut set: BinaryHeap<Reverse<Due>> = BinaryHeap::new();
    let mut next = 0;
    loop {
        while next < starts.len() && clock.until(starts[next]).is_none() {
            if slot.try_send(next).is_err() {
                return;
            }
            next += 1;
        }
        while set
            .peek()
            .is_some_and(|Reverse(Due(alarm))| clock.until(alarm.due).is_none())
        {
            if let Some(Reverse(Due(alarm))) = set.pop() {
                let _ = alarm.wake.send(());
            }
        }
        let first_alarm = set.peek().map(|Reverse(Due(alarm))| alarm.due);
        let due = starts
            .get(next)
            .copied()
            .into_iter()
            .chain(first_alarm)
            .min();
        // With nothing due it waits for an alarm to be set, or for the last session to end.
        let wait = due.map_or(Duration::from_secs(3600), |due| {
            clock.until(due).unwrap_or_default()
        });
        match alarms.recv_timeout(wait) {
            Ok(alarm) => set.push(Reverse(Due(alarm))),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// An alarm in order of its moment.
struct Due(Alarm);

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.0.due == other.0.due
    }
}

impl Eq for Due {}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.due.cmp(&other.0.due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The median lag of fifty slots.
    async fn median_lag() -> Nanos {
        let clock = Clock::starting_now();
        let starts: Vec<Nanos> = (0..50).map(|slot| Nanos(slot * 700_000)).collect();
        let mut pacer = start(clock, starts.clone(), 1).expect("pacer");
        let mut lags = Vec::new();
        for (expected, due) in starts.iter().enumerate() {
            assert_eq!(pacer.slots.recv().await, Some(expected));
            assert_eq!(clock.until(*due), None, "slot {expected} came early");
            lags.push(clock.now().since(*due));
        }
        lags.sort();
        lags[lags.len() / 2]
    }

    #[tokio::test]
    async fn slots_come_in_order_soon_and_never_early() {
        // The best of five: other work on the machine is no fault of the pacer.
        let mut best = Nanos(u64::MAX);
        for _ in 0..5 {
            best = best.min(median_lag().await);
        }
        assert!(best < Nanos::from_millis(1), "median lag {best}");
    }

    #[tokio::test]
    async fn an_alarm_between_slots_is_kept() {
        let clock = Clock::starting_now();
        let slots = vec![Nanos::ZERO, Nanos::from_secs_f64(900.0)];
        let pacer = start(clock, slots, 1).expect("pacer");
        let due = Nanos::from_millis(20);
        pacer.alarms.wait(due).await;
        assert_eq!(clock.until(due), None);
        assert!(
            clock.now() < Nanos::from_secs_f64(30.0),
            "woken at {}",
            clock.now()
        );
    }

    #[tokio::test]
    async fn it_ends_when_nobody_listens_any_more() {
        let Pacer {
            slots,
            alarms,
            thread,
        } = start(
            Clock::starting_now(),
            vec![Nanos::from_millis(1), Nanos::from_secs_f64(900.0)],
            1,
        )
        .expect("pacer");
        drop((slots, alarms));
        tokio::task::spawn_blocking(|| thread.join())
            .await
            .expect("joined")
            .expect("no panic");
    }
}
