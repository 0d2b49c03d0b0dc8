//! Keeps the draft in the browser's session, so that a reload loses nothing.

use leptos::prelude::*;

use super::draft::Draft;

fn storage() -> Option<web_sys::Storage> {
    window().session_storage().ok().flatten()
}

/// The draft that was typed under this key before, if any.
pub fn kept(key: &str) -> Option<Draft> {
    let text = storage()?.get_item(key).ok().flatten()?;
    serde_json::from_str(&text).ok()
}

/// Keeps a draft. A browser that refuses storage keeps nothing, and the form still works.
pub fn keep(key: &str, draft: &Draft) {
    if let (Some(storage), Ok(text)) = (storage(), serde_json::to_string(draft)) {
        let _ = storage.set_item(key, &text);
    }
}

/// Forgets the draft.
pub fn forget(key: &str) {
    if let Some(storage) = storage() {
        let _ = storage.remove_item(key);
    }
}
