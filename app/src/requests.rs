//! A point's requests, one by one and over time, as its page shows them: drawn by the server from the records, so that browsers get
//! pictures ready-made. Every picture has its numbers in words and as a table.

mod axis; // where times and latencies lie
mod distributions; // ECDF and histogram of each metric
pub(crate) mod drawing; // a picture's frame
mod failures; // what failed, when, and its first words
mod figures; // the figures of the window
mod gantt; // requests as rows
mod heat; // gaps between tokens over time
mod in_flight; // how many at a time
mod one; // one request
mod overview; // the time axis that windows are chosen on
mod part; // a point, and the window of it
mod scatter; // waits against lengths and times
mod view; // what the address says

use std::panic::resume_unwind;

use crate::ui::html::{Html, html};

pub use figures::latencies;
pub use gantt::rows;
pub use one::{Place, page as request};
pub use part::{Given, Part, Requests};
pub use view::View;

/// All that follows from the window: a fragment, drawn anew for each.
pub fn panel(part: &Part<'_>) -> Html {
    let wrong: Html = part
        .view
        .wrong
        .iter()
        .map(|it| html!(r#"<p class="notice" data-tone="warn">{}</p>"#, it))
        .collect();
    if part.inside.is_empty() {
        let nothing = html!(r#"<p>No request was sent in this window.</p>"#);
        return html!("{}{}{}", wrong, overview::overview(part), nothing);
    }
    // Both take a while where there are millions of tokens.
    let (lanes, figures, distributions, failures) = std::thread::scope(|scope| {
        let lanes = scope.spawn(|| lanes(part));
        let summary = part.summary();
        let figures = figures::figures(part, &summary);
        let distributions = distributions::distributions(part, &summary);
        let failures = failures::failures(part, &summary);
        let lanes = lanes.join().unwrap_or_else(|it| resume_unwind(it));
        (lanes, figures, distributions, failures)
    });
    html!(
        "{}{}{}{}{}{}{}",
        wrong,
        overview::overview(part),
        figures,
        lanes,
        distributions,
        scatter::scatter(part),
        failures
    )
}

/// What happened when: every picture on one axis of time.
fn lanes(part: &Part<'_>) -> Html {
    let (from, to) = part.axis;
    html!(
        r#"<section class="stack lanes" aria-labelledby="over-time"><h2 id="over-time">Over time</h2><p class="muted small">All on one axis, {}. {}</p>{}{}{}{}</section>"#,
        part.span_words(),
        "Drag across a picture to choose a window.",
        in_flight::in_flight(part),
        gantt::gantt(part),
        heat::heat(part),
        crate::evidence::tracks(&part.of.tracks, (from.as_millis_f64(), to.as_millis_f64()))
    )
}

/// The script of the page: windows by pointer and by keyboard, and rows as they come into sight. Without it the form and the links do the same.
pub const SCRIPT: &str = include_str!("requests/script.js");

#[cfg(test)]
mod tests;
