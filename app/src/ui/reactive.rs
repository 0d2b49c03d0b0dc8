//! What reacts to change, behind one type for each value: the browser's module has the machinery once for all closures that
//! give the same.

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
