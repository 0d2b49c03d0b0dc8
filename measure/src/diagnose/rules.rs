//! The rules, cause by cause. docs/diagnosis.md says where each threshold comes from.

use super::Figures;
use super::client::over;
use super::condition::{Condition, Rule, Told, Unit};
use super::engine::{Engine, Prefixes};
use super::prediction::{Change, Figure, Prediction};
use super::said::{Cause, Finding};
use super::turn::{Advice, Turn};

mod measuring; // what spoils the measurement
mod prefixes; // what is reused
mod steps; // what a step takes
mod waiting; // what requests wait for

/// Steps that compute next to nothing but answers, by the share that prompts add.
const DECODES: f64 = 1.25;
/// Where requests wait for places and it is known what the device could compute, prompts may take a third of the steps.
const MOSTLY_DECODES: f64 = 1.5;
/// Requests wait at this share of the looks: a queue that stays, as opposed to one that comes and goes.
const STAYS: f64 = 0.35;
/// Nearly always all places are taken.
const ALL_TAKEN: f64 = 0.8;
/// From so much of the KV cache in use on it is what requests wait for: a prompt of a few blocks' length needs the rest.
const KV_FULL: f64 = 0.6;

/// What is found of every cause, in the order in which they count.
pub(super) fn all(figures: &Figures) -> Vec<Finding> {
    Cause::ALL
        .into_iter()
        .map(|cause| rule(cause, figures).found(figures.case.made))
        .collect()
}

fn rule(cause: Cause, figures: &Figures) -> Rule {
    let (conditions, turn, prediction) = match cause {
        Cause::ClientBound => measuring::client_bound(figures),
        Cause::WarmCache => measuring::warm_cache(figures),
        Cause::NetworkBound => measuring::network_bound(figures),
        Cause::DraftsRefused => steps::drafts_refused(figures),
        Cause::ColdCache => prefixes::cold_cache(figures),
        Cause::EvictedPrefixes => prefixes::evicted_prefixes(figures),
        Cause::KvPressure => waiting::kv_pressure(figures),
        Cause::KvBound => waiting::kv_bound(figures),
        Cause::PrefillBound => waiting::prefill_bound(figures),
        Cause::TooLittleConcurrency => waiting::too_little_concurrency(figures),
        Cause::QueueSpikes => waiting::queue_spikes(figures),
        Cause::LongPrefills => waiting::long_prefills(figures),
        Cause::EagerLaunches => steps::eager_launches(figures),
        Cause::SlowHost => steps::slow_host(figures),
        Cause::AboveCapacity => waiting::above_capacity(figures),
    };
    Rule {
        cause,
        conditions,
        advice: Advice { turn, prediction },
    }
}

/// What a rule is made of.
type Parts = (Vec<Condition>, Turn, Option<Prediction>);

fn falls(figure: Figure, share: f64) -> Option<Prediction> {
    Some(Prediction {
        figure,
        change: Change::FallsBy(share),
    })
}

const PAGE: &str = "the engine's metrics page";
const HARDWARE: &str = "what the hardware allows";
const PROMPTS: &str = "what the prompts share";
const CLIENT: &str = "too few such requests";

impl Figures<'_> {
    /// A figure of the engine's page.
    fn page(&self, name: &'static str, unit: Unit, of: impl Fn(&Engine) -> Option<f64>) -> Told {
        Told {
            name,
            value: self.engine.as_ref().and_then(of),
            unit,
            by: PAGE,
        }
    }

    fn client(&self, name: &'static str, unit: Unit, value: Option<f64>) -> Told {
        Told {
            name,
            value,
            unit,
            by: CLIENT,
        }
    }

    fn waits(&self) -> Told {
        self.page(
            "looks at the engine at which requests waited",
            Unit::Percent,
            |it| it.waits,
        )
    }

    fn full(&self) -> Told {
        let name = match self.case.slots {
            Some(_) => {
                "looks with waiting requests at which all places were taken that the engine has by its settings"
            }
            None => "looks with waiting requests at which as many ran as ever",
        };
        self.page(name, Unit::Percent, |it| it.full)
    }

    fn kv_when_waiting(&self) -> Told {
        let name = "KV cache in use while requests waited, median";
        self.page(name, Unit::Percent, |it| it.kv_when_waiting)
    }

    /// How much of the steps prompts may take where more places are to help.
    fn beside_decodes(&self) -> f64 {
        match self.case.theory {
            Some(_) => MOSTLY_DECODES,
            None => DECODES,
        }
    }

    /// Requests wait most of the time for one of the places that the engine has, all of which are taken, and computing prompts takes
    /// little of its steps.
    fn wait_for_places(&self) -> bool {
        let Some(engine) = self.engine.as_ref() else {
            return false;
        };
        let decodes = over(self.client.tpot.p50, self.client.gap.p50);
        engine.waits.is_some_and(|it| STAYS <= it)
            && engine.full.is_some_and(|it| ALL_TAKEN <= it)
            && decodes.is_some_and(|it| it <= self.beside_decodes())
    }

    fn preemptions(&self) -> Told {
        let answered = self.client.answered.max(1) as f64;
        self.page("preemptions for each answered request", Unit::Count, |it| {
            Some(it.preemptions? / answered)
        })
    }

    fn ttft_tail(&self) -> Told {
        self.client(
            "TTFT p99 over its p50",
            Unit::Times,
            self.client.ttft.tail(),
        )
    }

    /// How many steps the first token took.
    fn ttft_steps(&self) -> Told {
        let steps = over(self.client.ttft.p50, self.client.gap.p50);
        self.client(
            "TTFT p50 over the median gap between tokens",
            Unit::Times,
            steps,
        )
    }

    /// How much of the steps prompts take.
    fn decodes(&self) -> Told {
        let share = over(self.client.tpot.p50, self.client.gap.p50);
        self.client(
            "TPOT p50 over the median gap between tokens",
            Unit::Times,
            share,
        )
    }

    fn paused_alone(&self) -> Told {
        let name = "answers that paused while another went on";
        self.client(name, Unit::Percent, self.client.paused_alone)
    }

    fn prefixes(&self) -> Prefixes {
        Prefixes::of(&self.case)
    }
}
