//! Studies: launch, follow, change.

use app::capacity::StudyPlan;
use app::diagnosis::{RuleRecord, StudyWhy};
use app::studio::{
    EngineLog, Studio, StudioError, StudyEdit, StudyFilter, StudyRow, StudyState, StudyView,
};
use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use measure::capacity_plan::Need;
use measure::study::{FieldError, StudySpec};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::body::{self, Path, Query};
use super::schema;
use crate::auth::Who;
use crate::error::{ApiError, ApiResult, Problem};
use crate::routes::Edge;

/// Which studies.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct Filter {
    /// Words that must occur in name, tag, engine or model.
    search: String,
    /// Studies made before this time (milliseconds since 1970), for the next page.
    before_ms: Option<i64>,
    /// At most so many.
    limit: u32,
    /// One of the studies' `engines`, as `vLLM 0.32.0`.
    engine: String,
    /// One of their `models`.
    model: String,
    /// One of their `hardware`.
    hardware: String,
    /// One of their tags.
    tag: String,
    /// Their `author`.
    author: String,
    /// Where they stand: `queued`, `running`, `waiting`, `finished`, `stopped`, `interrupted` or `failed`.
    state: String,
    /// Studies made at this time or later.
    from_ms: Option<i64>,
    /// Studies made before this time.
    to_ms: Option<i64>,
}

/// A state by its name; none where nothing is asked.
fn state_of(name: &str) -> Result<Option<StudyState>, StudioError> {
    if name.is_empty() {
        return Ok(None);
    }
    let found = crate::pages::start::state(name);
    let wrong = || StudioError::Invalid {
        fields: vec![FieldError {
            field: "state".into(),
            message: "queued, running, waiting, finished, stopped, interrupted or failed".into(),
        }],
    };
    found.map(Some).ok_or_else(wrong)
}

/// What was launched.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
pub struct Launched {
    /// The study; its page is `/studies/{id}`.
    pub id: Uuid,
}

/// Studies, newest first.
#[utoipa::path(get, path = "/api/v1/studies", operation_id = "list_studies", tag = "studies", params(Filter),
    responses((status = 200, body = Vec<schema::StudyRow>)))]
pub async fn list(
    State(edge): State<Edge>,
    Who(actor): Who,
    Query(filter): Query<Filter>,
) -> ApiResult<Json<Vec<StudyRow>>> {
    let Filter {
        search,
        before_ms,
        limit,
        engine,
        model,
        hardware,
        tag,
        author,
        state,
        from_ms,
        to_ms,
    } = filter;
    Ok(Json(
        edge.studio
            .studies(
                &actor,
                StudyFilter {
                    search,
                    before_ms,
                    limit,
                    engine,
                    model,
                    hardware,
                    tag,
                    author,
                    state: state_of(&state)?,
                    from_ms,
                    to_ms,
                    examples: false,
                },
            )
            .await?,
    ))
}

/// What a study is launched for.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct LaunchedFor {
    /// The point whose diagnosis the study tries. What was foretold is kept with it where it has that point's load and its second configuration
    /// turns the advised knob alone.
    tries: Option<Uuid>,
}

/// Check a study and put it in the queue.
#[utoipa::path(post, path = "/api/v1/studies", operation_id = "launch_study", tag = "studies", params(LaunchedFor), request_body = schema::StudySpec,
    responses((status = 201, body = Launched), (status = 422, body = Problem, description = "Errors at fields.")))]
pub async fn launch(
    State(edge): State<Edge>,
    Who(actor): Who,
    Query(asked): Query<LaunchedFor>,
    body::Json(spec): body::Json<StudySpec>,
) -> ApiResult<Response> {
    let id = match asked.tries {
        Some(point) => edge.studio.launch_trying(spec, point).await?,
        None => edge.studio.launch(&actor, spec).await?,
    };
    let place = [(header::LOCATION, format!("/api/v1/studies/{id}"))];
    Ok((StatusCode::CREATED, place, Json(Launched { id })).into_response())
}

