//! The page that the studio begins with: studies as cards, newest first, what they are told apart by, and the way to compare them.
//!
//! The server draws it whole: links, forms and the address do everything, and a short script of its own makes it lively
//! ([`script`]). Browsers load no module for it.

mod asked; // what its address asks for
mod card; // one study
mod empty; // nothing yet: the goodput exercise
mod examples; // studies from elsewhere
mod filters; // the form that finds
mod script; // what moves
mod sketch; // a study's curves, small

pub use asked::Asked;
pub use sketch::{Sketch, sketch};

use super::document::Drawn;
use crate::Assets;
use crate::studio::{StudyRow, StudyState};
use crate::ui::format;
use crate::ui::html::{Html, html};
use uuid::Uuid;

/// Everything that the page shows.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// What was asked for, without what cannot be read.
    pub asked: Asked,
    /// What stands in the address in vain, each with what is shown instead.
    pub vain: Vec<String>,
    /// The studies of this page, newest first.
    pub rows: Vec<StudyRow>,
    /// There are older ones.
    pub more: bool,
    /// How many there are on all pages, where that is known.
    pub total: Option<u32>,
    /// Kinds by which studies are told apart, each with its values and how many studies have each.
    pub values: Vec<Values>,
    /// Studies that come with the studio.
    pub examples: Vec<StudyRow>,
    /// A study that was just deleted.
    pub deleted: Option<Deleted>,
}

