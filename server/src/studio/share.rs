//! What strangers with a link see: the study's numbers, and nothing that leads to the engine or to a person.

use app::studio::{ShareRow, StudioError, StudyState, StudyView};
use measure::knobs::KnobValue;
use measure::study::{Endpoint, EngineSpec, Turn};
use rand::TryRng;
use rand::rngs::SysRng;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::views::Model;
use super::{LocalStudio, conflict, internal, invalid, missing};
use crate::store::now_ms;

/// Links of one study at most, revoked ones included.
const SHARES: usize = 200;

/// A link lives a year, unless it is asked to live shorter.
const LIFETIME_MS: i64 = 365 * 24 * 3600 * 1000;

impl LocalStudio {
    /// Mints a link: 256 random bits, of which only the hash is kept.
    pub(super) async fn mint_share(
        &self,
        study: Uuid,
        expires_ms: Option<i64>,
    ) -> Result<ShareRow, StudioError> {
        self.stored(study).await?;
        let latest = now_ms() + LIFETIME_MS;
        let expires_ms = expires_ms.unwrap_or(latest).min(latest);
        if expires_ms <= now_ms() {
            return Err(invalid("expires_ms", "choose a time in the future"));
        }
        if SHARES <= self.store.shares(study).await.map_err(internal)?.len() {
            return Err(conflict(format!("a study has at most {SHARES} links")));
        }
        let mut random = [0; 32];
        SysRng.try_fill_bytes(&mut random).map_err(internal)?;
        let token = hex(&random);
        let row = self
            .store
            .insert_share(study, &hash(&token), Some(expires_ms))
            .await
            .map_err(internal)?;
        Ok(ShareRow {
            path: Some(format!("/s/{token}")),
            ..row
        })
    }

    /// What a link shows.
    pub(super) async fn shared_view(&self, token: &str) -> Result<StudyView, StudioError> {
        let study = self.shared_study(token).await?;
        let model = Model::load(&self.store, study)
            .await
            .map_err(internal)?
            .ok_or_else(|| missing("link"))?;
        Ok(stripped(model.view()))
    }

    /// The scores of a point of a shared study.
    pub async fn shared_scores(&self, token: &str, point: Uuid) -> Result<Vec<u8>, StudioError> {
        let study = self.shared_study(token).await?;
        match self.store.scores(point).await.map_err(internal)? {
            Some((owner, scores)) if owner == study => Ok(scores),
            _ => Err(missing("finished point")),
        }
    }

    async fn shared_study(&self, token: &str) -> Result<Uuid, StudioError> {
        self.store
            .shared_study(&hash(token))
            .await
            .map_err(internal)?
            .ok_or_else(|| missing("link"))
    }
}

fn hash(token: &str) -> Vec<u8> {
    Sha256::digest(token.as_bytes()).to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A view without engine URL, host, key variable, headers, note and whatever people or engines wrote freely.
fn stripped(mut view: StudyView) -> StudyView {
    view.note = String::new();
    view.problem = view.problem.map(|_| generic_problem(view.state).to_owned());
    if let EngineSpec::Endpoint(endpoint) = &mut view.spec.engine {
        strip_endpoint(endpoint);
    }
    let specs = view
        .spec
        .configurations
        .iter_mut()
        .chain(view.configurations.iter_mut().map(|it| &mut it.spec));
    for spec in specs {
        match &mut spec.turn {
            Turn::OtherEndpoint(endpoint) => strip_endpoint(endpoint),
            Turn::Pause { instruction } => instruction.clear(),
            Turn::AsIs => {}
        }
        for value in spec.knobs.values_mut() {
            if let KnobValue::Word(word) = value {
                *word = without_folders(word);
            }
        }
    }
    for configuration in &mut view.configurations {
        configuration
            .facts
            .retain(|name, _| !matches!(name.as_str(), "url" | "host" | "hostname"));
        for fact in configuration.facts.values_mut() {
            fact.value = without_folders(&fact.value);
        }
    }
    view
}

fn strip_endpoint(endpoint: &mut Endpoint) {
    endpoint.url.clear();
    endpoint.api_key_env = None;
    endpoint.headers.clear();
    endpoint.model = without_folders(&endpoint.model);
}

/// Engines that serve a file name it by its path, which names people and machines.
fn without_folders(name: &str) -> String {
    let is_path = name.starts_with(['/', '~', '.']) || name.contains('\\') || name.contains("://");
    let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
    if is_path {
        last.to_owned()
    } else {
        name.to_owned()
    }
}

fn generic_problem(state: StudyState) -> &'static str {
    match state {
        StudyState::Waiting => "The study waits for its engine.",
        _ => "The study could not go on.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_is_a_path_keeps_its_file_name_only() {
        assert_eq!(without_folders("/home/ada/models/gemma.gguf"), "gemma.gguf");
        assert_eq!(
            without_folders("meta-llama/Llama-3.1-8B"),
            "meta-llama/Llama-3.1-8B"
        );
    }

    #[test]
    fn tokens_are_hex() {
        assert_eq!(hex(&[0, 15, 255]), "000fff");
    }
}
