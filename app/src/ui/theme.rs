//! Light, dark, or as the system says; the choice is kept in the browser.

use crate::ui::erased::Erase;
use leptos::prelude::*;

/// The key of the choice in the browser's storage.
const KEY: &str = "theme";

/// Sets the chosen theme before anything is painted, so that nothing flashes.
pub fn theme_script() -> String {
    format!(
        "try {{ const t = localStorage.getItem({KEY:?}); if (t === 'light' || t === 'dark') document.documentElement.dataset.theme = t; }} catch {{}}"
    )
}

/// What the button of a page without a module does: the same as [`ThemeToggle`].
#[cfg(feature = "ssr")]
pub fn toggle_script() -> String {
    format!(
        "document.querySelector('.theme-toggle').addEventListener('click', () => {{ const root = document.documentElement; const dark = (root.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark'; root.dataset.theme = dark ? 'light' : 'dark'; try {{ localStorage.setItem({KEY:?}, root.dataset.theme); }} catch {{}} }});"
    )
}

/// Turns the theme over and keeps the choice.
#[component]
pub fn ThemeToggle() -> impl IntoView {
    view! {
        <button type="button" class="theme-toggle quiet" aria-label="Switch between light and dark" title="Switch between light and dark" on:click=|_| toggle()>
            "◐"
        </button>
    }
    .erased()
}

fn toggle() {
    let Some(root) = document().document_element() else {
        return;
    };
    let chosen = root.get_attribute("data-theme");
    let dark = match chosen.as_deref() {
        Some(theme) => theme == "dark",
        None => window()
            .match_media("(prefers-color-scheme: dark)")
            .ok()
            .flatten()
            .is_some_and(|query| query.matches()),
    };
    let next = if dark { "light" } else { "dark" };
    // A browser without storage or attributes still shows the page; the choice is then not kept.
    let _ = root.set_attribute("data-theme", next);
    if let Ok(Some(storage)) = window().local_storage() {
        let _ = storage.set_item(KEY, next);
    }
    // Charts paint with the page's colours and must hear of it.
    if let Ok(event) = web_sys::Event::new("themechange") {
        let _ = window().dispatch_event(&event);
    }
}
