//! A chart as a table.

use leptos::prelude::*;

use crate::chart::{Chart, Fill, Mark};
use crate::ui::erased::Erase;
use crate::ui::format;
use crate::ui::html::{Html, heads, html, table};

/// The chart as a table: for reading aloud, for copying. While it is closed nobody sees it change.
#[component]
pub(super) fn ChartTable(chart: Signal<Chart>) -> impl IntoView {
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
