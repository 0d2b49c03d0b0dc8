//! The page of studies, and what its forms do. They work without a script: each leads to a page.

use app::drawn::start::{self, Asked, Deleted, Start, Values};
use app::studio::{Actor, ShareRow, Studio, StudioError, StudyFilter, StudyState};
use axum::extract::State;
use axum::http::Uri;
use axum::response::{Html, IntoResponse, Redirect, Response};
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use measure::study::StudySpec;
use uuid::Uuid;

use super::drawn;
use crate::api::body::{Path, Query};
use crate::auth::Who;
use crate::error::{ApiError, ApiResult};
use crate::guard::refuse;
use crate::routes::Edge;
use crate::store::now_ms;

/// Studies on one page.
const PAGE: u32 = 50;
/// By what studies are told apart.
const KINDS: [&str; 5] = ["engine", "model", "hardware", "tag", "author"];

/// `GET /`.
pub async fn page(
    State(edge): State<Edge>,
    Who(actor): Who,
    uri: Uri,
    Query(asked): Query<Asked>,
) -> Response {
    // A form sends its empty fields, too; its address is the shorter one.
    if is_wordy(uri.query()) {
        return Redirect::to(&asked.address()).into_response();
    }
    match whole(&edge, &actor, asked).await {
        Ok(start) => drawn(|nonce| start::document(&start, edge.site.assets(), nonce)),
        Err(error) => refuse("/", error.into()),
    }
}

/// `GET /list`: the cards alone.
pub async fn list(
    State(edge): State<Edge>,
    Who(actor): Who,
    Query(asked): Query<Asked>,
) -> ApiResult<Html<String>> {
    let start = found(&edge, &actor, readable(asked).0).await?;
    Ok(Html(start::list(&start)))
}

/// `POST /exercise`: launches the goodput exercise and goes to its page.
pub async fn exercise(State(edge): State<Edge>, Who(actor): Who) -> ApiResult<Redirect> {
    let spec = StudySpec::goodput_exercise();
    let id = edge.studio.launch(&actor, spec).await?;
    Ok(Redirect::to(&format!("/studies/{id}")))
}

/// `POST /studies/{id}/delete`: hides a study; the page then offers the way back.
pub async fn delete(
    State(edge): State<Edge>,
    Who(actor): Who,
    Path(id): Path<Uuid>,
) -> Result<Redirect, Refused> {
    edge.studio.delete(&actor, id).await?;
    Ok(Redirect::to(&format!("/?deleted={id}")))
}

/// `POST /studies/{id}/undelete`: brings it back.
pub async fn undelete(
    State(edge): State<Edge>,
    Who(actor): Who,
    Path(id): Path<Uuid>,
) -> Result<Redirect, Refused> {
    edge.studio.undelete(&actor, id).await?;
    Ok(Redirect::to("/"))
}

/// A refusal of a form, as one plain sentence.
pub struct Refused(StudioError);

impl From<StudioError> for Refused {
    fn from(error: StudioError) -> Self {
        Self(error)
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        refuse("/", ApiError::from(self.0))
    }
}

fn is_wordy(query: Option<&str>) -> bool {
    let pairs = query.unwrap_or_default().split('&');
    pairs.into_iter().any(|pair| pair.ends_with('='))
}

async fn whole(edge: &Edge, actor: &Actor, asked: Asked) -> Result<Start, StudioError> {
    let deleted = asked.deleted.parse().ok();
    let (asked, vain) = readable(asked);
    let mut start = found(edge, actor, asked).await?;
    start.vain = vain;
    let filter = StudyFilter {
        examples: true,
        ..StudyFilter::default()
    };
    start.examples = edge.studio.studies(actor, filter).await?;
    for kind in KINDS {
        start.values.push(values(edge, kind).await?);
    }
    if let Some(id) = deleted {
        start.deleted = edge.studio.deleted(id).await?.map(|(name, links)| {
            let (compared, links) = working(&links);
            Deleted {
                id,
                name,
                links,
                compared,
            }
        });
    }
    Ok(start)
}

async fn values(edge: &Edge, kind: &'static str) -> Result<Values, StudioError> {
    let values = edge.studio.facet_values(kind).await?;
    let each = values.into_iter();
    let each = each.map(|it| (it.value, u32::try_from(it.studies).unwrap_or(u32::MAX)));
    Ok((kind, each.collect()))
}

/// Links that still work, but for the deletion: those to comparisons, and the others.
fn working(links: &[ShareRow]) -> (usize, usize) {
    let now = now_ms();
    let works = |it: &&ShareRow| !it.revoked && it.expires_ms.is_none_or(|end| now < end);
    let working = links.iter().filter(works);
    let (compared, others): (Vec<&ShareRow>, Vec<&ShareRow>) =
        working.partition(|it| !it.configurations.is_empty());
    (compared.len(), others.len())
}

