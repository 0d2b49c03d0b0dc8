//! What the engine's own page tells.

use super::Case;
use super::sorted::{Sorted, share};
use crate::evidence::{Evidence, Track, Warmth};

/// Fewer looks at a busy engine say nothing.
const FEWEST: usize = 5;

/// Figures of the engine, over the looks at which anything ran; times in seconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Engine {
    /// Share of the looks at which requests waited.
    pub waits: Option<f64>,
    /// Share of those at which all places were taken: as many ran as the engine says that it runs at once, or, where it does
    /// not say so, as many as ever.
    pub full: Option<f64>,
    /// KV cache in use at those, median.
    pub kv_when_waiting: Option<f64>,
    /// Preemptions.
    pub preemptions: Option<f64>,
    /// Share of the drafted tokens that stood, median of the looks; none where nothing is drafted.
    pub accepted: Option<f64>,
    /// Time in the queue for each request, all requests together.
    pub queue: Option<f64>,
    /// Time from there to the first token, the same.
    pub prefill: Option<f64>,
    /// Time that the engine did not see, the same.
    pub beside: Option<f64>,
}

impl Engine {
    /// None where the page was not read, or too seldom.
    pub fn of(case: &Case) -> Option<Self> {
        let evidence = case.evidence?;
        let looks = Looks::of(evidence.tracks.iter().find(|it| it.of == "engine")?)?;
        let most = looks.busy.iter().filter_map(|it| it.running);
        let most = most.fold(0.0, f64::max);
        let waits = || {
            looks
                .busy
                .iter()
                .filter(|it| it.waiting.is_some_and(|it| 0.0 < it))
        };
        let is_full = |it: &&Look| it.running.is_some_and(|it| taken(case.slots, most) <= it);
        let full = waits().filter(is_full).count();
        let tells = looks.busy.iter().any(|it| it.waiting.is_some());
        let percent = |sorted: Sorted| sorted.at(50.0).map(|it| it / 100.0);
        Some(Self {
            waits: share(waits().count(), looks.busy.len()).filter(|_| tells),
            full: share(full, waits().count()),
            kv_when_waiting: percent(Sorted::of(waits().filter_map(|it| it.kv))),
            preemptions: looks.sum("preemptions"),
            accepted: looks.accepted().map(|it| it / 100.0),
            queue: part(evidence, "queue"),
            prefill: part(evidence, "prefill"),
            beside: part(evidence, "transport and unexplained"),
        })
    }
}

/// From how many on all places are taken. Of those that the engine states, one or a tenth may be between two requests at a look.
fn taken(slots: Option<u32>, most: f64) -> f64 {
    slots.map_or(most, |all| {
        let all = f64::from(all);
        (all - (0.1 * all).max(1.0)).max(1.0)
    })
}

/// Looks at the engine's page.
struct Looks<'a> {
    track: &'a Track,
    busy: Vec<Look>,
}

#[derive(Clone, Copy)]
struct Look {
    running: Option<f64>,
    waiting: Option<f64>,
    kv: Option<f64>,
}

impl<'a> Looks<'a> {
    fn of(track: &'a Track) -> Option<Self> {
        let mut looks = Self {
            track,
            busy: Vec::new(),
        };
        let gauges = looks.series("running").zip(looks.series("waiting"));
        let all = gauges.zip(looks.series("kv_usage")).zip(&track.at_ms);
        let busy = all.filter_map(|(((running, waiting), kv), at_ms)| {
            let is_busy = 0 <= *at_ms && running.is_some_and(|it| 0.0 < it);
            is_busy.then_some(Look {
                running,
                waiting,
                kv,
            })
        });
        looks.busy = busy.collect();
        (FEWEST <= looks.busy.len()).then_some(looks)
    }

    /// One value a look; nothing but none where the series is not there.
    fn series(&self, key: &str) -> impl Iterator<Item = Option<f64>> + use<'a> {
        let found = self.track.series.iter().find(|it| it.key == key);
        let values = found.map(|it| &it.values[..]).unwrap_or_default();
        let count = self.track.at_ms.len();
        (0..count).map(move |look| values.get(look).copied().flatten())
    }

    /// Drafts that stood, in percent, median. A rate that is told before anything ran, and is never anything but zero, is that of an
    /// engine that drafts nothing: drafts of which not one stood are told by counters, which have grown by nothing at the first look.
    fn accepted(&self) -> Option<f64> {
        let all = || self.series("accepted");
        let is_idle = all().next().flatten().is_some() && all().flatten().all(|it| it == 0.0);
        Sorted::of(all().flatten()).at(50.0).filter(|_| !is_idle)
    }

    fn sum(&self, key: &str) -> Option<f64> {
        self.series(key).flatten().reduce(|all, more| all + more)
    }
}

/// A part of the time before the first token, for each request.
fn part(evidence: &Evidence, name: &str) -> Option<f64> {
    let ttft = evidence.ttft.as_ref()?;
    let part = ttft.parts.iter().find(|it| it.name == name)?;
    Some(part.share * ttft.seconds / (ttft.requests as f64).max(1.0))
}

/// The prefix cache, as shares of all input tokens.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prefixes {
    /// What prompts share with those before them.
    pub expected: Option<f64>,
    /// What the cache had of it.
    pub hit: Option<f64>,
    /// Whether it had what was never sent.
    pub is_warm: Option<bool>,
}

impl Prefixes {
    pub fn of(case: &Case) -> Self {
        let Some(cache) = case.evidence.map(|it| &it.cache) else {
            return Self::default();
        };
        let all = cache.expected.map(|it| (it.input_tokens as f64).max(1.0));
        // What a chat template may share is assumed, and it is no reason to be slow.
        let expected = cache.expected.map(|it| it.own_tokens as f64);
        // What an engine puts around every prompt is found as well, and is none of what prompts share.
        let hit = |found: f64| expected.map_or(found, |most| found.min(most));
        Self {
            expected: expected.zip(all).map(|(it, all)| it / all),
            hit: cache
                .observed_tokens
                .zip(all)
                .map(|(it, all)| hit(it) / all),
            is_warm: match cache.warmth {
                Warmth::Contaminated => Some(true),
                Warmth::AsExpected | Warmth::Colder => Some(false),
                Warmth::CannotTell => None,
            },
        }
    }
}
