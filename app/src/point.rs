//! One point: what happened, then its requests over time and each distribution, then the client's certificate and what follows. Drawn whole by
//! the server: only the window on its requests changes, and that is drawn anew.

mod client; // was the client innocent

use measure::slo::Judgement;
use measure::summary::{Capacity, Summary};

use crate::chart::level_words;
use crate::requests::SCRIPT;
use crate::studio::{PointState, PointView, StudioError, StudyView};
use crate::ui::badge::{INSECURE, SIMULATED, TOY_MODEL, point_word};
use crate::ui::format;
use crate::ui::html::{Html, badge, html, terms};
use crate::words;

/// Where the requests stand in the page: what is before it is sent while they are drawn.
pub const REQUESTS: &str = "<!--requests-->";
/// Where what is worked out last stands: diagnosis, evidence, other tools' rules.
pub const PANELS: &str = "<!--panels-->";

/// What a point is called: its configuration and its level.
pub fn heading(study: &StudyView, point: &PointView) -> String {
    let configuration = study.configurations.get(point.configuration as usize);
    let name = configuration.map_or("", |it| it.spec.name.as_str());
    let level = level_words(point.level, words::rate_unit(&study.spec));
    match point.repeat {
        0 => format!("{name} at {level}"),
        repeat => format!("{name} at {level}, repeat {}", repeat.saturating_add(1)),
    }
}

/// The whole page, with its two open places. `nonce` is that of the policy for its script.
pub fn page(study: &StudyView, point: &PointView, nonce: &str) -> Html {
    let heading = heading(study, point);
    let simulated = study.is_simulated().then(|| badge(SIMULATED));
    let insecure = study.is_insecure().then(|| badge(INSECURE));
    let toy = study.is_toy_model().then(|| badge(TOY_MODEL));
    let raw = point.state.is_over().then(|| {
        html!(
            r#"<a class="button" href="/api/v1/points/{}/records.parquet" download>Requests as Parquet</a>"#,
            point.id.to_string()
        )
    });
    html!(
        r#"<article class="page narrow point"><header class="page-head"><div class="stack tight"><nav class="crumbs" aria-label="Breadcrumb"><a href="/">Studies</a><a href="/studies/{}">{}</a><span aria-current="page">{}</span></nav><h1>{}</h1><div class="row">{}{}{}{}</div></div><div class="actions">{}</div></header><div class="answer"><p>{}</p></div>{}</article>"#,
        study.id.to_string(),
        study.spec.name,
        heading,
        heading,
        badge(point_word(point.state)),
        simulated,
        insecure,
        toy,
        raw,
        answer(point),
        point
            .state
            .is_over()
            .then(|| body(point, words::rate_unit(&study.spec), nonce))
    )
}

/// What happened, in one sentence.
fn answer(point: &PointView) -> String {
    if let (PointState::Skipped, Some(problem)) = (point.state, &point.problem) {
        return problem.clone();
    }
    let Some(summary) = &point.summary else {
        let planned = words::count(point.planned_requests as usize, "request");
        return format!("Not measured yet: {planned} planned.");
    };
    let mut parts = vec![match &point.judgement {
        Some(judgement) => format!("{} of {} good", judgement.good, judgement.scheduled),
        None => format!("{} of {} completed", summary.completed, summary.scheduled),
    }];
    parts.extend(
        summary
            .failures
            .iter()
            .map(|(kind, count)| format!("{count} {}", kind.name().replace('_', " "))),
    );
    if let Some(p95) = &summary.ttft.p95 {
        parts.push(format!("TTFT p95 {}", format::latency(p95)));
    }
    if let Capacity::Above { why } = &summary.capacity {
        parts.push(format!("above capacity: {}", why.trim_end_matches('.')));
    }
    format!("{}.", parts.join("; "))
}

