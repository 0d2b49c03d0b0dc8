//! From Markdown to HTML: links led to the pages that the studio serves, an anchor for each heading and each term, tables that scroll.

use std::collections::BTreeMap;

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use super::{Document, SOURCES, Source, Term};

/// The anchor of a heading or a term, as the field's forges make it: lowercase, blanks become hyphens, other marks go.
pub fn slug(text: &str) -> String {
    let kept = text.to_lowercase();
    let kept = kept.chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        letter => letter.is_alphanumeric().then_some(letter),
    });
    kept.collect()
}

fn parsed(source: &Source) -> Vec<Event<'static>> {
    let parser = Parser::new_ext(source.text, Options::ENABLE_TABLES);
    let events = parser.map(Event::into_static);
    served(events.collect(), source.path)
}

/// The document.
pub(super) fn document(source: &Source) -> Document {
    let events = parsed(source);
    let title = headings(&events).next();
    let title = title.map(|(_, text)| text).unwrap_or_default();
    let parts = headings(&events).filter(|(level, _)| *level == HeadingLevel::H2);
    let parts = parts.map(|(_, text)| (slug(&text), text)).collect();
    let anchors = headings(&events).map(|(_, text)| slug(&text));
    let words = paragraphs(&events).filter_map(term);
    let anchors = anchors.chain(words.map(|(word, _)| slug(&word))).collect();
    Document {
        path: source.path,
        about: about(&events),
        html: in_html(anchored(after_the_title(&events))),
        title,
        parts,
        anchors,
    }
}

/// The glossary's words and their meanings by their anchors.
pub(super) fn terms(source: &Source) -> BTreeMap<String, Term> {
    let events = parsed(source);
    let found = paragraphs(&events).filter_map(term);
    found
        .map(|(word, meaning)| {
            let html = in_html(meaning.to_vec()).trim().to_owned();
            (slug(&word), Term { word, html })
        })
        .collect()
}

