//! Wakes up the pages that the server rendered: those of one part of the studio.

#![recursion_limit = "256"]

use wasm_bindgen::prelude::wasm_bindgen;

/// Called once by the page, when this module has loaded.
#[wasm_bindgen]
pub fn hydrate() {
    app::say_when_stopped();
    leptos::mount::hydrate_body(app::App);
}
