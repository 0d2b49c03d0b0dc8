//! What a person knows of an engine that it does not tell itself, typed in once a study has ended.

use std::collections::BTreeMap;

use app::studio::{LiveEvent, StudioError, StudyState};
use measure::knobs::{Fact, Source};
use uuid::Uuid;

use super::views::Model;
use super::{LocalStudio, conflict, internal, invalid};
use crate::store::FactsChange;

impl LocalStudio {
    /// Notes facts of every configuration, each marked as declared. What the engine told stays as it told it.
    pub(super) async fn declare(
        &self,
        id: Uuid,
        declared: &BTreeMap<String, String>,
    ) -> Result<(), StudioError> {
        let model = self.model(id).await?;
        if matches!(model.study.state, StudyState::Running | StudyState::Waiting) {
            return Err(conflict(
                "the study runs; type in what you know of its engine once it has ended",
            ));
        }
        check(&model, declared)?;
        for (ordinal, configuration) in (0..).zip(&model.configurations) {
            let mut facts = configuration.facts.clone();
            facts.extend(declared.iter().map(|(name, value)| {
                let value = value.trim().to_owned();
                let source = Source::Declared;
                (name.clone(), Fact { value, source })
            }));
            let event = LiveEvent::Facts {
                configuration: ordinal,
                facts: facts.clone(),
                cache_cold: configuration.cache_cold,
            };
            let change = FactsChange {
                study: id,
                configuration: ordinal,
                facts: &facts,
                cache_cold: configuration.cache_cold,
                named: None,
                event: &event,
            };
            let number = self.store.record_facts(&change).await.map_err(internal)?;
            self.live.announce(id, Some(number), event);
        }
        Ok(())
    }
}

fn check(model: &Model, declared: &BTreeMap<String, String>) -> Result<(), StudioError> {
    for (name, value) in declared {
        let field = format!("declared.{name}");
        if let Some(problem) = measure::study::declared_problem(name, value) {
            return Err(invalid(&field, problem));
        }
        let told = model.configurations.iter().find_map(|it| {
            let fact = it.facts.get(name)?;
            (fact.source == Source::Engine).then_some(&fact.value)
        });
        if let Some(told) = told {
            return Err(invalid(
                &field,
                format!("the engine itself reports {told}, which stays"),
            ));
        }
    }
    Ok(())
}
