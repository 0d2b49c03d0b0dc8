//! What the hardware allows, where somebody states which it is: from its data sheet and the model's published shape.

use measure::diagnose::Theory;

use super::{Device, Model, prices};
use crate::preset::{A100, H100, H200, L4, LLAMA_1B, LLAMA_8B, LLAMA_70B};

/// What is stated of an engine, in its own or a person's words.
#[derive(Clone, Copy, Debug, Default)]
pub struct Statement<'a> {
    /// `NVIDIA H100 80GB HBM3`, `4x A100`.
    pub hardware: &'a str,
    /// `meta-llama/Llama-3.1-8B-Instruct`.
    pub model: &'a str,
    /// `none`, `bf16`, `fp8`.
    pub quantization: &'a str,
    /// Devices that share the model by tensor parallelism, where it is known.
    pub shards: Option<u32>,
}

/// What follows from a statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stated {
    /// What the hardware allows.
    pub theory: Theory,
    /// Where that is from and what it takes for granted, in a sentence.
    pub sentence: String,
}

/// A data sheet: the words of a name of the device, those of its siblings with other figures, and what it is called.
struct Sheet {
    word: &'static str,
    not: &'static [&'static str],
    title: &'static str,
    device: Device,
}

const SHEETS: [Sheet; 4] = [
    sheet("h100", &["pcie", "nvl", "94gb", "64gb"], "H100 SXM", H100),
    sheet("h200", &["nvl"], "H200 SXM", H200),
    sheet("a100", &["pcie", "40gb"], "A100 SXM 80 GB", A100),
    sheet("l4", &[], "L4", L4),
];

const fn sheet(
    word: &'static str,
    not: &'static [&'static str],
    title: &'static str,
    device: Device,
) -> Sheet {
    Sheet {
        word,
        not,
        title,
        device,
    }
}

/// A model's shape: words that its name has, one of each list, and what it is called.
struct Shape {
    words: [&'static [&'static str]; 3],
    title: &'static str,
    model: Model,
}

const SHAPES: [Shape; 3] = [
    Shape {
        words: [&["llama"], &["3", "3.1"], &["8b"]],
        title: "Llama 3.1 8B",
        model: LLAMA_8B,
    },
    Shape {
        words: [&["llama"], &["3", "3.1", "3.3"], &["70b"]],
        title: "Llama 3.1 70B",
        model: LLAMA_70B,
    },
    Shape {
        words: [&["llama"], &["3.2"], &["1b"]],
        title: "Llama 3.2 1B",
        model: LLAMA_1B,
    },
];

/// How weights of 16 bits are called.
const SIXTEEN_BITS: [&str; 7] = [
    "none", "bf16", "bfloat16", "fp16", "f16", "float16", "16-bit",
];

impl Statement<'_> {
    /// What the hardware allows; none where device or model are none of those whose figures are known here, where weights are not of 16
    /// bits, or where it is not said how many devices share the model.
    pub fn follow(&self) -> Option<Stated> {
        let hardware = words(self.hardware);
        let is_of = |it: &&Sheet| {
            let has = |word: &str| hardware.iter().any(|other| other == word);
            has(it.word) && !it.not.iter().any(|word| has(word))
        };
        let sheet = only(SHEETS.iter().filter(is_of))?;
        let name = words(self.model);
        let has_one =
            |list: &&'static [&'static str]| name.iter().any(|it| list.contains(&it.as_str()));
        let shape = only(SHAPES.iter().filter(|it| it.words.iter().all(has_one)))?;
        let quantization = self.quantization.trim().to_ascii_lowercase();
        if !SIXTEEN_BITS.contains(&quantization.as_str()) {
            return None;
        }
        let count = self.devices(&hardware)?;
        Some(follow(sheet, shape, count))
    }

    /// How many share the model: as the engine is set, or the only one that there is.
    fn devices(&self, hardware: &[String]) -> Option<u32> {
        let counts = hardware.iter().filter_map(|it| {
            let number = it.strip_suffix(['x', '×'])?;
            number.parse::<u32>().ok()
        });
        let there = only(counts);
        match (self.shards, there) {
            (Some(shards), _) => Some(shards.max(1)),
            (None, None | Some(1)) => Some(1),
            (None, Some(_)) => None,
        }
    }
}