/// One study with its points.
#[utoipa::path(get, path = "/api/v1/studies/{id}", operation_id = "get_study", tag = "studies", params(("id" = Uuid, Path)),
    responses((status = 200, body = schema::StudyView), (status = 404, body = Problem)))]
pub async fn show(
    State(edge): State<Edge>,
    Who(actor): Who,
    Path(id): Path<Uuid>,
) -> ApiResult<Json<StudyView>> {
    Ok(Json(edge.studio.study(&actor, id).await?))
}

/// Rename, tag, note. What is left out stays.
#[utoipa::path(patch, path = "/api/v1/studies/{id}", operation_id = "edit_study", tag = "studies", params(("id" = Uuid, Path)),
    request_body = schema::StudyEdit, responses((status = 204), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub async fn edit(
    State(edge): State<Edge>,
    Who(actor): Who,
    Path(id): Path<Uuid>,
    body::Json(edit): body::Json<StudyEdit>,
) -> ApiResult<StatusCode> {
    edge.studio.edit(&actor, id, edit).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Hide a study. `undelete` brings it back for 30 days.
#[utoipa::path(delete, path = "/api/v1/studies/{id}", operation_id = "delete_study", tag = "studies", params(("id" = Uuid, Path)),
    responses((status = 204), (status = 404, body = Problem)))]
pub async fn delete(
    State(edge): State<Edge>,
    Who(actor): Who,
    Path(id): Path<Uuid>,
) -> ApiResult<StatusCode> {
    edge.studio.delete(&actor, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Bring a hidden study back.
#[utoipa::path(post, path = "/api/v1/studies/{id}/undelete", operation_id = "undelete_study", tag = "studies", params(("id" = Uuid, Path)),
    responses((status = 204), (status = 404, body = Problem)))]
