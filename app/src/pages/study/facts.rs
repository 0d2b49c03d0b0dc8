//! What speaks against the numbers, and what was recorded of how they came about.

use crate::ui::erased::Erase;
use crate::ui::reactive::memo;
use leptos::prelude::*;
use measure::arrival::Arrival;
use measure::certificate::Innocence;
use measure::knobs::{Fact, Source};
use measure::order::by_number;
use measure::study::{EngineSpec, StudySpec};
use measure::units::{Level, Rate};

use super::Page;
use crate::studio::{ConfigurationView, StudyView};
use crate::ui::badge::{CLEAN, CONTAMINATED, SUSPECT, Tone, VOID, Word};
use crate::ui::format;
use crate::ui::html::{Html, badge, heads, html, table, term, terms};
use crate::words;

/// Was the client innocent, was the cache cold?
#[component]
pub fn Doubts(page: Page) -> impl IntoView {
    let client = memo(move || page.known.with(|study| client_words(study).into_string()));
    let caches = memo(move || page.known.with(|study| cache_words(study).into_string()));
    view! {
        <section class="card panel" aria-labelledby="client-heading">
            <h2 id="client-heading" inner_html=asks("Was the client", "innocent", "certificate")></h2>
            <div class="stack tight" inner_html=move || client.get()></div>
        </section>
        <section class="card panel" aria-labelledby="cache-heading">
            <h2 id="cache-heading" inner_html=asks("Was the cache", "cold", "cold")></h2>
            <ul class="stack tight" inner_html=move || caches.get()></ul>
        </section>
    }
    .erased()
}

/// A question about a word of the glossary.
fn asks(begin: &str, word: &str, anchor: &str) -> String {
    html!("{} {}?", begin, term(word, anchor)).into_string()
}

fn client_words(study: &StudyView) -> Html {
    let Some((word, sentence, reasons)) = client(study) else {
        return html!(r#"<p class="small muted">No point has finished.</p>"#);
    };
    let reasons: Html = reasons
        .into_iter()
        .map(|reason| html!("<li>{}</li>", reason))
        .collect();
    html!(
        r#"<p class="row">{} <span>{}</span></p><ul class="small reasons">{}</ul>"#,
        badge(word),
        sentence,
        reasons
    )
}

fn cache_words(study: &StudyView) -> Html {
    // Nothing is recorded of a configuration whose turn has not come.
    let begun = study
        .configurations
        .iter()
        .filter(|one| !one.facts.is_empty());
    begun
        .map(|one| {
            html!(
                r#"<li class="row">{} <span>{}</span></li>"#,
                badge(cache_word(one.cache_cold)),
                one.spec.name
            )
        })
        .collect()
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

/// Whether its cache was cold.
pub fn cache_word(cold: Option<bool>) -> Word {
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
            match certificates.len() {
                1 => "In its one point: what was due was sent when it was due.".into(),
                _ => format!("In all {all}: what was due was sent when it was due."),
            },
        ),
        (0, suspect) => (
            SUSPECT,
            format!("{suspect} of {all} may have been slowed by the client or its machine."),
        ),
        (void, _) => (
            VOID,
            format!(
                "{void} of {all} cannot be used: what they measured is not the engine's doing alone."
            ),
        ),
    };
    // The gravest first, each sentence once.
    let mut gravest = certificates.clone();
    by_number(&mut gravest, |certificate| {
        f64::from(certificate.innocence != Innocence::Void)
    });
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
    let spec = page
        .known
        .with_untracked(|study| terms(stated(&study.spec)).into_string());
    let facts = memo(move || {
        page.known
            .with(|study| fact_table(&study.configurations).into_string())
    });
    view! {
        <section class="stack" aria-labelledby="recorded-heading">
            <h2 id="recorded-heading">"Recorded"</h2>
            <dl class="facts" inner_html=spec></dl>
            <div class="scroll-x" tabindex="0" inner_html=move || facts.get()></div>
            <p class="small muted">
                "Facts are what the engine reported or the studio set itself. What a person typed is marked declared."
            </p>
        </section>
    }
    .erased()
}

