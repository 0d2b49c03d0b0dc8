//! One point: a document whose requests are drawn while its beginning is read, and what its script asks for.

use std::convert::Infallible;
use std::sync::Arc;

use app::drawn::document::{self, Drawn};
use app::point::{self, PANELS, REQUESTS, heading};
use app::requests::{Place, Requests, View, panel, request, rows};
use app::studio::{Actor, PointView, Studio, StudioError, StudyView};
use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use tokio::sync::mpsc::{Sender, channel};
use tokio_stream::wrappers::ReceiverStream;
use uuid::Uuid;

use super::{drawn, sorry};
use crate::api::body::{Path, Query};
use crate::auth::Who;
use crate::error::ApiError;
use crate::guard::headers::page_policy;
use crate::routes::Edge;
use crate::studio::{internal, missing};

/// A query as names and values.
type Pairs = Vec<(String, String)>;

fn view(pairs: &Pairs) -> View {
    View::read(|key| {
        let found = pairs.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value.clone())
    })
}

/// The point's page. What is known at once is sent at once.
pub async fn page(
    State(edge): State<Edge>,
    Who(actor): Who,
    Path((study, point)): Path<(String, String)>,
    Query(pairs): Query<Pairs>,
) -> Response {
    let ids = study.parse().ok().zip(point.parse().ok());
    let found = match ids {
        Some((study, point)) => find(&edge, &actor, study, point).await,
        None => Err(missing("point")),
    };
    match found {
        Ok((study, point)) => stream(edge, actor, study, point, view(&pairs)),
        Err(error @ StudioError::NotFound { .. }) => sorry(&edge, &error),
        Err(error) => ApiError::from(error).into_response(),
    }
}

async fn find(
    edge: &Edge,
    actor: &Actor,
    study: Uuid,
    point: Uuid,
) -> Result<(StudyView, PointView), StudioError> {
    let study = edge.studio.study(actor, study).await?;
    let found = study.points.iter().find(|it| it.id == point).cloned();
    let found = found.ok_or_else(|| missing("point"))?;
    Ok((study, found))
}

/// The document, part by part.
fn stream(edge: Edge, actor: Actor, study: StudyView, point: PointView, view: View) -> Response {
    let nonce = Uuid::now_v7().simple().to_string();
    let page = Drawn {
        title: format!("{}, {}", heading(&study, &point), study.spec.name),
        is_engines: false,
        body: point::page(&study, &point, &nonce),
    };
    let page = document::document(&page, edge.site.assets(), &nonce);
    let (sender, receiver) = channel(1);
    tokio::spawn(async move {
        // Whoever no longer reads needs no rest of it.
        let _ = write(&edge, &actor, (study.id, point), view, &page, sender).await;
    });
    let policy = [
        (header::CONTENT_SECURITY_POLICY, page_policy(&nonce)),
        (header::CONTENT_TYPE, "text/html; charset=utf-8".to_owned()),
    ];
    let body = Body::from_stream(ReceiverStream::new(receiver));
    (policy, body).into_response()
}

/// Nobody reads on.
struct Gone;

async fn write(
    edge: &Edge,
    actor: &Actor,
    (study, point): (Uuid, PointView),
    view: View,
    page: &str,
    to: Sender<Result<String, Infallible>>,
) -> Result<(), Gone> {
    let send = async |text: String| to.send(Ok(text)).await.map_err(|_| Gone);
    let Some((head, rest)) = page.split_once(REQUESTS) else {
        return send(page.to_owned()).await;
    };
    let (middle, tail) = rest.split_once(PANELS).unwrap_or((rest, ""));
    send(head.to_owned()).await?;
    send(of_requests(edge, study, &point, view).await).await?;
    send(middle.to_owned()).await?;
    send(panels(edge, actor, point.id).await).await?;
    send(tail.to_owned()).await
}

/// What the point's requests show, or why they show nothing.
async fn of_requests(edge: &Edge, study: Uuid, point: &PointView, view: View) -> String {
    let found = edge.studio.requests_of(study, point.id).await;
    let told = match found {
        Ok(Ok(requests)) => draw(requests, move |it| panel(&it.part(&view)).into_string()).await,
        Ok(Err(why)) => return point::without_requests(point, why).into_string(),
        Err(error) => Err(error),
    };
    told.unwrap_or_else(|error| point::unreadable(&error).into_string())
}

