//! What a study would send, before anything is sent.

use app::studio::{Sample, StudioError};
use load::PointPlan;
use measure::study::StudySpec;
use measure::units::Level;
use serde_json::Value;

use super::{LocalStudio, dataset, internal, invalid};
use crate::studio::launch::check_files;
use crate::supervisor::first_point;

/// Requests looked at: enough for a p95 and what a page can wait for.
const REQUESTS: u32 = 400;

impl LocalStudio {
    /// The first requests of a study's first point, as they would be sent.
    pub(super) async fn first_requests(&self, spec: StudySpec) -> Result<Sample, StudioError> {
        let mut fields = spec.check();
        if fields.is_empty() {
            fields.extend(check_files(&spec, &self.data_dir));
        }
        if !fields.is_empty() {
            return Err(StudioError::Invalid { fields });
        }
        let data_dir = self.data_dir.clone();
        let turn = dataset::turn_for(&spec).await;
        let spec = shortened(spec);
        let planned = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            first_point(&spec, &data_dir).map(|plan| sample(&plan))
        });
        let planned = planned.await.map_err(internal)?;
        planned.map_err(|message| invalid("workload", message))
    }
}

/// The study with a first point that is no longer than is looked at.
fn shortened(mut spec: StudySpec) -> StudySpec {
    spec.length.max_requests = spec.length.max_requests.min(REQUESTS);
    spec.length.min_requests = spec.length.min_requests.min(REQUESTS);
    // Of a trace that is replayed all that is due would be made; its requests are the same at any speed.
    if spec
        .levels
        .iter()
        .any(|level| matches!(level, Level::Replay(_)))
    {
        spec.levels = vec![Level::Inf];
    }
    spec
}

fn sample(plan: &PointPlan) -> Sample {
    let requests = || plan.sessions.iter().flat_map(|session| &session.turns);
    let turns = |it: &load::PlannedSession| u32::try_from(it.turns.len()).unwrap_or(u32::MAX);
    // The last turn of a session shows what the turns before have become.
    let longest = plan.sessions.iter().max_by_key(|it| it.turns.len().min(2));
    let shown = longest.and_then(|session| session.turns.get(session.turns.len().min(2) - 1));
    Sample {
        input_tokens: requests().map(|it| it.input_tokens).collect(),
        output_tokens: requests().map(|it| it.output_tokens).collect(),
        turns: plan.sessions.iter().map(turns).collect(),
        messages: shown.map_or_else(Vec::new, |it| messages(&it.body.bytes_after(&[]))),
    }
}

/// Who says what in a body of OpenAI's chat.
fn messages(body: &[u8]) -> Vec<(String, String)> {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    messages
        .iter()
        .map(|message| (text(&message["role"]), text(&message["content"])))
        .collect()
}
