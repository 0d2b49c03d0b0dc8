//! Every metric is documented, and every link between our documents leads somewhere.

use super::Tree;
use std::path::{Component, Path, PathBuf};

/// Findings over documents.
pub fn check(tree: &Tree) -> anyhow::Result<Vec<String>> {
    let mut findings = metrics(tree);
    for (path, text) in tree
        .texts()
        .filter(|(path, _)| path.extension().is_some_and(|ending| ending == "md"))
    {
        if text.contains("@@") {
            findings.push(format!(
                "{}: holds a gap that was to be filled (@@)",
                path.display()
            ));
        }
        let dead = links(&text).filter(|target| !leads_somewhere(tree, path, target));
        findings.extend(
            dead.map(|target| format!("{}: links to {target}, which is not there", path.display())),
        );
    }
    Ok(findings)
}

/// Whether a file is there, and in a document the heading.
fn leads_somewhere(tree: &Tree, from: &Path, target: &str) -> bool {
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let file = if file.is_empty() {
        from.to_path_buf()
    } else {
        resolve(from, file)
    };
    if heading.is_empty() || file.extension().is_none_or(|ending| ending != "md") {
        return tree.root.join(&file).exists();
    }
    let text = tree.read(&file.display().to_string());
    text.is_some_and(|text| headings(&text).any(|it| it == heading))
}

/// The names of a document's headings, as links give them: small letters, hyphens for spaces, no other signs.
fn headings(text: &str) -> impl Iterator<Item = String> {
    let titles = text.lines().filter_map(|line| line.strip_prefix('#'));
    titles.map(|title| {
        let title = title.trim_start_matches('#').trim().to_lowercase();
        let kept = title
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    })
}

/// Each latency and each field of a point's summary stands in docs/metrics.md under its own name.
fn metrics(tree: &Tree) -> Vec<String> {
    let document = tree.read("docs/metrics.md").unwrap_or_default();
    let variants = variants_of(
        "Metric",
        &tree.read("measure/src/slo.rs").unwrap_or_default(),
    );
    let fields = fields_of(
        "Summary",
        &tree.read("measure/src/summary.rs").unwrap_or_default(),
    );
    let names = variants.iter().map(|name| snake_case(name)).chain(fields);
    let missing = names.filter(|name| !document.contains(&format!("`{name}`")));
    let mut findings: Vec<_> = missing
        .map(|name| format!("docs/metrics.md: does not say what `{name}` is"))
        .collect();
    findings.sort();
    findings.dedup();
    findings
}

/// The body of `pub struct NAME {` or `pub enum NAME {`, up to the brace at the start of a line.
fn body<'a>(item: &str, source: &'a str) -> &'a str {
    let Some((_, rest)) = source.split_once(&format!("{item} {{\n")) else {
        return "";
    };
    rest.split("\n}").next().unwrap_or_default()
}

fn variants_of(name: &str, source: &str) -> Vec<String> {
    let lines = body(&format!("pub enum {name}"), source).lines();
    let words = lines
        .map(str::trim)
        .filter(|line| line.starts_with(char::is_uppercase));
    words
        .map(|line| line.trim_end_matches(',').to_owned())
        .collect()
}

fn fields_of(name: &str, source: &str) -> Vec<String> {
    let lines = body(&format!("pub struct {name}"), source).lines();
    let fields = lines.filter_map(|line| line.trim().strip_prefix("pub ")?.split_once(':'));
    fields.map(|(field, _)| field.to_owned()).collect()
}

/// `ScheduledTtft` becomes `scheduled_ttft`.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

/// Targets of `[text](target)` and `![text](target)` inside the project.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')').map(|(target, _)| target));
    targets.filter(|target| !target.contains(':') && !target.contains(char::is_whitespace))
}

/// Where a link in `document` leads, seen from the root.
fn resolve(document: &Path, target: &str) -> PathBuf {
    let joined = document.parent().unwrap_or(Path::new("")).join(target);
    let mut path = PathBuf::new();
    for part in joined.components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            other => path.push(other),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_from_the_source() {
        let source = "pub enum Metric {\n    /// First.\n    Ttft,\n    ScheduledTtft,\n}\npub struct Summary {\n    /// D.\n    pub duration: Nanos,\n}\n";
        let variants: Vec<_> = variants_of("Metric", source)
            .iter()
            .map(|name| snake_case(name))
            .collect();
        assert_eq!(variants, ["ttft", "scheduled_ttft"]);
        assert_eq!(fields_of("Summary", source), ["duration"]);
    }

    #[test]
    fn headings_are_named_as_links_name_them() {
        let text = "# The `goodput` file, format 1\ntext # no\n### At *equal* rate\n";
        let found: Vec<String> = headings(text).collect();
        assert_eq!(found, ["the-goodput-file-format-1", "at-equal-rate"]);
    }

    #[test]
    fn links_of_ours_are_followed_and_others_are_not() {
        let text = "[a](docs/a.md#x) ![p](p.png) [web](https://example.com) [here](#there)";
        assert_eq!(
            links(text).collect::<Vec<_>>(),
            ["docs/a.md#x", "p.png", "#there"]
        );
        assert_eq!(
            resolve(Path::new("docs/guide/x.md"), "../adr/0001.md"),
            Path::new("docs/adr/0001.md")
        );
    }
}
