//! What was seen beside a point, as the page shows it: drawn by the server, so that browsers get it ready-made.

mod drawing; // quantities over time, as pictures
#[cfg(feature = "ssr")]
pub mod glance; // what the engine showed at a point, small

use measure::decimal;
use measure::evidence::{Between, Evidence, Part, Presence, TtftParts, Warmth, percentile_words};
use uuid::Uuid;

use crate::ui::format;
use crate::ui::html::{Html, heads, html, table, terms};
use crate::words;

pub(crate) use drawing::tracks;

/// The whole panel but what was seen over time, which stands on the axis of the requests.
pub fn panel(point: Uuid, evidence: &Evidence) -> String {
    let all = html!(
        r#"<section class="stack evidence"><h2>What the engine said meanwhile</h2>{}{}</section>"#,
        statements(evidence),
        figures(evidence),
    );
    let parts = evidence.ttft.as_ref().map(time_before);
    html!("{}{}{}", all, parts, links(point, evidence)).into_string()
}

/// The verdicts first, as notices; everything else as it is.
fn statements(evidence: &Evidence) -> Html {
    let foreign = match evidence.foreign.presence {
        Presence::Others => Some("bad"),
        Presence::Hardly => Some("warn"),
        Presence::Alone | Presence::CannotTell => None,
    };
    let cache = (evidence.cache.warmth == Warmth::Contaminated).then_some("warn");
    let host = evidence.host.and_then(|host| host.finding());
    let tone = |sentence: &str| {
        if sentence == evidence.foreign.sentence {
            foreign
        } else if sentence == evidence.cache.sentence {
            cache
        } else {
            None
        }
    };
    let busy = host.map(|(_, sentence)| notice("warn", &sentence));
    let (loud, quiet): (Vec<&String>, Vec<&String>) = evidence
        .statements
        .iter()
        .partition(|sentence| tone(sentence).is_some());
    let loud: Html = loud
        .into_iter()
        .map(|sentence| notice(tone(sentence).unwrap_or("warn"), sentence))
        .collect();
    let quiet: Html = quiet
        .into_iter()
        .map(|sentence| html!("<li>{}</li>", sentence))
        .collect();
    html!("{}{}<ul>{}</ul>", loud, busy, quiet)
}

fn notice(tone: &str, sentence: &str) -> Html {
    html!(r#"<p class="notice" data-tone="{}">{}</p>"#, tone, sentence)
}

fn figures(evidence: &Evidence) -> Html {
    let rows = evidence.figures.iter();
    let rows = rows.map(|figure| (figure.name.clone(), as_known(&figure.value)));
    html!(r#"<dl class="facts">{}</dl>"#, terms(rows))
}

/// A figure's words as they are told today: points that were measured before name a place within a bucket however wide it is.
fn as_known(value: &str) -> String {
    let pieces = value.split(", ");
    let pieces = pieces.map(|piece| only_bounds(piece).unwrap_or_else(|| piece.to_owned()));
    pieces.collect::<Vec<String>>().join(", ")
}

/// `p50 150 ms (0 ms to 300 ms)` as `p50 between 0 ms and 300 ms`; none where its bounds are near each other, or it has none.
fn only_bounds(piece: &str) -> Option<String> {
    let (head, bounds) = piece.strip_suffix(')')?.split_once(" (")?;
    let (name, _) = head.split_once(' ')?;
    let (least, most) = bounds.split_once(" to ")?;
    let (lo, hi) = (size(least)?, size(most)?);
    let known = Between {
        lo,
        value: lo,
        hi: Some(hi),
    };
    let is_wide = name.starts_with('p') && lo < hi && !known.tells();
    is_wide.then(|| format!("{name} between {least} and {most}"))
}

/// A time in nanoseconds, or a number without a unit.
fn size(text: &str) -> Option<f64> {
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    let factor = match unit {
        "" | "ns" => 1.0,
        "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    Some(decimal::parse(number)? * factor)
}

/// Where the time before the first tokens went.
fn time_before(whole: &TtftParts) -> Html {
    let row = |part: &Part| {
        let percentiles = part.percentiles.map(|it| percentile_words(it, true));
        html!(
            r#"<tr><th scope="row">{}</th><td class="num">{}</td><td>{}</td></tr>"#,
            words::capital(&part.name),
            format::percent(part.share),
            percentiles.unwrap_or_else(|| "what is left".to_owned())
        )
    };
    let rows: Html = whole.parts.iter().map(row).collect();
    html!(
        r#"<section class="stack"><h2>Where the time before the first token went</h2><p class="muted">Shares of the {} that {} requests waited from when they were due to their first tokens, all together.</p><div class="scroll-x" tabindex="0">{}</div></section>"#,
        measure::units::Nanos::from_secs_f64(whole.seconds).to_string(),
        format::count(whole.requests),
        table(
            "",
            "Where the time before the first token went",
            heads(["part", "#share", "of each request"]),
            rows
        )
    )
}

/// All of it, for programs.
fn links(point: Uuid, evidence: &Evidence) -> Html {
    let pages = evidence.metrics_kept.then(|| {
        html!(
            r#"<a class="button" href="/api/v1/points/{}/metrics" download="" rel="external">The engine's metrics as text</a>"#,
            point.to_string()
        )
    });
    html!(
        r#"<p class="row"><a class="button" href="/api/v1/points/{}/evidence" rel="external">All of it as JSON</a>{}</p>"#,
        point.to_string(),
        pages
    )
}

#[cfg(test)]
mod tests;
