//! What every page does, whether the server draws it whole or a module wakes it up: says whether the studio answers, explains words and
//! marks, turns moments to the reader's clock, keeps what was typed, writes its address and the moment on paper.
//!
//! It stands in the page, before everything else that runs, and never in the browser's module.

use crate::ui::html::{Html, html};

const PARTS: [&str; 5] = [
    include_str!("everywhere/connection.js"),
    include_str!("everywhere/kept.js"),
    include_str!("everywhere/times.js"),
    include_str!("everywhere/tips.js"),
    include_str!("everywhere/page.js"),
];

/// The script for a page's head. A page that a module wakes up announces it with the event `awake`.
pub fn script() -> String {
    let lines = PARTS.iter().flat_map(|part| part.lines());
    let code = lines
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with("//"));
    let code: Vec<&str> = code.collect();
    format!("(() => {{\n{}\n}})();", code.join("\n"))
}

/// What the script writes into, at the end of a page's body: whether the studio answers, and what stands under a printed page.
pub fn places() -> Html {
    html!(r#"<p id="connection" role="status"></p><footer id="printed"></footer>"#)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_ends_no_element_and_stays_small() {
        let script = script();
        assert!(!script.contains("</script") && !script.contains("<!--"));
        assert!(script.len() < 14_000, "{}", script.len());
    }
}
