//! The whole point on one axis of time, on which windows are chosen: by pointer, by keyboard, or as two numbers in a plain form.

use measure::steady::{Direction, Trend};
use measure::units::Nanos;

use super::axis::Scale;
use super::drawing::{Frame, HIGH, WIDE, line, percent};
use super::in_flight::Levels;
use super::part::Part;
use super::view::{View, seconds};
use crate::axis::Axis;
use crate::ui::html::{Html, html};

/// Places of the picture.
const PLACES: u64 = 400;

/// The axis with its handles, the form, and the steady part as one click.
pub fn overview(part: &Part<'_>) -> Html {
    let end = part.of.end();
    let (from, to) = part.axis;
    html!(
        r#"<section class="stack tight" aria-labelledby="window"><h2 id="window">Window</h2><p>{}. <span class="muted">Requests belong to a window when they were sent in it; those that never were, when they were due.</span></p><div class="lane-plot"><div class="on-time whole" data-from="0" data-to="{}" style="--from:{};--to:{}">{}<div class="chosen" aria-hidden="true"></div>{}{}</div></div>{}{}</section>"#,
        part.words(),
        seconds(end),
        percent(share(from, end)),
        percent(share(to, end)),
        picture(part),
        handle(("from", "Window begins"), from, end),
        handle(("to", "Window ends"), to, end),
        form(part),
        steady(part)
    )
}

fn share(at: Nanos, end: Nanos) -> f64 {
    (at.0 as f64 / end.0.max(1) as f64).clamp(0.0, 1.0)
}

fn handle((name, label): (&str, &str), at: Nanos, end: Nanos) -> Html {
    html!(
        r#"<span class="grip" id="grip-{}" data-end="{}" role="slider" tabindex="0" aria-label="{}" aria-valuemin="0" aria-valuemax="{}" aria-valuenow="{}" aria-valuetext="{} s"></span>"#,
        name,
        name,
        label,
        seconds(end),
        seconds(at.min(end)),
        seconds(at.min(end))
    )
}

