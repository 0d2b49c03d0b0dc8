//! A made-up study for tests: two configurations, a few rates, one of each kind of point.

use std::collections::BTreeMap;

use measure::certificate::{Certificate, ClientEvidence, Innocence};
use measure::curve::Ceiling;
use measure::quantile::{Distribution, Estimate, Proportion};
use measure::slo::{Judgement, Keeps};
use measure::study::StudySpec;
use measure::summary::{Capacity, Summary};
use measure::units::{Level, Nanos};
use uuid::Uuid;

use crate::studio::{ConfigurationView, PointState, PointView, StudyState, StudyView};

/// A finished study of two configurations.
pub fn study() -> StudyView {
    let spec = StudySpec::goodput_exercise();
    let ceilings = [
        Ceiling::Bracket {
            value: 11.4,
            lo: 10.6,
            hi: 12.1,
        },
        Ceiling::Bracket {
            value: 14.9,
            lo: 13.8,
            hi: 15.7,
        },
    ];
    let configurations = spec
        .configurations
        .iter()
        .zip(ceilings)
        .map(|(spec, ceiling)| configuration(spec.clone(), ceiling))
        .collect();
    let mut points = Vec::new();
    for index in 0..2 {
        for (at, rate) in [2.0, 8.0, 16.0].into_iter().enumerate() {
            points.push(point(
                index,
                at as u32,
                Level::Rate(rate.try_into().expect("rate")),
                40 + 100 * at as u64,
            ));
        }
        points.push(point(index, 9, Level::Inf, 4000));
    }
    StudyView {
        id: Uuid::from_u128(1),
        spec,
        state: StudyState::Finished,
        problem: None,
        tags: vec!["caching".into()],
        note: "mine".into(),
        configurations,
        points,
        remaining_ms: None,
        hold: Default::default(),
        underway: None,
        created_ms: 1_795_960_632_500,
        last_event: 7,
        imported: String::new(),
        starts: String::new(),
        compared: String::new(),
        differences: Vec::new(),
        apart: Vec::new(),
        aggregates_only: false,
    }
}

fn configuration(spec: measure::study::ConfigurationSpec, ceiling: Ceiling) -> ConfigurationView {
    ConfigurationView {
        id: Uuid::from_u128(if spec.name.is_empty() {
            2
        } else {
            spec.name.len() as u128
        }),
        spec,
        facts: BTreeMap::new(),
        cache_cold: Some(true),
        ceiling: Some(ceiling),
        search_ended: None,
        ceiling_by_percentile: Some(ceiling),
    }
}

/// A finished, clean point.
pub fn point(configuration: u32, index: u32, level: Level, ttft_ms: u64) -> PointView {
    PointView {
        id: Uuid::from_u128(u128::from(configuration) * 100 + u128::from(index) + 1000),
        configuration,
        level,
        repeat: 0,
        state: PointState::Finished,
        planned_requests: 200,
        summary: Some(summary(level, ttft_ms)),
        certificate: Some(certificate(Innocence::Clean)),
        judgement: Some(judgement(0.98)),
        notes: vec!["Input lengths counted by the engine's /tokenize.".into()],
        started_ms: Some(1_795_960_632_500),
        problem: None,
    }
}

/// A certificate.
pub fn certificate(innocence: Innocence) -> Certificate {
    Certificate {
        innocence,
        reasons: if innocence == Innocence::Clean {
            vec![]
        } else {
            vec!["sent late".into()]
        },
        void_reasons: u32::from(innocence == Innocence::Void),
        lag_p50: Some(Nanos(80_000)),
        lag_p99: Some(Nanos(400_000)),
        lag_max: Some(Nanos(900_000)),
        sent_over_offered: Some(1.0),
        fresh_connections: 2,
        coalesced_reads: 0,
        reads: Default::default(),
        client: ClientEvidence::default(),
    }
}

/// A judgement with this share good.
pub fn judgement(share: f64) -> Judgement {
    Judgement {
        scheduled: 200,
        good: (share * 200.0) as u32,
        undetermined: 0,
        attainment: Some(Proportion {
            value: share,
            lo: share - 0.02,
            hi: (share + 0.01).min(1.0),
            effective: 150.0,
        }),
        by_attainment: Keeps::Surely,
        by_percentile: Keeps::Surely,
        bounds: vec![],
        good_requests_per_s: Some(4.0),
        good_tokens_per_s: Some(1530.4),
        target: 0.95,
    }
}

fn summary(level: Level, ttft_ms: u64) -> Summary {
    let rate = level.rate();
    Summary {
        duration: Nanos::from_millis(20_000),
        scheduled: 200,
        sent: 200,
        completed: 200,
        failed: 0,
        failures: BTreeMap::new(),
        first_failures: BTreeMap::new(),
        remarks: Vec::new(),
        sessions: 80,
        offered_rate: rate.map(|rate| rate * 0.98),
        sent_rate: rate,
        completed_per_s: rate.or(Some(20.0)),
        output_tokens: 40_000,
        output_unknown: 0,
        input_tokens: 90_000,
        cached_tokens: None,
        output_tokens_per_s: Some(rate.unwrap_or(20.0) * 120.0),
        input_tokens_per_s: Some(4500.0),
        max_in_flight: 30,
        tokens_per_chunk: Some(1.0),
        ttft: distribution(ttft_ms),
        ttfa: distribution(ttft_ms),
        scheduled_ttft: distribution(ttft_ms),
        scheduled_ttfa: distribution(ttft_ms),
        scheduled_e2e: distribution(ttft_ms * 20),
        tpot: distribution(ttft_ms / 10),
        itl: distribution(ttft_ms / 10),
        stall: distribution(ttft_ms),
        e2e: distribution(ttft_ms * 20),
        capacity: Capacity::Within,
    }
}

fn distribution(millis: u64) -> Distribution {
    let around = |value: u64| {
        let at = Nanos::from_millis;
        Some(Estimate {
            value: Some(at(value)),
            lo: Some(at(value * 9 / 10)),
            hi: Some(at(value * 12 / 10)),
        })
    };
    Distribution {
        count: 200,
        failed: 0,
        effective: 150.0,
        p50: around(millis / 2),
        p95: around(millis),
        p99: around(millis * 2),
    }
}