fn body(point: &PointView, unit: &str, nonce: &str) -> Html {
    let remarks = point.summary.as_ref().map(|summary| {
        let remarks = summary.remarks.iter();
        remarks
            .map(|remark| {
                html!(
                    r#"<p class="notice" data-tone="warn">{}.</p>"#,
                    words::capital(remark)
                )
            })
            .collect::<Html>()
    });
    let skipped = (point.state == PointState::Skipped).then(|| {
        Html::literal(
            r#"<p class="notice">What is shown was recorded up to the skip. Nothing else in the studio counts it.</p>"#,
        )
    });
    let numbers = point.summary.as_ref().map(|summary| {
        let asked = level_words(point.level, unit);
        let counts = terms(counts(summary, (&point.notes[..], asked), unit));
        section(
            "Counts and rates",
            html!(r#"<dl class="facts">{}</dl>"#, counts),
        )
    });
    let promise = point.judgement.as_ref().map(|judgement| {
        section(
            "Under the study's SLO",
            html!(r#"<dl class="facts">{}</dl>"#, terms(verdicts(judgement))),
        )
    });
    let client = point
        .certificate
        .as_ref()
        .map(|certificate| section("Was the client innocent?", client::client(certificate)));
    html!(
        r#"{}{}<div id="requests" class="stack loose">{}</div><p id="said" class="sr-only" role="status"></p>{}{}{}{}<script type="module" nonce="{}">{}</script>"#,
        remarks,
        skipped,
        Html::literal(REQUESTS),
        numbers,
        promise,
        client,
        Html::literal(PANELS),
        nonce,
        Html::script(SCRIPT.to_owned())
    )
}

/// In place of requests that could not be read.
pub fn unreadable(error: &StudioError) -> Html {
    html!(
        r#"<p class="notice" data-tone="bad">The requests of this point cannot be shown: {}.</p>"#,
        error.to_string()
    )
}

/// Why a point's requests are not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent {
    /// The file that the study came from has none.
    LeftOut,
    /// There is too much of them for a page.
    TooMany,
    /// A person skipped the point, and nothing of it is stored.
    NotKept,
}

impl Absent {
    fn words(self) -> &'static str {
        match self {
            Self::LeftOut => {
                "The file that this study was opened from has none of its requests: nothing can be shown over time, and no window can be chosen."
            }
            Self::NotKept => {
                "Nothing was kept of this point: it was skipped before anything of it had been recorded."
            }
            Self::TooMany => {
                "This point has too many tokens for a page to show each request: they stand in the Parquet file."
            }
        }
    }
}

