//! A study as it happens: an event stream that is followed, resumed where it broke, and applied to the page's view.

use std::time::Duration;

use crate::ui::reactive::memo;
use leptos::prelude::*;
use leptos::task::spawn_local;
use measure::curve::Ceiling;
use measure::knobs::Facts;
use serde::Deserialize;
use uuid::Uuid;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{EventSource, MessageEvent};

use crate::api::get_study;
use crate::browser::read_json;
use crate::studio::{Hold, LiveEvent, PointView, Progress, StudyState, StudyView};

/// The point under load, as last heard.
pub type Underway = Option<(Uuid, Progress)>;

/// Brings a view up to date. Progress changes only the time left; the picture of the point is kept apart, because it
/// comes several times a second.
pub fn apply(view: &mut StudyView, event: LiveEvent) {
    match event {
        LiveEvent::State {
            state,
            problem,
            remaining_ms,
            hold,
        } => {
            view.state = state;
            view.problem = problem;
            view.remaining_ms = remaining_ms;
            view.hold = hold;
        }
        LiveEvent::Point {
            point,
            ceilings,
            remaining_ms,
        } => {
            if let Some(configuration) = view.configurations.get_mut(point.configuration as usize) {
                (configuration.ceiling, configuration.ceiling_by_percentile) = *ceilings;
            }
            match view.points.iter_mut().find(|known| known.id == point.id) {
                Some(known) => *known = *point,
                None => view.points.push(*point),
            }
            view.remaining_ms = remaining_ms;
        }
        LiveEvent::Facts {
            configuration,
            facts,
            cache_cold,
        } => {
            if let Some(configuration) = view.configurations.get_mut(configuration as usize) {
                configuration.facts = facts;
                configuration.cache_cold = cache_cold;
            }
        }
        LiveEvent::Progress { remaining_ms, .. } => view.remaining_ms = remaining_ms,
    }
}

/// Whether more is to be heard of a study without a person's doing.
pub fn is_live(state: StudyState) -> bool {
    matches!(
        state,
        StudyState::Queued | StudyState::Running | StudyState::Waiting
    )
}

/// Follows a study for as long as the page stands and the study lives. A broken stream is resumed: the study is read
/// anew, then followed from the event that it includes. Returns whether the stream is broken now.
pub fn follow(view: RwSignal<StudyView>, underway: RwSignal<Underway>) -> ReadSignal<bool> {
    let (broken, set_broken) = signal(false);
    let attempt = RwSignal::new(0_u32);
    let failures = StoredValue::new(0_u32);
    let live = memo(move || view.with(|view| is_live(view.state)));
    // The effect keeps its connection as its value: it closes when the effect runs again or the page goes.
    Effect::new(move |_| {
        attempt.track();
        if !live.get() {
            underway.set(None);
            return None;
        }
        let hear = move |number: Option<u64>, event| {
            set_broken.set(false);
            failures.set_value(0);
            hear(view, underway, number, event);
        };
        let lost = move || {
            set_broken.set(true);
            let again = pause(failures.get_value());
            failures.update_value(|failures| *failures = failures.saturating_add(1));
            set_timeout(move || resume(view, attempt), again);
        };
        let (id, after) = view.with_untracked(|view| (view.id, view.last_event));
        Connection::open(
            &format!("/api/v1/studies/{id}/events?after={after}"),
            hear,
            lost,
        )
    });
    broken
}

fn hear(
    view: RwSignal<StudyView>,
    underway: RwSignal<Underway>,
    number: Option<u64>,
    event: LiveEvent,
) {
    match event {
        // The time left changes each time; the rest of the page need not be asked.
        LiveEvent::Progress {
            point, progress, ..
        } => underway.set(Some((point, progress))),
        event => view.update(|view| {
            view.last_event = number.unwrap_or(view.last_event);
            apply(view, event);
        }),
    }
}

