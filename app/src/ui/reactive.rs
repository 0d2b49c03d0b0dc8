//! What reacts to change, behind one type for each value: the browser's module has the machinery once for all closures that
//! give the same.

use std::time::Duration;

use leptos::prelude::*;

/// A value that is found anew when what it is made of changes, and told on only when it is another.
pub fn memo<T: PartialEq + Send + Sync + 'static>(
    value: impl Fn() -> T + Send + Sync + 'static,
) -> Memo<T> {
    fn boxed<T: PartialEq + Send + Sync + 'static>(
        value: Box<dyn Fn() -> T + Send + Sync>,
    ) -> Memo<T> {
        Memo::new(move |_| value())
    }
    boxed(Box::new(value))
}

/// A value that is found anew whenever it is asked for.
pub fn derived<T: Send + Sync + 'static>(
    value: impl Fn() -> T + Send + Sync + 'static,
) -> Signal<T> {
    fn boxed<T: Send + Sync + 'static>(value: Box<dyn Fn() -> T + Send + Sync>) -> Signal<T> {
        Signal::derive(value)
    }
    boxed(Box::new(value))
}

/// Something to be done in the browser, now and whenever what it reads changes.
pub fn effect(run: impl FnMut() + 'static) {
    fn boxed(mut run: Box<dyn FnMut()>) {
        Effect::new(move |_: Option<()>| run());
    }
    boxed(Box::new(run));
}

/// What a memo gives, once it has given nothing else for a moment: for what would be too much to do while it changes with
/// every frame.
pub fn rested<T: Clone + PartialEq + Send + Sync + 'static>(
    source: Memo<T>,
    moment: Duration,
) -> RwSignal<T> {
    let rested = RwSignal::new(source.get_untracked());
    let changes = StoredValue::new(0_u32);
    effect(move || {
        source.track();
        changes.update_value(|count| *count += 1);
        let this = changes.get_value();
        let show = move || {
            let now = source.try_get_untracked();
            if let (true, Some(now)) = (changes.try_get_value() == Some(this), now)
                && rested.with_untracked(|before| *before != now)
            {
                rested.set(now);
            }
        };
        // The first time nothing has changed.
        if 1 < this {
            set_timeout(show, moment);
        }
    });
    rested
}
