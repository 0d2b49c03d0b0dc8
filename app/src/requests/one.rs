//! One request: its chunks as a ruler, its moments, and each figure with how it is counted.

mod ruler; // chunks and stalls on the axis of time
mod told; // its figures with their definitions

use measure::request::{ChunkKind, RequestRecord};
use measure::score::Score;
use measure::slo::value;

use super::failures::first_words;
use super::part::{Part, Requests};
use super::view::{View, seconds};
use crate::ui::html::{Html, heads, html, table, terms};
use crate::words::{metric_name, threshold};

/// Chunks in the table at most.
const CHUNKS: usize = 1000;

/// What leads here.
pub struct Place<'a> {
    /// The study's name.
    pub study: &'a str,
    /// What the point is called.
    pub point: &'a str,
    /// The request's place, from 0.
    pub place: usize,
}

/// The page of one request; none where there is no such.
pub fn page(of: &Requests, view: &View, at: &Place<'_>) -> Option<Html> {
    let part = of.part(view);
    let (record, score) = (of.records.get(at.place)?, of.scores.get(at.place)?);
    let number = format!("Request {} of {}", at.place + 1, of.records.len());
    Some(html!(
        r#"<article class="page narrow point"><header class="page-head"><div class="stack tight"><nav class="crumbs" aria-label="Breadcrumb"><a href="/">Studies</a><a href="/studies/{}">{}</a><a href="{}{}">{}</a><span aria-current="page">{}</span></nav><h1>{}</h1></div><div class="actions">{}</div></header><div class="answer"><p>{}</p></div>{}{}{}{}</article>"#,
        of.study.to_string(),
        at.study,
        of.path(),
        view.from_row(0).query(),
        at.point,
        number,
        number,
        neighbours(of, view, at.place),
        answer(&part, record, score),
        ruler::section(&part, record, score),
        told::section(&part, record, score),
        facts(record),
        chunks(record)
    ))
}

/// What became of it, in one sentence.
fn answer(part: &Part<'_>, record: &RequestRecord, score: &Score) -> String {
    use measure::request::Outcome;
    let fared = part.fared(score);
    let mut parts = vec![match record.outcome {
        Outcome::Ok => format!(
            "{}: {}",
            crate::words::capital(fared.words()),
            held(part, score)
        ),
        Outcome::Error(kind) => {
            let words = first_words(record);
            format!("Failed, {}: {words}", crate::words::failures::kind(kind))
        }
    }];
    parts.extend(score.ttft.map(|it| format!("TTFT {it}")));
    parts.extend(score.e2e.map(|it| format!("E2E {it}")));
    format!("{}.", parts.join("; "))
}

/// The bounds that it broke, else the whole SLO.
fn held(part: &Part<'_>, score: &Score) -> String {
    let broken = part.slo.bounds.iter().filter_map(|bound| {
        let value = value(score, bound.metric).filter(|it| bound.at_most < *it)?;
        let (name, at_most) = (metric_name(bound.metric), threshold(bound.at_most));
        Some(format!("{name} {value}, where {at_most} was the most"))
    });
    let broken: Vec<String> = broken.collect();
    match broken.is_empty() {
        true => part.slo.pretty(),
        false => broken.join(" and "),
    }
}

fn neighbours(of: &Requests, view: &View, place: usize) -> Html {
    let link = |place: Option<usize>, words: &str, rel: &str| {
        let place = place.filter(|it| *it < of.records.len())?;
        Some(html!(
            r#"<a class="button" rel="{}" href="{}/requests/{}{}">{}</a>"#,
            rel,
            of.path(),
            (place + 1).to_string(),
            view.from_row(0).query(),
            words
        ))
    };
    html!(
        "{}{}",
        link(place.checked_sub(1), "Previous request", "prev"),
        link(Some(place + 1), "Next request", "next")
    )
}

/// What else is recorded.
fn facts(record: &RequestRecord) -> Html {
    let oddities = match record.warnings.as_slice() {
        [] => "none".to_owned(),
        warnings => warnings.join(", ").replace('_', " "),
    };
    let connection = record.connect.map_or_else(
        || "was open".to_owned(),
        |it| format!("opened for it in {it}, before it was sent"),
    );
    let status = record.http_status;
    let status = status.map_or_else(|| "none: no response".to_owned(), |it| it.to_string());
    let reason = record.finish_reason.clone();
    let before = [
        ("Outcome", first_line(record)),
        ("HTTP status", status),
        ("Finish reason", reason.unwrap_or_else(|| "none".into())),
    ];
    let after = [
        (
            "Session and turn",
            format!("session {}, turn {}", record.session + 1, record.turn + 1),
        ),
        ("Connection", connection),
        (
            "Reads with several events",
            record.coalesced_reads.to_string(),
        ),
        ("Oddities", oddities),
        ("Identifier", record.request_id.clone()),
    ];
    let all = before.into_iter().chain(tokens(record)).chain(after);
    html!(
        r#"<section class="stack" aria-labelledby="recorded"><h2 id="recorded">Recorded</h2><dl class="facts">{}</dl></section>"#,
        terms(all.map(|(term, what)| (term.to_owned(), what)))
    )
}

