//! What a page reads of the world before it shows anything: fetched while the server renders, kept in the page, fetched
//! anew when what it depends on changes.
//!
//! Of what is read, and of what it depends on, the machinery knows nothing, so that the browser's module has it once.

use std::any::Any;
use std::convert::Infallible;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;

use leptos::prelude::*;
use leptos::server::codee::{Decoder, Encoder};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::api::Answer;
use crate::browser::read_json;
use crate::pages::ErrorView;
use crate::studio::StudioError;
use crate::ui::erased::Erase;

/// What may be read: the server writes it, the browser reads it.
pub trait Readable: Serialize + DeserializeOwned + Clone + Send + Sync + 'static {}

impl<T: Serialize + DeserializeOwned + Clone + Send + Sync + 'static> Readable for T {}

/// Something read of the world, or to be read.
pub struct Reading<T> {
    kept: Resource<Kept, InPage>,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for Reading<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Reading<T> {}

impl<T: Readable> Reading<T> {
    /// Reads, and reads again when `source` changes.
    pub fn new<S, F>(
        source: impl Fn() -> S + Send + Sync + 'static,
        fetch: impl Fn(S) -> F + Send + Sync + 'static,
    ) -> Self
    where
        S: Clone + PartialEq + Send + Sync + 'static,
        F: Future<Output = Answer<T>> + Send + 'static,
    {
        let fetch = Arc::new(fetch);
        let source = Box::new(move || Source(Arc::new(source())));
        let fetch = Box::new(move |Source(source): Source| {
            let source = as_any(&*source).downcast_ref::<S>().cloned();
            let answer = source.map(|source| fetch(source));
            let fetched: Fetched = Box::pin(async move {
                let answer = match answer {
                    Some(answer) => answer.await,
                    None => Err(StudioError::Internal),
                };
                Kept::Value(Arc::new(answer))
            });
            fetched
        });
        let kept = kept(source, fetch);
        Self {
            kept,
            of: PhantomData,
        }
    }

    /// A page that is `waiting` until it shows what was read, or why nothing could be.
    pub fn page(
        self,
        waiting: &'static str,
        show: impl Fn(T) -> AnyView + Send + Sync + 'static,
    ) -> AnyView {
        page(self.kept, waiting, shower(show))
    }
}

/// What was read, as a view.
type Show = Arc<dyn Fn(&Kept) -> AnyView + Send + Sync>;

fn shower<T: Readable>(show: impl Fn(T) -> AnyView + Send + Sync + 'static) -> Show {
    Arc::new(move |kept| match kept.answer() {
        Ok(value) => show(value),
        Err(error) => view! { <ErrorView error /> }.erased(),
    })
}

fn page(kept: Resource<Kept, InPage>, waiting: &'static str, show: Show) -> AnyView {
    view! {
        <Suspense fallback=move || view! { <p class="page muted">{waiting}</p> }>
            {suspended(kept, show.clone())}
        </Suspense>
    }
    .erased()
}

fn suspended(kept: Resource<Kept, InPage>, show: Show) -> impl Fn() -> Suspend<AnyView> {
    move || {
        let show = show.clone();
        Suspend::new(async move { show(&kept.await) })
    }
}

type Fetched = Pin<Box<dyn Future<Output = Kept> + Send>>;

fn kept(
    source: Box<dyn Fn() -> Source + Send + Sync>,
    fetch: Box<dyn Fn(Source) -> Fetched + Send + Sync>,
) -> Resource<Kept, InPage> {
    Resource::new_with_options(source, fetch, false)
}

/// What a reading depends on.
#[derive(Clone)]
struct Source(Arc<dyn Same>);

impl PartialEq for Source {
    fn eq(&self, other: &Self) -> bool {
        self.0.same(as_any(&*other.0))
    }
}

trait Same: Any + Send + Sync {
    fn same(&self, other: &dyn Any) -> bool;
}

impl<S: PartialEq + Send + Sync + 'static> Same for S {
    fn same(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }
}

fn as_any(source: &dyn Same) -> &dyn Any {
    source
}

/// What was read: as the server wrote it into the page, or as it was fetched.
#[derive(Clone)]
enum Kept {
    Text(Arc<str>),
    Value(Arc<dyn Value>),
}

trait Value: Any + Send + Sync {
    #[cfg(feature = "ssr")]
    fn json(&self) -> String;
}

impl<T: Readable> Value for Answer<T> {
    #[cfg(feature = "ssr")]
    fn json(&self) -> String {
        crate::browser::write_json(self)
    }
}

impl Kept {
    fn answer<T: Readable>(&self) -> Answer<T> {
        match self {
            Self::Text(text) => read_json(text).unwrap_or_else(|_| Err(StudioError::estranged())),
            Self::Value(value) => {
                let value: &dyn Any = &**value;
                value
                    .downcast_ref::<Answer<T>>()
                    .cloned()
                    .unwrap_or(Err(StudioError::Internal))
            }
        }
    }
}

/// JSON in pages.
struct InPage;

impl Encoder<Kept> for InPage {
    type Error = Infallible;
    type Encoded = String;

    fn encode(kept: &Kept) -> Result<String, Infallible> {
        Ok(match kept {
            Kept::Text(text) => text.as_ref().to_owned(),
            #[cfg(feature = "ssr")]
            Kept::Value(value) => value.json(),
            // Only the server writes pages.
            #[cfg(not(feature = "ssr"))]
            Kept::Value(_) => String::new(),
        })
    }
}

impl Decoder<Kept> for InPage {
    type Error = Infallible;
    type Encoded = str;

    fn decode(text: &str) -> Result<Kept, Infallible> {
        Ok(Kept::Text(text.into()))
    }
}
