//! One section of the form: a line that says what is chosen, and behind it the fields.

use crate::ui::erased::{Erase, shared};
use leptos::prelude::*;

use super::form::{Form, summary_id};

/// A section. It works before the page is awake: `<details>` is the browser's own.
#[component]
pub fn Section(
    /// The form.
    form: Form,
    /// The section's name in [`Form::open`].
    id: &'static str,
    /// Its title.
    title: &'static str,
    /// What is chosen in it.
    #[prop(into)]
    value: Signal<String>,
    /// Its fields.
    children: Children,
) -> impl IntoView {
    let toggled = move |event: leptos::ev::Event| {
        let open = event_target::<web_sys::Element>(&event).has_attribute("open");
        if open != form.open.with_untracked(|all| all.contains(id)) {
            form.open.update(|all| {
                all.remove(id);
                all.extend(open.then_some(id));
            });
        }
    };
    view! {
        <details class="section" open=move || form.open.with(|open| open.contains(id)) on:toggle=toggled>
            <summary id=summary_id(id)>
                <span class="title">{title}</span>
                <span class="value">{shared(move || value.get())}</span>
                {shared(move || wrong(form.errors_in(id)))}
            </summary>
            <div class="fields">{children()}</div>
        </details>
    }
    .erased()
}

fn wrong(errors: usize) -> Option<impl IntoView> {
    (errors > 0).then(|| view! { <span class="wrong">"▲ " {errors} " to mend"</span> })
}
