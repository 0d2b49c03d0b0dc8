//! What the studio refuses: credentials, other variables, addresses, unknown fields, and in which words.

use app::studio::Actor;
use app::studio::Studio;
use serde_json::{Value, json};
use tests::edge::{Answer, OnEdge};
use tests::samples::{configuration, small_study};
use uuid::Uuid;

/// Nothing listens there.
const AWAY: &str = "http://127.0.0.1:9";

fn endpoint(change: impl Fn(&mut Value)) -> Value {
    let mut endpoint = json!({ "url": AWAY, "api": "openai.chat", "model": "m" });
    change(&mut endpoint);
    endpoint
}

async fn add(edge: &OnEdge, endpoint: &Value) -> Answer {
    let engine = json!({ "name": "mine", "endpoint": endpoint });
    edge.json("POST", "/api/v1/engines", &engine).await
}

#[track_caller]
fn refused(answer: &Answer, field: &str, mend: &str) {
    let (text, json) = (answer.text(), answer.json());
    assert_eq!(answer.status, 422, "{text}");
    assert_eq!(json["fields"][0]["field"], field, "{text}");
    assert!(text.contains(mend) && !text.contains("SECRET"), "{text}");
}

/// A study on an engine at an endpoint.
fn study_on(mut endpoint: Value) -> Value {
    endpoint["kind"] = json!("endpoint");
    let mut spec = serde_json::to_value(small_study()).expect("json");
    spec["engine"] = endpoint;
    spec
}

#[tokio::test]
async fn a_key_is_named_by_its_variable_and_no_other_variable_leaves() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    for (typed, mend) in [
        ("sk-live-SECRETKEY", "never write the key itself"),
        // Set and not set: the answer is the same.
        ("PATH", "never sent to an engine"),
        ("EDGE_NO_SUCH_VARIABLE", "never sent to an engine"),
        ("GOODPUT_API_KEY", "never sent to an engine"),
    ] {
        let keyed = endpoint(|it| it["api_key_env"] = json!(typed));
        refused(&add(&edge, &keyed).await, "api_key_env", mend);
        let probe = json!({ "url": AWAY, "api": "openai.chat", "api_key_env": typed });
        let answer = edge.json("POST", "/api/v1/probe", &probe).await;
        refused(&answer, "api_key_env", mend);
        let form = edge
            .json("POST", "/fn/probe", &json!({ "request": probe }))
            .await;
        assert!(!form.text().contains("SECRET"), "{}", form.text());
        let launched = edge.json("POST", "/api/v1/studies", &study_on(keyed)).await;
        refused(&launched, "engine.api_key_env", mend);
    }
    let unset = endpoint(|it| it["api_key_env"] = json!("EDGE_UNSET_API_KEY"));
    refused(&add(&edge, &unset).await, "api_key_env", "is not set");
    assert_eq!(edge.get("/api/v1/engines").await.json(), json!([]));
    Ok(())
}

#[tokio::test]
async fn a_credential_in_a_header_is_not_stored() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    for (name, value, mend) in [
        ("Authorization", "Bearer SECRET", "environment variable"),
        ("x-api-key", "SECRET", "environment variable"),
        ("a b", "SECRET", "no blanks"),
        ("x-team", "a\r\nHost: SECRET", "one line"),
    ] {
        let with = endpoint(|it| it["headers"] = json!({ name: value }));
        refused(&add(&edge, &with).await, "headers", mend);
        let launched = edge.json("POST", "/api/v1/studies", &study_on(with)).await;
        refused(&launched, "engine.headers", mend);
    }
    let harmless = endpoint(|it| it["headers"] = json!({ "x-team": "a" }));
    assert_eq!(add(&edge, &harmless).await.status, 201);
    Ok(())
}

#[tokio::test]
async fn an_engine_may_be_away_but_not_at_a_refused_address() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    for url in [
        "http://169.254.169.254/",
        "http://100.100.100.200/",
        "http://[::ffff:169.254.169.254]/",
        "http://[64:ff9b::169.254.169.254]/",
    ] {
        let metadata = endpoint(|it| it["url"] = json!(url));
        refused(
            &add(&edge, &metadata).await,
            "url",
            "name an engine's own address",
        );
    }
    let away = add(&edge, &endpoint(|_| {})).await;
    assert_eq!((away.status, away.json()["probe"].is_null()), (201, true));
    Ok(())
}