async fn found(edge: &Edge, actor: &Actor, asked: Asked) -> Result<Start, StudioError> {
    let filter = filter(&asked);
    let total = edge.studio.total(&filter).await?;
    let mut rows = edge.studio.studies(actor, filter).await?;
    let more = PAGE as usize <= rows.len().saturating_sub(1);
    rows.truncate(PAGE as usize);
    Ok(Start {
        asked,
        rows,
        more,
        total,
        ..Start::default()
    })
}

/// What was asked for without what cannot be read, and what is shown in place of that.
fn readable(mut asked: Asked) -> (Asked, Vec<String>) {
    let mut vain = Vec::new();
    let mut check = |name: &str, text: &mut String, is: bool, instead: &str| {
        if !text.trim().is_empty() && !is {
            vain.push(format!("{name}={text} is {instead}"));
            text.clear();
        }
    };
    let known = state(&asked.state).is_some();
    let states = "no state that a study can be in: studies in every state are shown.";
    check("state", &mut asked.state, known, states);
    for (name, text) in [("from", &mut asked.from), ("to", &mut asked.to)] {
        let is = day(text, 0).is_some();
        check(
            name,
            text,
            is,
            "no day, such as 2026-11-30: it bounds nothing.",
        );
    }
    let is = asked.before.parse::<i64>().is_ok();
    let newest = "no time in milliseconds since 1970: the newest are shown.";
    check("before", &mut asked.before, is, newest);
    (asked, vain)
}

/// What an address asks of the store.
fn filter(asked: &Asked) -> StudyFilter {
    let text = |kind: &str| asked.value(kind).to_owned();
    StudyFilter {
        search: text("q"),
        engine: text("engine"),
        model: text("model"),
        hardware: text("hardware"),
        tag: text("tag"),
        author: text("author"),
        state: state(&asked.state),
        from_ms: day(&asked.from, 0),
        to_ms: day(&asked.to, 1),
        before_ms: asked.before.parse().ok(),
        limit: PAGE + 1,
        examples: false,
    }
}

/// The beginning of a day, or of one after it, in milliseconds since 1970.
fn day(text: &str, later: i64) -> Option<i64> {
    let date: Date = text.trim().parse().ok()?;
    let date = date.checked_add(jiff::Span::new().days(later)).ok()?;
    let midnight = date.to_datetime(Time::midnight());
    let start = TimeZone::UTC.to_timestamp(midnight).ok()?;
    Some(start.as_millisecond())
}

/// Where a study stands, by the name that its badge has.
pub fn state(name: &str) -> Option<StudyState> {
    Some(match name.trim() {
        "queued" => StudyState::Queued,
        "running" => StudyState::Running,
        "waiting" => StudyState::Waiting,
        "finished" => StudyState::Finished,
        "stopped" => StudyState::Stopped,
        "interrupted" => StudyState::Interrupted,
        "failed" => StudyState::Failed,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_whole_and_the_last_one_counts() {
        let asked = Asked {
            from: "2026-11-30".into(),
            to: "2026-11-30".into(),
            state: "nonsense".into(),
            ..Asked::default()
        };
        let filter = filter(&asked);
        assert_eq!(filter.from_ms, Some(1_795_996_800_000));
        assert_eq!(filter.to_ms, Some(1_795_996_800_000 + 86_400_000));
        assert_eq!(filter.state, None);
        assert_eq!(day("yesterday", 0), None);
    }

    #[test]
    fn what_cannot_be_read_is_told_and_left_out() {
        let asked = Asked {
            q: "llama".into(),
            state: "FINISHED".into(),
            from: "2026-13-99".into(),
            to: "2026-11-30".into(),
            before: "x".into(),
            ..Asked::default()
        };
        let (read, vain) = readable(asked);
        assert_eq!(
            (&*read.q, &*read.state, &*read.to),
            ("llama", "", "2026-11-30")
        );
        let begins = ["state=FINISHED is", "from=2026-13-99 is", "before=x is"];
        assert!(
            vain.iter()
                .zip(begins)
                .all(|(it, begins)| it.starts_with(begins))
        );
        assert_eq!(vain.len(), begins.len());
    }

    #[test]
    fn an_address_with_empty_fields_is_made_shorter() {
        for (query, expected) in [
            (None, false),
            (Some("q=a"), false),
            (Some("q="), true),
            (Some("q=a&engine=&from=1"), true),
        ] {
            assert_eq!(is_wordy(query), expected, "{query:?}");
        }
    }
}
