//! What a stranger may read of settings and names: only what cannot hold an address, a path or a person's words.

use measure::knobs::{KnobValue, Knobs};

use crate::studio::asked::CACHE;
use crate::supervisor::NO_MACHINE;

/// In place of what is not shown.
pub(crate) const HIDDEN: &str = "hidden";

/// Longest word shown.
const LONGEST: usize = 40;

/// Words in the name of a setting that holds an address, a place or a secret.
const PLACES: [&str; 42] = [
    "addr",
    "address",
    "addresses",
    "args",
    "base",
    "bind",
    "broker",
    "cmd",
    "command",
    "connector",
    "dir",
    "directory",
    "domain",
    "endpoint",
    "endpoints",
    "file",
    "folder",
    "gateway",
    "host",
    "hostname",
    "hosts",
    "ip",
    "ips",
    "key",
    "listen",
    "master",
    "node",
    "nodes",
    "password",
    "path",
    "paths",
    "peer",
    "peers",
    "proxy",
    "registry",
    "secret",
    "server",
    "servers",
    "token",
    "uri",
    "url",
    "urls",
];

/// Words in the name of a setting whose value may be a secret, though it be a number.
const SECRETS: [&str; 4] = ["key", "password", "secret", TOKEN];

/// `hf-token` names a secret, `long-prefill-token-threshold` a number of tokens: only at a name's end it is one.
const TOKEN: &str = "token";

/// Numbers from here on may be an address (1.0.0.0 as one number).
const ADDRESSES: u64 = 1 << 24;

/// A knob's value where it can hold no address: a switch, a number, or one plain word, of a knob not named like a place. A small number
/// is no address, whatever its name.
pub(super) fn knob(name: &str, value: &str) -> String {
    let words: Vec<String> = name
        .split(['-', '_', '.'])
        .map(str::to_ascii_lowercase)
        .collect();
    let names = |of: &[&str]| {
        let ends = words.len().saturating_sub(1);
        let mut words = words.iter().enumerate();
        words.any(|(at, word)| of.contains(&word.as_str()) && (word != TOKEN || at == ends))
    };
    let names_place = names(&PLACES);
    let is_shown = match KnobValue::from(value) {
        KnobValue::Switch(_) => true,
        KnobValue::Whole(number) => {
            !names_place || (number.unsigned_abs() < ADDRESSES && !names(&SECRETS))
        }
        KnobValue::Fraction(_) => !names_place,
        KnobValue::Word(word) => !names_place && is_plain(&word, "-_+,"),
    };
    if is_shown { value } else { HIDDEN }.to_owned()
}

/// Knobs with their values as far as they are shown. What is no name of a flag is left out.
pub(super) fn knobs(knobs: &Knobs) -> Knobs {
    let shown = knobs.iter().filter(|(name, _)| is_flag(name));
    let shown = shown.map(|(name, value)| {
        let text = knob(name, &value.to_string());
        let value = if text == HIDDEN {
            KnobValue::Word(text)
        } else {
            value.clone()
        };
        (name.clone(), value)
    });
    shown.collect()
}

/// What is known of an engine beside its knobs.
pub(super) fn fact(name: &str, value: &str) -> Option<String> {
    if let Some(flag) = name.strip_prefix("knob:") {
        return is_flag(flag).then(|| knob(flag, value));
    }
    match name {
        "model" => Some(model(value)),
        "engine" => Some(shown(value, " .-_+")),
        // Made of the studio's own words.
        "connection" => Some(shown(value, " ,/.")),
        "dialect" => Some(shown(value, "._")),
        // A digest.
        "launch" => Some(shown(value, "")),
        // A person may have typed where it came from.
        "version" => Some(shown(value, " .-_+(),")),
        "context length"
        | "seen:context length"
        | "dtype"
        | "device"
        | "weights"
        | "parameters"
        | "accepted" => Some(shown(value, "-_+")),
        // The studio's own words for the machine of an engine that is not there.
        "hardware" | "quantization" if value == NO_MACHINE => Some(value.to_owned()),
        // In a person's words, or an engine's; no dot, slash or colon, so no host and no path.
        "hardware" | "quantization" => Some(shown(value, " -_+,()")),
        // Made of the studio's own words.
        "seen:start-up" | "seen:cache reset" | "seen:answered by" => Some(shown(value, " ,.")),
        // Whatever else an engine says of itself may name its machine.
        _ => None,
    }
}

/// What is no fact of an engine, and differs all the same: the studio's own words are shown, whatever else there is not.
pub(super) fn studios(name: &str, value: &str) -> String {
    if name == CACHE {
        return value.to_owned();
    }
    fact(name, value).unwrap_or_else(|| HIDDEN.to_owned())
}

/// A model's name. Engines that serve a file name it by its path, which names people and machines; a URL names a host.
pub(super) fn model(name: &str) -> String {
    let trimmed = name.trim().trim_end_matches(['/', '\\']);
    let segments: Vec<&str> = trimmed
        .split(['/', '\\'])
        .filter(|it| !it.is_empty())
        .collect();
    let last = segments.last().copied().unwrap_or_default();
    let is_network_path = trimmed.starts_with("//") || trimmed.starts_with("\\\\");
    if trimmed.contains("://") || trimmed.contains('@') || segments.iter().any(|it| has_port(it)) {
        return HIDDEN.to_owned();
    }
    if is_network_path && segments.len() < 3 {
        return HIDDEN.to_owned();
    }
    let is_path = trimmed.starts_with(['/', '~', '.']) || trimmed.contains('\\');
    let text = if is_path { last } else { trimmed };
    text.to_owned()
}