/// Reads an event by its kind. Serde's own way would keep a second reader of every type within an event, for values that
/// were read before their kind was known.
#[expect(clippy::too_many_lines, reason = "one arm an event, read in one piece")]
fn read(json: &str) -> Option<LiveEvent> {
    #[derive(Deserialize)]
    struct Kind {
        kind: String,
    }
    #[derive(Deserialize)]
    struct State {
        state: StudyState,
        problem: Option<String>,
        remaining_ms: Option<u64>,
        #[serde(default)]
        hold: Hold,
    }
    #[derive(Deserialize)]
    struct Point {
        point: Box<PointView>,
        ceilings: (Option<Ceiling>, Option<Ceiling>),
        remaining_ms: Option<u64>,
    }
    #[derive(Deserialize)]
    struct Recorded {
        configuration: u32,
        facts: Facts,
        cache_cold: Option<bool>,
    }
    #[derive(Deserialize)]
    struct Moment {
        point: Uuid,
        progress: Progress,
        remaining_ms: Option<u64>,
    }
    let Kind { kind } = read_json(json).ok()?;
    match kind.as_str() {
        "state" => {
            let State {
                state,
                problem,
                remaining_ms,
                hold,
            } = read_json(json).ok()?;
            Some(LiveEvent::State {
                state,
                problem,
                remaining_ms,
                hold,
            })
        }
        "point" => {
            let Point {
                point,
                ceilings,
                remaining_ms,
            } = read_json(json).ok()?;
            Some(LiveEvent::Point {
                point,
                ceilings: Box::new(ceilings),
                remaining_ms,
            })
        }
        "facts" => {
            let Recorded {
                configuration,
                facts,
                cache_cold,
            } = read_json(json).ok()?;
            Some(LiveEvent::Facts {
                configuration,
                facts,
                cache_cold,
            })
        }
        "progress" => {
            let Moment {
                point,
                progress,
                remaining_ms,
            } = read_json(json).ok()?;
            Some(LiveEvent::Progress {
                point,
                progress,
                remaining_ms,
            })
        }
        _ => None,
    }
}

/// One, two, four, eight, then ten seconds.
fn pause(attempt: u32) -> Duration {
    Duration::from_secs((1 << attempt.min(4)).min(10))
}

/// Reads the study anew and lets the effect connect again. A study that cannot be read is tried again later.
fn resume(view: RwSignal<StudyView>, attempt: RwSignal<u32>) {
    let Some(id) = view.try_with_untracked(|view| view.id) else {
        return;
    };
    spawn_local(async move {
        let read = get_study(id).await;
        if let Ok(read) = read {
            take_newer(view, read);
        }
        attempt.try_update(|attempt| *attempt += 1);
    });
}

/// Shows a study that was read, unless the page has heard of more since: an answer may come after events that it does not
/// include, and they come once.
pub fn take_newer(view: RwSignal<StudyView>, read: StudyView) {
    view.try_update(|view| {
        if view.last_event <= read.last_event {
            *view = read;
        }
    });
}

/// An open stream. Dropping it closes it.
struct Connection {
    source: EventSource,
    /// Kept for as long as the browser may call them.
    _message: Closure<dyn Fn(MessageEvent)>,
    _error: Closure<dyn Fn()>,
}

