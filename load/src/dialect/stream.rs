//! One response, from its head to its end.

use std::time::Duration;

use measure::request::{ErrorKind, Outcome, RequestRecord, TokenSource};
use measure::study::Api;
use measure::units::Nanos;

use super::decoder::Decoder;
use super::seen::Seen;
use super::wire::{refusal_text, seconds_until};
use super::{Asked, Framing, Moment, end_mark, framing};

/// Most bytes kept of what went wrong.
pub(super) const DETAIL_LIMIT: usize = 2048;

/// The head of a response, as far as it matters.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// Status code.
    pub status: u16,
    /// The content-type header.
    pub content_type: Option<&'a str>,
    /// The retry-after header.
    pub retry_after: Option<&'a str>,
    /// The date header, against which a date in retry-after is read.
    pub date: Option<&'a str>,
    /// The location header: where a redirect points.
    pub location: Option<&'a str>,
}

/// How a response ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Its body ended properly.
    Clean,
    /// The connection was closed before the body's end.
    Truncated(String),
    /// The connection broke.
    Reset(String),
    /// Silence for longer than this.
    Stalled(Duration),
    /// There was no connection.
    ConnectFailed(String),
    /// There was no connection, because this machine allowed none.
    ClientLimit(String),
    /// We gave it up.
    Cancelled(String),
}

/// Whether there is more to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Read on.
    Continue,
    /// The end mark was read; whatever the socket does now is of no interest.
    Done,
}

/// The state machine of one response. Feed it [`Stream::head`], [`Stream::bytes`] and [`Stream::end`], then take the
/// record.
#[derive(Clone, Debug)]
pub struct Stream {
    api: Api,
    decoder: Decoder,
    seen: Seen,
    status: Option<u16>,
    headers: Option<Nanos>,
    retry_after: Option<String>,
    foreign_type: bool,
    /// The body of a refused request.
    refusal: Vec<u8>,
    /// Where a redirect points.
    location: Option<String>,
    coalesced_reads: u32,
    /// The latest read, and its events.
    read: (Nanos, usize),
    /// When and how it ended.
    end: Option<(Nanos, Outcome)>,
    detail: Option<String>,
}

impl Stream {
    /// A response of which nothing has arrived. `expected` output tokens make room for as many events.
    pub fn new(api: Api, keep_text: bool, expected: u32) -> Self {
        Self {
            api,
            decoder: Decoder::new(framing(api)),
            seen: Seen::new(api, keep_text, expected),
            status: None,
            headers: None,
            retry_after: None,
            foreign_type: false,
            refusal: Vec::new(),
            location: None,
            coalesced_reads: 0,
            read: (Nanos::ZERO, 0),
            end: None,
            detail: None,
        }
    }

    /// Status and headers were read.
    pub fn head(&mut self, at: Nanos, head: Head<'_>) {
        self.headers = Some(at);
        self.status = Some(head.status);
        self.retry_after = head.retry_after.map(|text| {
            let seconds = head.date.and_then(|now| seconds_until(text, now));
            seconds.map_or_else(|| clip(text), |seconds| seconds.to_string())
        });
        self.location = head.location.map(clip);
        let expected = |kind: &str| {
            let kind = kind.trim_start().to_ascii_lowercase();
            match framing(self.api) {
                Framing::EventStream => kind.starts_with("text/event-stream"),
                Framing::Lines => kind.contains("json"),
            }
        };
        self.foreign_type = !head.content_type.is_some_and(expected);
    }

    /// A read brought bytes of the body.
    pub fn bytes(&mut self, moment: impl Into<Moment>, bytes: &[u8]) -> Flow {
        let moment = moment.into();
        if self.end.is_some() {
            return Flow::Done;
        }
        if self.is_refused() {
            let room = DETAIL_LIMIT - self.refusal.len();
            self.refusal
                .extend_from_slice(&bytes[..bytes.len().min(room)]);
            return Flow::Continue;
        }
        let before = self.seen.chunks.len();
        let (decoder, seen) = (&mut self.decoder, &mut self.seen);
        let decoded = decoder.push(bytes, &mut |event| seen.event(moment, event, false));
        self.count_read(before, moment);
        if let Err(too_long) = decoded {
            self.seen
                .fail(ErrorKind::MalformedEvent, too_long.to_string());
            self.conclude(moment.at, End::Clean);
        } else if self.seen.done.is_some() {
            self.conclude(moment.at, End::Clean);
        }
        if self.end.is_some() {
            Flow::Done
        } else {
            Flow::Continue
        }
    }

