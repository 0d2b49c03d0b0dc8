//! Who else used the processor of the client's host.

use serde::{Deserialize, Serialize};

use super::said::Finding;
use crate::certificate::Innocence;
use crate::units::three_digits;

/// Beyond this share of the host's time in others' hands, the operating system decides when client and engine run: by it
/// alone the same engine was seen to differ by as much.
const BUSY: f64 = 0.15;

/// Processor time on the client's host while a point ran, in core-seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostTime {
    /// Cores of the host.
    pub cores: u32,
    /// How long it was watched.
    pub seconds: f64,
    /// This process.
    pub own: f64,
    /// The engine, where it runs here and is known.
    pub engine: Option<f64>,
    /// Everybody else.
    pub others: f64,
    /// Taken by the host's own host.
    pub steal: f64,
    /// Whether an engine runs here whose processes are not known, so that it is among the others.
    pub engine_among_others: bool,
}

impl HostTime {
    /// Share of the host's time that others had.
    pub fn share(&self) -> f64 {
        let all = f64::from(self.cores) * self.seconds;
        if 0.0 < all {
            (self.others + self.steal) / all
        } else {
            0.0
        }
    }

    /// In a sentence.
    pub fn sentence(&self) -> String {
        let cores = |time: f64| three_digits(time / self.seconds.max(1e-9));
        let engine = match self.engine {
            Some(time) => format!(", the engine {}", cores(time)),
            None => String::new(),
        };
        let others = if self.engine_among_others {
            "others, the engine among them,"
        } else {
            "others"
        };
        let steal = if 0.0 < self.steal {
            format!(
                ", and {} were taken from this host by its own",
                cores(self.steal)
            )
        } else {
            String::new()
        };
        format!(
            "Of this host's {} cores this process used {}{engine}, {others} {}{steal}.",
            self.cores,
            cores(self.own),
            cores(self.others)
        )
    }

    /// What it means for the point.
    pub fn finding(&self) -> Option<Finding> {
        if self.engine_among_others || self.share() < BUSY {
            return None;
        }
        let text = format!(
            "Measured beside a busy neighbour: others took {} % of this host's processor time.",
            three_digits(100.0 * self.share())
        );
        Some((Innocence::Suspect, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(others: f64, steal: f64, engine_among_others: bool, is_busy: bool) {
        let host = HostTime {
            cores: 4,
            seconds: 10.0,
            own: 5.0,
            engine: None,
            others,
            steal,
            engine_among_others,
        };
        assert_eq!(host.finding().is_some(), is_busy, "{}", host.sentence());
    }

    #[test]
    fn a_neighbour_is_busy_from_a_share_of_the_host_on() {
        check(5.9, 0.0, false, false);
        check(6.0, 0.0, false, true);
        check(1.0, 5.0, false, true);
        check(30.0, 0.0, true, false);
    }

    #[test]
    fn the_sentence_names_everybody() {
        let host = HostTime {
            cores: 2,
            seconds: 10.0,
            own: 5.0,
            engine: Some(10.0),
            others: 1.0,
            steal: 0.5,
            engine_among_others: false,
        };
        assert_eq!(
            host.sentence(),
            "Of this host's 2 cores this process used 0.500, the engine 1.00, others 0.100, and 0.0500 were taken from this host by its own."
        );
    }
}