/// `gpu7:8000`, and not `llama3:8b`.
fn has_port(segment: &str) -> bool {
    segment.rsplit_once(':').is_some_and(|(_, port)| {
        (2..=5).contains(&port.len()) && port.bytes().all(|it| it.is_ascii_digit())
    })
}

fn shown(value: &str, beside: &str) -> String {
    // `10.0.0.5` is no version.
    let is_address = value.parse::<std::net::IpAddr>().is_ok();
    let text = if is_plain(value, beside) && !is_address {
        value
    } else {
        HIDDEN
    };
    text.to_owned()
}

/// Whether a fact's name is one that may be read.
pub(super) fn is_name(name: &str) -> bool {
    is_plain(name, " -_.:") && name.parse::<std::net::IpAddr>().is_err()
}

fn is_flag(name: &str) -> bool {
    is_plain(name, "-_.") && name.parse::<std::net::IpAddr>().is_err()
}

/// Letters, digits and what is named beside them; not too many.
fn is_plain(text: &str, beside: &str) -> bool {
    text.chars().count() <= LONGEST
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || beside.contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knobs_that_can_hold_no_address_are_shown() {
        for (name, value) in [
            ("max-num-seqs", "64"),
            ("gpu-memory-utilization", "0.9"),
            ("enable-prefix-caching", "on"),
            ("kv-cache-dtype", "fp8_e4m3"),
            ("schedule-policy", "lpm"),
            ("cuda-graph-bs", "1,2,4"),
            ("proxy", "off"),
            ("max-num-batched-tokens", "8192"),
            ("long-prefill-token-threshold", "0"),
            ("max-token-len", "auto"),
            ("node-rank", "0"),
            ("server-slots", "16"),
        ] {
            assert_eq!(knob(name, value), value, "{name}");
        }
    }

    #[test]
    fn knobs_that_can_are_hidden() {
        for (name, value) in [
            ("kv-connector", "http://SECRET.internal:9000"),
            ("kv-connector", "LMCacheConnector"),
            ("host", "gpu7"),
            ("HOST", "2130706433"),
            ("cmd", "--host gpu7.corp"),
            ("extra", "--host gpu7.corp"),
            ("backend", "gpu7.corp"),
            ("backend", "10.0.0.5"),
            ("backend", "gpu7:9000"),
            ("lora", "/mnt/secret/lora"),
            ("dist-init-addr", "gpu7"),
            ("dist-init-addr", "167772165"),
            ("hf-token", "123456"),
            ("api-token", "plain"),
            ("api-key", "42"),
            ("token", "42"),
        ] {
            assert_eq!(knob(name, value), HIDDEN, "{name}={value}");
        }
        let odd: Knobs = [("http://gpu7/".to_owned(), KnobValue::Switch(true))].into();
        assert!(knobs(&odd).is_empty());
    }

    #[test]
    fn facts_are_shown_by_name() {
        for (name, value, shown) in [
            ("knob:host", "gpu7", Some(HIDDEN)),
            ("knob:max-num-seqs", "64", Some("64")),
            ("version", "0.32.0+cu128", Some("0.32.0+cu128")),
            ("version", "10.0.0.5", Some(HIDDEN)),
            ("engine", "Goodput simulator", Some("Goodput simulator")),
            ("quantization", "http://gpu7", Some(HIDDEN)),
            ("quantization", "Q4_K - Medium", Some("Q4_K - Medium")),
            ("hardware", "2 x H100 (80 GB)", Some("2 x H100 (80 GB)")),
            ("hardware", "gpu7.example", Some(HIDDEN)),
            ("hardware", "none: simulated", Some("none: simulated")),
            ("quantization", "none: simulated", Some("none: simulated")),
            ("hardware", "gpu7: simulated", Some(HIDDEN)),
            ("seen:start-up", "23.7 s", Some("23.7 s")),
            ("accepted", "quantization", Some("quantization")),
            ("url", "http://gpu7", None),
            ("anything", "x", None),
        ] {
            assert_eq!(fact(name, value).as_deref(), shown, "{name}");
        }
    }

    #[test]
    fn a_model_keeps_its_name_and_loses_its_place() {
        for (name, shown) in [
            ("meta-llama/Llama-3.1-8B", "meta-llama/Llama-3.1-8B"),
            ("llama3:8b", "llama3:8b"),
            ("/home/ada/models/gemma.gguf", "gemma.gguf"),
            ("/models/llama/", "llama"),
            ("C:\\models\\m.gguf", "m.gguf"),
            ("\\\\gpu7\\share\\m.gguf", "m.gguf"),
            ("\\\\gpu7.corp", HIDDEN),
            ("//gpu7.corp", HIDDEN),
            ("http://gpu7.corp:9000", HIDDEN),
            ("http://gpu7.corp/m", HIDDEN),
            ("gpu7.corp:8000/llama", HIDDEN),
        ] {
            assert_eq!(model(name), shown, "{name}");
        }
    }
}
