//! What the start page's address asks for. What is left out stands for anything; what cannot be read asks for nothing.

use serde::Deserialize;

use crate::url_state::escape;

/// The query of the page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Asked {
    /// Words.
    pub q: String,
    /// An engine.
    pub engine: String,
    /// A model.
    pub model: String,
    /// What an engine runs on.
    pub hardware: String,
    /// A tag.
    pub tag: String,
    /// Who measured.
    pub author: String,
    /// Where a study stands: `running`.
    pub state: String,
    /// The first day, `2026-11-30`.
    pub from: String,
    /// The last day.
    pub to: String,
    /// Studies made before this time, in milliseconds since 1970.
    pub before: String,
    /// A study that was just deleted.
    pub deleted: String,
}

impl Asked {
    /// What finds, by name, in the order of the form.
    pub fn named(&self) -> [(&'static str, &str); 9] {
        [
            ("q", &self.q),
            ("engine", &self.engine),
            ("model", &self.model),
            ("hardware", &self.hardware),
            ("tag", &self.tag),
            ("author", &self.author),
            ("state", &self.state),
            ("from", &self.from),
            ("to", &self.to),
        ]
        .map(|(name, value)| (name, value.trim()))
    }

    /// Whether it leaves nothing out.
    pub fn is_all(&self) -> bool {
        self.before.is_empty() && self.named().iter().all(|(_, value)| value.is_empty())
    }

    /// The value of one kind.
    pub fn value(&self, kind: &str) -> &str {
        let found = self.named().into_iter().find(|(name, _)| *name == kind);
        found.map_or("", |(_, value)| value)
    }

    /// The address of the same without one kind.
    pub fn without(&self, kind: &str) -> String {
        address(self.named().into_iter().filter(|(name, _)| *name != kind))
    }

    /// The address of the studies before those shown; it keeps everything else.
    pub fn older(&self, before_ms: i64) -> String {
        let before = before_ms.to_string();
        address(
            self.named()
                .into_iter()
                .chain([("before", before.as_str())]),
        )
    }

    /// Its own address, what is empty left out.
    pub fn address(&self) -> String {
        let more = [("before", self.before.as_str()), ("deleted", &self.deleted)];
        address(self.named().into_iter().chain(more))
    }

    /// The same in words: `“llama”, engine vLLM`.
    pub(super) fn words(&self) -> String {
        let set = self.named().into_iter().filter(|it| !it.1.is_empty());
        let each = set.map(|(name, value)| match name {
            "q" => format!("“{value}”"),
            name => format!("{name} {value}"),
        });
        each.collect::<Vec<_>>().join(", ")
    }
}

fn address<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let set = pairs.filter(|(_, value)| !value.is_empty());
    let pairs: Vec<String> = set
        .map(|(name, value)| format!("{name}={}", escape(value)))
        .collect();
    if pairs.is_empty() {
        "/".to_owned()
    } else {
        format!("/?{}", pairs.join("&"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_studies_keep_everything_that_was_asked() {
        let asked = Asked {
            q: "a&b é".into(),
            engine: "vLLM 0.32.0".into(),
            from: "2026-11-01".into(),
            before: "9".into(),
            ..Asked::default()
        };
        let older = asked.older(7);
        for part in ["q=a%26b", "engine=vLLM", "from=2026-11-01", "before=7"] {
            assert!(older.contains(part), "{part} in {older}");
        }
        assert_eq!(older.matches("before=").count(), 1);
        assert!(!asked.without("engine").contains("engine"));
        assert_eq!(Asked::default().older(7), "/?before=7");
        assert_eq!(Asked::default().address(), "/");
    }
}
