//! Waits against what they may come from: TTFT against the prompt's length, and against time.

use std::collections::BTreeSet;

use measure::quantile::percentile_linear;
use measure::request::RequestRecord;
use measure::slo::Metric;
use measure::units::Nanos;

use super::axis::Scale;
use super::distributions::bound_of;
use super::drawing::{Frame, HIGH, WIDE, bound_up, figure, on_time};
use super::part::{Fared, Part};
use super::view::seconds;
use crate::axis::Axis;
use crate::ui::format;
use crate::ui::html::{Html, heads, html, table};
use crate::words;

/// Groups of the tables.
const GROUPS: usize = 8;

/// One request: where it lies across, how long it waited (none where it failed), how it fared.
type Dot = (f64, Option<u64>, Fared);

/// Both pictures.
pub fn scatter(part: &Part<'_>) -> Html {
    html!(
        r#"<section class="stack" aria-labelledby="waits"><h2 id="waits">What TTFT depends on</h2><p class="muted small">{}. {} Dots that fall on each other are drawn once.</p><div class="chart-grid">{}{}</div></section>"#,
        part.words(),
        "Round: kept the SLO. Square: broke a bound. Ticks at the top: failed.",
        against_length(part),
        against_time(part)
    )
}

fn tokens(record: &RequestRecord) -> u32 {
    record.prompt_tokens.unwrap_or(record.input_tokens_planned)
}

fn dots(part: &Part<'_>, across: impl Fn(&RequestRecord) -> f64) -> Vec<Dot> {
    let dot = |(_, record, score): (usize, &RequestRecord, &measure::score::Score)| {
        let wait = score.ttft.filter(|_| score.is_ok()).map(|it| it.0);
        (across(record), wait, part.fared(score))
    };
    part.scored().map(dot).collect()
}

fn against_length(part: &Part<'_>) -> Html {
    let dots = dots(part, |it| f64::from(tokens(it)));
    let counted = part.records().all(|it| it.prompt_tokens.is_some());
    let longest = dots.iter().map(|it| it.0).fold(0.0, f64::max);
    let shortest = dots.iter().map(|it| it.0).fold(f64::INFINITY, f64::min);
    let log = 20.0 * shortest.max(1.0) < longest;
    let x = Axis::over("prompt tokens".into(), dots.iter().map(|it| it.0), log);
    let words = format!(
        "TTFT against prompt length in tokens{}",
        if counted {
            " as the engine counted them"
        } else {
            ", as planned where the engine does not count"
        }
    );
    let name = |least: f64, most: f64| format!("{least} to {most}");
    let table = groups(&dots, "#prompt tokens", name);
    let (picture, unit) = picture(part, &words, &x, &dots);
    figure(
        "TTFT against length",
        html!("{}; TTFT in {}", words, unit),
        picture,
        table,
    )
}

fn against_time(part: &Part<'_>) -> Html {
    let at = |it: &RequestRecord| it.sent.unwrap_or(it.scheduled).as_secs_f64();
    let dots = dots(part, at);
    let x = Scale::time(part);
    let words = "TTFT against when requests were sent, in seconds";
    let second = |at: f64| seconds(Nanos::from_secs_f64(at));
    let name = |least: f64, most: f64| format!("{} to {}", second(least), second(most));
    let table = groups(&dots, "#sent, s", name);
    let (picture, unit) = picture(part, words, &x.axis, &dots);
    on_time(
        "TTFT over time",
        html!("{}; TTFT in {}", words, unit),
        picture,
        table,
    )
}