/// What went in and came out.
fn tokens(record: &RequestRecord) -> [(&'static str, String); 3] {
    let count = |of: Option<u32>| of.map_or_else(|| "unknown".to_owned(), |it| it.to_string());
    let source = spaced(&format!("{:?}", record.token_source));
    let prompt = count(record.prompt_tokens);
    let cached = record.cached_tokens.map_or_else(
        || "the answer's usage does not say".to_owned(),
        |it| format!("{it} tokens"),
    );
    [
        (
            "Prompt",
            format!(
                "{prompt} tokens by the engine, {} planned",
                record.input_tokens_planned
            ),
        ),
        ("From the prefix cache", cached),
        (
            "Output",
            format!(
                "{} tokens (counted by: {source}), {} asked for, in {} chunks",
                count(record.output_tokens),
                record.output_tokens_asked,
                record.chunks.len()
            ),
        ),
    ]
}

fn first_line(record: &RequestRecord) -> String {
    match record.outcome {
        measure::request::Outcome::Ok => "succeeded".into(),
        measure::request::Outcome::Error(kind) => {
            format!(
                "{}: {}",
                crate::words::failures::kind(kind),
                first_words(record)
            )
        }
    }
}

/// `EngineFinal` as `engine final`.
fn spaced(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push(' ');
        }
        text.extend(letter.to_lowercase());
    }
    text
}

fn chunks(record: &RequestRecord) -> Html {
    let mut before = None;
    let mut row = |(index, chunk): (usize, measure::request::Chunk)| {
        let at = chunk.arrived();
        let gap = before.map(|it| at.since(it).to_string());
        before = Some(at);
        html!(
            r#"<tr><td class="num">{}</td><td class="num">{}</td><td class="num">{}</td><td>{}</td><td class="num">{}</td></tr>"#,
            (index + 1).to_string(),
            seconds(at),
            gap.unwrap_or_else(|| "–".to_owned()),
            match chunk.kind {
                ChunkKind::Answer => "answer",
                ChunkKind::Reasoning => "thinking",
                ChunkKind::ToolCall => "tool call",
            },
            chunk
                .tokens
                .map_or_else(|| "–".to_owned(), |it| it.to_string())
        )
    };
    if record.chunks.is_empty() {
        return Html::default();
    }
    let rows: Html = record
        .chunks
        .iter()
        .take(CHUNKS)
        .enumerate()
        .map(&mut row)
        .collect();
    let more = record.chunks.len().saturating_sub(CHUNKS);
    let more = (0 < more).then(|| {
        html!(
            r#"<p class="muted">{} more stand in the Parquet file.</p>"#,
            more.to_string()
        )
    });
    let heads = heads(["#chunk", "#at, s", "#gap before", "kind", "#tokens"]);
    html!(
        r#"<details class="as-text"><summary>Every chunk as a table</summary><div class="scroll-x" tabindex="0" role="region" aria-label="Chunks as a table">{}</div>{}</details>"#,
        table("", "Chunks", heads, rows),
        more
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::{point, whole};
    use super::*;

    fn shown(place: usize) -> Option<String> {
        let at = Place {
            study: "mine <b>",
            point: "baseline at 2 req/s",
            place,
        };
        page(&point(40), &whole(), &at).map(Html::into_string)
    }

    #[test]
    fn a_request_tells_all_of_itself() {
        let html = shown(3).unwrap_or_default();
        for part in [
            "Request 4 of 40",
            "mine &lt;b&gt;",
            "Kept the SLO: TTFT p95 ≤ 500 ms",
            "TTFT 100 ms; E2E 1.30 s.",
            "requests/3\">Previous request",
            "requests/5\">Next request",
            "19 tokens by the engine, 16 planned",
            "3 tokens (counted by: usage), 3 asked for, in 3 chunks",
            "Stall 1.00 s",
            "first token-bearing event − sent",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    #[test]
    fn only_the_bound_that_broke_is_named() {
        let point = point(40);
        let slo = "ttft:p95<50ms e2e:p95<60s attain>=95%";
        let view = View::read(|key| (key == "slo").then(|| slo.to_owned()));
        let part = point.part(&view);
        let said = answer(&part, &point.records[3], &point.scores[3]);
        assert!(
            said.starts_with("Broke a bound: TTFT 100 ms, where 50 ms was the most"),
            "{said}"
        );
        assert!(!said.contains("60 s"), "{said}");
    }

    #[test]
    fn a_failed_one_says_what_the_engine_said() {
        let html = shown(39).unwrap_or_default();
        assert!(
            html.contains("Failed, rate limited: HTTP 429: slow &lt;down&gt;"),
            "{html}"
        );
        assert!(!html.contains("Next request"), "it is the last");
        assert_eq!(shown(40), None);
    }

    #[test]
    fn names_of_code_are_words() {
        assert_eq!(spaced("EngineFinal"), "engine final");
    }
}
