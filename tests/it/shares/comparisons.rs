//! Links to configurations of any studies, side by side, and to nothing else of these studies.

use app::studio::{Actor, NewComparison, ShareScope, Studio, StudyView};
use serde_json::{Value, json};
use server::store::now_ms;
use tests::edge::{Answer, OnEdge};
use tests::samples::{configuration, small_study};
use uuid::Uuid;

use super::{compared, measured, token};

/// A study of two configurations, each with words that no stranger may read. Its first configuration is called after it.
async fn with_secrets(edge: &OnEdge, name: &str, seqs: &str) -> anyhow::Result<StudyView> {
    let mut spec = small_study();
    spec.name = name.to_owned();
    let (own, hidden) = (name.to_owned(), format!("hidden-{name}"));
    spec.configurations = [own, hidden]
        .map(|it| configuration(&it, &[("max-num-seqs", seqs)]))
        .to_vec();
    for one in &mut spec.configurations {
        let site = format!("rack7.{name}.corp");
        one.declared.insert("site".into(), site);
    }
    edge.finished(spec).await
}

/// A link to the first configurations of studies; its token.
async fn link_to(edge: &OnEdge, studies: &[&StudyView], more: Value) -> String {
    let ids: Vec<Uuid> = studies.iter().map(|it| it.configurations[0].id).collect();
    let mut body = json!({ "configurations": ids });
    let more = more.as_object().cloned().unwrap_or_default();
    body.as_object_mut().expect("an object").extend(more);
    let made = edge.json("POST", "/api/v1/shares", &body).await;
    assert_eq!(made.status, 201, "{}", made.text());
    assert_eq!(made.json()["configurations"], json!(ids));
    let path = made.json()["path"].as_str().unwrap_or_default().to_owned();
    let token = path.strip_prefix("/s/").and_then(|it| it.split_once('/'));
    let (token, place) = token.expect("a token and a place");
    assert_eq!(place, "compare");
    token.to_owned()
}

/// What a link to a comparison opens.
const OPENED: [&str; 6] = [
    "/s/{}/compare",
    "/s/{}/compare?view=small",
    "/s/{}/compare/export.svg",
    "/s/{}/compare/export.png",
    "/s/{}/compare/export.csv",
    "/embed/{}",
];

/// What a token opens else, where it is of a study.
const OF_STUDIES: [&str; 8] = [
    "/s/{}",
    "/s/{}/preview.png",
    "/s/{}/curve.png",
    "/s/{}/curve.svg",
    "/s/{}/curve.csv",
    "/s/{}/map",
    "/s/{}/scores",
    "/s/{}/points/{point}/scores",
];

