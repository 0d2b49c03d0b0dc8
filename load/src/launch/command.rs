//! From a template to a command: a list of arguments, never a line for a shell.

use std::collections::BTreeMap;
use std::path::Path;

/// A command with places to fill in. Written by whoever administers the studio, never by a study.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    /// Program and arguments. `{model}`, `{port}` and `{goodput}` are filled in; `{knobs}` stands for the flags of the
    /// knobs, which go to the end where it is missing.
    pub command: Vec<String>,
    /// Ends an engine that outlives its command; `{model}` and `{port}` are filled in.
    pub stop: Vec<String>,
    /// Environment variables; `{model}` and `{port}` are filled in.
    pub env: BTreeMap<String, String>,
}

/// A command, ready to be run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Environment variables.
    pub env: BTreeMap<String, String>,
    /// Ends an engine that outlives its command; empty where none does.
    pub stop: Vec<String>,
}

/// A knob as commands write it.
#[derive(Clone, Copy, Debug)]
pub struct Flag<'a> {
    /// The flag without its dashes.
    pub name: &'a str,
    /// Its other names, each with its dashes: `-np`.
    pub aliases: &'a [String],
    /// The flag that takes every knob, `--knob name=value`, where the engine has one.
    pub pair: Option<&'a str>,
}

impl Flag<'_> {
    /// Whether a word sets it, after the one before it.
    fn is_set_by(self, before: &str, word: &str) -> bool {
        let named = self.pair.and_then(|pair| match word.strip_prefix(pair) {
            Some(rest) => rest.strip_prefix('='),
            None => (before == pair).then_some(word),
        });
        if let Some(named) = named {
            return one_spelling(first(named)) == one_spelling(self.name);
        }
        let flag = first(word);
        self.aliases.iter().any(|alias| is_alias(flag, alias))
            || flag.strip_prefix("--").is_some_and(|long| {
                let (long, name) = (one_spelling(long), one_spelling(self.name));
                long == name || long.strip_prefix("no-") == Some(name.as_str())
            })
    }
}

/// A word up to its value.
fn first(word: &str) -> &str {
    word.split('=').next().unwrap_or(word)
}

/// Engines take `_` for `-` in the names of their flags.
fn one_spelling(name: &str) -> String {
    name.replace('_', "-")
}

/// Whether a word is another name of a flag. A single letter may have its number with it: `-O3`.
fn is_alias(word: &str, alias: &str) -> bool {
    if alias.starts_with("--") {
        return one_spelling(word) == one_spelling(alias);
    }
    let rest = word.strip_prefix(alias);
    rest.is_some_and(|rest| {
        rest.is_empty() || alias.len() == 2 && rest.bytes().all(|it| it.is_ascii_digit())
    })
}

/// What is filled into a template.
#[derive(Clone, Copy, Debug)]
pub struct Filling<'a> {
    /// The model, by the engine's name or as a path.
    pub model: &'a str,
    /// The port that the engine is to listen on.
    pub port: u16,
    /// Flags of knobs, an argument each.
    pub args: &'a [String],
    /// Knobs that are environment variables.
    pub env: &'a BTreeMap<String, String>,
}

/// Why a template is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// No program.
    #[error("command must name a program first, such as [\"vllm\", \"serve\", \"{{model}}\"]")]
    Empty,
    /// A shell would read values as commands.
    #[error(
        "command must be a list of arguments, not a line for a shell ({0} -c); name the program itself, or a script of your own"
    )]
    Shell(String),
    /// A place that nobody fills in.
    #[error("{{{0}}} means nothing here; there are {{model}}, {{port}}, {{goodput}} and {{knobs}}")]
    Place(String),
    /// The flags are arguments of their own.
    #[error("{{knobs}} must stand alone, as an argument of its own")]
    Knobs,
    /// The knobs cannot reach the engine.
    #[error(
        "{0} passes no environment variables on, and this engine's knobs are such; set them on its side, or leave the knobs out"
    )]
    Env(String),
}

/// Programs that hand their last arguments to a shell on the other side.
const REMOTE: &[&str] = &["ssh"];
/// Programs that give the engine an environment of its own.
pub(super) const APART: &[&str] = &["ssh", "docker", "podman", "nerdctl"];
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "fish"];
const KNOBS: &str = "{knobs}";

