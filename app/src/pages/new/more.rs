//! What rarely needs a thought: warm-up, seed, repeats, limits.

use crate::ui::erased::Erase;
use crate::ui::reactive::derived;
use leptos::prelude::*;

use super::form::Form;
use super::section::Section;
use crate::ui::bind::bind;
use crate::ui::field::TextField;

/// The section.
#[component]
pub fn MoreSection(
    /// The form.
    form: Form,
) -> impl IntoView {
    let draft = form.draft;
    let value = move || {
        draft.with(|it| {
            format!(
                "{} warm-up requests, seed {}, each rate measured {}",
                it.warmup.trim(),
                it.seed.trim(),
                times(&it.repeats)
            )
        })
    };
    view! {
        <Section form id="more" title="Details" value=derived(value)>
            <div class="columns">
                <TextField id="warmup" label="Warm-up" keyboard="numeric" unit="requests" bind=bind!(draft, |d| d.warmup) hint="Before each point, with prompts of their own." error=form.error(&["warmup"]) />
                <TextField id="seed" label="Seed" keyboard="numeric" bind=bind!(draft, |d| d.seed) hint="Same seed, same prompts and starts, for ever." error=form.error(&["seed"]) />
                <TextField id="repeats" label="Repeats" keyboard="numeric" bind=bind!(draft, |d| d.repeats) hint="How often each rate is measured." error=form.error(&["repeats"]) />
                <TextField id="idle_timeout_ms" label="Idle timeout" keyboard="decimal" unit="s" bind=bind!(draft, |d| d.idle_timeout) hint="A stream silent for so long has failed." error=form.error(&["idle_timeout_ms"]) />
                <TextField id="drain_ms" label="Drain" keyboard="decimal" unit="s" bind=bind!(draft, |d| d.drain) hint="Wait so long for what is in flight after the last arrival." error=form.error(&["drain_ms"]) />
                <TextField id="ramp_in_ms" label="Ramp-in" keyboard="decimal" unit="s" bind=bind!(draft, |d| d.ramp_in) hint="Requests due so early in a point are in no figure, while the engine fills up." error=form.error(&["ramp_in_ms"]) />
            </div>
        </Section>
    }
    .erased()
}

fn times(repeats: &str) -> String {
    match repeats.trim() {
        "1" => "once".into(),
        "2" => "twice".into(),
        other => format!("{other} times"),
    }
}
