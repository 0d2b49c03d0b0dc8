//! What people send of engines: a field that does not belong to its kind is refused.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Misread, need, no_stray};
use crate::study::{Api, Connection, Endpoint, EngineSpec, Turn};

/// An [`EngineSpec`] as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EngineText {
    kind: String,
    preset: Option<String>,
    name: Option<String>,
    url: Option<String>,
    api: Option<Api>,
    model: Option<String>,
    api_key_env: Option<String>,
    api_key_secret: Option<String>,
    headers: Option<BTreeMap<String, String>>,
    connection: Option<Connection>,
}

impl TryFrom<EngineText> for EngineSpec {
    type Error = Misread;
    fn try_from(text: EngineText) -> Result<Self, Misread> {
        let EngineText {
            kind,
            preset,
            name,
            url,
            api,
            model,
            api_key_env,
            api_key_secret,
            headers,
            connection,
        } = text;
        let endpoint = EndpointText {
            url,
            api,
            model,
            api_key_env,
            api_key_secret,
            headers,
            connection,
        };
        no_stray(
            &kind,
            &[
                ("preset", preset.is_some(), "simulator"),
                ("name", name.is_some(), "managed"),
            ],
        )?;
        no_stray(&kind, &endpoint.fields("endpoint"))?;
        Ok(match kind.as_str() {
            "simulator" => Self::Simulator {
                preset: need(preset, "preset")?,
            },
            "endpoint" => Self::Endpoint(endpoint.try_into()?),
            "managed" => Self::Managed {
                name: need(name, "name")?,
            },
            _ => return Err(Misread::Unknown(kind)),
        })
    }
}

/// A [`Turn`] as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TurnText {
    way: String,
    instruction: Option<String>,
    name: Option<String>,
    url: Option<String>,
    api: Option<Api>,
    model: Option<String>,
    api_key_env: Option<String>,
    api_key_secret: Option<String>,
    headers: Option<BTreeMap<String, String>>,
    connection: Option<Connection>,
}

impl TryFrom<TurnText> for Turn {
    type Error = Misread;
    fn try_from(text: TurnText) -> Result<Self, Misread> {
        let TurnText {
            way,
            instruction,
            name,
            url,
            api,
            model,
            api_key_env,
            api_key_secret,
            headers,
            connection,
        } = text;
        let endpoint = EndpointText {
            url,
            api,
            model,
            api_key_env,
            api_key_secret,
            headers,
            connection,
        };
        no_stray(
            &way,
            &[
                ("instruction", instruction.is_some(), "pause"),
                ("name", name.is_some(), "managed"),
            ],
        )?;
        no_stray(&way, &endpoint.fields("other_endpoint"))?;
        Ok(match way.as_str() {
            "as_is" => Self::AsIs,
            "other_endpoint" => Self::OtherEndpoint(endpoint.try_into()?),
            "managed" => Self::Managed {
                name: need(name, "name")?,
            },
            "pause" => Self::Pause {
                instruction: need(instruction, "instruction")?,
            },
            _ => return Err(Misread::Unknown(way)),
        })
    }
}

/// What an engine and a turn may hold of an endpoint.
struct EndpointText {
    url: Option<String>,
    api: Option<Api>,
    model: Option<String>,
    api_key_env: Option<String>,
    api_key_secret: Option<String>,
    headers: Option<BTreeMap<String, String>>,
    connection: Option<Connection>,
}

impl EndpointText {
    fn fields(&self, kind: &'static str) -> [super::Field; 7] {
        [
            ("url", self.url.is_some(), kind),
            ("api", self.api.is_some(), kind),
            ("model", self.model.is_some(), kind),
            ("api_key_env", self.api_key_env.is_some(), kind),
            ("api_key_secret", self.api_key_secret.is_some(), kind),
            ("headers", self.headers.is_some(), kind),
            ("connection", self.connection.is_some(), kind),
        ]
    }
}

impl TryFrom<EndpointText> for Endpoint {
    type Error = Misread;
    fn try_from(text: EndpointText) -> Result<Self, Misread> {
        Ok(Self {
            url: need(text.url, "url")?,
            api: need(text.api, "api")?,
            model: need(text.model, "model")?,
            api_key_env: text.api_key_env,
            api_key_secret: text.api_key_secret,
            headers: text.headers.unwrap_or_default(),
            connection: text.connection.unwrap_or_default(),
        })
    }
}