/// A paragraph that explains a word: the word stands first, strong, and ends with a dot.
fn term<'a>(paragraph: &'a [Event<'static>]) -> Option<(String, &'a [Event<'static>])> {
    match paragraph {
        [
            Event::Start(Tag::Strong),
            Event::Text(word),
            Event::End(TagEnd::Strong),
            meaning @ ..,
        ] => Some((word.strip_suffix('.')?.to_owned(), meaning)),
        _ => None,
    }
}

/// What stands in each paragraph.
fn paragraphs<'a>(events: &'a [Event<'static>]) -> impl Iterator<Item = &'a [Event<'static>]> {
    let parts = events.split(|event| matches!(event, Event::End(TagEnd::Paragraph)));
    parts.filter_map(|part| {
        let begin = part
            .iter()
            .rposition(|event| matches!(event, Event::Start(Tag::Paragraph)))?;
        part.get(begin + 1..)
    })
}

fn headings<'a>(events: &'a [Event<'static>]) -> impl Iterator<Item = (HeadingLevel, String)> + 'a {
    let parts = events.split(|event| matches!(event, Event::End(TagEnd::Heading(_))));
    parts.filter_map(|part| {
        let is_begin = |event: &Event<'_>| matches!(event, Event::Start(Tag::Heading { .. }));
        let begin = part.iter().rposition(is_begin)?;
        let Event::Start(Tag::Heading { level, .. }) = part.get(begin)? else {
            return None;
        };
        Some((*level, text(&part[begin..])))
    })
}

fn text(events: &[Event<'_>]) -> String {
    let texts = events.iter().map(|event| match event {
        Event::Text(text) | Event::Code(text) => text.as_ref(),
        Event::SoftBreak | Event::HardBreak => " ",
        _ => "",
    });
    texts.collect()
}

/// The first sentence.
fn about(events: &[Event<'static>]) -> String {
    let first = paragraphs(events).next().map(text).unwrap_or_default();
    let end = first.find(". ").map_or(first.len(), |dot| dot + 1);
    let sentence = first[..end].trim_end_matches([':', '.']);
    format!("{sentence}.")
}

/// The title stands in the page's head.
fn after_the_title(events: &[Event<'static>]) -> Vec<Event<'static>> {
    let title = Event::End(TagEnd::Heading(HeadingLevel::H1));
    let end = events.iter().position(|event| *event == title);
    events[end.map_or(0, |end| end + 1)..].to_vec()
}

/// Links lead to the studio's own pages; what leads out of what is served stays text.
fn served(events: Vec<Event<'static>>, from: &str) -> Vec<Event<'static>> {
    let mut dropped = false;
    let mut kept = Vec::new();
    for event in events {
        match event {
            Event::Start(Tag::Link {
                link_type,
                dest_url,
                title,
                id,
            }) => match address(&dest_url, from) {
                Some(address) => kept.push(Event::Start(Tag::Link {
                    link_type,
                    dest_url: CowStr::from(address),
                    title,
                    id,
                })),
                None => dropped = true,
            },
            Event::End(TagEnd::Link) if dropped => dropped = false,
            // There is none, and a page has no other markup than ours.
            Event::Html(html) | Event::InlineHtml(html) => kept.push(Event::Text(html)),
            event => kept.push(event),
        }
    }
    kept
}

/// Where a link of a document leads within the studio.
fn address(link: &str, from: &str) -> Option<String> {
    if link.starts_with('#') || link.starts_with("https://") {
        return Some(link.to_owned());
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let mut folders: Vec<&str> = from.split('/').collect();
    folders.pop();
    for step in file.strip_suffix(".md")?.split('/') {
        match step {
            ".." => drop(folders.pop()?),
            step => folders.push(step),
        }
    }
    let path = folders.join("/");
    let is_served = SOURCES.iter().any(|it| it.path == path);
    let anchor = if anchor.is_empty() {
        String::new()
    } else {
        format!("#{anchor}")
    };
    is_served.then(|| format!("/docs/{path}{anchor}"))
}

/// Headings and terms get their anchors, tables and long lines a frame that scrolls.
fn anchored(events: Vec<Event<'static>>) -> Vec<Event<'static>> {
    let anchors: Vec<String> = headings(&events).map(|(_, text)| slug(&text)).collect();
    let mut headings = anchors.into_iter();
    let words: Vec<Option<String>> = paragraphs(&events)
        .map(|it| term(it).map(|(word, _)| slug(&word)))
        .collect();
    let mut words = words.into_iter();
    let framed = |html: &'static str| Event::Html(CowStr::from(html));
    let mut all = Vec::new();
    for event in events {
        match event {
            Event::Start(Tag::Heading {
                level,
                classes,
                attrs,
                ..
            }) => {
                let id = headings.next().map(CowStr::from);
                all.push(Event::Start(Tag::Heading {
                    level,
                    id,
                    classes,
                    attrs,
                }));
            }
            Event::Start(Tag::Paragraph) => match words.next().flatten() {
                Some(id) => all.push(Event::Html(CowStr::from(format!("<p id=\"{id}\">")))),
                None => all.push(Event::Start(Tag::Paragraph)),
            },
            Event::Start(Tag::Table(_) | Tag::CodeBlock(_)) => {
                all.extend([framed("<div class=\"scroll-x\" tabindex=\"0\">"), event]);
            }
            Event::End(TagEnd::Table | TagEnd::CodeBlock) => all.extend([event, framed("</div>")]),
            event => all.push(event),
        }
    }
    all
}

fn in_html(events: Vec<Event<'static>>) -> String {
    let mut all = String::new();
    html::push_html(&mut all, events.into_iter());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(link: &str, from: &str, expected: Option<&str>) {
        assert_eq!(address(link, from).as_deref(), expected);
    }

    #[test]
    fn links_lead_to_what_is_served() {
        check(
            "metrics.md#percentiles",
            "glossary",
            Some("/docs/metrics#percentiles"),
        );
        check("../metrics.md", "guide/point", Some("/docs/metrics"));
        check("point.md", "guide/engines", Some("/docs/guide/point"));
        check("#traces", "guide/workloads", Some("#traces"));
        check("https://example.org", "api", Some("https://example.org"));
        check("../examples/README.md", "benchmarks", None);
        check("../../examples/README.md", "guide/engines", None);
        check("adr/0007-a-small-module.md", "api", None);
    }

    #[test]
    fn anchors_are_as_forges_make_them() {
        for (text, expected) in [
            ("Was the client innocent?", "was-the-client-innocent"),
            ("SLO and goodput", "slo-and-goodput"),
            ("Rate inf", "rate-inf"),
            ("When: arrivals at a rate", "when-arrivals-at-a-rate"),
        ] {
            assert_eq!(slug(text), expected);
        }
    }

    #[test]
    fn markup_in_a_document_is_text() {
        let source = Source {
            path: "glossary",
            text: "# T\n\n<b>x</b> <script>y</script>\n",
        };
        let html = document(&source).html;
        assert!(
            !html.contains("<b>") && !html.contains("<script>"),
            "{html}"
        );
    }
}
