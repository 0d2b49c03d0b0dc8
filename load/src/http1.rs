//! HTTP/1.1 on the hot path: a request goes out in one write, and the content of each read goes straight to who reads
//! the stream, with the moment of that read. Nothing is copied, no other task takes part.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWriteExt, ReadBuf};

use crate::chunked::{Framing, Place};
use crate::connect::Stream;
use crate::dialect::End;
use crate::link::Answer;
use crate::socket::{READ, Stamps};

/// Most bytes of a response's head.
const HEAD: usize = 64 << 10;
/// Most headers of a response.
const HEADERS: usize = 128;
/// Most interim responses (100 Continue, 103 Early Hints) before the answer.
const INTERIM: u32 = 64;

thread_local! {
    /// Where reads land: one for each thread, since bytes stay here no longer than it takes to hand them on.
    static LANDING: RefCell<Vec<u8>> = RefCell::new(vec![0; READ]);
}

/// A connection that carries one request at a time.
pub(crate) struct Http1 {
    stream: Stream,
    pub stamps: Rc<Stamps>,
    /// What was read behind the head.
    ahead: Vec<u8>,
    framing: Framing,
    /// Whether the other side keeps the connection open behind this response.
    keeps: bool,
}

impl Http1 {
    pub(crate) fn new(stream: Stream, stamps: Rc<Stamps>) -> Self {
        Self {
            stream,
            stamps,
            ahead: Vec::new(),
            framing: Framing::Length(0),
            keeps: true,
        }
    }

    /// Whether it can carry another request: the response before has ended, and the other side neither closed the
    /// connection nor said anything that nobody asked for.
    pub(crate) async fn is_reusable(&mut self) -> bool {
        self.keeps
            && self.framing.is_over()
            && self.ahead.is_empty()
            && poll_fn(|cx| Poll::Ready(self.poll_read(cx, |_, _| ())))
                .await
                .is_pending()
    }

    /// Writes a request, byte for byte, and reads the head of its response.
    pub(crate) async fn send(&mut self, request: &[u8]) -> Result<Answer, End> {
        let written = async {
            self.stream.write_all(request).await?;
            self.stream.flush().await
        };
        // A server may answer, and close, before it has read everything: what it says counts for more.
        let refused = written.await.err();
        match (self.head().await, refused) {
            (Ok(answer), _) => Ok(answer),
            (Err(_), Some(refused)) => Err(End::Reset(format!(
                "the request could not be written: {refused}"
            ))),
            (Err(end), None) => Err(end),
        }
    }

    async fn head(&mut self) -> Result<Answer, End> {
        let mut head = std::mem::take(&mut self.ahead);
        let mut interim = 0;
        loop {
            if let Some((length, answer)) = self.parse(&head)? {
                head.drain(..length);
                if answer.status < 200 {
                    // 100 Continue and the like: the answer itself follows.
                    interim += 1;
                    if interim <= INTERIM {
                        continue;
                    }
                    return Err(End::Reset(format!(
                        "more than {INTERIM} interim responses came before an answer"
                    )));
                }
                self.ahead = head;
                return Ok(answer);
            }
            if HEAD < head.len() {
                return Err(End::Reset("the head of the response is too long".into()));
            }
            let read =
                poll_fn(|cx| self.poll_read(cx, |_, bytes| head.extend_from_slice(bytes))).await;
            match read {
                Ok(0) => {
                    return Err(End::Reset(
                        "the connection was closed before a response came".into(),
                    ));
                }
                Ok(_) => {}
                Err(error) => return Err(End::Reset(error.to_string())),
            }
        }
    }

