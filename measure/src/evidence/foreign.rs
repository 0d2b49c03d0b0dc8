//! Was anybody else there? What the engine counted in the time of a point, against what was sent to it.

use serde::{Deserialize, Serialize};

use super::doubt::Doubt;
use super::quantity::Quantity;
use super::reading::{Readings, Whose};
use super::said::Finding;
use crate::certificate::Innocence;
use crate::request::RequestRecord;
use crate::units::three_digits;

/// Share of the requests that somebody else had: beyond it the point is not ours. A p99 is moved by 1 % of them.
const VOID: f64 = 0.01;
/// The same of output tokens, which engines count a little otherwise than they tell in their answers.
const VOID_TOKENS: f64 = 0.02;
/// A health check or two are no traffic.
const FEW_REQUESTS: f64 = 2.0;
/// So many tokens are a health check's or two.
const FEW_TOKENS: f64 = 64.0;

/// What was sent between the first look and the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sent {
    /// Requests, those of the warm-up and those that were given up just before too.
    pub requests: u64,
    /// Most output tokens that they can have: those counted, and those asked for where nobody counted.
    pub output_tokens: u64,
}

impl Sent {
    /// Of a point's requests and of ours besides, of which what was asked is known.
    pub fn of(records: &[RequestRecord], besides: &[u32]) -> Self {
        let sent = || records.iter().filter(|record| record.sent.is_some());
        let tokens = sent().map(|record| match record.output_tokens {
            Some(counted) if record.is_ok() => u64::from(counted),
            counted => u64::from(counted.unwrap_or(0).max(record.output_tokens_asked)),
        });
        Self {
            requests: (sent().count() + besides.len()) as u64,
            output_tokens: tokens.sum::<u64>()
                + besides.iter().copied().map(u64::from).sum::<u64>(),
        }
    }
}

/// Whether there was foreign traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// The engine counted no more than was sent.
    Alone,
    /// It counted more, but so little that no figure is moved by it.
    Hardly,
    /// It counted more.
    Others,
    /// It does not count.
    CannotTell,
}

/// Foreign traffic, with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Foreign {
    /// Whether there was any.
    pub presence: Presence,
    /// Requests that the engine counted.
    pub counted_requests: Option<f64>,
    /// Output tokens that it counted.
    pub counted_output_tokens: Option<f64>,
    /// What was sent.
    pub sent: Sent,
    /// In a sentence.
    pub sentence: String,
}

impl Foreign {
    /// Of what an engine told between the first look and the last. `why_not` says why it told nothing, `doubt` why what it
    /// told is not believed.
    pub(super) fn of(
        readings: &Readings,
        sent: Sent,
        why_not: Option<&str>,
        doubt: Option<&Doubt>,
    ) -> Self {
        let last = readings.last();
        let counted = |quantity, whose| readings.counter(quantity, whose).grown(0, last);
        let ours = |quantity| counted(quantity, Whose::Ours);
        let mut foreign = Self {
            presence: Presence::CannotTell,
            counted_requests: ours(Quantity::Finished),
            counted_output_tokens: ours(Quantity::OutputTokens),
            sent,
            sentence: String::new(),
        };
        let others = counted(Quantity::Finished, Whose::Others).unwrap_or(0.0);
        (foreign.presence, foreign.sentence) = foreign.judged(readings, others, why_not);
        if let Some(why) = doubt.and_then(|doubt| foreign.unsure(doubt)) {
            (foreign.presence, foreign.sentence) = (Presence::CannotTell, cannot_tell(Some(why)));
        }
        foreign
    }

    /// Why it cannot be told after all.
    fn unsure<'a>(&self, doubt: &'a Doubt) -> Option<&'a str> {
        let counted = self.counted_requests.or(self.counted_output_tokens);
        let more = matches!(self.presence, Presence::Others | Presence::Hardly);
        match doubt {
            Doubt::NotOurs(why) => Some(why),
            // Without counts it was the requests of the point that made the engine busy.
            Doubt::Late(why) if !more || counted.is_none() => Some(why),
            Doubt::Anew(why) if more => Some(why),
            Doubt::Late(_) | Doubt::Anew(_) => None,
        }
    }

    fn judged(
        &self,
        readings: &Readings,
        of_other_models: f64,
        why_not: Option<&str>,
    ) -> (Presence, String) {
        let busy = |quantity| {
            readings
                .gauge(quantity, Whose::Ours)
                .first()
                .copied()
                .flatten()
        };
        let before =
            busy(Quantity::Running).unwrap_or(0.0) + busy(Quantity::Waiting).unwrap_or(0.0);
        let by_requests = self.counted_requests.map(|counted| {
            let (sent, what) = (self.sent.requests as f64, "requests");
            beyond(counted, sent, FEW_REQUESTS.max(VOID * sent), what)
        });
        let by_tokens = self.counted_output_tokens.map(|counted| {
            let (sent, what) = (self.sent.output_tokens as f64, "output tokens");
            beyond(counted, sent, FEW_TOKENS.max(VOID_TOKENS * sent), what)
        });
        let found = [by_requests, by_tokens];
        if let Some((_, worst)) = found.iter().flatten().find(|it| it.0 == Presence::Others) {
            return (Presence::Others, worst.clone());
        }
        if 0.0 < of_other_models {
            let text = format!(
                "Another model behind the same page answered {} requests meanwhile: it may share the hardware.",
                three_digits(of_other_models)
            );
            return (Presence::Hardly, text);
        }
        let hardly = found.iter().flatten().find(|it| it.0 == Presence::Hardly);
        match hardly.or_else(|| found.iter().flatten().next()) {
            Some(found) => found.clone(),
            // A gauge may lag behind: it is asked only where nothing is counted.
            None if 0.0 < before => (
                Presence::Hardly,
                format!(
                    "The engine had {} requests before anything was sent to it: somebody else's, or left over from before.",
                    three_digits_or_whole(before)
                ),
            ),
            None => (Presence::CannotTell, cannot_tell(why_not)),
        }
    }

    /// What it means for the point.
    pub fn finding(&self) -> Option<Finding> {
        let innocence = match self.presence {
            Presence::Others => Innocence::Void,
            Presence::Hardly => Innocence::Suspect,
            Presence::Alone | Presence::CannotTell => return None,
        };
        Some((innocence, self.sentence.clone()))
    }
}