    /// Counts a read, which may bring its content in several pieces, once it has brought a second event.
    fn count_read(&mut self, before: usize, moment: Moment) {
        let new = self.seen.chunks.len() - before;
        let in_read = if self.read.0 == moment.at {
            self.read.1
        } else {
            0
        };
        self.read = (moment.at, in_read + new);
        self.coalesced_reads += u32::from(in_read < 2 && 2 <= in_read + new);
    }

    /// The body ended, or will not go on.
    pub fn end(&mut self, at: Nanos, how: End) {
        if self.end.is_some() {
            return;
        }
        if how == End::Clean && !self.is_refused() {
            let (decoder, seen) = (&mut self.decoder, &mut self.seen);
            if let Err(too_long) = decoder.finish(&mut |event| seen.event(at.into(), event, true)) {
                self.seen
                    .fail(ErrorKind::MalformedEvent, too_long.to_string());
            }
        }
        self.conclude(at, how);
    }

    /// Token-bearing events so far.
    pub fn chunk_count(&self) -> usize {
        self.seen.chunks.len()
    }

    /// When the first token-bearing event arrived.
    pub fn first_token(&self) -> Option<Nanos> {
        Some(self.seen.chunks.first()?.arrived())
    }

    /// Name and arguments of each tool call, by index; empty where texts are not kept.
    pub fn tool_calls(&self) -> &[(String, String)] {
        self.seen
            .texts
            .as_ref()
            .map_or(&[], |texts| &texts.tool_calls)
    }

    fn is_refused(&self) -> bool {
        self.status
            .is_some_and(|status| !(200..300).contains(&status))
    }

    fn conclude(&mut self, at: Nanos, how: End) {
        let (outcome, detail) = match self.judge(how) {
            Ok(()) => (Outcome::Ok, None),
            Err((kind, detail)) => (Outcome::Error(kind), Some(clip(&detail))),
        };
        self.end = Some((at, outcome));
        self.detail = detail;
    }

    fn judge(&mut self, how: End) -> Result<(), (ErrorKind, String)> {
        if let Some(status) = self.status.filter(|_| self.is_refused()) {
            let limited = status == 429 || (status == 503 && self.retry_after.is_some());
            let kind = if limited {
                ErrorKind::RateLimited
            } else {
                ErrorKind::HttpStatus
            };
            return Err((kind, self.refusal()));
        }
        if let Some(failure) = self.seen.failure.take() {
            return Err(failure);
        }
        match how {
            End::Clean => self.judge_complete(),
            End::Truncated(why) => Err((ErrorKind::Truncated, why)),
            End::Reset(why) => Err((ErrorKind::ConnectionReset, why)),
            End::Stalled(limit) => Err((ErrorKind::StallTimeout, self.silence(limit))),
            End::ConnectFailed(why) => Err((ErrorKind::ConnectFailed, why)),
            End::ClientLimit(why) => Err((ErrorKind::ClientLimit, why)),
            End::Cancelled(why) => Err((ErrorKind::Cancelled, why)),
        }
    }

    /// What a refusal says: its body, else where it points.
    fn refusal(&self) -> String {
        let text = refusal_text(&self.refusal);
        match &self.location {
            Some(location) => {
                format!("redirected to {location}, which is not followed; give that address")
            }
            None if text.trim().is_empty() => "no reason given".to_owned(),
            None => text,
        }
    }

    fn silence(&self, limit: Duration) -> String {
        let what = match self.headers {
            Some(_) => "no part of an answer",
            None => "no response",
        };
        format!("{what} came for {} ms", limit.as_millis())
    }

