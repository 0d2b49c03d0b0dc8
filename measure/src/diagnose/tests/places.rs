//! An engine with few places, or with little cache, or with none left at all; and clients that read unevenly.

use super::*;
use crate::evidence::{Amount, Quantity, Reading, Readings, Source, Value};

/// An engine with so many places: a prompt takes 20 ms of one, then 40 tokens follow.
struct Served {
    places: usize,
    /// Between two tokens, in milliseconds, with so many streams beside it.
    gap: fn(f64) -> f64,
    /// Between two requests.
    every_ms: f64,
    kv: f64,
}

/// As many streams as ever add little to a step.
const FEW: Served = Served {
    places: 8,
    gap: |_| 5.0,
    every_ms: 24.0,
    kv: 0.06,
};

const REQUESTS: u32 = 300;

impl Served {
    /// Requests in three waves, so that fewer stream now and then.
    fn records(&self) -> Vec<RequestRecord> {
        let mut free = vec![0.0f64; self.places];
        let mut last = Vec::<f64>::new();
        let one = |index: u32| {
            let at = self.every_ms * f64::from(index) + 1500.0 * f64::from(index / 100);
            let place = (0..free.len())
                .min_by(|a, b| free[*a].total_cmp(&free[*b]))
                .expect("a place");
            let begins = free[place].max(at);
            let beside = last.iter().filter(|end| begins < **end).count() as f64;
            let gap = (self.gap)(beside + 1.0);
            // A client beside a busy neighbour reads one event late and the next at once.
            let gaps: Vec<f64> = (0..40)
                .map(|it| match it % 5 {
                    1 => 1.6 * gap,
                    2 => 0.4 * gap,
                    _ => gap,
                })
                .collect();
            free[place] = begins + 20.0 + 40.0 * gap;
            last.push(free[place]);
            RequestRecord {
                prompt_tokens: Some(200),
                ..answered(index, at, begins + 20.0 - at, &gaps)
            }
        };
        (0..REQUESTS).map(one).collect()
    }

    /// What its page tells, ten times a second.
    fn look(&self, records: &[RequestRecord]) -> Look {
        let seconds = |it: Option<Nanos>| it.map_or(0.0, Nanos::as_secs_f64);
        let end = records.iter().map(|it| seconds(it.end)).fold(0.0, f64::max);
        let readings = (0..(10.0 * end) as usize).map(|look| {
            let at = look as f64 / 10.0;
            let there = records
                .iter()
                .filter(|it| seconds(it.sent) <= at && at < seconds(it.end));
            let all = there.count();
            let asked = records.iter().filter(|it| seconds(it.sent) <= at).count();
            let value = |quantity, number| Value {
                quantity,
                source: 0,
                amount: Amount::Number(number),
            };
            Reading {
                at_ms: (100 * look) as i64,
                values: vec![
                    value(Quantity::Running, all.min(self.places) as f64),
                    value(Quantity::Waiting, all.saturating_sub(self.places) as f64),
                    value(Quantity::KvUsage, self.kv),
                    value(Quantity::Preemptions, 0.0),
                    value(Quantity::CacheQueries, 200.0 * asked as f64),
                    value(Quantity::CacheHits, 0.0),
                    // An engine that drafts nothing says so by a rate of zero.
                    value(Quantity::AcceptRate, 0.0),
                ],
            }
        });
        Look {
            readings: Readings {
                readings: readings.collect(),
                sources: vec![Source {
                    name: String::new(),
                    ours: true,
                }],
            },
            by: "a test".to_owned(),
            ..Look::default()
        }
    }

    /// The diagnosis of an engine that says so much of its settings.
    fn diagnosed(&self, slots: Option<u32>) -> Diagnosis {
        let records = self.records();
        let known = Known {
            engine: Some(self.look(&records)),
            slots,
            shared: Some(Shared {
                tokens: 110 * u64::from(REQUESTS),
                own_tokens: 110 * u64::from(REQUESTS),
                input_tokens: 200 * u64::from(REQUESTS),
                block: 16,
                block_known: true,
            }),
            ..Known::default()
        };
        diagnosed(&records, &known)
    }
}

