//! From what a person typed to a [`StudySpec`], or to every error at its field.
//!
//! This reads; whether the values make sense together is for [`StudySpec::check`], which the server runs as well.

mod facts; // what a person knows
mod workload; // the workload part

use std::collections::BTreeMap;
use std::str::FromStr;

use measure::arrival::Arrival;
use measure::decimal::Decimal;
use measure::knobs::Knobs;
use measure::slo::Slo;
use measure::study::{
    Adaptive, Api, ConfigurationSpec, Endpoint, EngineSpec, FieldError, OnFailure, PointLength,
    StudySpec, Turn,
};
use measure::units::{Level, OutOfRange, Seed};
use measure::workload::{Lengths, ShareGptFilter, Trace, TraceFormat, Workload};

use super::draft::{ConfigurationDraft, Draft, EndpointDraft, LengthsDraft, WorkloadDraft, named};

impl TryFrom<&Draft> for StudySpec {
    type Error = Vec<FieldError>;

    /// Every error at its field: those of reading, or else those of [`StudySpec::check`].
    fn try_from(draft: &Draft) -> Result<Self, Vec<FieldError>> {
        let spec = draft.read()?;
        let errors = spec.check();
        if errors.is_empty() {
            Ok(spec)
        } else {
            Err(errors)
        }
    }
}

impl Draft {
    /// What was typed, as a spec that nobody has checked yet.
    pub fn read(&self) -> Result<StudySpec, Vec<FieldError>> {
        let mut reader = Reader::default();
        let spec = reader.study(self);
        match spec {
            Some(spec) if reader.errors.is_empty() => Ok(spec),
            _ => Err(reader.errors),
        }
    }

    /// The workload alone, where it can be read.
    pub fn read_workload(&self) -> Option<Workload> {
        let mut reader = Reader::default();
        reader
            .workload(&self.workload)
            .filter(|_| reader.errors.is_empty())
    }

    /// The study's name; made from engine and knobs where none was typed.
    pub fn full_name(&self) -> String {
        let typed = self.name.trim();
        if typed.is_empty() {
            self.made_name()
        } else {
            typed.to_owned()
        }
    }

    /// A name that says what is studied: `small-fast: enable-prefix-caching`.
    pub fn made_name(&self) -> String {
        let model = self.endpoint.model.trim();
        let engine = match (self.is_simulated(), model) {
            (true, _) => self.preset.as_str(),
            (false, "") => self.endpoint.managed_name().unwrap_or("engine"),
            (false, model) => model,
        };
        let flipped = super::advice::flipped_knobs(self);
        if flipped.is_empty() {
            format!("{engine} sweep")
        } else {
            format!("{engine}: {}", flipped.join(", "))
        }
    }
}

/// Whether what stands for rates asks for a search instead.
pub fn is_search(levels: &str) -> bool {
    levels.trim_start().starts_with("find")
}

/// Collects errors while reading on, so that a person sees all of them at once.
#[derive(Default)]
struct Reader {
    errors: Vec<FieldError>,
}

impl Reader {
    fn refuse<T>(&mut self, field: &str, message: impl Into<String>) -> Option<T> {
        self.errors.push(FieldError {
            field: field.to_owned(),
            message: message.into(),
        });
        None
    }

    /// A number, or an error that says what is wanted.
    fn number<T: FromStr>(&mut self, field: &str, text: &str, wanted: &str) -> Option<T> {
        let text = text.trim();
        // People paste thousands with commas.
        match text.replace([',', '_'], "").parse() {
            Ok(number) => Some(number),
            Err(_) if text.is_empty() => self.refuse(field, format!("must be {wanted}")),
            Err(_) => self.refuse(field, format!("must be {wanted}, not {text:?}")),
        }
    }

    fn whole<T: FromStr>(&mut self, field: &str, text: &str) -> Option<T> {
        self.number(field, text, "a whole number of 0 or more")
    }

    /// Seconds with a fraction, as milliseconds.
    fn millis(&mut self, field: &str, text: &str) -> Option<u64> {
        let Decimal(seconds) = self.number(field, text, "a number of seconds")?;
        if !(0.0..=1e9).contains(&seconds) {
            return self.refuse(field, "must be a number of seconds, 0 or more");
        }
        Some((seconds * 1000.0).round() as u64)
    }

