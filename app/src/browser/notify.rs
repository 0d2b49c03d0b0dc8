//! Notifications, as far as the browser lends them.

use js_sys::{Array, Function, Object, Promise, Reflect};
use leptos::prelude::window;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

/// Why nobody is notified, for the person who asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// There are none here.
    #[error(
        "This browser has no notifications for this page (they need https, or this machine's own address)."
    )]
    Missing,
    /// A person, or the browser for them, said no.
    #[error(
        "The browser refuses notifications for this page: allow them in its settings for this site, then press again. The page's title shows the progress meanwhile."
    )]
    Denied,
    /// It was asked, and did not show one.
    #[error("The browser did not show the notification.")]
    Failed,
}

fn class() -> Result<Function, Refused> {
    let found = Reflect::get(&window(), &"Notification".into());
    let class = found.ok().and_then(|it| it.dyn_into().ok());
    class.ok_or(Refused::Missing)
}

/// Asks the person, where they were not asked before. Only to be called on a click.
pub async fn allow() -> Result<(), Refused> {
    let class = class()?;
    let ask: Function = Reflect::get(&class, &"requestPermission".into())
        .ok()
        .and_then(|it| it.dyn_into().ok())
        .ok_or(Refused::Missing)?;
    let asked: Promise = ask
        .call0(&class)
        .ok()
        .and_then(|it| it.dyn_into().ok())
        .ok_or(Refused::Missing)?;
    let answer = JsFuture::from(asked).await;
    let granted = answer.ok().and_then(|it| it.as_string());
    if granted.as_deref() == Some("granted") {
        Ok(())
    } else {
        Err(Refused::Denied)
    }
}

/// Where it is kept that this browser's person asked for them.
const KEY: &str = "goodput-tell";

/// Keeps that, or forgets it. A browser that keeps nothing is asked again after a reload.
pub fn keep(wanted: bool) {
    let Ok(Some(storage)) = window().local_storage() else {
        return;
    };
    let _ = if wanted {
        storage.set_item(KEY, "on")
    } else {
        storage.remove_item(KEY)
    };
}

/// Whether they were asked for, and the browser still allows them.
pub fn is_kept() -> bool {
    let storage = window().local_storage().ok().flatten();
    let kept = storage.and_then(|it| it.get_item(KEY).ok().flatten());
    let allowed = || {
        let class = class().ok()?;
        Reflect::get(&class, &"permission".into()).ok()?.as_string()
    };
    kept.is_some() && allowed().as_deref() == Some("granted")
}

/// Shows one.
pub fn notify(title: &str, body: &str) -> Result<(), Refused> {
    let class = class()?;
    let options = Object::new();
    // Setting fails only on what is no object.
    let _ = Reflect::set(&options, &"body".into(), &body.into());
    let arguments = Array::of2(&JsValue::from_str(title), &options);
    let shown = Reflect::construct(&class, &arguments);
    shown.map(drop).map_err(|_| Refused::Failed)
}
