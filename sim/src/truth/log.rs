//! What is known of a request once it is over: kept in memory, or written as JSON lines by a thread of its own, so that a
//! slow disk delays no token.

use std::fs::File;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use serde::{Deserialize, Serialize};

use super::config::Fault;

/// Most records kept in memory; later ones are left out.
const MOST_KEPT: usize = 1_000_000;
/// Bytes that go to the writer at once, and how many such pieces may wait for it.
const PIECE: usize = 256 << 10;
const MOST_PIECES: usize = 256;

/// One request. Times are CLOCK_MONOTONIC in nanoseconds; what never happened is 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Counts requests from 1, in the order in which they were read.
    pub seq: u64,
    /// The client's `x-request-id`.
    pub client_id: String,
    /// Which connection it came on, from 1.
    pub conn: u64,
    /// Its path.
    pub path: String,
    /// The status it was answered with; 0 when it was not.
    pub status: u16,
    /// What went wrong on purpose.
    pub fault: Option<Fault>,
    /// The client went away before its answer was whole.
    pub disconnected: bool,
    /// When the kernel received the segment that completed the head.
    pub head_rx_ns: u64,
    /// When the kernel received the segment that completed the request: the true start.
    pub rx_ns: u64,
    /// When this process had read it.
    pub body_ns: u64,
    /// When the first token was written.
    pub first_ns: u64,
    /// When the last was.
    pub last_ns: u64,
    /// When the request was over, whichever way.
    pub end_ns: u64,
    /// The worst lag of a write behind its deadline: this server's own error, already in `tok_ns`.
    pub late_max_ns: u64,
    /// Token ids, or words, of the prompt.
    pub prompt_tokens: u32,
    /// Tokens asked for.
    pub max_tokens: u32,
    /// Tokens written.
    pub sent_tokens: u32,
    /// Read just before the write call that carried each event.
    pub tok_ns: Vec<u64>,
}

impl Record {
    /// Whether a client that says it went well is right.
    pub fn is_whole(&self) -> bool {
        self.status == 200
            && self.fault.is_none()
            && !self.disconnected
            && self.sent_tokens == self.max_tokens
    }
}

/// Records in memory.
#[derive(Default)]
pub(super) struct Kept(Mutex<Vec<Record>>);

impl Kept {
    pub(super) fn take(&self) -> Vec<Record> {
        self.0
            .lock()
            .map(|mut kept| std::mem::take(&mut *kept))
            .unwrap_or_default()
    }
}

/// Where records go.
pub(super) enum Log {
    Memory(Arc<Kept>),
    File(Writing),
}

/// A file, and the thread that writes it.
pub(super) struct Writing {
    piece: Vec<u8>,
    /// `None` once all is handed over.
    pieces: Option<SyncSender<Vec<u8>>>,
    writer: Option<JoinHandle<()>>,
}

impl Log {
    pub(super) fn in_memory(kept: Arc<Kept>) -> Self {
        Self::Memory(kept)
    }

    pub(super) fn to_file(file: File) -> io::Result<Self> {
        let (pieces, to_write) = sync_channel(MOST_PIECES);
        let writer = std::thread::Builder::new()
            .name("goodput-truth-log".into())
            .spawn(move || write(file, &to_write))?;
        Ok(Self::File(Writing {
            piece: Vec::with_capacity(PIECE),
            pieces: Some(pieces),
            writer: Some(writer),
        }))
    }

    pub(super) fn keep(&mut self, record: Record) {
        match self {
            Self::Memory(kept) => {
                if let Ok(mut kept) = kept.0.lock()
                    && kept.len() < MOST_KEPT
                {
                    kept.push(record);
                }
            }
            Self::File(writing) => writing.keep(&record),
        }
    }
}

impl Writing {
    fn keep(&mut self, record: &Record) {
        // Into memory, which cannot fail.
        let _ = serde_json::to_writer(&mut self.piece, record);
        self.piece.push(b'\n');
        if PIECE <= self.piece.len() {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        let piece = std::mem::replace(&mut self.piece, Vec::with_capacity(PIECE));
        if let Some(pieces) = &self.pieces {
            // Gone only when it could not write, which it has said.
            let _ = pieces.send(piece);
        }
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.hand_over();
        self.pieces = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

fn write(mut file: File, pieces: &Receiver<Vec<u8>>) {
    for piece in pieces {
        if let Err(cause) = file.write_all(&piece) {
            tracing::error!(%cause, "the truth server's log cannot be written");
            return;
        }
    }
}
