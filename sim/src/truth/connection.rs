//! One connection, and the answer under way on it.

use std::io;
use std::net::TcpStream;

use measure::sampling::Draws;

use super::answer::{self, Wire};
use super::config::{Config, Fate, Fault};
use super::http::{Asked, Head};
use super::log::Record;
use super::{clock, http};

/// A socket with what was read and not understood yet, and what was written and not taken yet.
pub(super) struct Connection {
    pub socket: TcpStream,
    pub number: u64,
    pub input: Vec<u8>,
    /// When the kernel received the latest bytes.
    pub rx_ns: u64,
    /// The head of the request being read, and when the kernel had received it.
    head: Option<(Head, u64)>,
    output: Vec<u8>,
    pub answer: Option<Answer>,
    /// Close once the answer is over.
    pub close: bool,
}

/// What follows a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    More,
    Done,
    Close,
    Reset,
    Silence,
}

/// A request that has been read, with its times.
pub(super) struct Request {
    pub head: Head,
    pub body: Vec<u8>,
    pub head_rx_ns: u64,
    pub rx_ns: u64,
}

impl Connection {
    pub(super) fn new(socket: TcpStream, number: u64) -> Self {
        Self {
            socket,
            number,
            input: Vec::new(),
            rx_ns: 0,
            head: None,
            output: Vec::new(),
            answer: None,
            close: false,
        }
    }

    /// The next request, once it is whole.
    pub(super) fn request(&mut self) -> Result<Option<Request>, &'static str> {
        if self.head.is_none() {
            self.head = http::head(&self.input)?.map(|head| (head, self.rx_ns));
        }
        let whole = |(head, _): &(Head, u64)| head.length + head.body_length <= self.input.len();
        if !self.head.as_ref().is_some_and(whole) {
            return Ok(None);
        }
        let Some((head, head_rx_ns)) = self.head.take() else {
            return Ok(None);
        };
        let body = self.input[head.length..head.length + head.body_length].to_vec();
        self.input.drain(..head.length + head.body_length);
        let rx_ns = self.rx_ns;
        Ok(Some(Request {
            head,
            body,
            head_rx_ns,
            rx_ns,
        }))
    }

    /// Writes, keeping what the socket does not take.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let taken = if self.output.is_empty() {
            take(&self.socket, bytes)?
        } else {
            0
        };
        self.output.extend_from_slice(&bytes[taken..]);
        Ok(())
    }

    /// Writes what waits.
    pub(super) fn drain(&mut self) -> io::Result<()> {
        let taken = take(&self.socket, &self.output)?;
        self.output.drain(..taken);
        Ok(())
    }

    /// Whether something waits for the client to read.
    pub(super) fn is_stuck(&self) -> bool {
        !self.output.is_empty()
    }
}

fn take(mut socket: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
    use io::Write;
    let mut taken = 0;
    while taken < bytes.len() {
        match socket.write(&bytes[taken..]) {
            Ok(more) => taken += more,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(taken)
}

/// An answer on its way: the next event lies ready, so that only a write stands between its moment and the wire.
pub(super) struct Answer {
    pub record: Record,
    wire: Wire,
    fault: Option<Fault>,
    after: u32,
    draws: Draws,
    /// When the next event is due.
    pub due: u64,
    pub next: Vec<u8>,
    /// Tokens written with it.
    upto: u32,
    pub then: Then,
}

impl Answer {
    /// An answer, and what of it is written at once.
    pub(super) fn new(config: &Config, mut record: Record, asked: &Asked) -> (Self, Vec<u8>) {
        record.max_tokens = asked.max_tokens();
        record.prompt_tokens = asked.prompt_tokens();
        let Fate {
            fault,
            after,
            mut draws,
        } = config.fate(&record.client_id, record.max_tokens);
        record.fault = fault;
        let wire = Wire::new(asked, &record);
        let mut at_once = Vec::new();
        if wire.stream && fault != Some(Fault::ResetBefore) {
            record.status = 200;
            wire.begin(&record, &mut at_once);
        }
        let wait = if config.blast { 0 } else { config.ttft_ns };
        let due = record.body_ns + config.jittered(wait, &mut draws);
        let mut answer = Self {
            record,
            wire,
            fault,
            after,
            draws,
            due,
            next: Vec::with_capacity(512),
            upto: 0,
            then: Then::More,
        };
        if answer.wire.stream {
            answer.prepare(config);
            // An event of several tokens is due with its last.
            answer.advance(config, answer.upto.saturating_sub(1));
        } else {
            answer.prepare_whole(config);
        }
        (answer, at_once)
    }

    /// Makes the next event ready, and says what follows it.
    fn prepare(&mut self, config: &Config) {
        self.next.clear();
        let (from, most) = (self.record.sent_tokens, self.record.max_tokens);
        self.upto = from;
        self.then = Then::Done;
        match self.fault {
            Some(Fault::ResetBefore) => self.then = Then::Reset,
            Some(Fault::Empty) => self.wire.nothing(&mut self.next),
            Some(Fault::ResetAfter) if from == self.after => self.then = Then::Reset,
            Some(Fault::Stall) if from == self.after => self.then = Then::Silence,
            Some(Fault::Cut) if from == self.after => self.then = Then::Close,
            Some(Fault::Truncate) if from == self.after => answer::last_chunk(&mut self.next),
            Some(Fault::InBandError) if from == self.after => {
                self.wire.in_band_error(&mut self.next);
            }
            fault => {
                if fault == Some(Fault::Malformed) && from == self.after {
                    self.wire.malformed(&mut self.next);
                }
                self.upto = (from + config.chunk_tokens).min(most);
                if from < self.after {
                    self.upto = self.upto.min(self.after);
                }
                self.tokens(from, fault);
            }
        }
    }

    fn tokens(&mut self, from: u32, fault: Option<Fault>) {
        let last = self.upto == self.record.max_tokens;
        let reason = match fault {
            Some(Fault::Abort) => "abort",
            _ => "length",
        };
        let (to, finish) = (self.upto, last.then_some(reason));
        self.wire.tokens(from, to, finish, &mut self.next);
        if last {
            self.wire.end(to, &mut self.next);
        } else {
            self.then = Then::More;
        }
    }

    /// Without `stream`: everything when the last token is due.
    fn prepare_whole(&mut self, config: &Config) {
        self.upto = self.record.max_tokens;
        self.then = Then::Done;
        self.record.status = 200;
        let body = self.wire.whole(&self.record);
        self.next = answer::reply("200 OK", "", &body);
        self.advance(config, self.upto - 1);
    }

    fn advance(&mut self, config: &Config, tokens: u32) {
        if !config.blast {
            for _ in 0..tokens {
                self.due += config.jittered(config.itl_ns, &mut self.draws);
            }
        }
    }

    /// Notes that the event is being written now. To be called just before.
    pub(super) fn written(&mut self) {
        let now = clock::now();
        let record = &mut self.record;
        if record.sent_tokens < self.upto {
            if record.sent_tokens == 0 {
                record.first_ns = now;
            }
            record.last_ns = now;
            record.tok_ns.push(now);
            record.sent_tokens = self.upto;
        }
        record.late_max_ns = record.late_max_ns.max(now.saturating_sub(self.due));
    }

    /// Makes the event after it ready.
    pub(super) fn go_on(&mut self, config: &Config) {
        let before = self.record.sent_tokens;
        self.prepare(config);
        let tokens = (self.upto - before).max(1);
        self.advance(config, tokens);
    }
}
