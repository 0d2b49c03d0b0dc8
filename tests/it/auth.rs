//! Who gets in, and how: hosts, origins, content types, tokens, cookies.

use app::studio::{Actor, ShareScope, Studio};
use serde_json::json;
use server::auth::Access;
use server::config::Config;
use tests::edge::{OnEdge, TOKEN};
use tests::samples::small_study;

#[tokio::test]
async fn a_rebound_name_is_not_answered() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    for path in [
        "/",
        "/api/v1/studies",
        "/fn/study",
        "/assets/frontend.11.js",
        "/s/x",
    ] {
        let answer = edge
            .send("GET", path, &[("host", "rebound.example:7878")], "")
            .await;
        assert_eq!(answer.status, 421, "{path}");
        assert!(
            answer.text().contains("--allow-host rebound.example"),
            "{}",
            answer.text()
        );
    }
    Ok(())
}

#[tokio::test]
async fn another_sites_page_changes_nothing() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let body = serde_json::to_string(&small_study())?;
    let foreign = [
        vec![("origin", "http://evil.example")],
        vec![("origin", "http://127.0.0.1:3000")],
        vec![("sec-fetch-site", "cross-site")],
        vec![("sec-fetch-site", "same-site")],
    ];
    for headers in foreign {
        let answer = edge
            .send("POST", "/api/v1/studies", &headers, body.clone())
            .await;
        assert_eq!(answer.status, 403, "{headers:?}");
    }
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
    ] {
        for path in ["/api/v1/studies", "/fn/launch"] {
            let answer = edge
                .send("POST", path, &[("content-type", kind)], body.clone())
                .await;
            assert_eq!(answer.status, 415, "{kind} {path}");
        }
    }
    assert_eq!(edge.get("/api/v1/studies").await.json(), json!([]));
    Ok(())
}

#[tokio::test]
async fn our_own_page_may() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let headers = [
        ("origin", "http://127.0.0.1:7878"),
        ("sec-fetch-site", "same-origin"),
    ];
    let body = json!({ "spec": small_study() }).to_string();
    let answer = edge.send("POST", "/fn/launch", &headers, body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(
        edge.get("/api/v1/studies")
            .await
            .json()
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    Ok(())
}

#[tokio::test]
async fn a_token_is_needed_everywhere_but_at_shared_links() -> anyhow::Result<()> {
    let edge = OnEdge::behind_token().await?;
    let id = edge.studio.launch(&Actor::Owner, small_study()).await?;
    let share = edge
        .studio
        .share(&Actor::Owner, id, None, ShareScope::Requests)
        .await?
        .path
        .unwrap_or_default();
    for path in [
        "/",
        "/studies/new",
        "/compare",
        "/api/v1/studies",
        "/api/v1/openapi.json",
        "/nowhere",
    ] {
        assert_eq!(edge.get(path).await.status, 401, "{path}");
    }
    assert_eq!(
        edge.json(
            "POST",
            "/fn/study",
            &json!({ "id": "00000000-0000-0000-0000-000000000000" })
        )
        .await
        .status,
        401
    );
    for path in [share.as_str(), "/assets/frontend.11.js", "/login"] {
        assert_eq!(edge.get(path).await.status, 200, "{path}");
    }
    Ok(())
}

#[tokio::test]
async fn programs_send_the_token_as_bearer() -> anyhow::Result<()> {
    let edge = OnEdge::behind_token().await?;
    let with = async |value: &str| {
        edge.send("GET", "/api/v1/studies", &[("authorization", value)], "")
            .await
            .status
    };
    assert_eq!(with(&format!("Bearer {TOKEN}")).await, 200);
    assert_eq!(with(&format!("bearer {TOKEN}")).await, 200);
    assert_eq!(with(&format!("BEARER  {TOKEN}")).await, 200);
    assert_eq!(with(&format!("Basic {TOKEN}")).await, 401);
    assert_eq!(with("Bearer another-token-of-some-length").await, 401);
    assert_eq!(with(TOKEN).await, 401);
    assert_eq!(
        edge.get("/api/v1/studies").await.header("www-authenticate"),
        "Bearer"
    );
    Ok(())
}

#[tokio::test]
async fn a_link_with_the_token_becomes_a_cookie_and_leaves_the_address() -> anyhow::Result<()> {
    let edge = OnEdge::behind_token().await?;
    let answer = edge.get(&format!("/compare?c=1&token={TOKEN}&c=2")).await;
    assert_eq!(
        (answer.status, answer.header("location")),
        (303, "/compare?c=1&c=2")
    );
    assert_eq!(answer.header("referrer-policy"), "no-referrer");
    let cookie = answer.header("set-cookie");
    for flag in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(flag), "{cookie}");
    }
    assert!(
        !cookie.contains("Secure"),
        "plain http would not get it back: {cookie}"
    );
    let pair = cookie.split(';').next().unwrap_or_default();
    assert_eq!(
        edge.send("GET", "/", &[("cookie", pair)], "").await.status,
        200
    );
    Ok(())
}

