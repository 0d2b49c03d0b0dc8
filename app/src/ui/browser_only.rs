//! What only the browser can hold: values that belong to its one thread.
//!
//! The server moves a page from thread to thread while it writes it, and ends it on whichever is free. A value of one thread
//! that is dropped on another aborts that page, so the server holds none.

use leptos::prelude::{GetValue, LocalStorage, SetValue, StoredValue};

/// A value kept with the page in the browser, and not at all on the server.
pub struct BrowserOnly<T: 'static>(Option<StoredValue<T, LocalStorage>>);

impl<T> BrowserOnly<T> {
    /// Keeps what `make` gives; the server does not even make it.
    pub fn new(make: impl FnOnce() -> T) -> Self {
        Self(cfg!(feature = "hydrate").then(|| StoredValue::new_local(make())))
    }

    /// Puts another value in its place, unless the page is gone.
    pub fn set(self, value: T) {
        if let Some(kept) = self.0 {
            kept.try_set_value(value);
        }
    }
}

impl<T: Clone> BrowserOnly<T> {
    /// The value; none on the server, and none once the page is gone.
    pub fn get(self) -> Option<T> {
        self.0?.try_get_value()
    }
}

impl<T> Clone for BrowserOnly<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for BrowserOnly<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_holds_nothing_that_belongs_to_a_thread() {
        let owner = leptos::prelude::Owner::new();
        let kept = owner.with(|| BrowserOnly::new(|| std::rc::Rc::new(1)));
        assert_eq!(kept.get(), None);
        // Would panic where anything was kept: the owner ends on another thread.
        assert!(std::thread::spawn(move || drop(owner)).join().is_ok());
    }
}
