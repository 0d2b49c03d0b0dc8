//! The study as a sentence: *Run* [engine] *with* [workload], ... Each bracket opens its section.

use crate::ui::erased::{Erase, shared};
use crate::ui::reactive::memo;
use leptos::prelude::*;
use measure::slo::{Metric, Slo};
use measure::study::{Adaptive, PlannedPoint};
use measure::units::{Level, Nanos};

use super::advice::flipped_knobs;
use super::draft::{Draft, EndpointDraft};
use super::form::{Form, summary_id};
use super::read::{is_search, words};
use crate::ui::format;

/// A metric's name for people.
pub fn metric_name(metric: Metric) -> &'static str {
    match metric {
        Metric::Ttft => "TTFT",
        Metric::Ttfa => "TTFA",
        Metric::ScheduledTtft => "scheduled TTFT",
        Metric::ScheduledTtfa => "scheduled TTFA",
        Metric::ScheduledE2e => "scheduled E2E",
        Metric::Tpot => "TPOT",
        Metric::Itl => "ITL",
        Metric::Stall => "longest stall",
        Metric::E2e => "E2E",
    }
}

/// A threshold as a person states it, to its last digit: `500 ms`, `1.5 s`.
fn span(threshold: Nanos) -> String {
    if threshold < Nanos::from_millis(1000) {
        format!("{} ms", threshold.as_millis_f64())
    } else {
        format!("{} s", threshold.as_secs_f64())
    }
}

/// An SLO in words: `TTFT p95 ≤ 500 ms and TPOT p95 ≤ 50 ms for 95 % of requests`.
pub fn slo_words(slo: &Slo) -> String {
    let mut bounds: Vec<String> = Vec::new();
    for bound in &slo.bounds {
        let percentile = bound
            .percentile
            .map(|p| format!(" p{p}"))
            .unwrap_or_default();
        bounds.push(format!(
            "{}{percentile} ≤ {}",
            metric_name(bound.metric),
            span(bound.at_most)
        ));
    }
    bounds.extend(
        slo.error_rate
            .map(|rate| format!("errors ≤ {}", format::percent(rate))),
    );
    format!(
        "{} for {} of requests",
        listed(&bounds),
        format::percent(slo.attainment)
    )
}

/// `a`, `a and b`, `a, b and c`.
pub fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Levels in few words: `0.5 … 32, inf`.
pub fn levels_words(text: &str) -> String {
    if is_search(text) {
        return searched(text);
    }
    let (rates, others): (Vec<&str>, Vec<&str>) = words(text).into_iter().partition(|word| {
        word.parse()
            .is_ok_and(|level| matches!(level, Level::Rate(_)))
    });
    let mut parts: Vec<String> = match rates.as_slice() {
        [first, .., last] if rates.len() > 3 => vec![format!("{first} … {last}")],
        _ => rates.iter().map(|rate| (*rate).to_owned()).collect(),
    };
    parts.extend(others.iter().map(|other| (*other).to_owned()));
    if parts.is_empty() {
        "no rate yet".into()
    } else {
        parts.join(", ")
    }
}

/// A search in few words: `rates found between 0.5 and 64`.
fn searched(text: &str) -> String {
    let limits = |search: Adaptive| {
        let (from, to) = (search.from.per_second(), search.to.per_second());
        format!("rates found between {from} and {to}")
    };
    text.trim()
        .parse()
        .map_or_else(|_| "rates to be found".to_owned(), limits)
}

/// Whether nothing but a trace's own arrivals is asked for.
fn replays(draft: &Draft) -> bool {
    let mut words = words(&draft.levels).into_iter().peekable();
    words.peek().is_some() && words.all(|word| matches!(word.parse(), Ok(Level::Replay(_))))
}

/// What rates count.
pub fn rate_unit(draft: &Draft) -> &'static str {
    let sessions = draft
        .read_workload()
        .is_some_and(|workload| workload.is_multi_turn());
    match (replays(draft), sessions) {
        (true, _) => "as recorded",
        (_, true) => "sessions/s",
        _ => "requests/s",
    }
}