#[tokio::test]
async fn behind_https_the_cookie_is_secure() -> anyhow::Result<()> {
    let url = "https://studio.example".parse()?;
    let config = |config| Config {
        public_url: Some(url),
        ..config
    };
    let edge = OnEdge::with(config, Access::by_token(server::auth::TokenHash::of(TOKEN))).await?;
    let answer = edge
        .send(
            "GET",
            &format!("/?token={TOKEN}"),
            &[("host", "studio.example")],
            "",
        )
        .await;
    assert!(
        answer.header("set-cookie").contains("Secure"),
        "{}",
        answer.header("set-cookie")
    );
    Ok(())
}

#[tokio::test]
async fn the_form_lets_in_and_knows_where_one_wanted_to_go() -> anyhow::Result<()> {
    let edge = OnEdge::behind_token().await?;
    let form = edge.get("/studies/new").await;
    assert_eq!(form.status, 401);
    assert!(
        form.text().contains("name=next value=\"/studies/new\""),
        "{}",
        form.text()
    );
    let kind = ("content-type", "application/x-www-form-urlencoded");
    // As browsers send it from a page that keeps its address to itself.
    let own = [kind, ("origin", "null"), ("sec-fetch-site", "same-origin")];
    let answer = edge
        .send(
            "POST",
            "/login",
            &own,
            format!("token={TOKEN}&next=/studies/new"),
        )
        .await;
    assert_eq!(
        (answer.status, answer.header("location")),
        (303, "/studies/new")
    );
    let wrong = edge
        .send("POST", "/login", &own, "token=wrong&next=/")
        .await;
    assert_eq!((wrong.status, wrong.header("set-cookie")), (401, ""));
    let away = edge
        .send(
            "POST",
            "/login",
            &own,
            format!("token={TOKEN}&next=//evil.example"),
        )
        .await;
    assert_eq!(away.header("location"), "/");
    Ok(())
}

#[tokio::test]
async fn nobody_may_guess_for_long() -> anyhow::Result<()> {
    let edge = OnEdge::behind_token().await?;
    let kind = [("content-type", "application/x-www-form-urlencoded")];
    let mut last = 0;
    for _ in 0..12 {
        last = edge
            .send("POST", "/login", &kind, "token=guess")
            .await
            .status;
    }
    assert_eq!(last, 429);
    assert_eq!(
        edge.get(&format!("/?token={TOKEN}")).await.status,
        429,
        "the link's door is the same"
    );
    Ok(())
}

#[tokio::test]
async fn a_link_from_another_site_loads_once_more_so_that_the_cookie_comes_along()
-> anyhow::Result<()> {
    let edge = OnEdge::behind_token().await?;
    let headers = [
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-mode", "navigate"),
        ("sec-fetch-dest", "document"),
    ];
    let answer = edge.send("GET", "/studies/new", &headers, "").await;
    assert!(
        answer.text().contains("http-equiv=refresh"),
        "{}",
        answer.text()
    );
    Ok(())
}

#[tokio::test]
async fn a_page_runs_only_scripts_with_its_own_nonce() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let (one, two) = (edge.get("/").await, edge.get("/").await);
    let nonce = |answer: &tests::edge::Answer| {
        let policy = answer.header("content-security-policy").to_owned();
        policy
            .split("'nonce-")
            .nth(1)
            .and_then(|rest| rest.split('\'').next())
            .unwrap_or_default()
            .to_owned()
    };
    let scripts = one.text().matches("<script").count();
    let with_nonce = one
        .text()
        .matches(&format!("nonce=\"{}\"", nonce(&one)))
        .count();
    assert!(
        0 < scripts && scripts <= with_nonce,
        "{scripts} scripts, {with_nonce} with the nonce"
    );
    assert_ne!(nonce(&one), nonce(&two));
    let policy = one.header("content-security-policy");
    for part in [
        "default-src 'self'",
        "'wasm-unsafe-eval'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'self'",
    ] {
        assert!(policy.contains(part), "{policy}");
    }
    Ok(())
}

#[tokio::test]
async fn forwarded_headers_are_refused() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let answer = edge
        .send("GET", "/", &[("x-forwarded-host", "127.0.0.1:7878")], "")
        .await;
    assert_eq!(answer.status, 400);
    assert!(
        answer.text().contains("--trust-forwarded"),
        "{}",
        answer.text()
    );
    Ok(())
}

#[tokio::test]
async fn no_address_goes_up_from_a_link_to_what_needs_the_token() -> anyhow::Result<()> {
    let edge = OnEdge::behind_token().await?;
    let study = edge.studio.launch(&Actor::Owner, small_study()).await?;
    for below in [
        "studies/new".to_owned(),
        format!("studies/{study}"),
        "".into(),
    ] {
        for up in [
            "/s/..",
            "/embed/..",
            "/s/%2e%2e",
            "/s/x/../..",
            "/embed/%252E%252e",
            "/assets/..",
        ] {
            let path = format!("{up}/{below}");
            let answer = edge.get(&path).await;
            assert_eq!(answer.status, 400, "{path}");
            assert!(!answer.text().contains("<html"), "{path}");
        }
    }
    // What is exempt and leads nowhere shows nothing either.
    let answer = edge.get("/s/x/studies/new").await;
    assert_eq!(answer.status, 404);
    assert!(!answer.text().contains("Launch"), "{}", answer.text());
    Ok(())
}
