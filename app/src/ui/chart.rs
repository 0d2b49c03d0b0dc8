//! A chart on a page: the picture that the server sent, the live chart that takes its place, the handle of the SLO line,
//! the notes, and the table that says the same.

mod follow; // colours and size

use crate::ui::erased::{Erase, shared};
use crate::ui::reactive::{derived, effect, memo};
use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::axis::Axis;
use crate::chart::{Chart, Fill, Mark};
use crate::figure::figure;
use crate::figure_svg::picture;
use crate::plotly;
use crate::ui::browser_only::BrowserOnly;
use crate::ui::format;
use crate::ui::html::{Html, heads, html, table};
use follow::{follow_size, follow_theme};

/// What a dragged SLO line does.
#[derive(Clone, Copy)]
pub struct Drag {
    /// A person is about to drag: what it takes may be fetched.
    pub begin: Callback<()>,
    /// The line is now here, on the vertical axis.
    pub to: Callback<f64>,
}

/// A chart.
#[component]
pub fn ChartView(
    /// What it shows.
    #[prop(into)]
    chart: Signal<Chart>,
    /// Drawn by plotly once the browser is awake; else it stays a picture.
    #[prop(optional)]
    live: bool,
    /// What dragging the SLO line does; without it, the line cannot be dragged.
    #[prop(optional_no_strip)]
    drag: Option<Drag>,
    /// What a click on a point does.
    #[prop(optional_no_strip)]
    open: Option<Callback<String>>,
) -> impl IntoView {
    let node = NodeRef::<html::Div>::new();
    let drawn = RwSignal::new(false);
    let zoom = RwSignal::new(None::<(f64, f64)>);
    if live {
        draw_with_plotly(chart, node, drawn, zoom, open);
    }
    let axis = memo(move || {
        let axis = chart.with(|chart| chart.y.clone());
        match zoom.get() {
            Some((lo, hi)) => axis.zoomed(lo, hi),
            None => axis,
        }
    });
    // Behind the live chart the picture only keeps the place.
    let still = move || {
        if drawn.get() {
            chart.with_untracked(picture)
        } else {
            chart.with(picture)
        }
    };
    view! {
        <div class="plot" class:awake=move || drawn.get()>
            <div class="picture" inner_html=still></div>
            <div class="canvas" node_ref=node></div>
            <div class="overlay">{shared(move || limit_label(chart, axis, drag))}</div>
        </div>
        <Notes chart />
        <ChartTable chart />
    }
    .erased()
}

