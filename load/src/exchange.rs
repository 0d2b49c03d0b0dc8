//! One request and its response, timed.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use measure::request::RequestRecord;
use measure::units::Nanos;
use tokio::sync::oneshot;

use crate::clock::Clock;
use crate::connect::ConnectError;
use crate::dialect::{Asked, End, Flow, Head, Moment, Stream};
use crate::engine::Call;
use crate::link::{Answer, Link};
use crate::plan::PlannedRequest;
use crate::pool::Pool;
use crate::progress::Gauges;
use crate::starts::Due;
use crate::timer::Timer;
use crate::vigil::Vigil;

/// How long a finished response may take to end, so that its connection can be used again, before that happens behind
/// the back of the next request.
const SETTLE: Duration = Duration::from_millis(2);
/// How long it may take then.
const SETTLE_BEHIND: Duration = Duration::from_secs(1);

/// Told once that a session is to be given up, and why. One for each session, so that requests share no lock.
pub(crate) struct GiveUp {
    told: oneshot::Receiver<&'static str>,
    why: Option<&'static str>,
}

impl GiveUp {
    pub(crate) fn new() -> (oneshot::Sender<&'static str>, Self) {
        let (tell, told) = oneshot::channel();
        (tell, Self { told, why: None })
    }

    /// Resolves once the session is to be given up, and ever after.
    pub(crate) async fn told(&mut self) -> &'static str {
        if self.why.is_none() {
            self.why = Some((&mut self.told).await.unwrap_or("the run was dropped"));
        }
        self.why.unwrap_or_default()
    }

    /// Why, when that has been noticed.
    pub(crate) fn why(&self) -> Option<&'static str> {
        self.why
    }
}

/// What every request of an engine has in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Habits {
    pub api: measure::study::Api,
    pub keep_text: bool,
    pub idle_timeout: Duration,
}

/// What all requests of one thread of a point share.
pub(crate) struct Lane<'a> {
    pub habits: Habits,
    pub pool: &'a Rc<Pool>,
    pub timer: &'a Timer,
    pub clock: Clock,
    pub gauges: &'a Gauges,
    /// What else may have come due while a request was read.
    pub due: Option<Due<'a>>,
}

/// The identity of a planned request.
pub(crate) fn asked(
    planned: &PlannedRequest,
    session: usize,
    turn: usize,
    scheduled: Nanos,
) -> Asked {
    Asked {
        request_id: planned.request_id.to_string(),
        session: session as u32,
        turn: turn as u32,
        scheduled,
        input_tokens: planned.input_tokens,
        output_tokens: planned.output_tokens,
    }
}

impl Lane<'_> {
    /// Sends a request now and reads its response to the end.
    pub(crate) async fn run(
        &self,
        call: Call,
        asked: Asked,
        give_up: &mut GiveUp,
    ) -> RequestRecord {
        let Habits { api, keep_text, .. } = self.habits;
        let mut reading = Reading {
            lane: self,
            stream: Stream::new(api, keep_text, asked.output_tokens),
            kept: false,
            sent: None,
        };
        let sent_after = self.gauges.sent();
        let (link, connect) = reading.connection(give_up).await;
        if let Some(link) = link {
            reading.exchange(link, call, give_up).await;
        }
        let Reading { stream, sent, .. } = reading;
        let record = stream.into_record(asked, sent, connect);
        self.gauges.ended(sent_after, &record);
        record
    }
}

struct Reading<'a> {
    lane: &'a Lane<'a>,
    stream: Stream,
    /// Whether its connection had carried a request before, or stood ready for one.
    kept: bool,
    sent: Option<Nanos>,
}

