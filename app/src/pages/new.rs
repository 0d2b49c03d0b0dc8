//! A study to be, as a sentence: *Run* [engine] *with* [workload], *Poisson arrivals at* [rates], *against* [SLO],
//! *flipping* [knob].

mod add_engine; // the dialog that adds one
mod adding; // what becomes of it
mod advice; // what to think about first
mod beginning; // what the form begins with
mod changed; // what a copy changes
mod configurations; // what is flipped
mod connection; // how an engine is reached
mod draft; // what was typed, as text
mod drawn; // fields that the server draws
mod engine; // which engine
#[cfg(any(feature = "ssr", test))]
mod flip; // one knob of another study
mod form; // the form's signals
mod keep; // a reload loses nothing
mod later; // what the server draws of the study, unfolded
mod load; // how hard and how long
mod more; // warm-up, seed, limits
mod plan; // time, cost, advice, Launch
mod read; // from text to a spec, or errors at fields
mod section; // a line and the fields behind it
mod sentence; // the study in words
mod shared; // lists that several parts show
mod slo; // what is promised
mod spoken; // fields as the form calls them
mod upload; // a file into the studio
mod workload; // what the requests ask

use crate::ui::erased::Erase;
use crate::ui::reactive::{derived, effect, memo};
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;
use measure::study::StudySpec;
use uuid::Uuid;

use crate::api;
use crate::reading::Reading;
use crate::studio::StudioError;
use crate::ui::bind::bind;
use crate::ui::field::TextField;
use crate::ui::toast::toasts;
use draft::Draft;
use form::Form;

pub use beginning::Beginning;
#[cfg(feature = "ssr")]
pub use beginning::beginning;
#[cfg(feature = "ssr")]
pub use drawn::{ALSO, PLACE, ROOM, ROOM_OF_PLACE, drawn_key};
#[cfg(feature = "ssr")]
pub use later::STUDIO;

/// Where a new study starts from.
#[derive(Clone, Debug, Default, PartialEq)]
struct Start {
    /// Another study, cloned.
    from: Option<String>,
    /// The preset of this name.
    preset: Option<String>,
    /// The knob of it that is flipped: `0:max-num-seqs=64`.
    flip: Option<String>,
}

impl Start {
    /// The key under which the browser keeps what was typed.
    fn key(&self) -> String {
        format!(
            "new-study:{}:{}:{}",
            self.from.as_deref().unwrap_or_default(),
            self.preset.as_deref().unwrap_or_default(),
            self.flip.as_deref().unwrap_or_default()
        )
    }
}

/// The page.
#[component]
pub fn NewStudyPage() -> impl IntoView {
    let query = use_query_map();
    let start = memo(move || {
        query.with(|query| Start {
            from: query.get("from"),
            // As links of before have it.
            preset: query
                .get("preset")
                .or_else(|| query.get("exercise").map(as_preset)),
            flip: query.get("flip"),
        })
    });
    let first = Reading::new(
        move || start.get(),
        |start: Start| api::new_study(start.from, start.preset, start.flip),
    );
    view! {
        <Title text="New study" />
        {first.page("", move |beginning| view! { <StudyForm beginning key=start.get_untracked().key() /> }.erased())}
    }
    .erased()
}

/// `exercise=1` names the exercise; what else stands there is told.
fn as_preset(exercise: String) -> String {
    match exercise.as_str() {
        "" | "1" | "true" => "exercise".into(),
        _ => format!("exercise={exercise}"),
    }
}

