//! What surrounds a point: the cache emptied before it, everything that is looked at beside it, and what follows from that.

use app::studio::PointState;
use load::{Beside, BesideSpec, Made, Sharing, reset_prefix_cache};
use measure::evidence::{Evidence, Seen};
use measure::knobs::{Fact, Source};
use measure::request::RequestRecord;

use super::run::{Halt, Run};
use super::site::Site;

impl Run<'_> {
    /// Looks at everything beside a point.
    pub async fn look_beside(&self, site: &Site) -> Beside {
        let started = site.managed.as_ref();
        let spec = BesideSpec {
            endpoint: &site.endpoint,
            wire: &site.wire,
            engine: &site.engine,
            group: started.and_then(|it| it.engine.pids().first().copied()),
            metrics: None,
            exporters: &self.parts.exporters,
        };
        Beside::start(spec).await
    }

    /// Resets the engine's prefix cache; whether that worked, where it can be.
    pub async fn cool_cache(&mut self, site: &mut Site) -> Result<Option<bool>, Halt> {
        let by_engine = reset_prefix_cache(&site.endpoint, site.wire.clone()).await;
        let by_restart = site.managed.as_mut().is_some_and(|managed| {
            managed.keeps_cache = !by_engine;
            !managed.used
        });
        let reset = by_engine || by_restart;
        let reset_or_not = (reset || site.can_reset_cache).then_some(reset);
        let configurations = &mut self.model.configurations;
        let stored = configurations.get_mut(site.configuration as usize);
        let (Some(stored), true) = (stored, site.managed.is_some()) else {
            return Ok(reset_or_not);
        };
        let told = Fact {
            value: reset_words(by_engine, by_restart).to_owned(),
            source: Source::Engine,
        };
        if stored.facts.get(CACHE_RESET) != Some(&told) {
            stored.facts.insert(CACHE_RESET.to_owned(), told);
            self.tell_facts(site.configuration).await?;
        }
        Ok(reset_or_not)
    }

    /// Remembers whether the prefix cache was cold at every point of a configuration.
    pub async fn remember_cache(
        &mut self,
        configuration: u32,
        cold: Option<bool>,
    ) -> Result<(), Halt> {
        let points = self.model.points.iter();
        let measured = points.filter(|point| {
            point.configuration == configuration && point.state == PointState::Finished
        });
        let is_first = measured.count() <= 1;
        let Some(stored) = self.model.configurations.get_mut(configuration as usize) else {
            return Ok(());
        };
        let all = match (stored.cache_cold, cold) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), now) => now,
            (None, now) => now.filter(|_| is_first),
        };
        if all == stored.cache_cold {
            return Ok(());
        }
        stored.cache_cold = all;
        self.tell_facts(configuration).await
    }
}

/// What is known of a point beside its records.
pub(super) struct Around {
    pub made: Made,
    /// Requests of ours that are not among its records, the warm-up's and those given up before: output tokens asked of each.
    pub besides: Vec<u32>,
    /// Its prompts.
    pub sharing: Sharing,
    /// What was seen beside it.
    pub seen: Seen,
    /// The text of the engine's metrics pages, compressed.
    pub metrics: Option<Vec<u8>>,
    /// That the engine was exchanged for another while it was measured, in a sentence.
    pub exchanged: Option<String>,
}

impl Around {
    /// The evidence of the point.
    pub fn evidence(&self, records: &[RequestRecord]) -> Evidence {
        let Self {
            made,
            besides,
            sharing,
            seen,
            metrics,
            exchanged: _,
        } = self;
        let shared = sharing.shared_by(&seen.engine.readings, records, made);
        Evidence {
            metrics_kept: metrics.is_some(),
            ..Evidence::of(seen, records, besides, shared)
        }
    }
}

/// The fact that says how a managed engine's prefix cache is emptied between points.
const CACHE_RESET: &str = "seen:cache reset";

fn reset_words(by_engine: bool, by_restart: bool) -> &'static str {
    match (by_engine, by_restart) {
        (true, _) => "by the engine, before each point",
        (false, true) => "by a fresh start",
        (false, false) => "not between points",
    }
}