    /// The head, once it is whole, and its length.
    fn parse(&mut self, bytes: &[u8]) -> Result<Option<(usize, Answer)>, End> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        let mut lenient = httparse::ParserConfig::default();
        lenient
            .allow_spaces_after_header_name_in_responses(true)
            .allow_obsolete_multiline_headers_in_responses(true)
            .ignore_invalid_headers_in_responses(true);
        let length = match lenient.parse_response(&mut response, bytes) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(error) => return Err(End::Reset(format!("the response is no HTTP/1.1: {error}"))),
        };
        let header = |name: &str| {
            let of_name = response
                .headers
                .iter()
                .find(|header| header.name.eq_ignore_ascii_case(name));
            of_name
                .and_then(|header| std::str::from_utf8(header.value).ok())
                .map(str::trim)
        };
        let answer = Answer {
            status: response.code.unwrap_or(0),
            content_type: header("content-type").map(str::to_owned),
            retry_after: header("retry-after").map(str::to_owned),
            date: header("date").map(str::to_owned),
            location: header("location").map(str::to_owned),
        };
        let lengths = response
            .headers
            .iter()
            .filter(|header| header.name.eq_ignore_ascii_case("content-length"));
        let named = content_length(lengths.map(|header| header.value))?;
        self.framing = framing(answer.status, header("transfer-encoding"), named);
        let connection = header("connection")
            .unwrap_or_default()
            .to_ascii_lowercase();
        self.keeps = match response.version {
            Some(1) => !connection.contains("close"),
            _ => connection.contains("keep-alive"),
        } && self.framing != Framing::Close;
        Ok(Some((length, answer)))
    }

    /// Reads once and hands the content on; `None` once the body has ended.
    pub(crate) fn poll_content(
        &mut self,
        cx: &mut Context<'_>,
        on: &mut dyn FnMut(&Stamps, &[u8]),
    ) -> Poll<Option<Result<(), End>>> {
        if self.framing.is_over() {
            return Poll::Ready(None);
        }
        let mut framing = self.framing;
        let mut read = Ok(0);
        let stamps = Rc::clone(&self.stamps);
        let mut take = |bytes: &[u8]| {
            read = framing.content(bytes, &mut |content| on(&stamps, content));
        };
        let count = if self.ahead.is_empty() {
            let count = ready!(self.poll_read(cx, |_, bytes| take(bytes)));
            count
        } else {
            let ahead = std::mem::take(&mut self.ahead);
            take(&ahead);
            Ok(ahead.len())
        };
        self.framing = framing;
        Poll::Ready(match (count, read) {
            (Ok(0), _) if framing.ends_with_connection() => {
                self.framing = Framing::Length(0);
                None
            }
            (Ok(0), _) => Some(Err(End::Truncated(
                "the connection was closed in the middle of the body".into(),
            ))),
            (Err(error), _) => Some(Err(broken_off(&error))),
            (Ok(_), Err(no_chunk)) => Some(Err(End::Reset(no_chunk.to_string()))),
            (Ok(count), Ok(used)) => {
                // Bytes behind the body belong to nothing that was asked.
                self.keeps &= used == count;
                Some(Ok(()))
            }
        })
    }

    /// Reads once; how many bytes.
    fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        mut on: impl FnMut(&Stamps, &[u8]),
    ) -> Poll<io::Result<usize>> {
        LANDING.with_borrow_mut(|landing| {
            let mut into = ReadBuf::new(landing);
            ready!(Pin::new(&mut self.stream).poll_read(cx, &mut into))?;
            on(&self.stamps, into.filled());
            Poll::Ready(Ok(into.filled().len()))
        })
    }
}

fn broken_off(error: &io::Error) -> End {
    match error.kind() {
        // TLS without its proper end.
        io::ErrorKind::UnexpectedEof => End::Truncated(error.to_string()),
        _ => End::Reset(error.to_string()),
    }
}

/// The length that a response names: digits alone, and the same ones wherever it names it twice (RFC 9112, section 6.3).
fn content_length<'a>(values: impl Iterator<Item = &'a [u8]>) -> Result<Option<u64>, End> {
    let mut known = None;
    for value in values.flat_map(|value| value.split(|byte| *byte == b',')) {
        let value = value.trim_ascii();
        let text = std::str::from_utf8(value).unwrap_or_default();
        let digits = value.iter().all(u8::is_ascii_digit);
        let length = text.parse().ok().filter(|_| digits);
        match (length, known) {
            (Some(length), None) => known = Some(length),
            (Some(length), Some(before)) if length == before => {}
            _ => {
                let shown = String::from_utf8_lossy(value);
                return Err(End::Reset(format!(
                    "the response has the content-length {shown:?}, which is no number or not the one it names elsewhere"
                )));
            }
        }
    }
    Ok(known)
}

/// How the body's end is told, by the rules of RFC 9112, section 6.3.
fn framing(status: u16, encoding: Option<&str>, length: Option<u64>) -> Framing {
    let chunked =
        encoding.is_some_and(|encoding| encoding.to_ascii_lowercase().ends_with("chunked"));
    match (status, length) {
        (100..=199 | 204 | 304, _) => Framing::Length(0),
        _ if chunked => Framing::Chunked(Place::Start),
        _ if encoding.is_some() => Framing::Close,
        (_, None) => Framing::Close,
        (_, Some(length)) => Framing::Length(length),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_digits_and_named_alike() {
        let of = |values: &[&str]| content_length(values.iter().map(|value| value.as_bytes()));
        assert_eq!(of(&[]).expect("none"), None);
        assert_eq!(of(&["839"]).expect("a length"), Some(839));
        assert_eq!(of(&["839", " 839 , 839"]).expect("the same"), Some(839));
        for bad in [&["+839"][..], &["839", "840"], &["-1"], &[""], &["8 39"]] {
            assert!(of(bad).is_err(), "{bad:?}");
        }
    }
}
