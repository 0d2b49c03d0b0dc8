//! What the server draws of the study as it stands, once somebody unfolds it.

use crate::ui::erased::Erase;
use crate::ui::reactive::effect;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::form::Form;
use crate::api::{preview_workload, write_study};
use crate::ui::html::html;
use crate::words;

/// Stands in command lines for the address under which the page was reached.
pub const STUDIO: &str = "{studio}";

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    /// The first requests.
    Sample,
    /// The study in forms that can be copied.
    Written,
}

/// Command lines with the address under which this page was reached.
fn here(written: String) -> String {
    // A page always has one.
    let address = window().location().origin().unwrap_or_default();
    written.replace(STUDIO, &address)
}

/// A fold; while it is open it follows the form.
#[component]
pub fn Later(
    /// The form.
    form: Form,
    /// What it is called.
    what: &'static str,
    /// What is in it.
    ask: Asking,
) -> impl IntoView {
    let open = RwSignal::new(false);
    let drawn = RwSignal::new(String::new());
    let newest = StoredValue::new(0_u32);
    effect(move || {
        if !open.get() {
            return;
        }
        let Ok(spec) = form.spec.get() else {
            return drawn.set(
                html!(r#"<p class="small muted">Something in the form is to be mended first.</p>"#)
                    .into_string(),
            );
        };
        newest.update_value(|number| *number += 1);
        let number = newest.get_value();
        spawn_local(async move {
            let answer = match ask {
                Asking::Sample => preview_workload(spec).await,
                Asking::Written => write_study(spec).await.map(here),
            };
            // An answer to what has changed since is none.
            if newest.try_get_value() == Some(number) {
                drawn.set(answer.unwrap_or_else(|error| {
                    html!(
                        r#"<p class="small problem">{}</p>"#,
                        words::capital(&error.to_string())
                    )
                    .into_string()
                }));
            }
        });
    });
    let toggled = move |event: leptos::ev::Event| {
        open.set(event_target::<web_sys::Element>(&event).has_attribute("open"));
    };
    view! {
        <details class="more" on:toggle=toggled>
            <summary>{what}</summary>
            <div class="stack tight" aria-live="polite" inner_html=move || drawn.get()></div>
        </details>
    }
    .erased()
}
