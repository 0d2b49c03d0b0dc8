//! A study that runs or waits: how far it is, what can be done with it meanwhile, what fails, what its engine says.

mod bell; // told when it is done
mod failures; // what fails at the point under load
mod log; // what the engine says
mod now; // the point under load in figures
mod steer; // skip, pause
mod waits; // for a person

use leptos::prelude::*;

use super::Page;
use crate::chart::level_words;
use crate::live::is_live;
use crate::studio::{Hold, PointState, PointView, StudyState, StudyView};
use crate::ui::badge::Tone;
use crate::ui::empty::Notice;
use crate::ui::erased::{Erase, shared};
use crate::ui::reactive::memo;
use crate::words;

/// What is going on, and what it waits for.
#[component]
pub fn Underway(page: Page, broken: ReadSignal<bool>) -> impl IntoView {
    let state = memo(move || page.known.with(|study| study.state));
    let live = memo(move || is_live(state.get()));
    let said = memo(move || page.known.with(said));
    let owner = page.is_owner();
    view! {
        {shared(move || stands(page, state.get()))}
        {shared(move || (state.get() == StudyState::Running).then(|| view! { <now::Running page broken /> }).erased())}
        <div class="stack tight" hidden=move || !(owner && live.get())>
            <bell::Bell page />
            {owner.then(|| view! { <log::EngineLog page live /> })}
        </div>
        <p class="sr-only" role="status">{shared(move || said.get())}</p>
    }
    .erased()
}

/// Where the study stands while it does not run.
fn stands(page: Page, state: StudyState) -> AnyView {
    let problem = page.known.with_untracked(|study| study.problem.clone());
    let skipped = page.known.with_untracked(skipped);
    match (state, problem) {
        (StudyState::Waiting, problem) => view! { <waits::Waiting page problem /> }.erased(),
        (StudyState::Failed | StudyState::Interrupted, Some(problem)) => view! {
            <Notice tone=Tone::Bad>
                <strong>"It could not go on: "</strong>
                {problem}
            </Notice>
        }
        .erased(),
        (StudyState::Queued, _) => {
            let why = move || page.known.with(|study| study.problem.clone());
            let why = move || why().unwrap_or_else(|| "Waits until its engine is free.".into());
            view! { <Notice>{shared(why)}</Notice> }.erased()
        }
        (StudyState::Running, _) => ().erased(),
        (_, _) if 0 < skipped => {
            let text = format!(
                "{} skipped by a person: what they recorded is kept, and they count in no figure.",
                match skipped {
                    1 => "1 point was".to_owned(),
                    many => format!("{many} points were"),
                }
            );
            view! { <Notice>{text}</Notice> }.erased()
        }
        _ => ().erased(),
    }
}

fn skipped(study: &StudyView) -> usize {
    let skipped = |it: &&PointView| it.state == PointState::Skipped;
    study.points.iter().filter(skipped).count()
}

/// The point under load.
fn current(study: &StudyView) -> Option<&PointView> {
    let running = |it: &&PointView| it.state == PointState::Running;
    study.points.iter().find(running)
}

/// A point in words: `no cache at 8 req/s, repeat 2`.
fn point_words(study: &StudyView, point: &PointView) -> String {
    let configuration = study.configurations.get(point.configuration as usize);
    let name = configuration.map_or("", |it| it.spec.name.as_str());
    let level = level_words(point.level, words::rate_unit(&study.spec));
    match point.repeat {
        0 => format!("{name} at {level}"),
        repeat => format!("{name} at {level}, repeat {}", repeat.saturating_add(1)),
    }
}

/// Points that nothing more becomes of, and all.
fn over(study: &StudyView) -> (usize, usize) {
    let over = study.points.iter().filter(|it| it.state.is_over());
    (over.count(), study.points.len())
}

/// What is read aloud: it changes with the point and the state, not with every figure.
fn said(study: &StudyView) -> String {
    let (done, all) = over(study);
    match (study.state, study.hold) {
        (StudyState::Running, hold) => {
            let now = current(study).map(|it| point_words(study, it));
            let now = now.unwrap_or_else(|| "preparing the next point".into());
            let then = match hold {
                Hold::Asked => " It pauses after this point.",
                Hold::None | Hold::Paused => "",
            };
            format!("{done} of {all} points done; now {now}.{then}")
        }
        (StudyState::Waiting, Hold::Paused) => format!("Paused after {done} of {all} points."),
        (StudyState::Waiting, _) => "The study waits for you.".into(),
        (StudyState::Queued, _) => "The study waits for its engine.".into(),
        _ => String::new(),
    }
}

/// The page's title: how far the study is, before its name.
pub fn title(study: &StudyView) -> String {
    let (done, all) = over(study);
    let name = &study.spec.name;
    match (study.state, study.hold) {
        (StudyState::Running, _) => format!("{done}/{all} · {name}"),
        (StudyState::Waiting, Hold::Paused) => format!("Paused {done}/{all} · {name}"),
        (StudyState::Waiting, _) => format!("Your turn · {name}"),
        (StudyState::Queued, _) => format!("Queued · {name}"),
        _ => name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn running() -> StudyView {
        let mut study = fixture::study();
        study.state = StudyState::Running;
        study.points[0].state = PointState::Skipped;
        study.points[1].state = PointState::Running;
        let later = study.points.iter_mut().skip(2);
        later.for_each(|it| it.state = PointState::Planned);
        study
    }

    #[test]
    fn the_title_says_how_far_it_is() {
        let mut study = running();
        let (all, name) = (study.points.len(), study.spec.name.clone());
        assert_eq!(title(&study), format!("1/{all} · {name}"));
        (study.state, study.hold) = (StudyState::Waiting, Hold::Paused);
        assert_eq!(title(&study), format!("Paused 1/{all} · {name}"));
        (study.state, study.hold) = (StudyState::Finished, Hold::None);
        assert_eq!(title(&study), name);
    }

    #[test]
    fn what_is_read_aloud_changes_with_the_point_alone() {
        let mut study = running();
        let before = said(&study);
        assert!(
            before.starts_with("1 of ") && before.contains("; now "),
            "{before}"
        );
        study.remaining_ms = Some(5);
        assert_eq!(said(&study), before);
        study.hold = Hold::Asked;
        assert!(said(&study).ends_with("It pauses after this point."));
        study.state = StudyState::Finished;
        assert_eq!(said(&study), "");
    }
}