/// Requests of the points: `200 requests`, `100–400 requests`.
pub fn requests_words(draft: &Draft, plan: &[PlannedPoint]) -> String {
    if is_search(&draft.levels) {
        // What is planned of a search is its first probe alone.
        return format!("up to {} requests a rate", draft.max_requests);
    }
    let (fewest, most) = (
        plan.iter().map(|it| it.requests).min(),
        plan.iter().map(|it| it.requests).max(),
    );
    match (fewest, most) {
        (Some(fewest), Some(most)) if fewest == most => {
            format!("{} requests each", format::count(most.into()))
        }
        (Some(fewest), Some(most)) => {
            format!(
                "{}–{} requests each",
                format::count(fewest.into()),
                format::count(most.into())
            )
        }
        _ => "some requests each".into(),
    }
}

/// The engine in words.
pub fn engine_words(draft: &Draft) -> String {
    if draft.is_simulated() {
        return format!("simulator {}", draft.preset);
    }
    endpoint_words(&draft.endpoint)
}

/// Every engine that the study holds, in words.
pub fn engines_words(draft: &Draft) -> String {
    if draft.is_simulated() {
        return engine_words(draft);
    }
    let mut all: Vec<String> = Vec::new();
    for configuration in &draft.configurations {
        let words = endpoint_words(draft.endpoint_of(configuration));
        if !all.contains(&words) {
            all.push(words);
        }
    }
    listed(&all)
}

fn endpoint_words(endpoint: &EndpointDraft) -> String {
    if let Some(name) = endpoint.managed_name() {
        return format!("{name}, started by the studio");
    }
    let (model, url) = (endpoint.model.trim(), endpoint.url.trim());
    let host = url
        .split_once("://")
        .map_or(url, |(_, rest)| rest)
        .trim_end_matches('/');
    match (model.is_empty(), host.is_empty()) {
        (_, true) => "an engine".into(),
        (true, false) => host.to_owned(),
        (false, false) => format!("{model} at {host}"),
    }
}

/// The workload in words, as far as it can be read.
pub fn workload_words(draft: &Draft) -> String {
    if let Some(workload) = draft.read_workload() {
        return workload.to_string();
    }
    match draft.workload.kind.as_str() {
        "share_gpt_shaped" => "ShareGPT-shaped sessions".into(),
        "share_gpt_file" => "a ShareGPT file".into(),
        "prompt_file" => "a file of prompts".into(),
        "trace" => "a trace".into(),
        _ => "synthetic requests".into(),
    }
}

/// What is flipped, in words.
pub fn knobs_words(draft: &Draft) -> String {
    let flipped = flipped_knobs(draft);
    match (draft.configurations.len(), flipped.is_empty()) {
        (..=1, _) => "no knob".into(),
        (2.., true) => "nothing that differs".into(),
        _ => listed(&flipped),
    }
}

fn arrival_words(draft: &Draft) -> String {
    let words = match draft.arrival.as_str() {
        _ if replays(draft) => "its own arrivals",
        "constant" => "evenly spaced arrivals",
        other if other.contains("ramp") => "ramped arrivals",
        other if other.starts_with("gamma") => "gamma arrivals",
        _ => "Poisson arrivals",
    };
    words.into()
}

fn promise_words(draft: &Draft) -> String {
    draft
        .slo
        .parse()
        .map_or_else(|_| draft.slo.clone(), |slo| slo_words(&slo))
}

/// The sentence.
#[component]
pub fn Sentence(
    /// The form.
    form: Form,
) -> impl IntoView {
    let part = move |section: &'static str, read: fn(&Draft) -> String| {
        view! { <Bracket form section text=memo(move || form.draft.with(read)) /> }
    };
    let requests = memo(move || {
        form.plan
            .with(|plan| form.draft.with(|draft| requests_words(draft, plan)))
    });
    view! {
        <p class="sentence">
            "Run " {part("engine", engine_words)} " with " {part("workload", workload_words)} ", "
            {part("load", arrival_words)} " at " {part("load", |draft| levels_words(&draft.levels))} " "
            {shared(move || form.draft.with(rate_unit))} ", " <Bracket form section="load" text=requests />
            ", against " {part("slo", promise_words)} ", flipping " {part("configurations", knobs_words)} "."
        </p>
    }
    .erased()
}