/// Requests in flight over all of the point, the highest of each place.
fn picture(part: &Part<'_>) -> Html {
    let levels = Levels::in_flight(&part.of.records);
    let end = part.of.end();
    let most = levels.between(0, end.0).1;
    let x = Scale::between((Nanos::ZERO, end));
    let y = Axis::over("requests".into(), [f64::from(most)], false);
    let moment = |place: u64| (u128::from(end.0) * u128::from(place) / u128::from(PLACES)) as u64;
    let top = |place: u64| levels.between(moment(place), moment(place + 1)).1;
    let down = |level: i32| (1.0 - y.fraction(f64::from(level))) * HIGH;
    let corners = (0..PLACES).map(|place| (place as f64 / PLACES as f64 * WIDE, down(top(place))));
    let corners = [(0.0, HIGH)]
        .into_iter()
        .chain(corners)
        .chain([(WIDE, HIGH)]);
    let frame = Frame {
        title: &format!("Requests in flight over all of the point, at most {most}"),
        x: &x.axis,
        y: Some(&y),
        height: 48,
    };
    frame.draw(
        html!(r#"<path class="ground" d="{}z"/>"#, line(corners)),
        Html::default(),
    )
}

fn form(part: &Part<'_>) -> Html {
    let View { from, to, slo, .. } = part.view;
    let field = |name: &str, label: &str, value: &Option<Nanos>, none: &str| {
        html!(
            r#"<div class="field"><label for="{}">{} (s)</label><input id="{}" name="{}" type="text" inputmode="decimal" autocomplete="off" placeholder="{}" value="{}"></div>"#,
            name,
            label,
            name,
            name,
            none,
            value.map(seconds)
        )
    };
    let tried = slo.as_ref().map(|slo| {
        html!(
            r#"<input type="hidden" name="slo" value="{}">"#,
            slo.to_string()
        )
    });
    let all = part.windowed.then(|| link(part, None, "All of the point"));
    html!(
        r#"<form method="get" action="{}" class="row end window">{}{}{}<button type="submit" class="button">Show this window</button>{}{}</form>"#,
        part.of.path(),
        field("from", "From", from, "0"),
        field("to", "To", to, &seconds(part.of.end())),
        tried,
        part.of
            .steady_window()
            .map(|it| link(part, Some(it), "Steady part")),
        all
    )
}

fn link(part: &Part<'_>, window: Option<(Nanos, Nanos)>, words: &str) -> Html {
    let (from, to) = window.unzip();
    html!(
        r#"<a class="button" data-window href="{}{}">{}</a>"#,
        part.of.path(),
        part.view.within(from, to).query(),
        words
    )
}

/// What a point says that is short for how long it remembers.
const CANNOT_TELL: &str = "Cannot tell whether any part is steady: the number of requests in flight goes up and down so slowly that this point is too short to tell a climb from chance. A longer point would tell.";

/// What a point says in which the end of the ramp is not seen.
const NO_RAMP: &str = "No steady part was found: requests in flight neither rise nor fall beyond chance, but this point is too short to tell where its ramp ends.";

/// Where ramp and drain lie, and whether what lies between stood still.
fn steady(part: &Part<'_>) -> Html {
    let Some(found) = part.of.steady else {
        return html!(
            r#"<p class="small muted">Too few requests to tell ramp and drain from a steady part.</p>"#
        );
    };
    let words = match part.of.steady_window() {
        Some((from, to)) => format!(
            "Ramp until {} s, steady until {} s, when the last session starts, then drain; in the steady part requests in flight {}.",
            seconds(from),
            seconds(to),
            goes(&found.in_flight)
        ),
        None if found.in_flight.direction == Direction::CannotTell => CANNOT_TELL.to_owned(),
        None if found.in_flight.direction == Direction::Level => NO_RAMP.to_owned(),
        None => format!(
            "No part is steady: while sessions started requests in flight {}.",
            goes(&found.in_flight)
        ),
    };
    html!(r#"<p class="small muted">{}</p>"#, words)
}

fn goes(trend: &Trend) -> String {
    let whole = |it: f64| format!("{it:.0}");
    let (from, to) = (whole(trend.from), whole(trend.to));
    match trend.direction {
        Direction::Rising => format!("rise, from {from} to {to}"),
        Direction::Falling => format!("fall, from {from} to {to}"),
        Direction::Level => "neither rise nor fall beyond chance".to_owned(),
        Direction::CannotTell => {
            "are too few, or too much alike from one to the next, to tell whether they rise"
                .to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{point, whole};
    use super::*;

    #[test]
    fn the_form_and_the_handles_hold_the_window() {
        let point = point(40);
        let view = View::read(|key| match key {
            "from" => Some("10".into()),
            "slo" => Some("ttft<90ms attain>=95%".into()),
            _ => None,
        });
        let html = overview(&point.part(&view)).into_string();
        for part in [
            r#"<input id="from" name="from" type="text" inputmode="decimal" autocomplete="off" placeholder="0" value="10">"#,
            r#"name="slo" value="ttft&lt;90ms attain&gt;=95%""#,
            r#"aria-valuenow="10" aria-valuetext="10 s""#,
            "In the window 10 s to 39.302 s: 30 of 40 requests",
            "All of the point",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    #[test]
    fn the_steady_part_is_one_click_and_holds_its_last_request() {
        let point = point(400);
        let view = whole();
        let html = overview(&point.part(&view)).into_string();
        let window = point.steady_window();
        let Some((from, to)) = window else {
            panic!("an even point is steady: {:?}", point.steady);
        };
        let link = format!("?from={}&amp;to={}", seconds(from), seconds(to));
        assert!(html.contains(&link), "{link}: {html}");
        let view = whole().within(Some(from), Some(to));
        assert_eq!(point.part(&view).inside.last(), Some(&399));
    }
}
