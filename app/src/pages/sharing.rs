//! Links to a study or to a comparison: what each shows, until when; made, copied, revoked. And the curve as files. Drawn by the server; a
//! few lines of script ask the interface that programs ask, too.

use serde_json::json;

use crate::pages::compare::{self, ComparePage};
use crate::sheet;
use crate::studio::{CompareView, ShareRow, ShareScope, StudyView};
use crate::ui::html::{Html, html};
use crate::ui::time::{day, iso, plain};
use crate::url_state::ViewState;
use crate::words;

/// What the page shows.
#[derive(Clone, Debug)]
pub struct SharingPage {
    /// What a link will be of.
    pub subject: Subject,
    /// Links that show something of it, newest first.
    pub links: Vec<ShareRow>,
    /// What stands in the address in vain.
    pub told: Vec<String>,
    /// Milliseconds since 1970.
    pub now_ms: i64,
}

/// What a link is of.
#[derive(Clone, Debug)]
pub enum Subject {
    /// A study as its owner sees it, and what its page showed: the link will show the same.
    Study(Box<(StudyView, ViewState)>),
    /// A comparison as its page showed it.
    Comparison(Box<(ComparePage, CompareView)>),
}

impl Subject {
    /// How it is called.
    pub fn name(&self) -> String {
        match self {
            Self::Study(study) => study.0.spec.name.clone(),
            Self::Comparison(compared) => compare::title(&compared.0),
        }
    }

    /// The page that it was shared from, and where that stands.
    fn page(&self) -> (String, &'static str) {
        match self {
            Self::Study(study) => {
                let (study, view) = &**study;
                (
                    format!("/studies/{}{}", study.id, view.query()),
                    "this study",
                )
            }
            Self::Comparison(compared) => (compared.0.state.link(), "these configurations"),
        }
    }

    /// Where a link is made, and what is said beside its scope and its end.
    fn asks(&self) -> (String, String) {
        match self {
            Self::Study(study) => (
                format!("/api/v1/studies/{}/shares", study.0.id),
                "{}".to_owned(),
            ),
            Self::Comparison(compared) => {
                let (page, compared) = &**compared;
                let ids = &page.state.ids;
                let asked = json!({ "configurations": ids, "slo": compared.slo.to_string() });
                ("/api/v1/shares".to_owned(), asked.to_string())
            }
        }
    }

    /// The query with which a link opens, and where behind it its picture is.
    fn opens(&self) -> (String, &'static str) {
        match self {
            Self::Study(study) => (study.1.query(), "/preview.png"),
            Self::Comparison(compared) => {
                let query = compared.0.state.query_of_link();
                let mark = if query.is_empty() { "" } else { "?" };
                (format!("{mark}{query}"), "/compare/export.png")
            }
        }
    }

    /// What whoever has a link will see.
    fn seen(&self) -> String {
        match self {
            Self::Study(_) => "Whoever has a link sees the study without signing in, as its page showed it when you came here, with what differs between its configurations and what that did.".to_owned(),
            Self::Comparison(compared) => {
                let (page, compared) = &**compared;
                format!("Whoever has a link sees these {} side by side without signing in, with this baseline, judged by {}, and nothing else of their studies: no page of a study, no other configuration. What belongs to a study that is deleted is left out, and the link says so.",
                    words::count(page.state.ids.len(), "configuration"), compared.slo)
            }
        }
    }

