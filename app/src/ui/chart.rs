//! A chart on a page: the picture that the server sent, the live chart that takes its place, the handle of the SLO line,
//! the notes, and the table that says the same.

mod follow; // colours and size
mod table; // the same in numbers

use crate::ui::erased::{Erase, shared};
use crate::ui::reactive::{derived, effect, memo};
use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::JsValue;

use crate::axis::Axis;
use crate::chart::{Chart, Over};
use crate::figure::figure;
use crate::figure_svg::{over as drawn_over, picture};
use crate::plotly;
use crate::ui::browser_only::BrowserOnly;
use crate::ui::html::{Html, html};
use crate::url_state::range;
use follow::{follow_size, follow_theme, printed};
use table::ChartTable;
pub use table::numbers;

/// What a dragged SLO line does.
#[derive(Clone, Copy)]
pub struct Drag {
    /// A person is about to drag: what it takes may be fetched.
    pub begin: Callback<()>,
    /// The line is now here, on the vertical axis.
    pub to: Callback<f64>,
    /// Whether a pointer holds the line.
    pub held: RwSignal<bool>,
}

/// A part of the horizontal and of the vertical axis, where a person dragged one out; both `None` to see all again.
pub type Part = [Option<(f64, f64)>; 2];

/// A chart.
#[component]
pub fn ChartView(
    /// What it shows.
    #[prop(into)]
    chart: Signal<Chart>,
    /// What lies over the curves, where that changes more often than the rest; else the chart's own.
    #[prop(optional_no_strip)]
    over: Option<Memo<Over>>,
    /// Drawn by plotly once the browser is awake; else it stays a picture.
    #[prop(optional)]
    live: bool,
    /// What dragging the SLO line does; without it, the line cannot be dragged.
    #[prop(optional_no_strip)]
    drag: Option<Drag>,
    /// What a click on a point does.
    #[prop(optional_no_strip)]
    open: Option<Callback<String>>,
    /// What it does that a person zooms. The chart must then show that part.
    #[prop(optional_no_strip)]
    zoom: Option<Callback<Part>>,
) -> impl IntoView {
    let node = NodeRef::<html::Div>::new();
    let drawn = RwSignal::new(false);
    if live {
        let held = drag.map(|drag| drag.held);
        draw_with_plotly(chart, node, drawn, zoom, held, open);
    }
    let over = over.unwrap_or_else(|| memo(move || chart.with(|chart| chart.over.clone())));
    let axis = memo(move || chart.with(|chart| chart.y.clone()));
    let lines = move || over.with(|over| chart.with(|chart| drawn_over(over, chart, live)));
    // Behind the live chart the picture only keeps the place, until it is printed.
    let printed = printed();
    let still = move || {
        printed.track();
        if drawn.get() {
            chart.with_untracked(|chart| picture(chart, live))
        } else {
            chart.with(|chart| picture(chart, live))
        }
    };
    view! {
        <div
            class="plot"
            class:awake=move || drawn.get()
            tabindex=live.then_some("0")
            role=live.then_some("application")
            aria-label=live.then_some("Points of the chart: left and right step along a curve, up and down change it, Enter opens a point")
        >
            <div class="picture" inner_html=still></div>
            <div class="canvas" node_ref=node></div>
            <div class="overlay">
                <div class="over" inner_html=lines></div>
                {shared(move || limit_label(over, axis, drag))}
            </div>
        </div>
        {live.then(|| view! { <p class="readout small" role="status"></p> })}
        <Notes chart />
        <ChartTable chart />
    }
    .erased()
}

/// The SLO line's value at its end: a handle where it can be dragged.
fn limit_label(over: Memo<Over>, axis: Memo<Axis>, drag: Option<Drag>) -> AnyView {
    let has_limit = memo(move || over.with(|over| over.limit.is_some()));
    if !has_limit.get() {
        return ().erased();
    }
    let value =
        memo(move || over.with(|over| over.limit.as_ref().map_or(0.0, |limit| limit.value)));
    let text = memo(move || {
        let text = |over: &Over| over.limit.as_ref().map(|limit| limit.text.clone());
        over.with(text).unwrap_or_default()
    });
    let place = move || {
        format!(
            "{:.2}%",
            (1.0 - axis.with(|axis| axis.fraction(value.get()))) * 100.0
        )
    };
    let outside = move || !(-0.001..=1.001).contains(&axis.with(|axis| axis.fraction(value.get())));
    match drag {
        None => view! {
            <span class="limit" style:top=place hidden=outside>
                {text}
            </span>
        }
        .erased(),
        Some(drag) => {
            view! { <Handle axis value text drag place=derived(place) outside=derived(outside) /> }
                .erased()
        }
    }
}

