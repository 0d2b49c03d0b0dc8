//! Each cause shows its sign at every strength, whatever else is drawn, and loses it when its knob is turned.

use measure::quantile::percentile_linear;

use super::*;
use crate::rehearsal::Outcome;
use crate::stats::Stats;

/// A played scenario.
struct Played {
    config: Config,
    load: Load,
    rehearsal: Rehearsal,
}

impl Played {
    fn of(scenario: &Scenario, seed: u64) -> Self {
        Self {
            config: scenario.config().unwrap(),
            load: scenario.load.clone(),
            rehearsal: scenario.play(seed).unwrap(),
        }
    }

    /// A percentile of what `of` gives of each request, in milliseconds.
    fn percentile(&self, p: f64, of: impl Fn(&Outcome) -> Option<Nanos>) -> f64 {
        let outcomes = self.rehearsal.outcomes.iter();
        let mut values: Vec<f64> = outcomes.filter_map(of).map(Nanos::as_millis_f64).collect();
        values.sort_by(f64::total_cmp);
        percentile_linear(&values, p).unwrap()
    }

    fn ttft(&self, p: f64) -> f64 {
        self.percentile(p, |one| Some(one.ttft()))
    }

    fn tpot(&self, p: f64) -> f64 {
        self.percentile(p, Outcome::tpot)
    }

    /// TTFT's median among requests that `which` picks by their order of arrival.
    fn ttft_among(&self, which: impl Fn(usize) -> bool) -> f64 {
        self.percentile(50.0, |one| which(one.session).then(|| one.ttft()))
    }

    /// Share of the seconds under load in which the engine showed this.
    fn share(&self, shows: impl Fn(&Stats) -> bool) -> f64 {
        let busy = || self.rehearsal.samples.iter().filter(|it| 0 < it.1.running);
        busy().filter(|it| shows(&it.1)).count() as f64 / busy().count() as f64
    }

    /// Share of the prompts' tokens that were looked for in the prefix cache in vain.
    fn missed(&self) -> f64 {
        let counts = self.rehearsal.stats.counts;
        (counts.cache_queries - counts.cache_hits) as f64 / counts.cache_queries.max(1) as f64
    }

    /// The shortest step, in milliseconds: what a lone sequence waits for a token.
    fn floor(&self) -> f64 {
        (self.config.cost.weights_ns + self.config.cost.reduce_ns + self.config.cost.gap_ns) / 1e6
    }
}

/// The figure by which a cause is seen, and above which it is.
fn sign(cause: Cause, played: &Played) -> (f64, f64) {
    let places = u64::from(played.config.max_num_seqs);
    let quarter = played.load.sessions / 4;
    let stats = &played.rehearsal.stats;
    match cause {
        Cause::Healthy => (played.ttft(99.0), 500.0),
        Cause::QueueSpikes => (played.ttft(99.0) / played.ttft(50.0), 40.0),
        Cause::LongPrefills => (played.ttft(98.0) / played.ttft(50.0), 4.0),
        Cause::KvPressure if stats.counts.preemptions == 0 => (0.0, 1.3),
        Cause::KvPressure => (played.tpot(99.0) / played.tpot(50.0), 1.3),
        Cause::KvBound => {
            let full = |it: &Stats| 0 < it.waiting && it.running < places && 0.6 < it.kv_usage;
            (played.share(full), 0.3)
        }
        Cause::TooLittleConcurrency => {
            let full = |it: &Stats| 0 < it.waiting && it.running == places && it.kv_usage < 0.02;
            (played.share(full), 0.5)
        }
        Cause::ColdCache => (played.ttft(50.0) / played.floor(), 5.0),
        Cause::EvictedPrefixes => (played.missed(), 0.4),
        Cause::EagerLaunches => (played.tpot(50.0) / played.floor(), 1.3),
        // The quickest requests, beside which few prompts were computed.
        Cause::SlowHost => (played.tpot(5.0) / played.floor(), 1.1),
        Cause::AboveCapacity => {
            let last = played.ttft_among(|it| 3 * quarter <= it);
            (last / played.ttft_among(|it| it < quarter), 3.0)
        }
        Cause::PrefillBound => (
            played.ttft(50.0) * 1e6 / (1250.0 * played.config.cost.token_ns),
            1.7,
        ),
        Cause::DraftsRefused if stats.guesses.accepted * 2 < stats.guesses.tokens => {
            (played.tpot(50.0) / played.floor(), 1.12)
        }
        Cause::DraftsRefused => (0.0, 1.12),
        Cause::WarmCache => (stats.counts.cache_hits as f64, 0.0),
    }
}

/// The sign is there whatever else is drawn, and gone once the cause is mended.
#[track_caller]
fn check(cause: Cause) {
    for (strength, seed) in [(0.0, 1), (0.0, 2), (0.5, 3), (1.0, 4), (1.0, 5)] {
        let scenario = Scenario::of(cause, strength, seed);
        let (figure, bound) = sign(cause, &Played::of(&scenario, seed));
        assert!(bound < figure, "{figure}, not above {bound}: {scenario:?}");
        let (figure, bound) = sign(cause, &Played::of(&scenario.mended(), seed));
        assert!(
            figure <= bound,
            "{figure}, above {bound} when mended: {scenario:?}"
        );
    }
}

macro_rules! causes {
    ($($test:ident $cause:ident)*) => {$(
        #[test]
        fn $test() {
            check(Cause::$cause);
        }
    )*};
}

causes! {
    crowds_wait_for_a_place QueueSpikes
    long_prompts_hold_up_short_ones LongPrefills
    a_full_cache_preempts KvPressure
    a_full_cache_keeps_prompts_waiting KvBound
    few_places_leave_the_engine_idle TooLittleConcurrency
    prompts_that_begin_alike_are_computed_anew ColdCache
    prefixes_are_forgotten_before_they_come_again EvictedPrefixes
    launches_are_slower_than_the_work EagerLaunches
    the_device_waits_for_the_host SlowHost
    above_capacity_first_tokens_come_ever_later AboveCapacity
    small_pieces_starve_prefills PrefillBound
    wrong_guesses_cost_time DraftsRefused
    a_warm_cache_shows_more_than_the_prompts_share WarmCache
}

#[test]
fn a_healthy_engine_shows_no_sign() {
    for seed in 0..6 {
        let played = Played::of(&Scenario::of(Cause::Healthy, 1.0, seed), seed);
        for cause in CAUSES {
            let (figure, bound) = sign(cause, &played);
            assert!(
                figure <= bound,
                "{cause:?}: {figure}, above {bound}, seed {seed}"
            );
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_scenario_and_the_same_numbers() {
    let play = |seed| {
        let scenario = Scenario::of(Cause::EvictedPrefixes, 0.3, seed);
        (scenario.play(seed).unwrap(), scenario)
    };
    assert_eq!(play(7), play(7));
    assert_ne!(play(7).1, play(8).1);
}
