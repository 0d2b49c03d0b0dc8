//! Facts that are structures (workloads, arrivals) in words, and field by field where two differ.

use serde_json::Value;

/// A fact's value in words: without the structure behind it, and no quotes around a single word.
pub fn in_words(value: &str) -> String {
    let (words, structure) = parts(value);
    match (words, structure) {
        ("", Some(structure)) => {
            let fields = flat(&structure);
            let fields = fields.iter().map(|(name, value)| match name.as_str() {
                "" => value.clone(),
                name => format!("{name} {value}"),
            });
            fields.collect::<Vec<_>>().join(", ")
        }
        ("", None) => value.to_owned(),
        (words, _) => words.to_owned(),
    }
}

/// The fields of a fact's structure, each with its value; none where it is no structure of several.
pub fn fields(value: &str) -> Vec<(String, String)> {
    let structure = parts(value).1;
    let structure = structure.filter(|it| it.is_object());
    structure.as_ref().map_or_else(Vec::new, flat)
}

/// The words before a structure, and the structure: `16 in, 8 out ({"synthetic":...})`, or the structure alone.
fn parts(value: &str) -> (&str, Option<Value>) {
    if let Ok(structure) = serde_json::from_str::<Value>(value)
        && (structure.is_object() || structure.is_string())
    {
        return ("", Some(structure));
    }
    let split = value.split_once(" ({").and_then(|(words, rest)| {
        let inside = rest.strip_suffix(')')?;
        let structure = serde_json::from_str(&format!("{{{inside}")).ok()?;
        Some((words, structure))
    });
    match split {
        Some((words, structure)) => (words, Some(structure)),
        None => (value, None),
    }
}

/// Every leaf with the names on the way to it, by these names: two structures list what both have in one order.
fn flat(structure: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    walk(structure, &mut Vec::new(), &mut found);
    found.sort();
    found
}

fn walk(value: &Value, way: &mut Vec<String>, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                way.push(name.replace('_', " "));
                walk(value, way, found);
                way.pop();
            }
        }
        Value::String(text) => found.push((way.join(", "), text.replace('_', " "))),
        Value::Bool(yes) => found.push((way.join(", "), if *yes { "yes" } else { "no" }.into())),
        Value::Null => found.push((way.join(", "), "none".into())),
        other => found.push((way.join(", "), other.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_structure_is_said_in_words() {
        let workload = r#"synthetic, 16 in, 8 out ({"kind":"synthetic","input":{"fixed":{"tokens":16}},"prefix_cache":true})"#;
        assert_eq!(in_words(workload), "synthetic, 16 in, 8 out");
        assert_eq!(
            fields(workload),
            [
                ("input, fixed, tokens", "16"),
                ("kind", "synthetic"),
                ("prefix cache", "yes")
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
    }

    #[test]
    fn what_is_no_structure_stays_what_it_is() {
        for (value, words) in [
            ("42", "42"),
            ("\"poisson\"", "poisson"),
            ("{\"gamma\":0.5}", "gamma 0.5"),
            ("FlashAttention (v2)", "FlashAttention (v2)"),
            ("a ({not json)", "a ({not json)"),
            ("", ""),
        ] {
            assert_eq!(in_words(value), words, "{value}");
        }
        assert!(fields("42").is_empty() && fields("\"poisson\"").is_empty());
    }
}