/// The form, once it is known what it starts from.
#[component]
fn StudyForm(beginning: Beginning, key: String) -> impl IntoView {
    let Beginning {
        spec,
        of,
        vain,
        engines,
        datasets,
        slos,
        drawn,
    } = beginning;
    let draft = Draft::from(&spec);
    let form = Form::new(draft.clone(), drawn);
    let key = StoredValue::new(key);
    keep_while_typing(form, draft, key);
    names_follow_knobs(form);
    let engines = shared::engines(engines);
    let datasets = shared::datasets(datasets);
    let slos = shared::slos(slos);
    let (adding, managing) = (RwSignal::new(false), RwSignal::new(false));
    let launch = launch_action(form, key);
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        // One press, one study, however often the button hears of it.
        if launch.pending().get_untracked()
            || matches!(*launch.value().read_untracked(), Some(Ok(_)))
        {
            return;
        }
        form.attempt();
        form.refused.set(Vec::new());
        match form.draft.with(|draft| StudySpec::try_from(draft)) {
            Ok(spec) => drop(launch.dispatch(spec)),
            Err(_) => focus_problems(),
        }
    };
    let problem = move || match launch.value().get() {
        Some(Err(StudioError::Invalid { .. }) | Ok(_)) | None => None,
        Some(Err(other)) => Some(other.to_string()),
    };
    view! {
        <form
            class="page new-study"
            on:submit=submit
            on:focusout=move |event| form.touch(id_of(&event))
            on:input=move |event| form.mend(&id_of(&event))
        >
            <header class="stack">
                <h1>"New study"</h1>
                {vain.into_iter().map(|it| view! { <p class="notice" data-tone="warn">{it}</p> }).collect_view()}
                <sentence::Sentence form />
                <div inner_html=form.drawn("presets", "")></div>
            </header>
            <div class="split">
                <div class="stack">
                    <NameField form />
                    <div class="sections">
                        <engine::EngineSection form engines adding />
                        <workload::WorkloadSection form datasets />
                        <load::LoadSection form />
                        <slo::SloSection form slos managing />
                        <configurations::ConfigurationsSection form engines adding />
                        <more::MoreSection form />
                    </div>
                </div>
                <aside>
                    <changed::Changed form of />
                    <plan::Plan form pending=launch.pending().into() problem=derived(problem) />
                </aside>
            </div>
        </form>
        // Dialogs hold forms of their own, which must not stand inside another.
        <adding::AddEngineFor form engines adding />
        <slo::ManageSlos form slos managing />
    }
    .erased()
}

#[component]
fn NameField(form: Form) -> impl IntoView {
    let made = form.draft.with_untracked(Draft::made_name);
    view! {
        <TextField
            id="name"
            label="Name"
            bind=bind!(form.draft, |d| d.name)
            placeholder=made
            hint="Left empty, it is named after engine and knobs."
            error=form.error(&["name"])
        />
    }
    .erased()
}

/// Sends the study to the server; what it refuses comes back to the fields.
fn launch_action(
    form: Form,
    key: StoredValue<String>,
) -> Action<StudySpec, Result<Uuid, StudioError>> {
    let launch = Action::new(|spec: &StudySpec| {
        let spec = spec.clone();
        async move { api::launch_study(spec).await }
    });
    effect(move || match launch.value().get() {
        Some(Ok(id)) => {
            keep::forget(&key.get_value());
            // It fails only for an address that cannot be read.
            let _ = window().location().set_href(&format!("/studies/{id}"));
        }
        Some(Err(StudioError::Invalid { fields })) => {
            form.refused.set(fields);
            focus_problems();
        }
        _ => {}
    });
    launch
}

/// A configuration that is called after its knobs is called after what they become.
fn names_follow_knobs(form: Form) {
    Effect::new(move |before: Option<Vec<String>>| {
        let followed = |before: Vec<String>| form.draft.with(|draft| draft.following(&before));
        if let Some(draft) = before.and_then(followed) {
            form.draft.set(draft);
        }
        form.draft.with(Draft::called)
    });
}

/// Restores what was typed before a reload, then keeps every change.
fn keep_while_typing(form: Form, first: Draft, key: StoredValue<String>) {
    let toasts = toasts();
    Effect::new(move |awake: Option<()>| {
        let draft = form.draft.get();
        let key = key.get_value();
        if awake.is_some() {
            return if draft == first {
                keep::forget(&key)
            } else {
                keep::keep(&key, &draft)
            };
        }
        if let Some(kept) = keep::kept(&key, &draft).filter(|kept| *kept != draft) {
            form.draft.set(kept);
            let first = first.clone();
            toasts.say_with_undo("Your draft is back as you left it", move || {
                form.draft.set(first.clone())
            });
        }
    });
}

fn focus_problems() {
    request_animation_frame(|| {
        use wasm_bindgen::JsCast;
        let found = document()
            .get_element_by_id("problems")
            .and_then(|it| it.dyn_into::<web_sys::HtmlElement>().ok());
        if let Some(problems) = found {
            // Focus fails only where the list left the page meanwhile.
            let _ = problems.focus();
        }
    });
}

/// The id of the control an event came from.
fn id_of(event: &impl AsRef<web_sys::Event>) -> String {
    use wasm_bindgen::JsCast;
    let target = event
        .as_ref()
        .target()
        .and_then(|target| target.dyn_into::<web_sys::Element>().ok());
    target.map(|element| element.id()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drafts_of_different_starts_are_kept_apart() {
        let clone = Start {
            from: Some("abc".into()),
            ..Start::default()
        };
        let exercise = Start {
            preset: Some("exercise".into()),
            ..Start::default()
        };
        assert_ne!(clone.key(), exercise.key());
        assert_ne!(exercise.key(), Start::default().key());
    }
}
