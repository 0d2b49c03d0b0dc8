//! Engines that the studio starts itself.

use super::*;

shapes! {
    /// The knobs of an engine.
    struct Catalogue {
        /// By which it is named: `vllm`.
        pub engine: String,
        pub title: String,
        /// Of this list; it rises with every change.
        pub version: u32,
        /// The engine's version that it was checked against.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub checked: Option<String>,
        /// The path that says whether the engine is well.
        pub health: String,
        /// How its prefix cache is reset between points; left out where only a restart does that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub cache_reset: Option<String>,
        /// Flag and value are one argument.
        pub joined: bool,
        /// How its switches are written: `negatable`, `set` or `value`.
        pub switch: String,
        /// Every knob is a value of this one flag.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub pair: Option<String>,
        pub knobs: Vec<Knob>,
    }
    /// A knob.
    struct Knob {
        /// The flag without its dashes.
        pub name: String,
        /// `switch`, `whole`, `fraction`, `choice`, `text` or `json`.
        pub kind: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub min: Option<f64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub max: Option<f64>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub choices: Vec<String>,
        /// The form of a text: `size` for a number of bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub pattern: Option<String>,
        /// What the engine takes where nothing is set.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub default: Option<String>,
        /// What it does to the curve.
        pub about: String,
        /// The engine's version that first had it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub since: Option<String>,
        /// The environment variable that it is, where it is no flag.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub env: Option<String>,
        /// How this switch is written, where that differs from the engine's others.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub switch: Option<String>,
    }
}