    /// What a link shows, in words for whoever makes one.
    fn about(&self, scope: ShareScope) -> &'static str {
        match (self, scope) {
            (_, ShareScope::Aggregates) => {
                "Curves, points, ceilings, what differs and what that did, recorded facts. The SLO is fixed: no request can be looked at."
            }
            (Self::Study(_), ShareScope::Requests) => {
                "The same, and another SLO can be tried: the times of each request are sent, none of their text."
            }
            (Self::Comparison(_), ShareScope::Requests) => {
                "The same, and another SLO can be tried: the studio judges each request by it. Their times are not sent."
            }
            (Self::Study(_), ShareScope::All) => {
                "The same, and your note and tags, every setting and fact as it is (paths and host names among them, where settings have them), why points failed, and, where that is worked out fast, what limits each configuration."
            }
            (Self::Comparison(_), ShareScope::All) => {
                "The same, and every setting and fact as it is (paths and host names among them, where settings have them)."
            }
        }
    }

    /// Where the curve is as a file: before its ending, and behind it.
    fn files(&self) -> (String, String) {
        match self {
            Self::Study(study) => {
                let (study, view) = &**study;
                (format!("/studies/{}/curve", study.id), view.query())
            }
            Self::Comparison(compared) => {
                let query = compared.0.state.query();
                ("/compare/export".to_owned(), format!("?{query}"))
            }
        }
    }

    /// How high its picture is.
    fn height(&self) -> f64 {
        match self {
            Self::Study(study) => sheet::of_study(&study.0, &study.1).height(),
            Self::Comparison(compared) => compare::sheet_of(&compared.0, &compared.1).height(),
        }
    }
}