/// Draws where it may take a while.
async fn draw<T: Send + 'static>(
    requests: Arc<Requests>,
    draw: impl FnOnce(&Requests) -> T + Send + 'static,
) -> Result<T, StudioError> {
    let drawn = tokio::task::spawn_blocking(move || draw(&requests)).await;
    drawn.map_err(internal)
}

/// Diagnosis, evidence, and what other tools would say; nothing of each where there is none.
async fn panels(edge: &Edge, actor: &Actor, point: Uuid) -> String {
    let studio = &edge.studio;
    let diagnosis = studio.diagnosis(actor, point).await.unwrap_or_default();
    let diagnosis = diagnosis.as_ref().map(app::diagnosis::panel);
    let evidence = studio.evidence(actor, point).await.unwrap_or_default();
    let evidence = evidence.map(|it| app::evidence::panel(point, &it));
    let rules = studio.rules(actor, point).await.ok();
    let rules = rules.map(|tables| app::rules::panel(point, &tables));
    [diagnosis, evidence, rules].into_iter().flatten().collect()
}

/// The requests of a point that has some.
async fn shown(edge: &Edge, study: Uuid, point: Uuid) -> Result<Arc<Requests>, ApiError> {
    let found = edge.studio.requests_of(study, point).await?;
    Ok(found.map_err(|_| missing("requests of that point"))?)
}

/// All that follows from a window, drawn anew.
pub async fn requests(
    State(edge): State<Edge>,
    _: Who,
    Path((study, point)): Path<(Uuid, Uuid)>,
    Query(pairs): Query<Pairs>,
) -> Result<Html<String>, ApiError> {
    let found = shown(&edge, study, point).await?;
    let view = view(&pairs);
    let html = draw(found, move |it| panel(&it.part(&view)).into_string());
    Ok(Html(html.await?))
}

/// Rows from one place up to another, `?first=` and `?last=`.
pub async fn some_rows(
    State(edge): State<Edge>,
    _: Who,
    Path((study, point)): Path<(Uuid, Uuid)>,
    Query(pairs): Query<Pairs>,
) -> Result<Html<String>, ApiError> {
    let found = shown(&edge, study, point).await?;
    let place = |key: &str| {
        let found = pairs.iter().find(|(name, _)| name == key);
        found.and_then(|(_, value)| value.parse().ok())
    };
    let (first, last) = (place("first").unwrap_or(0), place("last").unwrap_or(0));
    let view = view(&pairs);
    let html = draw(found, move |it| {
        rows(&it.part(&view), first, last).into_string()
    });
    Ok(Html(html.await?))
}

/// One request, by its number from 1.
pub async fn one(
    State(edge): State<Edge>,
    Who(actor): Who,
    Path((study, point, number)): Path<(String, String, String)>,
    Query(pairs): Query<Pairs>,
) -> Response {
    let ids = study.parse().ok().zip(point.parse().ok());
    let place = number
        .parse::<usize>()
        .ok()
        .and_then(|it| it.checked_sub(1));
    let found = match ids.zip(place) {
        Some(((study, point), place)) => {
            of_one(&edge, &actor, (study, point, place), view(&pairs)).await
        }
        None => Err(missing("request")),
    };
    match found {
        Ok(page) => drawn(|nonce| document::document(&page, edge.site.assets(), nonce)),
        Err(error @ StudioError::NotFound { .. }) => sorry(&edge, &error),
        Err(error) => ApiError::from(error).into_response(),
    }
}

/// A request's page.
async fn of_one(
    edge: &Edge,
    actor: &Actor,
    (study, point, place): (Uuid, Uuid, usize),
    view: View,
) -> Result<Drawn, StudioError> {
    let (study, point) = find(edge, actor, study, point).await?;
    let found = edge.studio.requests_of(study.id, point.id).await?;
    let found = found.map_err(|_| missing("requests of that point"))?;
    let heading = heading(&study, &point);
    let at = Place {
        study: &study.spec.name,
        point: &heading,
        place,
    };
    Ok(Drawn {
        body: request(&found, &view, &at).ok_or_else(|| missing("request"))?,
        title: format!("Request {}, {heading}, {}", place + 1, study.spec.name),
        is_engines: false,
    })
}