/// The values of a kind (`engine`, `tag`, ...), those of most studies first, and how many studies have each.
pub type Values = (&'static str, Vec<(String, u32)>);

/// A study that was deleted, and can be brought back.
#[derive(Clone, Debug)]
pub struct Deleted {
    /// The study.
    pub id: Uuid,
    /// Its name.
    pub name: String,
    /// Its links that worked.
    pub links: usize,
    /// Links to comparisons with a configuration of it.
    pub compared: usize,
}

/// The whole document.
pub fn document(start: &Start, assets: &Assets, nonce: &str) -> String {
    let body = html!(
        r#"{}<script type="module" nonce="{}">{}</script><link rel="prefetch" href="{}" as="fetch" crossorigin="anonymous">"#,
        page(start),
        nonce,
        Html::literal(script::SCRIPT),
        assets.frontend.wasm
    );
    let page = Drawn {
        title: "Studies".to_owned(),
        is_engines: false,
        body,
    };
    super::document::document(&page, assets, nonce)
}

fn page(start: &Start) -> Html {
    let all = start.asked.is_all();
    let nothing = all && start.rows.is_empty();
    html!(
        r#"<div class="page start"><header class="page-head"><h1>Studies</h1>{}<a href="/studies/new" class="button primary" rel="external">New study</a></header><p class="sr-only" role="status" id="told"></p><p class="notice" data-tone="bad" role="alert" id="problem" hidden></p>{}{}<div id="list">{}</div>{}<form id="act" method="post"></form></div>"#,
        vain(&start.vain),
        (!nothing).then(|| filters::form(start)),
        start.deleted.as_ref().map(deleted),
        Html::trusted(list(start)),
        examples::section(&start.examples, all),
    )
}

fn vain(told: &[String]) -> Html {
    let told = told.iter();
    told.map(|it| html!(r#"<p class="notice" data-tone="warn">{}</p>"#, it))
        .collect()
}

/// The cards alone, for a page that looks again.
pub fn list(start: &Start) -> String {
    if start.rows.is_empty() {
        let nothing = if start.asked.is_all() {
            empty::exercise()
        } else {
            empty::nothing_found(&start.asked)
        };
        return nothing.into_string();
    }
    let older = start.more.then(|| start.rows.last()).flatten().map(|last| {
        let address = start.asked.older(last.created_ms);
        html!(r#"<p><a href="{}">Older studies</a></p>"#, address)
    });
    let cards: Html = start.rows.iter().map(card::card).collect();
    html!(
        r#"<p class="lede">{}</p><form class="stack" method="get" action="/compare" id="choice"><ul class="studies">{}</ul>{}<div class="compare-bar"><p>Choose two or more configurations to compare their curves.</p><button type="button" class="button quiet" id="clear" hidden>Clear</button><button class="button">Compare</button></div></form>"#,
        headline(start),
        cards,
        older
    )
    .into_string()
}

/// Says what a deletion ended, and takes it back.
fn deleted(deleted: &Deleted) -> Html {
    let links = match deleted.links {
        0 => String::new(),
        1 => " Its share link no longer works.".to_owned(),
        many => format!(" Its {many} share links no longer work."),
    };
    let compared = match deleted.compared {
        0 => String::new(),
        1 => " A shared comparison is without it.".to_owned(),
        many => format!(" {many} shared comparisons are without it."),
    };
    html!(
        r#"<div class="notice row" data-tone="accent" role="status"><p>Deleted “{}”.{}{} It can be brought back for 30 days.</p><button class="button compact" form="act" formaction="/studies/{}/undelete">Undo</button></div>"#,
        deleted.name,
        links,
        compared,
        deleted.id.to_string()
    )
}

/// The page's first line.
fn headline(start: &Start) -> String {
    let Start {
        asked, rows, more, ..
    } = start;
    let older = !asked.before.is_empty();
    let found = match start.total.filter(|_| !older && *more) {
        Some(total) => studies(total as usize, "", ""),
        None => studies(
            rows.len(),
            if *more { " or more" } else { "" },
            if older { " older" } else { "" },
        ),
    };
    let found = match asked.words() {
        words if words.is_empty() => format!("{found}."),
        words => format!("{found} with {words}."),
    };
    let running = rows.iter().filter(|row| row.state == StudyState::Running);
    let waits = rows.iter().any(|row| row.state == StudyState::Waiting);
    let runs = match running.count() {
        0 => String::new(),
        1 => " One is running.".into(),
        many => format!(" {many} are running."),
    };
    let waits = if waits {
        " Something waits for you to restart an engine."
    } else {
        ""
    };
    format!("{found}{runs}{waits}")
}

fn studies(number: usize, more: &str, older: &str) -> String {
    let noun = if number == 1 && more.is_empty() {
        "study"
    } else {
        "studies"
    };
    format!("{}{more}{older} {noun}", format::count(number as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn row(state: StudyState) -> StudyRow {
        StudyRow {
            id: Uuid::from_u128(1),
            name: "a study".into(),
            state,
            simulated: true,
            insecure: false,
            tags: vec!["nightly".into()],
            engine: "simulator small-fast".into(),
            slo: "ttft:p95<500ms attain>=95%".parse().expect("slo"),
            configurations: vec![Uuid::from_u128(2)],
            ceilings: vec![("baseline".into(), None)],
            sessions: true,
            points_finished: 1,
            points: 8,
            created_ms: 0,
            imported: false,
            engines: vec!["vLLM 0.32.0".into(), "SGLang 0.6".into()],
            models: vec!["llama-8b".into()],
            hardware: vec!["1x H100".into()],
            author: Some("Ada".into()),
            void_points: 2,
            confounded: true,
            toy: false,
            sketch: Sketch::default(),
        }
    }

    fn start(states: &[StudyState]) -> Start {
        Start {
            rows: states.iter().map(|state| row(*state)).collect(),
            ..Start::default()
        }
    }

    #[test]
    fn the_first_line_says_what_is_there_and_what_happens() {
        assert_eq!(headline(&start(&[StudyState::Finished])), "1 study.");
        let mut two = start(&[StudyState::Running, StudyState::Waiting]);
        assert_eq!(
            headline(&two),
            "2 studies. One is running. Something waits for you to restart an engine."
        );
        two.more = true;
        two.asked.q = " llama ".into();
        two.asked.engine = "vLLM".into();
        assert_eq!(
            headline(&two),
            "2 or more studies with “llama”, engine vLLM. One is running. Something waits for you to restart an engine."
        );
        two.total = Some(10_000);
        assert!(headline(&two).starts_with("10,000 studies with"));
    }

    #[test]
    fn a_card_names_everything_that_a_study_is_told_apart_by() {
        let text = page(&start(&[StudyState::Running])).into_string();
        for words in [
            "vLLM 0.32.0 and SGLang 0.6",
            "llama-8b",
            "1x H100",
            "Ada",
            "nightly",
            "2 void points",
            "confounded",
            "simulated",
            "running, 1 of 8",
        ] {
            assert!(text.contains(words), "{words} in {text}");
        }
    }

    #[test]
    fn a_deletion_says_what_it_ended() {
        let gone = |links, compared| {
            let gone = Deleted {
                id: Uuid::nil(),
                name: "a <b>".to_owned(),
                links,
                compared,
            };
            deleted(&gone).into_string()
        };
        assert!(gone(2, 0).contains("Deleted “a &lt;b&gt;”. Its 2 share links no longer work. It"));
        assert!(
            gone(0, 1).contains("Deleted “a &lt;b&gt;”. A shared comparison is without it. It")
        );
        assert!(!gone(0, 0).contains("share"));
        assert!(gone(0, 0).contains("/studies/00000000-0000-0000-0000-000000000000/undelete"));
    }
}