    fn judge_complete(&self) -> Result<(), (ErrorKind, String)> {
        let seen = &self.seen;
        let anything = seen.framed || 0 < seen.unframed;
        let complete = seen.done.is_some()
            || seen.finish_reason.is_some()
            || (anything && end_mark(self.api).is_none());
        if !seen.framed && self.is_another_kind_of_body() {
            let start = String::from_utf8_lossy(&seen.junk);
            let start = if start.is_empty() {
                "one whole JSON object".into()
            } else {
                start
            };
            return Err(no_stream(&seen.junk, &start));
        }
        match (complete, seen.chunks.is_empty()) {
            (true, false) => Ok(()),
            (true, true) => Err((
                ErrorKind::EmptyStream,
                "a complete stream without one token".into(),
            )),
            (false, true) if !anything => Err((ErrorKind::EmptyStream, "an empty body".into())),
            (false, _) => Err((
                ErrorKind::Truncated,
                format!(
                    "the stream ended without {}",
                    end_mark(self.api).unwrap_or_default()
                ),
            )),
        }
    }

    /// Nothing was framed as an event: a page, or one whole answer in JSON.
    fn is_another_kind_of_body(&self) -> bool {
        let seen = &self.seen;
        let nothing_read = seen.chunks.is_empty() && (0 < seen.unframed || !seen.junk.is_empty());
        nothing_read || (seen.unframed == 1 && self.foreign_type)
    }

    fn warnings(&self) -> Vec<String> {
        let seen = &self.seen;
        let complete = matches!(self.end, Some((_, Outcome::Ok)));
        let flags = [
            (
                complete && seen.done.is_none() && end_mark(self.api).is_some(),
                "missing_done",
            ),
            (
                complete && seen.finish_reason.is_none() && end_mark(self.api).is_some(),
                "missing_finish_reason",
            ),
            (0 < seen.unframed, "unframed_line"),
            (
                self.foreign_type && self.status.is_some() && !self.is_refused(),
                "content_type",
            ),
        ];
        flags
            .iter()
            .filter(|(set, _)| *set)
            .map(|(_, name)| (*name).to_owned())
            .collect()
    }

    /// The record. A stream that was never ended counts as cancelled.
    pub fn into_record(
        self,
        asked: Asked,
        sent: Option<Nanos>,
        connect: Option<Nanos>,
    ) -> RequestRecord {
        let warnings = self.warnings();
        let Asked {
            request_id,
            session,
            turn,
            scheduled,
            input_tokens,
            output_tokens,
        } = asked;
        let (end, outcome) = self.end.unzip();
        let mut seen = self.seen;
        seen.chunks.shrink_to_fit();
        let (output, token_source) = match (seen.usage_tokens, seen.engine_tokens) {
            (Some(n), _) => (Some(n), TokenSource::Usage),
            (None, Some(n)) => (Some(n), TokenSource::EngineFinal),
            (None, None) => (None, TokenSource::None),
        };
        let (text, reasoning_text) = seen
            .texts
            .map(|texts| (texts.answer, texts.reasoning))
            .unzip();
        RequestRecord {
            request_id,
            session,
            turn,
            scheduled,
            sent,
            headers: self.headers,
            chunks: seen.chunks,
            finish: seen.finish,
            end,
            outcome: outcome.unwrap_or(Outcome::Error(ErrorKind::Cancelled)),
            error_detail: self.detail,
            http_status: self.status,
            retry_after: self.retry_after,
            finish_reason: seen.finish_reason,
            prompt_tokens: seen.prompt_tokens,
            cached_tokens: seen.cached_tokens,
            output_tokens: output,
            token_source,
            input_tokens_planned: input_tokens,
            output_tokens_asked: output_tokens,
            connect,
            coalesced_reads: self.coalesced_reads,
            warnings,
            text,
            reasoning_text: reasoning_text.filter(|text| !text.is_empty()),
        }
    }
}

/// A body that is no stream; an error object in it says more than its shape does.
fn no_stream(body: &[u8], start: &str) -> (ErrorKind, String) {
    let json: Option<serde_json::Value> = serde_json::from_slice(body).ok();
    match json
        .as_ref()
        .and_then(|json| json.get("error"))
        .filter(|error| !error.is_null())
    {
        Some(_) => (ErrorKind::InBandError, refusal_text(body)),
        None => (
            ErrorKind::NotAStream,
            format!("the answer is no event stream but starts with: {start}"),
        ),
    }
}

/// At most [`DETAIL_LIMIT`] bytes of a text, cut between characters.
fn clip(text: &str) -> String {
    text[..text.floor_char_boundary(DETAIL_LIMIT)].to_owned()
}
