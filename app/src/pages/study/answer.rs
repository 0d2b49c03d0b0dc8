//! The first line, in words, and where the study stands.

use crate::ui::erased::{Erase, shared};
use crate::ui::reactive::memo;
use leptos::prelude::*;

use super::Page;
use crate::chart::level_words;
use crate::studio::{PointState, Progress, StudyState, StudyView};
use crate::ui::badge::Tone;
use crate::ui::empty::Notice;
use crate::ui::format;
use crate::words;

/// The answer.
#[component]
pub fn Answer(page: Page) -> impl IntoView {
    let sentences = memo(move || page.shown.with(words::answer));
    let second = memo(move || page.shown.with(words::by_percentile));
    let tried = move || page.state.with(|state| state.slo.is_some());
    view! {
        <div class="answer" role="status">
            <p hidden=move || !tried()>
                <strong>"Tried, not the study's own SLO: "</strong>
                {shared(move || page.slo.get().to_string())}
            </p>
            {shared(move || sentences.get().into_iter().map(|sentence| view! { <p>{sentence}</p> }).collect_view().erased())}
            <p class="muted second" hidden=move || second.with(Option::is_none)>{shared(move || second.get())}</p>
        </div>
    }
    .erased()
}

/// What is going on, and what it waits for.
#[component]
pub fn Underway(page: Page, broken: ReadSignal<bool>) -> impl IntoView {
    let state = memo(move || {
        page.known
            .with(|study| (study.state, study.problem.clone()))
    });
    view! {
        {shared(move || {
            let (state, problem) = state.get();
            match (state, problem) {
                (StudyState::Waiting, problem) => {
                    view! { <super::controls::Waiting page problem /> }.erased()
                }
                (StudyState::Failed | StudyState::Interrupted, Some(problem)) => {
                    view! {
                        <Notice tone=Tone::Bad>
                            <strong>"It could not go on: "</strong>
                            {problem}
                        </Notice>
                    }
                        .erased()
                }
                (StudyState::Queued, problem) => {
                    view! { <Notice>{problem.unwrap_or_else(|| "Waits until its engine is free.".into())}</Notice> }.erased()
                }
                (StudyState::Running, _) => view! { <Running page broken /> }.erased(),
                _ => ().erased(),
            }
        })}
    }
    .erased()
}

/// A meter with the point under load in words.
#[component]
fn Running(page: Page, broken: ReadSignal<bool>) -> impl IntoView {
    let done = memo(move || page.known.with(words::finished));
    let now = memo(move || page.known.with(current));
    let left = memo(move || {
        page.known
            .with(|study| study.remaining_ms)
            .map(words::time_left)
    });
    let share = move || {
        let (done, all) = done.get();
        let within = page
            .underway
            .get()
            .map_or(0.0, |(_, progress)| share_of(&progress));
        format!("{:.1}%", (done as f64 + within) / all.max(1) as f64 * 100.0)
    };
    view! {
        <section class="underway" aria-label="Progress">
            <p class="row">
                <strong>{shared(move || { let (done, all) = done.get(); format!("{done} of {}", words::count(all, "point")) })}</strong>
                <span>{shared(move || now.get())}</span>
                <span class="muted">{shared(move || page.underway.get().map(|(_, progress)| in_words(&progress)))}</span>
                <span class="spring muted">{shared(move || left.get())}</span>
            </p>
            <span class="meter">
                <span style:width=share></span>
            </span>
            <p class="muted small" hidden=move || !broken.get()>
                "The live connection broke; it is being restored. Nothing is lost."
            </p>
        </section>
    }
    .erased()
}

fn current(study: &StudyView) -> Option<String> {
    let point = study
        .points
        .iter()
        .find(|point| point.state == PointState::Running)?;
    let name = &study
        .configurations
        .get(point.configuration as usize)?
        .spec
        .name;
    Some(format!(
        "{name} at {}",
        level_words(point.level, words::rate_unit(&study.spec))
    ))
}

fn share_of(progress: &Progress) -> f64 {
    f64::from(progress.completed + progress.failed) / f64::from(progress.scheduled.max(1))
}

fn in_words(progress: &Progress) -> String {
    let Progress {
        scheduled,
        sent,
        in_flight,
        failed,
        events_per_s,
        ttft_p95_ns,
        ttft_count,
        ..
    } = progress;
    let mut words = vec![
        format!("{sent} of {scheduled} sent"),
        format!("{in_flight} in flight"),
    ];
    if 0 < *failed {
        words.push(format!("{failed} failed"));
    }
    words.push(format!("{} events/s", format::number(*events_per_s)));
    if let Some(p95) = ttft_p95_ns {
        words.push(format!(
            "TTFT p95 {} so far (n = {ttft_count})",
            measure::units::Nanos(*p95)
        ));
    }
    words.join(", ")
}
