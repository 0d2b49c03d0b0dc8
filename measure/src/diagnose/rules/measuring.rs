//! What spoils the measurement: the client, a warm cache, the way.

use super::super::condition::{Condition, Told, Unit, fact};
use super::{
    CLIENT, Change, Figure, Figures, HARDWARE, PROMPTS, Parts, Prediction, Turn, falls, over,
};
use crate::certificate::{Innocence, thresholds};

/// The way is what to take away first from a third of the TTFT on: without it the TTFT falls by a quarter or more.
const MUCH: f64 = 1.0 / 3.0;
/// Of the way the engine must not have seen so much.
const UNSEEN: f64 = 0.5;
/// And from as long as the certificate takes for late.
const LONG_WAY: f64 = 0.005;
/// Of the way this much must go where it is taken away.
const TAKEN_AWAY: f64 = 0.8;
/// A suspect client is a cause from a tenth of the longest waits on.
const MATTERS: f64 = 0.1;
/// First tokens below this share of what computing their prompts takes were not computed.
const TOO_SOON: f64 = 0.75;
/// Prompts that share less than this do not explain hits.
const ALIKE: f64 = 0.25;

pub(super) fn client_bound(figures: &Figures) -> Parts {
    let own = &figures.own;
    let mut conditions = if own.innocence == Innocence::Clean {
        beside_the_client(figures)
    } else {
        let reasons = own.reasons.iter().cloned();
        reasons.map(|it| fact(Some(true), it)).collect()
    };
    let is_late = own.lag_p99.is_some_and(|it| thresholds::LAG_SUSPECT <= it);
    let polls_late = own.client.poll_lag_p99;
    let (figure, bound) = if is_late {
        (Figure::LagP99, thresholds::LAG_SUSPECT)
    } else {
        (Figure::PollLagP99, thresholds::POLL_SUSPECT)
    };
    let tells = is_late || polls_late.is_some_and(|it| thresholds::POLL_SUSPECT <= it);
    if tells && own.innocence == Innocence::Suspect {
        conditions.push(lateness(figures).at_least(MATTERS));
    }
    let prediction = Prediction {
        figure,
        change: Change::Below(bound),
    };
    (conditions, Turn::QuietClient, tells.then_some(prediction))
}

/// How much of the longest waits may be the client's own.
fn lateness(figures: &Figures) -> Told {
    let own = &figures.own;
    let late = own.lag_p99.max(own.client.poll_lag_p99);
    Told {
        name: "how late the client sent or read at p99, over TTFT p99",
        value: over(late.map(|it| it.as_secs_f64()), figures.client.ttft.p99),
        unit: Unit::Percent,
        by: CLIENT,
    }
}

/// What the point's certificate holds against it where the client kept its own time: a busy host may have slowed client or engine.
fn beside_the_client(figures: &Figures) -> Vec<Condition> {
    let evidence = figures.case.evidence;
    let of_others = evidence.map(|it| [it.foreign.finding(), it.cache.finding()]);
    let of_others: Vec<_> = of_others.into_iter().flatten().flatten().collect();
    let is_of_others = |reason: &String| of_others.iter().any(|(_, other)| other == reason);
    let certificate = figures.case.client;
    let reasons = certificate.reasons.iter().filter(|it| !is_of_others(it));
    let mut conditions: Vec<Condition> = reasons.map(|it| fact(Some(true), it.clone())).collect();
    match certificate.innocence {
        Innocence::Clean => vec![fact(
            Some(false),
            "the point's certificate is clean".to_owned(),
        )],
        _ if conditions.is_empty() => vec![fact(
            Some(false),
            "the client sent and read in time; what the point's certificate says is of the engine"
                .to_owned(),
        )],
        _ => {
            let words = "whether that slowed anything: not told (the client itself sent and read in time; the same on a quiet host)";
            conditions.push(fact(None, words.to_owned()));
            conditions
        }
    }
}

pub(super) fn warm_cache(figures: &Figures) -> Parts {
    let prefixes = figures.prefixes();
    let evidence = figures.case.evidence;
    let sentence = evidence.map_or("what the prefix cache had: not told".to_owned(), |it| {
        it.cache.sentence.clone()
    });
    let computing = figures
        .case
        .theory
        .and_then(|it| Some(it.prompt_token.as_secs_f64() * figures.client.prompt?));
    let too_soon = Told {
        name: "TTFT p50 over what computing the median prompt takes",
        value: over(figures.client.ttft.p50, computing),
        unit: Unit::Times,
        by: HARDWARE,
    };
    let alike = Told {
        name: "input tokens that prompts share with those before them",
        value: prefixes.expected,
        unit: Unit::Percent,
        by: PROMPTS,
    };
    let rises = Prediction {
        figure: Figure::TtftP50,
        change: Change::RisesBy(0.1),
    };
    let conditions = vec![
        fact(prefixes.is_warm, sentence),
        too_soon.at_most(TOO_SOON).hint(),
        alike.at_most(ALIKE).hint(),
    ];
    (conditions, Turn::ResetPrefixCache, Some(rises))
}

pub(super) fn network_bound(figures: &Figures) -> Parts {
    let client = &figures.client;
    let beside = figures.engine.as_ref().and_then(|it| it.beside);
    let way = client.path.or(beside);
    let share = over(way, client.whole_ttft);
    let told = |name, value, unit| Told {
        name,
        value,
        unit,
        by: "how long a connection takes to open",
    };
    let seen = Told {
        by: super::PAGE,
        ..told(
            "what the engine did not see of the TTFT, over the way there and back",
            over(beside, client.path),
            Unit::Times,
        )
    };
    let conditions = vec![
        told(
            "the way to the engine and back, of TTFT p50",
            share,
            Unit::Percent,
        )
        .at_least(MUCH),
        told("the way to the engine and back", way, Unit::Time).at_least(LONG_WAY),
        seen.at_least(UNSEEN).veto(),
    ];
    let prediction = share.and_then(|it| falls(Figure::TtftP50, TAKEN_AWAY * it.min(1.0)));
    (conditions, Turn::MoveClient, prediction)
}
