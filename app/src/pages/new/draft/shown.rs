//! What several fields of a study become in the form.

use measure::study::{Adaptive, ConfigurationSpec, Turn};
use measure::units::Level;

/// The rates as they are typed: a grid, or what is looked for.
pub(super) fn rates(levels: &[Level], adaptive: Option<&Adaptive>) -> String {
    let grid = || {
        let each: Vec<String> = levels.iter().map(ToString::to_string).collect();
        each.join(" ")
    };
    adaptive.map_or_else(grid, ToString::to_string)
}

/// What the study's own engine runs on, where all configurations on it say the same.
pub(super) fn hardware(configurations: &[ConfigurationSpec]) -> String {
    let own = configurations
        .iter()
        .filter(|it| matches!(it.turn, Turn::AsIs | Turn::Pause { .. }));
    same(own, HARDWARE)
}

/// What all of them declare alike; empty where they do not.
pub(super) fn same<'a>(all: impl Iterator<Item = &'a ConfigurationSpec>, fact: &str) -> String {
    let told: Vec<_> = all.map(|it| it.declared.get(fact)).collect();
    match told.as_slice() {
        [Some(first), rest @ ..] if rest.iter().all(|it| *it == Some(*first)) => (*first).clone(),
        _ => String::new(),
    }
}

/// The fact that has a field of its own.
pub const HARDWARE: &str = "hardware";
