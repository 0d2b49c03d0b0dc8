//! Open loop: the sessions of one thread, each started at its moment by whoever notices first that it has come.
//!
//! While the thread idles that is the alarm; while it is busy, a request that has just read. So an arrival waits for one
//! read at most, and not behind all that there is to read.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Waker};

use measure::request::RequestRecord;
use measure::units::Nanos;
use tokio::sync::mpsc;

use crate::exchange::GiveUp;
use crate::session::Runner;
use crate::timer::Alarm;

/// The sessions of one thread that have not begun, in the order of their moments, and what became of the others.
#[derive(Default)]
pub(crate) struct Starts {
    /// When the next one is due: all that a request looks at.
    next: Cell<Option<Nanos>>,
    waiting: RefCell<VecDeque<(usize, Nanos, GiveUp)>>,
    /// What sessions left when they ended: a task that is waited for would keep the room of its whole run. Its room is
    /// taken before the first begins, so that it never grows.
    ran: RefCell<Vec<RequestRecord>>,
    /// Held by every session that runs, and here as long as more may begin.
    running: RefCell<Option<mpsc::Sender<()>>>,
}

impl Starts {
    fn fill(&self, sessions: impl Iterator<Item = (usize, Nanos, GiveUp)>) {
        self.waiting.borrow_mut().extend(sessions);
        self.look();
    }

    /// Takes room for so many records.
    pub(crate) fn expect(&self, records: usize) {
        self.ran.borrow_mut().reserve_exact(records);
    }

    /// Keeps what a session has left.
    pub(crate) fn keep(&self, records: Vec<RequestRecord>) {
        self.ran.borrow_mut().extend(records);
    }

    /// All that was kept.
    pub(crate) fn kept(&self) -> Vec<RequestRecord> {
        self.ran.take()
    }

    fn look(&self) {
        let next = self.waiting.borrow().front().map(|(_, due, _)| *due);
        self.next.set(next);
    }

    fn take(&self) -> Option<(usize, Nanos, GiveUp)> {
        let taken = self.waiting.borrow_mut().pop_front();
        self.look();
        taken
    }

    /// Nothing begins any more.
    fn close(&self) {
        self.waiting.borrow_mut().clear();
        self.look();
    }
}

/// What a request starts when it sees that the moment has come.
#[derive(Clone, Copy)]
pub(crate) struct Due<'a>(&'a Runner);

impl Due<'_> {
    /// Starts what is due by now.
    pub(crate) fn by(self, now: Nanos) {
        let Self(runner) = self;
        while runner.starts.next.get().is_some_and(|next| next <= now) {
            runner.start_next();
        }
    }
}

impl Runner {
    pub(crate) fn due(&self) -> Option<Due<'_>> {
        Some(Due(self))
    }

    /// Starts each of these sessions at its moment, until told to give up; then waits for those that run.
    pub(crate) async fn open_loop(
        self,
        sessions: Vec<(usize, GiveUp)>,
        mut give_up: GiveUp,
    ) -> Vec<RequestRecord> {
        let count = |(index, _): &(usize, GiveUp)| self.point.sessions[*index].count;
        self.starts.expect(sessions.iter().map(count).sum());
        let (running, mut all_gone) = mpsc::channel(1);
        self.starts.running.replace(Some(running));
        let alarm = Alarm::new();
        let start =
            |(index, give_up): (usize, GiveUp)| (index, self.point.sessions[index].start, give_up);
        self.starts.fill(sessions.into_iter().map(start));
        while let Some(due) = self.starts.next.get() {
            let moment = async {
                match &alarm {
                    Ok(alarm) => alarm.at(self.point.clock.instant(due)).await,
                    Err(_) => self.local.timer.until(self.point.clock, due).await,
                }
            };
            tokio::select! {
                biased;
                _ = give_up.told() => self.starts.close(),
                () = moment => Due(&self).by(due),
            }
        }
        self.starts.running.take();
        // Nobody sends: this is the end of the last session, one that panicked included.
        let _ = all_gone.recv().await;
        self.starts.kept()
    }

    /// Starts a session, and takes it as far as it gets without waiting: its first request is under way before anything
    /// else happens on this thread.
    fn start_next(&self) {
        let Some((index, start, mut give_up)) = self.starts.take() else {
            return;
        };
        self.point.begun(index, start);
        let (runner, running) = (self.clone(), self.starts.running.borrow().clone());
        let mut session: Pin<Box<dyn Future<Output = ()>>> = Box::pin(async move {
            let records = runner.session(index, start, &mut give_up).await;
            runner.starts.keep(records);
            drop(running);
        });
        // Its task asks again at once, so that nobody needs to be woken for this first time.
        let at_once = &mut Context::from_waker(Waker::noop());
        if session.as_mut().poll(at_once).is_pending() {
            tokio::task::spawn_local(session);
        }
    }
}
