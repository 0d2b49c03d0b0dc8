//! What people send: a field that does not belong to its kind is refused.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Misread, need};
use crate::study::{Api, Endpoint, EngineSpec, Turn};
use crate::workload::{Lengths, ShareGptFilter, Workload};

/// [`Lengths`] as they are read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LengthsText {
    kind: String,
    tokens: Option<u32>,
    min: Option<u32>,
    max: Option<u32>,
    median: Option<u32>,
    sigma: Option<f64>,
}

impl TryFrom<LengthsText> for Lengths {
    type Error = Misread;
    fn try_from(text: LengthsText) -> Result<Self, Misread> {
        let fields = [
            ("tokens", text.tokens.is_some(), "fixed"),
            ("min", text.min.is_some(), "uniform"),
            ("median", text.median.is_some(), "log_normal"),
            ("sigma", text.sigma.is_some(), "log_normal"),
            (
                "max",
                text.max.is_some(),
                if text.kind == "uniform" {
                    "uniform"
                } else {
                    "log_normal"
                },
            ),
        ];
        no_stray(&text.kind, &fields)?;
        Ok(match text.kind.as_str() {
            "fixed" => Self::Fixed {
                tokens: need(text.tokens, "tokens")?,
            },
            "uniform" => Self::Uniform {
                min: need(text.min, "min")?,
                max: need(text.max, "max")?,
            },
            "log_normal" => Self::LogNormal {
                median: need(text.median, "median")?,
                sigma: need(text.sigma, "sigma")?,
                max: need(text.max, "max")?,
            },
            _ => return Err(Misread::Unknown(text.kind)),
        })
    }
}

/// A [`Workload`] as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorkloadText {
    kind: String,
    scale: Option<f64>,
    file: Option<String>,
    max_turns: Option<u32>,
    think_ms: Option<u64>,
    max_context: Option<u32>,
    filter: Option<ShareGptFilter>,
    input: Option<Lengths>,
    output: Option<Lengths>,
}

impl TryFrom<WorkloadText> for Workload {
    type Error = Misread;
    fn try_from(text: WorkloadText) -> Result<Self, Misread> {
        let of_a_file = if text.kind == "share_gpt_file" {
            "share_gpt_file"
        } else {
            "share_gpt_shaped"
        };
        let fields = [
            ("scale", text.scale.is_some(), "share_gpt_shaped"),
            (
                "max_context",
                text.max_context.is_some(),
                "share_gpt_shaped",
            ),
            ("file", text.file.is_some(), "share_gpt_file"),
            ("filter", text.filter.is_some(), "share_gpt_file"),
            ("max_turns", text.max_turns.is_some(), of_a_file),
            ("think_ms", text.think_ms.is_some(), of_a_file),
            ("input", text.input.is_some(), "synthetic"),
            ("output", text.output.is_some(), "synthetic"),
        ];
        no_stray(&text.kind, &fields)?;
        Ok(match text.kind.as_str() {
            "share_gpt_shaped" => Self::ShareGptShaped {
                scale: need(text.scale, "scale")?,
                max_turns: need(text.max_turns, "max_turns")?,
                think_ms: need(text.think_ms, "think_ms")?,
                max_context: need(text.max_context, "max_context")?,
            },
            "share_gpt_file" => Self::ShareGptFile {
                file: need(text.file, "file")?,
                max_turns: need(text.max_turns, "max_turns")?,
                think_ms: need(text.think_ms, "think_ms")?,
                filter: need(text.filter, "filter")?,
            },
            "synthetic" => Self::Synthetic {
                input: need(text.input, "input")?,
                output: need(text.output, "output")?,
            },
            _ => return Err(Misread::Unknown(text.kind)),
        })
    }
}

/// An [`EngineSpec`] as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EngineText {
    kind: String,
    preset: Option<String>,
    url: Option<String>,
    api: Option<Api>,
    model: Option<String>,
    api_key_env: Option<String>,
    headers: Option<BTreeMap<String, String>>,
}

impl TryFrom<EngineText> for EngineSpec {
    type Error = Misread;
    fn try_from(text: EngineText) -> Result<Self, Misread> {
        let EngineText {
            kind,
            preset,
            url,
            api,
            model,
            api_key_env,
            headers,
        } = text;
        let endpoint = EndpointText {
            url,
            api,
            model,
            api_key_env,
            headers,
        };
        no_stray(&kind, &[("preset", preset.is_some(), "simulator")])?;
        no_stray(&kind, &endpoint.fields("endpoint"))?;
        Ok(match kind.as_str() {
            "simulator" => Self::Simulator {
                preset: need(preset, "preset")?,
            },
            "endpoint" => Self::Endpoint(endpoint.try_into()?),
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
    url: Option<String>,
    api: Option<Api>,
    model: Option<String>,
    api_key_env: Option<String>,
    headers: Option<BTreeMap<String, String>>,
}

impl TryFrom<TurnText> for Turn {
    type Error = Misread;
    fn try_from(text: TurnText) -> Result<Self, Misread> {
        let TurnText {
            way,
            instruction,
            url,
            api,
            model,
            api_key_env,
            headers,
        } = text;
        let endpoint = EndpointText {
            url,
            api,
            model,
            api_key_env,
            headers,
        };
        no_stray(&way, &[("instruction", instruction.is_some(), "pause")])?;
        no_stray(&way, &endpoint.fields("other_endpoint"))?;
        Ok(match way.as_str() {
            "as_is" => Self::AsIs,
            "other_endpoint" => Self::OtherEndpoint(endpoint.try_into()?),
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
    headers: Option<BTreeMap<String, String>>,
}

impl EndpointText {
    fn fields(&self, kind: &'static str) -> [Field; 5] {
        [
            ("url", self.url.is_some(), kind),
            ("api", self.api.is_some(), kind),
            ("model", self.model.is_some(), kind),
            ("api_key_env", self.api_key_env.is_some(), kind),
            ("headers", self.headers.is_some(), kind),
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
            headers: text.headers.unwrap_or_default(),
        })
    }
}

/// A field, whether it is there, and the kind it belongs to.
type Field = (&'static str, bool, &'static str);

/// Refuses a field of another kind, as one that nobody knows is refused.
fn no_stray(kind: &str, fields: &[Field]) -> Result<(), Misread> {
    let stray = fields.iter().find(|(_, there, of)| *there && *of != kind);
    stray.map_or(Ok(()), |(name, ..)| Err(Misread::Stray(name)))
}