/// The handle: dragged with the pointer, moved with the arrow keys.
#[component]
fn Handle(
    axis: Memo<Axis>,
    value: Memo<f64>,
    text: Memo<String>,
    drag: Drag,
    place: Signal<String>,
    outside: Signal<bool>,
) -> impl IntoView {
    let held = drag.held;
    let node = NodeRef::<html::Div>::new();
    let down = move |event: ev::PointerEvent| {
        event.prevent_default();
        if let Some(handle) = node.get_untracked() {
            // Without capture the line still follows while the pointer is over the handle.
            let _ = handle.set_pointer_capture(event.pointer_id());
            let _ = handle.focus();
        }
        held.set(true);
        drag.begin.run(());
    };
    let moved = move |event: ev::PointerEvent| {
        if let (true, Some(at)) = (
            held.get_untracked(),
            node.get_untracked()
                .and_then(|handle| height_at(&handle, event.client_y())),
        ) {
            drag.to
                .run(axis.with_untracked(|axis| rounded(axis.at(at))));
        }
    };
    let key = move |event: ev::KeyboardEvent| {
        let by = |factor| stepped(value.get_untracked(), factor);
        let end = |at| axis.with_untracked(|axis| rounded(axis.at(at)));
        let to = match event.key().as_str() {
            "ArrowUp" | "ArrowRight" => by(1.05),
            "ArrowDown" | "ArrowLeft" => by(1.0 / 1.05),
            "PageUp" => by(1.5),
            "PageDown" => by(1.0 / 1.5),
            "Home" => end(LOWEST),
            "End" => end(HIGHEST),
            _ => return,
        };
        event.prevent_default();
        drag.begin.run(());
        drag.to.run(to.clamp(0.001, LOOSEST_MS));
    };
    view! {
        <div
            class="limit handle"
            node_ref=node
            role="slider"
            tabindex="0"
            aria-orientation="vertical"
            aria-label="SLO line"
            aria-valuemin="0"
            aria-valuemax=move || axis.with(|axis| axis.top().ceil().to_string())
            aria-valuenow=move || value.get().to_string()
            aria-valuetext=text
            title="Drag, or use the arrow keys, to try another SLO"
            style:top=place
            hidden=outside
            on:pointerdown=down
            on:pointermove=moved
            on:pointerup=move |_| held.set(false)
            on:pointercancel=move |_| held.set(false)
            on:pointerenter=move |_| drag.begin.run(())
            on:keydown=key
        >
            <span class="said">{text}</span>
            <span aria-hidden="true">" ≡"</span>
        </div>
    }
    .erased()
}

/// Where a pointer is on the plot's height, 0 at the bottom, 1 at the top, kept within the plot.
fn height_at(handle: &web_sys::HtmlElement, client_y: i32) -> Option<f64> {
    let area = handle.parent_element()?.get_bounding_client_rect();
    let fraction = 1.0 - (f64::from(client_y) - area.top()) / area.height();
    fraction
        .is_finite()
        .then(|| fraction.clamp(LOWEST, HIGHEST))
}

/// How low and how high on the plot the line is moved.
const LOWEST: f64 = 0.005;
const HIGHEST: f64 = 0.98;
/// The loosest bound that an SLO may have: a day.
const LOOSEST_MS: f64 = 86_400_000.0;

/// Two significant digits: nobody promises 487.3 ms.
fn rounded(value: f64) -> f64 {
    if value <= 0.0 {
        return 1.0;
    }
    let step = 10f64.powf(value.log10().floor() - 1.0);
    ((value / step).round() * step * 1000.0).round() / 1000.0
}

/// One step of the keyboard: at least as far as the rounding goes.
fn stepped(value: f64, factor: f64) -> f64 {
    let next = rounded(value * factor);
    if next != value {
        return next;
    }
    let step = 10f64.powf(value.max(1e-9).log10().floor() - 1.0);
    rounded(if factor > 1.0 {
        value + step
    } else {
        value - step
    })
}