fn beyond(counted: f64, sent: f64, many: f64, what: &str) -> (Presence, String) {
    let (more, told) = (counted - sent, three_digits_or_whole(counted));
    let sent_words = three_digits_or_whole(sent);
    if more <= 0.0 {
        let text =
            format!("The engine counted {told} {what}; {sent_words} were sent or asked for.");
        return (Presence::Alone, text);
    }
    let (presence, moved) = if many <= more {
        (
            Presence::Others,
            "somebody else used it while the point ran",
        )
    } else {
        (Presence::Hardly, "hardly enough to move a figure")
    };
    let more = three_digits_or_whole(more);
    let text = format!(
        "The engine counted {told} {what} where at most {sent_words} were ours: {more} of somebody else's, {moved}."
    );
    (presence, text)
}

fn cannot_tell(why_not: Option<&str>) -> String {
    let why = why_not.unwrap_or("the engine counts neither requests nor output tokens");
    format!("Whether somebody else used the engine: cannot tell, {why}.")
}

/// Counts are whole where they can be.
fn three_digits_or_whole(number: f64) -> String {
    if number.fract() == 0.0 {
        format!("{number:.0}")
    } else {
        three_digits(number)
    }
}

#[cfg(test)]
mod tests {
    use super::super::reading::{Amount, Reading, Source, Value};
    use super::*;

    fn page(at_ms: i64, values: &[(Quantity, u32, f64)]) -> Reading {
        let value = |(quantity, source, number): &(Quantity, u32, f64)| Value {
            quantity: *quantity,
            source: *source,
            amount: Amount::Number(*number),
        };
        Reading {
            at_ms,
            values: values.iter().map(value).collect(),
        }
    }

    #[track_caller]
    fn check(
        before: &[(Quantity, u32, f64)],
        after: &[(Quantity, u32, f64)],
        presence: Presence,
        says: &str,
    ) {
        let source = |ours| Source {
            name: String::new(),
            ours,
        };
        let readings = Readings {
            sources: vec![source(true), source(false)],
            readings: vec![page(-1000, before), page(9000, after)],
        };
        let sent = Sent {
            requests: 200,
            output_tokens: 10_000,
        };
        let foreign = Foreign::of(&readings, sent, None, None);
        assert_eq!(foreign.presence, presence, "{}", foreign.sentence);
        assert!(foreign.sentence.contains(says), "{}", foreign.sentence);
    }

    #[test]
    fn more_than_was_sent_is_somebody_elses() {
        let at = |count| [(Quantity::Finished, 0, count)];
        check(
            &at(70.0),
            &at(270.0),
            Presence::Alone,
            "counted 200 requests",
        );
        check(
            &at(70.0),
            &at(260.0),
            Presence::Alone,
            "counted 190 requests",
        );
        check(
            &at(70.0),
            &at(271.0),
            Presence::Hardly,
            "1 of somebody else's",
        );
        check(
            &at(70.0),
            &at(272.0),
            Presence::Others,
            "2 of somebody else's",
        );
    }

    #[test]
    fn where_requests_are_not_counted_tokens_are() {
        let at = |count| [(Quantity::OutputTokens, 0, count)];
        check(&at(5.0), &at(9905.0), Presence::Alone, "9900 output tokens");
        check(&at(5.0), &at(10_055.0), Presence::Hardly, "50 of somebody");
        check(&at(5.0), &at(10_505.0), Presence::Others, "500 of somebody");
    }

    #[test]
    fn where_nothing_is_counted_a_busy_engine_before_the_first_request_is_told() {
        let busy = [(Quantity::Running, 0, 1.0)];
        check(&busy, &busy, Presence::Hardly, "before anything was sent");
    }

    #[test]
    fn another_model_is_told_apart() {
        let at = |ours, others| {
            [
                (Quantity::Finished, 0, ours),
                (Quantity::Finished, 1, others),
            ]
        };
        check(
            &at(0.0, 0.0),
            &at(200.0, 50.0),
            Presence::Hardly,
            "Another model",
        );
    }

    #[test]
    fn an_engine_that_does_not_count_cannot_tell() {
        check(
            &[],
            &[],
            Presence::CannotTell,
            "cannot tell, the engine counts",
        );
        let none = Foreign::of(
            &Readings::default(),
            Sent::default(),
            Some("no /metrics"),
            None,
        );
        assert!(none.sentence.ends_with("cannot tell, no /metrics."));
        assert_eq!(none.finding(), None);
    }
}
