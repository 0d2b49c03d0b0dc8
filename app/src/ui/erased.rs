//! Views behind one type, made to be small.
//!
//! leptos' own `into_any` keeps a second, asynchronous way of waking a view up, which only lazily loaded apps use and
//! which made up an eighth of the browser's module. A view that is [`Erase::erased`] wakes up in one go.

use std::future::Future;
use std::sync::{Arc, Mutex};

use leptos::prelude::{AnyView, IntoAny};
use leptos::tachys::html::attribute::Attribute;
use leptos::tachys::html::attribute::any_attribute::AnyAttribute;
use leptos::tachys::hydration::Cursor;
use leptos::tachys::reactive_graph::SharedReactiveFunction;
use leptos::tachys::ssr::StreamBuilder;
use leptos::tachys::view::add_attr::AddAnyAttr;
use leptos::tachys::view::{Position, PositionState, Render, RenderHtml};

/// Puts a view behind [`AnyView`].
pub trait Erase {
    /// The view, behind one type.
    fn erased(self) -> AnyView;
}

impl<V: RenderHtml> Erase for V {
    fn erased(self) -> AnyView {
        Eager(self).into_any()
    }
}

/// A view that is as it is, but for its `hydrate_async`: that is the trait's own, which hydrates at once.
struct Eager<V>(V);

impl<V: Render> Render for Eager<V> {
    type State = V::State;

    fn build(self) -> Self::State {
        self.0.build()
    }

    fn rebuild(self, state: &mut Self::State) {
        self.0.rebuild(state);
    }
}

impl<V: AddAnyAttr> AddAnyAttr for Eager<V> {
    type Output<A: Attribute> = Eager<V::Output<A>>;

    fn add_any_attr<A: Attribute>(self, attribute: A) -> Self::Output<A>
    where
        Self::Output<A>: RenderHtml,
    {
        Eager(self.0.add_any_attr(attribute))
    }
}

impl<V: RenderHtml> RenderHtml for Eager<V> {
    type AsyncOutput = V::AsyncOutput;
    type Owned = Eager<V::Owned>;

    const MIN_LENGTH: usize = V::MIN_LENGTH;
    const EXISTS: bool = V::EXISTS;

    fn dry_resolve(&mut self) {
        self.0.dry_resolve();
    }

    fn resolve(self) -> impl Future<Output = Self::AsyncOutput> + Send {
        self.0.resolve()
    }

    fn html_len(&self) -> usize {
        self.0.html_len()
    }

    fn to_html_with_buf(
        self,
        buffer: &mut String,
        position: &mut Position,
        escape: bool,
        mark_branches: bool,
        extra: Vec<AnyAttribute>,
    ) {
        self.0
            .to_html_with_buf(buffer, position, escape, mark_branches, extra);
    }

    fn to_html_async_with_buf<const OUT_OF_ORDER: bool>(
        self,
        buffer: &mut StreamBuilder,
        position: &mut Position,
        escape: bool,
        mark_branches: bool,
        extra: Vec<AnyAttribute>,
    ) {
        self.0.to_html_async_with_buf::<OUT_OF_ORDER>(
            buffer,
            position,
            escape,
            mark_branches,
            extra,
        );
    }

    fn hydrate<const FROM_SERVER: bool>(
        self,
        cursor: &Cursor,
        position: &PositionState,
    ) -> Self::State {
        self.0.hydrate::<FROM_SERVER>(cursor, position)
    }

    fn into_owned(self) -> Self::Owned {
        Eager(self.0.into_owned())
    }
}

/// A part of a view that changes, behind one type for all parts that give the same: the browser's module has the code that
/// watches it once, not once for each place.
pub fn shared<T: 'static>(part: impl FnMut() -> T + Send + 'static) -> SharedReactiveFunction<T> {
    Arc::new(Mutex::new(part))
}
