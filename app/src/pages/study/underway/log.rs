//! What the engine says, beside the progress: the end of its log where the studio started it, else why there is none.

use std::time::Duration;

use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::super::Page;
use super::super::controls::id;
use crate::api::engine_log;
use crate::ui::erased::{Erase, shared};
use crate::ui::reactive::effect;

/// So often it is read while somebody looks.
const AGAIN: Duration = Duration::from_secs(3);

/// What is known of the log.
#[derive(Clone, Copy)]
struct Seen {
    open: RwSignal<bool>,
    said: RwSignal<String>,
    why: RwSignal<String>,
}

/// The log, read while it is open and the study lives.
#[component]
pub fn EngineLog(page: Page, live: Memo<bool>) -> impl IntoView {
    let (open, said, why) = (
        RwSignal::new(false),
        RwSignal::new(String::new()),
        RwSignal::new(String::new()),
    );
    let seen = Seen { open, said, why };
    effect(move || {
        if open.get() && live.get() {
            read(page, seen);
        }
    });
    let node = NodeRef::<html::Details>::new();
    let toggle = move |_| open.set(node.get_untracked().is_some_and(|it| it.open()));
    view! {
        <details class="engine-log" node_ref=node on:toggle=toggle>
            <summary>"Engine log"</summary>
            <div class="tail" tabindex="0" role="region" aria-label="The end of the engine's log" hidden=move || said.with(String::is_empty)>
                <pre>{shared(move || said.get())}</pre>
            </div>
            <p class="small muted" hidden=move || why.with(String::is_empty)>{shared(move || why.get())}</p>
        </details>
    }
    .erased()
}

/// Reads it now, and again after a while. What did not change is not drawn anew.
fn read(page: Page, seen: Seen) {
    spawn_local(async move {
        let (said, why) = match engine_log(id(page)).await {
            Ok((true, said)) if said.is_empty() => (said, "It has said nothing yet.".into()),
            Ok((true, said)) => (said, String::new()),
            Ok((false, why)) => (String::new(), why),
            // It is asked again.
            Err(error) => (String::new(), format!("{error}.")),
        };
        for (signal, text) in [(seen.said, said), (seen.why, why)] {
            if signal.try_with_untracked(|it| *it != text) == Some(true) {
                signal.set(text);
            }
        }
        let again = move || {
            let wanted = seen.open.try_get_untracked() == Some(true);
            if wanted
                && page
                    .known
                    .try_with_untracked(|it| crate::live::is_live(it.state))
                    == Some(true)
            {
                read(page, seen);
            }
        };
        set_timeout(again, AGAIN);
    });
}
