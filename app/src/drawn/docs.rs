//! The documents as pages.

use crate::ui::html::{Html, html};

/// A document in the list of all.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Below `/docs/`.
    pub path: &'a str,
    /// Its heading.
    pub title: &'a str,
    /// Its first sentence.
    pub about: &'a str,
}

/// A document.
#[derive(Clone, Debug)]
pub struct Page<'a> {
    /// Its heading.
    pub title: &'a str,
    /// Anchor and heading of each part.
    pub parts: &'a [(String, String)],
    /// Everything under its heading.
    pub body: Html,
}

/// The list of all.
pub fn index(entries: &[Entry<'_>]) -> Html {
    let line = |it: &Entry<'_>| {
        html!(
            r#"<li><h2><a href="/docs/{}">{}</a></h2><p class="muted">{}</p></li>"#,
            it.path,
            it.title,
            it.about
        )
    };
    html!(
        r#"<article class="page narrow"><header class="page-head"><div class="stack tight"><h1>Documents</h1><p class="lede">How a study is made, what its numbers mean, and what programs can ask for.</p></div></header><ul class="stack">{}</ul></article>"#,
        entries.iter().map(line).collect::<Html>()
    )
}

/// One document, with its parts to choose from where there are several.
pub fn page(page: &Page<'_>) -> Html {
    let part = |(anchor, text): &(String, String)| {
        html!(r##"<li><a href="#{}">{}</a></li>"##, anchor, text)
    };
    let parts = (1 < page.parts.len()).then(|| {
        html!(
            r#"<nav class="parts no-print" aria-label="Parts of this document"><ul>{}</ul></nav>"#,
            page.parts.iter().map(part).collect::<Html>()
        )
    });
    html!(
        r#"<article class="page document"><header class="page-head"><div class="stack tight"><nav class="crumbs" aria-label="Breadcrumb"><a href="/docs">Documents</a><span aria-current="page">{}</span></nav><h1>{}</h1></div></header><div class="split">{}<div class="prose">{}</div></div></article>"#,
        page.title,
        page.title,
        parts,
        page.body
    )
}
