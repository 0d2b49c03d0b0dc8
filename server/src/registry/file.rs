//! How `studio.toml` is read: every mistake with its line and the mend.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use load::catalogue::{catalogue, catalogues};
use load::launch::Template;
use measure::knobs::{KnobValue, Knobs};
use measure::study::{Api, Connection, Endpoint};
use serde::Deserialize;
use toml::Spanned;

use super::template::{Address, CacheReset, LaunchTemplate};
use super::{Registered, Registry};
use crate::studio::engines::base_url;
use crate::studio::launch::checked_name;

/// A mistake: its line and what mends it.
pub(super) type Mistake = (usize, String);

/// Longest start that is waited for.
const LONGEST_START: u64 = 7200;
/// How long a start may take where nobody says: weights come from a disk, and graphs are compiled.
const START: u64 = 600;
/// How long an engine may take to end where nobody says.
const STOP: u64 = 10;
const LONGEST_STOP: u64 = 120;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileText {
    #[serde(default)]
    token_may_start_engines: bool,
    #[serde(default)]
    engine: Vec<Spanned<EngineText>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EngineText {
    name: Spanned<String>,
    dialect: Option<Spanned<String>>,
    model: Spanned<String>,
    hardware: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    api_key_env: Option<Spanned<String>>,
    api_key_secret: Option<Spanned<String>>,
    url: Option<Spanned<String>>,
    launch: Option<Spanned<LaunchText>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LaunchText {
    engine: Spanned<String>,
    command: Spanned<Vec<String>>,
    #[serde(default)]
    stop: Option<Spanned<Vec<String>>>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    pass_env: Vec<Spanned<String>>,
    cwd: Option<Spanned<PathBuf>>,
    url: Option<Spanned<String>>,
    port: Option<Spanned<u16>>,
    host: Option<String>,
    health: Option<Spanned<String>>,
    start_timeout_s: Option<Spanned<u64>>,
    stop_timeout_s: Option<Spanned<u64>>,
    #[serde(default)]
    base_knobs: Option<Spanned<BTreeMap<String, toml::Value>>>,
    #[serde(default)]
    free_flags: bool,
    cache_reset: Option<CacheReset>,
}

/// Reads the whole file, or says what is wrong first.
pub(super) fn parse(text: &str) -> Result<Registry, Mistake> {
    let reader = Reader { text };
    let file: FileText = toml::from_str(text).map_err(|error| {
        let place = error.span().unwrap_or(0..0);
        reader.wrong(&place, error.message())
    })?;
    let mut engines: Vec<Registered> = Vec::new();
    for engine in file.engine {
        let name = engine.get_ref().name.span();
        let registered = reader.engine(engine)?;
        if engines.iter().any(|it| it.name == registered.name) {
            let message = format!(
                "{:?} stands here twice; give it another name",
                registered.name
            );
            return Err(reader.wrong(&name, message));
        }
        engines.push(registered);
    }
    Ok(Registry {
        engines,
        token_may_start_engines: file.token_may_start_engines,
        guard: None,
    })
}

struct Reader<'a> {
    text: &'a str,
}

impl Reader<'_> {
    fn wrong(&self, place: &Range<usize>, message: impl Into<String>) -> Mistake {
        let before = self.text.get(..place.start).unwrap_or_default();
        (before.matches('\n').count() + 1, message.into())
    }

    fn engine(&self, engine: Spanned<EngineText>) -> Result<Registered, Mistake> {
        let place = engine.span();
        let engine = engine.into_inner();
        let endpoint = self.endpoint(&engine, &place)?;
        let EngineText {
            name,
            hardware,
            mut tags,
            launch,
            url,
            ..
        } = engine;
        let shown = checked_name("name", name.get_ref());
        let name = shown.map_err(|error| self.wrong(&name.span(), error.to_string()))?;
        let launch = match (launch, url) {
            (None, Some(_)) => None,
            (Some(launch), None) => Some(self.launch(launch)?),
            (None, None) => {
                return Err(self.wrong(
                    &place,
                    "an engine needs a url, or [engine.launch] with the command that starts it",
                ));
            }
            (Some(_), Some(url)) => return Err(self.wrong(
                &url.span(),
                "an engine that the studio starts has its url in [engine.launch]; take it out here",
            )),
        };
        tags.sort();
        tags.dedup();
        Ok(Registered {
            name,
            endpoint,
            hardware,
            tags,
            launch,
        })
    }

    fn endpoint(&self, engine: &EngineText, place: &Range<usize>) -> Result<Endpoint, Mistake> {
        let EngineText {
            dialect,
            model,
            api_key_env,
            api_key_secret,
            url,
            ..
        } = engine;
        let api = match dialect {
            None => Api::default(),
            Some(name) => Api::named(name.get_ref()).ok_or_else(|| {
                let known = Api::ALL.map(Api::name).join(", ");
                self.wrong(
                    &name.span(),
                    format!("no such dialect {:?}; there are {known}", name.get_ref()),
                )
            })?,
        };
        if model.get_ref().trim().is_empty() {
            return Err(self.wrong(&model.span(), "name the model, as requests ask for it"));
        }
        let base = url
            .as_ref()
            .map(|url| base_url(url.get_ref()).map_err(|why| self.wrong(&url.span(), why)));
        let base = base.transpose()?;
        let endpoint = Endpoint {
            api_key_env: api_key_env.as_ref().map(|it| it.get_ref().clone()),
            api_key_secret: api_key_secret.as_ref().map(|it| it.get_ref().clone()),
            connection: Connection::default(),
            ..Endpoint::new(
                base.map(String::from).unwrap_or_default(),
                api,
                model.get_ref().as_str(),
            )
        };
        match endpoint.check_reach().pop() {
            None => Ok(endpoint),
            Some(error) => {
                let key = api_key_env.as_ref().or(api_key_secret.as_ref());
                Err(self.wrong(
                    &key.map_or(place.clone(), Spanned::span),
                    format!("{}: {}", error.field, error.message),
                ))
            }
        }
    }

    fn launch(&self, launch: Spanned<LaunchText>) -> Result<LaunchTemplate, Mistake> {
        let place = launch.span();
        let launch = launch.into_inner();
        let family = launch.engine.get_ref();
        let catalogue = catalogue(family).ok_or_else(|| {
            let known: Vec<&str> = catalogues().iter().map(|it| &*it.engine).collect();
            self.wrong(
                &launch.engine.span(),
                format!(
                    "no catalogue of knobs {family:?}; there are {}",
                    known.join(", ")
                ),
            )
        })?;
        let template = self.template(&launch)?;
        let address = self.address(&launch, &place)?;
        let base_knobs = self.knobs(&launch)?;
        let rendered = catalogue.render(&base_knobs, launch.free_flags);
        if let Err(error) = rendered {
            let at = launch.base_knobs.as_ref().map_or(place, Spanned::span);
            return Err(self.wrong(&at, error.message));
        }
        let health = self.health(&launch, &catalogue.health)?;
        Ok(LaunchTemplate {
            limit: self.seconds(launch.start_timeout_s.as_ref(), START, LONGEST_START)?,
            grace: self.seconds(launch.stop_timeout_s.as_ref(), STOP, LONGEST_STOP)?,
            pass_env: self.passed(&launch)?,
            cwd: self.cwd(&launch)?,
            template,
            catalogue,
            address,
            health,
            base_knobs,
            free_flags: launch.free_flags,
            cache_reset: launch.cache_reset.unwrap_or_default(),
        })
    }

    fn template(&self, launch: &LaunchText) -> Result<Template, Mistake> {
        let template = Template {
            command: launch.command.get_ref().clone(),
            stop: launch
                .stop
                .as_ref()
                .map(|it| it.get_ref().clone())
                .unwrap_or_default(),
            env: launch.env.clone(),
        };
        let checked = template.check();
        checked.map_err(|error| self.wrong(&launch.command.span(), error.to_string()))?;
        if let Some(bad) = launch
            .env
            .keys()
            .find(|name| name.is_empty() || name.contains(['=', '\0']))
        {
            return Err(self.wrong(
                &launch.command.span(),
                format!("{bad:?} is no name of a variable; mend it in env"),
            ));
        }
        Ok(template)
    }

    /// Where the engine answers, and which host it keeps busy.
    fn address(&self, launch: &LaunchText, place: &Range<usize>) -> Result<Address, Mistake> {
        let port = launch.port.as_ref().map(|it| *it.get_ref());
        let text = launch
            .url
            .as_ref()
            .map_or("http://127.0.0.1:{port}", |it| it.get_ref());
        let at = launch.url.as_ref().map_or(place.clone(), Spanned::span);
        let sample = text.replace("{port}", &port.unwrap_or(1).to_string());
        let url = base_url(&sample).map_err(|why| self.wrong(&at, why))?;
        let host = url.host_str().unwrap_or_default().to_owned();
        let is_here = matches!(host.as_str(), "127.0.0.1" | "localhost" | "[::1]");
        if port == Some(0) || port.is_none() && (!is_here || !text.contains("{port}")) {
            return Err(self.wrong(&at, "name the port: a free one can be found on this machine only, where the url has {port}"));
        }
        Ok(Address {
            url: text.to_owned(),
            port,
            host: launch.host.clone().unwrap_or(host),
        })
    }

    fn knobs(&self, launch: &LaunchText) -> Result<Knobs, Mistake> {
        let mut knobs = Knobs::new();
        let Some(given) = &launch.base_knobs else {
            return Ok(knobs);
        };
        for (name, value) in given.get_ref() {
            let value = match value {
                toml::Value::Boolean(on) => KnobValue::Switch(*on),
                toml::Value::Integer(number) => KnobValue::Whole(*number),
                toml::Value::Float(number) => KnobValue::Fraction(*number),
                toml::Value::String(word) => KnobValue::from(word.as_str()),
                _ => {
                    return Err(self.wrong(
                        &given.span(),
                        format!("{name} must be a number, a word, true or false"),
                    ));
                }
            };
            knobs.insert(name.clone(), value);
        }
        Ok(knobs)
    }

    fn health(&self, launch: &LaunchText, usual: &str) -> Result<String, Mistake> {
        match &launch.health {
            None => Ok(usual.to_owned()),
            Some(path) if path.get_ref().starts_with('/') => Ok(path.get_ref().clone()),
            Some(path) => Err(self.wrong(
                &path.span(),
                "health is a path that begins with /, such as /health",
            )),
        }
    }

    fn seconds(
        &self,
        given: Option<&Spanned<u64>>,
        usual: u64,
        most: u64,
    ) -> Result<Duration, Mistake> {
        match given {
            None => Ok(Duration::from_secs(usual)),
            Some(given) if (1..=most).contains(given.get_ref()) => {
                Ok(Duration::from_secs(*given.get_ref()))
            }
            Some(given) => Err(self.wrong(&given.span(), format!("must be 1 to {most} seconds"))),
        }
    }

    fn passed(&self, launch: &LaunchText) -> Result<Vec<String>, Mistake> {
        let own = launch
            .pass_env
            .iter()
            .find(|it| it.get_ref().starts_with("GOODPUT_"));
        if let Some(own) = own {
            return Err(self.wrong(
                &own.span(),
                format!(
                    "{} is the studio's own and no engine gets it; take it out",
                    own.get_ref()
                ),
            ));
        }
        Ok(launch
            .pass_env
            .iter()
            .map(|it| it.get_ref().clone())
            .collect())
    }

    fn cwd(&self, launch: &LaunchText) -> Result<Option<PathBuf>, Mistake> {
        match &launch.cwd {
            Some(path) if !path.get_ref().is_absolute() || !path.get_ref().is_dir() => Err(self
                .wrong(
                    &path.span(),
                    format!(
                        "there is no folder {}; name one with its whole path",
                        path.get_ref().display()
                    ),
                )),
            path => Ok(path.as_ref().map(|it| it.get_ref().clone())),
        }
    }
}

#[cfg(test)]
mod tests;
