//! The documents of `docs/`, inside the binary: made HTML once, with an anchor for each heading and each term of the glossary.
//!
//! The pages cite them, so whoever reads a page can read what a word of it means, without the work tree.

mod render; // from Markdown to HTML, links led to the pages that the studio serves

use std::collections::BTreeMap;
use std::sync::LazyLock;

pub use render::slug;

/// A document as it stands in the work tree.
struct Source {
    /// Below `docs/`, without its ending: `guide/workloads`.
    path: &'static str,
    text: &'static str,
}

macro_rules! sources {
    ($($path:literal),* $(,)?) => {
        [$(Source { path: $path, text: include_str!(concat!("../../docs/", $path, ".md")) }),*]
    };
}

/// What the studio serves, in reading order.
const SOURCES: [Source; 18] = sources![
    "guide/first-study",
    "guide/workloads",
    "guide/engines",
    "guide/dialects",
    "guide/live",
    "guide/point",
    "guide/instrument",
    "glossary",
    "metrics",
    "ceiling",
    "comparing",
    "diagnosis",
    "rules",
    "benchmarks",
    "simulator",
    "bundle",
    "schema",
    "api",
];

/// A document as it is served.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// Below `/docs/`.
    pub path: &'static str,
    /// Its first heading, as text.
    pub title: String,
    /// Its first sentence, as text.
    pub about: String,
    /// Everything after the first heading, as HTML of our own.
    pub html: String,
    /// Anchor and text of each heading of the second level.
    pub parts: Vec<(String, String)>,
    /// Everything in it that can be led to.
    pub anchors: Vec<String>,
}

/// A word of the field with what it means.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Term {
    /// The word itself.
    pub word: String,
    /// What it means, as HTML of our own.
    pub html: String,
}

static DOCUMENTS: LazyLock<Vec<Document>> =
    LazyLock::new(|| SOURCES.iter().map(render::document).collect());

static TERMS: LazyLock<BTreeMap<String, Term>> = LazyLock::new(|| {
    let glossary = SOURCES.iter().find(|it| it.path == GLOSSARY);
    glossary.map(render::terms).unwrap_or_default()
});

/// The path of the glossary below `/docs/`.
pub const GLOSSARY: &str = "glossary";

/// All of them, in reading order.
pub fn all() -> &'static [Document] {
    &DOCUMENTS
}

/// The one at a path below `/docs/`.
pub fn find(path: &str) -> Option<&'static Document> {
    DOCUMENTS.iter().find(|it| it.path == path)
}

/// The terms of the glossary by their anchors.
pub fn terms() -> &'static BTreeMap<String, Term> {
    &TERMS
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// Every document below `docs/`, but for decisions, which speak to those who change the studio.
    fn in_the_tree(folder: &Path, below: &str, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).expect("folder").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.path().is_dir() && name != "adr" {
                in_the_tree(&entry.path(), &format!("{below}{name}/"), found);
            } else if let Some(name) = name.strip_suffix(".md") {
                found.push(format!("{below}{name}"));
            }
        }
    }

    #[test]
    fn every_document_is_served() {
        let mut found = Vec::new();
        let docs = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs"));
        in_the_tree(docs, "", &mut found);
        let mut served: Vec<_> = all().iter().map(|it| it.path.to_owned()).collect();
        found.sort();
        served.sort();
        assert_eq!(found, served);
    }

    #[test]
    fn each_has_a_title_and_a_first_sentence() {
        for document in all() {
            assert!(!document.title.is_empty(), "{}", document.path);
            assert!(
                document.about.ends_with('.'),
                "{}: {}",
                document.path,
                document.about
            );
        }
    }

    #[test]
    fn every_link_within_the_documents_leads_somewhere() {
        for document in all() {
            let links = document.html.split("href=\"").skip(1);
            for link in links.filter_map(|rest| rest.split('"').next()) {
                let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
                let target = match path {
                    "" => Some(document),
                    path => path.strip_prefix("/docs/").and_then(find),
                };
                if path.starts_with("https://") {
                    continue;
                }
                let target = target.unwrap_or_else(|| panic!("{}: {link}", document.path));
                let known = anchor.is_empty() || target.anchors.iter().any(|it| it == anchor);
                assert!(known, "{}: no {anchor} in {}", document.path, target.path);
            }
        }
    }

    #[test]
    fn a_term_is_its_word_and_its_meaning() {
        let ttft = &terms()["ttft"];
        assert_eq!(
            (ttft.word.as_str(), ttft.html.as_str()),
            ("TTFT", "Time to first token, thinking included.")
        );
        assert!(
            find(GLOSSARY)
                .expect("glossary")
                .anchors
                .contains(&"ttft".to_owned())
        );
        assert!(
            terms()["attainment"]
                .html
                .contains("href=\"/docs/metrics#slo-and-goodput\"")
        );
    }
}
