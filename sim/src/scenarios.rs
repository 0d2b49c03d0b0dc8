//! Ways to be slow, one for each row of the diagnosis table, each with what mends it.
//!
//! For tests of judgement: the cause is known because it was built in. `strength` runs from 0 (just noticeable) to 1 (gross);
//! everything else that may vary (device, rate, lengths) is drawn from a seed. What a client or the network does wrong is not
//! here: it does not happen in the engine.

use measure::knobs::{KnobValue, Knobs};
use measure::sampling::Draws;
use measure::units::Nanos;

use crate::config::{Config, ConfigError};
use crate::rehearsal::{Rehearsal, rehearse_after};

mod load; // arrivals and lengths

pub use load::Load;

/// Why an engine is slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// Nothing is wrong.
    Healthy,
    /// Crowds arrive at once and wait for a place: first tokens are early for most, very late for some.
    QueueSpikes,
    /// A few long prompts hold up those behind them.
    LongPrefills,
    /// The cache runs full of growing answers, and some are computed anew: few tokens are very late.
    KvPressure,
    /// Few prompts fit into the cache at a time; the rest waits.
    KvBound,
    /// Few sequences may run: tokens come quickly, but few of them, and the queue is long.
    TooLittleConcurrency,
    /// Prompts begin alike, and nothing is reused.
    ColdCache,
    /// Prompts begin alike, but the cache forgets before they come again.
    EvictedPrefixes,
    /// Kernels are launched one by one.
    EagerLaunches,
    /// The device waits for the CPU between steps.
    SlowHost,
    /// More arrives than can be served: everything grows with time.
    AboveCapacity,
    /// Prompts get too small a share of too many steps.
    PrefillBound,
    /// Guesses are made and are wrong.
    DraftsRefused,
    /// The same was asked before, and the cache still holds it.
    WarmCache,
}

/// All causes, the healthy engine first.
pub const CAUSES: [Cause; 14] = [
    Cause::Healthy,
    Cause::QueueSpikes,
    Cause::LongPrefills,
    Cause::KvPressure,
    Cause::KvBound,
    Cause::TooLittleConcurrency,
    Cause::ColdCache,
    Cause::EvictedPrefixes,
    Cause::EagerLaunches,
    Cause::SlowHost,
    Cause::AboveCapacity,
    Cause::PrefillBound,
    Cause::DraftsRefused,
    Cause::WarmCache,
];

/// What takes a cause away.
#[derive(Clone, Debug, PartialEq)]
pub enum Mend {
    /// A knob turned.
    Knob(&'static str, KnobValue),
    /// Another load, where no knob helps.
    Load(Load),
    /// Nothing to be mended.
    None,
}

/// An engine, a load and what is wrong with them.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// What is wrong.
    pub cause: Cause,
    /// The engine's preset.
    pub preset: &'static str,
    /// Its knobs.
    pub knobs: Knobs,
    /// What is asked of it.
    pub load: Load,
    /// What takes the cause away.
    pub mend: Mend,
}

impl Scenario {
    /// An engine with this wrong, as much as `strength` says (0 to 1), the rest drawn from `seed`.
    pub fn of(cause: Cause, strength: f64, seed: u64) -> Self {
        Draft {
            strength: strength.clamp(0.0, 1.0),
            draws: Draws::new(seed),
        }
        .scenario(cause)
    }

    /// The same without the cause.
    pub fn mended(&self) -> Self {
        let mut mended = self.clone();
        match &self.mend {
            Mend::Knob(name, value) => _ = mended.knobs.insert((*name).to_owned(), value.clone()),
            Mend::Load(load) => mended.load = load.clone(),
            Mend::None => {}
        }
        mended.cause = Cause::Healthy;
        mended.mend = Mend::None;
        mended
    }

    /// The engine's configuration.
    pub fn config(&self) -> Result<Config, ConfigError> {
        Config::preset(self.preset, &self.knobs)
    }

    /// Plays the load in virtual time, with the engine's numbers taken once a second.
    pub fn play(&self, seed: u64) -> Result<Rehearsal, ConfigError> {
        let sessions = self.load.sessions(seed);
        let before = if self.load.warm { &sessions[..] } else { &[] };
        Ok(rehearse_after(
            &self.config()?,
            before,
            &sessions,
            Nanos::from_millis(1000),
        ))
    }
}

/// What a scenario is drawn from.
struct Draft {
    strength: f64,
    draws: Draws,
}

/// The presets that scenarios run on, with the requests a second of [`Load::default`] that load each by about a third.
const ENGINES: [(&str, f64); 4] = [
    ("llama-8b-h100", 14.0),
    ("llama-8b-h200", 18.0),
    ("llama-8b-a100", 9.0),
    ("llama-70b-4xh100", 6.0),
];

impl Draft {
    fn scenario(&mut self, cause: Cause) -> Scenario {
        let (preset, rate) = ENGINES[self.draws.below(ENGINES.len())];
        let rate = rate * self.about(1.0);
        let mut scenario = Scenario {
            cause,
            preset,
            knobs: Knobs::new(),
            load: Load {
                rate,
                ..Load::default()
            },
            mend: Mend::None,
        };
        self.spoil(&mut scenario, rate);
        scenario
    }

    fn spoil(&mut self, scenario: &mut Scenario, rate: f64) {
        match scenario.cause {
            Cause::Healthy => {}
            Cause::QueueSpikes => self.queue_spikes(scenario),
            Cause::LongPrefills => self.long_prefills(scenario, rate),
            Cause::KvPressure => self.kv_pressure(scenario, rate),
            Cause::KvBound => self.kv_bound(scenario, rate),
            Cause::TooLittleConcurrency => self.too_little_concurrency(scenario),
            Cause::ColdCache => self.cold_cache(scenario, rate),
            Cause::EvictedPrefixes => self.evicted_prefixes(scenario, rate),
            Cause::EagerLaunches => self.eager_launches(scenario, rate),
            Cause::SlowHost => self.slow_host(scenario, rate),
            Cause::AboveCapacity => self.above_capacity(scenario, rate),
            Cause::PrefillBound => self.prefill_bound(scenario, rate),
            Cause::DraftsRefused => self.drafts_refused(scenario),
            Cause::WarmCache => self.warm_cache(scenario, rate),
        }
    }

    /// `value` give or take a tenth.
    fn about(&mut self, value: f64) -> f64 {
        value * (0.9 + 0.2 * self.draws.uniform())
    }

    /// Between `weak` and `strong`, as the strength says.
    fn by_strength(&self, weak: f64, strong: f64) -> f64 {
        weak + (strong - weak) * self.strength
    }

    fn whole(&self, weak: f64, strong: f64) -> KnobValue {
        KnobValue::Whole(self.by_strength(weak, strong).round() as i64)
    }
}

/// Sets a knob, and what it has to become.
fn knob(scenario: &mut Scenario, name: &'static str, value: KnobValue, mend: KnobValue) {
    scenario.knobs.insert(name.to_owned(), value);
    scenario.mend = Mend::Knob(name, mend);
}

const ON: KnobValue = KnobValue::Switch(true);
const OFF: KnobValue = KnobValue::Switch(false);

mod table; // what is wrong, cause by cause

#[cfg(test)]
mod tests;
