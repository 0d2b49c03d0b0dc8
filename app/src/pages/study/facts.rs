//! What speaks against the numbers, and what was recorded of how they came about.

use crate::ui::erased::Erase;
use leptos::prelude::*;
use measure::arrival::Arrival;
use measure::certificate::Innocence;
use measure::knobs::{Fact, Source};
use measure::study::{EngineSpec, StudySpec};

use super::Page;
use crate::studio::{ConfigurationView, StudyView};
use crate::ui::badge::{Badge, CLEAN, CONTAMINATED, SUSPECT, Tone, VOID, Word};
use crate::ui::format;
use crate::words;

/// Was the client innocent, was the cache cold?
#[component]
pub fn Doubts(page: Page) -> impl IntoView {
    let client = Memo::new(move |_| page.known.with(client));
    let caches = Memo::new(move |_| {
        page.known.with(|study| {
            study
                .configurations
                .iter()
                // Nothing is recorded of a configuration whose turn has not come.
                .filter(|one| !one.facts.is_empty())
                .map(|one| (one.spec.name.clone(), one.cache_cold))
                .collect::<Vec<_>>()
        })
    });
    view! {
        <section class="card panel" aria-labelledby="client-heading">
            <h2 id="client-heading">"Was the client innocent?"</h2>
            {move || {
                client
                    .get()
                    .map(|(word, sentence, reasons)| {
                        view! {
                            <p class="row"><Badge word /> <span>{sentence}</span></p>
                            <ul class="small reasons">{reasons.into_iter().map(|reason| view! { <li>{reason}</li> }).collect_view()}</ul>
                        }
                    })
            }}
            <p class="small muted" hidden=move || client.with(Option::is_some)>"No point has finished."</p>
        </section>
        <section class="card panel" aria-labelledby="cache-heading">
            <h2 id="cache-heading">"Was the cache cold?"</h2>
            <ul class="stack tight">
                {move || caches.get().into_iter().map(|(name, cold)| view! { <li class="row"><Badge word=cache_word(cold) /> <span>{name}</span></li> }).collect_view()}
            </ul>
        </section>
    }
    .erased()
}

/// Nobody can say whether the cache was cold.
const UNKNOWN: Word = Word {
    word: "cannot tell",
    tone: Tone::Plain,
    mark: "hollow",
    about: "The engine does not say whether its prefix cache was reset.",
};
/// The cache was reset before each point.
const COLD: Word = Word {
    word: "cold",
    tone: Tone::Good,
    mark: "full",
    about: "The prefix cache was reset before each point.",
};

fn cache_word(cold: Option<bool>) -> Word {
    match cold {
        Some(true) => COLD,
        Some(false) => CONTAMINATED,
        None => UNKNOWN,
    }
}

/// The worst certificate, how many points share it, and its reasons, each once.
fn client(study: &StudyView) -> Option<(Word, String, Vec<String>)> {
    let certificates: Vec<_> = study
        .points
        .iter()
        .filter_map(|point| point.certificate.as_ref())
        .collect();
    let count = |innocence| {
        certificates
            .iter()
            .filter(|certificate| certificate.innocence == innocence)
            .count()
    };
    let (void, suspect) = (count(Innocence::Void), count(Innocence::Suspect));
    let all = words::count(certificates.len(), "point");
    let (word, sentence) = match (void, suspect) {
        _ if certificates.is_empty() => return None,
        (0, 0) => (
            CLEAN,
            format!("In all {all}: what was due was sent when it was due."),
        ),
        (0, suspect) => (
            SUSPECT,
            format!("{suspect} of {all} may carry the client's own delay."),
        ),
        (void, _) => (
            VOID,
            format!("{void} of {all} carry the client's own delay; they are used for nothing."),
        ),
    };
    // The gravest first, each sentence once.
    let mut gravest = certificates.clone();
    gravest.sort_by_key(|certificate| certificate.innocence != Innocence::Void);
    let mut reasons: Vec<String> = Vec::new();
    for reason in gravest.iter().flat_map(|certificate| &certificate.reasons) {
        if !reasons.contains(reason) {
            reasons.push(reason.clone());
        }
    }
    reasons.truncate(3);
    Some((word, sentence, reasons))
}