/// The SLO line's value at its end: a handle where it can be dragged.
fn limit_label(chart: Signal<Chart>, axis: Memo<Axis>, drag: Option<Drag>) -> AnyView {
    let has_limit = memo(move || chart.with(|chart| chart.limit.is_some()));
    if !has_limit.get() {
        return ().erased();
    }
    let value =
        memo(move || chart.with(|chart| chart.limit.as_ref().map_or(0.0, |limit| limit.value)));
    let text = memo(move || {
        chart.with(|chart| {
            chart
                .limit
                .as_ref()
                .map(|limit| limit.text.clone())
                .unwrap_or_default()
        })
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
    let held = RwSignal::new(false);
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
        let factor = match event.key().as_str() {
            "ArrowUp" | "ArrowRight" => 1.05,
            "ArrowDown" | "ArrowLeft" => 1.0 / 1.05,
            "PageUp" => 1.5,
            "PageDown" => 1.0 / 1.5,
            _ => return,
        };
        event.prevent_default();
        drag.begin.run(());
        drag.to.run(stepped(value.get_untracked(), factor));
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
            {text}
            <span aria-hidden="true">" ≡"</span>
        </div>
    }
    .erased()
}

/// Where a pointer is on the plot's height, 0 at the bottom, 1 at the top, kept within the plot.
fn height_at(handle: &web_sys::HtmlElement, client_y: i32) -> Option<f64> {
    let area = handle.parent_element()?.get_bounding_client_rect();
    let fraction = 1.0 - (f64::from(client_y) - area.top()) / area.height();
    fraction.is_finite().then(|| fraction.clamp(0.005, 0.98))
}

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
    zoom: RwSignal<Option<(f64, f64)>>,
    open: Option<Callback<String>>,
) {
    let theme = RwSignal::new(0_u32);
    let ready = RwSignal::new(false);
    let waiting = StoredValue::new(false);
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
        if !ready.get() || waiting.get_value() {
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
            spawn_local(async move {
                if plotly::react(&element, &figure).await.is_err() {
                    return;
                }
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

/// Keeps the handle on the line while a person zooms, and opens the point that is clicked.
fn listen(
    element: &web_sys::HtmlElement,
    chart: Signal<Chart>,
    zoom: RwSignal<Option<(f64, f64)>>,
    open: Option<Callback<String>>,
) -> Vec<plotly::Listener> {
    let drawn = element.clone();
    let zoomed = plotly::on(element, "plotly_relayout", move |_| {
        let log = chart
            .try_with_untracked(|chart| chart.y.log)
            .unwrap_or_default();
        let range = plotly::shown_range(&drawn).map(|(lo, hi)| {
            if log {
                (10f64.powf(lo), 10f64.powf(hi))
            } else {
                (lo, hi)
            }
        });
        zoom.try_set(range);
    });
    let clicked = open.map(|open| {
        plotly::on(element, "plotly_click", move |event| {
            if let Some(id) = plotly::clicked(&event) {
                open.try_run(id);
            }
        })
    });
    [Some(zoomed), clicked]
        .into_iter()
        .flatten()
        .flatten()
        .collect()
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

/// The chart as a table: for reading aloud, for copying. While it is closed nobody sees it change.
#[component]
fn ChartTable(chart: Signal<Chart>) -> impl IntoView {
    let open = RwSignal::new(false);
    let text = move || {
        if open.get() {
            chart.with(numbers)
        } else {
            chart.with_untracked(numbers)
        }
    };
    let toggled = move |event| {
        let details: web_sys::Element = event_target(&event);
        open.set(details.has_attribute("open"));
    };
    view! {
        <details class="chart-table" on:toggle=toggled>
            <summary>"The numbers of this chart"</summary>
            <div class="scroll-x" tabindex="0" inner_html=move || text().into_string()></div>
        </details>
    }
    .erased()
}

/// The numbers of a chart as a table.
pub fn numbers(chart: &Chart) -> Html {
    let (x, y) = (format!("#{}", chart.x.title), format!("#{}", chart.y.title));
    let heads = heads(["configuration", "level", &x, &y, "#95 % interval", "mark"]);
    let rows = chart
        .lines
        .iter()
        .flat_map(|line| line.marks.iter().map(|mark| row(&line.name, mark)))
        .collect();
    table("", &chart.title, heads, rows)
}

fn row(name: &str, mark: &Mark) -> Html {
    let at_value = mark.glyph().is_none();
    let number = |value: f64| {
        if at_value {
            format::number(value)
        } else {
            "–".into()
        }
    };
    let ends = match (mark.lo, mark.hi) {
        (Some(lo), Some(hi)) if at_value => {
            format!("{}–{}", format::number(lo), format::number(hi))
        }
        (Some(lo), None) if at_value => format!("at least {}", format::number(lo)),
        _ => "–".into(),
    };
    let sign = mark.glyph().unwrap_or(match mark.fill {
        Fill::Solid => "●",
        Fill::Half => "◐ suspect",
        Fill::Hollow => "○ void",
    });
    html!(
        r#"<tr><td>{}</td><td>{}</td><td class="num">{}</td><td class="num">{}</td><td class="num">{}</td><td>{}</td></tr>"#,
        name,
        mark.level.to_string(),
        number(mark.x),
        number(mark.y),
        ends,
        sign
    )
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
