//! What engines call their quantities: data files, one an engine, in `load/metrics`.
//!
//! Names change between versions, so that each quantity has a list of them: the first that a page has is the one that
//! counts, however many others it has. Colons and underscores are one, and `_total` may be missing.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use measure::evidence::{Kind, Quantity};
use serde::Deserialize;

/// Engines before what stands in front of them: a page that has both is read by the engine's names.
const FILES: [&str; 7] = [
    include_str!("../../metrics/vllm.toml"),
    include_str!("../../metrics/sglang.toml"),
    include_str!("../../metrics/tgi.toml"),
    include_str!("../../metrics/llamacpp.toml"),
    include_str!("../../metrics/tensorrt_llm.toml"),
    include_str!("../../metrics/dynamo.toml"),
    include_str!("../../metrics/dcgm.toml"),
];

/// One engine's names.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Family {
    /// What it is called.
    pub engine: String,
    /// What its names begin with.
    pub prefix: Vec<String>,
    /// The newest version that was looked at.
    #[serde(rename = "checked")]
    _checked: String,
    /// Labels that name the model.
    #[serde(default)]
    pub model: Vec<String>,
    /// Labels of ranks that tell the same numbers as each other.
    #[serde(default)]
    pub same: Vec<String>,
    quantities: BTreeMap<Quantity, Vec<Name>>,
}

/// One name of a quantity.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Name {
    name: String,
    /// The version that brought it; for people.
    #[serde(default, rename = "since")]
    _since: Option<String>,
    /// The version that took it away; for people.
    #[serde(default, rename = "until")]
    _until: Option<String>,
    /// Label values of the series that count.
    #[serde(default)]
    pub with: BTreeMap<String, Vec<String>>,
    /// The label whose value is the number.
    pub label: Option<String>,
    /// The part of a histogram that is a counter: `sum` or `count`.
    part: Option<String>,
    /// What the number is multiplied by.
    pub factor: Option<f64>,
}

/// Where a sample belongs.
pub(super) struct Place {
    pub family: &'static Family,
    /// The family's place in order of precedence.
    pub order: usize,
    pub quantity: Quantity,
    /// The name's place in order of precedence.
    pub rank: usize,
    pub name: &'static Name,
}

/// Which part of a quantity a sample is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    Bucket,
    Sum,
}

static FAMILIES: LazyLock<Vec<Family>> = LazyLock::new(|| {
    let read = FILES.iter().map(|file| toml::from_str(file).ok());
    read.flatten().collect()
});

static PLACES: LazyLock<HashMap<String, Vec<(Part, Place)>>> = LazyLock::new(|| {
    let mut places: HashMap<String, Vec<(Part, Place)>> = HashMap::new();
    for (order, family) in FAMILIES.iter().enumerate() {
        for (quantity, names) in &family.quantities {
            for (rank, name) in names.iter().enumerate() {
                let place = || Place {
                    family,
                    order,
                    quantity: *quantity,
                    rank,
                    name,
                };
                for (part, key) in name.keys(*quantity) {
                    places.entry(key).or_default().push((part, place()));
                }
            }
        }
    }
    places
});

impl Name {
    /// What its samples are called.
    fn keys(&self, quantity: Quantity) -> Vec<(Part, String)> {
        let name = &self.name;
        match (&self.part, quantity.kind()) {
            (Some(part), _) => vec![(Part::Whole, plain(&format!("{name}_{part}")))],
            (None, Kind::Histogram) => vec![
                (Part::Bucket, plain(&format!("{name}_bucket"))),
                (Part::Sum, plain(&format!("{name}_sum"))),
            ],
            (None, _) => vec![(Part::Whole, plain(name))],
        }
    }
}

/// A name without what versions and exporters write differently.
fn plain(name: &str) -> String {
    let name = name.strip_suffix("_total").unwrap_or(name);
    name.replace(':', "_")
}

/// The places of a sample's name.
pub(super) fn places(name: &str) -> &'static [(Part, Place)] {
    PLACES.get(&plain(name)).map_or(&[], Vec::as_slice)
}

/// How the names begin that are known, in words.
pub(super) fn prefixes() -> String {
    let all = FAMILIES.iter().flat_map(|family| &family.prefix);
    let all: Vec<&str> = all.map(String::as_str).collect();
    all.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_can_be_read() {
        for file in FILES {
            let read = toml::from_str::<Family>(file);
            assert!(read.is_ok(), "{}", read.expect_err("unreadable"));
        }
        assert!(prefixes().starts_with("vllm:, sglang:"));
    }

    #[test]
    fn every_name_begins_as_its_engine_does() {
        for family in FAMILIES.iter() {
            for name in family.quantities.values().flatten() {
                let begins = family.prefix.iter().any(|it| name.name.starts_with(it));
                assert!(begins, "{}", name.name);
            }
        }
    }

    #[track_caller]
    fn check(name: &str, expected: Option<(Quantity, Part, usize)>) {
        let found = places(name).first();
        let found = found.map(|(part, place)| (place.quantity, *part, place.rank));
        assert_eq!(found, expected, "{name}");
    }

    #[test]
    fn names_old_and_new_are_found_in_every_spelling() {
        check(
            "vllm:kv_cache_usage_perc",
            Some((Quantity::KvUsage, Part::Whole, 0)),
        );
        check(
            "vllm:gpu_cache_usage_perc",
            Some((Quantity::KvUsage, Part::Whole, 1)),
        );
        check(
            "vllm_prefix_cache_hits",
            Some((Quantity::CacheHits, Part::Whole, 0)),
        );
        check(
            "vllm:iteration_tokens_total_bucket",
            Some((Quantity::IterationTokens, Part::Bucket, 0)),
        );
        check(
            "vllm:request_queue_time_seconds_sum",
            Some((Quantity::QueueTime, Part::Sum, 0)),
        );
        check(
            "tgi_request_generated_tokens_sum",
            Some((Quantity::OutputTokens, Part::Whole, 0)),
        );
        check(
            "trtllm:kv_cache_hit_rate",
            Some((Quantity::HitRate, Part::Whole, 0)),
        );
        check("vllm:request_queue_time_seconds_created", None);
        check("python_gc_objects_collected_total", None);
    }
}
