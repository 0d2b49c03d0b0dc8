//! Studies from elsewhere: those that come with the studio, and the way to open somebody's.

use crate::studio::StudyRow;
use crate::ui::badge::SIMULATED;
use crate::ui::html::{Html, badge, html};
use crate::words;

/// The section; hidden while something is searched.
pub fn section(rows: &[StudyRow], shown: bool) -> Html {
    let hidden = (!shown).then(|| Html::literal(" hidden"));
    let lines: Html = rows.iter().map(line).collect();
    html!(
        r#"<section class="stack" id="examples" aria-labelledby="examples-heading"{}><h2 id="examples-heading">Example studies</h2><ul class="stack tight">{}</ul><div class="drop"><label class="button"><input class="sr-only" type="file" id="bundle" accept=".goodput" multiple>Open a bundle…</label><p class="small muted">Or drop result files anywhere on this page: bundles of studies (<code>.goodput</code>), exported here or elsewhere. Without a script: <code>goodput import FILE</code>.</p></div></section>"#,
        hidden,
        lines
    )
}

/// Pressing it stores the example, so it is a button and no link.
fn line(row: &StudyRow) -> Html {
    html!(
        r#"<li class="row"><button class="linkish" form="act" formaction="/examples/{}">{}</button>{}<span class="small muted">{}, {}</span></li>"#,
        row.id.to_string(),
        row.name,
        row.simulated.then(|| badge(SIMULATED)),
        row.engine,
        words::count(row.points as usize, "point")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn::start::tests::row;
    use crate::studio::StudyState;

    #[test]
    fn an_example_is_a_button_and_says_that_it_is_simulated() {
        let text = section(&[row(StudyState::Finished)], true).into_string();
        let id = "00000000-0000-0000-0000-000000000001";
        assert!(
            text.contains(&format!("formaction=\"/examples/{id}\">a study</button>")),
            "{text}"
        );
        assert!(
            text.contains("simulated") && text.contains("8 points"),
            "{text}"
        );
    }
}
