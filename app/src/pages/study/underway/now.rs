//! The point under load: how far the study is, what is asked of the engine and what it achieves.

use leptos::prelude::*;
use measure::units::Level;

use super::super::Page;
use super::failures::Failures;
use super::steer::Steer;
use super::{current, over, point_words, skipped};
use crate::chart::level_words;
use crate::studio::{PointView, Progress, StudyView};
use crate::ui::erased::{Erase, shared};
use crate::ui::format;
use crate::ui::html::{Html, html};
use crate::ui::reactive::memo;
use crate::words;

/// A meter with the point under load in words.
#[component]
pub fn Running(page: Page, broken: ReadSignal<bool>) -> impl IntoView {
    let done = memo(move || page.known.with(done));
    let now = memo(move || {
        page.known
            .with(|study| current(study).map(|it| point_words(study, it)))
    });
    let left = memo(move || page.known.with(left));
    let share = move || {
        page.known
            .with(|study| page.underway.with(|it| share(study, it.as_ref())))
    };
    let figures = memo(move || {
        let of = |study: &StudyView| page.underway.with(|it| figures(study, it.as_ref()));
        page.known.with(of)
    });
    view! {
        <section class="underway" aria-label="Progress">
            <p class="row">
                <strong>{shared(move || done.get())}</strong>
                <span>{shared(move || now.get().unwrap_or_else(|| "Preparing the next point.".into()))}</span>
                <span class="spring muted">{shared(move || left.get())}</span>
            </p>
            <span class="meter">
                <span style:width=share></span>
            </span>
            <dl class="moment" inner_html=move || figures.get()></dl>
            <Failures page />
            {page.is_owner().then(|| view! { <Steer page /> })}
            <p class="muted small" hidden=move || !broken.get()>
                "The live connection broke and is being restored: what stands here is what was last heard. Points that have finished are kept."
            </p>
        </section>
    }
    .erased()
}

/// `3 of 8 points done, 1 of them skipped`
fn done(study: &StudyView) -> String {
    let (done, all) = over(study);
    let skipped = match skipped(study) {
        0 => String::new(),
        some => format!(", {some} skipped"),
    };
    // How many points a search will take is not known.
    let all = match study.spec.adaptive {
        Some(_) => words::count(done, "point"),
        None => format!("{done} of {}", words::count(all, "point")),
    };
    format!("{all} done{skipped}")
}

/// The time left; that of a search has an end, and no plan.
fn left(study: &StudyView) -> Option<String> {
    let left = words::time_left(study.remaining_ms?);
    Some(match study.spec.adaptive {
        Some(_) => format!("at most {left}"),
        None => format!("about {left}"),
    })
}

/// The progress of the point that is under load, and not of one before it.
pub fn of_current<'a>(
    study: &'a StudyView,
    underway: Option<&'a (uuid::Uuid, Progress)>,
) -> Option<(&'a PointView, &'a Progress)> {
    let (point, (id, progress)) = (current(study)?, underway?);
    (point.id == *id).then_some((point, progress))
}

fn share(study: &StudyView, underway: Option<&(uuid::Uuid, Progress)>) -> String {
    let (done, all) = over(study);
    let within = of_current(study, underway).map_or(0.0, |(_, it)| {
        f64::from(it.completed + it.failed) / f64::from(it.scheduled.max(1))
    });
    format!("{:.1}%", (done as f64 + within) / all.max(1) as f64 * 100.0)
}

/// The figures of the moment, as terms.
fn figures(study: &StudyView, underway: Option<&(uuid::Uuid, Progress)>) -> String {
    let Some((point, it)) = of_current(study, underway) else {
        return String::new();
    };
    let per_second = |rate: Option<f64>| match rate {
        Some(rate) => format!("{} req/s", format::number(rate)),
        None => "…".into(),
    };
    let asked = match point.level {
        Level::Inf => "as fast as it takes them".into(),
        level => level_words(level, words::rate_unit(&study.spec)),
    };
    let mut rows = vec![
        ("asked", asked),
        ("sent", per_second(it.sent_per_s)),
        ("answered", per_second(it.completed_per_s)),
        ("in flight", it.in_flight.to_string()),
        (
            "ended",
            format!("{} of {}", it.completed + it.failed, it.scheduled),
        ),
        ("failed", it.failed.to_string()),
        ("events/s", format::number(it.events_per_s)),
    ];
    if let Some(p95) = it.ttft_p95_ns {
        let p95 = measure::units::Nanos(p95);
        rows.push(("TTFT p95 so far", format!("{p95} (n = {})", it.ttft_count)));
    }
    let pair =
        |(term, what): (&str, String)| html!("<div><dt>{}</dt><dd>{}</dd></div>", term, what);
    rows.into_iter().map(pair).collect::<Html>().into_string()
}

#[cfg(test)]
mod tests {
    use measure::study::Adaptive;

    use super::*;
    use crate::fixture;
    use crate::studio::PointState;

    fn underway() -> (StudyView, (uuid::Uuid, Progress)) {
        let mut study = fixture::study();
        study.points[1].state = PointState::Running;
        let progress = Progress {
            scheduled: 500,
            sent: 130,
            in_flight: 10,
            completed: 118,
            failed: 2,
            sent_per_s: Some(7.9),
            ..Progress::default()
        };
        let id = study.points[1].id;
        (study, (id, progress))
    }

    #[test]
    fn what_is_asked_stands_beside_what_is_achieved() {
        let (study, underway) = underway();
        let html = figures(&study, Some(&underway));
        for part in [
            "<dt>sent</dt><dd>7.90 req/s</dd>",
            "<dt>answered</dt><dd>…</dd>",
            "<dt>ended</dt><dd>120 of 500</dd>",
            "<dt>failed</dt><dd>2</dd>",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    #[test]
    fn progress_of_another_point_is_not_shown() {
        let (study, (_, progress)) = underway();
        let other = (study.points[0].id, progress);
        assert_eq!(figures(&study, Some(&other)), "");
        assert_eq!(figures(&study, None), "");
    }

    #[test]
    fn the_time_left_of_a_search_is_at_most() {
        let (mut study, _) = underway();
        study.remaining_ms = Some(30_000);
        assert_eq!(left(&study).as_deref(), Some("about 30 s left"));
        study.spec.adaptive = Some(Adaptive {
            from: 1.0.try_into().expect("a rate"),
            to: 8.0.try_into().expect("a rate"),
            minutes: 1,
            width: 0.3,
        });
        assert_eq!(left(&study).as_deref(), Some("at most 30 s left"));
    }
}
