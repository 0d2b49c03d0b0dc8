//! What a bundle says of itself: which study it is, how it was planned, when, and which parts belong to it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::BundleError;

/// By this a manifest is known as one.
pub const FORMAT: &str = "goodput study bundle";
/// The highest version of the format that is read. It is written where a study has what the first does not know: a prediction.
pub const VERSION: u32 = 2;
/// Its name in the archive, where it comes first.
pub const NAME: &str = "manifest.json";
/// Most bytes of a manifest, and of any part that is JSON.
pub const MOST_JSON: u64 = 16 << 20;
/// Most starts of engines.
pub const MOST_STARTS: usize = 2_000;

/// How much of a study a bundle holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// What a shared link shows, and every request's times: no address, path, log, note or tag.
    #[default]
    Shown,
    /// Everything but keys.
    Everything,
}

/// JSON as it stands in the store, to the last digit.
pub type Raw = Box<RawValue>;

/// The manifest.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// [`FORMAT`].
    pub format: String,
    /// 1, or [`VERSION`].
    pub version: u32,
    /// The version of goodput that made it.
    pub goodput: String,
    /// When, milliseconds since 1970.
    pub exported_ms: i64,
    /// How much it holds.
    pub scope: Scope,
    /// The study.
    pub study: Study,
    /// Its configurations, in order.
    pub configurations: Vec<Configuration>,
    /// Its points that were measured or failed, in the order of the plan.
    pub points: Vec<Point>,
    /// Points that were planned and never measured.
    pub unmeasured: u32,
    /// Starts of engines, oldest first.
    pub starts: Vec<Start>,
    /// What the study was begun to try.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foretold: Option<Raw>,
    /// Everything else in the archive, by name.
    pub parts: BTreeMap<String, Part>,
}

/// A study.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// Its id, the same everywhere.
    pub id: Uuid,
    /// Its name when the bundle was made.
    pub name: String,
    /// `StudySpec` as it was launched.
    pub spec: Raw,
    /// How it ended: `finished`, `stopped`, `interrupted`, `failed`.
    pub state: String,
    /// Why it failed.
    pub problem: Option<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// A person's note.
    pub note: String,
    /// Runs on the simulator.
    pub simulated: bool,
    /// Its engine in words.
    pub engine: String,
    /// When it was launched, milliseconds since 1970.
    pub created_ms: i64,
    /// SHA-256 of its data set.
    pub dataset_sha256: Option<String>,
    /// SHA-256 of its tokenizer.
    pub tokenizer_sha256: Option<String>,
    /// Who counted its prompts.
    pub counted: Option<Raw>,
}

/// A configuration.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    /// Its id.
    pub id: Uuid,
    /// Its name.
    pub name: String,
    /// What is known of it, each with who says so.
    pub facts: Raw,
    /// Whether its prefix cache was cold at every point.
    pub cache_cold: Option<bool>,
    /// Its ceilings by attainment and by percentile.
    pub ceilings: Option<Raw>,
}

/// A point.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Its id.
    pub id: Uuid,
    /// Index of its configuration.
    pub configuration: u32,
    /// Its place in the plan.
    pub ordinal: u32,
    /// The level as it is written.
    pub level: String,
    /// Which repeat.
    pub repeat: u32,
    /// Requests aimed at.
    pub planned_requests: u32,
    /// Estimated time.
    pub estimated_ms: u64,
    /// `finished` or `failed`.
    pub state: String,
    /// When its clock started.
    pub started_ms: Option<i64>,
    /// When it was stored.
    pub finished_ms: Option<i64>,
    /// Why it failed.
    pub problem: Option<String>,
}

impl Point {
    /// Whether it was measured.
    pub fn is_finished(&self) -> bool {
        self.state == "finished"
    }
}

/// A start of an engine.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// Its id.
    pub id: Uuid,
    /// Index of the configuration.
    pub configuration: u32,
    /// What was run, an argument a line.
    pub command: String,
    /// When.
    pub started_ms: i64,
    /// Until its first token.
    pub startup_ms: Option<i64>,
    /// When it ended.
    pub ended_ms: Option<i64>,
    /// How it ended.
    pub ending: Option<String>,
}

