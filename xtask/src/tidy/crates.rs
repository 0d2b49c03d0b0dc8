//! Who may import whom, and that every crate takes its lints from the root.

use super::Tree;
use toml::{Table, Value};

/// The crates in reading order, each with those of ours that it may import.
const MAY_IMPORT: [(&str, &[&str]); 8] = [
    ("measure", &[]),
    ("load", &["measure"]),
    ("sim", &["measure"]),
    ("app", &["measure"]),
    ("frontend", &["app"]),
    ("server", &["measure", "load", "sim", "app"]),
    ("tests", &["measure", "load", "sim", "app", "server"]),
    ("xtask", &[]),
];

/// Findings over all crates.
pub fn check(tree: &Tree) -> anyhow::Result<Vec<String>> {
    let mut findings = Vec::new();
    let root: Table = toml::from_str(&tree.read("Cargo.toml").unwrap_or_default())?;
    for member in members(&root) {
        let Some((_, may)) = MAY_IMPORT.iter().find(|(name, _)| *name == member) else {
            findings.push(format!("Cargo.toml: nothing says what {member} may import: add it to xtask/src/tidy/crates.rs"));
            continue;
        };
        let manifest: Table = toml::from_str(
            &tree
                .read(&format!("{member}/Cargo.toml"))
                .unwrap_or_default(),
        )?;
        findings.extend(check_crate(&member, may, &manifest));
    }
    Ok(findings)
}

fn members(root: &Table) -> Vec<String> {
    let members = root
        .get("workspace")
        .and_then(|workspace| workspace.get("members"))
        .and_then(Value::as_array);
    members
        .into_iter()
        .flatten()
        .filter_map(|member| member.as_str().map(str::to_owned))
        .collect()
}

fn check_crate(name: &str, may: &[&str], manifest: &Table) -> Vec<String> {
    let mut findings = Vec::new();
    for import in imports(manifest) {
        if MAY_IMPORT.iter().any(|(ours, _)| *ours == import) && !may.contains(&import.as_str()) {
            findings.push(format!(
                "{name}/Cargo.toml: {name} must not import {import} (see ARCHITECTURE.md)"
            ));
        }
    }
    let inherits = manifest
        .get("lints")
        .and_then(|lints| lints.get("workspace"))
        .and_then(Value::as_bool);
    if inherits != Some(true) {
        findings.push(format!(
            "{name}/Cargo.toml: lints are not inherited: add `[lints] workspace = true`"
        ));
    }
    findings
}

/// The names of all dependencies, those for tests, build scripts and single targets included.
fn imports(manifest: &Table) -> Vec<String> {
    let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
    let targets = manifest
        .get("target")
        .and_then(Value::as_table)
        .into_iter()
        .flat_map(Table::values);
    let tables = targets.filter_map(Value::as_table).chain([manifest]);
    let lists =
        tables.flat_map(|table| kinds.iter().filter_map(|kind| table.get(*kind)?.as_table()));
    lists.flat_map(|list| list.keys().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(manifest: &str, expected: &[&str]) {
        let manifest: Table = toml::from_str(manifest).unwrap();
        assert_eq!(check_crate("app", &["measure"], &manifest), expected);
    }

    #[test]
    fn an_arrow_that_does_not_exist_is_found_wherever_it_hides() {
        let found = "app/Cargo.toml: app must not import server (see ARCHITECTURE.md)";
        check(
            "[lints]\nworkspace = true\n[dependencies]\nmeasure.workspace = true",
            &[],
        );
        check(
            "[lints]\nworkspace = true\n[dependencies]\nserver.workspace = true",
            &[found],
        );
        check(
            "[lints]\nworkspace = true\n[dev-dependencies]\nserver = '*'",
            &[found],
        );
        check(
            "[lints]\nworkspace = true\n[target.'cfg(unix)'.dependencies]\nserver = '*'",
            &[found],
        );
    }

    #[test]
    fn own_lints_are_found() {
        check(
            "[dependencies]",
            &["app/Cargo.toml: lints are not inherited: add `[lints] workspace = true`"],
        );
    }
}
