//! One request and its response, timed.

use std::pin::pin;
use std::rc::Rc;
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
    pub clock: Clock,
    pub gauges: &'a Gauges,
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
            sent: None,
        };
        self.gauges.sent();
        let (link, connect) = reading.connection(give_up).await;
        if let Some(link) = link {
            reading.exchange(link, call, give_up).await;
        }
        let Reading { stream, sent, .. } = reading;
        let record = stream.into_record(asked, sent, connect);
        self.gauges.ended(record.is_ok());
        record
    }
}

struct Reading<'a> {
    lane: &'a Lane<'a>,
    stream: Stream,
    sent: Option<Nanos>,
}

impl Reading<'_> {
    /// An idle connection, or a new one and how long that took to open. Opening is the client's own affair: it comes
    /// before `sent`, and shows as dispatch lag.
    async fn connection(&mut self, give_up: &mut GiveUp) -> (Option<Link>, Option<Nanos>) {
        let pool = self.lane.pool;
        let kept = pool.take().await;
        let fresh = kept.is_none();
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
        let sent = self.lane.clock.now();
        self.sent = Some(sent);
        if !self.head(&mut link, call, sent, give_up).await {
            return;
        }
        if self.body(&mut link, sent, give_up).await == Flow::Done {
            settle(Rc::clone(self.lane.pool), link).await;
        }
    }

    /// Sends the request and takes the response's head in; whether there is one.
    async fn head(
        &mut self,
        link: &mut Link,
        call: Call,
        sent: Nanos,
        give_up: &mut GiveUp,
    ) -> bool {
        let idle = self.lane.habits.idle_timeout;
        let end = tokio::select! {
            biased;
            answer = link.send(call) => match answer {
                Ok(answer) => {
                    self.take_head(link.latest(sent).arrived(), &answer);
                    return true;
                }
                Err(end) => end,
            },
            why = give_up.told() => End::Cancelled(why.into()),
            () = tokio::time::sleep(idle) => End::Stalled(idle),
        };
        self.stream.end(self.lane.clock.now(), end);
        false
    }

    fn take_head(&mut self, at: Nanos, answer: &Answer) {
        let head = Head {
            status: answer.status,
            content_type: answer.content_type.as_deref(),
            retry_after: answer.retry_after.as_deref(),
            date: answer.date.as_deref(),
        };
        self.stream.head(at, head);
    }

    /// Reads the body; `Done` when the content came to its end, so that the connection may serve again.
    async fn body(&mut self, link: &mut Link, sent: Nanos, give_up: &mut GiveUp) -> Flow {
        let (clock, limit) = (self.lane.clock, self.lane.habits.idle_timeout);
        let mut last = clock.now();
        // One timer a request; each read only moves `last`.
        let mut idle = pin!(tokio::time::sleep(limit));
        let (flow, end) = loop {
            let mut flow = Flow::Continue;
            let mut take = |moment: Moment, bytes: &[u8]| {
                last = moment.at;
                flow = self.take_bytes(moment, sent, bytes);
            };
            tokio::select! {
                biased;
                read = link.content(sent, &mut take) => match read {
                    Some(Ok(())) => if flow == Flow::Done { return Flow::Done },
                    None => break (Flow::Done, End::Clean),
                    Some(Err(end)) => break (Flow::Continue, end),
                },
                why = give_up.told() => break (Flow::Continue, End::Cancelled(why.into())),
                () = &mut idle => {
                    let silent = Duration::from_nanos(clock.now().since(last).0);
                    if limit <= silent { break (Flow::Continue, End::Stalled(limit)) }
                    idle.as_mut().reset(tokio::time::Instant::now() + (limit - silent));
                }
            }
        };
        self.stream.end(clock.now(), end);
        flow
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
        while let Some(Ok(())) = link.content(Nanos::ZERO, &mut |_, _| ()).await {}
        if link.is_reusable().await {
            pool.give_back(link);
        }
    });
    if tokio::time::timeout(SETTLE, &mut rest).await.is_err() {
        tokio::task::spawn_local(tokio::time::timeout(SETTLE_BEHIND, rest));
    }
}
