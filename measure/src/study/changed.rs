//! What a study changes of another one.

use super::StudySpec;

impl StudySpec {
    /// The fields in which this study asks for something else than another, its name left out: a difference between what two
    /// studies measured has one cause only where there is one.
    pub fn changed_from(&self, other: &Self) -> Vec<&'static str> {
        let fields = [
            ("engine", self.engine != other.engine),
            ("workload", self.workload != other.workload),
            ("tokenizer", self.tokenizer != other.tokenizer),
            ("arrival", self.arrival != other.arrival),
            (
                "levels",
                self.levels != other.levels || self.adaptive != other.adaptive,
            ),
            ("length", self.length != other.length),
            ("repeats", self.repeats != other.repeats),
            ("slo", self.slo != other.slo),
            (
                "configurations",
                self.configurations != other.configurations,
            ),
            ("seed", self.seed != other.seed),
            ("warmup", self.warmup != other.warmup),
            ("ramp_in_ms", self.ramp_in_ms != other.ramp_in_ms),
            ("drain_ms", self.drain_ms != other.drain_ms),
            (
                "idle_timeout_ms",
                self.idle_timeout_ms != other.idle_timeout_ms,
            ),
            ("on_failure", self.on_failure != other.on_failure),
            ("factorial", self.factorial != other.factorial),
        ];
        let changed = fields.into_iter().filter(|(_, is)| *is);
        changed.map(|(field, _)| field).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_field_but_the_name_counts() {
        let before = StudySpec::goodput_exercise();
        let mut after = StudySpec {
            name: "again".into(),
            ..before.clone()
        };
        assert_eq!(after.changed_from(&before), [""; 0]);
        after.seed.0 += 1;
        after.configurations.pop();
        assert_eq!(after.changed_from(&before), ["configurations", "seed"]);
    }

    #[test]
    fn no_field_is_forgotten() {
        // Whoever adds a field meets this line: does a study that differs in it measure something else?
        let StudySpec {
            name: _,
            engine: _,
            workload: _,
            arrival: _,
            levels: _,
            adaptive: _,
            length: _,
            warmup: _,
            seed: _,
            slo: _,
            configurations: _,
            repeats: _,
            idle_timeout_ms: _,
            drain_ms: _,
            ramp_in_ms: _,
            tokenizer: _,
            on_failure: _,
            factorial: _,
        } = StudySpec::goodput_exercise();
    }
}
