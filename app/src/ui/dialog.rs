//! A modal dialog on the browser's own `<dialog>`: focus stays inside, Escape closes it.

use crate::ui::erased::Erase;
use crate::ui::reactive::effect;
use leptos::html;
use leptos::prelude::*;

/// A dialog that is open while `open` is true.
#[component]
pub fn Dialog(
    /// Open or closed; closing by Escape sets it too.
    open: RwSignal<bool>,
    /// Id of the dialog's heading, which names it.
    #[prop(into)]
    id: String,
    /// The heading.
    #[prop(into)]
    title: String,
    /// What stands in it.
    children: Children,
) -> impl IntoView {
    let node = NodeRef::<html::Dialog>::new();
    effect(move || {
        let wanted = open.get();
        let Some(dialog) = node.get() else { return };
        match (wanted, dialog.open()) {
            // It fails only where the dialog is already open or not in the page: nothing to show then.
            (true, false) => drop(dialog.show_modal()),
            (false, true) => dialog.close(),
            _ => {}
        }
    });
    let heading = id.clone();
    view! {
        <dialog class="dialog" data-keep="" node_ref=node aria-labelledby=id on:close=move |_| open.set(false)>
            <div class="body">
                <h2 id=heading>{title}</h2>
                {children()}
            </div>
        </dialog>
    }
    .erased()
}
