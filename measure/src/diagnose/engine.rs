//! What the engine's own page tells.

use super::Case;
use super::sorted::{Sorted, share};
use crate::evidence::{Evidence, Track};

/// Fewer looks say nothing.
const FEWEST: usize = 5;

/// Figures of the engine; times in seconds, shares between 0 and 1.
#[derive(Clone, Debug, Default)]
pub(super) struct Engine {
    pub looks: usize,
    pub places: f64,
    pub running: Option<f64>,
    pub waits: Option<f64>,
    pub full_when_waiting: Option<f64>,
    pub kv: [Option<f64>; 2], // p50 max
    pub kv_when_waiting: Option<f64>,
    pub preemptions: Option<f64>,
    pub accepted: Option<f64>,
    pub expected_hits: Option<f64>,
    pub hits: Option<f64>,
    pub queue: Option<f64>,
    pub prefill: Option<f64>,
    pub path: Option<f64>,
}

fn series<'a>(track: &'a Track, key: &str) -> Vec<Option<f64>> {
    let found = track.series.iter().find(|it| it.key == key);
    found.map(|it| it.values.clone()).unwrap_or_default()
}

impl Engine {
    pub fn of(case: &Case) -> Option<Self> {
        let evidence = case.evidence?;
        let track = evidence.tracks.iter().find(|it| it.of == "engine")?;
        let (running, waiting, kv) = (
            series(track, "running"),
            series(track, "waiting"),
            series(track, "kv_usage"),
        );
        let busy: Vec<usize> = (0..track.at_ms.len())
            .filter(|it| 0 <= track.at_ms[*it] && running.get(*it).copied().flatten().is_some_and(|it| 0.0 < it))
            .collect();
        if busy.len() < FEWEST {
            return None;
        }
        let at = |series: &[Option<f64>], look: usize| series.get(look).copied().flatten();
        let places = busy.iter().filter_map(|it| at(&running, *it)).fold(0.0, f64::max);
        let waits: Vec<usize> = busy.iter().copied().filter(|it| at(&waiting, *it).is_some_and(|it| 0.0 < it)).collect();
        let full = waits.iter().filter(|it| at(&running, **it) == Some(places)).count();
        let kv_busy = Sorted::of(busy.iter().filter_map(|it| at(&kv, *it)));
        let sum = |key: &str| {
            let all = series(track, key);
            let told: Vec<f64> = all.into_iter().flatten().collect();
            (!told.is_empty()).then(|| told.iter().sum::<f64>())
        };
        let (expected_hits, hits) = cache(evidence);
        Some(Self {
            looks: busy.len(),
            places,
            running: Sorted::of(busy.iter().filter_map(|it| at(&running, *it))).at(50.0),
            waits: share(waits.len(), busy.len()),
            full_when_waiting: share(full, waits.len()),
            kv: [kv_busy.at(50.0), kv_busy.at(100.0)].map(|it| it.map(|it| it / 100.0)),
            kv_when_waiting: Sorted::of(waits.iter().filter_map(|it| at(&kv, *it))).at(50.0).map(|it| it / 100.0),
            preemptions: sum("preemptions"),
            accepted: Sorted::of(series(track, "accepted").into_iter().flatten()).at(50.0).map(|it| it / 100.0),
            expected_hits,
            hits,
            queue: part(evidence, "queue"),
            prefill: part(evidence, "prefill"),
            path: part(evidence, "transport and unexplained"),
        })
    }
}

fn cache(evidence: &Evidence) -> (Option<f64>, Option<f64>) {
    let Some(expected) = evidence.cache.expected else {
        return (None, None);
    };
    let all = (expected.input_tokens as f64).max(1.0);
    (Some(expected.tokens as f64 / all), evidence.cache.observed_tokens.map(|it| it / all))
}

/// A part of the time before the first token, per request.
fn part(evidence: &Evidence, name: &str) -> Option<f64> {
    let ttft = evidence.ttft.as_ref()?;
    let part = ttft.parts.iter().find(|it| it.name == name)?;
    Some(part.share * ttft.seconds / (ttft.requests as f64).max(1.0))
}