/// A part of the sentence that opens its section.
#[component]
fn Bracket(form: Form, section: &'static str, text: Memo<String>) -> impl IntoView {
    let go = move |event: leptos::ev::MouseEvent| {
        event.prevent_default();
        form.go_to(section, summary_id(section));
    };
    // A link to its section, so that it leads there before the page is awake.
    view! {
        <a class="bracket" href=format!("#{}", summary_id(section)) class:wrong=move || { form.errors_in(section) > 0 } on:click=go>
            {shared(move || text.get())}
        </a>
    }
    .erased()
}

#[cfg(test)]
mod tests {
    use super::super::draft::ConfigurationDraft;
    use super::*;

    #[test]
    fn levels_are_told_in_few_words() {
        for (text, expected) in [
            ("0.5 1 2 4 8 16 32 inf", "0.5 … 32, inf"),
            ("1, 2 inf", "1, 2, inf"),
            ("c=4 c=16", "c=4, c=16"),
            ("1 2 3 4 oops", "1 … 4, oops"),
            ("  ", "no rate yet"),
        ] {
            assert_eq!(levels_words(text), expected, "{text}");
        }
    }

    #[test]
    fn arrivals_are_told_as_they_are() {
        for (arrival, levels, expected, unit) in [
            ("poisson", "1 2", "Poisson arrivals", "requests/s"),
            ("constant", "1 x2", "evenly spaced arrivals", "requests/s"),
            ("linear-ramp=1", "4", "ramped arrivals", "requests/s"),
            ("gamma=0.5", "4", "gamma arrivals", "requests/s"),
            ("poisson", "x1 x2", "its own arrivals", "as recorded"),
            ("poisson", "", "Poisson arrivals", "requests/s"),
        ] {
            let mut draft = Draft::default();
            (draft.arrival, draft.levels) = (arrival.into(), levels.into());
            assert_eq!(arrival_words(&draft), expected, "{arrival} {levels}");
            draft.workload.kind = "synthetic".into();
            assert_eq!(rate_unit(&draft), unit, "{arrival} {levels}");
        }
    }

    #[test]
    fn an_slo_reads_as_a_promise() {
        let slo: Slo = "ttft:p95<500ms tpot:p95<50ms attain>=95%"
            .parse()
            .expect("slo");
        assert_eq!(
            slo_words(&slo),
            "TTFT p95 ≤ 500 ms and TPOT p95 ≤ 50 ms for 95\u{202f}% of requests"
        );
    }

    #[test]
    fn thresholds_keep_their_digits() {
        for (millis, expected) in [
            (500, "500 ms"),
            (50, "50 ms"),
            (1500, "1.5 s"),
            (1000, "1 s"),
            (1, "1 ms"),
        ] {
            assert_eq!(span(Nanos::from_millis(millis)), expected);
        }
    }

    #[test]
    fn things_are_listed_as_people_do() {
        let list =
            |items: &[&str]| listed(&items.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
        assert_eq!(list(&[]), "");
        assert_eq!(list(&["a"]), "a");
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
    }

    #[test]
    fn an_engine_is_named_by_model_and_host() {
        let mut draft = Draft {
            engine: "endpoint".into(),
            ..Draft::default()
        };
        assert_eq!(engine_words(&draft), "an engine");
        draft.endpoint.url = "http://127.0.0.1:8000/".into();
        assert_eq!(engine_words(&draft), "127.0.0.1:8000");
        draft.endpoint.model = "llama-8b".into();
        assert_eq!(engine_words(&draft), "llama-8b at 127.0.0.1:8000");
        let mut variant = ConfigurationDraft {
            way: "other_endpoint".into(),
            ..ConfigurationDraft::default()
        };
        variant.other.url = "http://127.0.0.1:8001".into();
        draft.configurations = vec![ConfigurationDraft::default(), variant];
        assert_eq!(
            engines_words(&draft),
            "llama-8b at 127.0.0.1:8000 and 127.0.0.1:8001",
            "both are held"
        );
        draft.endpoint = EndpointDraft::managed("llama");
        assert_eq!(engine_words(&draft), "llama, started by the studio");
    }
}
