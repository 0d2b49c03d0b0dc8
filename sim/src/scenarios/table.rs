//! What is wrong, cause by cause.

use measure::knobs::KnobValue;

use super::{Draft, Load, Mend, OFF, ON, Scenario, knob};

impl Draft {
    pub(super) fn queue_spikes(&mut self, scenario: &mut Scenario) {
        let crowd = self.about(self.by_strength(50.0, 100.0)) as usize;
        scenario.load = Load {
            sessions: 1000,
            crowd_every: 900 - crowd,
            crowd,
            prompt: (20, 60),
            answer: (100, 200),
            rate: scenario.load.rate / 2.0,
            ..Load::default()
        };
        let places = self.whole(24.0, 12.0);
        knob(scenario, "max-num-seqs", places, KnobValue::Whole(256));
    }

    pub(super) fn long_prefills(&mut self, scenario: &mut Scenario, rate: f64) {
        scenario.load = Load {
            sessions: 1000,
            rate: rate * 1.5,
            prompt: (20, 100),
            answer: (30, 80),
            long_every: 120,
            long_prompt: self.by_strength(5000.0, 8000.0) as u32,
            ..Load::default()
        };
        knob(
            scenario,
            "long-prefill-token-threshold",
            KnobValue::Whole(0),
            KnobValue::Whole(128),
        );
    }

    pub(super) fn kv_pressure(&mut self, scenario: &mut Scenario, rate: f64) {
        scenario.load = Load {
            rate: rate * self.by_strength(1.3, 1.7),
            prompt: (20, 60),
            answer: (200, 500),
            ..Load::default()
        };
        self.small_cache(scenario, 9_000.0, 8_200.0);
    }

    pub(super) fn kv_bound(&mut self, scenario: &mut Scenario, rate: f64) {
        scenario.load = Load {
            rate: rate / 4.5,
            prompt: (2000, 4000),
            answer: (80, 120),
            ..Load::default()
        };
        self.small_cache(scenario, 11_000.0, 9_000.0);
    }

    /// A cache of so many tokens, and the knob that gives it what the memory has.
    fn small_cache(&mut self, scenario: &mut Scenario, weak: f64, strong: f64) {
        let blocks = self.whole(weak / 16.0, strong / 16.0);
        knob(
            scenario,
            "num-gpu-blocks-override",
            blocks,
            KnobValue::Whole(0),
        );
    }

    pub(super) fn too_little_concurrency(&mut self, scenario: &mut Scenario) {
        let places = self.whole(6.0, 2.0);
        knob(scenario, "max-num-seqs", places, KnobValue::Whole(64));
    }

    pub(super) fn cold_cache(&mut self, scenario: &mut Scenario, rate: f64) {
        scenario.load = self.alike(rate / 4.0, 6);
        knob(scenario, "enable-prefix-caching", OFF, ON);
    }

    pub(super) fn evicted_prefixes(&mut self, scenario: &mut Scenario, rate: f64) {
        scenario.load = self.alike(rate / 4.0, 30);
        scenario
            .knobs
            .insert("enable-prefix-caching".to_owned(), ON);
        self.small_cache(scenario, 30_000.0, 16_000.0);
    }

    /// Prompts that begin with one of so many texts.
    fn alike(&self, rate: f64, prefixes: usize) -> Load {
        Load {
            rate,
            prompt: (20, 100),
            prefixes,
            prefix: self.by_strength(2000.0, 3000.0) as u32,
            ..Load::default()
        }
    }

    pub(super) fn eager_launches(&mut self, scenario: &mut Scenario, rate: f64) {
        // Few sequences, so that the launches and not the work are what takes time.
        scenario.load.rate = rate * self.by_strength(0.2, 0.05);
        if scenario.preset == "llama-8b-a100" {
            scenario.preset = "llama-8b-h200";
        }
        knob(scenario, "enforce-eager", ON, OFF);
    }

    pub(super) fn slow_host(&mut self, scenario: &mut Scenario, rate: f64) {
        // Beside a step of 15 ms the host's time would hardly show.
        let rate = if scenario.preset == "llama-70b-4xh100" {
            scenario.preset = "llama-8b-h100";
            2.0 * rate
        } else {
            rate
        };
        scenario.load = Load {
            rate: rate * self.by_strength(0.8, 1.4),
            prompt: (20, 60),
            answer: (100, 300),
            ..Load::default()
        };
        scenario
            .knobs
            .insert("max-num-seqs".to_owned(), KnobValue::Whole(512));
        knob(scenario, "async-scheduling", OFF, ON);
    }

    pub(super) fn above_capacity(&mut self, scenario: &mut Scenario, rate: f64) {
        let load = Load {
            sessions: 1000,
            rate,
            ..Load::default()
        };
        scenario.mend = Mend::Load(load.clone());
        scenario.load = Load {
            rate: rate * self.by_strength(6.0, 10.0),
            ..load
        };
    }

    pub(super) fn prefill_bound(&mut self, scenario: &mut Scenario, rate: f64) {
        scenario.load = Load {
            rate: rate / 2.0,
            prompt: (1000, 1500),
            answer: (20, 40),
            ..Load::default()
        };
        let budget = self.whole(72.0, 58.0);
        knob(
            scenario,
            "max-num-batched-tokens",
            budget,
            KnobValue::Whole(2048),
        );
    }

    pub(super) fn drafts_refused(&mut self, scenario: &mut Scenario) {
        let refused = self.by_strength(0.05, 0.0);
        scenario.knobs.insert(
            "synthetic-acceptance-rate".to_owned(),
            KnobValue::Fraction(refused),
        );
        let drafts = self.whole(6.0, 10.0);
        knob(
            scenario,
            "num-speculative-tokens",
            drafts,
            KnobValue::Whole(0),
        );
    }

    pub(super) fn warm_cache(&mut self, scenario: &mut Scenario, rate: f64) {
        scenario
            .knobs
            .insert("enable-prefix-caching".to_owned(), ON);
        let cold = Load {
            sessions: self.by_strength(100.0, 200.0) as usize,
            rate: rate / 2.0,
            prompt: (300, 900),
            ..Load::default()
        };
        scenario.load = Load {
            warm: true,
            ..cold.clone()
        };
        scenario.mend = Mend::Load(cold);
    }
}
