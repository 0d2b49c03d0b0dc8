//! The exit status of a run that a gate waits for, and the table of all.

use measure::certificate::Innocence;
use measure::slo::{Judgement, Keeps};

use super::super::DONE;
use super::promise::Promise;
use super::report::Report;

/// Exit status: the SLO is broken.
pub(super) const BROKEN: u8 = 4;
/// Exit status: it cannot be told whether the SLO is kept.
pub(super) const UNDECIDED: u8 = 5;

/// What `--help` says of exit statuses.
pub(super) const STATUSES: &str = "Exit status:
  0    done; a broken SLO is printed and changes nothing without --gate
  1    no request succeeded
  2    bad arguments
  3    the engine cannot be used: not there, wrong model, refuses, does not stream
  4    with --gate: the SLO is broken
  5    with --gate: cannot tell; the share of good requests is too near what the SLO asks, or the run is void
  130  stopped by Ctrl-C or SIGTERM";

/// The status of a run with an answered request; without a gate that is no matter of its SLO.
pub(super) fn kept(asked: bool, promise: Option<&Promise>, report: &Report) -> u8 {
    let client = report.certificate().innocence;
    let promise = promise.filter(|_| asked);
    promise.map_or(DONE, |it| status(it.parts().1, client))
}

/// The status by the share of good requests. Of a void run nothing can be told.
fn status(judgement: &Judgement, client: Innocence) -> u8 {
    match judgement.by_attainment {
        _ if client == Innocence::Void => UNDECIDED,
        Keeps::Surely => DONE,
        Keeps::SurelyNot => BROKEN,
        Keeps::Probably | Keeps::ProbablyNot | Keeps::CannotTell => UNDECIDED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_closes_on_what_is_broken_and_on_what_cannot_be_told() {
        let of = |by_attainment, client| {
            let judgement = Judgement {
                by_attainment,
                ..judgement()
            };
            status(&judgement, client)
        };
        for (keeps, expected) in [
            (Keeps::Surely, 0),
            (Keeps::SurelyNot, 4),
            (Keeps::Probably, 5),
            (Keeps::ProbablyNot, 5),
            (Keeps::CannotTell, 5),
        ] {
            assert_eq!(of(keeps, Innocence::Suspect), expected, "{keeps:?}");
            assert_eq!(of(keeps, Innocence::Void), 5, "{keeps:?}");
        }
    }

    #[test]
    fn every_status_stands_in_the_help() {
        for status in [
            DONE,
            1,
            2,
            3,
            BROKEN,
            UNDECIDED,
            super::super::super::STOPPED,
        ] {
            let line = format!("\n  {status:<5}");
            assert!(STATUSES.contains(&line), "{status}");
        }
    }

    fn judgement() -> Judgement {
        let slo = "ttft<100ms attain>=99%".parse().expect("an SLO");
        let summary = measure::summary::summarize(
            &[],
            measure::summary::Discipline::OpenLoop,
            measure::summary::Failures::AsInfinity,
        );
        measure::slo::judge(&[], &summary, &slo)
    }
}
