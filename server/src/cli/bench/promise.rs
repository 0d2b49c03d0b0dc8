//! Whether the run kept an SLO, in the lines that stand below the block.

use app::words::keeps;
use measure::request::RequestRecord;
use measure::score::Score;
use measure::slo::{Judgement, Slo, judge};
use measure::summary::{Capacity, Summary};
use measure::units::three_digits;
use serde_json::{Value, json};

/// An SLO, and what became of it.
pub(super) struct Promise {
    slo: Slo,
    judgement: Judgement,
}

impl Promise {
    /// Judges the requests of a run, each by itself, and their percentiles.
    pub(super) fn of(slo: Slo, records: &[RequestRecord], summary: &Summary) -> Self {
        let scores: Vec<Score> = records.iter().map(Score::from).collect();
        let judgement = judge(&scores, summary, &slo);
        Self { slo, judgement }
    }

    /// The SLO, and how the run stands to it.
    pub(super) fn parts(&self) -> (&Slo, &Judgement) {
        (&self.slo, &self.judgement)
    }

    /// As scripts read it: the SLO, and the verdict as the API gives it for a point.
    pub(super) fn json(&self) -> Value {
        json!({ "slo": self.slo, "judgement": self.judgement })
    }

    /// For people, line by line.
    pub(super) fn lines(&self) -> Vec<String> {
        let judgement = &self.judgement;
        let mut lines = vec![format!("SLO: {}", self.slo)];
        lines.extend(judgement.attainment.map(|share| {
            format!(
                "  {}: {} of {} requests were good, {:.1} % (95 % interval {:.1} to {:.1} %)",
                keeps(judgement.by_attainment),
                judgement.good,
                judgement.scheduled,
                share.value * 100.0,
                share.lo * 100.0,
                share.hi * 100.0
            )
        }));
        lines.extend(
            judgement
                .bounds
                .iter()
                .map(|bound| format!("  {}: {}", keeps(bound.keeps), bound.bound)),
        );
        if 0 < judgement.undetermined {
            lines.push(format!(
                "  {} requests lack a value that the SLO asks for; they count as not good",
                judgement.undetermined
            ));
        }
        let goodput = [
            (judgement.good_requests_per_s, "req/s"),
            (judgement.good_tokens_per_s, "tok/s"),
        ];
        let known = goodput.map(|(rate, unit)| {
            rate.map_or(format!("unknown {unit}"), |rate| {
                format!("{} {unit}", three_digits(rate))
            })
        });
        lines.push(format!("  goodput: {}", known.join(", ")));
        lines
    }
}

/// What is to be said where the engine did not keep up.
pub(super) fn above_capacity(capacity: &Capacity) -> Option<String> {
    match capacity {
        Capacity::Above { why } => Some(format!(
            "Above capacity: {why}. Latencies of such a run are only a direction."
        )),
        Capacity::Within | Capacity::Unknown => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::bench::report::tests::record;
    use measure::request::{ErrorKind, Outcome};
    use measure::summary::{Discipline, Failures, summarize};

    #[test]
    fn what_was_promised_is_judged_by_request_and_by_percentile() {
        let bad = |index| index % 10 == 0;
        let outcome = |index| match bad(index) {
            true => Outcome::Error(ErrorKind::Truncated),
            false => Outcome::Ok,
        };
        let records: Vec<_> = (0..200)
            .map(|index| record(index, outcome(index)))
            .collect();
        let summary = summarize(&records, Discipline::OpenLoop, Failures::AsInfinity);
        let slo: Slo = "ttft:p50<100ms attain>=99%".parse().expect("an SLO");
        let promise = Promise::of(slo, &records, &summary);
        let lines = promise.lines().join("\n");
        for part in [
            "SLO: ttft:p50<100ms",
            "broken: 180 of 200 requests were good, 90.0 %",
            "kept: ttft:p50<100ms",
            "goodput: ",
        ] {
            assert!(lines.contains(part), "{part}: {lines}");
        }
        assert_eq!(promise.json()["judgement"]["good"], 180);
    }

    #[test]
    fn only_what_lies_above_capacity_is_said() {
        assert_eq!(above_capacity(&Capacity::Unknown), None);
        let why = "in flight grows".to_owned();
        let said = above_capacity(&Capacity::Above { why }).expect("said");
        assert!(said.contains("in flight grows"), "{said}");
    }
}
