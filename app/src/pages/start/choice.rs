//! Configurations chosen for a comparison, in the order they were chosen: the first is the baseline.

use crate::ui::erased::Erase;
use crate::ui::reactive::memo;
use leptos::prelude::*;

use leptos_router::hooks::use_navigate;
use uuid::Uuid;

/// What is chosen. Copied into every row.
#[derive(Clone, Copy)]
pub struct Choice {
    chosen: RwSignal<Vec<Uuid>>,
    go: Callback<String>,
}

impl Choice {
    /// Nothing chosen.
    pub fn new() -> Self {
        let navigate = use_navigate();
        let go = Callback::new(move |address: String| navigate(&address, Default::default()));
        Self {
            chosen: RwSignal::default(),
            go,
        }
    }

    /// Whether a configuration is chosen.
    pub fn holds(self, id: Uuid) -> bool {
        self.chosen.with(|chosen| chosen.contains(&id))
    }

    /// Chooses a configuration, or not.
    pub fn set(self, id: Uuid, on: bool) {
        self.chosen.update(|chosen| {
            chosen.retain(|it| *it != id);
            chosen.extend(on.then_some(id));
        });
    }

    /// Goes to the comparison in the order chosen; without this the browser would send the order of the page.
    pub fn follow(self, event: &leptos::ev::SubmitEvent) {
        event.prevent_default();
        let chosen = self.chosen.get_untracked();
        if chosen.len() > 1 {
            self.go.run(compare_address(&chosen));
        }
    }
}

/// The comparison of these configurations.
pub fn compare_address(configurations: &[Uuid]) -> String {
    let parts: Vec<String> = configurations.iter().map(|id| format!("c={id}")).collect();
    format!("/compare?{}", parts.join("&"))
}

/// What is chosen, and the way to the comparison.
#[component]
pub fn CompareBar(
    /// What is chosen.
    choice: Choice,
) -> impl IntoView {
    let count = memo(move || choice.chosen.with(Vec::len));
    let words = move || match count.get() {
        0 => "Choose two or more configurations to compare their curves.".to_owned(),
        1 => "One chosen, the baseline. Choose another to compare it with.".to_owned(),
        many => format!("{many} chosen; the first is the baseline."),
    };
    view! {
        <div class="compare-bar" class:empty-bar=move || count.get() == 0>
            <p aria-live="polite">{words}</p>
            <Show when=move || { count.get() > 0 }>
                <button type="button" class="button quiet" on:click=move |_| choice.chosen.set(Vec::new())>
                    "Clear"
                </button>
            </Show>
            <button class="button" class:primary=move || { count.get() > 1 } aria-disabled=move || (count.get() < 2).to_string()>
                "Compare"
            </button>
        </div>
    }
    .erased()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_chosen_is_the_baseline() {
        let [a, b] = [Uuid::from_u128(0xa), Uuid::from_u128(0xb)];
        assert_eq!(compare_address(&[b, a]), format!("/compare?c={b}&c={a}"));
    }
}