#[tokio::test]
async fn unknown_fields_are_named() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    for place in [
        "/speed",
        "/engine/speed",
        "/workload/speed",
        "/length/speed",
    ] {
        let mut spec = serde_json::to_value(small_study())?;
        let (parent, name) = place.rsplit_once('/').unwrap_or_default();
        spec.pointer_mut(parent).expect("is there")[name] = json!(1);
        let answer = edge.json("POST", "/api/v1/studies", &spec).await;
        assert_eq!(answer.status, 422, "{place}");
        assert!(
            answer.text().contains("unknown field `speed`"),
            "{}",
            answer.text()
        );
    }
    let id = edge.studio.launch(&Actor::Owner, small_study()).await?;
    let edit = json!({ "nmae": "x" });
    let answer = edge
        .json("PATCH", &format!("/api/v1/studies/{id}"), &edit)
        .await;
    assert_eq!(answer.status, 422);
    assert!(
        answer.text().contains("unknown field `nmae`"),
        "{}",
        answer.text()
    );
    Ok(())
}

#[tokio::test]
async fn a_comparison_needs_two_different_configurations() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let mut spec = small_study();
    spec.configurations.push(configuration("two", &[]));
    let id = edge.studio.launch(&Actor::Owner, spec).await?;
    let one = edge.studio.study(&Actor::Owner, id).await?.configurations[0].id;
    let gone = Uuid::nil();
    for (query, status, words) in [
        // These show the way to others.
        (String::new(), 200, "two configurations"),
        (format!("?c={one}"), 200, "two configurations"),
        (format!("?c={one}&c=7"), 404, "No such configuration"),
        // What is gone is told, and the others are shown; of nothing that is there, nothing can be.
        (
            format!("?c={one}&c={gone}"),
            200,
            "or its study was deleted: the others are compared",
        ),
        (format!("?c={gone}"), 404, "No such configuration"),
        (format!("?c={one}&c={one}"), 422, "stands here twice"),
    ] {
        let page = edge.get(&format!("/compare{query}")).await;
        assert_eq!(page.status, status, "{query}");
        assert!(page.text().contains(words), "{query}");
    }
    let twice = edge.get(&format!("/api/v1/compare?c={one}&c={one}")).await;
    refused(&twice, "c", "different ones");
    Ok(())
}

#[tokio::test]
async fn a_large_body_and_a_bad_id_are_answered_in_one_sentence() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let body = format!("\"{}\"", "x".repeat(2 << 20));
    let length = body.len().to_string();
    for path in ["/api/v1/studies", "/fn/launch"] {
        let answer = edge
            .send("POST", path, &[("content-length", &length)], body.clone())
            .await;
        assert_eq!(answer.status, 413, "{path}");
        assert_eq!(answer.json()["error"], "too_large", "{}", answer.text());
    }
    for path in ["/api/v1/studies/7", "/api/v1/points/7/scores"] {
        let answer = edge.get(path).await;
        assert_eq!(answer.status, 404);
        assert_eq!(
            answer.json()["message"],
            "no such address: \"7\" is no id; ids look like 018f3c1e-7a2b-7c3d-8e4f-5a6b7c8d9e0f"
        );
    }
    Ok(())
}

