//! What the form begins with, in one answer of the server.

use std::collections::BTreeMap;

use measure::study::StudySpec;
use serde::{Deserialize, Serialize};

use crate::studio::{DatasetRow, EngineRow, NamedSlo};

/// A study, the lists that the form offers, and the fields that the server draws.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Beginning {
    /// The study that the new one starts from. It may lack a name: the form makes one.
    pub spec: StudySpec,
    /// Engines.
    pub engines: Vec<EngineRow>,
    /// Files that workloads name.
    pub datasets: Vec<DatasetRow>,
    /// Named SLOs.
    pub slos: Vec<NamedSlo>,
    /// What was drawn, by [`super::drawn::drawn_key`].
    pub drawn: BTreeMap<String, String>,
}

#[cfg(feature = "ssr")]
pub use asked::beginning;

#[cfg(feature = "ssr")]
mod asked {
    use std::sync::Arc;

    use uuid::Uuid;

    use super::super::flip::flip;
    use super::*;
    use crate::studio::{Actor, Studio, StudioError};

    /// Reads it all.
    pub async fn beginning(
        studio: Arc<dyn Studio>,
        from: Option<String>,
        exercise: bool,
        knob: Option<String>,
    ) -> Result<Beginning, StudioError> {
        let owner = &Actor::Owner;
        let mut spec = match from {
            Some(from) => clone_of(&*studio, &from).await?,
            None => first(exercise),
        };
        if let Some(knob) = knob {
            flip(&mut spec, &knob);
        }
        let sheets = studio.engine_sheets(owner).await?;
        let simulator = studio.simulator_knobs(owner).await?;
        Ok(Beginning {
            drawn: crate::drawn::fields::for_form(&spec, &simulator, &sheets),
            spec,
            engines: studio.engines(owner).await?,
            datasets: studio.datasets(owner).await?,
            slos: studio.slos(owner).await?,
        })
    }

    /// The exercise, under its own name only where it is asked for.
    fn first(exercise: bool) -> StudySpec {
        let spec = StudySpec::goodput_exercise();
        let name = if exercise {
            spec.name.clone()
        } else {
            String::new()
        };
        StudySpec { name, ..spec }
    }

    async fn clone_of(studio: &dyn Studio, from: &str) -> Result<StudySpec, StudioError> {
        let id = Uuid::parse_str(from).map_err(|_| StudioError::NotFound {
            what: "study".into(),
        })?;
        let spec = studio.study(&Actor::Owner, id).await?.spec;
        Ok(StudySpec {
            name: format!("{} (again)", spec.name),
            ..spec
        })
    }
}
