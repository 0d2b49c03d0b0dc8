//! One study of the list.

use measure::curve::Ceiling;
use uuid::Uuid;

use super::sketch::draw;
use crate::studio::{StudyRow, StudyState};
use crate::ui::badge::{CONFOUNDED, IMPORTED, INSECURE, SIMULATED, TOY_MODEL, Word, study_word};
use crate::ui::html::{Html, badge, html, missing};
use crate::ui::time;
use crate::words;

/// The card.
pub fn card(row: &StudyRow) -> Html {
    let id = row.id.to_string();
    let picture = picture(row);
    html!(
        r#"<li class="study" id="study-{}" data-state="{}"><h2><a href="/studies/{}" class="name" rel="external">{}</a></h2><div class="row">{}</div>{}<ul class="ceilings" aria-label="Goodput ceilings">{}</ul><p class="small muted">{}</p><p class="small muted"><code>{}</code></p><div class="facts-line small muted"><span>{} · <time datetime="{}" title="{}">{}</time></span>{}</div></li>"#,
        id,
        study_word(row.state).word,
        id,
        row.name,
        badges(row),
        picture,
        ceilings(row),
        told(row),
        row.slo.to_string(),
        points(row.points_finished, row.points),
        time::iso(row.created_ms),
        time::plain(row.created_ms),
        time::plain(row.created_ms),
        acts(row)
    )
}

/// Its curves, small.
pub(super) fn picture(row: &StudyRow) -> Html {
    let none = || html!(r#"<p class="sketch muted small">No curve yet.</p>"#);
    draw(&row.sketch).unwrap_or_else(none)
}

fn badges(row: &StudyRow) -> Html {
    let imported = row.imported.then(|| badge(IMPORTED));
    html!("{}{}{}", state(row), imported, marks(row))
}

/// What is said of its figures, and its tags.
pub(super) fn marks(row: &StudyRow) -> Html {
    let void = match row.void_points {
        0 => None,
        number => Some(html!(
            r#"<span class="badge" data-word="void" data-tone="bad" data-mark="hollow" title="The client did not send them as scheduled: they are used for no ceiling and no verdict.">{}</span>"#,
            words::count(number as usize, "void point")
        )),
    };
    let one = |on: bool, word: Word| on.then(|| badge(word));
    let tags = row.tags.iter();
    let tags: Html = tags
        .map(|tag| html!(r#"<span class="tag">{}</span>"#, tag))
        .collect();
    html!(
        "{}{}{}{}{}{}",
        one(row.simulated, SIMULATED),
        one(row.toy, TOY_MODEL),
        one(row.insecure, INSECURE),
        void,
        one(row.confounded, CONFOUNDED),
        tags
    )
}

/// Where it stands, and how far it came where that is not its end.
fn state(row: &StudyRow) -> Html {
    let word = study_word(row.state);
    if row.state != StudyState::Running {
        return badge(word);
    }
    html!(
        r#"<span class="badge" data-word="{}" data-tone="{}" data-mark="{}" title="{}">{}, {} of {}</span>"#,
        word.word,
        word.tone.name(),
        word.mark,
        word.about,
        word.word,
        row.points_finished,
        row.points
    )
}

/// Engines, models, hardware, author: what is known of them.
pub(super) fn told(row: &StudyRow) -> String {
    let engines = match row.engines.is_empty() {
        true => row.engine.clone(),
        false => row.engines.join(" and "),
    };
    let known = |model: &&String| !engines.contains(model.as_str());
    let models: Vec<String> = row.models.iter().filter(known).cloned().collect();
    let author = row.author.iter().map(|it| format!("by {it}"));
    let parts = [
        engines.clone(),
        models.join(" and "),
        row.hardware.join(" and "),
    ];
    let parts = parts.into_iter().filter(|it| !it.is_empty()).chain(author);
    parts.collect::<Vec<_>>().join(" · ")
}

fn ceilings(row: &StudyRow) -> Html {
    let unit = if row.sessions { "sessions/s" } else { "req/s" };
    let each = row.configurations.iter().zip(&row.ceilings).enumerate();
    each.map(|(index, (id, (name, found)))| {
        ceiling(index, *id, name, (found.as_ref(), row.state, unit))
    })
    .collect()
}

/// A configuration's ceiling, and whether it is chosen for a comparison.
fn ceiling(
    index: usize,
    id: Uuid,
    name: &str,
    (found, state, unit): (Option<&Ceiling>, StudyState, &str),
) -> Html {
    let value = match found {
        Some(found) => html!(
            r#"<span class="value">{}</span>"#,
            words::with_unit(found, unit)
        ),
        None => missing(why_no_ceiling(state)),
    };
    html!(
        r#"<li><label><input type="checkbox" name="c" value="{}"><span class="key" style="--series: var(--series-{})"></span><span class="configuration-name">{}</span></label>{}</li>"#,
        id.to_string(),
        (index % 8 + 1) as u32,
        name,
        value
    )
}

fn why_no_ceiling(state: StudyState) -> &'static str {
    match state {
        StudyState::Queued => "Not measured yet: the study waits for its engine.",
        StudyState::Running | StudyState::Waiting => "Not measured yet.",
        StudyState::Finished => "No rate was measured that could have a ceiling.",
        StudyState::Stopped | StudyState::Interrupted | StudyState::Failed => {
            "The study ended before it was measured."
        }
    }
}

fn points(finished: u32, points: u32) -> String {
    match points {
        1 if finished == 1 => "1 point".into(),
        _ if finished == points => format!("{points} points"),
        _ => format!("{finished} of {points} points"),
    }
}

/// What can be done with it. A running study is stopped first, on its own page, where its cost is seen.
fn acts(row: &StudyRow) -> Html {
    let id = row.id.to_string();
    let ids = row.configurations.iter().map(|id| format!("c={id}"));
    let address = format!("/compare?{}", ids.collect::<Vec<_>>().join("&"));
    let compare = (1 < row.configurations.len()).then(|| {
        html!(
            r#"<a class="button compact quiet" rel="external" href="{}">Compare</a>"#,
            address
        )
    });
    let busy = matches!(
        row.state,
        StudyState::Running | StudyState::Queued | StudyState::Waiting
    );
    let busy = busy.then(|| Html::literal(r#" disabled title="Stop it first""#));
    let busy = busy.unwrap_or_else(|| {
        Html::literal(
            r#" title="Hides it, and ends its share links; it can be brought back for 30 days""#,
        )
    });
    html!(
        r#"<span class="row">{}<a class="button compact quiet" rel="external" href="/studies/new?from={}">Clone</a><button class="button compact quiet" form="act" formaction="/studies/{}/delete" aria-label="Delete {}"{}>Delete</button></span>"#,
        compare,
        id,
        id,
        row.name,
        busy
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_counted_in_words() {
        for (finished, all, expected) in [
            (0, 16, "0 of 16 points"),
            (16, 16, "16 points"),
            (1, 1, "1 point"),
            (0, 1, "0 of 1 points"),
        ] {
            assert_eq!(points(finished, all), expected);
        }
    }
}
