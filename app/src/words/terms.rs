//! Words of the glossary in places where pages use them.

#[cfg(feature = "ssr")]
use measure::slo::Metric;

use crate::ui::html::{Html, html, term};

/// A metric's name as [`crate::ui::html::heads`] takes it, with its place in the glossary.
#[cfg(feature = "ssr")]
pub fn metric_term(metric: Metric) -> &'static str {
    match metric {
        Metric::Ttft => "?TTFT@ttft",
        Metric::Ttfa => "?TTFA@ttfa",
        Metric::ScheduledTtft => "?TTFT@scheduled-ttft from schedule",
        Metric::ScheduledTtfa => "?TTFA@scheduled-ttfa from schedule",
        Metric::ScheduledE2e => "?E2E@scheduled-e2e from schedule",
        Metric::Tpot => "?TPOT@tpot",
        Metric::Itl => "?ITL@itl",
        Metric::Stall => "?stall@stall",
        Metric::E2e => "?E2E@e2e",
    }
}

/// A metric's name under which a page shows it, explained.
#[cfg(feature = "ssr")]
pub fn explained(metric: Metric, name: &str) -> Html {
    let anchor = metric_term(metric).split_once('@').map(|(_, rest)| rest);
    let anchor = anchor.and_then(|it| it.split(' ').next());
    term(name, anchor.unwrap_or_default())
}

/// What open and closed loops are for.
pub fn loops() -> Html {
    html!(
        "An {} shows the latencies that users see; a {} shows peak throughput, {} everything at once.",
        term("open loop", "open-loop"),
        term("closed loop", "closed-loop"),
        term("inf", "rate-inf")
    )
}

/// By what an SLO judges.
pub fn judged() -> Html {
    html!(
        "Judged by {}, and beside it by {}; {} counts only what is good.",
        term("attainment", "attainment"),
        term("percentile", "percentile-verdict"),
        term("goodput", "goodput")
    )
}