/// A part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256, in hexadecimal.
    pub sha256: String,
}

/// `figures.json` of a point: its rows as they are stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figures {
    /// `Summary`.
    pub summary: Raw,
    /// `Certificate`.
    pub certificate: Raw,
    /// `Judgement` under the study's SLO.
    pub judgement: Raw,
    /// What its prompts were made of.
    pub made: Option<Raw>,
}

/// What a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A point's rows.
    Figures,
    /// A point's scores.
    Scores,
    /// A point's requests.
    Records,
    /// What was seen beside a point.
    Evidence,
    /// The text of the engine's metrics pages.
    Metrics,
    /// What an engine said.
    Log,
}

impl Kind {
    /// Parts of a finished point.
    pub const OF_POINT: [Self; 5] = [
        Self::Figures,
        Self::Scores,
        Self::Records,
        Self::Evidence,
        Self::Metrics,
    ];

    /// The name of the part of the point at this place of the plan, or of the start of this index.
    pub fn name(self, index: usize) -> String {
        match self {
            Self::Figures => format!("points/{index:04}/figures.json"),
            Self::Scores => format!("points/{index:04}/scores.bin"),
            Self::Records => format!("points/{index:04}/records.parquet"),
            Self::Evidence => format!("points/{index:04}/evidence.json"),
            Self::Metrics => format!("points/{index:04}/metrics.txt.zst"),
            Self::Log => format!("starts/{index:04}.log.gz"),
        }
    }

    /// Most bytes of such a part.
    pub fn most(self) -> u64 {
        match self {
            Self::Figures | Self::Evidence | Self::Metrics | Self::Log => MOST_JSON,
            Self::Scores => 64 << 20,
            Self::Records => 256 << 20,
        }
    }

    /// Whether every finished point has one.
    pub fn is_needed(self) -> bool {
        matches!(self, Self::Figures | Self::Scores | Self::Records)
    }
}

/// What tells a manifest and its version, whatever else a later version may have.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
}

impl Manifest {
    /// Reads one and looks whether it lists the parts that it must list, and no others.
    pub fn read(bytes: &[u8]) -> Result<Self, BundleError> {
        let head: Head = serde_json::from_slice(bytes).map_err(|_| BundleError::NotABundle)?;
        if head.format != FORMAT || head.version == 0 {
            return Err(BundleError::NotABundle);
        }
        if VERSION < head.version {
            return Err(BundleError::Newer(head.version));
        }
        let manifest: Self =
            serde_json::from_slice(bytes).map_err(|why| BundleError::unreadable(NAME, why))?;
        manifest.check_parts()?;
        Ok(manifest)
    }

    /// Every part that may be there, with what it is.
    pub fn known_parts(&self) -> BTreeMap<String, Kind> {
        let finished = self.points.iter().filter(|point| point.is_finished());
        let of_points = finished.flat_map(|point| {
            let ordinal = point.ordinal as usize;
            Kind::OF_POINT.map(|kind| (kind.name(ordinal), kind))
        });
        let of_starts = (0..self.starts.len()).map(|index| (Kind::Log.name(index), Kind::Log));
        of_points.chain(of_starts).collect()
    }

    fn check_parts(&self) -> Result<(), BundleError> {
        let known = self.known_parts();
        for (name, part) in &self.parts {
            let Some(kind) = known.get(name) else {
                return Err(BundleError::Foreign(name.clone()));
            };
            if kind.most() < part.bytes {
                let why = format!("{name} has {} bytes", part.bytes);
                return Err(BundleError::TooLarge(why));
            }
        }
        let lacking = known
            .iter()
            .find(|(name, kind)| kind.is_needed() && !self.parts.contains_key(*name));
        match lacking {
            Some((name, _)) => Err(BundleError::Missing(name.clone())),
            None => Ok(()),
        }
    }
}
