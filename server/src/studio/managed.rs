//! May this study have the studio start its engines, and with these knobs? Which engines were started for it, and what
//! they said.

use app::studio::{EngineRow, EngineSheet, Engines, StartFate, StartRow, StudioError, StudyState};
use load::launch::LaunchError;
use measure::study::{EngineSpec, FieldError, StudySpec, Turn};
use uuid::Uuid;

use super::{LocalStudio, internal, missing};
use crate::registry::sheet::shown_lines;
use crate::store::StoredStart;
use crate::supervisor::DIED;

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

    /// Every engine as pages show it, by name.
    pub(super) async fn sheets(&self) -> Result<Engines, StudioError> {
        let mut sheets: Vec<EngineSheet> = self.registry.sheets().collect();
        let added = self.store.engines().await.map_err(internal)?;
        sheets.extend(added.into_iter().map(|row| EngineSheet {
            row,
            in_file: false,
            hardware: None,
            tags: Vec::new(),
            launch: None,
        }));
        sheets.sort_by(|one, other| one.row.name.cmp(&other.row.name));
        Ok(Engines {
            sheets,
            no_starts: (!self.may_start_engines).then(|| NO_STARTS.to_owned()),
        })
    }

    fn cannot_start(&self, name: &str) -> Option<String> {
        if !self.may_start_engines {
            return Some(NO_STARTS.to_owned());
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
    pub(crate) async fn stored_starts(&self, study: Uuid) -> Result<Vec<StoredStart>, StudioError> {
        self.stored(study).await?;
        self.store.starts(study).await.map_err(internal)
    }

    /// The same for a page.
    pub(super) async fn start_rows(&self, study: Uuid) -> Result<Vec<StartRow>, StudioError> {
        let runs = matches!(
            self.stored(study).await?.state,
            StudyState::Running | StudyState::Waiting
        );
        let starts = self.stored_starts(study).await?;
        Ok(starts.into_iter().map(|it| start_row(it, runs)).collect())
    }

    /// The last of what an engine said, of one that runs here up to now.
    pub(crate) async fn start_log(&self, start: Uuid) -> Result<String, StudioError> {
        if let Some(said) = self.supervisor.said_by(start) {
            return Ok(said);
        }
        let log = self.store.start_log(start).await.map_err(internal)?;
        log.ok_or_else(|| missing("engine start"))
    }
}

/// Who may not have engines started, and the mend.
const NO_STARTS: &str = "this studio starts engines for a single user on its own machine only; set token_may_start_engines = true in studio.toml if whoever holds its token administers it";

/// A start with what became of it. An engine runs only as long as its study does.
fn start_row(start: StoredStart, study_runs: bool) -> StartRow {
    let ending = start.ending.as_deref().unwrap_or_default();
    let failed = start.startup_ms.is_none() && ending != LaunchError::GivenUp.to_string()
        || ending.starts_with(DIED);
    let fate = match start.ended_ms {
        Some(_) if failed => StartFate::Failed,
        Some(_) => StartFate::Stopped,
        None if study_runs => StartFate::Runs,
        None => StartFate::Unseen,
    };
    StartRow {
        id: start.id,
        configuration: u32::try_from(start.configuration).unwrap_or_default(),
        command: shown_lines(&start.command),
        started_ms: start.started_ms,
        startup_ms: start.startup_ms,
        fate,
        ending: start.ending,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(startup_ms: Option<i64>, ending: Option<&str>, runs: bool, expected: StartFate) {
        let start = StoredStart {
            id: Uuid::nil(),
            configuration: 1,
            command: "a\nb".into(),
            started_ms: 0,
            startup_ms,
            ended_ms: ending.map(|_| 1),
            ending: ending.map(str::to_owned),
        };
        let row = start_row(start, runs);
        assert_eq!((row.fate, row.command.len()), (expected, 2));
    }

    #[test]
    fn a_key_that_an_earlier_release_stored_is_not_shown() {
        let start = StoredStart {
            id: Uuid::nil(),
            configuration: 0,
            command: "vllm\n--api-key\nsk-live\n--port=1".into(),
            started_ms: 0,
            startup_ms: None,
            ended_ms: None,
            ending: None,
        };
        let shown = ["vllm", "--api-key", "[secret]", "--port=1"];
        assert_eq!(start_row(start, false).command, shown);
    }

    #[test]
    fn what_became_of_a_start_is_told_by_its_token_and_its_end() {
        let stopped = "stopped within 0.1 s: exit status 0";
        check(Some(900), Some(stopped), false, StartFate::Stopped);
        check(
            None,
            Some("it ended: exit status 1"),
            false,
            StartFate::Failed,
        );
        let died = format!("{DIED}killed by signal 9");
        check(Some(900), Some(&died), true, StartFate::Failed);
        check(
            None,
            Some("the start was given up"),
            false,
            StartFate::Stopped,
        );
        check(Some(900), None, true, StartFate::Runs);
        check(Some(900), None, false, StartFate::Unseen);
    }
}
