//! A study, live: server-sent events that a reader can take up where it left off.

use std::convert::Infallible;
use std::time::Duration;

use app::studio::Studio;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::{Stream, StreamExt};
use serde::Deserialize;
use utoipa::IntoParams;
use uuid::Uuid;

use super::body::{Path, Query};
use crate::auth::Who;
use crate::error::{ApiResult, Problem};
use crate::live::Numbered;
use crate::routes::Edge;

/// A comment so often, so that nothing between takes the stream for dead.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Where to take up.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct After {
    /// Events after this number (`last_event` of a study); the header `Last-Event-ID` goes before it.
    after: u64,
}

/// Follow a study: state changes, points as they begin and end (numbered, none is missed), progress (not numbered, may
/// be missed). Each event's data is JSON with its `kind`.
#[utoipa::path(get, path = "/api/v1/studies/{id}/events", operation_id = "follow_study", tag = "studies", params(("id" = Uuid, Path), After),
    responses((status = 200, content_type = "text/event-stream", body = String), (status = 404, body = Problem)))]
pub async fn events(
    State(edge): State<Edge>,
    Who(actor): Who,
    Path(id): Path<Uuid>,
    Query(After { after }): Query<After>,
    headers: HeaderMap,
) -> ApiResult<Sse<impl Stream<Item = Result<Event, Infallible>>>> {
    let last = edge.studio.study(&actor, id).await?.last_event;
    // A number that no event has yet would hide all those to come: whoever names one knows another database's.
    let after = last_event_id(&headers).unwrap_or(after).min(last);
    let events = edge.studio.live().subscribe(id, after);
    let stream = events
        .take_until(edge.stop.clone().cancelled_owned())
        .map(|event| Ok(encode(&event)));
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

fn encode((number, event): &Numbered) -> Event {
    let data = serde_json::to_string(event).unwrap_or_default();
    let line = Event::default().data(data);
    number.map_or(line.clone(), |number| line.id(number.to_string()))
}

/// What a reconnecting browser says it saw last.
fn last_event_id(headers: &HeaderMap) -> Option<u64> {
    headers
        .get("last-event-id")?
        .to_str()
        .ok()?
        .trim()
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_takes_up_where_it_left_off() {
        let headers = |text: &str| {
            HeaderMap::from_iter([(
                "last-event-id".parse().expect("name"),
                text.parse().expect("value"),
            )])
        };
        assert_eq!(last_event_id(&headers("17")), Some(17));
        assert_eq!(last_event_id(&headers("x")), None);
        assert_eq!(last_event_id(&HeaderMap::new()), None);
    }
}
