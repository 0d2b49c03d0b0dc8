//! Studies from elsewhere: those that come with the studio, and the way to open somebody's.

use measure::curve::Ceiling;

use super::card::{marks, picture, told};
use crate::figure_svg::series_colour;
use crate::studio::StudyRow;
use crate::ui::html::{Html, html, missing};
use crate::words;

/// The section; hidden while something is searched.
pub fn section(rows: &[StudyRow], shown: bool) -> Html {
    let hidden = (!shown).then(|| Html::literal(" hidden"));
    let cards: Html = rows.iter().map(card).collect();
    html!(
        r#"<section class="stack" id="examples" aria-labelledby="examples-heading"{}><h2 id="examples-heading">Example studies</h2><ul class="example-cards">{}</ul><div class="drop"><label class="button"><input class="sr-only" type="file" id="bundle" accept=".goodput" multiple>Open a bundle…</label><p class="small muted">Or drop result files anywhere on this page: bundles of studies (<code>.goodput</code>), exported here or elsewhere. Without a script: <code>goodput import FILE</code>.</p></div></section>"#,
        hidden,
        cards
    )
}

/// The card of a study of the list, but that pressing its name stores the example: that is a button and no link.
fn card(row: &StudyRow) -> Html {
    html!(
        r#"<li class="study"><h3><button class="linkish" form="act" formaction="/examples/{}">{}</button></h3><div class="row">{}</div>{}<ul class="ceilings" aria-label="Goodput ceilings">{}</ul><p class="small muted">{}</p><p class="small muted"><code>{}</code></p><p class="facts-line small muted">{}</p></li>"#,
        row.id.to_string(),
        row.name,
        marks(row),
        picture(row),
        ceilings(row),
        told(row),
        row.slo.to_string(),
        words::count(row.points as usize, "point")
    )
}

fn ceilings(row: &StudyRow) -> Html {
    let unit = if row.sessions { "sessions/s" } else { "req/s" };
    let one = |(index, (name, found)): (usize, &(String, Option<Ceiling>))| {
        let value = found.as_ref().map(|it| words::with_unit(it, unit));
        html!(
            r#"<li style="--series:{}"><span class="row nowrap"><span class="key" aria-hidden="true"></span><span class="configuration-name">{}</span></span><span class="value">{}</span></li>"#,
            series_colour(index),
            name,
            value.map_or_else(|| missing("Not judged yet."), |it| html!("{}", it))
        )
    };
    row.ceilings.iter().enumerate().map(one).collect()
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
        for words in ["simulated", "8 points", "2 void points", "confounded"] {
            assert!(text.contains(words), "{words} in {text}");
        }
    }

    #[test]
    fn an_example_has_its_curves_before_it_is_opened() {
        let one = StudyRow {
            sketch: crate::drawn::start::sketch(&crate::fixture::study()),
            ..row(StudyState::Finished)
        };
        let text = section(&[one], true).into_string();
        assert_eq!(text.matches("<svg class=\"sketch\"").count(), 1, "{text}");
    }
}
