//! Short messages at the corner, read aloud, with an undo where there is one.

use crate::ui::erased::{Erase, shared};
use std::time::Duration;

use leptos::prelude::*;

/// How long a message stays.
const STAYS: Duration = Duration::from_secs(10);
/// Most messages at once; the oldest goes first.
const MOST: usize = 3;

/// One message.
#[derive(Clone)]
struct Toast {
    id: u32,
    text: String,
    undo: Option<Callback<()>>,
}

/// The messages of the page; get it with [`toasts`].
#[derive(Clone, Copy, Default)]
pub struct Toasts {
    shown: RwSignal<Vec<Toast>>,
    next: StoredValue<u32>,
}

/// The page's messages, where [`Toaster`] stands; else messages that nobody sees.
pub fn toasts() -> Toasts {
    use_context().unwrap_or_default()
}

/// Makes room for messages; call it once, above everything that sends some.
pub fn provide_toasts() {
    provide_context(Toasts::default());
}

impl Toasts {
    /// Says something.
    pub fn say(self, text: impl Into<String>) {
        self.show(text.into(), None);
    }

    /// Says something that can be undone.
    pub fn say_with_undo(self, text: impl Into<String>, undo: impl Fn() + Send + Sync + 'static) {
        self.show(text.into(), Some(Callback::new(move |()| undo())));
    }

    fn show(self, text: String, undo: Option<Callback<()>>) {
        let id = self.next.get_value();
        self.next.set_value(id.wrapping_add(1));
        self.shown.update(|shown| {
            shown.push(Toast { id, text, undo });
            let extra = shown.len().saturating_sub(MOST);
            shown.drain(..extra);
        });
        set_timeout(move || self.dismiss(id), STAYS);
    }

    fn dismiss(self, id: u32) {
        // The page may be gone by the time the message's time is up.
        self.shown
            .try_update(|shown| shown.retain(|toast| toast.id != id));
    }
}

/// Where messages appear. One for the whole page, after the main content.
#[component]
pub fn Toaster() -> impl IntoView {
    let toasts = toasts();
    let message = move |Toast { id, text, undo }| {
        let undo = undo.map(|undo| {
            let press = move |_| {
                undo.run(());
                toasts.dismiss(id);
            };
            view! {
                <button type="button" on:click=press>
                    "Undo"
                </button>
            }
        });
        view! {
            <div class="toast">
                <p>{text}</p>
                {undo}
                <button type="button" aria-label="Dismiss" on:click=move |_| toasts.dismiss(id)>
                    "×"
                </button>
            </div>
        }
    };
    view! {
        <div class="toasts" role="status" aria-live="polite">
            {shared(move || toasts.shown.get().into_iter().map(message).collect_view().erased())}
        </div>
    }
    .erased()
}
