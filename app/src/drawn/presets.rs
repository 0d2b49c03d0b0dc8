//! Questions that a study can be begun with, as links above its form.

use measure::study::Preset;

use crate::ui::html::{Html, html};

/// What comparing engines asks for where fewer than two are known.
const ADD_ENGINES: &str = " Add two engines first; until then it turns a knob of one.";

/// The links, with so many engines known.
pub fn drawn(engines: usize) -> String {
    let link = |preset: &Preset| {
        let lacking = *preset == Preset::Engines && engines < 2;
        html!(
            r#"<li><a href="/studies/new?preset={}"><strong>{}</strong><span class="small muted">{}{}</span></a></li>"#,
            preset.name(),
            preset.title(),
            preset.question(),
            if lacking { ADD_ENGINES } else { "" }
        )
    };
    let links: Html = Preset::ALL.iter().map(link).collect();
    html!(
        r#"<nav class="presets" aria-label="Begin with a question"><ul>{}</ul></nav>"#,
        links
    )
    .into_string()
}