/// Lets plotly draw into `node` whenever chart, theme or size change, at most once a frame.
fn draw_with_plotly(
    chart: Signal<Chart>,
    node: NodeRef<html::Div>,
    drawn: RwSignal<bool>,
    zoom: Option<Callback<Part>>,
    held: Option<RwSignal<bool>>,
    open: Option<Callback<String>>,
) {
    let theme = RwSignal::new(0_u32);
    let ready = RwSignal::new(false);
    let waiting = StoredValue::new(false);
    let last = StoredValue::new(String::new());
    let listeners = BrowserOnly::new(Vec::<plotly::Listener>::new);
    follow_theme(theme);
    effect(move || {
        if node.get().is_some() {
            // Without plotly.js the picture stays, and stays true: it is drawn from the same chart.
            spawn_local(async move {
                let loaded = plotly::load().await.is_ok();
                ready.try_set(loaded);
            });
        }
    });
    effect(move || {
        theme.track();
        chart.track();
        // What a dragged line changes in the curves (their words under the pointer) can wait until it is let go.
        let held = held.is_some_and(|held| held.get()) && drawn.get_untracked();
        if held || !ready.get() || waiting.get_value() {
            return;
        }
        waiting.set_value(true);
        request_animation_frame(move || {
            if waiting.try_set_value(false).is_some() {
                return;
            }
            let Some(element) = node.get_untracked() else {
                return;
            };
            let figure = chart.with_untracked(|chart| figure(chart, &plotly::palette()));
            if last.with_value(|last| *last == figure) {
                return;
            }
            spawn_local(async move {
                if plotly::react(&element, &figure).await.is_err() {
                    return;
                }
                last.try_set_value(figure);
                if drawn.try_get_untracked() == Some(false) {
                    drawn.set(true);
                    listeners.set(listen(&element, chart, zoom, open));
                }
            });
        });
    });
    follow_size(node, drawn);
    on_cleanup(move || {
        if let Some(element) = node.try_get_untracked().flatten() {
            // What was never drawn needs no purge.
            let _ = plotly::purge(&element);
        }
    });
}

/// Tells what a person zoomed into, and opens the point that is clicked.
fn listen(
    element: &web_sys::HtmlElement,
    chart: Signal<Chart>,
    zoom: Option<Callback<Part>>,
    open: Option<Callback<String>>,
) -> Vec<plotly::Listener> {
    let drawn = element.clone();
    let zoomed = zoom.map(|zoom| {
        plotly::on(element, "plotly_relayout", move |event| {
            let part = zoomed(&drawn, chart, &event);
            if part != [None; 2] {
                zoom.try_run(part);
            }
        })
    });
    let whole = zoom.map(|zoom| {
        plotly::on(element, "plotly_doubleclick", move |_| {
            zoom.try_run([None; 2]);
        })
    });
    let clicked = open.map(|open| {
        plotly::on(element, "plotly_click", move |event| {
            if let Some(id) = plotly::clicked(&event) {
                open.try_run(id);
            }
        })
    });
    [zoomed, whole, clicked]
        .into_iter()
        .flatten()
        .flatten()
        .collect()
}

/// The ends of those axes that this event moved, as they are drawn now.
fn zoomed(element: &web_sys::HtmlElement, chart: Signal<Chart>, event: &JsValue) -> Part {
    let logs = chart.try_with_untracked(|chart| [chart.x.log, chart.y.log]);
    let [across, up] = logs.unwrap_or_default();
    let part = |name, log| {
        let (lo, hi) = plotly::moved_range(element, name, event)?;
        let end = |end: f64| if log { 10f64.powf(end) } else { end };
        range(end(lo), end(hi))
    };
    [part("xaxis", across), part("yaxis", up)]
}

/// What a reader must know to read the chart.
#[component]
fn Notes(chart: Signal<Chart>) -> impl IntoView {
    let notes = move || {
        chart.with(|chart| {
            chart
                .notes
                .iter()
                .map(|note| html!("<li>{}</li>", note))
                .collect::<Html>()
                .into_string()
        })
    };
    view! { <ul class="chart-notes" inner_html=notes></ul> }.erased()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dragged_line_stops_at_round_values() {
        for (value, expected) in [
            (487.3, 490.0),
            (52.4, 52.0),
            (1234.0, 1200.0),
            (0.0, 1.0),
            (3.12, 3.1),
        ] {
            assert_eq!(rounded(value), expected);
        }
    }

    #[test]
    fn each_key_moves_the_line() {
        for value in [10.0, 11.0, 50.0, 500.0, 990.0] {
            assert!(stepped(value, 1.05) > value, "{value}");
            assert!(stepped(value, 1.0 / 1.05) < value, "{value}");
        }
    }
}