#[tokio::test]
async fn arguments_of_a_page_that_cannot_be_read_are_refused_in_words() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    for (path, body) in [
        ("/fn/study", ""),
        ("/fn/study", "x"),
        ("/fn/study", "{}"),
        ("/fn/study", r#"{"id": 7}"#),
        ("/fn/study", "[]"),
        ("/fn/study", r#"["018f3c1e-7a2b-7c3d-8e4f-5a6b7c8d9e0f"]"#),
        ("/fn/launch", r#"{"spec": []}"#),
        (
            "/fn/edit",
            r#"{"id": "018f3c1e-7a2b-7c3d-8e4f-5a6b7c8d9e0f", "edit": []}"#,
        ),
    ] {
        // A form of ours would come with these; they must not turn the refusal into a way back.
        let headers = [
            ("accept", "text/html"),
            ("referer", "http://127.0.0.1:7878/"),
        ];
        for headers in [&headers[..], &[]] {
            let answer = edge.send("POST", path, headers, body).await;
            let (text, json) = (answer.text(), answer.json());
            assert_eq!(answer.status, 422, "{path} {body}: {text}");
            assert_eq!(json["error"], "invalid", "{text}");
            assert_eq!(json["fields"][0]["field"], "arguments", "{text}");
            assert!(text.contains("cannot be read ("), "{text}");
            assert_eq!(answer.header("content-type"), "application/json");
        }
    }
    Ok(())
}

#[tokio::test]
async fn bodies_are_objects() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let id = edge.studio.launch(&Actor::Owner, small_study()).await?;
    for (method, path) in [
        ("POST", format!("/api/v1/studies/{id}/shares")),
        ("PATCH", format!("/api/v1/studies/{id}")),
        ("POST", "/api/v1/studies".to_owned()),
        ("POST", "/api/v1/engines".to_owned()),
        ("POST", "/api/v1/probe".to_owned()),
        ("PUT", "/api/v1/slos/mine".to_owned()),
    ] {
        for body in ["[]", "[[]]", "null", "7", "\"x\""] {
            let answer = edge.send(method, &path, &[], body).await;
            assert_eq!(
                answer.status,
                422,
                "{method} {path} {body}: {}",
                answer.text()
            );
            assert_eq!(answer.json()["fields"][0]["field"], "body", "{path} {body}");
        }
    }
    let links = edge.get(&format!("/api/v1/studies/{id}/shares")).await;
    assert_eq!(links.json(), json!([]));
    let mut spec = serde_json::to_value(small_study())?;
    spec["length"] = json!([1, 2, 3]);
    let nested = edge.json("POST", "/api/v1/studies", &spec).await;
    refused(&nested, "length", "expected an object");
    let tagged = json!({ "note": "a\u{0}b" });
    let tagged = edge
        .json("PATCH", &format!("/api/v1/studies/{id}"), &tagged)
        .await;
    refused(&tagged, "note", "U+0000");
    Ok(())
}

/// What people read is a page of ours, whatever stands at the address; what programs read is as it was.
#[tokio::test]
async fn what_is_not_there_is_told_on_a_page() -> anyhow::Result<()> {
    let edge = OnEdge::open().await?;
    let gone = Uuid::nil();
    let reader = [("accept", "text/html,application/xhtml+xml,*/*;q=0.8")];
    for (path, status, words) in [
        (
            "/studies/7".to_owned(),
            404,
            "No such study: it was deleted, or its address is not whole",
        ),
        (
            "/studies/7/history".into(),
            404,
            "No such study: it was deleted",
        ),
        (
            format!("/studies/{gone}/history"),
            404,
            "No such study: it was deleted",
        ),
        (
            format!("/studies/{gone}/share"),
            404,
            "No such study: it was deleted",
        ),
        (
            format!("/studies/{gone}/map"),
            404,
            "No such study: it was deleted",
        ),
        (
            format!("/studies/{gone}/why"),
            404,
            "No such study: it was deleted",
        ),
        (
            format!("/studies/{gone}/curve.svg"),
            404,
            "No such study: it was deleted",
        ),
        (
            "/studies/7/curve.csv".into(),
            404,
            "&quot;7&quot; is no id; ids look like",
        ),
        ("/studies/%FF/history".into(), 404, "No such address."),
        (
            format!("/studies/{gone}/points/{gone}"),
            404,
            "No such study: it was deleted",
        ),
        (
            format!("/studies/{gone}/points/{gone}/requests"),
            404,
            "No such study",
        ),
        (
            "/examples/none".into(),
            404,
            "No such example: it was deleted",
        ),
        (
            "/compare?c=7".into(),
            404,
            "No such configuration: it was deleted",
        ),
        (
            "/docs/none".into(),
            404,
            "No such document: look at how the address is written",
        ),
        (
            "/none".into(),
            404,
            "No such page: look at how the address is written",
        ),
        (
            "/s/none/map".into(),
            404,
            "No such link: it was revoked, has expired",
        ),
        (
            "/s/none/curve.csv".into(),
            404,
            "No such link: it was revoked, has expired",
        ),
        (
            "/s/none".into(),
            404,
            "No such link: it was revoked, has expired",
        ),
        ("/?q=a&q=b".into(), 400, "duplicate field `q`"),
        (
            "/studies/7/history?allow=1&allow=2".into(),
            400,
            "duplicate field `allow`",
        ),
        ("/?q=%00".into(), 400, "no control characters"),
        ("/studies/%1B".into(), 400, "no control characters"),
        (
            format!("/compare?c={gone}&find=%7F"),
            400,
            "no control characters",
        ),
        ("/s/%00".into(), 400, "no control characters"),
    ] {
        let answer = edge.send("GET", &path, &reader, "").await;
        let text = answer.text();
        assert_eq!(answer.status, status, "{path}: {text}");
        assert!(
            answer.header("content-type").starts_with("text/html"),
            "{path}"
        );
        assert!(
            text.contains("app.33.css") && text.contains("error-page"),
            "{path}: {text}"
        );
        assert!(text.contains(words), "{path}: {text}");
        assert!(
            !text.contains(|it: char| it.is_control() && !matches!(it, '\n' | '\t')),
            "{path}"
        );
    }
    let file = edge.get(&format!("/studies/{gone}/curve.csv")).await;
    assert_eq!(file.json()["error"], "not_found", "{}", file.text());
    let listed = edge.get("/api/v1/studies?search=%00").await;
    assert_eq!(
        (listed.status, &listed.json()["error"]),
        (400, &json!("bad_request"))
    );
    Ok(())
}
