//! A finished study of any size, stored without being measured: for pages that must bear much.

use measure::request::RequestRecord;
use measure::sampling::Draws;
use measure::study::{PointLength, StudySpec};
use measure::units::Nanos;
use server::store::{NewStudy, Store, StoredPoint};
use uuid::Uuid;

use crate::measured::give;
use crate::samples::{configuration, records, small_study};

/// So much of everything.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Curves.
    pub configurations: usize,
    /// Points of each.
    pub levels: usize,
    /// Requests of each point.
    pub requests: u32,
}

/// Stores it, finished; its id. The later a level, the slower its requests; the more so, the earlier its configuration.
pub async fn store_large(store: &Store, size: Size) -> anyhow::Result<Uuid> {
    let spec = spec(size);
    let study = NewStudy {
        id: Uuid::now_v7(),
        spec: &spec,
        plan: &spec.plan(),
        engine: "simulator",
        search: "large",
        simulated: true,
        engines: &["simulator".to_owned()],
        dataset_sha256: None,
        tokenizer_sha256: None,
    };
    store.insert_study(&study).await?;
    let rate = |point: &StoredPoint| spec.levels.iter().position(|it| *it == point.level);
    give(store, study.id, |point| {
        made_up(point, rate(point).unwrap_or_default(), size)
    })
    .await?;
    Ok(study.id)
}

fn spec(size: Size) -> StudySpec {
    let configurations = (0..size.configurations).map(|index| {
        let sequences = (index + 1).to_string();
        configuration(
            &format!("max-num-seqs {sequences}"),
            &[("max-num-seqs", &sequences)],
        )
    });
    let levels = (1..=size.levels).map(|rate| rate.to_string().parse().expect("a level"));
    StudySpec {
        name: "large".into(),
        levels: levels.collect(),
        length: PointLength {
            min_requests: size.requests,
            max_requests: size.requests,
            seconds: 1,
        },
        configurations: configurations.collect(),
        ..small_study()
    }
}

/// Requests that are alike for a while: TTFT 20 to 600 ms.
fn made_up(point: &StoredPoint, level: usize, size: Size) -> Vec<RequestRecord> {
    let mut draws = Draws::new(u64::from(point.ordinal) + 1);
    let share = (level + 1) as f64 / size.levels as f64;
    let curve = f64::from(point.configuration + 1) / size.configurations as f64;
    let median = 20.0 * (2.5 * share * (1.5 - curve)).exp();
    let mut mood = 0.0;
    let mut all = records(size.requests, 0);
    for (index, record) in all.iter_mut().enumerate() {
        mood = 0.7 * mood + 0.7 * draws.normal();
        let ttft = median * (0.3 * mood).exp();
        let gap = (10.0 + 10.0 * share) * (0.1 * draws.normal()).exp();
        let slower = |by: f64| Nanos((by * 1e6) as u64);
        let sent = Nanos::from_millis(index as u64 * 1000 / (level as u64 + 1));
        let at = |millis: f64| sent + slower(millis);
        (record.scheduled, record.sent, record.headers) = (sent, Some(sent), Some(at(0.5)));
        record.chunks = record
            .chunks
            .iter()
            .enumerate()
            .map(|(step, chunk)| {
                let mut chunk = chunk;
                chunk.at = at(ttft + gap * step as f64);
                chunk.at_kernel = Some(chunk.at);
                chunk
            })
            .collect();
        (record.finish, record.end) =
            (Some(at(ttft + 2.0 * gap)), Some(at(ttft + 2.0 * gap + 0.1)));
    }
    all
}
