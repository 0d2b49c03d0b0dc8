//! A trial: something is wrong, or nothing, on a device and with a load drawn from a seed.

use measure::diagnose::Cause;
use measure::sampling::{Draws, derive};
use sim::config::Config;
use sim::scenarios::{self, Load, Scenario};

use super::played::Played;
use super::world::World;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Something in the engine, or nothing.
    Engine(scenarios::Cause),
    /// Somebody else takes the client's processor.
    Hog,
    /// The way is long.
    Way,
}

/// All that can be wrong, nothing first.
pub fn all() -> Vec<Wrong> {
    let engine = scenarios::CAUSES.into_iter().map(Wrong::Engine);
    engine.chain([Wrong::Hog, Wrong::Way]).collect()
}

impl Wrong {
    /// What a diagnosis should name; none where nothing is wrong.
    pub fn cause(self) -> Option<Cause> {
        use scenarios::Cause as Built;
        Some(match self {
            Self::Hog => Cause::ClientBound,
            Self::Way => Cause::NetworkBound,
            Self::Engine(built) => match built {
                Built::Healthy => return None,
                Built::QueueSpikes => Cause::QueueSpikes,
                Built::LongPrefills => Cause::LongPrefills,
                Built::KvPressure => Cause::KvPressure,
                Built::KvBound => Cause::KvBound,
                Built::TooLittleConcurrency => Cause::TooLittleConcurrency,
                Built::ColdCache => Cause::ColdCache,
                Built::EvictedPrefixes => Cause::EvictedPrefixes,
                Built::EagerLaunches => Cause::EagerLaunches,
                Built::SlowHost => Cause::SlowHost,
                Built::AboveCapacity => Cause::AboveCapacity,
                Built::PrefillBound => Cause::PrefillBound,
                Built::DraftsRefused => Cause::DraftsRefused,
                Built::WarmCache => Cause::WarmCache,
            },
        })
    }

    /// Launches and the CPU hide behind a slower device than those that the scenarios run on.
    fn needs_a_quick_device(self) -> bool {
        use scenarios::Cause as Built;
        matches!(self, Self::Engine(Built::EagerLaunches | Built::SlowHost))
    }
}

/// A trial.
pub struct Trial {
    seed: u64,
    scenario: Scenario,
    device: Device,
    world: World,
}

/// A device that no preset has: all of it so many times as slow, its memory and its arithmetic so many times besides.
#[derive(Clone, Copy)]
struct Device {
    all: f64,
    memory: f64,
    arithmetic: f64,
}

impl Device {
    fn drawn(wrong: Wrong, seed: u64) -> Self {
        let mut draws = Draws::new(derive(seed, &[16]));
        let most = if wrong.needs_a_quick_device() {
            0.0
        } else {
            1.0
        };
        let mut about = || 0.85 + 0.3 * draws.uniform();
        let (memory, arithmetic) = (about(), about());
        let least = if wrong.needs_a_quick_device() {
            0.6f64
        } else {
            0.5
        };
        let power = least.log2() + (most - least.log2()) * draws.uniform();
        Self {
            all: power.exp2(),
            memory,
            arithmetic,
        }
    }

    fn apply(self, config: &mut Config, load: &mut Load) {
        let Self {
            all,
            memory,
            arithmetic,
        } = self;
        let cost = &mut config.cost;
        cost.weights_ns *= all * memory;
        cost.kv_token_ns *= all * memory;
        cost.token_ns *= all * arithmetic;
        cost.attention_pair_ns *= all * arithmetic;
        cost.reduce_ns *= all;
        cost.reduce_token_ns *= all;
        cost.draft_ns *= all * memory;
        cost.draft_token_ns *= all * memory;
        load.rate /= all;
    }
}

impl Trial {
    /// On a device of its own.
    pub fn on_another(wrong: Wrong, strength: f64, seed: u64) -> Self {
        let (built, world) = match wrong {
            Wrong::Engine(built) => (built, World::Near),
            Wrong::Hog => (scenarios::Cause::Healthy, World::hog(strength, seed)),
            Wrong::Way => (scenarios::Cause::Healthy, World::far(strength, seed)),
        };
        Self {
            seed,
            scenario: Scenario::of(built, strength, seed),
            device: Device::drawn(wrong, seed),
            world,
        }
    }

    /// What is seen.
    pub fn played(&self) -> Played {
        self.play(&self.scenario, &self.world)
    }

    /// What is seen once it is mended.
    pub fn mended(&self) -> Played {
        self.play(&self.scenario.mended(), &World::Near)
    }

    fn play(&self, scenario: &Scenario, world: &World) -> Played {
        let mut config = scenario
            .config()
            .expect("a scenario that the simulator takes");
        let mut load = scenario.load.clone();
        self.device.apply(&mut config, &mut load);
        Played::of(&config, &load, world, self.seed)
    }
}
