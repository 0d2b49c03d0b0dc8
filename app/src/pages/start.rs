//! Studies, newest first: what each found, where each stands, and the way to compare them.

mod choice; // configurations chosen for a comparison
mod empty; // nothing yet: the goodput exercise
mod examples; // studies from elsewhere
mod list; // the rows

use crate::ui::erased::Erase;
use crate::ui::reactive::{effect, memo};
use std::time::Duration;

use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_query_map};

use crate::api;
use crate::reading::Reading;
use crate::studio::{StudyFilter, StudyRow, StudyState};
use choice::{Choice, CompareBar};
use empty::{Exercise, NothingFound};
use examples::Examples;
use list::Row;

/// Studies on one page.
const PAGE: u32 = 50;
/// While something runs, the page looks again so often.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// A search waits so long for the next letter.
const TYPING: Duration = Duration::from_millis(250);

/// The page's studies.
type Studies = Reading<Vec<StudyRow>>;

/// The page.
#[component]
pub fn StartPage() -> impl IntoView {
    let query = use_query_map();
    let filter = memo(move || {
        query.with(|query| StudyFilter {
            search: query.get("q").unwrap_or_default(),
            before_ms: query.get("before").and_then(|text| text.parse().ok()),
            limit: PAGE,
            examples: false,
        })
    });
    let studies = Reading::new(move || filter.get(), api::list_studies);
    look_again_while_running(studies);
    let choice = Choice::new();
    let search = memo(move || filter.with(|filter| filter.search.clone()));
    let unfiltered = memo(move || filter.with(StudyFilter::is_all));
    view! {
        <Title text="Studies" />
        <div class="page">
            <header class="page-head">
                <h1>"Studies"</h1>
                <Search search />
                <a href="/studies/new" rel="external" class="button primary">"New study"</a>
            </header>
            {studies.part(move |rows| view! { <Found rows filter=filter.get_untracked() studies choice /> }.erased())}
            <Examples unfiltered />
        </div>
    }
    .erased()
}

/// The search field. A plain form: it works before the page is awake; then the list follows the typing.
#[component]
fn Search(search: Memo<String>) -> impl IntoView {
    let navigate = use_navigate();
    let go = move |words: String| {
        let address = if words.trim().is_empty() {
            "/".to_owned()
        } else {
            format!("/?q={}", encoded(&words))
        };
        navigate(
            &address,
            NavigateOptions {
                replace: true,
                scroll: false,
                ..NavigateOptions::default()
            },
        );
    };
    let mut later = leptos::leptos_dom::helpers::debounce(TYPING, go);
    view! {
        <search>
            <form method="get" action="/">
                <input
                    type="search"
                    name="q"
                    aria-label="Search studies"
                    placeholder="Search name, tag, engine or model"
                    value=search.get_untracked()
                    on:input=move |event| later(event_target_value(&event))
                />
            </form>
        </search>
    }
    .erased()
}

/// Words as they stand in a query.
fn encoded(words: &str) -> String {
    js_sys::encode_uri_component(words.trim()).into()
}

/// What was found, or what to do where there is nothing.
#[component]
fn Found(
    rows: Vec<StudyRow>,
    filter: StudyFilter,
    studies: Studies,
    choice: Choice,
) -> impl IntoView {
    if rows.is_empty() {
        return if filter.is_all() {
            view! { <Exercise /> }.erased()
        } else {
            view! { <NothingFound search=filter.search /> }.erased()
        };
    }
    let headline = headline(&rows, &filter);
    let older = (rows.len() as u32 == PAGE)
        .then(|| {
            rows.last()
                .map(|row| older_address(&filter, row.created_ms))
        })
        .flatten();
    view! {
        <p class="lede" aria-live="polite">{headline}</p>
        <form class="stack" method="get" action="/compare" on:submit=move |event| choice.follow(&event)>
            <div class="list">
            <div class="studies-head" aria-hidden="true">
                <span>"Study"</span>
                <span>"Holds its SLO up to"</span>
                <span></span>
            </div>
            <ul class="studies">{rows.into_iter().map(|row| view! { <Row row studies choice /> }).collect_view()}</ul>
            </div>
            {older.map(|address| view! { <a href=address>"Older studies"</a> })}
            <CompareBar choice />
        </form>
    }
    .erased()
}

