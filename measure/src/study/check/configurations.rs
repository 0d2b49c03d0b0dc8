//! Can the configurations run, and can they be told apart?

use std::collections::BTreeSet;

use crate::knobs::{KnobValue, check_simulator_knobs};
use crate::study::{ConfigurationSpec, EngineSpec, StudySpec, Turn};

use super::{
    Errors, MAX_NAME, check_endpoint, check_managed, check_name, check_text, declared_problem,
};

pub(super) fn check_configurations(errors: &mut Errors, spec: &StudySpec) {
    errors.unless(
        !spec.configurations.is_empty(),
        "configurations",
        "give at least one configuration",
    );
    let mut names = BTreeSet::new();
    for (index, configuration) in spec.configurations.iter().enumerate() {
        let field = format!("configurations[{index}]");
        check_name(errors, &configuration.name, &format!("{field}.name"));
        let fresh = names.insert(configuration.name.trim());
        errors.unless(
            fresh,
            format!("{field}.name"),
            format!("{:?} is used twice", configuration.name),
        );
        check_turn(errors, configuration, &spec.engine, &field);
        check_knobs(
            errors,
            configuration,
            &spec.engine,
            &format!("{field}.knobs"),
        );
        for (name, value) in &configuration.declared {
            if let Some(problem) = declared_problem(name, value) {
                errors.unless(false, format!("{field}.declared.{name}"), problem);
            }
        }
    }
    if let EngineSpec::Endpoint(_) = spec.engine {
        check_changes(errors, &spec.configurations);
    }
    if !spec.factorial {
        check_one_at_a_time(errors, &spec.configurations);
    }
}

/// A curve that moved has one cause only where one knob was turned. Another engine is a difference of its own.
fn check_one_at_a_time(errors: &mut Errors, configurations: &[ConfigurationSpec]) {
    let Some((baseline, others)) = configurations.split_first() else {
        return;
    };
    for (index, other) in others.iter().enumerate() {
        if matches!(other.turn, Turn::OtherEndpoint(_) | Turn::Managed { .. }) {
            continue;
        }
        let names: BTreeSet<&String> = baseline.knobs.keys().chain(other.knobs.keys()).collect();
        let turned = names
            .into_iter()
            .filter(|it| baseline.knobs.get(*it) != other.knobs.get(*it));
        let turned: Vec<&str> = turned.map(String::as_str).collect();
        errors.unless(
            turned.len() <= 1,
            format!("configurations[{}].knobs", index + 1),
            format!(
                "differs from the baseline in {} knobs ({}): turn one at a time, or choose factorial, where no difference between two has one cause",
                turned.len(),
                turned.join(", ")
            ),
        );
    }
}

/// An engine that nobody touches between two configurations has the same knobs in both, whatever is declared.
fn check_changes(errors: &mut Errors, configurations: &[ConfigurationSpec]) {
    let mut running = None;
    for (index, configuration) in configurations.iter().enumerate() {
        let knobs = &configuration.knobs;
        match configuration.turn {
            Turn::OtherEndpoint(_) | Turn::Managed { .. } => {}
            Turn::Pause { .. } => running = Some(knobs),
            Turn::AsIs => errors.unless(
                *running.get_or_insert(knobs) == knobs,
                format!("configurations[{index}].turn"),
                "nothing would change the engine before this configuration: choose Pause or a second engine, or declare the same knobs",
            ),
        }
    }
}

fn check_turn(
    errors: &mut Errors,
    configuration: &ConfigurationSpec,
    engine: &EngineSpec,
    field: &str,
) {
    let field = format!("{field}.turn");
    match (&configuration.turn, engine) {
        (Turn::AsIs, _) => {}
        (_, EngineSpec::Simulator { .. }) => {
            errors.unless(
                false,
                field,
                "the simulator takes its knobs itself; leave this as it is",
            );
        }
        (Turn::OtherEndpoint(endpoint), _) => check_endpoint(errors, endpoint, &field),
        (Turn::Managed { name }, _) => check_managed(errors, name, &field),
        (Turn::Pause { .. }, EngineSpec::Managed { .. }) => errors.unless(
            false,
            field,
            "the studio starts this engine with its knobs itself; leave this as it is",
        ),
        (Turn::Pause { instruction }, _) => {
            check_text(errors, instruction, &format!("{field}.instruction"))
        }
    }
}

fn check_knobs(
    errors: &mut Errors,
    configuration: &ConfigurationSpec,
    engine: &EngineSpec,
    field: &str,
) {
    if let (EngineSpec::Simulator { .. }, Err(error)) =
        (engine, check_simulator_knobs(&configuration.knobs))
    {
        let knob = error.knob.map(|knob| format!("{field}.{knob}"));
        errors.unless(false, knob.unwrap_or(field.to_owned()), error.message);
    }
    for (name, value) in &configuration.knobs {
        let named = !name.trim().is_empty()
            && !name.contains(char::is_whitespace)
            && name.len() <= MAX_NAME;
        errors.unless(
            named,
            field,
            format!(
                "{name:?} is no knob name; write the flag without dashes, such as max-num-seqs"
            ),
        );
        let finite = !matches!(value, KnobValue::Fraction(number) if !number.is_finite());
        errors.unless(finite, field, format!("{name} must be a finite number"));
    }
}
