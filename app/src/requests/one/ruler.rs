//! A request's chunks as a ruler: a tick each, with the moments before them, and its stalls marked.

use measure::request::RequestRecord;
use measure::score::Score;
use measure::slo::Metric;
use measure::units::Nanos;

use crate::requests::axis::Scale;
use crate::requests::distributions::bound_of;
use crate::requests::drawing::{Frame, HIGH, WIDE, percent, short};
use crate::requests::part::Part;
use crate::requests::view::seconds;
use crate::ui::html::{Html, html};

/// Gaps beside the longest that are marked, at most.
const MARKED: usize = 8;
/// A gap so many times the request's median gap stands out, where no bound says which do.
const OUTSTANDING: u64 = 5;

/// A gap: where it begins and ends.
type Gap = (Nanos, Nanos);

/// The picture with its words.
pub fn section(part: &Part<'_>, record: &RequestRecord, score: &Score) -> Html {
    let end = record.end.or(record.sent).unwrap_or(record.scheduled);
    let span = (record.scheduled, end.max(record.scheduled + Nanos(1_000)));
    let x = Scale::between(span);
    let stalls = stalls(part, record);
    let title = format!(
        "Request from {} s to {} s: {} chunks{}",
        seconds(span.0),
        seconds(span.1),
        record.chunks.len(),
        score
            .stall
            .map_or(String::new(), |it| format!(", longest gap {it}"))
    );
    let frame = Frame {
        title: &title,
        x: &x.axis,
        y: None,
        height: 72,
    };
    let picture = frame.draw(
        html!(
            "{}{}{}",
            phases(&x, record, end),
            marks(&x, &stalls),
            ticks(&x, record)
        ),
        moments(&x, record),
    );
    html!(
        r#"<section class="stack" aria-labelledby="ruler"><h2 id="ruler">Over time</h2><figure class="stack tight ruler"><figcaption>Seconds from the point's start. Each tick is a chunk. {}</figcaption><div class="lane-plot">{}</div></figure></section>"#,
        words(record, &stalls),
        picture
    )
}

/// The longest gap first, then others over the SLO's bound on ITL or stall, or far over the request's own median.
fn stalls(part: &Part<'_>, record: &RequestRecord) -> Vec<Gap> {
    if record.is_single_burst() {
        return Vec::new();
    }
    let moments: Vec<Nanos> = record.chunks.iter().map(|it| it.arrived()).collect();
    let mut gaps: Vec<Gap> = moments.windows(2).map(|it| (it[0], it[1])).collect();
    gaps.sort_by_key(|(from, to)| std::cmp::Reverse(to.since(*from)));
    let Some((from, to)) = gaps.get(gaps.len() / 2).copied() else {
        return Vec::new();
    };
    let own = Nanos(to.since(from).0.saturating_mul(OUTSTANDING));
    let bounds = [Metric::Stall, Metric::Itl].map(|it| bound_of(part.slo, it));
    let limit = bounds.into_iter().flatten().min().unwrap_or(own);
    let is_first = |index: usize| index == 0;
    let kept = gaps.into_iter().enumerate();
    let kept = kept.filter(|(index, (from, to))| is_first(*index) || limit < to.since(*from));
    kept.take(MARKED).map(|it| it.1).collect()
}

fn words(record: &RequestRecord, stalls: &[Gap]) -> String {
    let Some((from, to)) = stalls.first() else {
        return match record.chunks.len() {
            0 => "None came.".into(),
            _ => "All came at one moment, so no pace is measurable.".into(),
        };
    };
    let more = match stalls.len() - 1 {
        0 => String::new(),
        more => format!(" {more} more gaps stand out and are marked."),
    };
    format!(
        "Stall {}, at {} s: the longest gap, marked.{more}",
        to.since(*from),
        seconds(*from)
    )
}

