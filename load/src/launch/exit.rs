//! How a process ended, in words.

use std::fmt;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this status.
    Status(i32),
    /// By this signal.
    Signal(i32),
    /// Its guard by this signal, and so it was ended with all that it started.
    Guard(i32),
    /// Nobody knows.
    Unknown,
}

/// The signal that nothing survives; the system's own choice when memory runs out.
pub(super) const KILLED: i32 = 9;

impl Exit {
    /// From a shell's and the guard's kind of status, where 128 and more stand for signals.
    pub(super) fn from_status(status: Option<i32>) -> Self {
        match status {
            Some(code @ 129..=192) => Self::Signal(code - 128),
            Some(code) => Self::Status(code),
            None => Self::Unknown,
        }
    }

    /// As a shell and the guard have it.
    pub(super) fn to_status(self) -> u8 {
        match self {
            Self::Status(code) => u8::try_from(code).unwrap_or(u8::MAX),
            Self::Signal(number) | Self::Guard(number) => {
                u8::try_from(128 + number).unwrap_or(u8::MAX)
            }
            Self::Unknown => u8::MAX,
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(code) => write!(f, "exit status {code}"),
            Self::Signal(KILLED) => f.write_str("killed by signal 9"),
            Self::Signal(11) => f.write_str("crashed by signal 11, a bad memory access"),
            Self::Signal(6) => f.write_str("aborted by signal 6"),
            Self::Signal(number) => write!(f, "ended by signal {number}"),
            Self::Guard(number) => write!(f, "its guard was killed by signal {number}"),
            Self::Unknown => f.write_str("end unknown"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_survives_the_guard() {
        for (exit, status, words) in [
            (Exit::Status(2), 2, "exit status 2"),
            (Exit::Signal(9), 137, "killed by signal 9"),
            (Exit::Signal(15), 143, "ended by signal 15"),
        ] {
            assert_eq!(exit.to_status(), status);
            assert_eq!(Exit::from_status(Some(i32::from(status))), exit);
            assert_eq!(exit.to_string(), words);
        }
    }
}
