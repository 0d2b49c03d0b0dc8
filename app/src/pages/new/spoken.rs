//! Fields of a study as the form calls them, for the list of what is to be mended.

/// A field's name in the form: `levels[1]` is `Rates, the 2nd`.
pub fn spoken(field: &str) -> String {
    let (path, index) = element(field);
    if let Some(rest) = path.strip_prefix("configurations") {
        return configuration(rest, index);
    }
    let known = NAMES.iter().find(|(name, _)| *name == path);
    let name = known.map_or_else(|| plain(&path), |(_, spoken)| (*spoken).to_owned());
    match index {
        Some(index) => format!("{name}, number {}", index + 1),
        None => name,
    }
}

/// A path in words: `workload.input.tokens` is `workload input tokens`.
fn plain(path: &str) -> String {
    path.replace(['.', '_'], " ")
}

/// What the form calls its fields.
const NAMES: [(&str, &str); 23] = [
    ("name", "Name"),
    ("engine", "Engine"),
    ("engine.preset", "Preset"),
    ("engine.url", "Engine"),
    ("engine.model", "Model"),
    ("engine.headers", "Headers"),
    ("engine.hardware", "Hardware"),
    ("workload", "Workload"),
    ("levels", "Rates"),
    ("arrival", "Arrivals"),
    ("length", "Length of a point"),
    ("length.min_requests", "Fewest requests"),
    ("length.max_requests", "Most requests"),
    ("length.seconds", "Time"),
    ("warmup", "Warm-up"),
    ("seed", "Seed"),
    ("repeats", "Repeats"),
    ("idle_timeout_ms", "Idle timeout"),
    ("drain_ms", "Drain"),
    ("ramp_in_ms", "Ramp-in"),
    ("tokenizer", "Tokenizer"),
    ("author", "Author"),
    ("slo", "SLO"),
];

/// A path without its first `[index]`, and that index.
fn element(field: &str) -> (String, Option<usize>) {
    let Some((before, rest)) = field.split_once('[') else {
        return (field.to_owned(), None);
    };
    let (index, after) = rest.split_once(']').unwrap_or((rest, ""));
    (format!("{before}{after}"), index.parse().ok())
}

/// Configurations are called by their place: the first is the baseline.
fn configuration(rest: &str, index: Option<usize>) -> String {
    let whose = match index {
        None => return "Knobs".into(),
        Some(0) => "Baseline".to_owned(),
        Some(index) => format!("Variant {index}"),
    };
    let part = rest.trim_start_matches('.');
    let part = part.strip_prefix("knobs.").unwrap_or(part);
    if part.is_empty() {
        whose
    } else {
        format!("{whose}, {}", plain(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_called_as_the_form_calls_them() {
        for (field, expected) in [
            ("levels[1]", "Rates, number 2"),
            ("workload", "Workload"),
            ("levels", "Rates"),
            ("slo", "SLO"),
            ("configurations", "Knobs"),
            ("configurations[0].name", "Baseline, name"),
            (
                "configurations[1].knobs.max-num-seqs",
                "Variant 1, max-num-seqs",
            ),
            (
                "configurations[2].turn.instruction",
                "Variant 2, turn instruction",
            ),
            ("configurations[2]", "Variant 2"),
            ("workload.max_turns", "workload max turns"),
        ] {
            assert_eq!(spoken(field), expected, "{field}");
        }
    }
}