/// The whole page.
pub fn page(page: &SharingPage, nonce: &str) -> Html {
    let subject = &page.subject;
    let (name, (from, _)) = (subject.name(), subject.page());
    let ((post, asked), (query, picture)) = (subject.asks(), subject.opens());
    let told = page.told.iter();
    let told = told.map(|it| html!(r#"<p class="notice" data-tone="warn">{}</p>"#, it));
    html!(
        r#"<article class="page narrow sharing" data-post="{}" data-asked="{}" data-name="{}" data-query="{}" data-picture="{}"><header class="page-head"><div class="stack tight"><nav class="crumbs" aria-label="Breadcrumb"><a href="/">Studies</a><a href="{}">{}</a><span aria-current="page">Share</span></nav><h1>Share {}</h1></div></header>{}<p>{} Where engines are, keys, headers, prompts and answers are in no link.</p>{}{}{}{}</article><script nonce="{}">{}</script>"#,
        post,
        asked,
        name,
        query,
        picture,
        from,
        name,
        name,
        told.collect::<Html>(),
        subject.seen(),
        form(subject, &post),
        fresh(),
        links(page),
        files(subject, &name),
        nonce,
        Html::script(SCRIPT.to_owned())
    )
}

/// What a scope is called.
fn called(scope: ShareScope) -> &'static str {
    match scope {
        ShareScope::Aggregates => "Figures only",
        ShareScope::Requests => "Figures and the times of requests",
        ShareScope::All => "All that was recorded",
    }
}

fn form(subject: &Subject, post: &str) -> Html {
    let scopes = ShareScope::EACH.map(|scope| {
        let chosen = (scope == ShareScope::default()).then(|| Html::literal(" checked"));
        html!(
            r#"<div class="choice"><input type="radio" name="scope" id="scope-{}" value="{}"{} aria-describedby="about-{}"><label for="scope-{}">{}</label><p class="small muted" id="about-{}">{}</p></div>"#,
            scope.name(),
            scope.name(),
            chosen,
            scope.name(),
            scope.name(),
            called(scope),
            scope.name(),
            subject.about(scope)
        )
    });
    html!(
        r#"<form id="make" data-keep class="card panel stack"><fieldset class="stack tight"><legend>What the link shows</legend>{}</fieldset><div class="row end"><div class="field"><label for="days">It works for</label><select id="days"><option value="1">a day</option><option value="7">a week</option><option value="30" selected>30 days</option><option value="365">a year</option></select></div><button type="submit" class="button primary">Make a link</button></div><p class="problem" role="alert" id="share-problem" hidden></p><noscript><p class="small muted">Making a link here needs script. Programs make one with POST {}.</p></noscript></form>"#,
        scopes.into_iter().collect::<Html>(),
        post
    )
}

/// The link that was just made, and what to paste elsewhere. It is shown once, since only its hash is kept.
fn fresh() -> Html {
    let field = |id: &str, label: &str| {
        html!(
            r#"<div class="field"><label for="{}">{}</label><div class="row"><input id="{}" type="text" readonly><button type="button" class="button" data-copy="{}">Copy</button></div></div>"#,
            id,
            label,
            id,
            id
        )
    };
    html!(
        r#"<section id="fresh" class="stack fresh-link" hidden aria-labelledby="fresh-heading"><h2 id="fresh-heading" tabindex="-1">The link, shown only now</h2><p class="notice" data-tone="warn" id="share-here" hidden>This studio is open at an address that only this machine reaches, and so is the link. For others let it listen elsewhere with an access token, or send the file or a picture below.</p>{}{}{}{}<p class="small muted" role="status" id="copied"></p></section>"#,
        field("share-link", "Link"),
        field(
            "share-markdown",
            "Markdown: the curve as a picture that leads there"
        ),
        field(
            "share-html",
            "HTML: the curve as a frame that follows the reader's theme"
        ),
        html!(
            r#"<p><a id="share-open" target="_blank" rel="noopener" href="/">Open it as whoever gets it</a></p>"#
        )
    )
}

fn links(page: &SharingPage) -> Html {
    let rows = page.links.iter().map(|it| link(it, page.now_ms));
    let none = page
        .links
        .is_empty()
        .then(|| html!(r#"<p class="muted">There is none yet.</p>"#));
    html!(
        r#"<section class="stack tight" id="links" aria-labelledby="links-heading"><h2 id="links-heading">Links to {}</h2>{}<ul class="stack tight shares">{}</ul></section>"#,
        page.subject.page().1,
        none,
        rows.collect::<Html>()
    )
}

/// What a link compares, where it does, and the way to it.
fn compares(row: &ShareRow) -> Option<Html> {
    let ids = row.configurations.iter().map(|id| format!("c={id}"));
    let ids: Vec<String> = ids.collect();
    (!ids.is_empty()).then(|| {
        html!(
            r#"<a href="/compare?{}">a comparison of {}</a>"#,
            ids.join("&"),
            words::count(ids.len(), "configuration")
        )
    })
}

fn link(row: &ShareRow, now_ms: i64) -> Html {
    let expired = row.expires_ms.is_some_and(|at| at <= now_ms);
    let state = match row.expires_ms {
        _ if row.revoked => html!("revoked"),
        Some(at) if expired => html!("expired {}", on(at)),
        Some(at) => html!("works until {}", on(at)),
        None => html!("works"),
    };
    let revoke = (!row.revoked && !expired).then(|| {
        html!(
            r#"<button type="button" class="button compact danger" data-revoke="{}" aria-label="Revoke the link made {}">Revoke</button>"#,
            row.id.to_string(),
            plain(row.created_ms)
        )
    });
    html!(
        r#"<li class="row"><span>Made <time datetime="{}">{}</time></span>{}<span>{}</span><span class="muted">{}</span><span class="spring">{}</span></li>"#,
        iso(row.created_ms),
        plain(row.created_ms),
        compares(row),
        called(row.scope),
        state,
        revoke
    )
}

/// A day.
fn on(unix_ms: i64) -> Html {
    html!(
        r#"<time datetime="{}">{}</time>"#,
        iso(unix_ms),
        day(unix_ms)
    )
}

/// The curve to take away, and how the link will look.
fn files(subject: &Subject, name: &str) -> Html {
    let (before, behind) = subject.files();
    let file = |ending: &str, text: &str| {
        html!(
            r#"<a href="{}.{}{}" download="curve.{}">{}</a>"#,
            before,
            ending,
            behind,
            ending,
            text
        )
    };
    html!(
        r#"<section class="stack tight" aria-labelledby="files-heading"><h2 id="files-heading">The curve as a file</h2><p class="row">{}{}{}</p><img class="curve" src="{}.svg{}" width="1200" height="{}" alt="The curves of {}, with their SLO and ceilings"></section>"#,
        file("svg", "Picture (SVG)"),
        file("png", "Picture (PNG)"),
        file("csv", "CSV of what is plotted"),
        before,
        behind,
        subject.height().to_string(),
        name
    )
}

const SCRIPT: &str = r#"
const page = document.querySelector("[data-post]"), make = document.getElementById("make");
const find = id => document.getElementById(id);
const say = text => { find("share-problem").textContent = text; find("share-problem").hidden = !text; };
const ask = async (method, path, body) => {
  const answer = await fetch(path, { method, headers: { "content-type": "application/json" }, body: body && JSON.stringify(body) });
  if (answer.ok) return answer.status == 204 ? null : answer.json();
  throw new Error((await answer.json().catch(() => ({}))).message || "the studio did not take it");
};
const reread = async () => {
  const text = await (await fetch(location.href)).text();
  const links = new DOMParser().parseFromString(text, "text/html").getElementById("links");
  if (links) find("links").replaceWith(links);
};
const told = why => say(why.message[0].toUpperCase() + why.message.slice(1) + ".");
const html = text => text.replace(/[&<>"]/g, it => "&#" + it.charCodeAt(0) + ";");
make.addEventListener("submit", event => {
  event.preventDefault();
  const days = Number(find("days").value), scope = new FormData(make).get("scope");
  const { post, asked, name, query, picture } = page.dataset, at = location.origin;
  ask("POST", post, { ...JSON.parse(asked), scope, expires_ms: Date.now() + days * 86400000 - 60000 }).then(share => {
    say("");
    const token = share.path.split("/")[2], link = at + share.path + query;
    find("share-link").value = link;
    find("share-markdown").value = `[![${name.replace(/[\[\]\\]/g, "\\$&")}](${at}/s/${token}${picture}${query})](${link})`;
    find("share-html").value = `<iframe src="${html(`${at}/embed/${token}${query}`)}" title="${html(name)}" width="760" height="520" loading="lazy" style="border:0;max-width:100%"></iframe>`;
    find("share-open").href = link;
    find("share-here").hidden = !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(location.hostname);
    find("fresh").hidden = false;
    find("fresh-heading").focus();
    return reread();
  }).catch(told);
});
document.addEventListener("click", event => {
  const { copy, revoke } = event.target.dataset || {};
  if (copy) {
    find(copy).select();
    navigator.clipboard.writeText(find(copy).value)
      .then(() => "Copied.", () => "The browser did not let the page copy; the text is selected.")
      .then(text => { find("copied").textContent = text; });
  }
  if (revoke) ask("DELETE", "/api/v1/shares/" + revoke).then(() => { find("fresh").hidden = true; return reread(); }).catch(told);
});
"#;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use uuid::Uuid;

    const DAY_MS: i64 = 86_400_000;

    fn row(revoked: bool, expires_ms: i64) -> ShareRow {
        ShareRow {
            id: Uuid::from_u128(7),
            path: None,
            created_ms: 0,
            expires_ms: Some(expires_ms),
            revoked,
            scope: ShareScope::Aggregates,
            configurations: Vec::new(),
        }
    }

    fn page_with(links: Vec<ShareRow>) -> String {
        let view = ViewState {
            log: true,
            ..ViewState::default()
        };
        let shown = SharingPage {
            subject: Subject::Study(Box::new((fixture::study(), view))),
            links,
            told: Vec::new(),
            now_ms: 5 * DAY_MS,
        };
        page(&shown, "n0nce").into_string()
    }

    #[test]
    fn each_link_says_what_it_shows_and_until_when() {
        let html = page_with(vec![row(false, 9 * DAY_MS)]);
        assert!(
            html.contains("Figures only") && html.contains(">1970-01-10</time>"),
            "{html}"
        );
        assert_eq!(html.matches("data-revoke=\"").count(), 1);
        for gone in [row(true, 9 * DAY_MS), row(false, DAY_MS)] {
            assert!(!page_with(vec![gone]).contains("data-revoke=\""));
        }
    }

    #[test]
    fn a_link_to_a_comparison_says_what_it_compares() {
        let [one, two] = [1, 2].map(Uuid::from_u128);
        let compared = ShareRow {
            configurations: vec![one, two],
            ..row(false, 9 * DAY_MS)
        };
        let html = page_with(vec![compared, row(false, 9 * DAY_MS)]);
        let way = format!(r#"<a href="/compare?c={one}&amp;c={two}">a comparison of 2"#);
        assert_eq!(html.matches(&way).count(), 1, "{html}");
    }

    #[test]
    fn the_files_are_those_of_the_view() {
        let html = page_with(Vec::new());
        for ending in ["svg", "png", "csv"] {
            assert!(
                html.contains(&format!("/curve.{ending}?scale=log")),
                "{html}"
            );
        }
    }
}
