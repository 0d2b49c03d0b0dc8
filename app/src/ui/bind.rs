//! Two-way binding of a control to one field of a draft.

use leptos::html;
use leptos::prelude::*;

/// A value that a control shows, and what happens when a person changes it.
pub struct Bind<T: Send + Sync + 'static> {
    /// What is shown.
    pub get: Signal<T>,
    /// What to do with a new value.
    pub set: Callback<T>,
}

impl<T: Send + Sync + 'static> Clone for Bind<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Send + Sync + 'static> Copy for Bind<T> {}

impl<T: Clone + PartialEq + Send + Sync + 'static> Bind<T> {
    /// Binds by a reader and a writer; the control is redrawn only when what the reader returns changes.
    pub fn new(
        get: impl Fn() -> T + Send + Sync + 'static,
        set: impl Fn(T) + Send + Sync + 'static,
    ) -> Self {
        Self::boxed(Box::new(get), Box::new(set))
    }

    /// One copy of the machinery for each type, not for each closure: a form has some fifty of them.
    fn boxed(get: Box<dyn Fn() -> T + Send + Sync>, set: Box<dyn Fn(T) + Send + Sync>) -> Self {
        Self {
            get: Memo::new(move |_| get()).into(),
            set: Callback::new(set),
        }
    }

    /// Binds a whole signal.
    pub fn signal(signal: RwSignal<T>) -> Self {
        Self::new(move || signal.get(), move |value| signal.set(value))
    }
}

/// Binds a field of a draft in a signal: `bind!(draft, |d| d.engine.url)`. Writing a field that is gone does nothing.
macro_rules! bind {
    ($draft:expr, |$it:ident| $($field:tt)+) => {{
        let draft = $draft;
        $crate::ui::bind::Bind::new(
            move || draft.with(|$it| $($field)+.clone()),
            move |value| draft.update(|$it| $($field)+ = value),
        )
    }};
}
pub(crate) use bind;

/// Keeps an input and its value together. What a person typed before the page woke up wins over the page's own value.
pub(crate) fn follow_input(node: NodeRef<html::Input>, bind: Bind<String>) {
    Effect::new(move |awake: Option<bool>| {
        let value = bind.get.get();
        let Some(input) = node.get() else {
            return awake.unwrap_or(false);
        };
        if awake != Some(true) && input.value() != input.default_value() {
            bind.set.run(input.value());
        } else if input.value() != value {
            input.set_value(&value);
        }
        true
    });
}

/// The same for a text area.
pub(crate) fn follow_area(node: NodeRef<html::Textarea>, bind: Bind<String>) {
    Effect::new(move |awake: Option<bool>| {
        let value = bind.get.get();
        let Some(area) = node.get() else {
            return awake.unwrap_or(false);
        };
        if awake != Some(true)
            && area
                .default_value()
                .is_ok_and(|given| given != area.value())
        {
            bind.set.run(area.value());
        } else if area.value() != value {
            area.set_value(&value);
        }
        true
    });
}