impl Reading<'_> {
    /// An idle connection, or a new one and how long that took to open. Opening is the client's own affair: it comes
    /// before `sent`, and shows as dispatch lag.
    async fn connection(&mut self, give_up: &mut GiveUp) -> (Option<Link>, Option<Nanos>) {
        let pool = self.lane.pool;
        let kept = pool.take().await;
        let fresh = kept.is_none();
        self.kept = !fresh;
        let clock = self.lane.clock;
        let began = clock.now();
        let connecting = async {
            let mut link = match kept {
                Some(link) => link,
                None => pool.open().await?,
            };
            link.ready().await?;
            Ok::<Link, ConnectError>(link)
        };
        let (link, end) = tokio::select! {
            biased;
            opened = connecting => match opened {
                Ok(link) => (Some(link), None),
                Err(error) => (None, Some(error.into())),
            },
            why = give_up.told() => (None, Some(End::Cancelled(why.into()))),
        };
        let now = clock.now();
        if let Some(end) = end {
            self.stream.end(now, end);
        }
        (link, fresh.then(|| now.since(began)))
    }

    async fn exchange(&mut self, mut link: Link, call: Call, give_up: &mut GiveUp) {
        link.follow(self.lane.clock);
        let mut vigil = Vigil::new(self.lane.timer, self.lane.habits.idle_timeout, give_up);
        let sent = self.lane.clock.now();
        self.sent = Some(sent);
        if !self.head(&mut link, call, sent, &mut vigil).await {
            return;
        }
        if self.body(&mut link, sent, &mut vigil).await == Flow::Done {
            settle(Rc::clone(self.lane.pool), link).await;
        }
    }

    /// Sends the request and takes the response's head in; whether there is one.
    async fn head(
        &mut self,
        link: &mut Link,
        call: Call,
        sent: Nanos,
        vigil: &mut Vigil<'_>,
    ) -> bool {
        let since = self.lane.clock.instant(sent);
        let end = tokio::select! {
            biased;
            answer = link.send(call) => match answer {
                Ok(answer) => {
                    self.take_head(link.latest(sent).arrived(), &answer);
                    return true;
                }
                Err(end) => end,
            },
            end = poll_fn(|cx| vigil.poll(cx, since)) => end,
        };
        // It had been opened before, and nothing came.
        if self.kept && matches!(end, End::Reset(_)) {
            self.lane.pool.breaks_off();
        }
        self.stream.end(self.lane.clock.now(), end);
        false
    }

    fn take_head(&mut self, at: Nanos, answer: &Answer) {
        let head = Head {
            status: answer.status,
            content_type: answer.content_type.as_deref(),
            retry_after: answer.retry_after.as_deref(),
            date: answer.date.as_deref(),
            location: answer.location.as_deref(),
        };
        self.stream.head(at, head);
    }

    /// Reads the body; `Done` when the content came to its end, so that the connection may serve again.
    async fn body(&mut self, link: &mut Link, sent: Nanos, vigil: &mut Vigil<'_>) -> Flow {
        let Lane { clock, gauges, .. } = *self.lane;
        let mut last = clock.now();
        let end = poll_fn(|cx| {
            let before = last;
            if let Poll::Ready(end) = self.poll_body(cx, link, (sent, &mut last)) {
                return Poll::Ready(end);
            }
            // What has just read is not silent; had it been told anything, the flag would say so.
            let has_read = before < last;
            if has_read && vigil.is_set(cx, clock.instant(last)) && !gauges.given_up() {
                return Poll::Pending;
            }
            let end = ready!(vigil.poll(cx, clock.instant(last)));
            Poll::Ready(Some((Flow::Continue, end)))
        });
        let Some((flow, end)) = end.await else {
            return Flow::Done;
        };
        self.stream.end(clock.now(), end);
        flow
    }

    /// Reads what there is. Ready once nothing more will come: with the end, unless the content itself said so.
    fn poll_body(
        &mut self,
        cx: &mut Context<'_>,
        link: &mut Link,
        (sent, last): (Nanos, &mut Nanos),
    ) -> Poll<Option<(Flow, End)>> {
        loop {
            let mut flow = Flow::Continue;
            let mut take = |moment: Moment, bytes: &[u8]| {
                *last = moment.at;
                flow = self.take_bytes(moment, sent, bytes);
            };
            let read = ready!(link.poll_content(cx, sent, &mut take));
            if let Some(due) = self.lane.due {
                due.by(*last);
            }
            match read {
                Some(Ok(())) if flow == Flow::Done => return Poll::Ready(None),
                Some(Ok(())) => {}
                None => return Poll::Ready(Some((Flow::Done, End::Clean))),
                Some(Err(end)) => return Poll::Ready(Some((Flow::Continue, end))),
            }
        }
    }

    fn take_bytes(&mut self, moment: Moment, sent: Nanos, bytes: &[u8]) -> Flow {
        let before = self.stream.chunk_count();
        let flow = self.stream.bytes(moment, bytes);
        let new = self.stream.chunk_count() - before;
        if new > 0 {
            self.lane.gauges.events(new);
        }
        if before == 0 && new > 0 {
            self.lane.gauges.first_token(moment.arrived().since(sent));
        }
        flow
    }
}

/// Reads the rest of a body whose content is known to be over, and gives its connection back.
async fn settle(pool: Rc<Pool>, mut link: Link) {
    let mut rest = Box::pin(async move {
        link.discard().await;
        if link.is_reusable().await {
            pool.take_back(link);
        }
    });
    if tokio::time::timeout(SETTLE, &mut rest).await.is_err() {
        tokio::task::spawn_local(tokio::time::timeout(SETTLE_BEHIND, rest));
    }
}
