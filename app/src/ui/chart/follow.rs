//! Keeps a drawn chart in the colours and the size of its place.

use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;

use crate::plotly;
use crate::ui::reactive::effect;

/// Counts up whenever the colours may have changed: by the system, or by the page's own switch.
pub(super) fn follow_theme(theme: RwSignal<u32>) {
    let switched =
        window_event_listener_untyped("themechange", move |_| theme.update(|count| *count += 1));
    on_cleanup(move || switched.remove());
    Effect::new(move |_| {
        let query = window()
            .match_media("(prefers-color-scheme: dark)")
            .ok()
            .flatten()?;
        let change = Closure::<dyn Fn()>::new(move || {
            theme.try_update(|count| *count += 1);
        });
        query.set_onchange(Some(change.as_ref().unchecked_ref()));
        Some(Watched {
            query,
            _change: change,
        })
    });
}

/// The system's colour scheme, watched for as long as this is kept.
struct Watched {
    query: web_sys::MediaQueryList,
    _change: Closure<dyn Fn()>,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.query.set_onchange(None);
    }
}

/// Fits the chart to its place. The effect's value keeps the observer for as long as the chart stands.
pub(super) fn follow_size(node: NodeRef<html::Div>, drawn: RwSignal<bool>) {
    Effect::new(move |_| {
        let element = node.get()?;
        let observed = element.clone();
        let resized = Closure::<dyn Fn()>::new(move || {
            if drawn.try_get_untracked() == Some(true) {
                // An element that is hidden just now cannot be fitted; it is when it shows again.
                let _ = plotly::resize(&observed);
            }
        });
        let observer = web_sys::ResizeObserver::new(resized.as_ref().unchecked_ref()).ok()?;
        observer.observe(&element);
        Some(Observed {
            observer,
            _resized: resized,
        })
    });
}

struct Observed {
    observer: web_sys::ResizeObserver,
    _resized: Closure<dyn Fn()>,
}

impl Drop for Observed {
    fn drop(&mut self) {
        self.observer.disconnect();
    }
}

/// Counts up when the page is about to be printed.
pub(super) fn printed() -> RwSignal<u32> {
    let printed = RwSignal::new(0);
    effect(move || {
        let about =
            window_event_listener_untyped("beforeprint", move |_| printed.update(|it| *it += 1));
        on_cleanup(move || about.remove());
    });
    printed
}