/// How the study was stated.
fn stated(spec: &StudySpec) -> [(String, String); 7] {
    let ramp_in = match spec.ramp_in_ms {
        0 => String::new(),
        millis => format!(
            "; those due in the first {} s are left out of the figures",
            millis as f64 / 1000.0
        ),
    };
    let unit = words::rate_unit(spec);
    let (min, max, seconds) = (
        spec.length.min_requests,
        spec.length.max_requests,
        spec.length.seconds,
    );
    [
        ("Engine", engine(spec)),
        ("Workload", spec.workload.to_string()),
        ("Arrivals", arrivals(spec, unit)),
        ("Seed", format!("{}; every configuration gets the same prompts and starts", spec.seed.0)),
        ("Length of a point", format!("{min} to {max} requests, as many as arrive in {seconds} s; {} warm-up requests before{ramp_in}", spec.warmup)),
        ("Given up after", format!("{} of silence, {} after the last arrival", span(spec.idle_timeout_ms), span(spec.drain_ms))),
        ("Rules", "Goodput Studio's own: time from sent, failures as infinity, linear percentiles".into()),
    ]
    .map(|(term, what)| (term.to_owned(), what))
}

fn fact_table(configurations: &[ConfigurationView]) -> Html {
    let names = configurations.iter().map(|one| one.spec.name.as_str());
    let rows = fact_names(configurations)
        .iter()
        .map(|name| fact_row(name, configurations))
        .collect();
    table(
        "fact-table",
        "Facts of each configuration",
        heads(["fact"].into_iter().chain(names)),
        rows,
    )
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

fn fact_row(name: &str, configurations: &[ConfigurationView]) -> Html {
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
    let cell = |fact: Option<&Fact>| {
        let known = fact.is_some_and(|it| it.source != Source::Unknown);
        let class = if known { "" } else { "muted" };
        html!(r#"<td class="{}">{}</td>"#, class, fact_words(fact))
    };
    let cells: Html = facts.into_iter().map(cell).collect();
    let class = if differs { "differs" } else { "" };
    html!(
        r#"<tr class="{}"><th scope="row">{}</th>{}</tr>"#,
        class,
        name.split_once(':').map_or(name, |(_, name)| name),
        cells
    )
}

/// A fact with who says so, where that is a person.
pub fn fact_words(fact: Option<&Fact>) -> String {
    match fact {
        None => "unknown".into(),
        Some(Fact {
            value,
            source: Source::Engine | Source::Unknown,
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
        EngineSpec::Managed { name } => {
            format!("{name}, started by the studio for each configuration")
        }
    }
}

/// How starts came; a trace's own are of no process.
fn arrivals(spec: &StudySpec, unit: &str) -> String {
    let replay = |level: &Level| matches!(level, Level::Replay(_));
    if !spec.levels.is_empty() && spec.levels.iter().all(replay) {
        return "the trace's own, sped up as a whole".into();
    }
    format!("{}, rates in {unit}", arrival(spec.arrival))
}

fn arrival(arrival: Arrival) -> String {
    let number = |rate: Rate| format::number(rate.per_second());
    match arrival {
        Arrival::Poisson => "Poisson: exponential gaps, as independent users make them".into(),
        Arrival::Constant => "constant: equal gaps".into(),
        Arrival::Gamma(burstiness) => {
            let shape = burstiness.shape();
            let how = if shape < 1.0 {
                "in bunches"
            } else {
                "more even than Poisson"
            };
            format!("gamma gaps of burstiness {}: {how}", format::number(shape))
        }
        Arrival::LinearRamp { from } => {
            format!(
                "Poisson, the rate going evenly from {} to the level's; each point stands at its arrivals over its time",
                number(from)
            )
        }
        Arrival::ExponentialRamp { from } => {
            format!(
                "Poisson, the rate going by a steady factor from {} to the level's; each point stands at its arrivals over its time",
                number(from)
            )
        }
    }
}

fn span(millis: u64) -> String {
    format::about(millis)
        .trim_start_matches("about ")
        .to_owned()
}