impl Template {
    /// Whether it can be filled in.
    pub fn check(&self) -> Result<(), TemplateError> {
        let program = self.program_name().ok_or(TemplateError::Empty)?;
        let is_line =
            |word: &String| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
        if SHELLS.contains(&program) && self.command.get(1).is_some_and(is_line) {
            return Err(TemplateError::Shell(program.to_owned()));
        }
        for word in &self.command {
            if word != KNOBS && word.contains(KNOBS) {
                return Err(TemplateError::Knobs);
            }
        }
        let whole = self.command.iter().filter(|word| *word != KNOBS);
        for word in whole.chain(&self.stop).chain(self.env.values()) {
            fill(word, &nothing())?;
        }
        Ok(())
    }

    /// The command with everything in its place.
    pub fn fill(&self, filling: &Filling<'_>) -> Result<Program, TemplateError> {
        let program = self.program_name().ok_or(TemplateError::Empty)?;
        if !filling.env.is_empty() && APART.contains(&program) {
            return Err(TemplateError::Env(program.to_owned()));
        }
        let far = REMOTE.contains(&program);
        let flags = filling
            .args
            .iter()
            .map(|word| if far { quoted(word) } else { word.clone() });
        let flags: Vec<String> = flags.collect();
        let mut argv = Vec::new();
        for word in &self.command {
            if word == KNOBS {
                argv.extend(flags.iter().cloned());
            } else {
                argv.push(fill(word, filling)?);
            }
        }
        if !self.command.iter().any(|word| word == KNOBS) {
            argv.extend(flags);
        }
        let env = self
            .env
            .iter()
            .map(|(name, value)| Ok((name.clone(), fill(value, filling)?)));
        let mut env: BTreeMap<String, String> = env.collect::<Result<_, TemplateError>>()?;
        env.extend(filling.env.clone());
        let stop = self.stop.iter().map(|word| fill(word, filling));
        Ok(Program {
            argv,
            env,
            stop: stop.collect::<Result<_, _>>()?,
        })
    }

    /// Where the command itself sets a knob: the word that does, in whichever spelling.
    pub fn sets(&self, knob: Flag<'_>) -> Option<&str> {
        let mut before = "";
        self.command.iter().map(String::as_str).find(|word| {
            let flag = std::mem::replace(&mut before, *word);
            knob.is_set_by(flag, word)
        })
    }

    fn program_name(&self) -> Option<&str> {
        let first = self.command.first().filter(|it| !it.trim().is_empty())?;
        Path::new(first).file_name()?.to_str()
    }
}

fn nothing() -> Filling<'static> {
    static NONE: BTreeMap<String, String> = BTreeMap::new();
    Filling {
        model: "m",
        port: 1,
        args: &[],
        env: &NONE,
    }
}

/// One argument with its places filled in. What is filled in is not looked at again.
fn fill(word: &str, filling: &Filling<'_>) -> Result<String, TemplateError> {
    let mut filled = String::new();
    let mut rest = word;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let end = after
            .find(|it: char| !it.is_ascii_lowercase() && it != '_')
            .unwrap_or(after.len());
        let name = &after[..end];
        // JSON has braces too.
        if name.is_empty() || !after[end..].starts_with('}') {
            filled.push('{');
            rest = after;
            continue;
        }
        match name {
            "model" => filled.push_str(filling.model),
            "port" => filled.push_str(&filling.port.to_string()),
            "goodput" => filled.push_str(&own_path()),
            _ => return Err(TemplateError::Place(name.to_owned())),
        }
        rest = &after[end + 1..];
    }
    filled.push_str(rest);
    Ok(filled)
}

fn own_path() -> String {
    let own = std::env::current_exe().ok();
    own.and_then(|path| path.to_str().map(str::to_owned))
        .unwrap_or_else(|| "goodput".into())
}