/// The page's first line.
fn headline(rows: &[StudyRow], filter: &StudyFilter) -> String {
    let more = if rows.len() as u32 == PAGE {
        " or more"
    } else {
        ""
    };
    let studies = if rows.len() == 1 { "study" } else { "studies" };
    let found = match (filter.search.trim(), filter.before_ms) {
        ("", None) => format!("{}{more} {studies}.", rows.len()),
        ("", Some(_)) => format!("{}{more} older {studies}.", rows.len()),
        (words, _) => format!("{}{more} {studies} with “{words}”.", rows.len()),
    };
    let running = rows
        .iter()
        .filter(|row| row.state == StudyState::Running)
        .count();
    let waiting = rows
        .iter()
        .filter(|row| row.state == StudyState::Waiting)
        .count();
    let runs = match running {
        0 => String::new(),
        1 => " One is running.".into(),
        many => format!(" {many} are running."),
    };
    let waits = if waiting > 0 {
        " Something waits for you to restart an engine."
    } else {
        ""
    };
    format!("{found}{runs}{waits}")
}

fn older_address(filter: &StudyFilter, before_ms: i64) -> String {
    // Kept free of browser functions: it is rendered on the server, too.
    let words: String = filter
        .search
        .bytes()
        .map(|byte| {
            if byte.is_ascii_alphanumeric() {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect();
    if words.is_empty() {
        format!("/?before={before_ms}")
    } else {
        format!("/?q={words}&before={before_ms}")
    }
}

/// Fetches again while a study moves by itself.
fn look_again_while_running(studies: Studies) {
    let moving = memo(move || {
        let rows = studies.get().and_then(Result::ok);
        rows.is_some_and(|rows| rows.iter().any(is_moving))
    });
    effect(move || {
        if !moving.get() {
            return;
        }
        if let Ok(handle) = set_interval_with_handle(move || studies.refetch(), LOOK_AGAIN) {
            on_cleanup(move || handle.clear());
        }
    });
}

fn is_moving(row: &StudyRow) -> bool {
    matches!(row.state, StudyState::Queued | StudyState::Running)
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    pub(super) fn row(state: StudyState) -> StudyRow {
        StudyRow {
            id: Uuid::from_u128(1),
            name: "a study".into(),
            state,
            simulated: true,
            insecure: false,
            tags: Vec::new(),
            engine: "simulator small-fast".into(),
            slo: "ttft:p95<500ms attain>=95%".parse().expect("slo"),
            configurations: vec![Uuid::from_u128(2)],
            ceilings: vec![("baseline".into(), None)],
            sessions: true,
            points_finished: 1,
            points: 8,
            created_ms: 0,
            imported: false,
        }
    }

    #[test]
    fn the_first_line_says_what_is_there_and_what_happens() {
        let all = StudyFilter::default();
        assert_eq!(headline(&[row(StudyState::Finished)], &all), "1 study.");
        let two = [row(StudyState::Running), row(StudyState::Waiting)];
        assert_eq!(
            headline(&two, &all),
            "2 studies. One is running. Something waits for you to restart an engine."
        );
        let searched = StudyFilter {
            search: " llama ".into(),
            ..all
        };
        assert_eq!(
            headline(&two[..1], &searched),
            "1 study with “llama”. One is running."
        );
    }

    #[test]
    fn older_studies_keep_the_search() {
        let filter = StudyFilter {
            search: "a&b é".into(),
            ..StudyFilter::default()
        };
        assert_eq!(older_address(&filter, 7), "/?q=a%26b%20%C3%A9&before=7");
        assert_eq!(older_address(&StudyFilter::default(), 7), "/?before=7");
    }
}