fn follow(sheet: &Sheet, shape: &Shape, count: u32) -> Stated {
    let device = Device {
        count: f64::from(count),
        ..sheet.device
    };
    let theory = prices(&shape.model, &device).theory();
    let times = if count == 1 {
        String::new()
    } else {
        format!("{count} x ")
    };
    let sentence = format!(
        "What the hardware allows is worked out, not measured: {} with weights of 16 bits on {times}{}, by their published figures, {:.0} % of the \
         bandwidth and {:.0} % of the arithmetic reached. The shortest step is then {}.",
        shape.title,
        sheet.title,
        100.0 * device.bandwidth_share,
        100.0 * device.flops_share,
        theory.step
    );
    Stated { theory, sentence }
}

/// The only one; none of several.
fn only<T>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.next().is_none().then_some(first)
}

/// Words in small letters; dots and signs of multiplication belong to theirs. A number and its unit, or its `x`, are one.
fn words(text: &str) -> Vec<String> {
    let small = text.to_lowercase();
    let ends = |letter: char| !letter.is_alphanumeric() && !matches!(letter, '.' | '×');
    let split: Vec<&str> = small.split(ends).filter(|it| !it.is_empty()).collect();
    let is_number = |it: &str| it.chars().all(|letter| letter.is_ascii_digit());
    let mut all: Vec<String> = Vec::new();
    for word in split {
        match all.last_mut() {
            Some(number) if is_number(number) && matches!(word, "x" | "×" | "gb" | "b") => {
                number.push_str(word);
            }
            _ => all.push(word.to_owned()),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::units::Nanos;

    const KNOWN: Statement<'static> = Statement {
        hardware: "NVIDIA H100 80GB HBM3",
        model: "meta-llama/Llama-3.1-8B-Instruct",
        quantization: "none",
        shards: None,
    };

    #[test]
    fn the_shortest_step_is_the_weights_over_the_bandwidth_that_is_reached() {
        let stated = KNOWN.follow().expect("all is known");
        // 8.03 less 128,256 x 4096 parameters of two bytes, at 80 % of 3.35 TB/s, and 0.3 ms between steps.
        let by_hand = (8.03e9 - 128_256.0 * 4096.0) * 2.0 / (0.8 * 3.35e12) + 0.3e-3;
        let found = stated.theory.step.as_secs_f64();
        assert!((found / by_hand - 1.0).abs() < 1e-3, "{found} {by_hand}");
        for part in [
            "Llama 3.1 8B",
            "on H100 SXM",
            "80 %",
            "50 %",
            "not measured",
        ] {
            assert!(stated.sentence.contains(part), "{}", stated.sentence);
        }
    }

    #[track_caller]
    fn check(change: impl FnOnce(&mut Statement<'static>), step_ms: Option<f64>) {
        let mut statement = KNOWN;
        change(&mut statement);
        let found = statement.follow().map(|it| it.theory.step);
        let about = |step: Nanos| (step.as_secs_f64() * 1e4).round() / 10.0;
        assert_eq!(found.map(about), step_ms, "{statement:?}");
    }

    #[test]
    fn devices_and_models_go_by_many_names() {
        check(|it| it.hardware = "1x H200", Some(4.2));
        check(|it| it.hardware = "NVIDIA A100-SXM4-80GB", Some(9.5));
        check(|it| it.hardware = "one L4 (24 GB)", Some(62.8));
        check(|it| it.model = "llama-3-8b", Some(5.9));
        check(|it| it.model = "Llama 3.2 1B", Some(1.2));
        check(|it| it.quantization = " BF16", Some(5.9));
    }

    #[test]
    fn several_devices_count_where_it_is_said_that_they_share_the_model() {
        let four = |it: &mut Statement<'static>| {
            (it.hardware, it.model) = ("4x H100", "llama-3.1-70b");
        };
        check(four, None);
        let shared = |it: &mut Statement<'static>| {
            four(it);
            it.shards = Some(4);
        };
        check(shared, Some(14.9));
    }

    #[test]
    fn what_is_not_known_to_the_last_word_is_not_guessed() {
        for hardware in [
            "",
            "unknown",
            "H100 PCIe",
            "A100 40 GB",
            "L40S",
            "H100 or H200",
            "a good GPU",
        ] {
            check(|it| it.hardware = hardware, None);
        }
        for model in ["", "Llama-2-8b", "llama-3.1-405b", "Qwen3-8B", "llama-8b"] {
            check(|it| it.model = model, None);
        }
        for quantization in ["", "unknown", "fp8", "awq", "Q4_K_M"] {
            check(|it| it.quantization = quantization, None);
        }
    }
}
