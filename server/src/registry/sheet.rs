//! An engine of `studio.toml` as pages show it: how it is started and which knobs may be turned. Keys stand here by their
//! names alone.

use app::studio::{EngineSheet, KnobKind, KnobRow, LaunchSheet};
use load::catalogue::{Catalogue, Kind, Knob, catalogue};

use super::{LaunchTemplate, Registered};

/// What stands in place of a value that might be a key.
const HIDDEN: &str = "[secret]";

/// The whole sheet.
pub(super) fn of(engine: &Registered) -> EngineSheet {
    EngineSheet {
        row: engine.row(),
        in_file: true,
        hardware: engine.hardware.clone(),
        tags: engine.tags.clone(),
        launch: engine.launch.as_ref().map(launch),
    }
}

/// The knobs of the simulator.
pub(crate) fn simulator_knobs() -> Vec<KnobRow> {
    let knobs = catalogue("simulator").map(|it| &it.knobs[..]);
    knobs.unwrap_or_default().iter().map(knob).collect()
}

fn launch(template: &LaunchTemplate) -> LaunchSheet {
    let LaunchTemplate {
        template: command,
        catalogue,
        address,
        pass_env,
        limit,
        base_knobs,
        free_flags,
        ..
    } = template;
    let env = command.env.keys().chain(pass_env);
    let knobs = base_knobs.iter();
    LaunchSheet {
        catalogue: checked(catalogue),
        command: shown(&command.command),
        stop: shown(&command.stop),
        env: env.cloned().collect(),
        url: match address.port {
            Some(port) => address.url.replace("{port}", &port.to_string()),
            None => address.url.clone(),
        },
        start_limit_s: limit.as_secs(),
        base_knobs: knobs
            .map(|(name, value)| (name.clone(), value.to_string()))
            .collect(),
        free_flags: *free_flags,
        knobs: turnable(template),
    }
}

fn checked(catalogue: &Catalogue) -> String {
    match &catalogue.checked {
        Some(version) => format!("{}, checked against {version}", catalogue.title),
        None => catalogue.title.clone(),
    }
}

/// Those that the command does not set itself. What the template sets is the default here.
fn turnable(template: &LaunchTemplate) -> Vec<KnobRow> {
    let all = template.catalogue.knobs.iter();
    let free = all.filter(|it| {
        let flag = template.catalogue.flag(&it.name);
        template.template.sets(flag).is_none()
    });
    let row = |it: &Knob| {
        let base = template.base_knobs.get(&it.name);
        KnobRow {
            default: base
                .map(|value| format!("{value}, by studio.toml"))
                .or(it.default.clone()),
            ..knob(it)
        }
    };
    free.map(row).collect()
}

fn knob(knob: &Knob) -> KnobRow {
    KnobRow {
        name: knob.name.clone(),
        kind: match knob.kind {
            Kind::Switch => KnobKind::Switch,
            Kind::Whole => KnobKind::Whole,
            Kind::Fraction => KnobKind::Fraction,
            Kind::Choice => KnobKind::Choice,
            Kind::Text | Kind::Json => KnobKind::Text,
        },
        range: knob.min.zip(knob.max),
        choices: knob.choices.clone(),
        default: knob.default.clone(),
        about: knob.about.clone(),
        since: knob.since.clone(),
    }
}

/// A command without what might be a key: the value of a flag or of a variable that is called so.
pub(crate) fn shown(command: &[String]) -> Vec<String> {
    without_keys(command).map(|(word, _)| word).collect()
}

/// [`shown`] of a command that is stored, an argument a line: earlier releases stored keys as well.
pub(crate) fn shown_lines(command: &str) -> Vec<String> {
    shown(&command.split('\n').map(str::to_owned).collect::<Vec<_>>())
}

/// What [`shown`] takes out of a command.
pub(super) fn keys(command: &[String]) -> impl Iterator<Item = String> {
    without_keys(command).filter_map(|(_, key)| key.map(str::to_owned))
}

/// A command's words as they are shown, each with the key that was taken out of it.
fn without_keys(command: &[String]) -> impl Iterator<Item = (String, Option<&str>)> {
    let mut flag: Option<&str> = None;
    command.iter().map(move |word| {
        let before = flag.take();
        if !word.starts_with('-') && before.is_some_and(|name| is_key(name, word)) {
            return (HIDDEN.to_owned(), Some(word.as_str()));
        }
        match word.split_once('=') {
            Some((name, value)) if is_key(name, value) => {
                return (format!("{name}={HIDDEN}"), Some(value));
            }
            Some(_) => {}
            None => flag = word.starts_with('-').then_some(word.as_str()),
        }
        (word.clone(), None)
    })
}

/// Whether a value of what is called so is a key. `--tokenizer` is none, nor is what counts or limits tokens.
pub(super) fn is_key(name: &str, value: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let mut words = name.split(|it: char| !it.is_ascii_alphanumeric());
    words.any(|it| match it {
        "token" => value.parse::<u32>().is_err(),
        "tokens" => false,
        it => matches!(
            it.trim_end_matches('s'),
            "key" | "secret" | "password" | "auth"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_not_shown_and_everything_else_is() {
        let check = |given: &[&str], expected: &[&str]| {
            let given: Vec<String> = given.iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(shown(&given), expected);
        };
        check(
            &["vllm", "serve", "--api-key", "abc", "--port", "{port}"],
            &["vllm", "serve", "--api-key", HIDDEN, "--port", "{port}"],
        );
        check(
            &["docker", "run", "-e", "HF_TOKEN=abc", "--api-key=abc"],
            &[
                "docker",
                "run",
                "-e",
                "HF_TOKEN=[secret]",
                "--api-key=[secret]",
            ],
        );
        let plain = [
            "x",
            "--tokenizer",
            "m",
            "--max-num-batched-tokens=4096",
            "--max-total-tokens",
            "auto",
            "--long-prefill-token-threshold",
            "512",
            "--token",
            "--port",
        ];
        check(&plain, &plain);
        check(&["--token", "--port", "1"], &["--token", "--port", "1"]);
    }

    #[test]
    fn the_simulators_knobs_have_a_kind_a_range_and_a_default() {
        let knobs = simulator_knobs();
        let seqs = knobs.iter().find(|it| it.name == "max-num-seqs");
        let seqs = seqs.expect("there");
        assert_eq!(
            (seqs.kind, seqs.range),
            (KnobKind::Whole, Some((1.0, 4096.0)))
        );
        assert_eq!(seqs.default.as_deref(), Some("64"));
        let share = knobs.iter().find(|it| it.name == "gpu-memory-utilization");
        assert_eq!(share.map(|it| it.kind), Some(KnobKind::Fraction));
    }
}
