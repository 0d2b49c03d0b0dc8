//! Numbers on a page: with their interval, or a dash with the reason why there is none.

use crate::ui::erased::Erase;
use leptos::prelude::*;
use measure::quantile::Estimate;

use super::format;

/// Nothing to show: a dash, with its reason on hover and for screen readers.
#[component]
pub fn Missing(
    /// Why there is no number; a sentence.
    #[prop(into)]
    reason: String,
) -> impl IntoView {
    let title = reason.clone();
    view! {
        <abbr class="missing" title=title>
            <span aria-hidden="true">"–"</span>
            <span class="sr-only">{reason}</span>
        </abbr>
    }
}

/// A number, or a dash with its reason.
#[component]
pub fn Num(
    /// The number.
    value: Option<f64>,
    /// Both ends of its interval, where it has one.
    #[prop(optional)]
    interval: Option<(f64, f64)>,
    /// Why there is none.
    #[prop(into)]
    missing: String,
) -> impl IntoView {
    match (value, interval) {
        (None, _) => view! { <Missing reason=missing /> }.erased(),
        (Some(value), None) => format::number(value).erased(),
        (Some(value), Some((lo, hi))) => format::with_interval(value, Some(lo), Some(hi)).erased(),
    }
}

/// A percentile with its interval, or a dash with its reason.
#[component]
pub fn Latency(
    /// The percentile.
    estimate: Option<Estimate>,
    /// Why there is none.
    #[prop(into)]
    missing: String,
) -> impl IntoView {
    match estimate {
        None => view! { <Missing reason=missing /> }.erased(),
        Some(estimate) => format::latency(&estimate).erased(),
    }
}
