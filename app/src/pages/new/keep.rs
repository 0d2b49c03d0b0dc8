//! Keeps the draft in the browser's session, so that a reload loses nothing.
//!
//! A draft is kept as a flat list of texts by place: what a newer page no longer knows is left out, and what an older
//! page did not know yet keeps its beginning.

use std::collections::BTreeMap;

use leptos::prelude::*;

use super::draft::{ConfigurationDraft, Draft};
use super::form::MOST_CONFIGURATIONS;
use crate::browser::{read_json, write_json};

/// Texts by place.
type Texts = BTreeMap<String, String>;

/// The place of the number of configurations.
const COUNT: &str = "configurations";

/// Every text of a draft by its place.
pub fn texts(draft: &Draft) -> Texts {
    let mut texts = Texts::from([(COUNT.to_owned(), draft.configurations.len().to_string())]);
    // The visitor may change what it sees, so it sees a copy.
    draft
        .clone()
        .each_text(&mut |place, text| drop(texts.insert(place.to_owned(), text.clone())));
    for (index, configuration) in draft.configurations.iter().enumerate() {
        let knobs = configuration.knobs.iter();
        texts.extend(
            knobs.map(|(knob, value)| (format!("{}{knob}", knobs_at(index)), value.clone())),
        );
    }
    texts
}

fn draft(texts: &Texts, beginning: Draft) -> Draft {
    let mut draft = beginning;
    let count = texts
        .get(COUNT)
        .and_then(|count| count.parse::<usize>().ok());
    if let Some(count) = count {
        draft.configurations.resize(
            count.min(MOST_CONFIGURATIONS),
            ConfigurationDraft::default(),
        );
    }
    draft.each_text(&mut |place, text| {
        if let Some(kept) = texts.get(place) {
            text.clone_from(kept);
        }
    });
    for (index, configuration) in draft
        .configurations
        .iter_mut()
        .enumerate()
        .filter(|_| count.is_some())
    {
        let place = knobs_at(index);
        let knobs = texts
            .iter()
            .filter_map(|(at, value)| Some((at.strip_prefix(&place)?.to_owned(), value.clone())));
        configuration.knobs = knobs.collect();
    }
    draft
}

/// A draft with another text at a place.
pub fn with(before: &Draft, place: String, text: String) -> Draft {
    let mut texts = texts(before);
    texts.insert(place, text);
    draft(&texts, before.clone())
}

fn knobs_at(index: usize) -> String {
    format!("configurations[{index}].knobs.")
}

fn storage() -> Option<web_sys::Storage> {
    window().session_storage().ok().flatten()
}

/// The draft that was typed under this key before, if any; what it lacks is as in `beginning`.
pub fn kept(key: &str, beginning: &Draft) -> Option<Draft> {
    let text = storage()?.get_item(key).ok().flatten()?;
    let texts: Texts = read_json(&text).ok()?;
    Some(draft(&texts, beginning.clone()))
}

/// Keeps a draft. A browser that refuses storage keeps nothing, and the form still works.
pub fn keep(key: &str, draft: &Draft) {
    if let Some(storage) = storage() {
        let _ = storage.set_item(key, &write_json(&texts(draft)));
    }
}

/// Forgets the draft.
pub fn forget(key: &str) {
    if let Some(storage) = storage() {
        let _ = storage.remove_item(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::study::StudySpec;

    #[test]
    fn a_draft_survives_being_kept() {
        let mut typed = Draft::from(&StudySpec::goodput_exercise());
        typed.name = "mine".into();
        typed.configurations.push(typed.next_variant());
        typed.configurations[2].other.url = "http://127.0.0.1:8001".into();
        typed.workload.output.sigma = "1.1".into();
        typed.endpoint.hardware = "1x L4".into();
        typed.configurations[1].set_knob("vllm", "max-num-seqs", "8".into());
        typed.configurations[1].facts = "driver=580".into();
        assert_eq!(draft(&texts(&typed), Draft::default()), typed);
    }

    #[test]
    fn a_text_is_typed_at_its_place_and_nothing_else_changes() {
        let before = Draft::from(&StudySpec::goodput_exercise());
        let mut after = before.clone();
        after.seed = "7".into();
        assert_eq!(with(&before, "seed".into(), "7".into()), after);
        after.configurations[1].set_knob("vllm", "max-num-seqs", "8".into());
        let place = "configurations[1].knobs.vllm\tmax-num-seqs";
        assert_eq!(
            with(&after, place.into(), "9".into()).configurations[1].knob("vllm", "max-num-seqs"),
            "9"
        );
        let after = with(
            &after,
            "configurations[0].facts".into(),
            "driver=580".into(),
        );
        assert_eq!(after.configurations[0].facts, "driver=580");
        assert_eq!(
            with(&after, "configurations[9].facts".into(), "x".into()),
            after
        );
    }

    #[test]
    fn what_an_older_page_did_not_keep_is_as_at_the_beginning() {
        let beginning = Draft::from(&StudySpec::goodput_exercise());
        let older = Texts::from([
            ("name".to_owned(), "kept".to_owned()),
            ("gone".to_owned(), "1".to_owned()),
        ]);
        assert_eq!(
            draft(&older, beginning.clone()),
            Draft {
                name: "kept".into(),
                ..beginning
            }
        );
    }
}