/// What was recorded: engine, workload, arrivals, seed, and the facts of each configuration.
#[component]
pub fn Recorded(page: Page) -> impl IntoView {
    let spec = page.known.with_untracked(|study| study.spec.clone());
    let configurations = Memo::new(move |_| page.known.with(|study| study.configurations.clone()));
    let names = Memo::new(move |_| configurations.with(|all| fact_names(all)));
    let unit = words::rate_unit(&spec);
    let (min, max, seconds) = (
        spec.length.min_requests,
        spec.length.max_requests,
        spec.length.seconds,
    );
    view! {
        <section class="stack" aria-labelledby="recorded-heading">
            <h2 id="recorded-heading">"Recorded"</h2>
            <dl class="facts">
                <dt>"Engine"</dt>
                <dd>{engine(&spec)}</dd>
                <dt>"Workload"</dt>
                <dd>{spec.workload.to_string()}</dd>
                <dt>"Arrivals"</dt>
                <dd>{format!("{}, rates in {unit}", arrival(spec.arrival))}</dd>
                <dt>"Seed"</dt>
                <dd>{format!("{}; every configuration gets the same prompts and starts", spec.seed.0)}</dd>
                <dt>"Length of a point"</dt>
                <dd>{format!("{min} to {max} requests, as many as arrive in {seconds} s; {} warm-up requests before", spec.warmup)}</dd>
                <dt>"Given up after"</dt>
                <dd>{format!("{} of silence, {} after the last arrival", span(spec.idle_timeout_ms), span(spec.drain_ms))}</dd>
                <dt>"Rules"</dt>
                <dd>"Goodput Studio's own: time from sent, failures as infinity, linear percentiles"</dd>
            </dl>
            <div class="scroll-x">
                <table class="fact-table">
                    <thead>
                        <tr>
                            <th scope="col">"fact"</th>
                            {move || configurations.get().into_iter().map(|one| view! { <th scope="col">{one.spec.name}</th> }).collect_view()}
                        </tr>
                    </thead>
                    <tbody>
                        {move || {
                            names.get().into_iter().map(|name| configurations.with(|all| fact_row(&name, all))).collect_view()
                        }}
                    </tbody>
                </table>
            </div>
            <p class="small muted">
                "Facts are what the engine reported or the studio set itself. What a person typed is marked "
                <em>"declared"</em> "."
            </p>
        </section>
    }
    .erased()
}

fn fact_names(configurations: &[ConfigurationView]) -> Vec<String> {
    let mut names: Vec<String> = configurations
        .iter()
        .flat_map(|one| one.facts.keys().cloned())
        .collect();
    names.sort();
    names.dedup();
    names
}

fn fact_row(name: &str, configurations: &[ConfigurationView]) -> AnyView {
    let facts: Vec<Option<&Fact>> = configurations
        .iter()
        .map(|one| one.facts.get(name))
        .collect();
    // What is not recorded yet is no difference.
    let known = facts.iter().flatten().map(|fact| &fact.value);
    let differs = known
        .clone()
        .zip(known.skip(1))
        .any(|(one, next)| one != next);
    view! {
        <tr class:differs=differs>
            <th scope="row">{name.strip_prefix("knob:").unwrap_or(name).to_owned()}</th>
            {facts.into_iter().map(|fact| view! { <td>{fact_words(fact)}</td> }).collect_view()}
        </tr>
    }
    .erased()
}

/// A fact with who says so, where that is a person.
pub fn fact_words(fact: Option<&Fact>) -> String {
    match fact {
        None => "unknown".into(),
        Some(Fact {
            value,
            source: Source::Engine,
        }) => value.clone(),
        Some(Fact {
            value,
            source: Source::Declared,
        }) => format!("{value} (declared)"),
    }
}

fn engine(spec: &StudySpec) -> String {
    match &spec.engine {
        EngineSpec::Simulator { preset } => format!(
            "built-in simulator, preset {preset}: nothing here was measured on a real engine"
        ),
        EngineSpec::Endpoint(endpoint) => format!("{} ({})", endpoint.model, endpoint.api.name()),
    }
}

fn arrival(arrival: Arrival) -> &'static str {
    match arrival {
        Arrival::Poisson => "Poisson: exponential gaps, as independent users make them",
        Arrival::Constant => "constant: equal gaps",
    }
}

fn span(millis: u64) -> String {
    format::about(millis)
        .trim_start_matches("about ")
        .to_owned()
}
