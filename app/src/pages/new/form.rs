//! The form's state: the draft, what it reads as, what is wrong with it and where that is shown.

use std::collections::{BTreeMap, BTreeSet};

use crate::ui::reactive::memo;
use leptos::prelude::*;
use measure::study::{FieldError, MAX_POINTS, PlannedPoint, StudySpec};
use wasm_bindgen::JsCast;

use super::draft::{ConfigurationDraft, Draft};
use super::drawn::{drawn_key, unfold};
use super::keep;
use crate::ui::bind::Bind;

/// The form holds no more configurations than a study can have points.
pub const MOST_CONFIGURATIONS: usize = MAX_POINTS;

/// The form's signals. `Copy`, so that every part of the form can hold it.
#[derive(Clone, Copy)]
pub struct Form {
    /// What was typed.
    pub draft: RwSignal<Draft>,
    /// What it reads as; not checked yet.
    pub spec: Memo<Result<StudySpec, Vec<FieldError>>>,
    /// What reading and checking found.
    pub errors: Memo<Vec<FieldError>>,
    /// The points; empty while the draft cannot be read.
    pub plan: Memo<Vec<PlannedPoint>>,
    /// What the server refused, until it is mended or launched again.
    pub refused: RwSignal<Vec<FieldError>>,
    /// What the server drew for engines and their knobs, by [`super::drawn::drawn_key`].
    pub drawn: StoredValue<BTreeMap<String, String>>,
    /// Sections that stand open.
    pub open: RwSignal<BTreeSet<&'static str>>,
    /// Ids of the controls that a person has left at least once.
    touched: RwSignal<BTreeSet<String>>,
    /// Whether Launch was pressed: from then on every error is shown.
    attempted: RwSignal<bool>,
}

impl Form {
    /// A form that starts with `draft`.
    pub fn new(draft: Draft, drawn: BTreeMap<String, String>) -> Self {
        let draft = RwSignal::new(draft);
        let spec = memo(move || draft.with(Draft::read));
        Self {
            draft,
            spec,
            errors: memo(move || {
                spec.with(|spec| spec.as_ref().map_or_else(Clone::clone, StudySpec::check))
            }),
            plan: memo(move || spec.with(|spec| spec.as_ref().map(plan).unwrap_or_default())),
            refused: RwSignal::default(),
            drawn: StoredValue::new(drawn),
            open: RwSignal::default(),
            touched: RwSignal::default(),
            attempted: RwSignal::default(),
        }
    }

    /// The error shown at the control `paths[0]`, which answers for all `paths` and for the elements of each. It shows
    /// once the control was left, or Launch pressed: nobody is scolded while typing.
    pub fn error(self, paths: &[&str]) -> Signal<Option<String>> {
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        memo(move || self.error_at(&paths)).into()
    }

    /// The same for a control that has no signal of its own.
    pub fn error_at(self, paths: &[String]) -> Option<String> {
        let find = |errors: &Vec<FieldError>| {
            let here = |error: &&FieldError| paths.iter().any(|path| covers(path, &error.field));
            errors.iter().find(here).map(|error| error.message.clone())
        };
        let touched =
            |touched: &BTreeSet<String>| paths.first().is_some_and(|id| touched.contains(id));
        let shown = || self.attempted.get() || self.touched.with(touched);
        self.refused
            .with(find)
            .or_else(|| shown().then(|| self.errors.with(find)).flatten())
    }

    /// Everything that is wrong, for the summary.
    pub fn all_errors(self) -> Vec<FieldError> {
        let mut all = self.refused.get();
        all.extend(self.errors.get());
        all
    }

    /// How many errors a section holds that are shown.
    pub fn errors_in(self, section: &'static str) -> usize {
        let shown = self.attempted.get() || !self.refused.read().is_empty();
        if shown {
            self.all_errors()
                .iter()
                .filter(|error| section_of(&error.field) == section)
                .count()
        } else {
            0
        }
    }

    /// What the server refused within `path` and shows nowhere else.
    pub fn refused_below(self, path: &str) -> Option<String> {
        let below = |error: &&FieldError| {
            let rest = error.field.strip_prefix(path);
            rest.is_some_and(|it| it.starts_with('.'))
                && document().get_element_by_id(&error.field).is_none()
        };
        let refused = self.refused.read();
        refused
            .iter()
            .find(below)
            .map(|error| error.message.clone())
    }

