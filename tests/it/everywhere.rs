//! What holds on every page: words are explained by the glossary, nothing waits for a script, no mean is shown.

use std::collections::BTreeSet;

use app::studio::{Actor, Studio};
use serde_json::{Value, json};
use tests::edge::OnEdge;
use tests::measured::give;
use tests::samples::{configuration, held_up, small_study};

/// A studio with a study whose points are given, and the addresses of all its pages.
async fn with_pages() -> anyhow::Result<(OnEdge, Vec<String>)> {
    let edge = OnEdge::open().await?;
    let mut spec = small_study();
    spec.configurations = vec![
        configuration("off", &[("enable-prefix-caching", "off")]),
        configuration("on", &[("enable-prefix-caching", "on")]),
    ];
    let id = edge.studio.launch(&Actor::Owner, spec).await?;
    give(&edge.store().await?, id, |_| held_up()).await?;
    let view = edge.studio.study(&Actor::Owner, id).await?;
    let shares = format!("/api/v1/studies/{id}/shares");
    let share = edge.json("POST", &shares, &json!({})).await.json();
    let chosen = view.configurations.iter().map(|it| format!("c={}", it.id));
    let pages = vec![
        "/".to_owned(),
        "/engines".to_owned(),
        "/studies/new".to_owned(),
        format!("/studies/{id}"),
        format!("/studies/{id}/history"),
        format!("/studies/{id}/share"),
        format!("/studies/{id}/points/{}", view.points[0].id),
        format!("/studies/{id}/points/{}/requests/1", view.points[0].id),
        format!("/compare?{}", chosen.collect::<Vec<_>>().join("&")),
        share["path"].as_str().unwrap_or_default().to_owned(),
    ];
    Ok((edge, pages))
}

/// What a reader sees: no markup, no script, no style.
fn seen(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some(begin) = rest.find('<') {
        text.push_str(&rest[..begin]);
        rest = &rest[begin..];
        let is = |name: &str| rest.starts_with(&format!("<{name}"));
        let end = if is("script") {
            "</script>"
        } else if is("style") {
            "</style>"
        } else {
            ">"
        };
        let after = rest.find(end).map_or(rest.len(), |at| at + end.len());
        rest = &rest[after..];
        text.push(' ');
    }
    text + rest
}

