//! One threshold of a rule, and what follows from all of them.

use super::said::{Cause, Finding, Standing};
use super::turn::{Advice, Turn};
use crate::units::{Nanos, three_digits};

/// What a condition is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The cause has it, and nothing can be said of the cause where it is not told.
    Core,
    /// The cause has it.
    Must,
    /// The cause has it where it is told; it need not be told.
    Veto,
    /// Where something that the cause must have is not told, this makes it possible.
    Hint,
}

/// One condition.
pub(super) struct Condition {
    kind: Kind,
    holds: Option<bool>,
    /// The figure with its value and threshold; where it is not told, its name and what would tell it.
    words: String,
}

/// How a figure is written.
#[derive(Clone, Copy)]
pub(super) enum Unit {
    /// A ratio.
    Times,
    /// A share.
    Percent,
    /// A time in seconds.
    Time,
    /// A count, or a count a request.
    Count,
}

impl Unit {
    fn write(self, value: f64) -> String {
        match self {
            Self::Times => format!("{} times", three_digits(value)),
            Self::Percent => format!("{} %", three_digits(100.0 * value)),
            Self::Time if value < 0.0 => format!("-{}", Nanos::from_secs_f64(-value)),
            Self::Time => Nanos::from_secs_f64(value).to_string(),
            Self::Count => three_digits(value),
        }
    }
}

/// A figure: its name, its value in a unit, and what would tell it.
pub(super) struct Told {
    pub name: &'static str,
    pub value: Option<f64>,
    pub unit: Unit,
    pub by: &'static str,
}

impl Told {
    /// Fulfilled from a bound on.
    pub fn at_least(self, bound: f64) -> Condition {
        let words = format!("it takes {} or more", self.unit.write(bound));
        let holds = self.value.map(|it| bound <= it);
        self.condition(holds, &words)
    }

    /// Fulfilled up to a bound.
    pub fn at_most(self, bound: f64) -> Condition {
        let words = format!("it takes {} or less", self.unit.write(bound));
        let holds = self.value.map(|it| it <= bound);
        self.condition(holds, &words)
    }

    fn condition(self, holds: Option<bool>, bound: &str) -> Condition {
        let words = match self.value {
            Some(value) => format!("{}: {} ({bound})", self.name, self.unit.write(value)),
            None => format!("{}: not told ({})", self.name, self.by),
        };
        Condition {
            kind: Kind::Must,
            holds,
            words,
        }
    }
}

/// A condition in words of its own.
pub(super) fn fact(holds: Option<bool>, words: String) -> Condition {
    Condition {
        kind: Kind::Must,
        holds,
        words,
    }
}

impl Condition {
    /// Without it nothing can be said.
    pub fn core(self) -> Self {
        Self {
            kind: Kind::Core,
            ..self
        }
    }

    /// Need not be told.
    pub fn veto(self) -> Self {
        Self {
            kind: Kind::Veto,
            ..self
        }
    }

    /// Counts where something else is not told.
    pub fn hint(self) -> Self {
        Self {
            kind: Kind::Hint,
            ..self
        }
    }

    fn needs(&self) -> bool {
        self.kind != Kind::Hint
    }
}

/// A cause, its conditions, and what it advises.
pub(super) struct Rule {
    pub cause: Cause,
    pub conditions: Vec<Condition>,
    pub advice: Advice,
}

impl Rule {
    fn standing(&self) -> Standing {
        let any = |of: &dyn Fn(&Condition) -> bool| self.conditions.iter().any(of);
        if any(&|it| it.needs() && it.holds == Some(false)) {
            Standing::RuledOut
        } else if !any(&|it| matches!(it.kind, Kind::Core | Kind::Must) && it.holds.is_none()) {
            Standing::Shown
        } else if any(&|it| matches!(it.kind, Kind::Core | Kind::Hint) && it.holds != Some(true))
            || !any(&|it| it.kind != Kind::Veto && it.holds == Some(true))
        {
            Standing::CannotTell
        } else {
            Standing::Possible
        }
    }

    /// What is found. A turn that is made already rules its cause out.
    pub fn found(self, made: &[Turn]) -> Finding {
        let mut standing = self.standing();
        let words = |holds: Option<bool>| -> Vec<String> {
            let those = self.conditions.iter().filter(|it| it.holds == holds);
            those.map(|it| it.words.clone()).collect()
        };
        let mut speaks_against = words(Some(false));
        if made.contains(&self.advice.turn) {
            standing = Standing::RuledOut;
            speaks_against.push(format!(
                "by its settings the engine is so already: {}",
                self.advice.turn.words()
            ));
        }
        let advises = matches!(standing, Standing::Shown | Standing::Possible);
        Finding {
            cause: self.cause,
            standing,
            speaks_for: words(Some(true)),
            speaks_against,
            missing: words(None),
            advice: advises.then_some(self.advice),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(conditions: &[(Kind, Option<bool>)], expected: Standing) {
        let conditions = conditions.iter().map(|(kind, holds)| Condition {
            kind: *kind,
            holds: *holds,
            words: String::new(),
        });
        let rule = Rule {
            cause: Cause::KvBound,
            conditions: conditions.collect(),
            advice: Advice {
                turn: Turn::GrowKvCache,
                prediction: None,
            },
        };
        assert_eq!(rule.standing(), expected);
    }

    const YES: Option<bool> = Some(true);
    const NO: Option<bool> = Some(false);

    #[test]
    fn one_that_does_not_hold_rules_out_unless_it_is_a_hint() {
        check(&[(Kind::Must, YES), (Kind::Must, NO)], Standing::RuledOut);
        check(&[(Kind::Must, YES), (Kind::Core, NO)], Standing::RuledOut);
        check(&[(Kind::Must, None), (Kind::Veto, NO)], Standing::RuledOut);
        check(&[(Kind::Must, YES), (Kind::Hint, NO)], Standing::Shown);
    }

    #[test]
    fn what_need_not_be_told_does_not_weaken() {
        check(
            &[(Kind::Must, YES), (Kind::Veto, None), (Kind::Hint, None)],
            Standing::Shown,
        );
    }

    #[test]
    fn what_is_not_told_leaves_a_cause_possible_where_something_speaks_for_it() {
        check(&[(Kind::Must, None), (Kind::Must, YES)], Standing::Possible);
        check(&[(Kind::Must, None), (Kind::Hint, YES)], Standing::Possible);
        check(
            &[(Kind::Must, None), (Kind::Veto, YES)],
            Standing::CannotTell,
        );
        check(
            &[(Kind::Must, None), (Kind::Must, YES), (Kind::Hint, NO)],
            Standing::CannotTell,
        );
        check(
            &[(Kind::Core, None), (Kind::Must, YES), (Kind::Hint, YES)],
            Standing::CannotTell,
        );
    }

    #[test]
    fn a_figure_is_written_with_its_threshold_and_one_that_is_not_told_with_what_would_tell_it() {
        let told = |value| Told {
            name: "the way",
            value,
            unit: Unit::Time,
            by: "a connection",
        };
        let words = |condition: Condition| (condition.holds, condition.words);
        let expected = (
            YES,
            "the way: 20.0 ms (it takes 5.00 ms or more)".to_owned(),
        );
        assert_eq!(words(told(Some(0.02)).at_least(0.005)), expected);
        let expected = (NO, "the way: 20.0 ms (it takes 5.00 ms or less)".to_owned());
        assert_eq!(words(told(Some(0.02)).at_most(0.005)), expected);
        let expected = (None, "the way: not told (a connection)".to_owned());
        assert_eq!(words(told(None).at_most(0.005)), expected);
    }
}
