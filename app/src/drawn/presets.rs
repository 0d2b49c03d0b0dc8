//! Questions that a study can be begun with, as links above its form.

use measure::study::Preset;

use crate::ui::html::{Html, html};

/// The links.
pub fn drawn() -> String {
    let link = |preset: &Preset| {
        html!(
            r#"<li><a href="/studies/new?preset={}"><strong>{}</strong><span class="small muted">{}</span></a></li>"#,
            preset.name(),
            preset.title(),
            preset.question()
        )
    };
    let links: Html = Preset::ALL.iter().map(link).collect();
    html!(
        r#"<nav class="presets" aria-label="Begin with a question"><ul>{}</ul></nav>"#,
        links
    )
    .into_string()
}
