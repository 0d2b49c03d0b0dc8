//! How hard and how long: the rates, how arrivals are spread, how many requests a point has.

use crate::ui::erased::Erase;
use crate::ui::reactive::derived;
use leptos::prelude::*;
use measure::units::{Level, Rate};

use super::drawn::Drawn;
use super::form::Form;
use super::read::words;
use super::section::Section;
use super::sentence::{levels_words, rate_unit, requests_words};
use crate::ui::bind::bind;
use crate::ui::field::TextField;
use crate::ui::segmented::Segmented;
use crate::words::terms::loops;

/// Rates to begin with.
const PRESETS: [(&str, &str); 5] = [
    ("Find the ceiling", "find 1-64 in 20 min"),
    ("0.5 … 32, inf", "0.5 1 2 4 8 16 32 inf"),
    ("1 … 16", "1 2 4 8 16"),
    ("Closed loop", "c=1 c=4 c=16 c=64"),
    ("Speeds of a trace", "x0.5 x1 x2 x4"),
];

/// The section.
#[component]
pub fn LoadSection(
    /// The form.
    form: Form,
) -> impl IntoView {
    let draft = form.draft;
    let value = move || {
        let unit = draft.with(rate_unit);
        format!(
            "{} {unit}, {}",
            draft.with(|it| levels_words(&it.levels)),
            form.plan
                .with(|plan| draft.with(|it| requests_words(it, plan)))
        )
    };
    view! {
        <Section form id="load" title="Load" value=derived(value)>
            <Rates form />
            <p class="hint-line" inner_html=loops().into_string()></p>
            <div class="row">
                <span class="muted">"Arrivals"</span>
                <Segmented
                    name="arrival"
                    label="Arrivals"
                    bind=bind!(draft, |d| d.arrival)
                    options=arrivals(&draft.with_untracked(|draft| draft.arrival.clone()))
                />
            </div>
            <fieldset class="stack tight">
                <legend>"Requests of a point"</legend>
                <p class="muted">"As many as arrive in the time, but never fewer or more than the bounds. A p95 needs 72, a p99 368 to have an upper end."</p>
                <Drawn form html=form.drawn("length", "") />
            </fieldset>
        </Section>
    }
    .erased()
}

/// The processes to choose from; one that needs a number only where it came with the study.
fn arrivals(given: &str) -> Vec<(&'static str, &'static str)> {
    let mut arrivals = vec![("poisson", "Poisson"), ("constant", "Evenly spaced")];
    if !arrivals.iter().any(|(name, _)| *name == given) {
        // Leaked once a page: the control wants names that live as long as the program.
        let given: &'static str = String::leak(given.to_owned());
        arrivals.push((given, given));
    }
    arrivals
}

#[component]
fn Rates(form: Form) -> impl IntoView {
    let levels = bind!(form.draft, |d| d.levels);
    let chip = move |text: &'static str, change: Callback<String, String>| {
        let press = move |_| levels.set.run(change.run(levels.get.get_untracked()));
        view! {
            <button type="button" class="chip" on:click=press>
                {text}
            </button>
        }
    };
    let preset = move |(text, rates): (&'static str, &'static str)| {
        chip(text, Callback::new(move |_| rates.to_owned()))
    };
    view! {
        <TextField
            id="levels"
            label="Rates"
            bind=levels
            hint="Per second: of sessions where a session has several turns, else of requests. inf sends everything at once; c=16 is a closed loop of 16 streams; x2 replays a trace twice as fast. find 1-64 in 20 min looks for the ceiling itself."
            error=form.error(&["levels", "adaptive.from", "adaptive.to", "adaptive.minutes", "adaptive.width"])
        />
        <div class="row">
            {PRESETS.map(preset).collect_view()}
            {chip("× 2", Callback::new(|text: String| scaled(&text, 2.0)))}
            {chip("÷ 2", Callback::new(|text: String| scaled(&text, 0.5)))}
            {chip("In between", Callback::new(|text: String| refined(&text)))}
        </div>
    }
    .erased()
}

/// The rates times a factor; everything else as it is.
fn scaled(text: &str, factor: f64) -> String {
    let scale = |word: &str| match word.parse() {
        Ok(Level::Rate(rate)) => {
            shown(rate.per_second() * factor).unwrap_or_else(|| word.to_owned())
        }
        _ => word.to_owned(),
    };
    words(text)
        .into_iter()
        .map(scale)
        .collect::<Vec<_>>()
        .join(" ")
}

/// A rate between each two neighbours, halfway on the logarithmic scale on which rates are chosen.
fn refined(text: &str) -> String {
    let rate = |word: &str| word.parse().ok().and_then(Level::rate);
    let words = words(text);
    let mut finer: Vec<String> = Vec::with_capacity(words.len() * 2);
    for (index, word) in words.iter().enumerate() {
        finer.push((*word).to_owned());
        let next = words.get(index + 1).copied().and_then(rate);
        if let (Some(here), Some(next)) = (rate(word), next) {
            let between = measure::units::significant((here * next).sqrt(), 2);
            let between = measure::decimal::parse(&between).and_then(shown);
            finer.extend(between.filter(|between| between != word));
        }
    }
    finer.join(" ")
}

/// A rate as it is typed; `None` where it is none.
fn shown(rate: f64) -> Option<String> {
    Rate::try_from(rate)
        .ok()
        .map(|rate| Level::Rate(rate).to_string())
}

#[cfg(test)]
mod tests {
    use measure::study::Adaptive;

    use super::*;

    #[test]
    fn presets_are_levels() {
        for (name, text) in PRESETS {
            let levels = || {
                words(text)
                    .into_iter()
                    .all(|word| word.parse::<Level>().is_ok())
            };
            assert!(levels() || text.parse::<Adaptive>().is_ok(), "{name}");
        }
    }

    #[test]
    fn scaling_leaves_what_is_no_rate() {
        assert_eq!(scaled("0.5 1, 4 inf c=8 oops", 2.0), "1 2 8 inf c=8 oops");
        assert_eq!(scaled("0.5 1", 0.5), "0.25 0.5");
    }

    #[test]
    fn refining_goes_halfway_between_rates() {
        assert_eq!(refined("1 2 4 inf"), "1 1.4 2 2.8 4 inf");
        assert_eq!(refined("inf"), "inf");
        assert_eq!(refined("1 1 2"), "1 1 1.4 2");
    }
}