impl Connection {
    fn open(
        url: &str,
        hear: impl Fn(Option<u64>, LiveEvent) + 'static,
        lost: impl Fn() + 'static,
    ) -> Option<Self> {
        let source = EventSource::new(url).ok()?;
        let message = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
            let data = event.data().as_string().unwrap_or_default();
            // An event of a newer server that this page does not know is passed over.
            if let Some(heard) = read(&data) {
                hear(event.last_event_id().parse().ok(), heard);
            }
        });
        let closing = source.clone();
        let error = Closure::<dyn Fn()>::new(move || {
            closing.close();
            lost();
        });
        source.set_onmessage(Some(message.as_ref().unchecked_ref()));
        for kind in ["state", "point", "facts", "progress"] {
            source
                .add_event_listener_with_callback(kind, message.as_ref().unchecked_ref())
                .ok()?;
        }
        source.set_onerror(Some(error.as_ref().unchecked_ref()));
        Some(Self {
            source,
            _message: message,
            _error: error,
        })
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.source.set_onmessage(None);
        self.source.set_onerror(None);
        self.source.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::studio::PointState;

    #[track_caller]
    fn check(event: LiveEvent, expected: impl FnOnce(&mut StudyView)) {
        let (mut applied, mut by_hand) = (fixture::study(), fixture::study());
        apply(&mut applied, event);
        expected(&mut by_hand);
        assert_eq!(applied, by_hand);
    }

    #[test]
    fn a_state_replaces_state_problem_and_time_left() {
        let event = LiveEvent::State {
            state: StudyState::Failed,
            problem: Some("gone".into()),
            remaining_ms: Some(5),
            hold: Hold::Asked,
        };
        check(event, |study| {
            study.state = StudyState::Failed;
            study.problem = Some("gone".into());
            study.remaining_ms = Some(5);
            study.hold = Hold::Asked;
        });
    }

    #[test]
    fn an_answer_that_is_older_than_what_was_heard_takes_nothing_back() {
        let owner = Owner::new();
        owner.set();
        let heard = StudyView {
            last_event: 7,
            state: StudyState::Waiting,
            ..fixture::study()
        };
        let view = RwSignal::new(heard);
        let read = |last_event, state| StudyView {
            last_event,
            state,
            ..fixture::study()
        };
        take_newer(view, read(6, StudyState::Running));
        assert_eq!(view.get_untracked().state, StudyState::Waiting);
        take_newer(view, read(8, StudyState::Finished));
        assert_eq!(view.get_untracked().state, StudyState::Finished);
    }

    #[test]
    fn a_point_replaces_itself_and_brings_its_ceilings() {
        let mut point = fixture::study().points[1].clone();
        point.state = PointState::Running;
        let event = LiveEvent::Point {
            point: Box::new(point),
            ceilings: Box::new((None, None)),
            remaining_ms: None,
        };
        check(event, |study| {
            study.points[1].state = PointState::Running;
            study.configurations[0].ceiling = None;
            study.configurations[0].ceiling_by_percentile = None;
        });
    }

    #[test]
    fn a_point_of_an_unknown_configuration_breaks_nothing() {
        let mut point = fixture::study().points[0].clone();
        point.configuration = 99;
        let event = LiveEvent::Point {
            point: Box::new(point),
            ceilings: Box::new((None, None)),
            remaining_ms: Some(1),
        };
        check(event, |study| {
            study.points[0].configuration = 99;
            study.remaining_ms = Some(1);
        });
    }

    #[test]
    fn facts_go_to_their_configuration() {
        let facts = measure::knobs::Facts::new();
        let event = LiveEvent::Facts {
            configuration: 1,
            facts,
            cache_cold: None,
        };
        check(event, |study| study.configurations[1].cache_cold = None);
    }

    #[test]
    fn progress_changes_only_the_time_left() {
        let event = LiveEvent::Progress {
            point: Uuid::nil(),
            progress: Progress::default(),
            remaining_ms: Some(9),
        };
        check(event, |study| study.remaining_ms = Some(9));
    }

    #[test]
    fn events_are_read_as_the_server_writes_them() {
        let study = fixture::study();
        let events = [
            LiveEvent::State {
                state: StudyState::Running,
                problem: Some("why".into()),
                remaining_ms: None,
                hold: Hold::Paused,
            },
            LiveEvent::Point {
                point: Box::new(study.points[0].clone()),
                ceilings: Box::new((study.configurations[0].ceiling, None)),
                remaining_ms: Some(4),
            },
            LiveEvent::Facts {
                configuration: 1,
                facts: Facts::new(),
                cache_cold: Some(true),
            },
            LiveEvent::Progress {
                point: Uuid::from_u128(5),
                progress: Progress::default(),
                remaining_ms: Some(3),
            },
        ];
        for event in events {
            let json = serde_json::to_string(&event).expect("json");
            assert_eq!(read(&json), Some(event));
        }
        assert_eq!(read(r#"{"kind":"news"}"#), None);
    }

    #[test]
    fn pauses_grow_and_stay_bounded() {
        let pauses: Vec<u64> = [0, 1, 2, 3, 4, 60]
            .map(|attempt| pause(attempt).as_secs())
            .to_vec();
        assert_eq!(pauses, [1, 2, 4, 8, 10, 10]);
    }
}
