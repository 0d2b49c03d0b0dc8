//! What ends a request that does not end itself: silence for too long, or its session being given up.

use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use crate::dialect::End;
use crate::exchange::GiveUp;
use crate::timer::{Timer, Wake};

/// Watches over one request.
pub(crate) struct Vigil<'a> {
    timer: &'a Timer,
    limit: Duration,
    give_up: &'a mut GiveUp,
    /// One wake-up a request: what is read only moves the moment that silence counts from.
    idle: Wake,
    /// Whom it will wake.
    wakes: Option<Waker>,
}

impl<'a> Vigil<'a> {
    pub(crate) fn new(timer: &'a Timer, limit: Duration, give_up: &'a mut GiveUp) -> Self {
        Self {
            timer,
            limit,
            give_up,
            idle: timer.wake_at(Instant::now() + limit),
            wakes: None,
        }
    }

    /// Whether it will wake this task, and has not tried to by the moment.
    pub(crate) fn is_set(&self, cx: &Context<'_>, moment: Instant) -> bool {
        let wakes = self.wakes.as_ref();
        wakes.is_some_and(|wakes| wakes.will_wake(cx.waker())) && moment < self.idle.due()
    }

    /// Ready with the end; `last` is when something was read.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>, last: Instant) -> Poll<End> {
        self.wakes = Some(cx.waker().clone());
        if let Poll::Ready(why) = pin!(self.give_up.told()).poll(cx) {
            return Poll::Ready(End::Cancelled(why.into()));
        }
        let until = last + self.limit;
        while Pin::new(&mut self.idle).poll(cx).is_ready() {
            if until <= Instant::now() {
                return Poll::Ready(End::Stalled(self.limit));
            }
            self.idle = self.timer.wake_at(until);
        }
        Poll::Pending
    }
}