/// In place of the requests of a point, where they are not shown.
pub fn without_requests(point: &PointView, why: Absent) -> Html {
    let known = point.summary.as_ref().map(|summary| {
        html!(
            r#"<div class="scroll-x" tabindex="0" role="region" aria-label="Latencies as a table">{}</div>{}"#,
            crate::requests::latencies(summary),
            failures(summary)
        )
    });
    section(
        "Latencies",
        html!(r#"<p class="notice">{}</p>{}"#, why.words(), known),
    )
}

fn section(heading: &str, body: Html) -> Html {
    html!(
        r#"<section class="stack"><h2>{}</h2>{}</section>"#,
        heading,
        body
    )
}

fn counts(
    summary: &Summary,
    (notes, asked): (&[String], String),
    unit: &str,
) -> Vec<(String, String)> {
    let rate = |value: Option<f64>, unit: &str| {
        value.map_or("–".into(), |value| {
            format!("{} {unit}", format::number(value))
        })
    };
    let Summary {
        scheduled,
        sent,
        completed,
        failed,
        ..
    } = summary;
    let cached = summary
        .cached_tokens
        .map_or("the answers' usage does not say".into(), |tokens| {
            format!("{} tokens", format::count(tokens))
        });
    let per_chunk = summary.tokens_per_chunk.map_or("–".into(), format::number);
    // Points of before say nothing of it.
    let prompts = match notes {
        [] => "–".into(),
        notes => notes.join(" "),
    };
    [
        ("Duration", summary.duration.to_string()),
        (
            "Requests",
            format!("{scheduled} scheduled, {sent} sent, {completed} completed, {failed} failed"),
        ),
        ("Sessions", summary.sessions.to_string()),
        ("Asked", asked),
        (
            "Offered rate, by the arrivals as drawn",
            rate(summary.offered_rate, unit),
        ),
        ("Sent rate", rate(summary.sent_rate, unit)),
        ("Completed", rate(summary.completed_per_s, "req/s")),
        (
            "Output",
            format!(
                "{}, {} tokens",
                rate(summary.output_tokens_per_s, "tok/s"),
                format::count(summary.output_tokens)
            ),
        ),
        (
            "Input",
            format!(
                "{}, {} tokens",
                rate(summary.input_tokens_per_s, "tok/s"),
                format::count(summary.input_tokens)
            ),
        ),
        ("Prompts", prompts),
        ("From the prefix cache", cached),
        ("Most in flight", summary.max_in_flight.to_string()),
        ("Tokens per chunk (an event of the stream)", per_chunk),
    ]
    .map(|(term, what)| (term.to_owned(), what))
    .to_vec()
}

fn failures(summary: &Summary) -> Html {
    let kinds: Html = summary
        .failures_in_words()
        .iter()
        .map(|words| html!("<li>{}</li>", words))
        .collect();
    let mend = summary
        .mend()
        .map(|mend| html!(r#"<p class="muted">{}.</p>"#, words::capital(mend)));
    html!("<ul>{}</ul>{}", kinds, mend)
}

/// Both verdicts, by name, and each bound.
fn verdicts(judgement: &Judgement) -> Vec<(String, String)> {
    let share = judgement
        .attainment
        .map_or("–".into(), |share| format::proportion(&share));
    let tokens = judgement.good_tokens_per_s.map_or("–".into(), |rate| {
        format!("{} tok/s", format::number(rate))
    });
    let mut rows = vec![
        (
            "By attainment".into(),
            format!(
                "{share} good: {}.{}",
                words::keeps(judgement.by_attainment),
                words::stretches(judgement).unwrap_or_default()
            ),
        ),
        (
            "By percentile".into(),
            words::keeps(judgement.by_percentile).into(),
        ),
    ];
    rows.extend(judgement.bounds.iter().map(|bound| {
        let observed = bound.observed.as_ref().map_or("–".into(), format::latency);
        (
            bound.bound.clone(),
            format!("{observed}: {}", words::keeps(bound.keeps)),
        )
    }));
    rows.push(("Good output".into(), tokens));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn a_skipped_point_says_how_far_it_was_and_shows_its_requests() {
        let mut study = fixture::study();
        let point = &mut study.points[0];
        (point.state, point.summary) = (PointState::Skipped, None);
        point.problem = Some("Skipped by a person when 1 of 2 requests had been sent.".into());
        let html = page(&study, &study.points[0], "n").into_string();
        for part in [
            "<p>Skipped by a person when 1 of 2",
            "records.parquet",
            "recorded up to the skip",
            REQUESTS,
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        let text = without_requests(&study.points[0], Absent::NotKept).into_string();
        assert!(text.contains("Nothing was kept of this point"), "{text}");
    }

    #[test]
    fn the_first_line_says_what_happened() {
        let study = fixture::study();
        assert!(
            answer(&study.points[0]).starts_with("196 of 200 good; TTFT p95 40"),
            "{}",
            answer(&study.points[0])
        );
    }

    #[test]
    fn a_point_to_be_says_so() {
        let mut point = fixture::study().points[0].clone();
        point.summary = None;
        assert_eq!(answer(&point), "Not measured yet: 200 requests planned.");
    }

    #[test]
    fn what_was_done_otherwise_than_asked_stands_first() {
        let mut study = fixture::study();
        let remark = "prompts arrived as 12 tokens where 60 were meant <b>";
        if let Some(summary) = &mut study.points[0].summary {
            summary.remarks = vec![remark.into()];
        }
        let text = page(&study, &study.points[0], "n0nce").into_string();
        let shown = "Prompts arrived as 12 tokens where 60 were meant &lt;b&gt;.";
        assert!(text.find(shown) < text.find(REQUESTS) && text.contains(shown));
        assert!(text.contains("Input lengths counted by the engine"));
        assert!(text.contains(r#"nonce="n0nce""#));
    }

    #[test]
    fn a_point_that_has_not_finished_has_no_open_place() {
        let mut study = fixture::study();
        study.points[0].state = PointState::Planned;
        let text = page(&study, &study.points[0], "n").into_string();
        assert!(!text.contains(REQUESTS) && !text.contains(PANELS), "{text}");
    }

    #[test]
    fn a_point_without_requests_keeps_its_figures() {
        let study = fixture::study();
        let text = without_requests(&study.points[0], Absent::LeftOut).into_string();
        assert!(text.contains("none of its requests"), "{text}");
        assert_eq!(text.matches("<tr>").count(), 10, "one head, nine metrics");
    }
}
