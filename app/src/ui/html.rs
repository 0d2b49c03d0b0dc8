//! HTML as text, for what only shows: tables and lists without anything to press but links.
//!
//! An element of a leptos view costs the browser's module code for building it, waking it up and changing it; a table of
//! numbers needs none of that. [`html!`] escapes whatever is put into its template, so text can never become markup.

use std::fmt::{self, Display, Formatter, Write};

/// Text that is HTML. Only [`html!`] makes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Html(String);

impl Html {
    /// Takes what [`html!`] formatted: a template of ours, with everything put into it escaped.
    #[doc(hidden)]
    pub fn formatted(text: fmt::Arguments<'_>) -> Self {
        Self(text.to_string())
    }

    /// A piece of markup that stands in our own text.
    #[cfg(feature = "ssr")]
    pub fn literal(text: &'static str) -> Self {
        Self(text.to_owned())
    }

    /// What [`html!`] made, and was kept as text meanwhile.
    #[cfg(feature = "ssr")]
    pub(crate) fn trusted(text: String) -> Self {
        Self(text)
    }

    /// A document of ours, made HTML by the server.
    #[cfg(feature = "ssr")]
    pub fn rendered(html: String) -> Self {
        Self(html)
    }

    /// A script of our own.
    #[cfg(feature = "ssr")]
    pub fn script(text: String) -> Self {
        Self(text)
    }

    /// For an element's `inner_html`.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl FromIterator<Html> for Html {
    fn from_iter<I: IntoIterator<Item = Self>>(pieces: I) -> Self {
        let mut all = String::new();
        pieces.into_iter().for_each(|piece| all.push_str(&piece.0));
        Self(all)
    }
}

/// What may stand in a template: HTML as it is, everything else escaped.
pub trait Piece {
    /// Writes it.
    fn put(&self, f: &mut Formatter<'_>) -> fmt::Result;
}

impl Piece for Html {
    fn put(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Piece for str {
    fn put(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.chars().try_for_each(|letter| match letter {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '"' => f.write_str("&quot;"),
            '\'' => f.write_str("&#39;"),
            // No document may hold them; what stands there is seen to be something else.
            '\0'..='\x08' | '\x0b' | '\x0e'..='\x1f' | '\x7f' => f.write_char('\u{fffd}'),
            other => f.write_char(other),
        })
    }
}

impl Piece for String {
    fn put(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.as_str().put(f)
    }
}

impl Piece for u32 {
    fn put(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

impl<P: Piece + ?Sized> Piece for &P {
    fn put(&self, f: &mut Formatter<'_>) -> fmt::Result {
        (**self).put(f)
    }
}

impl<P: Piece> Piece for Option<P> {
    fn put(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.as_ref().map_or(Ok(()), |piece| piece.put(f))
    }
}

/// A piece on its way into a template.
#[doc(hidden)]
pub struct Put<'a>(pub &'a dyn Piece);

impl Display for Put<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.put(f)
    }
}

/// Makes [`Html`] of a template and what is put into it: `html!("<td>{}</td>", text)`.
macro_rules! html {
    ($template:literal $(, $piece:expr)* $(,)?) => {
        $crate::ui::html::Html::formatted(format_args!($template $(, $crate::ui::html::Put(&$piece))*))
    };
}
pub(crate) use html;

/// A badge; the twin of [`super::badge::Badge`].
pub fn badge(word: super::badge::Word) -> Html {
    html!(
        r#"<span class="badge" data-word="{}" data-tone="{}" data-mark="{}" title="{}">{}</span>"#,
        word.word,
        word.tone.name(),
        word.mark,
        word.about,
        word.word
    )
}

/// A dash with its reason; the twin of [`super::number::Missing`].
pub fn missing(reason: &str) -> Html {
    html!(
        r#"<abbr class="missing" title="{}"><span aria-hidden="true">–</span><span class="sr-only">{}</span></abbr>"#,
        reason,
        reason
    )
}

/// Terms and what they are.
pub fn terms(rows: impl IntoIterator<Item = (String, String)>) -> Html {
    rows.into_iter()
        .map(|(term, what)| html!("<dt>{}</dt><dd>{}</dd>", term, what))
        .collect()
}

/// A word that the glossary explains under `anchor`: what it means shows on hover and focus, and it leads there.
pub fn term(word: &str, anchor: &str) -> Html {
    html!(
        r#"<a class="term" href="/docs/glossary#{}" rel="external">{}</a>"#,
        anchor,
        word
    )
}

/// A name in a table's head. `?TTFT@ttft p50` is a word that the glossary explains, and the rest of the name.
fn named(name: &str) -> Html {
    let marked = name.strip_prefix('?').and_then(|it| it.split_once('@'));
    let Some((word, rest)) = marked else {
        return html!("{}", name);
    };
    let (anchor, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    html!("{} {}", term(word, anchor), rest)
}

/// Cells of a table's head, numbers to the right where the name begins with `#`; then `?word@anchor` is a word of the glossary.
pub fn heads<'a>(names: impl IntoIterator<Item = &'a str>) -> Html {
    names
        .into_iter()
        .map(|name| match name.strip_prefix('#') {
            Some(name) => html!(r#"<th scope="col" class="num">{}</th>"#, named(name)),
            None => html!(r#"<th scope="col">{}</th>"#, named(name)),
        })
        .collect()
}

/// A whole table.
pub fn table(class: &str, caption: &str, heads: Html, rows: Html) -> Html {
    html!(
        r#"<table class="{}"><caption class="sr-only">{}</caption><thead><tr>{}</tr></thead><tbody>{}</tbody></table>"#,
        class,
        caption,
        heads,
        rows
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_is_text_and_never_markup() {
        let name = String::from(r#"<img src=x onerror="alert('1')"> & co"#);
        let cell = html!(r#"<td title="{}">{}</td>"#, name, name);
        let text = "&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt; &amp; co";
        assert_eq!(
            cell.into_string(),
            format!(r#"<td title="{text}">{text}</td>"#)
        );
    }

    #[test]
    fn no_control_character_gets_into_a_document() {
        let text = html!("{}", "a\0b\x1b[1m\x7f\tc\nd").into_string();
        assert_eq!(text, "a\u{fffd}b\u{fffd}[1m\u{fffd}\tc\nd");
    }

    #[test]
    fn a_head_explains_the_word_that_it_marks() {
        let cells = heads(["#?TTFT@ttft p50", "?client@certificate", "level"]).into_string();
        let words =
            r#"<a class="term" href="/docs/glossary#ttft" rel="external">TTFT</a> p50</th>"#;
        assert!(cells.contains(words), "{cells}");
        assert!(cells.contains(r##"#certificate" rel="external">client</a>"##));
        assert!(cells.ends_with(r#"<th scope="col">level</th>"#));
    }

    #[test]
    fn html_within_html_stays_as_it_is() {
        let rows: Html = ["a", "<b>"]
            .into_iter()
            .map(|name| html!("<li>{}</li>", name))
            .collect();
        assert_eq!(
            html!("<ul>{}</ul>{}", rows, None::<Html>).into_string(),
            "<ul><li>a</li><li>&lt;b&gt;</li></ul>"
        );
    }
}
