//! The keys of the studio: what each does, the list of them at every page's end, and the script that takes them. The button
//! opens the list without any script.

use crate::ui::html::{Html, html};

/// Takes keys, on every page.
pub const SCRIPT: &str = include_str!("keys/keys.js");

/// Each key with what it does.
const KEYS: [(&[&str], &str); 7] = [
    (&["?"], "Lists the keys"),
    (&["/"], "Searches the studies"),
    (&["s"], "Edits the SLO, where the page has one"),
    (
        &["←", "→"],
        "On a study: along the points of a curve, in every chart at once",
    ),
    (&["↑", "↓"], "Then: to the next curve"),
    (&["Enter"], "Then: opens the point"),
    (&["Esc"], "Leaves the point; closes a dialog"),
];

/// What stands at every page's end.
pub fn footer() -> Html {
    let rows = KEYS.iter().map(|(keys, does)| {
        let keys = keys.iter().map(|key| html!("<kbd>{}</kbd> ", *key));
        html!("<dt>{}</dt><dd>{}</dd>", keys.collect::<Html>(), *does)
    });
    html!(
        r#"<button type="button" class="button quiet compact" popovertarget="keys" aria-haspopup="dialog">Keys <kbd aria-hidden="true">?</kbd></button><div id="keys" class="keys" popover role="dialog" aria-labelledby="keys-heading"><h2 id="keys-heading">Keys</h2><dl>{}</dl><p class="small muted">None is taken while you type in a field, and none together with Ctrl, Alt or Command.</p><button type="button" class="button compact" popovertarget="keys" popovertargetaction="hide" data-close>Close</button></div>"#,
        rows.collect::<Html>()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_that_the_script_takes_is_listed() {
        let listed = footer().into_string();
        for key in ["?", "/", "s"] {
            assert!(SCRIPT.contains(&format!("\"{key}\": ()")), "{key}");
            assert!(listed.contains(&format!("<kbd>{key}</kbd>")), "{key}");
        }
    }
}