/// The picture, and the unit of the axis up.
fn picture(part: &Part<'_>, words: &str, x: &Axis, dots: &[Dot]) -> (Html, String) {
    let waits: Vec<u64> = dots.iter().filter_map(|it| it.1).collect();
    let y = Scale::of_latencies(waits.iter().copied());
    let drawn = Fared::ALL.into_iter().map(|fared| {
        let places = dots.iter().filter(|it| it.2 == fared);
        let places: BTreeSet<(u32, u32)> = places.filter_map(|it| place(x, &y, it)).collect();
        let mark = if fared == Fared::Failed { "v14" } else { "h0" };
        let path: String = places
            .iter()
            .map(|(x, y)| format!("M{x} {y}{mark}"))
            .collect();
        (!path.is_empty()).then(|| {
            html!(
                r#"<path class="dots" data-fared="{}" d="{}"/>"#,
                fared.name(),
                path
            )
        })
    });
    let bound = bound_of(part.slo, Metric::Ttft);
    let bound = bound.map(|it| {
        bound_up(
            y.fraction(it.0).max(0.0),
            &format!("TTFT ≤ {}", words::threshold(it)),
        )
    });
    let title = format!("{words}: {} requests", format::count(dots.len() as u64));
    let frame = Frame {
        title: &title,
        x,
        y: Some(&y.axis),
        height: 200,
    };
    let picture = frame.draw(drawn.flatten().collect(), bound.unwrap_or_default());
    (picture, y.words())
}

/// A dot's place in units of the picture's inside; failed requests stand at the top. None for one that succeeded without a value.
fn place(x: &Axis, y: &Scale, dot: &Dot) -> Option<(u32, u32)> {
    let (across, wait, fared) = dot;
    let up = match (wait, fared) {
        (Some(wait), _) => y.fraction(*wait),
        (None, Fared::Failed) => 1.0,
        (None, _) => return None,
    };
    let within = |fraction: f64, of: f64| (fraction.clamp(0.0, 1.0) * of).round() as u32;
    Some((within(x.fraction(*across), WIDE), within(1.0 - up, HIGH)))
}

/// As many requests in each group, by what they lie at.
fn groups(dots: &[Dot], head: &str, name: impl Fn(f64, f64) -> String) -> Html {
    let mut sorted: Vec<&Dot> = dots.iter().collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let size = sorted.len().div_ceil(GROUPS).max(1);
    let row = |group: &[&Dot]| {
        let mut waits: Vec<f64> = group
            .iter()
            .map(|it| it.1.map_or(f64::INFINITY, |it| it as f64))
            .collect();
        waits.sort_unstable_by(f64::total_cmp);
        let at = |p: f64| match percentile_linear(&waits, p) {
            Some(value) if value.is_finite() => Nanos(value.round() as u64).to_string(),
            _ => "∞".to_owned(),
        };
        let ends = group.first().zip(group.last());
        html!(
            r#"<tr><td class="num">{}</td><td class="num">{}</td><td class="num">{}</td><td class="num">{}</td><td class="num">{}</td></tr>"#,
            ends.map(|(first, last)| name(first.0, last.0)),
            group.len().to_string(),
            at(50.0),
            at(95.0),
            at(100.0)
        )
    };
    let heads = heads([head, "#requests", "#TTFT p50", "#p95", "#longest"]);
    table(
        "",
        "TTFT in groups of as many requests",
        heads,
        sorted.chunks(size).map(row).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::{point, whole};
    use super::*;

    #[test]
    fn each_request_has_its_dot_and_the_failed_stand_at_the_top() {
        let point = point(40);
        let view = whole();
        let part = point.part(&view);
        let html = scatter(&part).into_string();
        assert!(html.contains("TTFT ≤ 500 ms"), "{html}");
        let failed = html
            .split(r#"data-fared="failed" d=""#)
            .nth(1)
            .unwrap_or_default();
        let failed = failed.split('"').next().unwrap_or_default();
        assert_eq!(failed.matches(" 0v14").count(), 2, "{failed}");
        assert!(html.contains("∞"), "a group's longest");
    }

    #[test]
    fn dots_on_each_other_are_one_and_no_outlier_is_lost() {
        let x = Axis::over(String::new(), [0.0, 100.0], false);
        let y = Scale::of_latencies([1_000_000, 2_000_000].into_iter());
        let places: BTreeSet<_> = [
            (50.0, Some(1_000_000)),
            (50.0, Some(1_000_000)),
            (100.0, Some(2_000_000)),
        ]
        .iter()
        .filter_map(|(at, wait)| place(&x, &y, &(*at, *wait, Fared::Kept)))
        .collect();
        assert_eq!(places.len(), 2);
        assert_eq!(place(&x, &y, &(1.0, None, Fared::Kept)), None);
    }
}
