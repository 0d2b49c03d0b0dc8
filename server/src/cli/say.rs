//! What commands print. A disk that is full and a reader that has gone are no reason to break off: what is measured is still kept, and
//! [`unprinted`] says at the end what came of it.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};
use std::sync::Mutex;

/// The first thing that kept a text from standard output.
static FIRST: Mutex<Option<io::Error>> = Mutex::new(None);

/// Prints a line on standard output.
macro_rules! sayln {
    ($($words:tt)*) => { $crate::cli::say::out(format_args!("{}\n", format_args!($($words)*))) };
}

/// Prints on standard output.
macro_rules! say {
    ($($words:tt)*) => { $crate::cli::say::out(format_args!($($words)*)) };
}

/// Prints a line on standard error.
macro_rules! warnln {
    () => { $crate::cli::say::err(format_args!("\n")) };
    ($($words:tt)*) => { $crate::cli::say::err(format_args!("{}\n", format_args!($($words)*))) };
}

/// Prints on standard error.
macro_rules! warn_of {
    ($($words:tt)*) => { $crate::cli::say::err(format_args!($($words)*)) };
}

pub(super) use {say, sayln, warn_of, warnln};

pub(super) fn out(words: Arguments<'_>) {
    let mut to = io::stdout().lock();
    // What is left in the buffer is lost in silence when the program ends.
    let written = to.write_fmt(words).and_then(|()| to.flush());
    if let (Err(why), Ok(mut first)) = (written, FIRST.lock()) {
        first.get_or_insert(why);
    }
}

/// Where standard error is gone nobody can be told.
pub(super) fn err(words: Arguments<'_>) {
    let _ = io::stderr().lock().write_fmt(words);
}

/// Why something was not printed. Whoever stops reading (`| head -1`) has read enough.
pub(super) fn unprinted() -> Option<String> {
    let why = FIRST.lock().ok()?.take()?;
    (why.kind() != ErrorKind::BrokenPipe)
        .then(|| format!("cannot write to standard output: {why}; make room, or send it elsewhere"))
}
