//! What a person knows of engines and of the study, as declared facts of each configuration.

use std::collections::BTreeMap;

use measure::knobs::AUTHOR;
use measure::study::declared_problem;

use super::Reader;
use crate::pages::new::draft::{ConfigurationDraft, Draft, HARDWARE, named};

impl Reader {
    /// What a person knows of the configuration's engine.
    pub(super) fn facts(
        &mut self,
        field: &str,
        draft: &ConfigurationDraft,
        study: &Draft,
    ) -> Option<BTreeMap<String, String>> {
        let mut facts = self.pairs(field, &draft.facts, '=', "name=value")?;
        let hardware = named(&study.endpoint_of(draft).hardware);
        if let Some(hardware) = hardware.filter(|_| !study.is_simulated()) {
            let other = field.strip_suffix("declared").map(|it| format!("{it}turn"));
            let owner = other.filter(|_| draft.way == "other_endpoint");
            let place = format!("{}.{HARDWARE}", owner.as_deref().unwrap_or("engine"));
            match declared_problem(HARDWARE, &hardware) {
                Some(_) if self.errors.iter().any(|it| it.field == place) => return None,
                Some(problem) => return self.refuse(&place, problem),
                None => drop(facts.entry(HARDWARE.to_owned()).or_insert(hardware)),
            }
        }
        if let Some(author) = named(&study.author) {
            match declared_problem(AUTHOR, &author) {
                Some(_) if self.errors.iter().any(|it| it.field == AUTHOR) => return None,
                Some(problem) => return self.refuse(AUTHOR, problem),
                None => drop(facts.entry(AUTHOR.to_owned()).or_insert(author)),
            }
        }
        Some(facts)
    }
}