/// As a shell on the other side reads it: one word, whatever is in it.
fn quoted(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_./=:,+@%".contains(it);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(command: &[&str]) -> Template {
        Template {
            command: command.iter().map(|it| (*it).to_owned()).collect(),
            ..Template::default()
        }
    }

    #[track_caller]
    fn filled(command: &[&str], args: &[&str], expected: &[&str]) {
        let args: Vec<String> = args.iter().map(|it| (*it).to_owned()).collect();
        let env = BTreeMap::new();
        let filling = Filling {
            model: "a {port} b",
            port: 8001,
            args: &args,
            env: &env,
        };
        let template = template(command);
        assert_eq!(template.check(), Ok(()));
        assert_eq!(template.fill(&filling).expect("a command").argv, expected);
    }

    #[test]
    fn places_are_filled_in_and_never_twice() {
        filled(
            &["vllm", "serve", "{model}", "--port={port}"],
            &["--x", "1"],
            &["vllm", "serve", "a {port} b", "--port=8001", "--x", "1"],
        );
        filled(
            &["docker", "run", "image", "{knobs}", "last"],
            &["--x"],
            &["docker", "run", "image", "--x", "last"],
        );
        filled(
            &["e", "{\"method\": \"ngram\"}", "{}"],
            &[],
            &["e", "{\"method\": \"ngram\"}", "{}"],
        );
    }

    #[test]
    fn a_far_shell_reads_a_value_as_one_word() {
        filled(
            &["/usr/bin/ssh", "gpu1", "vllm"],
            &["--max-num-seqs", "4", "x; rm -rf ~", "it's"],
            &[
                "/usr/bin/ssh",
                "gpu1",
                "vllm",
                "--max-num-seqs",
                "4",
                "'x; rm -rf ~'",
                r"'it'\''s'",
            ],
        );
    }

    #[test]
    fn what_is_no_template_says_why() {
        for (command, expected) in [
            (&[][..], TemplateError::Empty),
            (&["", "x"], TemplateError::Empty),
            (
                &["/bin/bash", "-lc", "vllm {knobs}"],
                TemplateError::Shell("bash".into()),
            ),
            (&["vllm", "--flags={knobs}"], TemplateError::Knobs),
            (&["vllm", "{modell}"], TemplateError::Place("modell".into())),
        ] {
            assert_eq!(template(command).check(), Err(expected));
        }
        assert_eq!(template(&["bash", "start.sh", "-c"]).check(), Ok(()));
    }

    #[test]
    fn a_knob_is_found_in_every_spelling() {
        let aliases = ["-O".to_owned(), "-tp".to_owned(), "--tp-size".to_owned()];
        let flag = Flag {
            name: "max-num-seqs",
            aliases: &aliases,
            pair: None,
        };
        for word in [
            "--max-num-seqs",
            "--max-num-seqs=4",
            "--max_num_seqs",
            "--max_num-seqs=4",
            "--no-max-num-seqs",
            "-tp",
            "-tp=4",
            "--tp_size",
            "-O3",
        ] {
            assert_eq!(template(&["e", word, "4"]).sets(flag), Some(word));
        }
        for word in [
            "--max-num-seqs-more",
            "max-num-seqs",
            "-t",
            "-tpx",
            "-Ox",
            "--O",
        ] {
            assert_eq!(template(&["e", word, "4"]).sets(flag), None, "{word}");
        }
        let pair = Flag {
            pair: Some("--knob"),
            ..flag
        };
        for command in [
            &["e", "--knob", "max_num_seqs=4"][..],
            &["e", "--knob=max-num-seqs=4"],
        ] {
            assert_eq!(template(command).sets(pair), command.last().copied());
        }
        assert_eq!(template(&["e", "--knob", "max-num=4"]).sets(pair), None);
        assert_eq!(template(&["e", "max-num-seqs=4"]).sets(pair), None);
    }

    #[test]
    fn knobs_in_the_environment_do_not_reach_a_container() {
        let env = [("OLLAMA_NUM_PARALLEL".to_owned(), "4".to_owned())].into();
        let filling = Filling {
            model: "m",
            port: 1,
            args: &[],
            env: &env,
        };
        assert_eq!(
            template(&["docker", "run"]).fill(&filling),
            Err(TemplateError::Env("docker".into()))
        );
        assert_eq!(
            template(&["ollama", "serve"])
                .fill(&filling)
                .expect("a command")
                .env,
            env
        );
    }
}
