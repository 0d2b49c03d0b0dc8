//! One request and its response, timed.

use std::pin::pin;
use std::time::Duration;

use measure::request::RequestRecord;
use measure::units::Nanos;
use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, HeaderName, RETRY_AFTER};
use tokio::sync::oneshot;

use crate::clock::Clock;
use crate::connection;
use crate::dialect::{Asked, End, Flow, Head, Stream};
use crate::engine::Engine;
use crate::plan::PlannedRequest;
use crate::progress::Gauges;

/// How long a finished response may take to give its connection back before that happens in the background.
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

/// What all requests of a point share.
pub(crate) struct Lane<'a> {
    pub engine: &'a Shared,
    pub clock: Clock,
    pub gauges: &'a Gauges,
}

/// The parts of an [`Engine`] that tasks hold.
#[derive(Clone)]
pub(crate) struct Shared {
    pub http: reqwest::Client,
    pub api: measure::study::Api,
    pub keep_text: bool,
    pub idle_timeout: Duration,
}

impl From<&Engine> for Shared {
    fn from(engine: &Engine) -> Self {
        let (http, options) = (engine.http.clone(), &engine.options);
        Self {
            http,
            api: engine.api,
            keep_text: options.keep_text,
            idle_timeout: options.idle_timeout,
        }
    }
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
        request: reqwest::Request,
        asked: Asked,
        give_up: &mut GiveUp,
    ) -> RequestRecord {
        let stream = Stream::new(self.engine.api, self.engine.keep_text, asked.output_tokens);
        let mut reading = Reading {
            lane: self,
            stream,
            sent: self.clock.now(),
        };
        self.gauges.sent();
        let (response, fresh) = reading.head(request, give_up).await;
        if let Some(mut response) = response
            && reading.body(&mut response, give_up).await == Flow::Done
        {
            settle(response).await;
            // Lets the pool take the connection back before the next turn asks for one.
            tokio::task::yield_now().await;
        }
        let record = reading.stream.into_record(asked, Some(reading.sent), fresh);
        self.gauges.ended(record.is_ok());
        record
    }
}

struct Reading<'a> {
    lane: &'a Lane<'a>,
    stream: Stream,
    sent: Nanos,
}

impl Reading<'_> {
    async fn head(
        &mut self,
        request: reqwest::Request,
        give_up: &mut GiveUp,
    ) -> (Option<Response>, bool) {
        let idle = self.lane.engine.idle_timeout;
        let end = tokio::select! {
            biased;
            (answer, fresh) = connection::execute(&self.lane.engine.http, request) => match answer {
                Ok(response) => {
                    self.take_head(&response);
                    return (Some(response), fresh);
                }
                Err(error) => connection::no_response(&error),
            },
            why = give_up.told() => End::Cancelled(why.into()),
            () = tokio::time::sleep(idle) => End::Stalled(idle),
        };
        self.stream.end(self.lane.clock.now(), end);
        (None, false)
    }

    fn take_head(&mut self, response: &Response) {
        let header = |name: HeaderName| {
            response
                .headers()
                .get(name)
                .and_then(|value| value.to_str().ok())
        };
        let status = response.status().as_u16();
        let head = Head {
            status,
            content_type: header(CONTENT_TYPE),
            retry_after: header(RETRY_AFTER),
        };
        self.stream.head(self.lane.clock.now(), head);
    }

    /// Reads the body; `Done` when the stream's end mark came before the end of the body.
    async fn body(&mut self, response: &mut Response, give_up: &mut GiveUp) -> Flow {
        let (clock, limit) = (self.lane.clock, self.lane.engine.idle_timeout);
        let mut last = clock.now();
        // One timer a request; each read only moves `last`.
        let mut idle = pin!(tokio::time::sleep(limit));
        loop {
            tokio::select! {
                biased;
                chunk = response.chunk() => {
                    last = clock.now();
                    match chunk {
                        Ok(Some(bytes)) => if self.take_bytes(last, &bytes) == Flow::Done { return Flow::Done },
                        Ok(None) => { self.stream.end(last, End::Clean); return Flow::Continue }
                        Err(error) => { self.stream.end(last, connection::broken_body(&error)); return Flow::Continue }
                    }
                }
                why = give_up.told() => { self.stream.end(clock.now(), End::Cancelled(why.into())); return Flow::Continue }
                () = &mut idle => {
                    let silent = Duration::from_nanos(clock.now().since(last).0);
                    if limit <= silent { self.stream.end(clock.now(), End::Stalled(limit)); return Flow::Continue }
                    idle.as_mut().reset(tokio::time::Instant::now() + (limit - silent));
                }
            }
        }
    }

    fn take_bytes(&mut self, at: Nanos, bytes: &[u8]) -> Flow {
        let before = self.stream.chunk_count();
        let flow = self.stream.bytes(at, bytes);
        let new = self.stream.chunk_count() - before;
        if new > 0 {
            self.lane.gauges.events(new);
        }
        if before == 0 && new > 0 {
            self.lane.gauges.first_token(at.since(self.sent));
        }
        flow
    }
}

/// Reads the rest of a body whose content is known to be over, so that its connection can be used again.
async fn settle(mut response: Response) {
    let mut rest = Box::pin(async move { while let Ok(Some(_)) = response.chunk().await {} });
    if tokio::time::timeout(SETTLE, &mut rest).await.is_err() {
        tokio::spawn(tokio::time::timeout(SETTLE_BEHIND, rest));
    }
}