/// Due to sent, sent to first token, first token to end.
fn phases(x: &Scale, record: &RequestRecord, end: Nanos) -> Html {
    let sent = record.sent.unwrap_or(end);
    let first = record.chunks.first().map_or(end, |it| it.arrived());
    let parts = [
        ("due", record.scheduled, sent),
        ("wait", sent, first),
        ("stream", first, end),
    ];
    let phase = |(name, from, to): (&str, Nanos, Nanos)| {
        let (left, right) = (x.fraction(from.0) * WIDE, x.fraction(to.0) * WIDE);
        html!(
            r#"<rect class="{}" x="{}" y="220" width="{}" height="60"/>"#,
            name,
            short(left),
            short(right - left)
        )
    };
    parts.into_iter().map(phase).collect()
}

fn ticks(x: &Scale, record: &RequestRecord) -> Html {
    let mut places: Vec<String> = record
        .chunks
        .iter()
        .map(|it| short(x.fraction(it.arrived().0) * WIDE))
        .collect();
    places.dedup();
    let path: String = places
        .iter()
        .map(|at| format!("M{at} 90V{}", HIGH - 80.0))
        .collect();
    html!(r#"<path class="chunks" d="{}"/>"#, path)
}

fn marks(x: &Scale, stalls: &[Gap]) -> Html {
    let mark = |(from, to): &Gap| {
        let (left, right) = (x.fraction(from.0) * WIDE, x.fraction(to.0) * WIDE);
        html!(
            r#"<rect class="stall" x="{}" y="90" width="{}" height="130"/>"#,
            short(left),
            short(right - left)
        )
    };
    stalls.iter().map(mark).collect()
}

/// The names of its moments, each at its place, no two on each other.
fn moments(x: &Scale, record: &RequestRecord) -> Html {
    let first = record.chunks.first().map(|it| it.arrived());
    let all = [
        ("due", Some(record.scheduled)),
        ("sent", record.sent),
        ("first token", first),
        ("end", record.end),
    ];
    let mut drawn = Vec::new();
    let mut free = 0.0;
    for (name, at) in all {
        let Some(at) = at else { continue };
        let place = x.fraction(at.0);
        // A name takes about a twentieth of the width; the end's stands left of its place.
        if place < free && name != "end" {
            continue;
        }
        free = place + 0.1;
        let anchor = if 0.85 < place { "end" } else { "start" };
        drawn.push(html!(
            r#"<line x1="{}" x2="{}" y1="14" y2="100%" style="stroke:var(--muted)"/><text x="{}" y="10" text-anchor="{}" style="fill:var(--text)">{}</text>"#,
            percent(place),
            percent(place),
            percent(place),
            anchor,
            name
        ));
    }
    drawn.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requests::tests::{point, whole};

    #[test]
    fn the_longest_gap_is_the_stall_and_is_marked() {
        let point = point(5);
        let view = whole();
        let part = point.part(&view);
        let (record, score) = (&point.records[0], &point.scores[0]);
        let html = section(&part, record, score).into_string();
        assert_eq!(html.matches("class=\"stall\"").count(), 1, "{html}");
        assert!(
            html.contains("Stall 1.00 s, at 0.302 s: the longest gap"),
            "{html}"
        );
        assert_eq!(html.matches(" 90V220").count(), 3, "a tick a chunk: {html}");
        assert!(html.contains("longest gap 1.00 s\""), "{html}");
    }

    #[test]
    fn a_bound_says_which_gaps_stand_out() {
        let point = point(5);
        let view = crate::requests::View::read(|key| {
            (key == "slo").then(|| "itl<100ms attain>=90%".to_owned())
        });
        let gaps = stalls(&point.part(&view), &point.records[0]);
        assert_eq!(gaps.len(), 2);
    }

    #[test]
    fn a_request_without_tokens_has_no_ticks() {
        let point = point(20);
        let view = whole();
        let html = section(&point.part(&view), &point.records[19], &point.scores[19]).into_string();
        assert!(
            html.contains("None came.") && !html.contains("NaN"),
            "{html}"
        );
    }
}
