//! What is promised: the SLO's text, read while it is typed, and the named SLOs.

use crate::ui::erased::{Erase, shared};
use crate::ui::reactive::{derived, memo};
use leptos::prelude::*;
use measure::slo::Slo;

use super::form::Form;
use super::section::Section;
use super::sentence::slo_words;
use super::shared::NamedSlos;
use crate::api;
use crate::studio::{NamedSlo, StudioError};
use crate::ui::bind::{Bind, bind};
use crate::ui::dialog::Dialog;
use crate::ui::field::{Field, TextField, described_by};
use crate::ui::toast::toasts;
use crate::words::terms::judged;

/// SLOs to begin with.
const EXAMPLES: [(&str, &str); 4] = [
    ("Chat", "ttft:p95<500ms tpot:p95<50ms attain>=95%"),
    ("Code completion", "ttft:p95<200ms e2e:p95<1s attain>=95%"),
    (
        "Reading along",
        "ttft:p95<1s tpot:p95<100ms stall<2s attain>=99%",
    ),
    ("Summaries", "e2e:p95<15s attain>=95%"),
];

/// What the text means, or where it is wrong.
pub fn explain(text: &str) -> Result<String, String> {
    text.parse::<Slo>()
        .map(|slo| format!("{}.", slo_words(&slo)))
        .map_err(|wrong| wrong.to_string())
}

/// The section.
#[component]
pub fn SloSection(
    /// The form.
    form: Form,
    /// Named SLOs.
    slos: NamedSlos,
    /// Opens the dialog that saves and forgets them.
    managing: RwSignal<bool>,
) -> impl IntoView {
    let text = bind!(form.draft, |d| d.slo);
    let meaning = memo(move || text.get.with(|text| explain(text)));
    let chip = move |(name, slo): (String, String)| {
        let (title, pressed) = (slo.clone(), slo.clone());
        view! {
            <button type="button" class="chip" title=title aria-pressed=move || (text.get.get() == pressed).to_string() on:click=move |_| text.set.run(slo.clone())>
                {name}
            </button>
        }
    };
    let examples = EXAMPLES
        .map(|(name, slo)| (name.to_owned(), slo.to_owned()))
        .to_vec();
    view! {
        <Section form id="slo" title="SLO" value=derived(move || meaning.get().unwrap_or_else(|_| text.get.get()))>
            <SloText text meaning />
            <p class="hint-line" inner_html=judged().into_string()></p>
            <div class="row">
                <span class="muted">"Examples"</span>
                {examples.into_iter().map(chip).collect_view()}
            </div>
            <div class="row">
                <span class="muted">"Saved"</span>
                {shared(move || saved(slos).into_iter().map(chip).collect_view().erased())}
                <button type="button" class="button compact" on:click=move |_| managing.set(true)>
                    "Save or forget…"
                </button>
            </div>
        </Section>
    }
    .erased()
}

fn saved(slos: NamedSlos) -> Vec<(String, String)> {
    let rows = slos.get();
    rows.into_iter()
        .map(|row| (row.name, row.slo.to_string()))
        .collect()
}

/// The text and its meaning. The error shows at once: an SLO is read as it is typed.
#[component]
fn SloText(text: Bind<String>, meaning: Memo<Result<String, String>>) -> impl IntoView {
    let node = NodeRef::<leptos::html::Input>::new();
    crate::ui::bind::follow_input(node, text);
    view! {
        <Field
            id="slo"
            label="Objective"
            hint="Bounds on ttft, ttfa, tpot, itl, stall or e2e with a percentile each; error_rate; attain, the share of requests that must keep them all."
            error=derived(move || meaning.get().err())
        >
            <input
                node_ref=node
                id="slo"
                name="slo"
                type="text"
                class="mono"
                autocomplete="off"
                spellcheck="false"
                value=text.get.get_untracked()
                aria-describedby=described_by("slo")
                aria-invalid=move || meaning.get().is_err().to_string()
                on:input=move |event| text.set.run(event_target_value(&event))
            />
            <output class="meaning" for="slo" aria-live="polite">
                {shared(move || meaning.get().ok())}
            </output>
        </Field>
    }
    .erased()
}

/// The dialog that saves the SLO under a name, and forgets saved ones.
#[component]
pub fn ManageSlos(
    /// The form.
    form: Form,
    /// Named SLOs.
    slos: NamedSlos,
    /// Whether it is open.
    managing: RwSignal<bool>,
) -> impl IntoView {
    let name = RwSignal::new(String::new());
    let problem = RwSignal::new(None::<String>);
    let toasts = toasts();
    let save = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let slo = match form.draft.with(|draft| draft.slo.parse::<Slo>()) {
            Ok(slo) => slo,
            Err(wrong) => return problem.set(Some(wrong.to_string())),
        };
        let named = NamedSlo {
            name: name.get().trim().to_owned(),
            slo,
        };
        leptos::task::spawn_local(async move {
            match api::save_slo(named.clone()).await {
                Ok(()) => {
                    slos.refresh();
                    name.set(String::new());
                    problem.set(None);
                    managing.set(false);
                    toasts.say(format!("Saved as {}", named.name));
                }
                Err(StudioError::Invalid { fields }) => {
                    problem.set(fields.into_iter().next().map(|error| error.message))
                }
                Err(error) => problem.set(Some(error.to_string())),
            }
        });
    };
    view! {
        <Dialog open=managing id="manage-slos" title="Saved SLOs">
            <form class="row end" on:submit=save>
                <div class="grow">
                    <TextField id="slo.name" label="Save the present one as" bind=Bind::signal(name) placeholder="chat, strict" error=problem />
                </div>
                <button class="button primary">"Save"</button>
            </form>
            <p class="mono muted">{shared(move || form.draft.with(|draft| draft.slo.clone()))}</p>
            <ul class="lines">
                {move || slos.get().into_iter().map(|row| view! { <SavedSlo row slos /> }).collect_view()}
            </ul>
            <div class="actions">
                <button type="button" class="button quiet" on:click=move |_| managing.set(false)>
                    "Close"
                </button>
            </div>
        </Dialog>
    }
    .erased()
}

#[component]
fn SavedSlo(row: NamedSlo, slos: NamedSlos) -> impl IntoView {
    let toasts = toasts();
    let (name, text) = (row.name.clone(), row.slo.to_string());
    let forget = move |_| {
        let row = row.clone();
        leptos::task::spawn_local(async move {
            match api::delete_slo(row.name.clone()).await {
                Ok(()) => toasts.say_with_undo(format!("Forgot {}", row.name), move || {
                    bring_back(row.clone(), slos)
                }),
                Err(error) => toasts.say(error.to_string()),
            }
            slos.refresh();
        });
    };
    view! {
        <li class="row">
            <strong>{name}</strong>
            <span class="mono muted grow">{text}</span>
            <button type="button" class="button compact" on:click=forget>
                "Forget"
            </button>
        </li>
    }
    .erased()
}

fn bring_back(row: NamedSlo, slos: NamedSlos) {
    leptos::task::spawn_local(async move {
        if let Err(error) = api::save_slo(row).await {
            leptos::logging::warn!("could not bring the SLO back: {error}");
        }
        slos.refresh();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_an_slo() {
        for (name, text) in EXAMPLES {
            assert!(explain(text).is_ok(), "{name}: {:?}", explain(text));
        }
    }

    #[test]
    fn a_wrong_text_says_where() {
        assert!(
            explain("ttft:p95<500ms nonsense<3")
                .expect_err("error")
                .contains("nonsense")
        );
    }
}
