//! Numbers of a workload, a kind of it at a time.

use std::collections::BTreeMap;

use super::parts::{Control, Field, folded};
use crate::pages::{ROOM, drawn_key};
use crate::ui::html::{Html, html};

/// A number's field: its name behind `workload.` in errors and in the draft, label, keyboard and unit, hint.
type Number = (
    &'static str,
    &'static str,
    &'static str,
    (&'static str, &'static str),
    &'static str,
);

const TOKENS: (&str, &str) = ("numeric", "tokens");
const SECONDS: (&str, &str) = ("decimal", "s");

const SCALE: Number = (
    "scale",
    "scale",
    "Scale",
    ("decimal", ""),
    "Factor on every length; 1 is ShareGPT itself.",
);
const TURNS: Number = (
    "max_turns",
    "max_turns",
    "Most turns",
    ("numeric", ""),
    "1 makes single requests.",
);
const THINK: Number = (
    "think_ms",
    "think",
    "Think time",
    SECONDS,
    "Pause between an answer and the next turn.",
);
const CONTEXT: Number = (
    "max_context",
    "max_context",
    "Most context",
    TOKENS,
    "A session ends before it would exceed it.",
);
const FROM: Number = (
    "start_ms",
    "start",
    "From",
    SECONDS,
    "In the trace's own time.",
);
const WINDOW: Number = (
    "length_ms",
    "length",
    "Window",
    SECONDS,
    "Empty: all the rest.",
);
const MOST: Number = (
    "max_context",
    "most",
    "Most context",
    TOKENS,
    "Longer requests are left out.",
);
const FILTER: [Number; 4] = [
    (
        "filter.min_prompt",
        "min_prompt",
        "Shortest prompt",
        TOKENS,
        "",
    ),
    (
        "filter.min_output",
        "min_output",
        "Shortest answer",
        TOKENS,
        "",
    ),
    (
        "filter.max_prompt",
        "max_prompt",
        "Longest prompt",
        TOKENS,
        "",
    ),
    (
        "filter.max_total",
        "max_total",
        "Longest together",
        TOKENS,
        "",
    ),
];
const OUTPUT: Number = (
    "output_tokens",
    "output_tokens",
    "Output",
    TOKENS,
    "Where a line says nothing.",
);
const OUTPUT_OF_ALL: Number = (
    "output_tokens",
    "output_tokens",
    "Output",
    TOKENS,
    "Of every request; empty for the data set's own.",
);

/// All of them by their keys.
pub fn all() -> BTreeMap<String, String> {
    let used: Html = FILTER.iter().chain([&OUTPUT_OF_ALL]).map(number).collect();
    let used = folded(
        "Which rows are used",
        columns(html!("{}{}", used, repeats())),
    );
    let parts = [
        ("shaped", columns(numbers(&[SCALE, TURNS, THINK, CONTEXT]))),
        (
            "conversations",
            html!("{}{}", columns(numbers(&[TURNS, THINK])), used),
        ),
        (
            "prompts",
            columns(html!("{}{}", number(&OUTPUT), repeats())),
        ),
        ("trace", columns(numbers(&[FROM, WINDOW, MOST]))),
        ("lengths", lengths()),
        ("length", of_a_point()),
    ];
    let parts = parts.into_iter();
    parts
        .map(|(key, drawn)| (drawn_key(key, ""), drawn.into_string()))
        .collect()
}

fn columns(fields: Html) -> Html {
    html!(r#"<div class="columns">{}</div>"#, fields)
}

fn numbers(numbers: &[Number]) -> Html {
    numbers.iter().map(number).collect()
}

fn number((name, place, label, (keyboard, unit), hint): &Number) -> Html {
    let field = Field {
        id: format!("workload.{name}"),
        place: format!("workload.{place}"),
        label,
        hint: html!("{}", *hint),
        control: Control::line(keyboard, ""),
        unit,
        // What a file of prompts asks for has another name.
        also: if *name == "output_tokens" {
            "workload.output"
        } else {
            ""
        },
    };
    field.draw()
}

fn repeats() -> Html {
    let field = Field {
        label: "Too few rows",
        hint: html!("When a point needs more than there are."),
        control: Control::choices(&[("", "Refuse the study"), ("yes", "Use rows again")]),
        ..Field::named("workload.repeats")
    };
    field.draw()
}

/// A distribution of lengths; which of its numbers are shown follows from its kind.
fn lengths() -> Html {
    let one = |name: &str, label, unit, kinds: &str| {
        let field = Field {
            label,
            control: Control::line("decimal", ""),
            unit,
            ..Field::named(&format!("{ROOM}.{name}"))
        };
        html!(r#"<div data-of="{}">{}</div>"#, kinds, field.draw())
    };
    let fields: Html = [
        one("tokens", "Length", "tokens", "fixed"),
        one("min", "Fewest", "tokens", "uniform"),
        one("median", "Median", "tokens", "log_normal"),
        one("sigma", "Sigma of ln", "", "log_normal"),
        one("max", "Most", "tokens", "uniform log_normal"),
    ]
    .into_iter()
    .collect();
    columns(fields)
}

/// How many requests a point has.
fn of_a_point() -> Html {
    let one = |place: &str, label, unit, also| {
        let field = Field {
            place: place.to_owned(),
            label,
            control: Control::line("numeric", ""),
            unit,
            also,
            ..Field::named(&format!("length.{place}"))
        };
        field.draw()
    };
    columns(html!(
        "{}{}{}",
        one("min_requests", "At least", "requests", "length"),
        one("max_requests", "At most", "requests", ""),
        one("seconds", "Time", "s", "")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_numbers() {
        let all = all();
        for (kind, part) in [
            (
                "shaped",
                r#"data-place="workload.think" id="workload.think_ms""#,
            ),
            (
                "conversations",
                r#"data-place="workload.max_total" id="workload.filter.max_total""#,
            ),
            ("prompts", r#"data-also="workload.output""#),
            ("prompts", r#"<option value="yes">Use rows again</option>"#),
            (
                "trace",
                r#"data-place="workload.most" id="workload.max_context""#,
            ),
            ("lengths", r#"<div data-of="uniform log_normal">"#),
            ("lengths", r#"data-place="[#].sigma" id="[#].sigma""#),
            ("length", r#"data-place="seconds" id="length.seconds""#),
        ] {
            let drawn = &all[&drawn_key(kind, "")];
            assert!(drawn.contains(part), "{kind}: {drawn}");
        }
    }
}