#[track_caller]
fn stands(diagnosis: &Diagnosis, cause: Cause, expected: Standing) {
    let found = diagnosis.of(cause).expect("a finding of each");
    assert_eq!(found.standing, expected, "{found:#?}");
}

#[test]
fn full_places_come_first_where_memory_and_steps_have_room() {
    for slots in [Some(8), None] {
        let diagnosis = FEW.diagnosed(slots);
        stands(&diagnosis, Cause::TooLittleConcurrency, Standing::Shown);
        let named = diagnosis.named().expect("a cause");
        assert_eq!(named.cause, Cause::TooLittleConcurrency);
        let turn = named.advice.as_ref().map(|it| it.turn);
        assert_eq!(turn, Some(Turn::RaiseConcurrentSequences));
        let cold = diagnosis.of(Cause::ColdCache).expect("a finding of each");
        assert_eq!(cold.speaks_against.len(), 1, "{cold:#?}");
        assert!(cold.speaks_against[0].contains("places are taken"));
    }
}

#[test]
fn a_client_that_reads_unevenly_does_not_rule_it_out() {
    let records = FEW.records();
    let client = client::Client::of(&Case {
        records: &records,
        summary: &summarize(&records, Discipline::OpenLoop, Failures::AsInfinity),
        client: &certify(&records, ClientEvidence::default()),
        evidence: None,
        theory: None,
        made: &[],
        slots: None,
    });
    let spread = client::over(client.gap.p50, client.gap.p5).expect("gaps");
    assert!(2.0 < spread, "the client's own doing: {spread}");
}

#[test]
fn a_full_cache_is_named_and_not_the_places_that_it_leaves_free() {
    let full = Served { kv: 0.97, ..FEW };
    let diagnosis = full.diagnosed(Some(64));
    stands(&diagnosis, Cause::TooLittleConcurrency, Standing::RuledOut);
    stands(&diagnosis, Cause::KvBound, Standing::Shown);
}

#[test]
fn places_do_not_help_where_each_stream_adds_as_much_to_a_step() {
    let plateau = Served {
        gap: |streams| 0.6 * streams,
        ..FEW
    };
    let diagnosis = plateau.diagnosed(Some(8));
    stands(&diagnosis, Cause::TooLittleConcurrency, Standing::RuledOut);
}

#[test]
fn a_rate_that_is_never_anything_but_zero_tells_of_no_drafts() {
    let diagnosis = FEW.diagnosed(Some(8));
    stands(&diagnosis, Cause::DraftsRefused, Standing::RuledOut);
}

#[test]
fn one_pause_of_a_healthy_run_accuses_nothing() {
    let once = |index, record: RequestRecord| match index {
        30 => answered(
            index,
            1500.0,
            20.0,
            &[10.0, 10.0, 60.0, 10.0, 10.0, 10.0, 10.0],
        ),
        _ => record,
    };
    let diagnosis = diagnosed(&requests(60, once), &Known::default());
    assert!(
        matches!(
            diagnosis.answer,
            Answer::CannotTell { .. } | Answer::NothingToMend
        ),
        "{:?}",
        diagnosis.answer
    );
}

#[test]
fn what_a_point_s_certificate_holds_against_it_is_not_called_clean() {
    let busy = "Measured beside a busy neighbour.".to_owned();
    let known = Known {
        findings: vec![(Innocence::Suspect, busy.clone())],
        ..Known::default()
    };
    let diagnosis = diagnosed(&requests(100, plain), &known);
    stands(&diagnosis, Cause::ClientBound, Standing::Possible);
    let found = diagnosis.of(Cause::ClientBound).expect("a finding of each");
    assert_eq!(found.speaks_for, [busy]);
    let clean = diagnosed(&requests(100, plain), &Known::default());
    stands(&clean, Cause::ClientBound, Standing::RuledOut);
}
