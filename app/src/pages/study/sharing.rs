//! Links to a study: what each shows, until when; made, copied, revoked. And the curve as files. Drawn by the server; a few lines of
//! script ask the interface that programs ask, too.

use crate::pages::compare::CompareState;
use crate::sheet;
use crate::studio::{ShareRow, ShareScope, StudyView};
use crate::ui::html::{Html, html};
use crate::ui::time::{day, iso, plain};
use crate::url_state::ViewState;

/// What the page shows.
#[derive(Clone, Debug)]
pub struct SharingPage {
    /// The study, as its owner sees it.
    pub study: StudyView,
    /// Its links, newest first.
    pub links: Vec<ShareRow>,
    /// What the study's page showed: the link will show the same.
    pub view: ViewState,
    /// The comparison that whoever shares it came from: the link will open at it.
    pub comparison: Option<CompareState>,
    /// What stands in the address in vain.
    pub told: Vec<String>,
    /// Milliseconds since 1970.
    pub now_ms: i64,
}

/// The whole page.
pub fn page(page: &SharingPage, nonce: &str) -> Html {
    let (id, name) = (page.study.id.to_string(), &page.study.spec.name);
    let query = page.view.query();
    let told = page.told.iter();
    let told = told.map(|it| html!(r#"<p class="notice" data-tone="warn">{}</p>"#, it));
    // Where a link opens, behind its token, and with what query.
    let (at, opens) = match &page.comparison {
        Some(state) => ("/compare", format!("?{}", state.query())),
        None => ("", query.clone()),
    };
    html!(
        r#"<article class="page narrow sharing" data-study="{}" data-name="{}" data-at="{}" data-query="{}"><header class="page-head"><div class="stack tight"><nav class="crumbs" aria-label="Breadcrumb"><a href="/">Studies</a><a href="/studies/{}{}">{}</a><span aria-current="page">Share</span></nav><h1>Share {}</h1></div></header>{}<p>Whoever has a link sees the study without signing in, {}. Where engines are, keys, headers, prompts and answers are in no link.</p>{}{}{}{}</article><script nonce="{}">{}</script>"#,
        id,
        name,
        at,
        opens,
        id,
        query,
        name,
        name,
        told.collect::<Html>(),
        seen(page),
        form(),
        fresh(),
        links(page),
        files(page, &id, &query),
        nonce,
        Html::script(SCRIPT.to_owned())
    )
}

/// Where the link will open.
fn seen(page: &SharingPage) -> &'static str {
    match page.comparison {
        Some(_) => {
            "and the link opens at the comparison that you came from, with its baseline and what it is compared with"
        }
        None => {
            "as its page showed it when you came here, with what differs between its configurations and what that did"
        }
    }
}

/// What a link shows, in words for whoever makes one.
fn about(scope: ShareScope) -> (&'static str, &'static str) {
    match scope {
        ShareScope::Aggregates => (
            "Figures only",
            "Curves, points, ceilings, what differs and what that did, recorded facts. The SLO is fixed: no request can be looked at.",
        ),
        ShareScope::Requests => (
            "Figures and the times of requests",
            "The same, and another SLO can be tried: the times of each request are sent, none of their text.",
        ),
        ShareScope::All => (
            "All that was recorded",
            "The same, and your note and tags, every setting and fact as it is (paths and host names among them, where settings have them), and why points failed.",
        ),
    }
}

fn form() -> Html {
    let scopes = ShareScope::EACH.map(|scope| {
        let (name, about) = about(scope);
        let chosen = (scope == ShareScope::default()).then(|| Html::literal(" checked"));
        html!(
            r#"<div class="choice"><input type="radio" name="scope" id="scope-{}" value="{}"{} aria-describedby="about-{}"><label for="scope-{}">{}</label><p class="small muted" id="about-{}">{}</p></div>"#,
            scope.name(),
            scope.name(),
            chosen,
            scope.name(),
            scope.name(),
            name,
            scope.name(),
            about
        )
    });
    html!(
        r#"<form id="make" data-keep class="card panel stack"><fieldset class="stack tight"><legend>What the link shows</legend>{}</fieldset><div class="row end"><div class="field"><label for="days">It works for</label><select id="days"><option value="1">a day</option><option value="7">a week</option><option value="30" selected>30 days</option><option value="365">a year</option></select></div><button type="submit" class="button primary">Make a link</button></div><p class="problem" role="alert" id="share-problem" hidden></p><noscript><p class="small muted">Making a link here needs script. Programs make one with POST /api/v1/studies/ID/shares.</p></noscript></form>"#,
        scopes.into_iter().collect::<Html>()
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
        r#"<section id="fresh" class="stack fresh-link" hidden aria-labelledby="fresh-heading"><h2 id="fresh-heading" tabindex="-1">The link, shown only now</h2>{}{}{}{}<p class="small muted" role="status" id="copied"></p></section>"#,
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
        r#"<section class="stack tight" id="links" aria-labelledby="links-heading"><h2 id="links-heading">Links to this study</h2>{}<ul class="stack tight shares">{}</ul></section>"#,
        none,
        rows.collect::<Html>()
    )
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
        r#"<li class="row"><span>Made <time datetime="{}">{}</time></span><span>{}</span><span class="muted">{}</span><span class="spring">{}</span></li>"#,
        iso(row.created_ms),
        plain(row.created_ms),
        about(row.scope).0,
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
fn files(page: &SharingPage, id: &str, query: &str) -> Html {
    let height = sheet::of_study(&page.study, &page.view).height();
    let file = |ending: &str, text: &str| {
        html!(
            r#"<a href="/studies/{}/curve.{}{}" download="curve.{}">{}</a>"#,
            id,
            ending,
            query,
            ending,
            text
        )
    };
    html!(
        r#"<section class="stack tight" aria-labelledby="files-heading"><h2 id="files-heading">The curve as a file</h2><p class="row">{}{}{}</p><img class="curve" src="/studies/{}/curve.svg{}" width="1200" height="{}" alt="The curves of {}, with their SLO and ceilings"></section>"#,
        file("svg", "Picture (SVG)"),
        file("png", "Picture (PNG)"),
        file("csv", "CSV of what is plotted"),
        id,
        query,
        height.to_string(),
        page.study.spec.name
    )
}

const SCRIPT: &str = r#"
const page = document.querySelector("[data-study]"), make = document.getElementById("make");
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
  ask("POST", `/api/v1/studies/${page.dataset.study}/shares`, { scope, expires_ms: Date.now() + days * 86400000 - 60000 }).then(share => {
    say("");
    const token = share.path.slice(3), at = location.origin, name = page.dataset.name;
    const { at: place, query: view } = page.dataset, link = `${at}/s/${token}${place}${view}`;
    const picture = `${at}/s/${token}${place ? place + "/export" : "/preview"}.png${view}`;
    find("share-link").value = link;
    find("share-markdown").value = `[![${name.replace(/[\[\]\\]/g, "\\$&")}](${picture})](${link})`;
    find("share-html").value = `<iframe src="${html(`${at}/embed/${token}${place ? "" : view}`)}" title="${html(name)}" width="760" height="520" loading="lazy" style="border:0;max-width:100%"></iframe>`;
    find("share-open").href = link;
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
        }
    }

    fn page_with(links: Vec<ShareRow>) -> String {
        let view = ViewState {
            log: true,
            ..ViewState::default()
        };
        let shown = SharingPage {
            study: fixture::study(),
            links,
            view,
            comparison: None,
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