    /// Types a text at its place.
    pub fn set(self, place: String, text: String) {
        self.draft
            .update(|draft| *draft = keep::with(draft, place, text));
    }

    /// What the server drew.
    pub fn drawn(self, what: &str, engine: &str) -> String {
        let found = |all: &BTreeMap<String, String>| all.get(&drawn_key(what, engine)).cloned();
        self.drawn.with_value(found).unwrap_or_default()
    }

    /// From now on every error is shown.
    pub fn attempt(self) {
        self.attempted.set(true);
    }

    /// A person left the control `id`.
    pub fn touch(self, id: String) {
        if !id.is_empty() && !self.touched.with_untracked(|touched| touched.contains(&id)) {
            self.touched.update(|touched| touched.extend([id]));
        }
    }

    /// A person changed the control `id`: what the server said of it is no longer true.
    pub fn mend(self, id: &str) {
        if !id.is_empty()
            && self
                .refused
                .with_untracked(|refused| refused.iter().any(|error| covers(id, &error.field)))
        {
            self.refused
                .update(|refused| refused.retain(|error| !covers(id, &error.field)));
        }
    }

    /// Opens a section and puts the focus on the control `id`, or on the section where there is none.
    pub fn go_to(self, section: &'static str, id: String) {
        self.open.update(|open| open.extend([section]));
        // The section must be open before anything in it can be focused.
        request_animation_frame(move || {
            let found = document()
                .get_element_by_id(&id)
                .or_else(|| document().get_element_by_id(&summary_id(section)));
            if let Some(element) = found.and_then(|it| it.dyn_into::<web_sys::HtmlElement>().ok()) {
                unfold(&element);
                // Focus fails only where the element left the page meanwhile.
                let _ = element.focus();
            }
        });
    }

    /// Binds a text of configuration `index`.
    pub fn configuration(
        self,
        index: usize,
        get: impl Fn(&ConfigurationDraft) -> String + Send + Sync + 'static,
        set: impl Fn(&mut ConfigurationDraft, String) + Send + Sync + 'static,
    ) -> Bind<String> {
        Bind::new(
            move || {
                self.draft.with(|draft| {
                    draft
                        .configurations
                        .get(index)
                        .map(&get)
                        .unwrap_or_default()
                })
            },
            move |value| {
                self.draft.update(|draft| {
                    if let Some(configuration) = draft.configurations.get_mut(index) {
                        set(configuration, value);
                    }
                });
            },
        )
    }
}

/// The plan, unless it would be too long to hold.
fn plan(spec: &StudySpec) -> Vec<PlannedPoint> {
    let points =
        (spec.configurations.len() * spec.levels.len()).saturating_mul(spec.repeats as usize);
    if points <= MAX_POINTS {
        spec.plan()
    } else {
        Vec::new()
    }
}

/// Whether a control for `path` answers for an error at `field`: itself, or an element or field of it.
pub fn covers(path: &str, field: &str) -> bool {
    field
        .strip_prefix(path)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
}

/// The section of the form that holds a field.
pub fn section_of(field: &str) -> &'static str {
    let end = field.find(['.', '[']).unwrap_or(field.len());
    match &field[..end] {
        "engine" => "engine",
        "workload" | "tokenizer" => "workload",
        "slo" => "slo",
        "levels" | "adaptive" | "length" | "arrival" => "load",
        "configurations" | "factorial" | "on_failure" => "configurations",
        _ => "more",
    }
}

/// Id of a section's summary line.
pub fn summary_id(section: &str) -> String {
    format!("section-{section}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_answers_for_its_elements_and_nothing_else() {
        for (path, field, expected) in [
            ("levels", "levels", true),
            ("levels", "levels[2]", true),
            ("engine", "engine.url", false),
            ("configurations[1].name", "configurations[1].name", true),
            ("configurations[1]", "configurations[10]", false),
            ("slo", "slow", false),
        ] {
            assert_eq!(covers(path, field), expected, "{path} {field}");
        }
    }

    #[test]
    fn every_field_has_its_section() {
        for (field, section) in [
            ("levels[2]", "load"),
            ("length.min_requests", "load"),
            ("configurations[1].knobs", "configurations"),
            ("engine", "engine"),
            ("workload.input.tokens", "workload"),
            ("tokenizer", "workload"),
            ("ramp_in_ms", "more"),
            ("seed", "more"),
            ("something_new", "more"),
        ] {
            assert_eq!(section_of(field), section, "{field}");
        }
    }
}
