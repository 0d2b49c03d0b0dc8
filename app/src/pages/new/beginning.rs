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
    /// The study that it is a copy of, as that stands.
    pub of: Option<StudySpec>,
    /// What stands in the address in vain, each with what is shown instead.
    pub vain: Vec<String>,
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

    use measure::study::{EngineSpec, Preset};
    use uuid::Uuid;

    use super::super::flip::{fix_levels, flip};
    use super::*;
    use crate::studio::{Actor, PointView, Studio, StudioError};

    /// Reads it all.
    pub async fn beginning(
        studio: Arc<dyn Studio>,
        from: Option<String>,
        preset: Option<String>,
        knob: Option<String>,
    ) -> Result<Beginning, StudioError> {
        let owner = &Actor::Owner;
        let mut vain = Vec::new();
        let (mut spec, of) = match from {
            Some(from) => clone_of(&*studio, &from).await?,
            None => {
                vain.extend(preset.as_deref().and_then(no_preset));
                (
                    first(preset.as_deref(), &studio.engines(owner).await?),
                    None,
                )
            }
        };
        if let Some(knob) = knob
            && !flip(&mut spec, &knob)
        {
            vain.push(format!(
                "flip={knob} is no knob of a configuration (0:max-num-seqs=64): nothing is flipped."
            ));
        }
        let sheets = studio.engine_sheets(owner).await?;
        let simulator = studio.simulator_knobs(owner).await?;
        Ok(Beginning {
            drawn: crate::drawn::fields::for_form(&spec, &simulator, &sheets),
            spec,
            of,
            vain,
            engines: studio.engines(owner).await?,
            datasets: studio.datasets(owner).await?,
            slos: studio.slos(owner).await?,
        })
    }

    /// What is said of a preset that there is not.
    fn no_preset(name: &str) -> Option<String> {
        let names = Preset::ALL.map(Preset::name).join(", ");
        let none = Preset::of_name(name).is_none();
        none.then(|| {
            let asked = if name.starts_with("exercise=") { name.to_owned() } else { format!("preset={name}") };
            format!("{asked} is no question that a study is begun with ({names}): the exercise is shown.")
        })
    }

    /// A preset on the engines that are there. Without one, the exercise without its name.
    fn first(preset: Option<&str>, engines: &[EngineRow]) -> StudySpec {
        let Some(preset) = preset.and_then(Preset::of_name) else {
            return StudySpec {
                name: String::new(),
                ..StudySpec::goodput_exercise()
            };
        };
        let engines: Vec<EngineSpec> = engines.iter().map(EngineRow::spec).collect();
        preset.study(&engines)
    }

    /// A study by its id, to be changed and as it is; `STUDY.POINT` to try what that point's diagnosis foretells.
    async fn clone_of(
        studio: &dyn Studio,
        from: &str,
    ) -> Result<(StudySpec, Option<StudySpec>), StudioError> {
        let (study, point) = match from.split_once('.') {
            Some((study, point)) => (study, Some(point)),
            None => (from, None),
        };
        let id = Uuid::parse_str(study).map_err(|_| StudioError::NotFound {
            what: "study".into(),
        })?;
        let view = studio.study(&Actor::Owner, id).await?;
        let mut spec = StudySpec {
            name: format!("{} (again)", view.spec.name),
            ..view.spec.clone()
        };
        let tried = point.and_then(|it| it.parse::<Uuid>().ok());
        let tried = view.points.iter().find(|it| Some(it.id) == tried);
        if let Some(point) = tried {
            let own = |it: &&PointView| it.configuration == point.configuration;
            let measured = view.points.iter().filter(own);
            let measured = measured.filter(|it| it.summary.is_some());
            fix_levels(&mut spec, measured.map(|it| it.level));
            studio.will_try(&Actor::Owner, point.id);
        }
        Ok((spec, Some(view.spec)))
    }
}
