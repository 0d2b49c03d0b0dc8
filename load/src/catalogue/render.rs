//! From checked values to arguments, one each, in the order of their names.

use std::collections::BTreeMap;

use measure::knobs::{KnobError, KnobValue, Knobs};

use super::value::is_plain;
use super::{Catalogue, Kind, Knob, SwitchStyle};

/// Longest name of a flag that the catalogue does not know.
const LONGEST: usize = 64;

/// What values become.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Arguments.
    pub args: Vec<String>,
    /// Environment variables.
    pub env: BTreeMap<String, String>,
    /// Names that the catalogue does not know.
    pub unknown: Vec<String>,
}

impl Catalogue {
    /// Checks values and makes arguments of them. With `free` flags that the catalogue does not know go through as well,
    /// by name; else they are refused.
    pub fn render(&self, knobs: &Knobs, free: bool) -> Result<Flags, KnobError> {
        let mut flags = Flags::default();
        for (name, value) in knobs {
            let refused = |message| KnobError {
                knob: Some(name.clone()),
                message,
            };
            match self.knob(name) {
                Some(knob) => {
                    knob.check(value).map_err(refused)?;
                    self.write(knob, value, &mut flags);
                }
                None if free => {
                    if let Some(knob) = self.spelled(name) {
                        return Err(refused(format!(
                            "{name} is another spelling of {}; write it so",
                            knob.name
                        )));
                    }
                    check_free(name, value).map_err(refused)?;
                    flags.unknown.push(name.clone());
                    self.write_flag(name, value, SwitchStyle::Negatable, &mut flags.args);
                }
                None => return Err(self.unknown(name)),
            }
        }
        Ok(flags)
    }

    fn write(&self, knob: &Knob, value: &KnobValue, flags: &mut Flags) {
        if let Some(variable) = &knob.env {
            let text = match value {
                KnobValue::Switch(on) => u8::from(*on).to_string(),
                other => other.to_string(),
            };
            flags.env.insert(variable.clone(), text);
            return;
        }
        let style = knob.switch.unwrap_or(self.switch);
        match (&self.pair, knob.kind) {
            (Some(pair), _) => {
                flags
                    .args
                    .extend([pair.clone(), format!("{}={value}", knob.name)]);
            }
            // A choice between on, off and more is a value.
            (None, Kind::Choice) => {
                self.write_flag(&knob.name, value, SwitchStyle::Value, &mut flags.args)
            }
            (None, _) => self.write_flag(&knob.name, value, style, &mut flags.args),
        }
    }

    fn write_flag(
        &self,
        name: &str,
        value: &KnobValue,
        style: SwitchStyle,
        args: &mut Vec<String>,
    ) {
        match (value, style) {
            (KnobValue::Switch(true), SwitchStyle::Negatable | SwitchStyle::Set) => {
                args.push(format!("--{name}"))
            }
            (KnobValue::Switch(false), SwitchStyle::Negatable) => args.push(format!("--no-{name}")),
            (KnobValue::Switch(false), SwitchStyle::Set) => {}
            (value, _) if self.joined => args.push(format!("--{name}={value}")),
            (value, _) => args.extend([format!("--{name}"), value.to_string()]),
        }
    }
}

/// A flag that nobody knows anything of still is one flag with one value.
fn check_free(name: &str, value: &KnobValue) -> Result<(), String> {
    let mut letters = name.chars();
    let begins = letters.next().is_some_and(|it| it.is_ascii_lowercase());
    let is_name =
        |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || matches!(it, '-' | '_' | '.');
    if !begins || !letters.all(is_name) || LONGEST < name.len() {
        return Err(format!(
            "{name:?} is no flag's name; write it without dashes before it, in small letters, digits, - and _"
        ));
    }
    let text = value.to_string();
    let is_json = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&text).is_ok();
    if is_plain(&text) || is_json && !text.contains(char::is_control) {
        return Ok(());
    }
    Err(format!(
        "{name} must be one word that does not begin with a dash, or a JSON object"
    ))
}

#[cfg(test)]
mod tests {
    use super::super::catalogue;
    use super::*;

