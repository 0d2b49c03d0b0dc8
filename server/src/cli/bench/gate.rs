//! The exit status of a run that a gate waits for, and the table of all.

use measure::certificate::Innocence;
use measure::slo::{Judgement, Keeps, Slo};

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
  6    it was done, but what it prints could not be written: a full disk
  130  stopped by Ctrl-C or SIGTERM";

/// The status of a run with an answered request; without a gate that is no matter of its SLO.
pub(super) fn kept(asked: bool, promise: Option<&Promise>, report: &Report) -> u8 {
    let client = report.certificate().innocence;
    let promise = promise.filter(|_| asked);
    promise.map_or(DONE, |it| status(it.parts().1, client))
}

/// Why it cannot be told and what would settle it, where the status says so.
pub(super) fn why_undecided(
    asked: bool,
    promise: Option<&Promise>,
    report: &Report,
) -> Option<String> {
    let client = report.certificate().innocence;
    let (slo, judgement) = promise.filter(|_| asked)?.parts();
    let open = status(judgement, client) == UNDECIDED;
    open.then(|| undecided(slo, judgement, client))
}

fn undecided(slo: &Slo, judgement: &Judgement, client: Innocence) -> String {
    if client == Innocence::Void {
        return "Gate: cannot tell, the run is void: the client itself disturbed it. Run it again on a quieter host.".to_owned();
    }
    let asks = 100.0 * slo.attainment;
    let Some(share) = judgement.attainment else {
        return "Gate: cannot tell, no request can be judged by this SLO.".to_owned();
    };
    let (lo, hi) = (100.0 * share.lo, 100.0 * share.hi);
    let mut said = format!(
        "Gate: cannot tell, the SLO asks for {asks:.1} % good and the 95 % interval reaches from {lo:.1} to {hi:.1} %."
    );
    let more = if share.value == 1.0 {
        all_good(slo.attainment)
    } else {
        "More requests make it narrower: four times as many about half as wide.".to_owned()
    };
    said.push(' ');
    said.push_str(&more);
    said
}

/// Wilson's lower end of n good of n is n / (n + z^2).
fn all_good(attainment: f64) -> String {
    const Z: f64 = 1.959_963_984_540_054;
    if 1.0 <= attainment {
        return "No number of requests shows that all are good: ask for less than 100 %."
            .to_owned();
    }
    let needed = (attainment * Z * Z / (1.0 - attainment)).ceil();
    format!("All were good: {needed:.0} independent requests that are would settle it.")
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
    fn what_cannot_be_told_says_what_would_settle_it() {
        let slo: Slo = "ttft<1s attain>=99%".parse().expect("an SLO");
        let of = |value: f64, lo: f64, hi: f64| {
            let attainment = Some(measure::quantile::Proportion {
                value,
                lo,
                hi,
                effective: 100.0,
            });
            let judgement = Judgement {
                attainment,
                ..judgement()
            };
            undecided(&slo, &judgement, Innocence::Clean)
        };
        assert_eq!(
            of(1.0, 0.963, 1.0),
            "Gate: cannot tell, the SLO asks for 99.0 % good and the 95 % interval reaches from 96.3 to 100.0 %. All were good: 381 independent requests that are would settle it."
        );
        assert!(of(0.985, 0.95, 0.995).contains("More requests make it narrower"));
        assert!(undecided(&slo, &judgement(), Innocence::Void).contains("quieter host"));
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