    fn study(&mut self, draft: &Draft) -> Option<StudySpec> {
        // Everything is read before anything is given up: each `?` stands after the last reader.
        let engine = self.engine(draft);
        let workload = self.workload(&draft.workload);
        let arrival = self.arrival(&draft.arrival);
        let adaptive = self.adaptive(&draft.levels);
        let levels = match adaptive {
            Some(None) => self.levels(&draft.levels),
            _ => Some(Vec::new()),
        };
        let length = self.length(draft);
        let warmup = self.whole("warmup", &draft.warmup);
        let seed = self
            .number("seed", &draft.seed, "a whole number from 0 to 2^64 - 1")
            .map(Seed);
        let slo = self.slo(&draft.slo);
        let configurations = self.configurations(draft);
        let repeats = self.whole("repeats", &draft.repeats);
        let idle_timeout_ms = self.millis("idle_timeout_ms", &draft.idle_timeout);
        let drain_ms = self.millis("drain_ms", &draft.drain);
        let ramp_in_ms = self.millis("ramp_in_ms", &draft.ramp_in);
        let tokenizer = draft.tokenizer.trim();
        Some(StudySpec {
            name: draft.full_name(),
            engine: engine?,
            workload: workload?,
            arrival: arrival?,
            levels: levels?,
            adaptive: adaptive?,
            length: length?,
            warmup: warmup?,
            seed: seed?,
            slo: slo?,
            configurations: configurations?,
            repeats: repeats?,
            idle_timeout_ms: idle_timeout_ms?,
            drain_ms: drain_ms?,
            ramp_in_ms: ramp_in_ms?,
            tokenizer: (!tokenizer.is_empty()).then(|| tokenizer.to_owned()),
            on_failure: if draft.on_failure == "continue" {
                OnFailure::Continue
            } else {
                OnFailure::Stop
            },
            factorial: draft.factorial == "on",
        })
    }

    fn engine(&mut self, draft: &Draft) -> Option<EngineSpec> {
        if draft.is_simulated() {
            return Some(EngineSpec::Simulator {
                preset: draft.preset.clone(),
            });
        }
        if let Some(name) = draft.endpoint.managed_name() {
            return Some(EngineSpec::Managed { name: name.into() });
        }
        self.endpoint("engine", &draft.endpoint)
            .map(EngineSpec::Endpoint)
    }

    fn endpoint(&mut self, field: &str, draft: &EndpointDraft) -> Option<Endpoint> {
        let EndpointDraft {
            url,
            api,
            model,
            api_key_env,
            api_key_secret,
            headers,
            // Told by `connection`.
            ca_file: _,
            insecure: _,
            http2: _,
            proxy: _,
            // Told by the configurations.
            hardware: _,
        } = draft;
        let Some(url) = named(url) else {
            return self.refuse(field, "choose an engine, or add one by its URL");
        };
        let api = self.api(&format!("{field}.api"), api);
        let Some(model) = named(model) else {
            return self.refuse(
                &format!("{field}.model"),
                "choose a model; probe the engine to list them",
            );
        };
        let headers = self.pairs(&format!("{field}.headers"), headers, ':', "Name: value");
        Some(Endpoint {
            url,
            api: api?,
            model,
            api_key_env: named(api_key_env),
            api_key_secret: named(api_key_secret),
            headers: headers?,
            connection: draft.connection(),
        })
    }

    fn api(&mut self, field: &str, text: &str) -> Option<Api> {
        Api::named(text).or_else(|| self.refuse(field, "choose one of the dialects"))
    }