pub async fn undelete(
    State(edge): State<Edge>,
    Who(actor): Who,
    Path(id): Path<Uuid>,
) -> ApiResult<StatusCode> {
    edge.studio.undelete(&actor, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Stop a study. Points already finished are kept.
#[utoipa::path(post, path = "/api/v1/studies/{id}/stop", operation_id = "stop_study", tag = "studies", params(("id" = Uuid, Path)),
    responses((status = 202), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub async fn stop(
    State(edge): State<Edge>,
    Who(actor): Who,
    Path(id): Path<Uuid>,
) -> ApiResult<StatusCode> {
    edge.studio.stop(&actor, id).await?;
    Ok(StatusCode::ACCEPTED)
}

/// Put an interrupted, stopped or failed study back in the queue. Points that were begun are measured whole.
#[utoipa::path(post, path = "/api/v1/studies/{id}/resume", operation_id = "resume_study", tag = "studies", params(("id" = Uuid, Path)),
    responses((status = 202), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub async fn resume(
    State(edge): State<Edge>,
    Who(actor): Who,
    Path(id): Path<Uuid>,
) -> ApiResult<StatusCode> {
    edge.studio.resume(&actor, id).await?;
    Ok(StatusCode::ACCEPTED)
}

/// Hold a running study once its present point has ended, until it is continued with `proceed`. It keeps its engine meanwhile. Asking twice
/// changes nothing.
#[utoipa::path(post, path = "/api/v1/studies/{id}/pause", operation_id = "pause_study", tag = "studies", params(("id" = Uuid, Path)),
    responses((status = 202), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub async fn pause(
    State(edge): State<Edge>,
    Who(actor): Who,
    Path(id): Path<Uuid>,
) -> ApiResult<StatusCode> {
    edge.studio.pause(&actor, id).await?;
    Ok(StatusCode::ACCEPTED)
}

/// The end of what the engine under measurement has said, where the studio started it; 404 says why there is none.
#[utoipa::path(get, path = "/api/v1/studies/{id}/log", operation_id = "get_engine_log", tag = "studies", params(("id" = Uuid, Path)),
    responses((status = 200, content_type = "text/plain", body = String), (status = 404, body = Problem)))]
pub async fn log(
    State(edge): State<Edge>,
    Who(actor): Who,
    Path(id): Path<Uuid>,
) -> ApiResult<Response> {
    match edge.studio.engine_log(&actor, id).await? {
        EngineLog::Said(said) => {
            let text = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
            Ok((text, said).into_response())
        }
        EngineLog::None(why) => Err(ApiError::NotFound(why.into())),
    }
}

/// Go on with a study that waits for its engine to be restarted, or that was paused; one that was asked to pause does not.
#[utoipa::path(post, path = "/api/v1/studies/{id}/proceed", operation_id = "proceed_study", tag = "studies", params(("id" = Uuid, Path)),
    responses((status = 202), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub async fn proceed(
    State(edge): State<Edge>,
    Who(actor): Who,
    Path(id): Path<Uuid>,
) -> ApiResult<StatusCode> {
    edge.studio.proceed(&actor, id).await?;
    Ok(StatusCode::ACCEPTED)
}

/// What a study's ceilings mean for a demand: what one GPU gives under the SLO, how many replicas the demand takes, and what a million good
/// tokens cost, each with its interval.
#[utoipa::path(get, path = "/api/v1/studies/{id}/capacity", operation_id = "get_capacity", tag = "studies", params(("id" = Uuid, Path), Asked),
    responses((status = 200, body = schema::StudyPlan), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub async fn capacity(
    State(edge): State<Edge>,
    Who(actor): Who,
    Path(id): Path<Uuid>,
    Query(asked): Query<Asked>,
) -> ApiResult<Json<StudyPlan>> {
    let need = Need::read(&|field| asked.get(field)).map_err(|error| StudioError::Invalid {
        fields: vec![FieldError {
            field: error.field.into(),
            message: error.to_string(),
        }],
    })?;
    let study = edge.studio.study(&actor, id).await?;
    Ok(Json(StudyPlan::of(&study, need)))
}

/// Why the study's configurations are slow: of each the diagnosis of the point that matters, which is the first above the ceiling or above capacity, else the
/// highest; and the prediction that the study was begun to try, with what came of it.
#[utoipa::path(get, path = "/api/v1/studies/{id}/diagnosis", operation_id = "get_study_diagnosis", tag = "studies", params(("id" = Uuid, Path)),
    responses((status = 200, body = schema::StudyDiagnosis), (status = 404, body = Problem)))]
pub async fn diagnosis(
    State(edge): State<Edge>,
    Who(_): Who,
    Path(id): Path<Uuid>,
) -> ApiResult<Json<StudyWhy>> {
    Ok(Json(edge.studio.diagnoses_of(id).await?))
}

/// How the rules of the diagnosis have fared in this studio: of each the predictions that a study was begun to try, and what came of them.
#[utoipa::path(get, path = "/api/v1/diagnosis/record", operation_id = "get_diagnosis_record", tag = "studies",
    responses((status = 200, body = Vec<schema::RuleRecord>)))]
pub async fn diagnosis_record(
    State(edge): State<Edge>,
    Who(_): Who,
) -> ApiResult<Json<Vec<RuleRecord>>> {
    Ok(Json(edge.studio.rule_records().await?))
}

/// A demand, and what machines cost. All of it may be left out.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct Asked {
    /// Arrivals per second, in the unit of the study's rates.
    demand: Option<String>,
    /// Percent of the ceiling that is left free; 20 where nobody says.
    headroom: Option<String>,
    /// Price of one GPU for an hour, in any currency.
    price: Option<String>,
    /// GPUs of one replica; 1 where nobody says.
    gpus: Option<String>,
}

impl Asked {
    fn get(&self, field: &str) -> Option<String> {
        let [demand, headroom, price, _] = Need::FIELDS;
        match field {
            _ if field == demand => self.demand.clone(),
            _ if field == headroom => self.headroom.clone(),
            _ if field == price => self.price.clone(),
            _ => self.gpus.clone(),
        }
    }
}
