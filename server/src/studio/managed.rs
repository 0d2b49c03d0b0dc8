//! May this study have the studio start its engines, and with these knobs? Which engines were started for it, and what
//! they said.

use app::studio::{EngineRow, StudioError};
use measure::study::{EngineSpec, FieldError, StudySpec, Turn};
use uuid::Uuid;

use super::{LocalStudio, internal, missing};
use crate::store::StoredStart;

impl LocalStudio {
    /// Engines that were added, and those of `studio.toml`, by name.
    pub(super) async fn known_engines(&self) -> Result<Vec<EngineRow>, StudioError> {
        let mut rows = self.store.engines().await.map_err(internal)?;
        rows.extend(self.registry.rows());
        rows.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(rows)
    }

    /// What speaks against a study's managed engines, each at its field.
    pub(super) fn check_managed(&self, spec: &StudySpec) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let mut refuse =
            |field: String, message: String| errors.push(FieldError { field, message });
        if let EngineSpec::Managed { name } = &spec.engine
            && let Some(why) = self.cannot_start(name)
        {
            refuse("engine.name".into(), why);
        }
        for (index, configuration) in spec.configurations.iter().enumerate() {
            let name = match (&configuration.turn, &spec.engine) {
                (Turn::Managed { name }, _) => {
                    if let Some(why) = self.cannot_start(name) {
                        refuse(format!("configurations[{index}].turn.name"), why);
                    }
                    name
                }
                (Turn::AsIs, EngineSpec::Managed { name }) => name,
                _ => continue,
            };
            let Some((_, template)) = self.registry.managed(name) else {
                continue;
            };
            if let Err(error) = template.flags(&configuration.knobs) {
                let field = format!("configurations[{index}].knobs");
                let knob = error
                    .knob
                    .filter(|knob| configuration.knobs.contains_key(knob));
                refuse(
                    knob.map_or(field.clone(), |knob| format!("{field}.{knob}")),
                    error.message,
                );
            }
        }
        errors
    }

    fn cannot_start(&self, name: &str) -> Option<String> {
        if !self.may_start_engines {
            return Some(
                "this studio starts engines for a single user on its own machine only; set token_may_start_engines = true in studio.toml if whoever holds its token administers it".into(),
            );
        }
        if self.registry.managed(name).is_some() {
            return None;
        }
        let known = self.registry.managed_names().join(", ");
        Some(if known.is_empty() {
            format!(
                "there is no engine {name:?} to start; describe it in studio.toml in the data directory, and start the studio again"
            )
        } else {
            format!("there is no engine {name:?} to start; studio.toml has {known}")
        })
    }

    /// The engines that were started for a study, oldest first.
    pub(crate) async fn starts(&self, study: Uuid) -> Result<Vec<StoredStart>, StudioError> {
        self.stored(study).await?;
        self.store.starts(study).await.map_err(internal)
    }

    /// The last of what an engine said.
    pub(crate) async fn start_log(&self, start: Uuid) -> Result<String, StudioError> {
        let log = self.store.start_log(start).await.map_err(internal)?;
        log.ok_or_else(|| missing("engine start"))
    }
}

/// Whether a study runs on the simulator though nothing in it says so.
pub(super) fn is_simulated(spec: &StudySpec, registry: &crate::registry::Registry) -> bool {
    let simulates = |name: &str| {
        let managed = registry.managed(name);
        managed.is_some_and(|(_, template)| template.catalogue.engine == "simulator")
    };
    let by_turn = |turn: &Turn| matches!(turn, Turn::Managed { name } if simulates(name));
    let by_engine = match &spec.engine {
        EngineSpec::Simulator { .. } => true,
        EngineSpec::Endpoint(_) => false,
        EngineSpec::Managed { name } => simulates(name),
    };
    by_engine || spec.configurations.iter().any(|it| by_turn(&it.turn))
}
