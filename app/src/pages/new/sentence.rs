//! The study as a sentence: *Run* [engine] *with* [workload], ... Each bracket opens its section.

use crate::ui::erased::{Erase, shared};
use leptos::prelude::*;
use measure::slo::{Metric, Slo};
use measure::study::{PlannedPoint, StudySpec};
use measure::units::Level;

use super::advice::flipped_knobs;
use super::draft::Draft;
use super::form::{Form, summary_id};
use super::read::words;
use crate::ui::format;

/// A metric's name for people.
pub fn metric_name(metric: Metric) -> &'static str {
    match metric {
        Metric::Ttft => "TTFT",
        Metric::Ttfa => "TTFA",
        Metric::ScheduledTtft => "scheduled TTFT",
        Metric::Tpot => "TPOT",
        Metric::Itl => "ITL",
        Metric::Stall => "longest stall",
        Metric::E2e => "E2E",
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
            bound.at_most
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

/// What rates count.
pub fn rate_unit(spec: Option<&StudySpec>) -> &'static str {
    if spec.is_some_and(|spec| spec.workload.is_multi_turn()) {
        "sessions/s"
    } else {
        "requests/s"
    }
}

/// Requests of the points: `200 requests`, `100–400 requests`.
pub fn requests_words(plan: &[PlannedPoint]) -> String {
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
    let (model, url) = (draft.endpoint.model.trim(), draft.endpoint.url.trim());
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
pub fn workload_words(draft: &Draft, spec: Option<&StudySpec>) -> String {
    if let Some(spec) = spec {
        return spec.workload.to_string();
    }
    match draft.workload.kind.as_str() {
        "share_gpt_shaped" => "ShareGPT-shaped sessions".into(),
        "share_gpt_file" => "a ShareGPT file".into(),
        _ => "synthetic requests".into(),
    }
}

/// What is flipped, in words.
pub fn knobs_words(draft: &Draft) -> String {
    let flipped = flipped_knobs(draft);
    match (draft.configurations.len(), flipped.is_empty()) {
        (..=1, _) => "nothing".into(),
        (2.., true) => "nothing that differs".into(),
        _ => listed(&flipped),
    }
}

/// The sentence.
#[component]
pub fn Sentence(
    /// The form.
    form: Form,
) -> impl IntoView {
    let with_spec = move |read: fn(&Draft, Option<&StudySpec>) -> String| {
        move || {
            form.spec
                .with(|spec| form.draft.with(|draft| read(draft, spec.as_ref().ok())))
        }
    };
    let slo = |draft: &Draft, spec: Option<&StudySpec>| {
        spec.map_or_else(|| draft.slo.clone(), |spec| slo_words(&spec.slo))
    };
    let arrivals = |draft: &Draft, _: Option<&StudySpec>| {
        if draft.arrival == "constant" {
            "evenly spaced arrivals".to_owned()
        } else {
            "Poisson arrivals".to_owned()
        }
    };
    view! {
        <p class="sentence">
            "Run " <Bracket form section="engine" text=with_spec(|draft, _| engine_words(draft)) /> " with "
            <Bracket form section="workload" text=with_spec(workload_words) /> ", "
            <Bracket form section="load" text=with_spec(arrivals) /> " at "
            <Bracket form section="load" text=with_spec(|draft, _| levels_words(&draft.levels)) /> " "
            {shared(move || form.spec.with(|spec| rate_unit(spec.as_ref().ok())))} ", "
            <Bracket form section="load" text=move || form.plan.with(|plan| requests_words(plan)) /> ", against "
            <Bracket form section="slo" text=with_spec(slo) /> ", flipping "
            <Bracket form section="configurations" text=with_spec(|draft, _| knobs_words(draft)) /> "."
        </p>
    }
    .erased()
}

/// A part of the sentence that opens its section.
#[component]
fn Bracket(
    form: Form,
    section: &'static str,
    text: impl Fn() -> String + Send + Sync + 'static,
) -> impl IntoView {
    let go = move |event: leptos::ev::MouseEvent| {
        event.prevent_default();
        form.go_to(section, summary_id(section));
    };
    // A link to its section, so that it leads there before the page is awake.
    view! {
        <a class="bracket" href=format!("#{}", summary_id(section)) class:wrong=move || { form.errors_in(section) > 0 } on:click=go>
            {text}
        </a>
    }
    .erased()
}

#[cfg(test)]
mod tests {
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
    }
}
