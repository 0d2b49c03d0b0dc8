//! Told when it is done: a notification of the browser, for whoever asked for it with a button.

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::super::Page;
use crate::browser::notify::{Refused, allow, is_kept, keep, notify};
use crate::live::is_live;
use crate::studio::{Hold, StudyState, StudyView};
use crate::ui::badge::study_word;
use crate::ui::erased::{Erase, shared};
use crate::ui::reactive::memo;
use crate::words;

/// What the button has brought about.
const TOLD: &str =
    "This browser tells you when a study is done or waits for you, as long as its page stays open.";

/// The button, and what came of it. The browser is asked on the click, never before.
#[component]
pub fn Bell(page: Page) -> impl IntoView {
    let (wanted, answer) = (RwSignal::new(false), RwSignal::new(String::new()));
    let news = memo(move || page.known.with(news));
    // In the browser alone: the server knows nothing of it.
    Effect::new(move || {
        if is_kept() {
            wanted.set(true);
            answer.set(TOLD.into());
        }
    });
    Effect::new(move |before: Option<Option<String>>| {
        let now = news.get();
        // What it was when the page came is no news.
        if before.is_some_and(|before| before != now) && wanted.get_untracked() {
            let told = now.as_deref().map(|title| {
                let answer = page.known.with_untracked(words::answer);
                notify(title, answer.first().map_or("", String::as_str))
            });
            if let Some(Err(why)) = told {
                answer.set(why.to_string());
            }
        }
        now
    });
    let press = move |_| {
        if wanted.get_untracked() {
            wanted.set(false);
            keep(false);
            return answer.set(String::new());
        }
        spawn_local(async move {
            let allowed: Result<(), Refused> = allow().await;
            wanted.try_set(allowed.is_ok());
            keep(allowed.is_ok());
            answer.try_set(match allowed {
                Ok(()) => TOLD.into(),
                Err(why) => why.to_string(),
            });
        });
    };
    view! {
        <p class="row">
            <button type="button" class="button compact" aria-pressed=move || wanted.get().to_string() on:click=press>
                "Tell me when it is done"
            </button>
            <span class="small muted" role="status">{shared(move || answer.get())}</span>
        </p>
    }
    .erased()
}

/// What is worth a notification: the end, and that it waits for somebody who did not pause it.
fn news(study: &StudyView) -> Option<String> {
    let (name, state) = (&study.spec.name, study.state);
    if state == StudyState::Waiting && study.hold != Hold::Paused {
        return Some(format!("{name} waits for you"));
    }
    (!is_live(state)).then(|| format!("{name}: {}", study_word(state).word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn the_end_is_news_and_a_pause_is_not() {
        let mut study = fixture::study();
        let name = study.spec.name.clone();
        assert_eq!(news(&study), Some(format!("{name}: finished")));
        study.state = StudyState::Running;
        assert_eq!(news(&study), None);
        study.state = StudyState::Waiting;
        assert_eq!(news(&study), Some(format!("{name} waits for you")));
        study.hold = Hold::Paused;
        assert_eq!(news(&study), None);
    }
}