/// Anchors of the glossary that a page leads to.
fn explained(html: &str) -> BTreeSet<String> {
    let links = html.split("href=\"/docs/glossary#").skip(1);
    let anchors = links.filter_map(|rest| rest.split('"').next());
    anchors.map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_word_that_a_page_explains_stands_in_the_glossary() -> anyhow::Result<()> {
    let (edge, pages) = with_pages().await?;
    let terms = edge.get("/docs/terms.json").await.json();
    let mut all = BTreeSet::new();
    for page in &pages {
        let html = edge.get(page).await.text();
        for anchor in explained(&html) {
            assert!(terms[&anchor]["html"].is_string(), "{page}: {anchor}");
            all.insert(anchor);
        }
    }
    for expected in [
        "ttft",
        "tpot",
        "itl",
        "e2e",
        "stall",
        "slo",
        "goodput",
        "attainment",
        "ceiling",
        "certificate",
        "cold",
        "open-loop",
        "closed-loop",
        "rate-inf",
        "percentile-verdict",
        "good-request",
        "offered-rate",
        "configuration",
    ] {
        assert!(all.contains(expected), "no page explains {expected}");
    }
    // Marks say their own words, which the glossary has, too.
    for mark in [
        "clean",
        "suspect",
        "void",
        "contaminated",
        "confounded",
        "simulated",
        "imported",
    ] {
        assert!(terms[mark]["html"].is_string(), "{mark}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn documents_are_served_to_whoever_got_a_link() -> anyhow::Result<()> {
    let edge = OnEdge::behind_token().await?;
    for page in [
        "/docs",
        "/docs/glossary",
        "/docs/metrics",
        "/docs/guide/workloads",
    ] {
        let answer = edge.get(page).await;
        assert_eq!(answer.status, 200, "{page}");
        assert!(answer.text().contains("<h1>"), "{page}");
    }
    let glossary = edge.get("/docs/glossary").await.text();
    assert!(
        glossary.contains("<p id=\"ttft\"><strong>TTFT.</strong>"),
        "{glossary}"
    );
    assert_eq!(edge.get("/docs/nothing").await.status, 404);
    assert_ne!(edge.get("/docs/../Cargo").await.status, 200);
    assert_eq!(edge.get("/").await.status, 401, "all else stays closed");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_are_whole_before_any_script_runs() -> anyhow::Result<()> {
    let (edge, pages) = with_pages().await?;
    for page in &pages {
        let html = edge.get(page).await.text();
        let text = seen(&html).to_lowercase();
        for waiting in ["loading…", "reading the study", "please wait"] {
            assert!(!text.contains(waiting), "{page} says {waiting}");
        }
        assert!(
            html.contains("id=\"connection\""),
            "{page} can say that the studio is away"
        );
        assert!(
            html.contains("id=\"printed\""),
            "{page} can say where and when it was printed"
        );
        for (at, _) in html.match_indices("<time ") {
            let tag = html[at..].split('>').next().unwrap_or_default();
            assert!(
                tag.contains("datetime=\"") && tag.contains("Z\""),
                "{page}: {tag}"
            );
        }
    }
    Ok(())
}

/// Means and averages in a text, each with the words before it. What a thing *means* is no mean.
fn means(text: &str) -> Vec<String> {
    let words: Vec<&str> = text
        .split(|it: char| !it.is_alphanumeric())
        .filter(|it| !it.is_empty())
        .collect();
    let nouns = [
        "the",
        "a",
        "an",
        "its",
        "their",
        "at",
        "of",
        "arithmetic",
        "latency",
        "latencies",
        "ttft",
        "tpot",
        "itl",
        "e2e",
        "median",
        "or",
        "and",
    ];
    let is_mean = |at: usize| {
        let word = words[at].to_lowercase();
        let before = words[at.saturating_sub(1)].to_lowercase();
        word == "avg"
            || word.starts_with("average")
            || (word == "mean" && nouns.contains(&&*before))
    };
    let found = (1..words.len()).filter(|at| is_mean(*at));
    found
        .map(|at| words[at.saturating_sub(4)..(at + 4).min(words.len())].join(" "))
        .collect()
}

/// What may stand: how other tools define theirs, told beside ours.
const OTHERS: [&str; 1] = ["The mean over time"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_mean_is_shown_anywhere() -> anyhow::Result<()> {
    let (edge, pages) = with_pages().await?;
    for page in &pages {
        let text = seen(&edge.get(page).await.text());
        let text = OTHERS.iter().fold(text, |text, it| text.replace(it, ""));
        assert_eq!(means(&text), Vec::<String>::new(), "{page}");
    }
    Ok(())
}

/// Names and descriptions of an interface, with the path to each name.
fn names(of: &Value, path: &str, found: &mut Vec<(String, String)>) {
    match of {
        Value::Object(all) => all.iter().for_each(|(name, value)| {
            found.push((path.to_owned(), name.clone()));
            names(value, &format!("{path}/{name}"), found);
        }),
        Value::Array(all) => all.iter().for_each(|it| names(it, path, found)),
        Value::String(text) => found.push((path.to_owned(), text.clone())),
        _ => {}
    }
}

#[test]
fn no_mean_is_part_of_the_interface() -> anyhow::Result<()> {
    let document: Value = serde_json::from_str(&server::api::document())?;
    let mut found = Vec::new();
    names(&document, "", &mut found);
    let is_mean = |text: &str| {
        let parts = text.split(['_', ' ', '.']);
        let named = !text.contains(' ')
            && parts
                .clone()
                .any(|it| ["mean", "avg", "average"].contains(&it));
        named || !means(text).is_empty()
    };
    let wrong: Vec<_> = found
        .iter()
        .filter(|(path, text)| is_mean(text) && !path.contains("Lengths"))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    // A workload may be asked for by the mean of its lengths: that is what is put in, and nothing that was measured.
    assert!(
        found
            .iter()
            .any(|(path, name)| path.contains("Lengths") && name == "mean")
    );
    Ok(())
}

#[test]
fn a_mean_is_found_where_there_is_one() {
    assert_eq!(means("TTFT: the mean is 3 ms").len(), 1);
    assert_eq!(means("an average TTFT, avg ITL").len(), 2);
    assert!(
        means("What a study's ceilings mean for a demand; it means nothing; no means").is_empty()
    );
}