    /// Lines of `name<mark>value`.
    fn pairs(
        &mut self,
        field: &str,
        text: &str,
        mark: char,
        form: &str,
    ) -> Option<BTreeMap<String, String>> {
        let mut pairs = BTreeMap::new();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let pair = line
                .split_once(mark)
                .map(|(name, value)| (name.trim().trim_start_matches("--"), value.trim()));
            match pair {
                Some((name, value)) if !name.is_empty() && !value.is_empty() => {
                    if pairs.insert(name.to_owned(), value.to_owned()).is_some() {
                        return self.refuse(field, format!("{name} stands there twice"));
                    }
                }
                _ => {
                    return self.refuse(field, format!("each line must read {form}, not {line:?}"));
                }
            }
        }
        Some(pairs)
    }

    fn arrival(&mut self, text: &str) -> Option<Arrival> {
        let read = text.parse();
        read.map_or_else(
            |wrong: OutOfRange| self.refuse("arrival", wrong.to_string()),
            Some,
        )
    }

    fn levels(&mut self, text: &str) -> Option<Vec<Level>> {
        let words = words(text);
        if words.is_empty() {
            return self.refuse("levels", "name at least one rate, such as 0.5 1 2 4 inf");
        }
        let read: Result<Vec<Level>, _> = words.into_iter().map(str::parse).collect();
        read.map_or_else(|wrong| self.refuse("levels", wrong.to_string()), Some)
    }

    /// A search for the ceiling in place of levels: `find 1-64 in 20 min`.
    fn adaptive(&mut self, text: &str) -> Option<Option<Adaptive>> {
        if !is_search(text) {
            return Some(None);
        }
        let read = text.parse::<Adaptive>();
        read.map_or_else(
            |wrong| self.refuse("levels", wrong.to_string()),
            |it| Some(Some(it)),
        )
    }

    fn length(&mut self, draft: &Draft) -> Option<PointLength> {
        let min_requests = self.whole("length.min_requests", &draft.min_requests);
        let max_requests = self.whole("length.max_requests", &draft.max_requests);
        let seconds = self.whole("length.seconds", &draft.seconds);
        Some(PointLength {
            min_requests: min_requests?,
            max_requests: max_requests?,
            seconds: seconds?,
        })
    }

    fn slo(&mut self, text: &str) -> Option<Slo> {
        text.parse::<Slo>()
            .map_or_else(|wrong| self.refuse("slo", wrong.to_string()), Some)
    }

    fn configurations(&mut self, draft: &Draft) -> Option<Vec<ConfigurationSpec>> {
        let read = |(index, it)| self.configuration(index, it, draft);
        // Collected first, so that every configuration tells its errors.
        let all: Vec<Option<ConfigurationSpec>> =
            draft.configurations.iter().enumerate().map(read).collect();
        all.into_iter().collect()
    }

    fn configuration(
        &mut self,
        index: usize,
        draft: &ConfigurationDraft,
        study: &Draft,
    ) -> Option<ConfigurationSpec> {
        let field = format!("configurations[{index}]");
        let name = draft.name.trim().to_owned();
        let knobs = self.knobs(&format!("{field}.knobs"), draft, study);
        let declared = self.facts(&format!("{field}.declared"), draft, study);
        let turn = if study.is_simulated() {
            Some(Turn::AsIs)
        } else {
            self.turn(&format!("{field}.turn"), draft, study)
        };
        Some(ConfigurationSpec {
            name,
            knobs: knobs?,
            turn: turn?,
            declared: declared?,
        })
    }

    /// Knobs by their controls, and those declared where there are none, or besides.
    fn knobs(&mut self, field: &str, draft: &ConfigurationDraft, study: &Draft) -> Option<Knobs> {
        let engine = study.engine_of(draft);
        let mut knobs = Knobs::new();
        if engine != Some("") {
            let declared = self.pairs(field, &draft.declared, '=', "name=value")?;
            let declared = declared.iter();
            knobs.extend(declared.map(|(knob, text)| (knob.clone(), text.as_str().into())));
        }
        let typed = engine.into_iter().flat_map(|engine| draft.typed(engine));
        knobs.extend(typed.map(|(knob, text)| (knob.to_owned(), text.into())));
        Some(knobs)
    }

    fn turn(&mut self, field: &str, draft: &ConfigurationDraft, study: &Draft) -> Option<Turn> {
        match draft.way.as_str() {
            "other_endpoint" => match draft.other.managed_name() {
                Some(name) => Some(Turn::Managed { name: name.into() }),
                None => self.endpoint(field, &draft.other).map(Turn::OtherEndpoint),
            },
            // An engine that the studio starts needs nobody.
            "pause" if !study.is_managed() => Some(Turn::Pause {
                instruction: draft.instruction.trim().to_owned(),
            }),
            _ => Some(Turn::AsIs),
        }
    }
}

/// The words of a list, however they are separated.
pub fn words(text: &str) -> Vec<&str> {
    text.split(|letter: char| letter.is_whitespace() || letter == ',' || letter == ';')
        .filter(|word| !word.is_empty())
        .collect()
}

#[cfg(test)]
mod tests;