    fn knobs(pairs: &[(&str, &str)]) -> Knobs {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), KnobValue::from(*value)))
            .collect()
    }

    #[track_caller]
    fn check(engine: &str, pairs: &[(&str, &str)], args: &[&str]) {
        let flags = catalogue(engine)
            .expect(engine)
            .render(&knobs(pairs), false);
        assert_eq!(
            flags.map(|it| it.args),
            Ok(args.iter().map(|it| (*it).to_owned()).collect())
        );
    }

    #[test]
    fn a_free_flag_is_no_other_spelling_of_one_that_is_known() {
        for (engine, name, known) in [
            ("vllm", "max_num_seqs", "max-num-seqs"),
            ("vllm", "tp", "tensor-parallel-size"),
            ("sglang", "tp-size", "tp"),
            ("llamacpp", "np", "parallel"),
            ("tensorrt-llm", "max-batch-size", "max_batch_size"),
        ] {
            let rendered = catalogue(engine)
                .expect(engine)
                .render(&knobs(&[(name, "4")]), true);
            let refused = rendered.expect_err(name);
            assert!(
                refused.message.contains(&format!("spelling of {known};")),
                "{}",
                refused.message
            );
        }
    }

    #[test]
    fn each_engine_writes_its_flags_in_its_way() {
        check(
            "vllm",
            &[
                ("max-num-seqs", "4"),
                ("enable-prefix-caching", "off"),
                ("enforce-eager", "on"),
            ],
            &[
                "--no-enable-prefix-caching",
                "--enforce-eager",
                "--max-num-seqs=4",
            ],
        );
        check(
            "sglang",
            &[
                ("disable-radix-cache", "on"),
                ("enable-mixed-chunk", "off"),
                ("tp", "2"),
            ],
            &["--disable-radix-cache", "--tp=2"],
        );
        check(
            "llamacpp",
            &[
                ("flash-attn", "off"),
                ("parallel", "-1"),
                ("repack", "off"),
                ("swa-full", "on"),
            ],
            &[
                "--flash-attn",
                "off",
                "--parallel",
                "-1",
                "--no-repack",
                "--swa-full",
            ],
        );
        check(
            "simulator",
            &[("enable-prefix-caching", "on")],
            &["--knob", "enable-prefix-caching=on"],
        );
        let ollama = catalogue("ollama")
            .expect("there")
            .render(
                &knobs(&[("num-parallel", "4"), ("sched-spread", "off")]),
                false,
            )
            .expect("taken");
        assert!(ollama.args.is_empty());
        assert_eq!(
            ollama.env,
            [
                ("OLLAMA_NUM_PARALLEL".to_owned(), "4".to_owned()),
                ("OLLAMA_SCHED_SPREAD".to_owned(), "0".to_owned())
            ]
            .into()
        );
    }

    #[test]
    fn a_flag_that_nobody_knows_needs_leave_and_stays_one_flag() {
        let vllm = catalogue("vllm").expect("there");
        let free = knobs(&[("max-lora-rank", "16"), ("some-switch", "off")]);
        let refused = vllm.render(&free, false).expect_err("refused");
        assert_eq!(refused.knob.as_deref(), Some("max-lora-rank"));
        assert!(
            refused.message.contains("unknown to the catalogue of vLLM"),
            "{}",
            refused.message
        );
        let flags = vllm.render(&free, true).expect("taken");
        assert_eq!(flags.args, ["--max-lora-rank=16", "--no-some-switch"]);
        assert_eq!(flags.unknown, ["max-lora-rank", "some-switch"]);
        for (name, value) in [
            ("x", "--host=0.0.0.0"),
            ("x", "a b"),
            ("-x", "1"),
            ("X", "1"),
            ("x y", "1"),
            ("x;y", "1"),
            ("x=y", "1"),
            ("", "1"),
        ] {
            let knobs = [(name.to_owned(), KnobValue::Word(value.into()))].into();
            assert!(vllm.render(&knobs, true).is_err(), "{name} {value}");
        }
    }
}