async fn each(edge: &OnEdge, paths: &[&str], token: &str, point: Uuid) -> Vec<(String, Answer)> {
    let mut all = Vec::new();
    for path in paths {
        let path = path.replace("{}", token);
        let path = path.replace("{point}", &point.to_string());
        let answer = edge.get(&path).await;
        all.push((path, answer));
    }
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_shows_configurations_of_several_studies_and_nothing_else_of_these()
-> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let one = with_secrets(&edge, "one", "2").await?;
    let two = with_secrets(&edge, "two", "4").await?;
    let point = one.points[0].id;
    for scope in ["aggregates", "requests", "all"] {
        let link = link_to(&edge, &[&one, &two], json!({ "scope": scope })).await;
        for (path, answer) in each(&edge, &OPENED, &link, point).await {
            assert_eq!(answer.status, 200, "{scope} {path}: {}", answer.text());
            let text = answer.text();
            // Other configurations of the same studies, ways to studies, and what the scope hides.
            let ids = [&one, &two].map(|it| it.configurations[1].id.to_string());
            let absent = ["hidden-one", "hidden-two", "/studies", "/engines", "/api/"];
            for absent in absent.into_iter().chain(ids.iter().map(String::as_str)) {
                assert!(!text.contains(absent), "{scope} {path}: {absent} in {text}");
            }
            assert!(scope == "all" || !text.contains(".corp"), "{scope} {path}");
        }
        for (path, answer) in each(&edge, &OF_STUDIES, &link, point).await {
            assert_eq!(answer.status, 404, "{scope} {path}");
        }
        let page = edge.get(&format!("/s/{link}/compare")).await.text();
        for needed in ["one (one)", "two (two)", "What differs", "At equal rate"] {
            assert!(page.contains(needed), "{scope}: {needed} in {page}");
        }
        assert!(!page.contains(&format!("\"/s/{link}\"")), "no study's page");
        let hidden = page.contains("hidden (1 of ") && page.contains("hidden (2 of ");
        assert_eq!(hidden, scope != "all", "what it differs by is kept: {page}");
        assert_eq!(page.contains("rack7.one.corp"), scope == "all", "{page}");
        let frame = edge.get(&format!("/embed/{link}")).await.text();
        for needed in ["<svg", "simulated", "All of it in Goodput Studio"] {
            assert!(frame.contains(needed), "{scope}: {needed} in {frame}");
        }
        assert!(!frame.contains("<script"), "{frame}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_address_of_a_link_shows_what_it_does_not_name() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let (one, two) = (compared(&edge).await?, measured(&edge).await?);
    let third = measured(&edge).await?;
    let link = link_to(&edge, &[&one, &two], json!({ "scope": "all" })).await;
    let own = one.configurations[0].id;
    // One of the same study, one of a study that is not named, one that is nowhere.
    let foreign = [
        one.configurations[1].id,
        third.configurations[0].id,
        Uuid::nil(),
    ];
    for foreign in foreign {
        for query in [
            format!("c={own}&c={foreign}"),
            format!("c={foreign}&c={own}"),
        ] {
            for place in [
                "s/{}/compare",
                "s/{}/compare/export.csv",
                "s/{}/compare/export.svg",
                "s/{}/compare/export.png",
                "embed/{}",
            ] {
                let path = place.replace("{}", &link);
                let asked = edge.get(&format!("/{path}?{query}")).await;
                assert_eq!(asked.status, 404, "{path}?{query}: {}", asked.text());
            }
        }
    }
    // As a baseline it is in vain.
    let path = format!("/s/{link}/compare?baseline={}", foreign[0]);
    let vain = edge.get(&path).await;
    assert_eq!(vain.status, 200);
    assert!(vain.text().contains("is none of these"), "{}", vain.text());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_links_own_slo_judges_whatever_the_baseline() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let (one, two) = (compared(&edge).await?, measured(&edge).await?);
    let slo = "e2e:p95<900ms attain>=90%";
    for (scope, fixed) in [("aggregates", true), ("requests", false)] {
        let said = json!({ "scope": scope, "slo": slo });
        let link = link_to(&edge, &[&one, &two], said).await;
        let plain = |text: String| text.replace("&lt;", "<").replace("&gt;", ">");
        let baseline = format!("baseline={}", two.configurations[0].id);
        for query in ["".to_owned(), baseline] {
            let page = plain(edge.get(&format!("/s/{link}/compare?{query}")).await.text());
            assert!(page.contains(&format!("judged by {slo}")), "{query} {page}");
        }
        let tried = format!("/s/{link}/compare?slo=ttft:p95%3C1ms+attain%3E%3D95%25");
        let page = plain(edge.get(&tried).await.text());
        let told = page.contains("Another SLO cannot be tried here: this is the link");
        assert_eq!(told, fixed, "{page}");
        assert_eq!(page.contains("ttft:p95<1ms"), !fixed, "{page}");
        assert_eq!(page.contains("name=\"slo\""), !fixed, "{page}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_deleted_is_told_and_left_out_until_nothing_is_left() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let (one, two) = (compared(&edge).await?, measured(&edge).await?);
    let third = measured(&edge).await?;
    let link = link_to(&edge, &[&one, &two, &third], json!({})).await;
    let path = format!("/s/{link}/compare");
    edge.studio.delete(&Actor::Owner, third.id).await?;
    let gone = third.configurations[0].id;
    for query in [
        String::new(),
        format!(
            "?c={gone}&c={}&c={}",
            one.configurations[0].id, two.configurations[0].id
        ),
    ] {
        let page = edge.get(&format!("{path}{query}")).await;
        assert_eq!(page.status, 200, "{}", page.text());
        let page = page.text();
        assert!(
            page.contains("One configuration is no longer there"),
            "{page}"
        );
        assert!(page.contains("At equal rate"), "{page}");
    }
    for ending in ["svg", "png", "csv"] {
        let file = edge.get(&format!("{path}/export.{ending}")).await;
        assert_eq!(file.status, 200, "{ending}");
    }
    edge.studio.delete(&Actor::Owner, one.id).await?;
    let few = edge.get(&path).await;
    assert_eq!(few.status, 404);
    assert!(
        few.text().contains("fewer than two of its"),
        "{}",
        few.text()
    );
    assert_eq!(edge.get(&format!("/embed/{link}")).await.status, 404);
    edge.studio.undelete(&Actor::Owner, one.id).await?;
    edge.studio.undelete(&Actor::Owner, third.id).await?;
    let page = edge.get(&path).await.text();
    assert!(!page.contains("no longer there"), "all are back: {page}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_is_listed_at_each_study_and_ends_at_once() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let (one, two) = (compared(&edge).await?, measured(&edge).await?);
    let other = measured(&edge).await?;
    let link = link_to(&edge, &[&one, &two], json!({})).await;
    token(&edge, &two, json!({})).await;
    let listed = async |study: &StudyView| {
        let path = format!("/api/v1/studies/{}/shares", study.id);
        edge.get(&path).await.json().as_array().cloned()
    };
    let (at_one, at_two) = (listed(&one).await, listed(&two).await);
    let (at_one, at_two) = (at_one.unwrap_or_default(), at_two.unwrap_or_default());
    assert_eq!((at_one.len(), at_two.len()), (1, 2));
    assert_eq!(listed(&other).await, Some(Vec::new()));
    assert!(at_two.contains(&at_one[0]), "the same link at both");
    assert_eq!(at_one[0]["path"], Value::Null, "told once");
    let of_study = at_two.iter().find(|it| it["id"] != at_one[0]["id"]);
    assert_eq!(
        of_study.map(|it| it["configurations"].clone()),
        Some(Value::Null)
    );
    let days = at_one[0]["expires_ms"].as_i64().unwrap_or_default() - now_ms();
    assert_eq!((days as f64 / 86_400_000.0).ceil(), 30.0);
    let ids = [&one, &two].map(|it| format!("c={}", it.configurations[0].id));
    let here = format!("/compare/share?{}", ids.join("&"));
    for page in [
        here,
        format!("/studies/{}/share", one.id),
        format!("/studies/{}/share", two.id),
    ] {
        let page = edge.get(&page).await.text();
        assert!(page.contains("a comparison of 2 configurations"), "{page}");
    }
    let id = at_one[0]["id"].as_str().unwrap_or_default().to_owned();
    let gone = edge
        .json("DELETE", &format!("/api/v1/shares/{id}"), &json!({}))
        .await;
    assert_eq!(gone.status, 204);
    for (path, answer) in each(&edge, &OPENED, &link, Uuid::nil()).await {
        assert_eq!(answer.status, 404, "{path}");
    }
    let soon = NewComparison {
        configurations: [&one, &two].map(|it| it.configurations[0].id).to_vec(),
        expires_ms: Some(now_ms() + 200),
        scope: ShareScope::All,
        ..NewComparison::default()
    };
    let short = edge.studio.share_comparison(&Actor::Owner, soon).await?;
    tokio::time::sleep(std::time::Duration::from_millis(250)).await;
    let ended = edge.get(&short.path.unwrap_or_default()).await;
    assert_eq!(ended.status, 404, "{}", ended.text());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_compared_gets_no_link() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let (one, two) = (compared(&edge).await?, measured(&edge).await?);
    let (a, b) = (one.configurations[0].id, two.configurations[0].id);
    edge.studio.delete(&Actor::Owner, two.id).await?;
    let many: Vec<Uuid> = (0..25).map(Uuid::from_u128).collect();
    for (body, status) in [
        (json!({ "configurations": [a] }), 422),
        (json!({ "configurations": [a, a] }), 422),
        (json!({ "configurations": many }), 422),
        (json!({ "configurations": [a, b] }), 404),
        (json!({ "configurations": [a, Uuid::nil()] }), 404),
        (
            json!({ "configurations": [a, one.configurations[1].id], "expires_ms": 1 }),
            422,
        ),
    ] {
        let refused = edge.json("POST", "/api/v1/shares", &body).await;
        assert_eq!(refused.status, status, "{body}: {}", refused.text());
    }
    for body in [
        json!({}),
        json!({ "configurations": [a, b], "scope": "everything" }),
        json!({ "configurations": [a, b], "slo": "nonsense" }),
        json!({ "configurations": [a, b], "study": one.id }),
    ] {
        let refused = edge.json("POST", "/api/v1/shares", &body).await;
        assert!((400..500).contains(&refused.status), "{body}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_comparison_leads_to_a_link_of_its_own_from_one_study_or_several() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let (study, other) = (compared(&edge).await?, measured(&edge).await?);
    let [one, two] = [0, 1].map(|index| study.configurations[index].id);
    let third = other.configurations[0].id;
    for (ids, studies) in [(vec![one, two], 1), (vec![one, third], 2)] {
        let [a, b] = [ids[0], ids[1]];
        let query = format!("c={a}&c={b}&baseline={b}&y=tpot");
        let way = format!("/compare/share?{query}");
        let page = edge.get(&format!("/compare?{query}")).await.text();
        assert!(
            page.contains(&way.replace('&', "&amp;")),
            "{studies}: {page}"
        );
        let page = edge.get(&way).await.text();
        for needed in [
            "data-post=\"/api/v1/shares\"",
            &format!("data-query=\"?baseline={b}&amp;y=tpot\""),
            "data-picture=\"/compare/export.png\"",
            "value=\"30\" selected",
            "no other configuration",
            &a.to_string(),
        ] {
            assert!(page.contains(needed), "{studies}: {needed} in {page}");
        }
        // What the page sends makes a link, which opens as the page did.
        let asked = page.split("data-asked=\"").nth(1).unwrap_or_default();
        let asked = asked.split('"').next().unwrap_or_default();
        let asked = asked.replace("&quot;", "\"").replace("&#34;", "\"");
        let asked = asked.replace("&lt;", "<").replace("&gt;", ">");
        let body: Value = serde_json::from_str(&asked)?;
        let made = edge.json("POST", "/api/v1/shares", &body).await;
        assert_eq!(made.status, 201, "{}", made.text());
        let path = made.json()["path"].as_str().unwrap_or_default().to_owned();
        let opened = edge
            .get(&format!("{path}?baseline={b}&y=tpot"))
            .await
            .text();
        assert!(!opened.contains("is none of these"), "{opened}");
        assert!(opened.contains("TPOT p95 (ms)"), "{opened}");
    }
    // Addresses of before lead there.
    let old = format!("/studies/{}/share?of=comparison&c={one}&c={two}", study.id);
    let old = edge.get(&old).await;
    let there = format!("/compare/share?c={one}&c={two}");
    assert_eq!((old.status, old.header("location")), (308, there.as_str()));
    assert_eq!(
        edge.get(&format!("/compare/share?c={one}")).await.status,
        422
    );
    Ok(())
}
